#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# AddressSanitizer and Valgrind see slots as allocations: a program that uses
# one after its put, or reads past it, is told so. The library is the normal
# one; a program built with AddressSanitizer brings all that it needs.

. "$top_srcdir/tests/scripts/lib.sh"

[ "$JEMALLOC_KIND" = private ] ||
  skip_all "the system's jemalloc is the program's malloc, too"
case ,$SANITIZERS, in
  *,thread,* | *,memory,*)
    skip_all "the library has another sanitizer, and a program has one" ;;
esac

mistakes='read_after_put write_after_put_bulk read_past_object read_past_slot
  read_before_slot read_slot_never_got read_after_put_run read_past_run
  read_after_cache_put'

# build NAME ARGUMENT...
build() {
  program=$1
  shift
  # shellcheck disable=SC2086 # lists of words
  $CC -g -O0 -pthread -I"$top_srcdir/include" \
    "$top_srcdir/tests/scripts/watch.c" -o "$scratch/$program" "$@"
}

run() {
  LD_LIBRARY_PATH=${shared_library%/*} "$@"
}

# reported PATTERN COMMAND...: it fails, and what it says has the pattern
reported() {
  pattern=$1
  shift
  if run "$@" >"$scratch/report" 2>&1; then
    echo "nothing was reported"
    return 1
  fi
  grep -q "$pattern" "$scratch/report" && return
  cat "$scratch/report"
  return 1
}

# with_address KIND LIBRARY...: a program with AddressSanitizer
with_address() {
  kind=$1
  shift
  if [ ! -f "$1" ]; then
    skip "address_sanitizer_sees_slots_$kind" "the library was not built"
    return
  fi
  # shellcheck disable=SC2086 # lists of words
  if ! build "address_$kind" -fsanitize=address $sanitize "$@" -ldl -lm \
    >"$scratch/build" 2>&1; then
    if [ -n "$SANITIZERS" ]; then
      expect "program_with_address_sanitizer_${kind}_builds" \
        sh -c "cat '$scratch/build'; false"
    else
      skip "address_sanitizer_sees_slots_$kind" \
        "$CC does not link with -fsanitize=address"
    fi
    return
  fi
  expect "address_sanitizer_is_content_with_no_mistake_$kind" \
    run "$scratch/address_$kind" no_mistake
  for mistake in $mistakes; do
    expect "address_sanitizer_reports_${mistake}_$kind" \
      reported 'AddressSanitizer: use-after-poison' \
      "$scratch/address_$kind" "$mistake"
  done
}

valgrind_with() {
  valgrind -q --error-exitcode=99 "$scratch/plain" "$1"
}

with_valgrind() {
  why=
  [ -f "$shared_library" ] || why='the shared library was not built'
  [ -z "$SANITIZERS" ] || why='the library has a sanitizer in it'
  grep -q '^#define HAVE_VALGRIND 1' "$top_builddir/config.h" ||
    why='valgrind/memcheck.h was not found'
  have valgrind || why='valgrind was not found'
  if [ -n "$why" ]; then
    skip valgrind_sees_slots "$why"
    return
  fi
  expect program_for_valgrind_builds build plain "$shared_library"
  expect valgrind_is_content_with_no_mistake run valgrind_with no_mistake
  for mistake in $mistakes; do
    expect "valgrind_reports_$mistake" reported 'Invalid [a-z]* of size 1' \
      valgrind_with "$mistake"
  done
  expect valgrind_reports_branch_on_what_was_never_written \
    reported 'depends on uninitialised' \
    valgrind_with branch_on_what_was_never_written
}

with_address shared "$shared_library"
with_address static "$static_library"
with_valgrind
finish
