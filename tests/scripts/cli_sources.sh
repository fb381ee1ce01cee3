#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# ashlar sources: what is built in, what is found, what is refused, and why.

. "$top_srcdir/tests/scripts/lib.sh"

ashlar=$top_builddir/tools/ashlar
modules=$top_builddir/tests/plugin/modules/.libs
examples=$top_builddir/examples/plugin/.libs
[ -x "$ashlar" ] || skip_all "the program ashlar was not built"
have python3 || skip_all "python3 is not installed"
unset ASHLAR_PLUGIN_PATH COLUMNS

# finds CONDITION ARGUMENT...: true in Python, s[name] being a source's object
finds() {
  condition=$1
  shift
  "$ashlar" sources --json "$@" >"$scratch/json" 2>"$scratch/err" || return 1
  python3 -m json.tool "$scratch/json" || return 1
  empty "$scratch/err" && python3 -c '
import json, sys
s = {x["name"]: x for x in json.load(open(sys.argv[1]))["sources"]}
sys.exit(0 if eval("(" + sys.argv[2] + ")") else "not so: " + sys.argv[2])
' "$scratch/json" "$condition"
}

built_in_sources() {
  finds 's["heap"]["state"] == "opened" and s["heap"]["built_in"]
    and s["heap"]["can"] == ["blocks", "host"]
    and s["heap"]["granule"] is None and s["heap"]["path"] is None
    and s["vm"]["granule"] == 2 << 20 and s["vm"]["memory_bytes"] > 0
    and "ranges" in s["vm"]["can"] and s["vm"]["reason"] is None'
}

# Some that are refused, each in its way, and one of a name that is built in.
some=$scratch/some
mkdir "$some"
for name in half_group open_fails undefined vm; do
  ln -s "$modules/ashlar_$name.so" "$some"
done

plugins() {
  ASHLAR_PLUGIN_PATH=$examples:$some
  export ASHLAR_PLUGIN_PATH
  finds 's["memfd"]["state"] == "opened" and s["memfd"]["granule"] == 65536
    and s["memfd"]["path"].endswith("/ashlar_memfd.so")
    and s["memfd"]["version"] == "1.0"
    and s["memfd"]["can"] == ["ranges", "host"]
    and s["half_group"]["state"] == "refused"
    and "1 of the 7 functions" in s["half_group"]["reason"]
    and s["open_fails"]["state"] == "does not open"
    and "libnothing.so.7" in s["open_fails"]["reason"]
    and "nothing_has_this_function" in s["undefined"]["reason"]' &&
    finds 's["memfd"]["state"] == "found" and s["memfd"]["granule"] is None
      and s["memfd"]["can"] == ["ranges"] and s["heap"]["state"] == "found"
      and s["open_fails"]["state"] == "found"' --no-open
}

# Of two files of one name, and of one that is built in.
hidden_plugins() {
  mkdir -p "$scratch/plugins"
  cp "$examples/ashlar_memfd.so" "$scratch/plugins"
  ASHLAR_PLUGIN_PATH=$examples:$scratch/plugins:$some "$ashlar" sources \
    >"$scratch/out" || return 1
  cat "$scratch/out"
  grep -Eq '^memfd +- +- +hidden$' "$scratch/out" &&
    grep -Eq '^vm +- +- +hidden$' "$scratch/out" &&
    grep -q '"vm" is built in' "$scratch/out" &&
    tr -s ' \n' ' ' <"$scratch/out" |
    grep -qF "is not looked at: \"$examples/ashlar_memfd.so\" comes first"
}

text_is_a_table_and_notes() {
  ASHLAR_PLUGIN_PATH=$some "$ashlar" sources >"$scratch/out" || return 1
  cat "$scratch/out"
  grep -Eq '^SOURCE +GRANULE +MEMORY +WHAT IT CAN DO$' "$scratch/out" &&
    grep -Eq '^vm +2\.00 MiB +[0-9.]+ [KMGT]iB +ranges copy scatter fence ' \
      "$scratch/out" &&
    grep -Eq '^half_group +- +- +refused$' "$scratch/out" &&
    grep -Eq '^heap +built in, version ' "$scratch/out" &&
    grep -Eq '^ {14}-> plug-in "half_group" has 1 of the 7 ' "$scratch/out" &&
    ! sed '/^$/,$d' "$scratch/out" | awk 'length($0) > 80' | grep .
}

expect built_in_sources_are_opened_and_told built_in_sources
if [ -f "$examples/ashlar_memfd.so" ]; then
  expect plugins_are_found_or_refused_with_the_reason plugins
  expect hidden_plugins_are_told hidden_plugins
  expect text_is_a_table_and_notes text_is_a_table_and_notes
else
  skip plugins_are_found_or_refused_with_the_reason --disable-shared
  skip hidden_plugins_are_told --disable-shared
  skip text_is_a_table_and_notes --disable-shared
fi
finish
