#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# ashlar check-plugin: content with what is right, and it finds what is wrong.

. "$top_srcdir/tests/scripts/lib.sh"

ashlar=$top_builddir/tools/ashlar
modules=$top_builddir/tests/plugin/modules/.libs
examples=$top_builddir/examples/plugin/.libs
[ -x "$ashlar" ] || skip_all "the program ashlar was not built"
[ -f "$examples/ashlar_memfd.so" ] || skip_all "--disable-shared"
have python3 || skip_all "python3 is not installed"
unset ASHLAR_PLUGIN_PATH COLUMNS

# keeps FILE ARGUMENT...: no promise is broken, by several seeds
keeps() {
  file=$1
  shift
  for seed in 1 2 3; do
    "$ashlar" check-plugin "$file" --steps 2000 --seed $seed "$@" || return 1
  done
}

# breaks NAME CHECK WORDS: of all the checks, this one above all, and why
breaks() {
  "$ashlar" check-plugin "$modules/ashlar_$1.so" --json --seed 5 \
    --steps 3000 >"$scratch/json"
  got=$?
  python3 -m json.tool "$scratch/json" || return 1
  [ "$got" -eq 1 ] || { echo "exit status $got"; return 1; }
  python3 -c '
import json, sys
checks = {c["name"]: c for c in json.load(open(sys.argv[1]))["checks"]}
check = checks[sys.argv[2]]
assert check["result"] == "broken", check
assert sys.argv[3] in check["sentence"], check
' "$scratch/json" "$2" "$3"
}

prints() {
  for pattern in "$@"; do
    grep -Eq -- "$pattern" "$scratch/out" ||
      { cat "$scratch/out"; echo "no line is: $pattern"; return 1; }
  done
}

# All but the file's name, which is as long as it is.
says_all_in_80_columns() {
  "$ashlar" check-plugin "$examples/ashlar_memfd.so" --steps 500 --seed 9 \
    >"$scratch/out" || return 1
  prints '^memfd 1.0: ' '^PROMISE +TIMES +RESULT$' \
    '^wrong calls are refused, change nothing +[0-9,]+  kept$' \
    '^blocks are aligned and one.s own +0  no blocks$' \
    '^no promises broken, in [0-9,]+ calls; the same again by --seed 9 ' &&
    awk 'NR != 2 && length($0) > 80 { print; exit 1 }' "$scratch/out"
}

says_what_is_broken() {
  "$ashlar" check-plugin "$modules/ashlar_lax.so" --seed 9 >"$scratch/out"
  [ $? -eq 1 ] && prints '^wrong calls are refused, .* BROKEN$' \
    '^refusals +unmap\(\) of ' '^[0-9]+ promises? broken, '
}

says_what_is_built_in() {
  "$ashlar" check-plugin heap --steps 200 >"$scratch/out" &&
    prints '^heap [0-9.]+: host memory, jemalloc$' '^  built into libashlar$' \
      '^the file exports .* 0  built in$' '^it calls nothing .* 0  built in$' \
      '^reserved addresses .* 0  no ranges$'
}

# Where addresses fall the same, since some steps go by that.
same_seed_takes_the_same_steps() {
  for run in 1 2; do
    setarch -R "$ashlar" check-plugin vm --json --seed 77 --steps 2000 \
      --threads 1 >"$scratch/run$run" || return 1
  done
  grep -q '"threads": 1' "$scratch/run1" && same "$scratch/run1" "$scratch/run2"
}

# refuses STATUS WORDS ARGUMENT...: what standard error says
refuses() {
  want=$1
  words=$2
  shift 2
  "$ashlar" check-plugin "$@" >"$scratch/out" 2>"$scratch/err"
  got=$?
  cat "$scratch/err"
  [ "$got" -eq "$want" ] && empty "$scratch/out" &&
    grep -qF -- "$words" "$scratch/err"
}

finds_it_by_name() {
  ASHLAR_PLUGIN_PATH=$modules:$examples
  export ASHLAR_PLUGIN_PATH
  "$ashlar" check-plugin guard --steps 200 --options fill=7 &&
    ! "$ashlar" check-plugin guard --steps 200 --options fill=700 &&
    ! "$ashlar" check-plugin wrong_abi &&
    refuses 1 'no plug-in is called nobody' nobody
}

command_line_is_checked() {
  refuses 2 'which plug-in?' &&
    refuses 2 'is a second one' a b &&
    refuses 2 '--steps is "0"' a --steps 0 &&
    refuses 2 'is no key=value' a --options b &&
    refuses 1 "a plug-in's file is called ashlar_NAME.so" ./memfd.so
}

expect range_plugin_keeps_all_promises keeps "$examples/ashlar_memfd.so"
expect block_plugin_keeps_all_promises keeps "$examples/ashlar_guard.so"
expect vm_source_keeps_all_promises keeps vm
expect vm_source_keeps_them_with_small_granules \
  keeps vm --options granule=64K,memory=8M
expect heap_source_keeps_all_promises keeps heap
expect built_in_sources_are_said_to_be_so says_what_is_built_in
expect device_with_every_group_keeps_all_promises \
  keeps "$modules/ashlar_device.so"
expect cutting_mappings_is_found breaks lax refusals 'unmap() of'
expect copies_for_mappings_are_found breaks copies contents 'was written'
expect rights_that_nobody_gave_are_found breaks generous rights 'no rights'
expect fences_that_pass_early_are_found breaks hasty contents 'is read at'
expect scattering_to_wrong_places_is_found breaks beside scatter 'the table is'
expect encoding_that_differs_is_found breaks fickle encode 'two maps of one'
expect encoding_behind_what_is_refused_is_found breaks eager encode \
  'wrote behind what it refused'
expect descriptors_left_open_are_found breaks leaky gives_back 'file(s) more'
expect memory_kept_is_found breaks hoarder gives_back 'host->alloc() gave'
expect refusals_without_a_reason_are_found breaks mute reasons 'nothing'
expect crashes_are_told breaks mortal survives 'Aborted'
expect calls_of_the_library_are_found breaks caller alone ashlar_clear_error
expect wrong_abi_is_found breaks wrong_abi struct 'ABI is 2'
expect short_struct_is_found breaks short_struct struct '16 bytes'
expect other_name_is_found breaks other_name struct 'somebody_else'
expect half_a_group_is_found breaks half_group groups '1 of the 7'
expect missing_symbol_is_found breaks no_symbol symbol 'does not export'
expect undefined_symbol_is_found breaks undefined symbol nothing_has_this
expect symbol_of_a_dependency_is_found breaks shallow symbol 'of its own'
expect failing_open_is_told breaks open_fails open 'libnothing.so.7'
expect claims_without_functions_are_found breaks boaster open 'can do 0x4'
expect table_fits_in_80_columns says_all_in_80_columns
expect broken_promises_are_told_in_sentences says_what_is_broken
if [ -z "$SANITIZERS" ] && setarch -R true 2>/dev/null; then
  expect same_seed_takes_the_same_steps same_seed_takes_the_same_steps
else
  skip same_seed_takes_the_same_steps "addresses cannot be made to fall the same"
fi
expect plugin_is_found_by_name finds_it_by_name
expect command_line_is_checked command_line_is_checked
finish
