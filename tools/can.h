/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * What a source can do, ASHLAR_CAN_*, in words.
 */
#ifndef ASHLAR_TOOLS_CAN_H
#define ASHLAR_TOOLS_CAN_H

#include <stdint.h>

#include <jansson.h>

/** "ranges copy host"; "nothing". The caller frees it. */
char *can_text(uint64_t can);

/** ["ranges", "copy", "host"] */
json_t *can_json(uint64_t can);

#endif
