#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# Programs of each version that freeze.sh has kept run on today's library: its
# symbols are there under their versions, its structs begin as they did, its
# constants mean what they did, and a program compiled with its headers and
# linked with a stub of it works.

. "$top_srcdir/tests/scripts/lib.sh"

[ -f "$shared_library" ] || skip_all "--disable-shared"
here=$top_srcdir/tests/abi

# symbols_are_there VERSION
symbols_are_there() {
  $NM -D --with-symbol-versions --defined-only "$shared_library" |
    awk -v node="ASHLAR_$1" '
      sub("@+" node "$", "", $3) { print $3, $2 }' | sort >"$scratch/today"
  cut -d' ' -f1,2 "$here/$1.symbols" | comm -23 - "$scratch/today" \
    >"$scratch/gone"
  empty "$scratch/gone"
}

# facts VERSION: a program that prints where each member of its structs lies, and
# what each enumerator is, by the header that -DHEADER names
facts() {
  {
    cat <<'END'
#include HEADER
#include <stdio.h>
#define M(_s, _m) printf("%s.%s %zu %zu\n", #_s, #_m, \
    offsetof(struct _s, _m), sizeof(((struct _s *)0)->_m));
#define E(_e) printf("%s %lld\n", #_e, (long long)_e);
int main(void) {
END
    awk '
      /^struct ashlar_[a-z_]* \{$/ { name = $2; next }
      /^enum ashlar_[a-z_]* \{$/ { inside = 1; next }
      /^\};$/ { name = ""; inside = 0; next }
      inside && match($0, /ASHLAR_[A-Z0-9_]+ *=/) {
        print "E(" substr($0, RSTART, RLENGTH - 1) ")"
      }
      name != "" && match($0, /[a-z_0-9]+(\[[^]]*\])?;$/) {
        member = substr($0, RSTART, RLENGTH - 1)
        sub(/\[.*/, "", member)
        print "M(" name ", " member ")"
      }
      name != "" && match($0, /\(\*[a-z_0-9]+\)/) {
        print "M(" name ", " substr($0, RSTART + 2, RLENGTH - 3) ")"
      }' "$here/$1.h"
    echo 'return 0; }'
  } >"$scratch/facts.c"
}

# facts_by HEADER OUTPUT ARGUMENT...
facts_by() {
  header=$1
  output=$2
  shift 2
  # shellcheck disable=SC2086 # CC may have arguments
  $CC -w -DHEADER="$header" "$@" "$scratch/facts.c" -o "$scratch/facts" &&
    "$scratch/facts" >"$output"
}

# layouts_are_as_they_were VERSION
layouts_are_as_they_were() {
  facts "$1"
  [ "$(grep -c '^[ME](' "$scratch/facts.c")" -gt 100 ] || return
  facts_by "\"$here/$1.h\"" "$scratch/then" || return
  facts_by '<ashlar.h>' "$scratch/now" -include ashlar/plugin.h \
    -I"$top_srcdir/include" && same "$scratch/then" "$scratch/now"
}

# stub VERSION: a library that has the symbols, does nothing, and is not run
stub() {
  {
    awk '$2 == "T" { print "void " $1 "(void);\nvoid " $1 "(void) {}" }
      $2 != "T" { print "const char " $1 "[0x" $3 "] = {1};" }' \
      "$here/$1.symbols"
  } >"$scratch/stub.c"
  {
    echo "ASHLAR_$1 { global:"
    awk '{ print $1 ";" }' "$here/$1.symbols"
    echo 'local: *; };'
  } >"$scratch/stub.map"
  soname=$($READELF -d "$shared_library" |
    sed -n 's/.*soname: \[\(.*\)\]/\1/p')
  mkdir -p "$scratch/old"
  # shellcheck disable=SC2086
  $CC -shared -fPIC -w "$scratch/stub.c" -o "$scratch/old/$soname" \
    -Wl,-soname,"$soname" -Wl,--version-script="$scratch/stub.map" &&
    ln -sf "$soname" "$scratch/old/libashlar.so"
}

# old_program_builds VERSION
old_program_builds() {
  stub "$1" || return
  # shellcheck disable=SC2086
  $CC $sanitize -Wall -DOLD_HEADER="\"$here/$1.h\"" "$here/old_program.c" \
    -o "$scratch/program" -L"$scratch/old" -lashlar
}

old_program_runs() {
  LD_LIBRARY_PATH=${shared_library%/*} "$scratch/program"
}

# old_program_is_old VERSION: it wants the symbols by that version
old_program_is_old() {
  $READELF -V "$scratch/program" | grep "Name: ASHLAR_$1 "
}

for frozen in "$here"/*.symbols; do
  version=$(basename "$frozen" .symbols)
  expect "symbols_of_${version}_are_there" symbols_are_there "$version"
  expect "structs_of_${version}_begin_as_they_did" \
    layouts_are_as_they_were "$version"
  expect "program_of_${version}_builds" old_program_builds "$version"
  expect "program_of_${version}_wants_that_version" old_program_is_old "$version"
  expect "program_of_${version}_runs_on_todays_library" old_program_runs
done
finish
