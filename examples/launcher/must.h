/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * A call of the library's that has to succeed: the program ends with the
 * library's own sentence if not. (CU() in driver.h is for the driver's.)
 *
 *     MUST(ashlar_pool_reserve(pool, 4096));
 */
#ifndef LAUNCHER_MUST_H
#define LAUNCHER_MUST_H

#include <stddef.h>

#include <ashlar.h>

#define MUST(_call) must(_call, #_call)
void must(enum ashlar_status status, const char *call);

/* Zeroed memory, for free(3). */
void *must_allocate(size_t count, size_t bytes);

/* Say why the program cannot go on, and end it. */
_Noreturn void give_up(const char *why);

#endif
