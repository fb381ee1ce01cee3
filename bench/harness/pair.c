/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "measure.h"

#include "system.h"

#include <pthread.h>
#include <semaphore.h>

/* All that the two threads share; one measurement at a time uses it. */
static struct {
    const struct bench_driver *driver;
    pthread_t thread;
    sem_t wake;
    void (*work)(const struct bench_driver *driver, int side); /* NULL: end */
    struct bench_cell cell;
    struct bench_buffers buffers[2];
    double ns[2];
    long preempted[2];
    long count;
    int done;
    struct bench_ring ring;
} pair;

/* Two words that no measured word shares a line with. */
static struct {
    int arrived __attribute__((aligned(128)));
    int turn __attribute__((aligned(128)));
} meeting;

void bench_pair_meet(void)
{
    int turn = __atomic_load_n(&meeting.turn, __ATOMIC_ACQUIRE);

    if (__atomic_add_fetch(&meeting.arrived, 1, __ATOMIC_ACQ_REL) == 2) {
        __atomic_store_n(&meeting.arrived, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&meeting.turn, turn + 1, __ATOMIC_RELEASE);
        return;
    }
    while (__atomic_load_n(&meeting.turn, __ATOMIC_ACQUIRE) == turn)
        bench_pause();
}

static void *second_thread(void *unused)
{
    int cpus[2];

    (void)unused;
    bench_processors(cpus);
    bench_pin(cpus[1]);
    pair.buffers[1] = bench_buffers_make();
    pair.driver->thread_begin();
    for (;;) {
        while (sem_wait(&pair.wake) != 0)
            ;
        if (pair.work == NULL)
            break;
        pair.work(pair.driver, 1);
        bench_pair_meet();
    }
    pair.driver->thread_end();
    return NULL;
}

void bench_pair_start(const struct bench_driver *driver)
{
    if (pair.driver != NULL)
        return;
    pair.driver = driver;
    pair.buffers[0] = bench_buffers_make();
    if (sem_init(&pair.wake, 0, 0) != 0 ||
        pthread_create(&pair.thread, NULL, second_thread, NULL) != 0)
        bench_die("cannot start a second thread");
}

void bench_pair_stop(void)
{
    if (pair.driver == NULL)
        return;
    pair.work = NULL;
    sem_post(&pair.wake);
    pthread_join(pair.thread, NULL);
}

void bench_pair_call(void (*work)(const struct bench_driver *driver, int side))
{
    pair.work = work;
    sem_post(&pair.wake);
    work(pair.driver, 0);
    bench_pair_meet();
}

/* Each side times its own count, and keeps the other under load until that one
 * is through as well. */
static void beside(const struct bench_driver *driver, int side)
{
    const struct bench_buffers *buffers = &pair.buffers[side];
    long count, before;
    double start;

    bench_pair_meet();
    count = bench_calibrate(driver, &pair.cell, buffers);
    __atomic_store_n(&pair.done, 0, __ATOMIC_RELAXED);
    bench_pair_meet();
    before = bench_preemptions();
    start = bench_now_ns();
    driver->batches(&pair.cell, buffers, count);
    pair.ns[side] = (bench_now_ns() - start) / (double)count / pair.cell.n;
    pair.preempted[side] = bench_preemptions() - before;
    __atomic_add_fetch(&pair.done, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&pair.done, __ATOMIC_ACQUIRE) != 2)
        driver->batches(&pair.cell, buffers, 1 + 256 / pair.cell.n);
}

static void hand_over(const struct bench_driver *driver, int side)
{
    void **slots = pair.buffers[side].slots;
    long before = bench_preemptions();
    double start;

    bench_pair_meet();
    start = bench_now_ns();
    if (side == 0)
        driver->produce(&pair.cell, &pair.ring, slots, pair.count);
    else
        driver->consume(&pair.cell, &pair.ring, slots, pair.count);
    pair.preempted[side] = bench_preemptions() - before;
    bench_pair_meet();
    if (side == 0)
        pair.ns[0] = bench_now_ns() - start;
}

static double hand_over_once(long count)
{
    pair.count = count;
    pair.ring.head = 0;
    pair.ring.tail = 0;
    bench_pair_call(hand_over);
    return pair.ns[0];
}

static int was_disturbed(void)
{
    return pair.preempted[0] + pair.preempted[1] != 0;
}

static struct bench_figure measure_handed(void)
{
    struct bench_figure figure = {{0}, 0, 0, 0};
    long count = 8 + 4096 / pair.cell.n;
    double taken;

    while ((taken = hand_over_once(count)) < bench_window_ns() / 4)
        count *= 2;
    count = (long)((double)count * bench_window_ns() / taken) + 1;
    while (bench_figure_wants(&figure)) {
        taken = hand_over_once(count);
        bench_figure_add(&figure, taken / (double)count / pair.cell.n,
                         was_disturbed());
    }
    return figure;
}

static struct bench_figure measure_beside(void)
{
    struct bench_figure figure = {{0}, 0, 0, 0};

    while (bench_figure_wants(&figure)) {
        bench_pair_call(beside);
        bench_figure_add(&figure, (pair.ns[0] + pair.ns[1]) / 2,
                         was_disturbed());
    }
    return figure;
}

struct bench_figure bench_pair(const struct bench_driver *driver,
                               const struct bench_cell *cell)
{
    bench_pair_start(driver);
    pair.cell = *cell;
    return cell->pattern == BENCH_HANDED ? measure_handed() : measure_beside();
}
