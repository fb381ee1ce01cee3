/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * What the harness asks of the system: the clock, a processor to stay on,
 * memory that is there before the measuring starts, resident bytes.
 */
#ifndef BENCH_SYSTEM_H
#define BENCH_SYSTEM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BENCH_INLINE static inline __attribute__((always_inline))

/* The compiler may assume nothing about memory across this. */
#define BENCH_KEEP(_pointer) __asm__ volatile("" : : "r"(_pointer) : "memory")

BENCH_INLINE void bench_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Monotonic. */
double bench_now_ns(void);

/* Times the calling thread was pushed off its processor so far. */
long bench_preemptions(void);

/* The processors to measure on: $BENCH_CPUS ("2,3"), or the first two of
 * different cores that the process may use; returns how many there are, at most
 * 2. */
int bench_processors(int cpus_out[2]);

/* Whether two processors are hardware threads of one core, as far as the system
 * says: they share its caches and take turns in it. */
int bench_share_core(int one, int other);

/* Keep the calling thread on one processor. */
void bench_pin(int cpu);

/* Zeroed and resident; never given back. */
void *bench_map(size_t bytes);

/* Address space at a multiple of 2 MiB, not resident; huge asks for huge
 * pages. Never given back. */
void *bench_map_untouched(size_t bytes, int huge);

struct bench_resident {
    size_t bytes;      /* all of the process */
    size_t huge_bytes; /* of these, in huge pages */
};

struct bench_resident bench_resident(void);

/* Say what is wrong on stderr and end the process with status 3. */
void bench_die(const char *format, ...)
    __attribute__((noreturn, format(printf, 1, 2)));

#ifdef __cplusplus
}
#endif

#endif
