# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# What the script tests share: TAP, and a folder to work in. make check sets
# top_srcdir, top_builddir (absolute), CC, CXX, NM, READELF, PKG_CONFIG,
# VERSION, JEMALLOC_KIND (private or system), JEMALLOC_STATIC_TLS (yes, no or
# unknown) and SANITIZERS.

set -u
LC_ALL=C
export LC_ALL
: "${top_srcdir:?run this by make check}" "${top_builddir:?}"

# Seen by the makes that tests start.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM HUP

shared_library=$top_builddir/lib/.libs/libashlar.so
static_library=$top_builddir/lib/.libs/libashlar.a

# How the library was built, for a program that is linked to it.
sanitize=${SANITIZERS:+-fsanitize=$SANITIZERS}

count=0

# skip_all REASON: this script tests nothing here
skip_all() {
  echo "1..0 # SKIP $*"
  exit 0
}

# skip NAME REASON: one test that cannot be done here
skip() {
  count=$((count + 1))
  echo "ok $count - $1 # SKIP $2"
}

# expect NAME COMMAND...: the command succeeds; what it says is shown if not
expect() {
  count=$((count + 1))
  expectation=$1
  shift
  if "$@" >"$scratch/said" 2>&1; then
    echo "ok $count - $expectation"
  else
    echo "not ok $count - $expectation"
    sed 's/^/# /' "$scratch/said"
  fi
}

# same FILE FILE: the same lines; else the differences
same() {
  diff -u "$1" "$2"
}

# empty FILE: nothing in it; else what there is
empty() {
  ! cat "$1" | grep .
}

have() {
  command -v "$1" >/dev/null 2>&1
}

# make_here TARGET...: make in the build directory, one test at a time, since
# libtool links some files anew to install them, and always under one name
make_here() {
  flock "$top_builddir/config.status" "${MAKE:-make}" -C "$top_builddir" "$@"
}

finish() {
  echo "1..$count"
}
