#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# The C++ headers with each compiler and standard that is here, without
# exceptions, in several shared objects, and counted: they cost what C costs.

. "$top_srcdir/tests/scripts/lib.sh"

[ -f "$shared_library" ] || skip_all "--disable-shared"
here=$top_srcdir/tests/cxx
examples='08_cxx 12_cxx_tensor_map'

# Where the source "device" is, which encodes.
ASHLAR_PLUGIN_PATH=$top_builddir/tests/plugin/modules/.libs
export ASHLAR_PLUGIN_PATH

# build COMPILER OUTPUT SOURCE ARGUMENT...: against the library of this build
build() {
  compiler=$1
  output=$2
  source=$3
  shift 3
  # shellcheck disable=SC2086 # lists of words
  $compiler $sanitize -Wall -Wextra -Wconversion -pedantic -Werror \
    -pthread -I"$top_srcdir/include" -I"$top_srcdir/tests" "$@" \
    "$source" -o "$scratch/$output" "$shared_library" -ldl \
    -Wl,-rpath,"${shared_library%/*}"
}

# COMPILER STANDARD EXAMPLE
example_runs() {
  build "$1" example "$top_srcdir/examples/$3.cc" -std="$2" || return
  sed -n '/^ \* Output:$/,/^ \*\/$/s/^ \* \(.*\)/\1/p' \
    "$top_srcdir/examples/$3.cc" | tail -n +2 >"$scratch/promised"
  "$scratch/example" >"$scratch/printed" &&
    same "$scratch/promised" "$scratch/printed"
}

# COMPILER
runs_without_exceptions() {
  build "$1" plain "$here/plain.cc" -std=c++17 -fno-exceptions -fno-rtti &&
    "$scratch/plain"
}

# COMPILER: which has exceptions all the same
says_so_by_macro() {
  build "$1" plain "$here/plain.cc" -std=c++17 -DASHLAR_NO_EXCEPTIONS &&
    "$scratch/plain"
}

# COMPILER
shared_objects_share() {
  for part in one two; do
    build "$1" "$part.so" "$here/shared.cc" -std=c++17 -fvisibility=hidden \
      -shared -fPIC || return
  done
  build "$1" sharing "$here/shared_main.cc" -std=c++17 -fvisibility=hidden &&
    "$scratch/sharing" "$scratch/one.so" "$scratch/two.so"
}

# compiles COMPILER EXPRESSION: a program that puts a tensor map together
compiles() {
  cat >"$scratch/spec.cc" <<EOF
#include <ashlar.hpp>
struct odd { char bytes[3]; };
int main() { return static_cast<int>(($2).build().rank); }
EOF
  # shellcheck disable=SC2086 # CXX may have arguments
  $1 -std=c++17 -fsyntax-only -I"$top_srcdir/include" "$scratch/spec.cc"
}

# COMPILER: what is wrong with these, the compiler knows
mistakes_do_not_compile() {
  compiles "$1" 'ashlar::tiled<float>(16, ashlar::dims{8, 8}).box({8, 8})' ||
    return
  ! compiles "$1" 'ashlar::tiled<float>(16, ashlar::dims{8, 8}).box({8, 8, 8})' &&
    ! compiles "$1" 'ashlar::tiled<odd>(16, ashlar::dims{8, 8}).box({8, 8})' &&
    ! compiles "$1" 'ashlar::im2col<float>(16, ashlar::dims{8, 8})' &&
    ! compiles "$1" 'ashlar::tiled<float>(16, ashlar::dims{1, 2, 3, 4, 5, 6})'
}

# COMPILER: callgrind writes one file for each call of a loop
count_instructions() {
  mkdir -p "$scratch/counts"
  rm -f "$scratch"/counts/*
  build "$1" cost "$here/cost.cc" -std=c++17 -O2 &&
    valgrind -q --tool=callgrind --callgrind-out-file="$scratch/counts/out" \
      --zero-before='*_c' --zero-before='*_cxx' \
      --dump-after='*_c' --dump-after='*_cxx' "$scratch/cost" || return
  for file in "$scratch"/counts/out.*; do
    sed -n 's/^desc: Trigger: --dump-after=//p; s/^summary: //p' "$file" |
      tr '\n' ' '
    echo "${file##*.}"
  done | sort -k 3n >"$scratch/instructions"
  [ "$(wc -l <"$scratch/instructions")" -eq 36 ]
}

# NAME [MORE]: the last calls of the two; in a round two instructions more, or as
# many as are allowed
costs_what_c_costs() {
  awk -v name="$1" -v more="${2:-2}" -v rounds=1000 '
    $1 == name "_c" { c = $2 }
    $1 == name "_cxx" { cxx = $2 }
    END {
      print "C: " c ", C++: " cxx " instructions in " rounds " rounds"
      exit !(c > rounds && cxx > rounds && cxx <= c + more * rounds + 100)
    }' "$scratch/instructions"
}

if [ -n "$SANITIZERS" ]; then
  compilers=$CXX
else
  compilers='g++ clang++'
fi
for compiler in $compilers; do
  if ! have "${compiler%% *}"; then
    skip "headers_work_with_$compiler" "$compiler is not installed"
    continue
  fi
  for standard in c++17 c++20 c++2b; do
    for example in $examples; do
      expect "example_${example}_works_as_${standard}_with_$compiler" \
        example_runs "$compiler" "$standard" "$example"
    done
  done
  expect "classes_work_without_exceptions_with_$compiler" \
    runs_without_exceptions "$compiler"
  expect "a_macro_leaves_exceptions_out_with_$compiler" \
    says_so_by_macro "$compiler"
  expect "mistakes_in_a_spec_do_not_compile_with_$compiler" \
    mistakes_do_not_compile "$compiler"
  expect "shared_objects_share_one_allocator_with_$compiler" \
    shared_objects_share "$compiler"
  if [ -n "$SANITIZERS" ] || ! have valgrind; then
    skip "cost_is_that_of_c_with_$compiler" "no valgrind, or a sanitizer"
    continue
  fi
  expect "instructions_are_counted_with_$compiler" count_instructions "$compiler"
  for what in slot run batch cache spec encode many held; do
    expect "${what}_costs_in_cxx_what_it_costs_in_c_with_$compiler" \
      costs_what_c_costs "$what"
  done
  # Of 16 slots, each of which is filled by a call that reads the handles anew.
  expect "leased_costs_in_cxx_what_it_costs_in_c_with_$compiler" \
    costs_what_c_costs leased 18
done
finish
