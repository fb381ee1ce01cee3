#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# The simulated driver answers as a real one does.

. "$top_srcdir/tests/scripts/lib.sh"

conformance=$top_builddir/tests/conformance/conformance
driver=$top_builddir/tests/cudasim/.libs/libcuda.so.1
[ -x "$conformance" ] || skip_all "cuda.h was not found"
[ -f "$driver" ] || skip_all "the simulated driver was not built"

"$conformance" --tap --driver "$driver"
exit 0
