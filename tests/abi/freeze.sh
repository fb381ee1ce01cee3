#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# Keeps what a program of this version is compiled and linked with, for abi.sh:
# run by hand at a release, in a tree that is built.
#
#     sh tests/abi/freeze.sh 0.1 BUILD-FOLDER
#
# Writes tests/abi/0.1.h, the public headers in one file without comments, and
# tests/abi/0.1.symbols, the symbols of the map's node ASHLAR_0.1: name, type
# as nm has it, size (of data alone).

set -eu

version=${1:?usage: freeze.sh VERSION BUILD-FOLDER}
build=${2:?usage: freeze.sh VERSION BUILD-FOLDER}
top=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
here=$top/tests/abi
emitted=' '

# emit HEADER: those that it includes first, each once
emit() {
  case $emitted in
    *" $1 "*) return ;;
  esac
  emitted="$emitted$1 "
  for included in $(sed -n 's/^#include <\(ashlar\/[a-z_]*\.h\)>/\1/p' \
    "$top/include/$1"); do
    emit "$included"
  done
  "${CC:-cc}" -w -fpreprocessed -dD -E -P -x c "$top/include/$1" |
    grep -v '^#include <ashlar/'
}

{
  echo '/* SPDX-License-Identifier: BSD-2-Clause'
  echo ' * Copyright (c) 2026 The ashlar authors */'
  echo "/* The public headers of $version, by freeze.sh. Never to be edited. */"
  for header in ashlar.h $(cd "$top/include" && echo ashlar/*.h); do
    emit "$header"
  done
} >"$here/$version.h"

"${NM:-nm}" -D -S --with-symbol-versions --defined-only \
  "$build/lib/.libs/libashlar.so" |
  awk -v node="@@ASHLAR_$version" '
    sub(node "$", "", $4) { print $4, $3, $3 == "T" ? "-" : $2 }' |
  sort >"$here/$version.symbols"
