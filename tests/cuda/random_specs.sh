#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# Random specs near every limit: the check's verdict and the simulated driver's
# are one. Whether both are the real driver's, the same program says on a card.

random=$top_builddir/tests/gpu/tensormap_random
sim=$top_builddir/tests/cudasim/.libs

if [ ! -x "$random" ] || [ ! -e "$sim/libcuda.so.1" ]; then
  echo '1..0 # SKIP the simulated driver was not built'
  exit 0
fi
LD_LIBRARY_PATH=$sim CUDASIM='' exec "$random" 50000
