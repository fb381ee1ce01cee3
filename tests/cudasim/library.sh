#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# The simulated driver as a file: what it is called, what is in it, and that a
# program runs on it.

. "$top_srcdir/tests/scripts/lib.sh"

unset CUDASIM
folder=$top_builddir/tests/cudasim
library=$folder/.libs/libcuda.so.1
sources=$top_srcdir/tests/cudasim
[ -f "$library" ] || skip_all "not built: no cuda.h, or --disable-shared"

goes_by_the_name_of_the_driver() {
  $READELF -d "$library" | grep SONAME | grep -Fq '[libcuda.so.1]'
}

exports_the_driver_and_the_control() {
  $NM -D --defined-only "$library" | awk '$2 == "T" { print $3 }' |
    sort >"$scratch/exported"
  grep -Ev '^(cu[A-Z]|cudasim_)' "$scratch/exported" >"$scratch/strange"
  grep -oE '\bcudasim_[a-z_]+\(' "$sources/cudasim.h" | tr -d '(' | sort -u |
    comm -23 - "$scratch/exported" >"$scratch/missing"
  empty "$scratch/strange" && empty "$scratch/missing"
}

# What a table names in entries.c, with the suffix that cuda.h gives it.
has_each_entry_in_its_table() {
  $NM -D --defined-only "$library" | awk '$3 ~ /^cu[A-Z]/ { print $3 }' |
    sed 's/_pt[ds][sz]*$//; s/_v[0-9]$//' | sort -u >"$scratch/exported"
  grep -oE 'FUNCTIONS?\(cu[A-Za-z0-9_]*' "$sources/entries.c" |
    sed 's/FUNCTIONS*(//; s/_pt[ds][sz]*$//; s/_v[0-9]$//' | sort -u >"$scratch/table"
  same "$scratch/table" "$scratch/exported"
}

stands_alone() {
  $NM -D --undefined-only "$library" | grep -E ' (ashlar|ck)_' >"$scratch/used"
  empty "$scratch/used"
}

shows_the_sample() {
  sed -n '/^\/\* Map one more/,$p' "$sources/sample.c" >"$scratch/code"
  sed -n '/^```c$/,/^```$/p' "$sources/README.md" | sed '1d; $d' \
    >"$scratch/shown"
  same "$scratch/code" "$scratch/shown"
}

runs_the_sample() {
  sed -n '/^    grow says/,/^$/p' "$sources/README.md" |
    sed 's/^    //; /^$/d' >"$scratch/shown"
  "$folder/sample" >"$scratch/printed" && same "$scratch/shown" \
    "$scratch/printed"
}

says_what_is_left() {
  CUDASIM=report=yes "$folder/forgetful" 2>"$scratch/left" &&
    echo 'cudasim: reservations: 1 left (2097152 bytes)' |
    same - "$scratch/left"
}

says_nothing_unless_asked() {
  "$folder/forgetful" 2>"$scratch/left" && empty "$scratch/left"
}

refuses_wrong_settings() {
  CUDASIM=devices=many "$folder/forgetful" 2>"$scratch/said"
  [ $? -eq 1 ] &&
    echo 'cudasim: devices is "many"; it must be 1 to 8' |
    same - "$scratch/said"
}

expect it_goes_by_the_name_of_the_driver goes_by_the_name_of_the_driver
if [ -n "$SANITIZERS" ]; then
  skip it_exports_the_driver_and_the_control "the instrumentation exports more"
else
  expect it_exports_the_driver_and_the_control \
    exports_the_driver_and_the_control
fi
expect each_entry_is_in_the_table has_each_entry_in_its_table
expect it_uses_nothing_of_the_library stands_alone
expect its_readme_shows_the_sample shows_the_sample
expect the_sample_prints_what_the_readme_says runs_the_sample
expect a_program_is_told_what_it_left says_what_is_left
expect a_program_is_told_nothing_unless_it_asks says_nothing_unless_asked
expect wrong_settings_fail_init_and_are_said refuses_wrong_settings
finish
