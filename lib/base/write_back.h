/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * Cache lines that a device is to read, written back to memory.
 *
 * A device reads lines that a processor has just written more slowly than those
 * that are in memory. Told one by one, with other work between, processors that
 * can write them back (x86-64 with clwb) do so beside that work, and keep them.
 * What a device finds there is the same either way.
 */
#ifndef ASHLAR_BASE_WRITE_BACK_H
#define ASHLAR_BASE_WRITE_BACK_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __x86_64__

#include <cpuid.h>

#define WRITE_BACK_LINE       64
#define WRITE_BACK_LEAF_7_EBX (1u << 24)

/** Whether this processor can: write_back() is for no other. */
static inline bool write_back_is_there(void)
{
    unsigned a, b, c, d;

    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 &&
           (b & WRITE_BACK_LEAF_7_EBX) != 0;
}

/** Begin to write lines back; waits for nothing. At a multiple of a line. */
static inline void write_back(const void *memory, size_t bytes)
{
    const char *line = memory;
    const char *end = line + bytes;

    for (; line < end; line += WRITE_BACK_LINE)
        __asm__ volatile("clwb %0" : : "m"(*line) : "memory");
}

#else

static inline bool write_back_is_there(void)
{
    return false;
}

static inline void write_back(const void *memory, size_t bytes)
{
    (void)memory;
    (void)bytes;
}

#endif

#endif
