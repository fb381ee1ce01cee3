/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * Sizes as people write them: "64K", "2M", "1G".
 */
#ifndef ASHLAR_TOOLS_SIZE_H
#define ASHLAR_TOOLS_SIZE_H

#include <stdbool.h>
#include <stdint.h>

/** Digits, and one of K, M, G and T or none. False for anything else. */
bool size_parse(const char *text, uint64_t *bytes_out);

#endif
