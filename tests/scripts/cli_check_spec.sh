#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# ashlar check-spec: one tensor map, all that is wrong with it, exit status 1.

. "$top_srcdir/tests/scripts/lib.sh"

ashlar=$top_builddir/tools/ashlar
[ -x "$ashlar" ] || skip_all "the program ashlar was not built"
cd "$scratch" || exit 1

# run STATUS FIELD...: standard output is `want`, standard error empty
run() {
  wanted=$1
  shift
  "$ashlar" check-spec "$@" >out 2>err
  status=$?
  same want out && empty err || return 1
  [ $status -eq "$wanted" ] || { echo "exit status $status, not $wanted"; return 1; }
}

what_is_right_is_told_so() {
  echo '0 errors, 0 warnings: the driver takes it' >want
  run 0 dtype=bfloat16 shape=4096,8192 box=64,128 swizzle=128B &&
    run 0 dtype=CU_TENSOR_MAP_DATA_TYPE_UINT8 shape=16 &&
    run 0 name=A mode=im2col dtype=fp16 shape=64,56,56,32 channels_per_pixel=64 \
      pixels_per_column=128 pixel_box_lower_corner=-1,-1 \
      pixel_box_upper_corner=1,0x1 address=0x7f0000001000
}
expect what_is_right_is_told_so what_is_right_is_told_so

all_mistakes_are_told_at_once() {
  cat >want <<'END'
error: address is 0x8; it must be a multiple of 16: move the tensor to 0x10 (address-multiple)
error: strides[0] is 2050 bytes; it must be a multiple of 16: pad it to 2064 bytes (stride-multiple)
error: box[1] is 300; it must be 1 to 256 (box-range)
error: box[0] is 68; its bytes must be a multiple of 16, as dtype is float16: make it 72 (inner-multiple)
warning: box[1] is 300; the rest is out of bounds, as the tensor has elements there: 64 (box-wide)
4 errors, 1 warning: the driver refuses it
END
  run 1 dtype=fp16 shape=1025,64 strides=2050 box=68,300 address=8
}
expect all_mistakes_are_told_at_once all_mistakes_are_told_at_once

a_shape_that_cannot_be_packed_hides_no_mistake() {
  cat >want <<'END'
error: shape[0] is 33; it must be a multiple of 2, as dtype is 16u4_align8b: pad it to 34 (dim-packed)
error: box[1] is 300; it must be 1 to 256 (box-range)
error: box[0] is 33; its bytes must be a multiple of 16, as dtype is 16u4_align8b: make it 64 (inner-multiple)
3 errors, 0 warnings: the driver refuses it
END
  run 1 dtype=16u4_align8b shape=33,64 box=33,300 || return 1
  "$ashlar" check-spec dtype=uint8 shape=4294967296,4294967296,4294967296 >out 2>err
  [ $? -eq 1 ] && empty out &&
    echo 'ashlar check-spec: strides[1] does not fit 64 bits, as dims[1] is 4294967296 and a step in it 4294967296 bytes' >want &&
    same want err
}
expect a_shape_that_cannot_be_packed_hides_no_mistake a_shape_that_cannot_be_packed_hides_no_mistake

warnings_alone_are_no_failure() {
  cat >want <<'END'
warning: strides[0] is 64 bytes; rows overlap, as one has bytes: 128 (stride-short)
0 errors, 1 warning: the driver takes it
END
  run 0 dtype=fp16 shape=64,64 strides=64 box=64,64
}
expect warnings_alone_are_no_failure warnings_alone_are_no_failure

the_devices_capability_counts() {
  set -- mode=im2col_wide dtype=bf16 shape=64,56,56,32 swizzle=128B \
    pixel_box_lower_corner=-1 pixel_box_upper_corner=1 \
    channels_per_pixel=64 pixels_per_column=128
  cat >want <<'END'
warning: mode is im2col_wide, which takes a device of compute capability 10.0; this one has 9.0 (capability-wide)
0 errors, 1 warning: the driver takes it
END
  run 0 -c 9.0 "$@" || return 1
  cat >want <<'END'
error: dtype is 16u4_align8b, which takes a device of compute capability 10.0; this one has 9.0 (capability)
1 error, 0 warnings: the driver refuses it
END
  run 1 -c 9.0 dtype=16u4_align8b shape=64 || return 1
  echo '0 errors, 0 warnings: the driver takes it' >want
  run 0 --capability=10.0 "$@" && run 0 "$@"
}
expect the_devices_capability_counts the_devices_capability_counts

a_field_that_is_none_is_told() {
  "$ashlar" check-spec dtype=fp17 shape=a,3 swizle=none >out 2>err
  [ $? -eq 1 ] && empty out &&
    grep -q '^ashlar check-spec: field "dtype" is "fp17"; it must be one of uint8, .*: did you mean "fp16"?$' err &&
    grep -qx 'ashlar check-spec: field "shape\[0\]" is "a"; it must be an integer from 1 to 4294967296' err &&
    grep -qx 'ashlar check-spec: field "swizle" is "none"; no field has that name: did you mean "swizzle"?' err
}
expect a_field_that_is_none_is_told a_field_that_is_none_is_told

usage() {
  "$ashlar" check-spec "$@" >out 2>err
  [ $? -eq 2 ] && empty out && [ -s err ]
}

a_wrong_command_line_is_told() {
  usage && usage shape && usage =3 && usage dtype=bf16 dtype=bf16 &&
    usage -c 9 dtype=bf16 && usage -c x.y dtype=bf16 && usage "dtype=$(printf '\377')"
}
expect a_wrong_command_line_is_told a_wrong_command_line_is_told

json_has_each_finding() {
  have python3 || return 0
  "$ashlar" check-spec --json dtype=fp16 mode=im2col shape=64,8,8,2 \
    channels_per_pixel=64 pixels_per_column=128 pixel_box_lower_corner=0,-200 \
    pixel_box_upper_corner=0,-200 >out
  [ $? -eq 1 ] && python3 -c '
import json
told = json.load(open("out"))
assert told["errors"] == 2 and told["warnings"] == 0, told
first, second = told["findings"]
assert first["rule"] == second["rule"] == "corner-range"
assert first["severity"] == "error" and first["index"] == 1
assert first["field"] == "pixel_box_lower_corner"
assert first["value"] == -200 and first["right"] == -128
assert second["text"].startswith("pixel_box_upper_corner[1] is -200; ")'
}
expect json_has_each_finding json_has_each_finding
finish
