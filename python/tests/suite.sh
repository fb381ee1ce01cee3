#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# The Python package's own tests, run by pytest against what was built here.

. "$top_srcdir/tests/scripts/lib.sh"

[ "${HAVE_PYTHON-}" = yes ] || skip_all "Python package: ${HAVE_PYTHON-no}"
[ "$JEMALLOC_KIND" = private ] ||
  skip_all "the system's jemalloc has static TLS and cannot be loaded late"
"$PYTHON" -c 'import pytest' 2>/dev/null ||
  skip_all "$PYTHON has no pytest (Debian: python3-pytest)"

# The package as it will be installed: its files are here and there.
mkdir -p "$scratch/site"
cp -R "$top_srcdir/python/ashlar" "$scratch/site/"
chmod -R u+w "$scratch/site"
cp "$top_builddir/python/.libs/_core.abi3.so" "$scratch/site/ashlar/"

PYTHONPATH=$scratch/site
LD_LIBRARY_PATH=$top_builddir/lib/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
PYTHONDONTWRITEBYTECODE=1
PYTEST_DISABLE_PLUGIN_AUTOLOAD=1
export PYTHONPATH LD_LIBRARY_PATH PYTHONDONTWRITEBYTECODE
export PYTEST_DISABLE_PLUGIN_AUTOLOAD

# The plug-in for CUDA and the simulated driver, where they were built.
unset CUDASIM
ASHLAR_PLUGIN_PATH=$top_builddir/plugins/cuda/.libs
ASHLAR_CUDASIM=
[ ! -f "$ASHLAR_PLUGIN_PATH/ashlar_cuda.so" ] ||
  ASHLAR_CUDASIM=$top_builddir/tests/cudasim/.libs/libcuda.so.1
export ASHLAR_PLUGIN_PATH ASHLAR_CUDASIM

# A run that is cut short leaves no plan, which counts as an error.
"$PYTHON" -X faulthandler -m pytest -q -p no:cacheprovider \
  --basetemp="$scratch/tmp" --tap="$scratch/tap" \
  -c "$top_srcdir/python/pyproject.toml" --rootdir="$top_srcdir/python" \
  "$top_srcdir/python/tests" >"$scratch/said" 2>&1 </dev/null
status=$?
cat "$scratch/tap" || count=0
# 0: all passed; 1: some failed, which the lines above say.
[ "$status" -le 1 ] || sed 's/^/# /' "$scratch/said"
