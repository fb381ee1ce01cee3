#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# Mistakes in a manifest: each kind with its sentence, exit status 1, nothing
# on standard output. The reader's own test has many more.

. "$top_srcdir/tests/scripts/lib.sh"

ashlar=$top_builddir/tools/ashlar
[ -x "$ashlar" ] || skip_all "the program ashlar was not built"

cd "$scratch" || exit 1
good='{"name": "A", "dtype": "bfloat16", "shape": [64, 8]}'
dtypes='one of uint8, uint16, uint32, int32, uint64, int64, float16, float32, float64, bfloat16, float32_ftz, tfloat32, tfloat32_ftz, 16u4_align8b, 16u4_align16b, 16u6_align16b'

# kernel TENSOR...: a line of two instances
kernel() {
  list=
  for tensor in "$@"; do
    list="$list${list:+, }$tensor"
  done
  printf '{"kernel": "gemm", "instances": 2, "tensors": [%s]}\n' "$list"
}

# tensor FIELDS: with what it needs, and these
tensor() {
  printf '{"name": "A", "dtype": "bf16", "shape": [64, 8], %s}' "$1"
}

# refused NAME SENTENCE...: the manifest m.jsonl has these mistakes and no more
refused() {
  name=$1
  shift
  printf '%s\n' "$@" >want
  if [ $# -eq 1 ]; then
    echo "ashlar: 1 mistake in the manifest; nothing was made" >>want
  else
    echo "ashlar: $# mistakes in the manifest; nothing was made" >>want
  fi
  expect "$name" run
}

run() {
  "$ashlar" prepare m.jsonl -t 2 -n 10 >out 2>err.raw
  status=$?
  # What the JSON reader says differs from version to version.
  sed 's/(column [1-9][0-9]*: .*)/(column N: ...)/' err.raw >err
  same want err && empty out || return 1
  [ $status -eq 1 ] || { echo "exit status $status, not 1"; return 1; }
}

echo '{"kernel": "gemm", ' >m.jsonl
refused a_line_that_is_no_json \
  "m.jsonl:1: the line is no JSON (column N: ...); it must be one object, from { to }"

echo '"gemm"' >m.jsonl
refused a_line_that_is_no_object \
  'm.jsonl:1: the line is a text; it must be one object, {"kernel": ..., "instances": ..., "tensors": [...]}'

{ kernel "$good"; echo '{"kernel": "a", "kernel": "b"}'; } >m.jsonl
refused a_field_that_stands_twice \
  "m.jsonl:2: the line is no JSON (column N: ...); it must be one object, from { to }"

: >m.jsonl
refused an_empty_file \
  'm.jsonl: there is no kernel in it; each line must be one object, {"kernel": ..., "instances": ..., "tensors": [...]}'

{ kernel "$good"; echo; echo '{"kernel": 3, "instances": "two"}'; } >m.jsonl
refused kernels_fields \
  'm.jsonl:3: field "kernel" is 3; it must be a text that is not empty' \
  'm.jsonl:3: field "instances" is "two"; it must be an integer from 1 to 4294967295' \
  'm.jsonl:3: field "tensors" is missing; it must be a list of objects, one for each tensor'

echo '{"kernel": "a", "instances": 1, "tensor": []}' >m.jsonl
refused a_field_that_does_not_exist \
  'm.jsonl:1: field "tensor" is []; no field has that name: did you mean "tensors"?' \
  'm.jsonl:1: field "tensors" is missing; it must be a list of objects, one for each tensor'

kernel "$good" '{"name": "B", "dtype": "bf17", "shape": [64, 8]}' >m.jsonl
refused a_name_that_is_not_known \
  "m.jsonl:1: field \"tensors[1].dtype\" is \"bf17\"; it must be $dtypes: did you mean \"bf16\"?"

kernel '{"name": "A", "dtype": "bf16", "shape": [1, 2, 3, 4, 5, 6]}' \
  '{"name": "B", "dtype": "bf16", "shape": [64, 7, 8.5]}' >m.jsonl
refused rank_and_sizes \
  'm.jsonl:1: field "tensors[0].shape" is [1,2,3,4,5,6]; it must be a list of 1 to 5 integers, one for each dimension' \
  'm.jsonl:1: field "tensors[1].shape[2]" is 8.5; it must be an integer from 1 to 4294967296'

kernel '{"name": "A", "dtype": "bf16", "shape": [64, 0], "box": [128, 8], "swizzle": "128B"}' \
  '{"name": "B", "dtype": "bf16", "shape": [4100, 128], "strides": [8200]}' \
  '{"name": "C", "dtype": "int32", "shape": [64, 8], "oob_fill": "nan"}' >m.jsonl
refused rules_of_the_encoder \
  'm.jsonl:1: kernel "gemm", tensor "A": shape[1] is 0; it must be 1 to 4294967296 (dim-range)' \
  'm.jsonl:1: kernel "gemm", tensor "A": box[0] is 128; its bytes must be at most 128, as swizzle is swizzle_128B: make it at most 64 (inner-swizzle)' \
  'm.jsonl:1: kernel "gemm", tensor "B": strides[0] is 8200 bytes; it must be a multiple of 16: pad it to 8208 bytes (stride-multiple)' \
  'm.jsonl:1: kernel "gemm", tensor "C": oob_fill is nan_request_zero_fma; it must be none, as dtype is int32 (oob-float)'

kernel "$(tensor '"strides": [], "box": [64, 8, 1], "element_strides": [1]')" \
  >m.jsonl
refused lists_that_are_not_as_long_as_the_rank \
  'm.jsonl:1: field "tensors[0].strides" is []; it must be a list of 1 integer, the bytes of a step in each dimension of "shape" but the first' \
  'm.jsonl:1: field "tensors[0].box" is [64,8,1]; it must be a list of 2 integers, one for each dimension of "shape"' \
  'm.jsonl:1: field "tensors[0].element_strides" is [1]; it must be a list of 2 integers, one for each dimension of "shape"'

kernel "$(tensor '"mode": "im2col", "channels_per_pixel": 64, "box": [1]')" \
  >m.jsonl
refused fields_that_do_not_fit_the_mode \
  'm.jsonl:1: field "tensors[0].box" is [1]; it must be left out, as "mode" is "im2col"' \
  'm.jsonl:1: field "tensors[0].shape" is [64,8]; it must be a list of 3 to 5 integers, one for each dimension of an im2col tensor' \
  'm.jsonl:1: field "tensors[0].pixel_box_lower_corner" is missing; it must be a list of 0 to 5 integers, one for each dimension of "shape" but the first and the last' \
  'm.jsonl:1: field "tensors[0].pixel_box_upper_corner" is missing; it must be a list of 0 to 5 integers, one for each dimension of "shape" but the first and the last' \
  'm.jsonl:1: field "tensors[0].pixels_per_column" is missing; it must be an integer from 1 to 1024'

kernel "$good" "$good" >m.jsonl
refused two_tensors_of_one_name \
  'm.jsonl:1: field "tensors[1].name" is "A"; it must be another than that of tensors[0] of this kernel'

printf '{"kernel": "a", "instances": 4294967295, "tensors": [%s, {"name": "B", "dtype": "bf16", "shape": [1]}]}\n' \
  "$good" >m.jsonl
refused more_than_a_pool_holds \
  'm.jsonl: it has 8,589,934,590 descriptors in all; a pool holds at most 4,294,967,295'

the_rest_is_counted() {
  yes '[]' | head -n 150 >m.jsonl
  "$ashlar" prepare m.jsonl >out 2>err
  [ $? -eq 1 ] && [ "$(wc -l <err)" -eq 102 ] &&
    grep -q '^m.jsonl:100: ' err && ! grep -q '^m.jsonl:101: ' err &&
    grep -qx 'm.jsonl: and 50 more' err &&
    grep -qx 'ashlar: 150 mistakes in the manifest; nothing was made' err
}
expect of_many_mistakes_the_rest_is_counted the_rest_is_counted

files_that_are_not_there() {
  "$ashlar" prepare none >out 2>err
  [ $? -eq 1 ] && empty out &&
    echo "ashlar: the manifest none: No such file or directory; ashlar's own are llama3-8b, deepseek-v3-moe, resnet50" >want &&
    same want err || return 1
  "$ashlar" prepare ./none >out 2>err
  [ $? -eq 1 ] && empty out &&
    echo 'ashlar: the manifest ./none: No such file or directory' >want &&
    same want err || return 1
  "$ashlar" prepare / >out 2>err
  [ $? -eq 1 ] && empty out && grep -qx '/: the file cannot be read: Is a directory' err
}
expect a_file_that_is_not_there_or_none files_that_are_not_there
finish
