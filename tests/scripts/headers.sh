#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# Every public header compiles alone, in every C and C++ since 1998 that the
# compilers here know (those of C++ since 2017), without a warning.

. "$top_srcdir/tests/scripts/lib.sh"

c_headers=$(cd "$top_srcdir/include" && echo ashlar.h ashlar/*.h)
cxx_headers=$(cd "$top_srcdir/include" && echo ashlar.hpp ashlar/*.hpp)

# compiles LANGUAGE STANDARD COMPILER...: each header, twice, and something
# after it, since a file may not be empty
compiles() {
  language=$1
  standard=$2
  shift 2
  bad=0
  headers=$c_headers
  case $standard in
    c++17 | c++2?) headers="$c_headers $cxx_headers" ;;
  esac
  for header in $headers; do
    printf '#include <%s>\n#include <%s>\nextern int after_the_header;\n' \
      "$header" "$header" |
      "$@" -x "$language" -std="$standard" -fsyntax-only -pedantic -Wall -Wshadow \
        -Wextra -Werror -I"$top_srcdir/include" - || bad=1
  done
  return $bad
}

# each LANGUAGE COMPILER STANDARD...
each() {
  language=$1
  compiler=$2
  shift 2
  if ! have "${compiler%% *}"; then
    skip "headers_compile_with_$compiler" "$compiler is not installed"
    return
  fi
  for standard in "$@"; do
    # shellcheck disable=SC2086 # CC may have arguments
    if echo 'extern int nothing;' | $compiler -x "$language" \
      -std="$standard" -fsyntax-only - 2>/dev/null; then
      # shellcheck disable=SC2086
      expect "headers_compile_alone_as_${standard}_with_${compiler%% *}" \
        compiles "$language" "$standard" $compiler
    else
      skip "headers_compile_alone_as_${standard}_with_${compiler%% *}" \
        "the compiler does not know $standard"
    fi
  done
}

c='c99 c11 c17 c2x'
cxx='c++98 c++11 c++14 c++17 c++20 c++2b'
# shellcheck disable=SC2086 # lists of standards
{
  each c gcc $c
  each c clang $c
  each c++ g++ $cxx
  each c++ clang++ $cxx
}
finish
