/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "crew.h"

#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/harness/system.h"

static int cores[CREW_MOST];

static struct {
    unsigned threads;
    pthread_t ids[CREW_MOST];
    void (*begin)(void);
    void (*work)(unsigned number);  /* NULL: go home */
    _Alignas(128) unsigned turn;    /* counts up, and lets them go; atomic */
    _Alignas(128) unsigned arrived; /* atomic */
} crew;

static int is_new_core(int cpu, unsigned count)
{
    unsigned i;

    for (i = 0; i < count; i++)
        if (bench_share_core(cores[i], cpu))
            return 0;
    return 1;
}

unsigned crew_cores(void)
{
    cpu_set_t allowed;
    unsigned count = 0;
    int cpu;

    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
        return 0;
    for (cpu = 0; cpu < CPU_SETSIZE && count < CREW_MOST; cpu++)
        if (CPU_ISSET(cpu, &allowed) && is_new_core(cpu, count))
            cores[count++] = cpu;
    if (count != 0)
        bench_pin(cores[0]);
    return count;
}

/* The last to come lets all go. */
static void meet(void)
{
    unsigned turn = __atomic_load_n(&crew.turn, __ATOMIC_ACQUIRE);

    if (__atomic_add_fetch(&crew.arrived, 1, __ATOMIC_ACQ_REL) ==
        crew.threads) {
        __atomic_store_n(&crew.arrived, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&crew.turn, turn + 1, __ATOMIC_RELEASE);
        return;
    }
    while (__atomic_load_n(&crew.turn, __ATOMIC_ACQUIRE) == turn)
        bench_pause();
}

static void *be_one(void *user)
{
    unsigned number = (unsigned)(uintptr_t)user;

    bench_pin(cores[number]);
    crew.begin();
    for (;;) {
        meet();
        if (crew.work == NULL)
            return NULL;
        crew.work(number);
        meet();
    }
}

void crew_start(unsigned threads, void (*begin)(void))
{
    unsigned i;

    crew.threads = threads;
    crew.begin = begin;
    for (i = 1; i < threads; i++)
        if (pthread_create(&crew.ids[i], NULL, be_one, (void *)(uintptr_t)i) !=
            0) {
            printf("# no thread\n");
            exit(1);
        }
}

void crew_work(void (*work)(unsigned number))
{
    crew.work = work;
    meet();
    work(0);
    meet();
}

void crew_end(void)
{
    unsigned i;

    crew.work = NULL;
    meet();
    for (i = 1; i < crew.threads; i++)
        (void)pthread_join(crew.ids[i], NULL);
}
