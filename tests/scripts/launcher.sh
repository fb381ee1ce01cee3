#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# The examples that launch, where there is no GPU: on the simulated driver, and
# without any. They print what their comments say, and nothing else.

. "$top_srcdir/tests/scripts/lib.sh"

examples=$top_srcdir/examples
launcher=$top_builddir/examples/launcher/launcher
sim=$top_builddir/tests/cudasim/.libs
ASHLAR_PLUGIN_PATH=$top_builddir/plugins/cuda/.libs
export ASHLAR_PLUGIN_PATH
[ -x "$launcher" ] || skip_all "the launcher was not built"

# promised FILE TITLE: the lines under it in the file's comment
promised() {
  sed -n "/^ \\* Output $2:\$/,/^ \\*[\\/]*\$/s/^ \\* \\(.*\\)/\\1/p" \
    "$examples/$1" | tail -n +2 >"$scratch/promised"
  [ -s "$scratch/promised" ]
}

# launch FOLDER VARIABLE...: with the driver in the folder; what it says in out
# and err
launch() {
  folder=$1
  shift
  env "$@" \
    LD_LIBRARY_PATH="$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
    "$launcher" >"$scratch/out" 2>"$scratch/err" || {
    echo "it exits with $?"
    cat "$scratch/out" "$scratch/err"
    return 1
  }
}

# The driver is told at the exit what was not given back, and says so.
runs_on_the_simulated_driver() {
  promised launcher/main.c "on the simulated driver" && launch "$sim" CUDASIM="$1" &&
    same "$scratch/promised" "$scratch/out" && empty "$scratch/err"
}

# A file that is no library ends the search for one.
goes_without_device() {
  mkdir "$scratch/none" && : >"$scratch/none/libcuda.so.1" &&
    promised launcher/main.c "without a device" && launch "$scratch/none" CUDASIM= &&
    same "$scratch/promised" "$scratch/out" && grep -q libcuda "$scratch/err"
}

# What the machine lacks is told, with exit status 1.
says_what_it_lacks() {
  LD_LIBRARY_PATH=$sim CUDASIM=memory=2M "$launcher" \
    >"$scratch/out" 2>"$scratch/err"
  status=$?
  cat "$scratch/err"
  [ "$status" -eq 1 ] && grep -q '^ashlar_range_grow_to(.*memory' "$scratch/err"
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
    ptxas -arch="$1" -Werror -o "$scratch/kernels.cubin" "$scratch/kernels.ptx"
}

knows() {
  printf '.version 8.3\n.target sm_90\n.address_size 64\n' >"$scratch/empty.ptx"
  ptxas -arch="$1" -o "$scratch/empty.cubin" "$scratch/empty.ptx" 2>/dev/null
}

expect launcher_runs_on_the_simulated_driver_and_leaves_nothing \
  runs_on_the_simulated_driver report=yes
expect launcher_waits_for_what_is_not_done \
  runs_on_the_simulated_driver report=yes,work=held
expect launcher_goes_as_far_as_it_can_without_a_device goes_without_device
expect launcher_says_what_it_lacks says_what_it_lacks
expect first_example_launches first_example_launches
for architecture in sm_90 sm_100; do
  if have ptxas && knows "$architecture"; then
    expect "kernels_compile_for_$architecture" compiles "$architecture"
  else
    skip "kernels_compile_for_$architecture" "no ptxas that knows it"
  fi
done
finish
