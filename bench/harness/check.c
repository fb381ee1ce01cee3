/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "measure.h"

#include "system.h"

#include <stdlib.h>

/* Live at once on a thread: this many of each batch size. */
#define SHARE ((size_t)BENCH_BATCH_MAX)
#define LIVE  (BENCH_BATCHES * SHARE)
#define WORDS (BENCH_SLOT / sizeof(uint64_t))

static void **live; /* side 0's, then side 1's */
static int sides;

static int compare_slots(const void *left, const void *right)
{
    uintptr_t a = *(const uintptr_t *)left, b = *(const uintptr_t *)right;

    return (a > b) - (a < b);
}

void bench_check_slots(void **slots, size_t count)
{
    qsort(slots, count, sizeof(void *), compare_slots);
    for (size_t i = 0; i < count; i++) {
        uintptr_t slot = (uintptr_t)slots[i];

        if (slot == 0 || slot % BENCH_SLOT != 0)
            bench_die("a slot at %p is not aligned", slots[i]);
        if (i > 0 && slot - (uintptr_t)slots[i - 1] < BENCH_SLOT)
            bench_die("slots at %p and %p overlap", slots[i - 1], slots[i]);
    }
}

static void write_slots(void **slots)
{
    for (size_t i = 0; i < LIVE; i++) {
        uint64_t *words = slots[i];

        for (size_t j = 0; j < WORDS; j++)
            words[j] = (uintptr_t)words + j;
    }
}

static void read_slots(void **slots)
{
    for (size_t i = 0; i < LIVE; i++) {
        uint64_t *words = slots[i];

        for (size_t j = 0; j < WORDS; j++) {
            if (words[j] != (uintptr_t)words + j)
                bench_die("a slot at %p lost what was written", slots[i]);
        }
    }
}

static void check_apart(void)
{
    size_t count = (size_t)sides * LIVE;
    void **sorted = bench_map(count * sizeof(void *));

    memcpy(sorted, live, count * sizeof(void *));
    bench_check_slots(sorted, count);
}

/* Every batch size in turn. */
static void check_side(const struct bench_driver *driver, int side)
{
    void **slots = live + (size_t)side * LIVE;

    for (size_t i = 0; i < BENCH_BATCHES; i++)
        driver->take(slots + i * SHARE, SHARE, bench_batches[i]);
    write_slots(slots);
    if (sides == 2)
        bench_pair_meet();
    if (side == 0)
        check_apart();
    if (sides == 2)
        bench_pair_meet();
    read_slots(slots);
    for (size_t i = 0; i < BENCH_BATCHES; i++)
        driver->give(slots + i * SHARE, SHARE, bench_batches[i]);
}

void bench_check(const struct bench_driver *driver)
{
    int cpus[2];

    live = bench_map(2 * LIVE * sizeof(void *));
    sides = 1;
    check_side(driver, 0);
    if ((driver->can & BENCH_CAN_THREADS) == 0 || bench_processors(cpus) < 2)
        return;
    sides = 2;
    bench_pair_start(driver);
    bench_pair_call(check_side);
}
