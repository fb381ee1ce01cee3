/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * What a driver says, as a status and a sentence: the call, its values, the
 * result's name and number.
 */
#ifndef ASHLAR_PLUGINS_CUDA_ERROR_H
#define ASHLAR_PLUGINS_CUDA_ERROR_H

#include <stdint.h>

#include "driver.h"

struct cuda;

/** The status of a result; `no_memory` is what OUT_OF_MEMORY means there. */
enum ashlar_status cuda_status(CUresult result, enum ashlar_status no_memory);

/** Set the error for a call; its result is not CUDA_SUCCESS. */
enum ashlar_status cuda_fail(const struct cuda *cuda, CUresult result,
                             const char *call);

/** The same for a call about some bytes at an address; 0: at none. */
enum ashlar_status cuda_fail_at(const struct cuda *cuda, CUresult result,
                                const char *call, enum ashlar_status no_memory,
                                uint64_t address, uint64_t bytes);

/** "CUDA_ERROR_INVALID_VALUE"; never NULL. */
const char *cuda_result_name(const struct cuda_driver *driver, CUresult result);

/** "invalid argument"; never NULL. */
const char *cuda_result_text(const struct cuda_driver *driver, CUresult result);

#endif
