#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# The version is said in several places; it is the same everywhere.

. "$top_srcdir/tests/scripts/lib.sh"

echo "$VERSION" >"$scratch/configure"

header_version() {
  printf '%s\n' '#include <ashlar/version.h>' \
    'version ASHLAR_VERSION_MAJOR.ASHLAR_VERSION_MINOR.ASHLAR_VERSION_PATCH' |
    $CC -I"$top_srcdir/include" -E -P - | sed -n 's/^version //p' |
    tr -d ' ' >"$scratch/header"
  same "$scratch/configure" "$scratch/header"
}

pc_version() {
  sed -n 's/^Version: //p' "$top_builddir/ashlar.pc" >"$scratch/pc"
  same "$scratch/configure" "$scratch/pc"
}

library_version() {
  cat >"$scratch/version.c" <<'EOF'
#include <ashlar/version.h>
#include <stdio.h>
int main(void)
{
    puts(ashlar_version_string());
    return ashlar_version() != ASHLAR_VERSION;
}
EOF
  # shellcheck disable=SC2086 # compilers and flags are lists of words
  $CC $sanitize -I"$top_srcdir/include" "$scratch/version.c" \
    -o "$scratch/version" "$shared_library" || return
  LD_LIBRARY_PATH=${shared_library%/*} "$scratch/version" \
    >"$scratch/library" || return
  same "$scratch/configure" "$scratch/library"
}

news_version() {
  grep -q "$VERSION" "$top_srcdir/NEWS" ||
    { echo "NEWS has no entry for $VERSION"; return 1; }
}

expect version_h_says_what_configure_says header_version
expect ashlar_pc_says_what_configure_says pc_version
expect library_says_what_configure_says library_version
expect news_has_an_entry_for_this_version news_version
finish
