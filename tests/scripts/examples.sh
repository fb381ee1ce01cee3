#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# The examples run to their ends.

. "$top_srcdir/tests/scripts/lib.sh"

for example in $EXAMPLES; do
  expect "example_${example##*/}_runs" "$top_builddir/$example"
done
finish
