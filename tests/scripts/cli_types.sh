#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# ashlar types: the registry as a table, as JSON, and one type alone.

. "$top_srcdir/tests/scripts/lib.sh"

ashlar=$top_builddir/tools/ashlar
[ -x "$ashlar" ] || skip_all "the program ashlar was not built"
have python3 || skip_all "python3 is not installed"

says() {
  for pattern in "$@"; do
    grep -Eq -- "$pattern" "$scratch/out" ||
      { cat "$scratch/out"; echo "no line is: $pattern"; return 1; }
  done
}

table_has_every_type() {
  "$ashlar" types >"$scratch/out" && "$ashlar" types -j >"$scratch/json" &&
    says '^OVER-ALIGNED TYPE +SIZE +ALIGNMENT +STRIDE +CUDA 12 +CUDA 13 +NOTE$' \
      '^CUtensorMap +128 +128 +128 +64 +128 +1$' \
      '^double4_32a +32 +32 +32 +- +32 +[0-9]+$' \
      '^TAKEN FOR IT, BUT NOT$' '^ncclUniqueId +128 +1 +128 +1 +1 +[0-9]+$' \
      '^ +1  cuda.h aligns it to 64 bytes in CUDA 12, to 128 in CUDA 13' &&
    awk 'length($0) > 80 { print; exit 1 }' "$scratch/out" &&
    python3 -c '
import json, sys
for type in json.load(open(sys.argv[1]))["types"]:
    print(type["name"])' "$scratch/json" >"$scratch/names" &&
    [ "$(wc -l <"$scratch/names")" -gt 40 ] &&
    while read -r name; do
      grep -q "^$name " "$scratch/out" || echo "$name"
    done <"$scratch/names" >"$scratch/missing" &&
    empty "$scratch/missing"
}

json_has_every_fact() {
  "$ashlar" types --json >"$scratch/json" &&
    python3 -m json.tool "$scratch/json" /dev/null && python3 -c '
import json, sys
types = {t["name"]: t for t in json.load(open(sys.argv[1]))["types"]}
map = types["CUtensorMap"]
assert map["size"] == map["alignment"] == map["stride"] == 128
assert map["cuda12_alignment"] == 64 and map["cuda13_alignment"] == 128
assert "cute::TmaDescriptor" in map["aliases"]
assert map["built_in"] and map["over_aligned"] and map["source"]
assert types["double4_32a"]["cuda12_alignment"] is None
assert not types["ncclUniqueId"]["over_aligned"]
for type in types.values():
    assert type["stride"] % type["alignment"] == 0
    assert type["stride"] >= type["size"] > 0
' "$scratch/json"
}

one_type_is_told_by_any_of_its_names() {
  "$ashlar" types cute::TmaDescriptor float4 >"$scratch/out" &&
    says '^CUtensorMap$' '^  aliases    CUtensorMap_st, ' \
      '^  alignment  128$' '^  CUDA 12    declares 64$' '^float4$' &&
    "$ashlar" types -j float4 >"$scratch/json" && python3 -c '
import json, sys
[type] = json.load(open(sys.argv[1]))["types"]
assert type["name"] == "float4" and type["alignment"] == 16
' "$scratch/json"
}

a_name_that_is_not_known_is_refused() {
  "$ashlar" types CUtensorMapp >"$scratch/out" 2>"$scratch/err"
  [ $? -eq 1 ] && empty "$scratch/out" &&
    echo 'ashlar: no type is called CUtensorMapp: did you mean CUtensorMap?' \
      >"$scratch/want" && same "$scratch/want" "$scratch/err"
}

expect table_has_every_type_in_80_columns table_has_every_type
expect json_has_every_fact json_has_every_fact
expect one_type_is_told_by_any_of_its_names one_type_is_told_by_any_of_its_names
expect a_name_that_is_not_known_is_refused a_name_that_is_not_known_is_refused
finish
