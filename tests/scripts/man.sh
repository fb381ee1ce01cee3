#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# The manual pages explain every public function, as it is declared, and
# nothing else; they are clean, and every name leads to its page.

. "$top_srcdir/tests/scripts/lib.sh"

man=$top_srcdir/man

# The declarations of the headers, one a line, without any white space.
cat "$top_srcdir"/include/ashlar/*.h | grep -v '^#' | tr '\n' ' ' |
  sed 's/\/\*[^*]*\*\+\([^/*][^*]*\*\+\)*\// /g' |
  grep -oE '(ASHLAR_API|static inline) [^;{]*\)' |
  sed -E 's/ASHLAR_ALLOC_SIZE\([0-9]\)//g; s/[[:space:]]//g
    s/ASHLAR_(API|MALLOC|MUST_USE|NO_PLT|CONST|PURE)//g' \
    >"$scratch/declared"
grep -oE 'ashlar_[a-z0-9_]+\(' "$scratch/declared" | tr -d '(' |
  sed 's/^ashlar_status\(ashlar_\)/\1/' | sort -u >"$scratch/functions"

# The names that pages explain; a page's own is a function's or a topic's.
{
  awk -f "$man/aliases.awk" "$man"/*.3 | sed 's/\.3 .*//'
  for page in "$man"/*.3; do
    basename "$page" .3 | grep -xf "$scratch/functions"
  done
} | sort >"$scratch/names"
# Two macros that stand for a function have names of their own.
printf '%s\n' ASHLAR_REGISTER ASHLAR_REGISTER_AS |
  sort - "$scratch/functions" >"$scratch/wanted"

# Each declaration stands in the synopsis of the page that has the name.
synopses_are_the_declarations() {
  for page in "$man"/*.3; do
    mandoc -Tascii -Owidth=1000 "$page" | sed "s/.$(printf '\b')//g" |
      sed -n '/^SYNOPSIS/,/^DESCRIPTION/p'
  done | tr -d ' \n' | tr ';' '\n' >"$scratch/shown"
  while read -r declaration; do
    grep -qF -- "$declaration" "$scratch/shown" || echo "$declaration"
  done <"$scratch/declared" >"$scratch/missing"
  empty "$scratch/missing"
}

mandoc_is_content() {
  for page in "$man"/*.[137]; do
    mandoc -Tlint -Wwarning "$page"
  done >"$scratch/lint" 2>&1
  empty "$scratch/lint"
}

groff_is_content() {
  for page in "$man"/*.[137]; do
    groff -ww -mandoc -Tascii "$page" >"$scratch/page"
  done 2>"$scratch/lint"
  empty "$scratch/lint"
}

references_lead_to_pages() {
  sed -n 's/^\.Xr \(ashlar[a-z_]*\) \([137]\).*/\1.\2/p' "$man"/*.[137] |
    sort -u | while read -r page; do
    [ -f "$man/$page" ] || grep -qx "${page%.3}" "$scratch/names" ||
      echo "$page"
  done >"$scratch/lost"
  empty "$scratch/lost"
}

# The names again, as make install lays them.
links_are_installed() {
  place=$scratch/place
  make_here install-man DESTDIR="$place" &&
    make_here install-man-aliases DESTDIR="$place" ||
    return 1
  links=$(find "$place" -name ashlar_pool_get.3)
  [ -n "$links" ] || return 1
  while read -r alias; do
    [ -s "${links%/*}/$alias.3" ] || echo "$alias"
  done <"$scratch/names" >"$scratch/missing"
  empty "$scratch/missing" || return 1
  make_here uninstall-man-aliases DESTDIR="$place" &&
    [ ! -L "$links" ]
}

expect names_of_pages_are_the_public_functions \
  same "$scratch/wanted" "$scratch/names"
expect references_between_pages_lead_somewhere references_lead_to_pages
expect every_name_is_installed_as_a_link links_are_installed
if have mandoc; then
  expect synopses_are_the_declarations_of_the_headers \
    synopses_are_the_declarations
  expect mandoc_has_no_warning mandoc_is_content
else
  skip synopses_are_the_declarations_of_the_headers 'no mandoc'
fi
if have groff && groff -mandoc -Tascii "$man/ashlar.3" >/dev/null 2>&1; then
  expect groff_has_no_warning groff_is_content
else
  skip groff_has_no_warning 'no groff with its mandoc macros'
fi
finish
