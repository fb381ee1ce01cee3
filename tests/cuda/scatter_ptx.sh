#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# The kernel that scatters, and the one that shows on a card that it does, as a
# toolkit's assembler sees them, where there is one.

. "$top_srcdir/tests/scripts/lib.sh"

ptxas=$(command -v ptxas || command -v /usr/local/cuda/bin/ptxas) ||
  skip_all "no ptxas"

# text_of NAME FILE: what a string of C says
text_of() {
  sed -n "/ $1\[\] =/,/;\$/p" "$2" | sed -n 's/^ *"\(.*\)";*$/\1/p' | tr -d '\n' |
    sed 's/\\n/\n/g'
}

text_of cuda_scatter_ptx "$top_srcdir/plugins/cuda/scatter_ptx.h" \
  >"$scratch/scatter.ptx"
text_of tile_kernel "$top_srcdir/tests/gpu/test_card_scatter.c" \
  >"$scratch/tiles.ptx"

# assembles TEXT ARCHITECTURE: without a word
assembles() {
  grep -q '^\.visible \.entry' "$scratch/$1.ptx" &&
    "$ptxas" --gpu-name "$2" --output-file "$scratch/cubin" \
      "$scratch/$1.ptx" >"$scratch/out" 2>&1 && empty "$scratch/out"
}

knows() {
  "$ptxas" --help | grep -Fq "'$1'"
}

# It says the oldest version that has what it uses.
needs_its_version() {
  sed 's/^\.version .*/.version 8.2/' "$scratch/scatter.ptx" >"$scratch/older.ptx"
  ! "$ptxas" --gpu-name sm_90 --output-file "$scratch/cubin" "$scratch/older.ptx"
}

expect the_kernel_is_taken_for_sm_90 assembles scatter sm_90
expect the_one_that_shows_it_is_taken_too assembles tiles sm_90
for newer in sm_100 sm_120; do
  if knows "$newer"; then
    expect "the_kernel_is_taken_for_$newer" assembles scatter "$newer"
  else
    skip "the_kernel_is_taken_for_$newer" "an older ptxas"
  fi
done
expect an_older_version_would_not_do needs_its_version
finish
