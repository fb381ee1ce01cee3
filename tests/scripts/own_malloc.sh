#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# A program that links -lashlar keeps its own malloc.

. "$top_srcdir/tests/scripts/lib.sh"

[ "$JEMALLOC_KIND" = private ] ||
  skip_all "the system's jemalloc is the program's malloc, too"
case ,$SANITIZERS, in
  *,address,* | *,thread,* | *,memory,* | *,leak,*)
    skip_all "the sanitizer has a malloc of its own" ;;
esac

# build NAME LIBRARY...
build() {
  program=$scratch/$1
  shift
  # shellcheck disable=SC2086 # lists of words
  $CC $sanitize -pthread -I"$top_srcdir/include" \
    "$top_srcdir/tests/scripts/own_malloc.c" -o "$program" "$@" -ldl -lm
}

run_shared() {
  build shared -L"${shared_library%/*}" -lashlar || return
  LD_LIBRARY_PATH=${shared_library%/*} "$scratch/shared"
}

run_static() {
  build static "$static_library" && "$scratch/static"
}

if [ -f "$shared_library" ]; then
  expect program_with_the_shared_library_keeps_its_malloc run_shared
else
  skip program_with_the_shared_library_keeps_its_malloc --disable-shared
fi
if [ -f "$static_library" ]; then
  expect program_with_the_static_library_keeps_its_malloc run_static
else
  skip program_with_the_static_library_keeps_its_malloc --disable-static
fi
finish
