#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# Where the linker puts jemalloc's functions changes their time by a tenth, and so
# what `make bench-arena` compares with. This makes four programs of it, in which
# jemalloc's code begins 0, 16, 32 and 48 bytes behind a multiple of 64.
#
#     sh bench/arena_layouts.sh BUILD FOLDER
#
# BUILD is where `make` was run, with a private jemalloc; the programs are
# FOLDER/arenas-0 to -48. Its objects are as before afterwards.

set -eu
[ $# -eq 2 ] || { sed -n 's/^# \{0,1\}//p' "$0" | sed 1,2d >&2; exit 2; }
build=$1 folder=$2
archive=$(sed -n 's/^JEMALLOC_ARCHIVE = *//p' "$build/Makefile")
[ -n "$archive" ] || { echo "$build has no private jemalloc" >&2; exit 1; }
mkdir -p "$folder"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

relink() {
  rm -f "$build/bench/bench-arenas" "$build/lib/libashlar-core.la"
  make -s -C "$build" lib/libashlar-core.la bench/bench-arenas
}

for bytes in 0 16 32 48; do
  printf '.text\n.p2align 6\n.fill %d, 1, 0x90\n%s\n' "$bytes" \
    '.section .note.GNU-stack,"",@progbits' >"$scratch/pad.s"
  ${CC:-cc} -c "$scratch/pad.s" -o "$scratch/pad.o"
  ld -r -o "$build/lib/jemalloc.o" "$scratch/pad.o" --whole-archive "$archive"
  cp "$build/lib/jemalloc.o" "$build/lib/.libs/"
  relink
  cp "$build/bench/bench-arenas" "$folder/arenas-$bytes"
done
rm -f "$build/lib/jemalloc.lo"
relink
