#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# ashlar range: how a range grows, which way, where it is, what it costs.

. "$top_srcdir/tests/scripts/lib.sh"

ashlar=$top_builddir/tools/ashlar
[ -x "$ashlar" ] || skip_all "the program ashlar was not built"
have python3 || skip_all "python3 is not installed"
unset COLUMNS

# shows STATUS CONDITION ARGUMENT...: true in Python, o being the object, g its
# grows
shows() {
  want=$1
  condition=$2
  shift 2
  "$ashlar" range --json "$@" >"$scratch/json" 2>"$scratch/err"
  got=$?
  cat "$scratch/err"
  python3 -m json.tool "$scratch/json" || return 1
  [ "$got" -eq "$want" ] || { echo "exit status $got, not $want"; return 1; }
  python3 -c '
import json, sys
o = json.load(open(sys.argv[1]))
g = o["grows"]
sys.exit(0 if eval("(" + sys.argv[2] + ")") else "not so: " + sys.argv[2])
' "$scratch/json" "$condition"
}

grows_in_place() {
  shows 0 '[x["path"] for x in g] == ["reserved", "reserved", "none"]
    and {x["base"] for x in g} == {o["base"]} and o["granule"] == 65536
    and [x["used_bytes"] for x in g] == [65536, 1 << 20, 1 << 20]
    and [x["source_calls"] for x in g] == [3, 3, 0]
    and g[0]["calls"]["create"]["count"] == 1
    and g[0]["calls"]["map"]["count"] == 1
    and g[0]["calls"]["allow"]["count"] == 1
    and g[0]["calls"]["reserve"]["count"] == 0
    and all(x["us"] > 0 and x["ashlar_us"] >= 0 for x in g)
    and abs(g[1]["us"] - g[1]["ashlar_us"]
            - sum(c["us"] for c in g[1]["calls"].values())) < 0.1
    and o["create"]["calls"]["reserve"]["count"] == 1
    and o["destroy"]["calls"]["destroy"]["count"] == 2
    and o["destroy"]["calls"]["release"]["count"] == 1' \
    --options granule=64K --grow 64K,1M,512K
}

# Beyond the reservation it grows into its neighbour, or moves.
moves_when_it_may() {
  shows 0 'g[0]["path"] == "reserved"
    and g[1]["path"] in ("adjacent", "moved")
    and (g[1]["base"] != g[0]["base"]) == (g[1]["path"] == "moved")
    and g[1]["old_base"] == g[0]["base"]' \
    --options granule=64K --reserve 128K --may-move --grow 128K,16M
}

refusals_are_told() {
  shows 1 'g[0]["refusal"] is None and len(g) == 2
    and "no" in g[1]["refusal"] and "path" not in g[1]
    and g[1]["calls"]["create"]["refused"] == 1' \
    --options memory=4M --reserve 1G --grow 2M,64M,128M &&
    grep -q '^ashlar: the vm source has no ' "$scratch/err" &&
    ! "$ashlar" range --options memory=4M --reserve 1G --grow 2M,64M \
      >"$scratch/out" 2>"$scratch/err" &&
    grep -Eq '^64\.0 MiB  refused ' "$scratch/out"
}

text_is_a_table() {
  "$ashlar" range >"$scratch/out" || return 1
  cat "$scratch/out"
  head -n 1 "$scratch/out" |
    grep -Eq '^vm: host virtual memory.*, granule 2\.00 MiB$' &&
    grep -Eq '^GROW TO +PATH +BASE +CALLS +RESERVE +CREATE +MAP +ALLOW +TOTAL$' \
      "$scratch/out" &&
    [ "$(grep -Ec '^[0-9.]+ [MG]iB +reserved +0x[0-9a-f]+ +3 +- ' \
      "$scratch/out")" -eq 3 ] &&
    grep -Eq '^Given back in [0-9.]+: unmap ' "$scratch/out" &&
    awk 'length($0) > 80 { print; exit 1 }' "$scratch/out"
}

chunks_have_a_bound() {
  shows 0 'g[0]["calls"]["create"]["count"] == 16
    and g[0]["calls"]["allow"]["count"] == 1' \
    --options granule=64K --chunk-max 64K --grow 1M
}

# says STATUS WORDS ARGUMENT...
says() {
  want=$1
  words=$2
  shift 2
  "$ashlar" range "$@" >"$scratch/out" 2>"$scratch/err"
  got=$?
  cat "$scratch/err"
  [ "$got" -eq "$want" ] && empty "$scratch/out" &&
    grep -qF -- "$words" "$scratch/err"
}

command_line_is_checked() {
  says 2 '--grow is "2X"' --grow 1M,2X &&
    says 2 '--grow is ""' --grow 1M, &&
    says 2 '--grow is "0"' --grow 0 &&
    says 2 '--grow is "-1"' --grow=-1 &&
    says 2 '--reserve is "99999999999999T"' --reserve 99999999999999T &&
    says 1 'no source is called "nobody"' --source nobody &&
    says 1 'granule is "3M"' --options granule=3M &&
    says 1 'has no ranges' --source heap
}

expect range_grows_in_place_and_calls_are_counted grows_in_place
expect range_moves_when_it_may moves_when_it_may
expect refused_growth_is_told refusals_are_told
expect chunks_have_a_bound chunks_have_a_bound
expect text_is_a_table_in_80_columns text_is_a_table
expect command_line_is_checked command_line_is_checked
finish
