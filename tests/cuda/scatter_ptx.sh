#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# The kernel that scatters, as a toolkit's assembler sees it, where there is one.

. "$top_srcdir/tests/scripts/lib.sh"

text=$top_srcdir/plugins/cuda/scatter_ptx.h
ptxas=$(command -v ptxas || command -v /usr/local/cuda/bin/ptxas) ||
  skip_all "no ptxas"

# The text of the string.
sed -n 's/^    "\(.*\)\\n";*$/\1/p' "$text" >"$scratch/scatter.ptx"

# assembles ARCHITECTURE: without a word
assembles() {
  "$ptxas" --gpu-name "$1" --output-file "$scratch/cubin" \
    "$scratch/scatter.ptx" >"$scratch/out" 2>&1 && empty "$scratch/out"
}

knows() {
  "$ptxas" --help | grep -Fq "'$1'"
}

# It says the oldest version that has what it uses.
needs_its_version() {
  sed 's/^\.version .*/.version 8.2/' "$scratch/scatter.ptx" >"$scratch/older.ptx"
  ! "$ptxas" --gpu-name sm_90 --output-file "$scratch/cubin" "$scratch/older.ptx"
}

expect the_kernel_is_taken_for_sm_90 assembles sm_90
for newer in sm_100 sm_120; do
  if knows "$newer"; then
    expect "the_kernel_is_taken_for_$newer" assembles "$newer"
  else
    skip "the_kernel_is_taken_for_$newer" "an older ptxas"
  fi
done
expect an_older_version_would_not_do needs_its_version
finish
