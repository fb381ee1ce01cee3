#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# The program ashlar and the plug-in for CUDA, on the simulated driver.

. "$top_srcdir/tests/scripts/lib.sh"

ashlar=$top_builddir/tools/ashlar
simulated=$top_builddir/tests/cudasim/.libs
[ -x "$ashlar" ] || skip_all "the program ashlar was not built"
[ -f "$top_builddir/plugins/cuda/.libs/ashlar_cuda.so" ] ||
  skip_all "the plug-in was not built"
have python3 || skip_all "python3 is not installed"
unset COLUMNS CUDASIM
ASHLAR_PLUGIN_PATH=$top_builddir/plugins/cuda/.libs
LD_LIBRARY_PATH=$simulated${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export ASHLAR_PLUGIN_PATH LD_LIBRARY_PATH CUDASIM

# shows CONDITION ARGUMENT...: true in Python, o being the object printed
shows() {
  condition=$1
  shift
  "$ashlar" "$@" --json >"$scratch/json" 2>"$scratch/err" || {
    cat "$scratch/err" "$scratch/json"
    return 1
  }
  python3 -c '
import json, sys
o = json.load(open(sys.argv[1]))
sys.exit(0 if eval("(" + sys.argv[2] + ")") else "not so: " + sys.argv[2])
' "$scratch/json" "$condition"
}

# Nothing is left with the driver: it says what is, at exit.
devices_are_listed_with_their_memory() {
  CUDASIM=devices=3,memory=96M,report=yes
  shows '[(x["options"], x["memory_bytes"], x["granule"], x["state"])
      for x in o["sources"] if x["name"] == "cuda"]
    == [(None, 96 << 20, 2 << 20, "opened"),
        ("device=1", 96 << 20, 2 << 20, "opened"),
        ("device=2", 96 << 20, 2 << 20, "opened")]
    and all("graph" in x["can"] and "export" in x["can"]
            for x in o["sources"] if x["name"] == "cuda")' sources &&
    empty "$scratch/err" && "$ashlar" sources >"$scratch/out" &&
    grep -Eq '^  device=2 +2.00 MiB +96.0 MiB +ranges copy' "$scratch/out"
}

growth_shows_its_calls_with_microseconds() {
  CUDASIM=memory=2G,report=yes
  shows 'o["granule"] == 2 << 20
    and [x["path"] for x in o["grows"]] == ["reserved"] * 3
    and {x["base"] for x in o["grows"]} == {o["base"]}
    and all(x["calls"][c]["count"] == 1 and x["calls"][c]["us"] > 0
            for x in o["grows"] for c in ("create", "map", "allow"))' \
    range --source cuda --grow 2M,64M,1G && empty "$scratch/err"
}

doctor_grows_a_range_on_the_device() {
  CUDASIM=memory=1G,report=yes
  shows 'any(x["topic"] == "cuda" and x["level"] == "ok"
             and "up to 1.00 GiB" in x["fact"] for x in o["findings"])
    and any(x["topic"] == "driver" and x["level"] == "ok"
            and "CUDA 13.0" in x["fact"] for x in o["findings"])' doctor &&
    empty "$scratch/err"
}

doctor_says_that_a_driver_is_too_old() {
  CUDASIM=driver=11080
  "$ashlar" doctor --json >"$scratch/json"
  python3 -c '
import json, sys
o = json.load(open(sys.argv[1]))
assert any(x["topic"] == "cuda" and x["level"] == "problem"
           and "for CUDA 11.8" in x["advice"] for x in o["findings"])
' "$scratch/json"
}

# keeps SETTINGS OPTIONS: no promise is broken
keeps() {
  CUDASIM=$1,report=yes
  "$ashlar" check-plugin cuda --steps 2000 --seed 3 --options "$2" \
    2>"$scratch/err" && empty "$scratch/err"
}

expect devices_are_listed_with_their_memory devices_are_listed_with_their_memory
expect growth_shows_its_calls_with_microseconds \
  growth_shows_its_calls_with_microseconds
expect doctor_grows_a_range_on_the_device doctor_grows_a_range_on_the_device
expect doctor_says_that_a_driver_is_too_old doctor_says_that_a_driver_is_too_old
expect plugin_keeps_all_promises keeps memory=4G device=0
expect plugin_keeps_them_with_peers \
  keeps memory=2G,devices=2 device=1,peers=0,rdma=preferred
finish
