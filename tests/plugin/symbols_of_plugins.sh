#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# Plug-ins call nothing of libashlar, and export one constant.

. "$top_srcdir/tests/scripts/lib.sh"

modules=$top_builddir/tests/plugin/modules/.libs
examples=$top_builddir/examples/plugin/.libs
[ -f "$examples/ashlar_memfd.so" ] || skip_all "--disable-shared"

# All but the one that is there to be found; cuda's is not built everywhere.
plugins=$(ls "$modules"/ashlar_*.so "$examples"/ashlar_*.so \
  "$top_builddir"/plugins/cuda/.libs/ashlar_cuda.so 2>/dev/null |
  grep -v '/ashlar_caller\.so$')

wants_nothing() {
  for plugin in $plugins; do
    $NM -D --undefined-only "$plugin" |
      sed -n "s|.* \\(ashlar_.*\\)|${plugin##*/} \\1|p"
  done >"$scratch/wanted"
  empty "$scratch/wanted"
}

exports_one_constant() {
  for plugin in $plugins; do
    case $plugin in */ashlar_shallow.so) continue ;; esac
    echo "${plugin##*/}" \
      "$($NM -D --defined-only "$plugin" | awk '{ print $3 }' | tr '\n' ' ')"
  done | grep -Ev ' ashlar_plugin_v[12] $' >"$scratch/exported"
  empty "$scratch/exported"
}

expect plugins_call_nothing_of_the_library wants_nothing
if [ -n "$SANITIZERS" ]; then
  skip plugins_export_one_constant "the instrumentation exports more"
else
  expect plugins_export_one_constant exports_one_constant
fi
finish
