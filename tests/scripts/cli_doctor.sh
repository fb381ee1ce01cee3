#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# ashlar doctor: what it finds on this machine, and on one made for it.

. "$top_srcdir/tests/scripts/lib.sh"

ashlar=$top_builddir/tools/ashlar
[ -x "$ashlar" ] || skip_all "the program ashlar was not built"
have python3 || skip_all "python3 is not installed"
unset ASHLAR_JE_MALLOC_CONF MALLOC_CONF CUDA_HOME CUDA_PATH CONDA_PREFIX
unset ASHLAR_PLUGIN_PATH

# header FOLDER VERSION BODY: a toolkit with a cuda.h like the real ones
header() {
  mkdir -p "$scratch/$1/include"
  printf '#define CUDA_VERSION %s\n\ntypedef struct CUtensorMap_st CUmap;\n%s\n' \
    "$2" "$3" >"$scratch/$1/include/cuda.h"
}

# declares NUMBER: what cuda.h says of CUtensorMap
declares() {
  cat <<END
typedef struct CUtensorMap_st {
#if defined(__cplusplus) && (__cplusplus >= 201103L)
    alignas($1)
#elif __STDC_VERSION__ >= 201112L
    _Alignas($1)
#endif
    cuuint64_t opaque[CU_TENSOR_MAP_NUM_QWORDS];
} CUtensorMap;
struct other { alignas(8) int i; };
END
}

# finds STATUS CONDITION ARGUMENT...: true in Python, f(topic) being the list
# of (level, fact and advice) found
finds() {
  want=$1
  condition=$2
  shift 2
  "$ashlar" doctor --json "$@" >"$scratch/json" 2>"$scratch/err"
  got=$?
  python3 -m json.tool "$scratch/json" || return 1
  [ "$got" -eq "$want" ] || { echo "exit status $got, not $want"; return 1; }
  empty "$scratch/err" && python3 -c '
import json, os, sys
o = json.load(open(sys.argv[1]))
def f(topic):
    return [(x["level"], x["fact"] + " -> " + (x["advice"] or ""))
            for x in o["findings"] if x["topic"] == topic]
def has(topic, level, *words):
    return any(l == level and all(w in text for w in words)
               for l, text in f(topic))
sys.exit(0 if eval("(" + sys.argv[2] + ")") else "not so: " + sys.argv[2])
' "$scratch/json" "$condition"
}

this_machine() {
  case $JEMALLOC_KIND in
    private) je='has("jemalloc", "ok", "private", "ashlar_je_")
      and has("settings", "ok", "ASHLAR_JE_MALLOC_CONF, which is not set")
      and has("static TLS", "ok")' ;;
    *) je='has("jemalloc", "note", "the system")' ;;
  esac
  finds 0 "$je and o['problems'] == 0
    and has('library', 'ok', os.environ['VERSION'])
    and has('slots', 'ok', 'multiples of')
    and f('build') and f('toolkit') and f('driver') and f('addresses')
    and f('open files') and f('pages')
    and has('source', 'ok', 'heap, built in') and has('source', 'ok', 'vm, ')
    and has('arenas', 'ok', 'memory of ranges')
    and has('memfd', 'ok', 'works') and f('vm huge') and has('vm', 'ok', 'granules of 2.00 MiB')
    and f('mappings')"
}

settings_that_touch_memory_are_noted() {
  (
    export ASHLAR_JE_MALLOC_CONF=junk:alloc
    finds 0 'has("arenas", "note", "\"junk\" is alloc",
                 "ASHLAR_JE_MALLOC_CONF")'
  )
}

sources_are_told_apart() {
  modules=$top_builddir/tests/plugin/modules/.libs
  [ -f "$modules/ashlar_older.so" ] || return 0 # --disable-shared
  ASHLAR_PLUGIN_PATH=$modules finds 1 'has("source", "ok", "older, /")
    and has("source", "problem", "ashlar_half_group.so was refused",
            "1 of the 7 functions")
    and has("source", "note", "ashlar_vm.so is hidden", "built in")'
}

text_is_aligned_and_fits() {
  "$ashlar" doctor >"$scratch/out" || return 1
  grep -Eq '^ok       library       libashlar ' "$scratch/out" &&
    grep -Eq '^(no|[0-9]+) problems?, (no|[0-9]+) notes?$' "$scratch/out" &&
    ! grep -Ev '^$|^ {23}|^(ok|note|problem) {2,8}[a-zA-Z]|problems?, ' \
      "$scratch/out"
}

header cuda-12 12040 "$(declares 64)"
header cuda-13 13000 "$(declares 128)"
header cuda-11 11080 ""
header cuda-99 99000 "$(declares 256)"

toolkit_12_and_13_are_told_apart() {
  finds 0 'has("toolkit", "ok", "CUDA 12.4, ", "declares CUtensorMap at 64")' \
    --cuda "$scratch/cuda-12" &&
    CUDA_HOME=$scratch/cuda-12 finds 0 \
      'has("toolkit", "ok", "CUDA 12.4, ", "at 64; slots are at 128")
       and has("toolkit", "ok", "CUDA 13.0, ", "at 128; slots are at 128")
       and has("toolkits", "note", "at 64 and at 128", "suits both")' \
      --cuda "$scratch/cuda-13"
}

toolkit_without_tensor_maps_is_noted() {
  finds 0 'has("toolkit", "note", "CUDA 11.8, ", "12.0 or later")' \
    --cuda "$scratch/cuda-11"
}

toolkit_that_wants_more_is_a_problem() {
  finds 1 'has("toolkit", "problem", "at 256, but slots are only at 128")' \
    --cuda "$scratch/cuda-99"
}

folder_without_a_toolkit_is_a_problem() {
  finds 1 'has("toolkit", "problem", "there is no cuda.h", "--cuda")' \
    --cuda "$scratch"
}

# Junk, text without an end, a folder: nothing to fall over.
broken_headers_are_survived() {
  mkdir -p "$scratch/bad/include/cuda.h" "$scratch/worse/include"
  finds 1 'has("toolkit", "problem", "there is no cuda.h")' \
    --cuda "$scratch/bad" || return 1
  head -c 100000 /dev/urandom >"$scratch/worse/include/cuda.h"
  printf '\n#define CUDA_VERSION 13000\nstruct CUtensorMap_st {' \
    >>"$scratch/worse/include/cuda.h"
  "$ashlar" doctor --cuda "$scratch/worse" >"$scratch/out"
  [ $? -le 1 ]
}

the_other_settings_variable_is_noted() {
  MALLOC_CONF=narenas:2 finds 0 'has("settings", "note",
    "MALLOC_CONF is \"narenas:2\"", "set ASHLAR_JE_MALLOC_CONF")'
}

settings_are_shown() {
  ASHLAR_JE_MALLOC_CONF=junk:true finds 0 'has("settings", "note",
    "ASHLAR_JE_MALLOC_CONF is \"junk:true\"", "slow")' &&
    ASHLAR_JE_MALLOC_CONF=narenas:1 finds 0 'has("settings", "ok",
      "ASHLAR_JE_MALLOC_CONF is \"narenas:1\"")'
}

# driver RETURNED VERSION: a libcuda.so.1 that answers so
driver() {
  mkdir -p "$scratch/driver" &&
    cat >"$scratch/driver/cuda.c" <<END &&
int cuDriverGetVersion(int *version);
int cuDriverGetVersion(int *version) { *version = $2; return $1; }
END
    # shellcheck disable=SC2086 # CC may have arguments
    $CC -shared -fPIC "$scratch/driver/cuda.c" -o "$scratch/driver/libcuda.so.1"
}

drivers_are_told_apart() {
  (
    LD_LIBRARY_PATH=$scratch/driver${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export LD_LIBRARY_PATH
    driver 0 13000 &&
      finds 0 'has("driver", "ok", "libcuda.so.1, for CUDA 13.0")' &&
      driver 0 11080 &&
      finds 0 'has("driver", "note", "CUDA 11.8", "12.0 or later")' &&
      driver 34 0 && finds 0 'has("driver", "note", "stub")'
  )
}

low_limits_are_noted() {
  (
    ulimit -n 256 && ulimit -v 4000000 &&
      finds 0 'has("open files", "note", "256 at most", "ulimit -n")
        and has("addresses", "note", "3.81 GiB", "ulimit -v")'
  )
}

expect this_machine_is_looked_at this_machine
expect text_is_aligned_and_fits_on_a_screen text_is_aligned_and_fits
expect sources_found_and_refused_are_told_apart sources_are_told_apart
expect toolkit_12_and_13_are_told_apart toolkit_12_and_13_are_told_apart
expect toolkit_without_tensor_maps_is_noted toolkit_without_tensor_maps_is_noted
expect toolkit_that_wants_more_is_a_problem toolkit_that_wants_more_is_a_problem
expect folder_without_a_toolkit_is_a_problem \
  folder_without_a_toolkit_is_a_problem
expect broken_headers_are_survived broken_headers_are_survived
expect drivers_are_told_apart drivers_are_told_apart
if [ "$JEMALLOC_KIND" = private ]; then
  expect settings_are_shown settings_are_shown
  expect settings_that_touch_memory_are_noted \
    settings_that_touch_memory_are_noted
  expect the_other_settings_variable_is_noted \
    the_other_settings_variable_is_noted
else
  skip settings_are_shown "the system's jemalloc reads MALLOC_CONF"
  skip settings_that_touch_memory_are_noted \
    "the system's jemalloc reads MALLOC_CONF"
  skip the_other_settings_variable_is_noted \
    "the system's jemalloc reads MALLOC_CONF"
fi
if [ -z "$SANITIZERS" ]; then
  expect low_limits_are_noted low_limits_are_noted
else
  skip low_limits_are_noted "a sanitizer needs all the addresses there are"
fi
finish
