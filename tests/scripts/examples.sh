#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# The examples print what the comment at their end says, and nothing else.

. "$top_srcdir/tests/scripts/lib.sh"

prints_what_it_says() {
  source=$(ls "$top_srcdir/$1".*)
  sed -n '/^ \* Output:$/,/^ \*\/$/s/^ \* \(.*\)/\1/p' "$source" |
    tail -n +2 >"$scratch/promised"
  [ -s "$scratch/promised" ] || { echo "$source does not say"; return 1; }
  "$top_builddir/$1" >"$scratch/printed" || { echo "it exits with $?"; return 1; }
  same "$scratch/promised" "$scratch/printed"
}

for example in $EXAMPLES; do
  expect "example_${example##*/}_prints_what_it_says" \
    prints_what_it_says "$example"
done
finish
