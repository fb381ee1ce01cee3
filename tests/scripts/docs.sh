#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# What the documents say of the tree is true: code, files, tests.

. "$top_srcdir/tests/scripts/lib.sh"

documents="README.md CONTRIBUTING.md SECURITY.md packaging/README.md
  doc/arenas.md doc/c.md doc/cpp.md doc/design.md doc/plugin-author.md
  doc/python.md"

# code EXAMPLE: its first function, with what is above it but the licence
code() {
  sed -n '/^#include/,/^}$/p' "$top_srcdir/examples/$1" >"$scratch/code"
}

readme_has_the_example() {
  code 11_launch.c
  sed -n '/^```c$/,/^```$/p' "$top_srcdir/README.md" | sed '1d; $d' \
    >"$scratch/shown"
  same "$scratch/code" "$scratch/shown"
}

manual_has_the_example() {
  code 01_pool.c
  sed -n '/^\.Sh EXAMPLES/,$p' "$top_srcdir/man/ashlar.3" |
    sed -n '/^\.Bd/,/^\.Ed/p' | sed '1d; $d; s/\\en/\\n/g' >"$scratch/shown"
  same "$scratch/code" "$scratch/shown"
}

# Relative links, and paths in backquotes that begin with a folder of ours.
files_exist() {
  for document in $documents; do
    {
      grep -oE '\]\([^)#:]+[)#]' "$top_srcdir/$document" |
        sed 's/^](//; s/.$//'
      grep -oE '`(lib|include|tests|tools|examples|man|doc|bench|m4|\.ci)/[^` ]*`' \
        "$top_srcdir/$document" | tr -d '`'
    } | sort -u | while read -r path; do
      # shellcheck disable=SC2086 # a pattern such as lib/pool/*.h
      ls -d "$top_srcdir"/$path "$top_srcdir/$(dirname "$document")"/$path \
        2>/dev/null | grep -q . || echo "$document: $path"
    done
  done >"$scratch/lost"
  empty "$scratch/lost"
}

# doc/design.md names the tests that prove each promise: `stem: name`, of a
# Check test, of a test of a script, or, without its test_, of Python's.
tests_exist() {
  grep -oE '`[a-z_]+(\.sh|\.py)?: [a-z0-9_]+`' "$top_srcdir/doc/design.md" |
    tr -d '`' | sort -u >"$scratch/tests"
  [ -s "$scratch/tests" ] || { echo "it names none"; return 1; }
  while IFS=': ' read -r stem title; do
    files=$(find "$top_srcdir/tests" "$top_srcdir/python/tests" \
      -name "$stem" -o -name "$stem.c" -o -name "$stem.cc")
    [ "$stem" = "${stem%.py}" ] || title=test_$title
    # shellcheck disable=SC2086 # a list of words
    [ -n "$files" ] && grep -qw -- "$title" $files || echo "$stem: $title"
  done <"$scratch/tests" >"$scratch/lost"
  empty "$scratch/lost"
}

expect readme_shows_the_first_example readme_has_the_example
expect overview_page_shows_the_first_example manual_has_the_example
expect files_that_documents_name_exist files_exist
expect tests_that_the_design_names_exist tests_exist
finish
