#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# The library is loaded late and closed early, the process ends in every way, the
# kernel refuses memory: each situation is a run of a program of its own.

. "$top_srcdir/tests/scripts/lib.sh"

here=$top_builddir/tests/edges
LIBASHLAR=$shared_library
ASAN_OPTIONS=detect_leaks=0
export LIBASHLAR ASAN_OPTIONS

# ends_with STATUS PROGRAM SITUATION: in time, and without a word
ends_with() {
  timeout 600 "$here/$2" "$3" >"$scratch/words" 2>&1
  status=$?
  cat "$scratch/words"
  [ ! -s "$scratch/words" ] || return 1
  [ $status -eq "$1" ] || { echo "it ended with $status"; return 1; }
}

# each PROGRAM: all its situations
each() {
  for situation in $("$here/$1"); do
    case $1,$situation in
      leave,the_main_thread_ends_before_the_last) wanted=0 ;;
      leave,*) wanted=42 ;;
      *) wanted=0 ;;
    esac
    expect "${1}_$situation" ends_with $wanted "$1" "$situation"
  done
}

if [ "$JEMALLOC_KIND" != private ] || [ "$JEMALLOC_STATIC_TLS" != no ] ||
  [ -n "$SANITIZERS" ] || [ ! -f "$shared_library" ]; then
  skip late "this library cannot be loaded late"
else
  each late
fi
case ,$SANITIZERS, in
  *,thread,*) skip leave "threads that go on at the end are reported" ;;
  *) each leave ;;
esac
if [ -n "$SANITIZERS" ] || [ "$JEMALLOC_KIND" != private ]; then
  skip starved "the sanitizer, or malloc, needs the same functions"
else
  each starved
fi
finish
