/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The part of the reports that is about arenas, by public functions alone.
 */
#ifndef ASHLAR_OBSERVE_ARENAS_H
#define ASHLAR_OBSERVE_ARENAS_H

#include "observe/json.h"
#include "observe/text.h"

/** Add a table of 80 columns; nothing when there are no arenas. */
void arenas_add_text(struct text *text);

/** Add an array of objects, one for each arena. */
void arenas_add_json(struct json *json);

#endif
