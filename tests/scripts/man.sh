#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# The manual pages are well formed, and each public function is in one.

. "$top_srcdir/tests/scripts/lib.sh"

for page in "$top_srcdir"/man/*.[1-9]; do
  name=${page##*/}
  if have mandoc; then
    expect "${name}_is_well_formed" mandoc -T lint -W warning "$page"
  else
    skip "${name}_is_well_formed" "mandoc is not installed"
  fi
done

functions_in_pages() {
  sed -n 's/^ *\(ashlar_[a-z0-9_]*\);.*/\1/p' \
    "$top_srcdir/lib/libashlar.map" | grep -v '_slow$' |
    while read -r function; do
      grep -qw "$function" "$top_srcdir"/man/*.3 ||
        echo "$function is in no page of section 3"
    done >"$scratch/absent"
  empty "$scratch/absent"
}

expect every_public_function_is_in_a_page functions_in_pages
finish
