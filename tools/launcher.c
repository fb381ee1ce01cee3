/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "launcher.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "must.h"
#include "stop.h"

#define REPORT_EVERY 256 /* launches between two looks around */
#define POLL_NS      50000000

/* What the threads share. */
struct launcher {
    const struct preparation *preparation;
    const struct launcher_options *options;
    uint32_t *order; /* of each launch in turn: its kernel */
    uint64_t order_count;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    enum { WAIT, GO, GIVE_UP } gate; /* under mutex */
    unsigned running;                /* under mutex */
    int failed;                      /* atomic: one thread was refused */
};

struct worker {
    struct launcher *launcher;
    pthread_t thread;
    unsigned number;
    uint64_t random; /* state */
    uint64_t next;   /* in order */
    uint64_t done;   /* atomic, behind by up to REPORT_EVERY */
    uint64_t started_ns;
    uint64_t ended_ns;
    uint64_t address_bits; /* of all runs, or-ed */
    struct launcher_result result;
};

/*
 * The order of launches: layer by layer as a model runs, that is the first
 * instance of each kernel, then the second of each that has one, and so on.
 */
static void make_order(struct launcher *launcher)
{
    const struct preparation *preparation = launcher->preparation;
    const struct manifest *manifest = preparation->manifest;
    size_t count = 0, i;
    uint32_t *active = must_alloc(manifest->kernel_count, sizeof(active[0]));
    uint64_t pass;

    launcher->order = must_alloc(preparation->first[manifest->kernel_count],
                                 sizeof(launcher->order[0]));
    for (i = 0; i < manifest->kernel_count; i++)
        if (manifest->kernels[i].tensor_count != 0)
            active[count++] = (uint32_t)i;
    for (pass = 1; count != 0; pass++) {
        size_t kept = 0;

        for (i = 0; i < count; i++) {
            launcher->order[launcher->order_count++] = active[i];
            if (manifest->kernels[active[i]].instances > pass)
                active[kept++] = active[i];
        }
        count = kept;
    }
    free(active);
}

/* splitmix64 */
static uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static size_t next_length(struct worker *worker)
{
    const struct launcher *launcher = worker->launcher;
    uint64_t at = worker->next;

    if (launcher->options->shuffled)
        at = random_next(&worker->random) % launcher->order_count;
    else if (++worker->next == launcher->order_count)
        worker->next = 0;
    return launcher->preparation->manifest->kernels[launcher->order[at]]
        .tensor_count;
}

static void fill(void *run, size_t bytes, uint64_t stamp)
{
    uint64_t *words = run;
    size_t i;

    for (i = 0; i < bytes / sizeof(words[0]); i++)
        words[i] = stamp;
}

/* Whether every slot still has this launch's bytes: nobody else has it. */
static bool intact(const volatile char *run, size_t length, size_t stride,
                   uint64_t stamp)
{
    size_t i;

    for (i = 0; i < length; i++)
        if (*(const volatile uint64_t *)(run + i * stride) != stamp)
            return false;
    return true;
}

/* One launch. False when the library refused. */
static bool launch(struct worker *worker, uint64_t number)
{
    const struct preparation *preparation = worker->launcher->preparation;
    struct launcher_result *result = &worker->result;
    size_t length = next_length(worker);
    uint64_t stamp = ((uint64_t)worker->number << 48) ^ number;
    uint64_t start = clock_ns();
    void *run = ashlar_pool_get_run(preparation->pool, length);
    bool mine;

    if (run == NULL)
        return false;
    fill(run, length * preparation->stride, stamp);
    mine = intact(run, length, preparation->stride, stamp);
    if (ashlar_pool_put_run(preparation->pool, run, length) != ASHLAR_OK)
        return false;
    histogram_add(&result->latency, clock_ns() - start);
    worker->address_bits |= (uintptr_t)run;
    result->clashes += !mine;
    result->launches++;
    result->slots += length;
    return true;
}

static bool wait_at_gate(struct launcher *launcher)
{
    bool go;

    pthread_mutex_lock(&launcher->mutex);
    while (launcher->gate == WAIT)
        pthread_cond_wait(&launcher->changed, &launcher->mutex);
    go = launcher->gate == GO;
    pthread_mutex_unlock(&launcher->mutex);
    return go;
}

static void open_gate(struct launcher *launcher, bool go)
{
    pthread_mutex_lock(&launcher->mutex);
    launcher->gate = go ? GO : GIVE_UP;
    pthread_cond_broadcast(&launcher->changed);
    pthread_mutex_unlock(&launcher->mutex);
}

static void work(struct worker *worker)
{
    struct launcher *launcher = worker->launcher;
    uint64_t i;

    worker->started_ns = clock_ns();
    for (i = 0; i < launcher->options->launches; i++) {
        if (i % REPORT_EVERY == 0) {
            __atomic_store_n(&worker->done, i, __ATOMIC_RELAXED);
            if (stop_wanted() ||
                __atomic_load_n(&launcher->failed, __ATOMIC_RELAXED) != 0)
                break;
        }
        if (!launch(worker, i)) {
            worker->result.refusal = must_copy(ashlar_last_error_message());
            __atomic_store_n(&launcher->failed, 1, __ATOMIC_RELAXED);
            break;
        }
    }
    worker->ended_ns = clock_ns();
}

static void *worker_main(void *argument)
{
    struct worker *worker = argument;
    struct launcher *launcher = worker->launcher;

    if (wait_at_gate(launcher))
        work(worker);
    pthread_mutex_lock(&launcher->mutex);
    launcher->running--;
    pthread_cond_broadcast(&launcher->changed);
    pthread_mutex_unlock(&launcher->mutex);
    return NULL;
}

static void show(const struct launcher *launcher, const struct worker *workers,
                 struct progress *progress)
{
    uint64_t done = 0;
    unsigned i;

    for (i = 0; i < launcher->options->threads; i++)
        done += __atomic_load_n(&workers[i].done, __ATOMIC_RELAXED);
    progress_step(progress, done);
}

static void wait_for_end(struct launcher *launcher,
                         const struct worker *workers,
                         struct progress *progress)
{
    show(launcher, workers, progress);
    pthread_mutex_lock(&launcher->mutex);
    while (launcher->running != 0) {
        struct timespec until;

        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += POLL_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&launcher->changed, &launcher->mutex, &until);
        show(launcher, workers, progress);
    }
    pthread_mutex_unlock(&launcher->mutex);
}

/* Start the threads; returns how many there are. If one could not be started
 * the others leave at once. */
static unsigned start_workers(struct launcher *launcher, struct worker *workers,
                              struct launcher_result *result)
{
    const struct launcher_options *options = launcher->options;
    unsigned started = 0;
    int err = 0;

    for (; started < options->threads && err == 0; started += err == 0) {
        struct worker *worker = &workers[started];

        worker->launcher = launcher;
        worker->number = started;
        worker->random = options->seed + started * UINT64_C(0x632be59bd9b4e019);
        worker->next = launcher->order_count * started / options->threads;
        pthread_mutex_lock(&launcher->mutex);
        err = pthread_create(&worker->thread, NULL, worker_main, worker);
        launcher->running += err == 0;
        pthread_mutex_unlock(&launcher->mutex);
    }
    if (err != 0)
        result->refusal =
            must_format("thread %u of %u could not be started: %s", started + 1,
                        options->threads, strerror(err));
    open_gate(launcher, err == 0);
    return started;
}

/* The least time between two looks at the clock. */
static uint64_t measure_clock(void)
{
    uint64_t least = UINT64_MAX;
    int i;

    for (i = 0; i < 1000; i++) {
        uint64_t start = clock_ns();
        uint64_t spent = clock_ns() - start;

        if (spent < least)
            least = spent;
    }
    return least;
}

static void sum_up(const struct launcher *launcher, struct worker *workers,
                   struct launcher_result *result)
{
    size_t alignment = launcher->preparation->alignment;
    uint64_t started = UINT64_MAX, ended = 0, address_bits = 0;
    unsigned i;

    for (i = 0; i < launcher->options->threads; i++) {
        struct worker *worker = &workers[i];

        if (worker->ended_ns != 0 && worker->started_ns < started)
            started = worker->started_ns;
        if (worker->ended_ns > ended)
            ended = worker->ended_ns;
        address_bits |= worker->address_bits;
        result->launches += worker->result.launches;
        result->slots += worker->result.slots;
        result->clashes += worker->result.clashes;
        histogram_merge(&result->latency, &worker->result.latency);
        if (result->refusal == NULL)
            result->refusal = worker->result.refusal;
        else
            free(worker->result.refusal);
    }
    result->residue = address_bits & (alignment - 1);
    result->wall_ns = ended > started ? ended - started : 0;
}

static void launcher_start(struct launcher *launcher)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&launcher->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&launcher->mutex, NULL);
    make_order(launcher);
}

static void launcher_end(struct launcher *launcher)
{
    free(launcher->order);
    pthread_mutex_destroy(&launcher->mutex);
    pthread_cond_destroy(&launcher->changed);
}

bool launcher_run(const struct preparation *preparation,
                  const struct launcher_options *options,
                  struct progress *progress, struct launcher_result *result)
{
    struct launcher launcher = {.preparation = preparation, .options = options};
    struct worker *workers = must_alloc(options->threads, sizeof(workers[0]));
    unsigned started = 0, i;

    memset(result, 0, sizeof(*result));
    launcher_start(&launcher);
    result->clock_ns = measure_clock();
    progress_phase(progress, "launching", options->launches * options->threads);
    if (launcher.order_count != 0)
        started = start_workers(&launcher, workers, result);
    wait_for_end(&launcher, workers, progress);
    for (i = 0; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    progress_end(progress);
    sum_up(&launcher, workers, result);
    launcher_end(&launcher);
    free(workers);
    return result->refusal == NULL;
}
