#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# The main job: ashlar prepare, what it prints, and how it ends.

. "$top_srcdir/tests/scripts/lib.sh"

ashlar=$top_builddir/tools/ashlar
manifests=$top_srcdir/tools/manifests
[ -x "$ashlar" ] || skip_all "the program ashlar was not built"
have python3 || skip_all "python3 is not installed"

# ends STATUS COMMAND...: it exits so; its output in out and err
ends() {
  want=$1
  shift
  "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
  got=$?
  cat "$scratch/out" "$scratch/err"
  [ "$got" -eq "$want" ] || { echo "exit status $got, not $want"; return 1; }
}

# says FILE PATTERN...: the file in scratch has a line for each of them
says() {
  file=$scratch/$1
  shift
  for pattern in "$@"; do
    grep -Eq -- "$pattern" "$file" || { echo "no line is: $pattern"; return 1; }
  done
}

# json FILE CONDITION: true in Python of the object o in the file
json() {
  python3 -m json.tool "$scratch/$1" /dev/null &&
    python3 -c '
import json, sys
o = json.load(open(sys.argv[1]))
p, l = o["prepared"], o.get("launches")
sys.exit(0 if eval("(" + sys.argv[2] + ")") else "not so: " + sys.argv[2])
' "$scratch/$1" "$2"
}

table_shows_what_was_prepared() {
  ends 0 "$ashlar" prepare "$manifests/llama3-8b.jsonl" &&
    says out '^KERNEL +TENSORS +INSTANCES +DESCRIPTORS +BYTES +ADDR % 128$' \
      '^attention +4 +32 +128 +16\.0 KiB +0$' \
      '^7 kernels +162 +517 +64\.6 KiB +0$' \
      '^prepared   517 descriptors in 162 runs, 64\.6 KiB$' \
      '^alignment  address % 128 is 0 for each of them$' \
      '^time       [0-9.]+ [mnu]s a descriptor to take, ' \
      '^memory     [0-9]+ slabs? asked of jemalloc, ' \
      '^ +0 calls into the source after the reserve$' &&
    empty "$scratch/err"
}

json_has_the_same_numbers() {
  ends 0 "$ashlar" prepare --json "$manifests/llama3-8b.jsonl" &&
    json out 'p["kernels"] == 7 and p["instances"] == 162
      and p["descriptors"] == p["descriptors_prepared"] == 517
      and p["bytes"] == 517 * 128 and p["alignment"] == 128
      and p["address_residue"] == p["source_calls_after_reserve"] == 0
      and p["slabs"] > 0 and p["slab_bytes"] >= p["bytes"]
      and p["reserve_ns"] > 0 and p["take_ns"] > 0 and l is None
      and [k["descriptors"] for k in o["kernels"]]
        == [2, 96, 128, 96, 96, 96, 3]'
}

every_manifest_that_comes_along_is_good() {
  for name in deepseek-v3-moe:119422 llama3-8b:517 resnet50:159; do
    ends 0 "$ashlar" prepare -j "$manifests/${name%:*}.jsonl" &&
      json out "p['descriptors_prepared'] == ${name#*:}" || return 1
  done
}

manifests_are_what_their_script_makes() {
  mkdir "$scratch/made" &&
    python3 "$manifests/make_manifests.py" "$scratch/made" || return 1
  for name in deepseek-v3-moe llama3-8b resnet50; do
    same "$manifests/$name.jsonl" "$scratch/made/$name.jsonl" || return 1
  done
  python3 -B "$manifests/make_manifests.py" --check
}

launches_are_counted_and_timed() {
  ends 0 "$ashlar" prepare "$manifests/llama3-8b.jsonl" \
    --threads 3 --launches 2000 &&
    says out '^launches   6,000 by 3 threads in .* a second$' \
      '^LATENCY OF A LAUNCH +P50 +P90 +P99 +P99\.9 +MAX$' \
      '^take, fill, put back ' '^ +0 calls into the source after the reserve$'
}

# The plug-in and the simulated driver of the build, where they were built.
every_descriptor_is_encoded() {
  sim=$top_builddir/tests/cudasim/.libs/libcuda.so.1
  [ -e "$sim" ] && [ -e "$top_builddir/plugins/cuda/.libs/ashlar_cuda.so" ] ||
    return 0
  ASHLAR_PLUGIN_PATH=$top_builddir/plugins/cuda/.libs
  export ASHLAR_PLUGIN_PATH
  for name in llama3-8b:517 resnet50:159; do
    ends 0 "$ashlar" prepare --driver="$sim" "$manifests/${name%:*}.jsonl" &&
      says out "^maps       ${name#*:} encoded by cudasim device 0, [0-9.]+ [mnu]s each$" &&
      ends 0 "$ashlar" prepare -j --driver="$sim" "$manifests/${name%:*}.jsonl" &&
      json out "p['maps_encoded'] == ${name#*:} and p['encode_ns'] > 0
        and p['driver'] == 'cudasim device 0'" || return 1
  done
  # What only the device refuses, too, is told at once, by kernel, tensor and rule.
  later=$scratch/later.jsonl
  printf '{"kernel": "k", "instances": 2, "tensors": [%s, %s]}\n' \
    '{"name": "T", "dtype": "16u4_align8b", "shape": [64, 64]}' \
    '{"name": "U", "dtype": "bf16", "shape": [64, 64], "swizzle": "128B_atom_32B"}' \
    >"$later"
  ends 1 "$ashlar" prepare --driver="$sim" "$later" && empty "$scratch/out" ||
    return 1
  lacks='which takes a device of compute capability 10.0; this one has 9.0 (capability)'
  cat >"$scratch/want" <<END
$later: kernel "k", tensor "T": dtype is 16u4_align8b, $lacks
$later: kernel "k", tensor "U": swizzle is swizzle_128B_atom_32B, $lacks
ashlar: 2 mistakes in the manifest, says cudasim device 0
END
  same "$scratch/want" "$scratch/err"
}

without_a_driver_descriptors_are_checked() {
  ends 0 "$ashlar" prepare --driver=none "$manifests/llama3-8b.jsonl" &&
    says out '^maps       checked, not encoded: none was asked for$' &&
    ends 0 "$ashlar" prepare -j --driver=none "$manifests/llama3-8b.jsonl" &&
    json out 'p["maps_encoded"] == 0 and p["driver"] is None' || return 1
  # One that was asked for has to be there.
  ASHLAR_PLUGIN_PATH=$top_builddir/plugins/cuda/.libs
  export ASHLAR_PLUGIN_PATH
  ends 1 "$ashlar" prepare --driver=/nowhere/libcuda.so.1 \
    "$manifests/llama3-8b.jsonl" && empty "$scratch/out" && [ -s "$scratch/err" ]
}

# More threads than a kernel has instances: the reserve allows for them.
launches_in_order_and_at_random_stay_in_the_reserve() {
  for order in --all --seed=7; do
    ends 0 "$ashlar" prepare -j "$order" -t 8 -n 500 \
      "$manifests/resnet50.jsonl" &&
      json out 'l["threads"] == 8 and l["launches"] == 4000
        and l["clashes"] == l["address_residue"] == 0
        and p["source_calls_after_reserve"] == 0
        and l["descriptors"] == 12000 and l["launches_per_second"] > 0
        and 0 < l["latency_ns"]["p50"] <= l["latency_ns"]["p90"]
          <= l["latency_ns"]["p99"] <= l["latency_ns"]["p99.9"]
          <= l["latency_ns"]["max"]' || return 1
  done
  json out 'l["seed"] == 7'
}

many_kernels_are_summed_up_in_one_row() {
  python3 -c '
for i in range(30):
    print("{\"kernel\": \"k%d\", \"instances\": 2, \"tensors\": []}" % i)
' >"$scratch/many.jsonl" &&
    ends 0 "$ashlar" prepare "$scratch/many.jsonl" &&
    says out '^k18 ' '^\.\.\. 11 more \(--all\) +22 ' '^30 kernels ' &&
    ! grep '^k19' "$scratch/out" &&
    ends 0 "$ashlar" prepare --all "$scratch/many.jsonl" &&
    says out '^k29 ' && ! grep more "$scratch/out"
}

kernels_without_tensors_take_no_slots() {
  echo '{"kernel": "k", "instances": 3, "tensors": []}' >"$scratch/none.jsonl"
  ends 0 "$ashlar" prepare "$scratch/none.jsonl" -t 2 &&
    says out '^k +0 +3 +0 +0 B +-$' '^prepared   0 descriptors in 0 runs' \
      '^launches   none: no kernel has a tensor$'
}

standard_input_is_read() {
  "$ashlar" prepare - -j <"$manifests/llama3-8b.jsonl" >"$scratch/out" &&
    json out 'p["descriptors"] == 517' &&
    echo '{' | { ! "$ashlar" prepare - 2>"$scratch/err"; } &&
    says err '^standard input:1: '
}

narrow_screens_cut_names_alone() {
  python3 -c 'print("{\"kernel\": \"%s\", \"instances\": 1234567, \"tensors\": []}"
    % ("long" * 30))' >"$scratch/long.jsonl" &&
    ends 0 env COLUMNS=70 "$ashlar" prepare "$scratch/long.jsonl" &&
    says out '^longlong.*\.\.\. +0 +1,234,567 +0 +0 B +-$' &&
    awk 'length($0) > 70 { exit 1 }' "$scratch/out"
}

# The program as a child that hears of SIGINT also where this shell does not, as
# in the background; ended when what is expected of it fails.
signalled='
import contextlib, json, pathlib, re, signal, subprocess, sys, time

@contextlib.contextmanager
def prepare(*arguments):
    child = subprocess.Popen(
        [sys.argv[1], "prepare", *arguments],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    try:
        yield child
    finally:
        child.kill()
        child.wait()
'

# A signal to the program in the middle of its launches, which the bar tells of.
ended_by() {
  python3 -c "$signalled"'
manifest, name, want = sys.argv[2:]
with prepare(manifest, "-t", "2", "-n", "100000000000", "-j",
             "--progress=always") as child:
    seen = b""
    while seen.count(b"launching") < 3:
        more = child.stderr.read1()
        assert more != b"", seen
        seen += more
    child.send_signal(getattr(signal, name))
    out, err = child.communicate(timeout=300)
assert child.returncode == int(want), (child.returncode, err)
told = json.loads(out)
assert told["interrupted"] is True
assert told["launches"]["launches"] > 0
assert told["launches"]["clashes"] == 0
assert told["prepared"]["source_calls_after_reserve"] == 0
' "$ashlar" "$manifests/llama3-8b.jsonl" "$@"
}

# While it waits for a line of its manifest, which it does once it catches SIGINT.
ended_while_reading() {
  python3 -c "$signalled"'
def told(child, line):
    status = pathlib.Path(f"/proc/{child.pid}/status").read_text()
    return re.search(f"^{line}:\\s*(\\w+)", status, re.M)[1]

def catches_sigint(child):
    return int(told(child, "SigCgt"), 16) >> (signal.SIGINT - 1) & 1

def sleeps(child):
    return told(child, "State") == "S"

with prepare("-") as child:
    for comes in catches_sigint, sleeps:
        while not comes(child):
            assert child.poll() is None
            time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=300)
assert child.returncode == 130, child.returncode
assert out == b"" and b"nothing was made" in err, err
' "$ashlar"
}

bar_is_drawn_where_it_is_wanted() {
  ends 0 "$ashlar" prepare "$manifests/llama3-8b.jsonl" -t 2 -n 3000000 &&
    empty "$scratch/err" &&
    ends 0 "$ashlar" prepare "$manifests/llama3-8b.jsonl" -t 2 \
      -n 1 --progress=always &&
    says err 'launching +\[#*-*\] +[0-9]+ %'
}

output_that_cannot_be_written_is_a_failure() {
  "$ashlar" prepare "$manifests/llama3-8b.jsonl" >/dev/full 2>"$scratch/err"
  [ $? -eq 1 ] && says err '^ashlar: the output could not be written: '
}

wrong_command_lines_are_refused() {
  ends 2 "$ashlar" && says err '^Examples:' &&
    ends 2 "$ashlar" prepair x && says err 'did you mean "prepare"\?' &&
    ends 2 "$ashlar" prepare && says err 'which manifest\?' &&
    ends 2 "$ashlar" prepare a b && says err '"b" is a second one' &&
    ends 2 "$ashlar" prepare a --threads 0 &&
    says err '--threads is "0"; it must be a number from 1 to 1024' &&
    ends 2 "$ashlar" prepare a --launches -3 &&
    says err '--launches is "-3"; it must be a number from 1 to ' &&
    ends 2 "$ashlar" prepare a --launches 1e6 &&
    ends 2 "$ashlar" prepare a --progress=now &&
    says err '--progress is "now"; it must be one of auto, always, never' &&
    ends 2 "$ashlar" prepare a --jsn
}

help_is_given() {
  ends 0 "$ashlar" --help && says out '^Examples:' 'prepare MANIFEST' &&
    ends 0 "$ashlar" help && says out '^Examples:' &&
    ends 0 "$ashlar" help prepare && cp "$scratch/out" "$scratch/help" &&
    says out '^Examples:' &&
    ends 0 "$ashlar" prepare --help && same "$scratch/help" "$scratch/out" &&
    ends 2 "$ashlar" help me && says err 'there is no command "me"' &&
    ends 0 "$ashlar" --version && says out "^ashlar $VERSION\$" '^jemalloc '
}

expect table_shows_what_was_prepared table_shows_what_was_prepared
expect json_has_the_same_numbers json_has_the_same_numbers
expect every_manifest_that_comes_along_is_good \
  every_manifest_that_comes_along_is_good
expect manifests_are_what_their_script_makes \
  manifests_are_what_their_script_makes
expect every_descriptor_is_encoded every_descriptor_is_encoded
expect without_a_driver_descriptors_are_checked \
  without_a_driver_descriptors_are_checked
expect launches_are_counted_and_timed launches_are_counted_and_timed
expect launches_in_order_and_at_random_stay_in_the_reserve \
  launches_in_order_and_at_random_stay_in_the_reserve
expect many_kernels_are_summed_up_in_one_row \
  many_kernels_are_summed_up_in_one_row
expect kernels_without_tensors_take_no_slots \
  kernels_without_tensors_take_no_slots
expect standard_input_is_read standard_input_is_read
expect narrow_screens_cut_names_alone narrow_screens_cut_names_alone
expect ctrl_c_ends_with_what_was_done ended_by SIGINT 130
expect sigterm_ends_with_what_was_done ended_by SIGTERM 143
expect ctrl_c_while_reading_makes_nothing ended_while_reading
expect bar_is_drawn_where_it_is_wanted bar_is_drawn_where_it_is_wanted
expect output_that_cannot_be_written_is_a_failure \
  output_that_cannot_be_written_is_a_failure
expect wrong_command_lines_are_refused wrong_command_lines_are_refused
expect help_is_given help_is_given
finish
