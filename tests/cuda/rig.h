/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * A source "cuda" on a simulated machine, and a range on it, for the tests in
 * this folder.
 */
#ifndef ASHLAR_TESTS_CUDA_RIG_H
#define ASHLAR_TESTS_CUDA_RIG_H

#include <ashlar.h>

#include "support/ranges.h"
#include "support/sim.h"

#define GRANULE (UINT64_C(2) << 20)
#define QUIET   ASHLAR_QUIET, 1

/* What a capture may forbid other threads. */
#define RIG_MODES 3
extern const CUstreamCaptureMode rig_modes[RIG_MODES];

struct rig {
    struct ashlar_source *source;
    struct ashlar_range *range;
    struct ashlar_range_result result; /* of the last grow */
};

extern struct rig rig;

/* Open a source with options beside "driver", which may be NULL. */
enum ashlar_status rig_open_source(const char *options,
                                   struct ashlar_source **source_out);

/* A fresh machine, its context, and a source. */
void rig_start(const char *settings, const char *options);

/* Two devices, and a range of eight granules that are stamped. */
void rig_start_full(void);

/* Destroy the range, drain, close: the machine has everything back. */
void rig_end(void);

/* A case of a suite whose tests begin so, and end by rig_end(). */
TCase *rig_case(Suite *suite, void (*start)(void), const char *name);

/* The range: so many granules reserved, chunks of so many at most. */
void rig_make(uint64_t reserve_granules, uint64_t chunk_granules,
              uint32_t flags);

/* Grow it to so many granules; the result is kept. */
enum ashlar_status rig_grow(uint64_t granules);

struct ashlar_range_info rig_info(void);

/* The first word of granule i. */
volatile uint64_t *rig_word(uint64_t i);

/* Write a number of its own into each granule, and see that it is there. */
void rig_stamp(uint64_t granules);
void rig_check(uint64_t granules);

/* The rights of a device at an address: enum ashlar_rights. */
uint32_t rig_rights(uint64_t address, int device);

/* A stream of the current context that waits for no other. */
CUstream rig_stream(void);

/* A piece of work on it that uses the whole range, until it is finished. */
void rig_use(CUstream stream);

struct ashlar_fence rig_fence(CUstream stream);

/* Shrink a range of eight granules to two, behind a fence. */
enum ashlar_status rig_shrink(const struct ashlar_fence *fence);

/* What was given up waits; it goes, or is gone. */
void rig_waits(void);
void rig_goes(void);

/* The context runs on: nothing was taken away under its work. */
void rig_is_well(void);

#endif
