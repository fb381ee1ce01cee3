# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The ashlar authors
#
# The names that manual pages explain, but for their own: "NAME.3 PAGE.3" a
# line. They are the .Nm of the section NAME, so no list has to be kept.

FNR == 1 {
  page = FILENAME
  sub(/.*\//, "", page)
  in_name = 0
}
$1 == ".Sh" { in_name = ($2 == "NAME") }
in_name && $1 == ".Nm" && $2 ".3" != page { print $2 ".3", page }
