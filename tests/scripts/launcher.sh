#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# The examples that launch, where there is no GPU: on the simulated driver, and
# without any. They print what their comments say, and nothing else; and they
# copy what they should when functions of the host's are the kernels.

. "$top_srcdir/tests/scripts/lib.sh"

examples=$top_srcdir/examples
launcher=$top_builddir/examples/launcher/launcher
on_host=$top_builddir/tests/cuda/launcher_on_host
sim=$top_builddir/tests/cudasim/.libs
ASHLAR_PLUGIN_PATH=$top_builddir/plugins/cuda/.libs
export ASHLAR_PLUGIN_PATH
[ -x "$launcher" ] || skip_all "the launcher was not built"
ptxas=$(command -v ptxas || command -v /usr/local/cuda/bin/ptxas) || ptxas=false

# promised FILE TITLE: the lines under it in the file's comment
promised() {
  sed -n "/^ \\* Output $2:\$/,/^ \\*[\\/]*\$/s/^ \\* \\(.*\\)/\\1/p" \
    "$examples/$1" | tail -n +2 >"$scratch/promised"
  [ -s "$scratch/promised" ]
}

# ends STATUS FOLDER SETTINGS PROGRAM...: it exits so, with the driver in the
# folder, simulated or none; what it says in out and err
ends() {
  want=$1 folder=$2 settings=$3
  shift 3
  CUDASIM=$settings \
    LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
    "$@" >"$scratch/out" 2>"$scratch/err"
  got=$?
  [ "$got" -eq "$want" ] || {
    echo "exit status $got, not $want"
    cat "$scratch/out" "$scratch/err"
    return 1
  }
}

# The driver is told at the exit what was not given back, and says so.
runs_on_the_simulated_driver() {
  promised launcher/main.c "on the simulated driver" &&
    ends 0 "$sim" "$1" "$launcher" &&
    same "$scratch/promised" "$scratch/out" && empty "$scratch/err"
}

# A file that is no library ends the search for one.
goes_without_device() {
  mkdir "$scratch/none" && : >"$scratch/none/libcuda.so.1" &&
    promised launcher/main.c "without a device" &&
    ends 0 "$scratch/none" "" "$launcher" &&
    same "$scratch/promised" "$scratch/out" && grep -q libcuda "$scratch/err"
}

# What the machine lacks is told, with exit status 1.
says_what_it_lacks() {
  ends 1 "$sim" memory=2M "$launcher" &&
    grep '^ashlar_range_grow_to(.*memory' "$scratch/err"
}

# Every way, with functions of the host's in the kernels' place.
copies_all_on_the_host() {
  ends 0 "$sim" "$1" "$on_host" && empty "$scratch/err" &&
    grep ': all matrices right$' "$scratch/out" >"$scratch/right" &&
    [ "$(wc -l <"$scratch/right")" -eq 3 ]
}

finds_what_is_spoilt() {
  ends 1 "$sim" "" "$on_host" --spoil &&
    grep '^some matrices were not copied' "$scratch/err"
}

# README's, which is linked to the driver.
first_example_launches() {
  promised 11_launch.c "on the simulated driver, which runs no kernels" &&
    "$top_builddir/examples/11_launch" >"$scratch/out" &&
    same "$scratch/promised" "$scratch/out"
}

# Its own kernels, without a driver.
compiles() {
  "$launcher" --ptx >"$scratch/kernels.ptx" &&
    "$ptxas" -arch="$1" -Werror -o "$scratch/kernels.cubin" "$scratch/kernels.ptx"
}

knows() {
  printf '.version 8.3\n.target sm_90\n.address_size 64\n' >"$scratch/empty.ptx"
  "$ptxas" -arch="$1" -o "$scratch/empty.cubin" "$scratch/empty.ptx" 2>/dev/null
}

expect launcher_runs_on_the_simulated_driver_and_leaves_nothing \
  runs_on_the_simulated_driver report=yes
expect launcher_waits_for_what_is_not_done \
  runs_on_the_simulated_driver report=yes,work=held
expect launcher_goes_as_far_as_it_can_without_a_device goes_without_device
expect launcher_says_what_it_lacks says_what_it_lacks
expect launcher_copies_all_by_functions_in_the_kernels_place \
  copies_all_on_the_host report=yes
expect launcher_copies_all_when_work_is_done_late \
  copies_all_on_the_host report=yes,work=held
expect launcher_finds_a_matrix_that_is_spoilt finds_what_is_spoilt
expect first_example_launches first_example_launches
for architecture in sm_90 sm_100 sm_120; do
  if knows "$architecture"; then
    expect "kernels_compile_for_$architecture" compiles "$architecture"
  else
    skip "kernels_compile_for_$architecture" "no ptxas that knows it"
  fi
done
finish
