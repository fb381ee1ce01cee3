/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The names of a tensor map's settings, as the library has them, for messages.
 * A field is one that ashlar_spec_name() takes.
 */
#ifndef ASHLAR_TOOLS_NAMES_H
#define ASHLAR_TOOLS_NAMES_H

#include <ashlar/tensormap.h>

/** "one of a, b, c", to be freed. */
char *names_list(enum ashlar_spec_field field);

/** The name nearest to a text; NULL when none is near. */
const char *names_nearest(enum ashlar_spec_field field, const char *text);

#endif
