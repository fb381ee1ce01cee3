/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * What wide registers cost a program that met none for a while: the time of other
 * code, by tenths of a millisecond, from when bulks of slots begin to be written
 * and compared by them. Beside it the same by narrow ones, and memcpy().
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ashlar.h>

#include "harness/system.h"
#include "pool/address.h"

#define TRIALS   61
#define PAUSE_NS 3e6
#define BIN_NS   1e5
#define BINS     12
#define BULK     32
#define COPY     512

static struct ashlar_pool *pool;

static void must(enum ashlar_status status)
{
    if (status != ASHLAR_OK)
        bench_die("%s", ashlar_last_error_message());
}

/* --- what is done now and then --------------------------------------------- */

static void do_nothing(void)
{
}

static void get_and_put(void)
{
    void *slots[BULK];

    must(ashlar_pool_get_bulk(pool, slots, BULK));
    must(ashlar_pool_put_bulk(pool, slots, BULK, NULL));
}

static void copy(void)
{
    static char from[COPY], to[COPY];
    size_t bytes = COPY;

    BENCH_KEEP(&bytes); /* by a call */
    memcpy(to, from, bytes);
    BENCH_KEEP(to);
}

struct subject {
    const char *name;
    unsigned width; /* bytes of a register, at most */
    void (*act)(void);
    double ns[BINS][TRIALS]; /* of one step of other code */
};

static struct subject subjects[] = {
    {"nothing", 16, do_nothing, {{0}}},
    {"bulks by 16 bytes", 16, get_and_put, {{0}}},
    {"bulks by 32 bytes", 32, get_and_put, {{0}}},
    {"memcpy of 512 bytes", 16, copy, {{0}}},
};

#define SUBJECTS (sizeof(subjects) / sizeof(subjects[0]))

/* --- other code ------------------------------------------------------------- */

/* Some microseconds of arithmetic, of which a processor does much at once. */
static void step(void)
{
    uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6;
    unsigned i;

    for (i = 0; i < 1400; i++) {
        a += b ^ i;
        b = b * 3 + a;
        c ^= a >> 3;
        d += c;
        e = e << 1 | (d & 1);
        f += e ^ b;
        BENCH_KEEP(a + f);
    }
}

/* Steps until so much time is over; how long one took. */
static double time_steps(double ns, void (*act)(void))
{
    double begin = bench_now_ns(), now;
    unsigned steps = 0;

    do {
        act();
        step();
        steps++;
        now = bench_now_ns();
    } while (now - begin < ns);
    return (now - begin) / steps;
}

static void try_subject(struct subject *subject, int trial)
{
    int bin;

    (void)address_choose(subject->width);
    (void)time_steps(PAUSE_NS, do_nothing);
    for (bin = 0; bin < BINS; bin++)
        subject->ns[bin][trial] = time_steps(BIN_NS, subject->act);
}

/* --- telling ---------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    double one = *(const double *)a, other = *(const double *)b;

    return one < other ? -1 : one > other ? 1 : 0;
}

static void tell(struct subject *subject)
{
    int bin;

    printf("  %-20s", subject->name);
    for (bin = 0; bin < BINS; bin++) {
        qsort(subject->ns[bin], TRIALS, sizeof(double), by_value);
        printf(" %5.0f", subject->ns[bin][TRIALS / 2]);
    }
    printf("\n");
}

int main(void)
{
    int cpus[2], trial, bin;
    size_t i;

    if (bench_processors(cpus) > 0)
        bench_pin(cpus[0]);
    must(ashlar_pool_create(ashlar_type_find("CUtensorMap"), NULL, &pool));
    printf("Bulks go by registers of %u bytes here.\n", address_choose(32));
    for (trial = 0; trial < TRIALS; trial++)
        for (i = 0; i < SUBJECTS; i++)
            try_subject(&subjects[i], trial);
    printf(
        "A step of other code, in ns, with one of these before each; medians "
        "of %d, by\ntenths of a millisecond after 3 ms of nothing else:\n\n"
        "  %-20s",
        TRIALS, "");
    for (bin = 1; bin <= BINS; bin++)
        printf(" %5d", bin);
    printf("\n");
    for (i = 0; i < SUBJECTS; i++)
        tell(&subjects[i]);
    must(ashlar_pool_destroy(pool, 0));
    return 0;
}
