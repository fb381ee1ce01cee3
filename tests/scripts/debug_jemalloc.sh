#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# Arenas and pools work on a jemalloc that checks itself: hooks that call
# malloc, locks that are taken out of order and records that do not agree end
# the process there. The tests are linked anew to one that was made by
# ./bootstrap debug-jemalloc; with ASHLAR_LONG_TESTS set, it is made here.

. "$top_srcdir/tests/scripts/lib.sh"

# What stands on jemalloc, by arenas or by the blocks of pools.
tests='unit/test_arena unit/test_arena_life unit/test_arena_race
  unit/test_arena_range unit/test_heap unit/test_pool unit/test_put
  unit/test_reserve unit/test_run unit/test_runs unit/test_slab unit/test_store
  unit/test_trim fault/fault_arena fault/fault_pool stress/stress_arena
  stress/stress_churn'

debug_archive() {
  for archive in "$top_srcdir/.deps/debug-jemalloc"-*-"$(uname -m)"/lib/*.a; do
    [ ! -f "$archive" ] || echo "$archive"
  done
}

# The library of the tests, with the other jemalloc in it.
library_is_made() {
  cp "$top_builddir/lib/.libs/libashlar-core.a" "$core" &&
    ld -r -o "$scratch/jemalloc.o" --whole-archive "$(debug_archive)" &&
    ar r "$core" "$scratch/jemalloc.o"
}

# link TEST: automake puts the program's name before some objects' names
link() {
  object=$top_builddir/tests/$1.o
  [ -f "$object" ] || object=$(echo "$top_builddir/tests/$1"-*.o)
  # shellcheck disable=SC2046,SC2086 # lists of words
  $CC $sanitize -pthread "$object" "$support/libsupport.a" \
    "$support/libvm.a" "$core" $($PKG_CONFIG --libs check) -ldl -lm \
    -o "$scratch/${1##*/}"
}

# passes PROGRAM: it says how many cases there are, and that none failed
passes() {
  "$scratch/$1" >"$scratch/tap" || { echo "it exits with $?"; return 1; }
  grep '^1\.\.[1-9]' "$scratch/tap" && ! grep '^not ok' "$scratch/tap"
}

# test_works TEST
test_works() {
  link "$1" && passes "${1##*/}"
}

# Its own settings, which fill memory, are refused like anybody's.
settings_are_refused() {
  link unit/test_arena_life &&
    (unset ASHLAR_JE_MALLOC_CONF && "$scratch/test_arena_life" settings) |
    grep 'ASHLAR_JE_MALLOC_CONF.*setting "junk" is true\|setting "junk" is true.*ASHLAR_JE_MALLOC_CONF'
}

[ "$JEMALLOC_KIND" = private ] || skip_all "--with-jemalloc=system"
support=$top_builddir/tests/support/.libs
core=$scratch/libashlar-core.a
[ -f "$support/libsupport.a" ] || skip_all "the unit tests were not built"
if [ -z "$(debug_archive)" ]; then
  [ -n "${ASHLAR_LONG_TESTS-}" ] ||
    skip_all "no debug jemalloc, and ASHLAR_LONG_TESTS is not set"
  [ -d "$top_srcdir/.deps/source" ] ||
    skip_all "no source of jemalloc: ./bootstrap debug-jemalloc gets it"
  expect debug_jemalloc_is_made "$top_srcdir/bootstrap" debug-jemalloc
fi

expect library_is_made library_is_made
expect settings_that_fill_memory_are_refused settings_are_refused
ASHLAR_JE_MALLOC_CONF=junk:false
export ASHLAR_JE_MALLOC_CONF
for test in $tests; do
  expect "${test##*/}_passes_on_a_debug_jemalloc" test_works "$test"
done
finish
