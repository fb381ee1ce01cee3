#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# Each program that a tutorial shows compiles as it stands, without a warning,
# and prints what the block behind it says.

. "$top_srcdir/tests/scripts/lib.sh"

[ -f "$shared_library" ] || skip_all "--disable-shared"

# blocks DOCUMENT: N.c, N.cc or N.py for each block of code, in order, and
# N.text for what it prints, in $scratch/blocks
blocks() {
  rm -rf "$scratch/blocks"
  mkdir "$scratch/blocks"
  awk -v folder="$scratch/blocks" '
    /^```/ && inside { inside = 0; next }
    /^```(c|cpp|python)$/ {
      n++
      ending = $0 == "```c" ? "c" : $0 == "```cpp" ? "cc" : "py"
      file = sprintf("%s/%02d.%s", folder, n, ending)
      inside = 1
      next
    }
    /^```text$/ { file = sprintf("%s/%02d.text", folder, n); inside = 1; next }
    /^```/ { file = folder "/other"; inside = 1; next }
    inside { print >file }' "$1"
}

# compile FILE OUTPUT
compile() {
  case $1 in
    *.c) set -- "$1" "$2" "$CC" -std=c11 ;;
    *.cc) set -- "$1" "$2" "$CXX" -std=c++17 ;;
  esac
  input=$1
  output=$2
  shift 2
  # shellcheck disable=SC2048,SC2086 # CC may have arguments
  $* $sanitize -Wall -Wextra -Werror -pthread -I"$top_srcdir/include" \
    "$input" -o "$output" "$shared_library" -Wl,-rpath,"${shared_library%/*}"
}

# prints_what_it_says FILE: a block, and its neighbour .text
prints_what_it_says() {
  compile "$1" "$scratch/program" || return
  "$scratch/program" >"$scratch/printed" || { echo "it exits with $?"; return 1; }
  same "${1%.*}.text" "$scratch/printed"
}

# tutorial NAME
tutorial() {
  blocks "$top_srcdir/doc/$1.md"
  expect "tutorial_${1}_has_programs" test -f "$scratch/blocks/01.text"
  for file in "$scratch"/blocks/*.c "$scratch"/blocks/*.cc; do
    [ -f "$file" ] || continue
    number=${file##*/}
    expect "program_${number%.*}_of_tutorial_${1}_prints_what_it_says" \
      prints_what_it_says "$file"
  done
}

tutorial c
if [ -n "$CXX" ] && have "${CXX%% *}"; then
  tutorial cpp
else
  skip tutorial_cpp "no C++ compiler"
fi
finish
