/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * Random operations on ranges against a simple model: how much is used, where
 * the range is, and what was written into each granule.
 *
 * A walk is one range after another, driven by one thread. On a wrapped source
 * operations fail now and then, hints are granted or not, and the driver's
 * rules are checked; a refused verb has to leave everything as it was.
 */
#include "config.h"

#include "range/range.h"

#include "support/engine.h"
#include "support/ranges.h"
#include "support/stress.h"

#include <stdio.h>
#include <string.h>

/* Granules that a range uses at most. */
#define GRANULES 96
/* Streams of one walk, at and above its number times this. */
#define STREAMS 4

struct walk {
    struct trial trial;
    struct stress_random random;
    struct ashlar_source *inner; /* what is wrapped, for its streams */
    uint64_t first_stream;
    bool wrapped; /* operations may fail */
    bool alone;   /* nobody else uses the source */
    bool may_move;
    uint64_t used;
    uint64_t base;
    uint64_t steps;
    uint64_t refusals;
};

static size_t below(struct walk *walk, size_t bound)
{
    return stress_below(&walk->random, bound);
}

static uint64_t granule_of(const struct walk *walk)
{
    return walk->trial.granule;
}

/* --- a range's life ------------------------------------------------------- */

static bool make_range(struct walk *walk)
{
    struct ashlar_access access[] = {{1, ASHLAR_RIGHTS_READ},
                                     {2, ASHLAR_RIGHTS_READ_WRITE}};
    struct ashlar_range_options options = ASHLAR_RANGE_OPTIONS_INIT;
    enum ashlar_status status;

    walk->may_move = stress_chance(&walk->random, 2);
    options.reserve_bytes = (1 + below(walk, GRANULES)) * granule_of(walk);
    options.chunk_max_bytes = below(walk, 4) * granule_of(walk);
    options.keep_bytes = below(walk, 3) * granule_of(walk);
    options.alignment = granule_of(walk) << below(walk, 3);
    options.flags = walk->may_move ? ASHLAR_RANGE_MAY_MOVE : 0;
    options.access = access;
    options.access_count = below(walk, 3);
    status =
        ashlar_range_create(walk->trial.source, &options, &walk->trial.range);
    if (!STRESS_EXPECT(status == ASHLAR_OK, "create: %s",
                       ashlar_last_error_message()))
        return false;
    walk->used = 0;
    walk->base = walk->trial.range->base;
    memset(walk->trial.stamps, 0, sizeof(walk->trial.stamps));
    return true;
}

static void set_stream(struct walk *walk, uint64_t stream, bool busy)
{
    enum ashlar_status status = busy ? engine_hold(walk->inner, stream)
                                     : engine_finish(walk->inner, stream);

    STRESS_EXPECT(status == ASHLAR_OK, "%s", ashlar_last_error_message());
}

static void finish_all(struct walk *walk)
{
    uint64_t i;

    for (i = 0; i < STREAMS; i++)
        set_stream(walk, walk->first_stream + i, false);
}

/* --- verbs ---------------------------------------------------------------- */

/* Nothing, or one or two streams. Returns how many fences. */
static size_t choose_fences(struct walk *walk, struct ashlar_fence *fences)
{
    size_t n = 1 + below(walk, 2);
    size_t i;

    if (stress_chance(&walk->random, 2)) {
        fences[0] = ashlar_fence_quiet;
        return 1;
    }
    for (i = 0; i < n; i++)
        fences[i] = (struct ashlar_fence){
            stress_chance(&walk->random, 2) ? ASHLAR_FENCE_STREAM
                                            : ASHLAR_FENCE_EVENT,
            0, NULL, walk->first_stream + below(walk, STREAMS)};
    return n;
}

static enum ashlar_status do_grow(struct walk *walk)
{
    struct ashlar_range_result result = ASHLAR_RANGE_RESULT_INIT;
    uint64_t total = 1 + below(walk, GRANULES * granule_of(walk));
    enum ashlar_status status =
        ashlar_range_grow_to(walk->trial.range, total, &result);

    if (status != ASHLAR_OK)
        return status;
    walk->used = total > walk->used ? total : walk->used;
    STRESS_EXPECT(result.used_bytes == walk->used, "used after a grow");
    STRESS_EXPECT(result.old_base == walk->base, "old_base after a grow");
    STRESS_EXPECT((result.base != walk->base) ==
                      (result.path == ASHLAR_RANGE_PATH_MOVED),
                  "path %u with another base", result.path);
    STRESS_EXPECT(walk->may_move || result.base == walk->base, "it moved");
    walk->base = result.base;
    return status;
}

static enum ashlar_status do_shrink(struct walk *walk)
{
    struct ashlar_range_result result = ASHLAR_RANGE_RESULT_INIT;
    struct ashlar_fence fences[2];
    size_t n = choose_fences(walk, fences);
    uint64_t total = below(walk, walk->used + 1);
    uint64_t before = walk->trial.range->committed;
    enum ashlar_status status =
        ashlar_range_shrink_to(walk->trial.range, total, fences, n, &result);

    if (status == ASHLAR_OK) {
        walk->used = total;
        STRESS_EXPECT(result.released_bytes == before - result.committed_bytes,
                      "released by a shrink");
    }
    return status;
}

/* A part of what is used; 0 when nothing is. */
static uint64_t choose_part(struct walk *walk, uint64_t *offset_out)
{
    *offset_out = walk->used == 0 ? 0 : below(walk, walk->used);
    return walk->used == 0 ? 0 : 1 + below(walk, walk->used - *offset_out);
}

static enum ashlar_status do_decommit(struct walk *walk)
{
    struct ashlar_fence fences[2];
    size_t n = choose_fences(walk, fences);
    uint64_t offset;
    uint64_t bytes = choose_part(walk, &offset);

    if (bytes == 0)
        return ASHLAR_OK;
    return ashlar_range_decommit(walk->trial.range, offset, bytes, fences, n,
                                 NULL);
}

static enum ashlar_status do_commit(struct walk *walk)
{
    uint64_t offset;
    uint64_t bytes = choose_part(walk, &offset);

    if (bytes == 0)
        return ASHLAR_OK;
    return ashlar_range_commit(walk->trial.range, offset, bytes, NULL);
}

static enum ashlar_status do_allow(struct walk *walk)
{
    static const enum ashlar_rights rights[] = {
        ASHLAR_RIGHTS_NONE, ASHLAR_RIGHTS_READ, ASHLAR_RIGHTS_READ_WRITE};

    return ashlar_range_allow(walk->trial.range, 1 + (uint32_t)below(walk, 7),
                              rights[below(walk, 3)]);
}

static enum ashlar_status do_prepare(struct walk *walk)
{
    uint64_t reserved = walk->trial.range->reserved;

    if (reserved > GRANULES * granule_of(walk))
        reserved = GRANULES * granule_of(walk);
    return ashlar_range_prepare(walk->trial.range, 1 + below(walk, reserved),
                                stress_chance(&walk->random, 2)
                                    ? ASHLAR_RANGE_CREATED
                                    : ASHLAR_RANGE_MAPPED);
}

static enum ashlar_status do_retire(struct walk *walk)
{
    struct ashlar_fence fences[2];
    size_t n = choose_fences(walk, fences);

    return ashlar_range_retire_old(walk->trial.range, fences, n);
}

/* The range goes, and another one comes. */
static enum ashlar_status do_destroy(struct walk *walk)
{
    struct ashlar_fence fences[2];
    size_t n = choose_fences(walk, fences);
    enum ashlar_status status =
        ashlar_range_destroy(walk->trial.range, fences, n);

    if (status != ASHLAR_OK)
        return status;
    walk->trial.range = NULL;
    if (walk->wrapped)
        (void)wrap_lift(walk->trial.source);
    (void)make_range(walk);
    return status;
}

static enum ashlar_status do_stream(struct walk *walk)
{
    set_stream(walk, walk->first_stream + below(walk, STREAMS),
               stress_chance(&walk->random, 3));
    return ASHLAR_OK;
}

static enum ashlar_status do_drain(struct walk *walk)
{
    enum ashlar_status status = ashlar_source_drain(walk->trial.source, 0);

    return status == ASHLAR_ERR_BUSY ? ASHLAR_OK : status;
}

static enum ashlar_status do_look(struct walk *walk)
{
    struct ashlar_range_info info = ASHLAR_RANGE_INFO_INIT;
    struct ashlar_range_chunk chunks[GRANULES + 4];
    uint64_t bytes = 0;
    size_t count = 0;
    size_t i;

    STRESS_EXPECT(ashlar_range_query(walk->trial.range, &info) == ASHLAR_OK,
                  "query");
    STRESS_EXPECT(info.used_bytes == walk->used && info.base == walk->base,
                  "used or base");
    STRESS_EXPECT(ashlar_range_chunks(walk->trial.range, chunks, GRANULES + 4,
                                      &count) == ASHLAR_OK &&
                      count == info.chunk_count,
                  "%zu chunks", count);
    for (i = 0; i < count && i < GRANULES + 4; i++)
        bytes += chunks[i].bytes;
    STRESS_EXPECT(bytes == info.committed_bytes, "committed");
    STRESS_EXPECT(
        ashlar_range_find(info.base + below(walk, granule_of(walk))) ==
            walk->trial.range,
        "find");
    return ASHLAR_OK;
}

static enum ashlar_status (*const verbs[])(struct walk *) = {
    do_grow,     do_grow,   do_grow,     do_grow,    do_shrink, do_shrink,
    do_decommit, do_commit, do_decommit, do_commit,  do_allow,  do_prepare,
    do_retire,   do_look,   do_stream,   do_stream,  do_drain,  do_prepare,
    do_retire,   do_grow,   do_shrink,   do_destroy,
};

/* --- steps ---------------------------------------------------------------- */

/* Let the next operations fail, or hints be treated in another way. */
static void choose_luck(struct walk *walk)
{
    struct wrap_fault fault = {.at = 1 + below(walk, 6)};

    if (stress_chance(&walk->random, 16))
        wrap_of(walk->trial.source)->hint =
            (enum wrap_hint)below(walk, WRAP_HINTS);
    if (!stress_chance(&walk->random, 4))
        return;
    fault.then = stress_chance(&walk->random, 2) ? fault.at + 1 : 0;
    fault.for_ever = stress_chance(&walk->random, 4);
    fault.stuck = stress_chance(&walk->random, 4);
    wrap_arm(walk->trial.source, fault);
}

/* Whether a refusal is one that may come of this state. */
static bool is_explained(const struct walk *walk, enum ashlar_status status,
                         bool failed)
{
    switch (status) {
    case ASHLAR_ERR_BUSY:
    case ASHLAR_ERR_NO_ROOM:
        return true;
    case ASHLAR_ERR_NO_DEVICE_MEMORY:
        return failed || !walk->alone;
    default:
        return failed;
    }
}

static void check_all(struct walk *walk)
{
    const char *wrong = walk->wrapped && walk->alone
                            ? trial_wrong(&walk->trial)
                            : trial_contents(&walk->trial);

    STRESS_EXPECT(wrong == NULL, "step %lu: %s", (unsigned long)walk->steps,
                  wrong);
}

static void step(struct walk *walk)
{
    const size_t kinds = sizeof(verbs) / sizeof(verbs[0]);
    struct ashlar_range *range = walk->trial.range;
    struct ashlar_range_info before = ASHLAR_RANGE_INFO_INIT;
    struct ashlar_range_info after = ASHLAR_RANGE_INFO_INIT;
    size_t kind = below(walk, kinds);
    enum ashlar_status status;
    uint64_t failures = 0;

    (void)ashlar_range_query(range, &before);
    if (walk->wrapped)
        choose_luck(walk);
    status = verbs[kind](walk);
    if (walk->wrapped)
        failures = wrap_lift(walk->trial.source);
    walk->steps++;
    if (status == ASHLAR_OK) {
        trial_sync(&walk->trial);
    } else {
        walk->refusals++;
        STRESS_EXPECT(is_explained(walk, status, failures != 0),
                      "step %lu, verb %zu: %s", (unsigned long)walk->steps,
                      kind, ashlar_last_error_message());
        (void)ashlar_range_query(range, &after);
        STRESS_EXPECT(memcmp(&before, &after, sizeof(before)) == 0,
                      "step %lu, verb %zu was refused and changed the range",
                      (unsigned long)walk->steps, kind);
    }
    if (status != ASHLAR_OK || walk->steps % 32 == 0)
        check_all(walk);
}

static void walk_on(struct walk *walk, size_t count)
{
    size_t i;

    if (!make_range(walk))
        return;
    for (i = 0; i < count && !stress_failed(); i++)
        step(walk);
    finish_all(walk);
    if (stress_failed())
        return;
    STRESS_EXPECT(ashlar_range_destroy(walk->trial.range, ASHLAR_QUIET, 1) ==
                      ASHLAR_OK,
                  "%s", ashlar_last_error_message());
    walk->trial.range = NULL;
}

static struct walk walk_with(struct ashlar_source *source, uint64_t number,
                             bool wrapped)
{
    static uint64_t rounds;
    struct walk walk = {.wrapped = wrapped};

    walk.trial.source = source;
    walk.trial.granule = source->info.granule;
    walk.inner = wrapped ? &wrap_of(source)->inner : source;
    walk.first_stream = number * STREAMS;
    walk.random = stress_stream(
        __atomic_add_fetch(&rounds, 1, __ATOMIC_RELAXED) << 8 | number);
    return walk;
}

/* --- one thread ----------------------------------------------------------- */

START_TEST(one_thread_and_failures_against_the_model)
{
    struct ashlar_source *source;
    static struct walk walk;
    uint64_t steps = 0;

    do {
        source = wrap_open(NULL);
        walk = walk_with(source, 0, true);
        walk.alone = true;
        walk_on(&walk, stress_count(20000, 1000000));
        stress_verdict();
        OK(ashlar_source_drain(source, 0));
        wrap_close(source);
        ck_assert_uint_eq(source_budget_left(), UINT64_C(16) << 40);
        steps += walk.steps;
    } while (stress_goes_on());
    printf("# %lu operations, %lu of the last round refused\n",
           (unsigned long)steps, (unsigned long)walk.refusals);
}
END_TEST

/* --- many threads --------------------------------------------------------- */

#define THREADS 4

struct crowd {
    struct ashlar_source *source;
    bool wrapped;
    size_t count;
};

static void walk_in_crowd(unsigned number, void *user)
{
    const struct crowd *crowd = user;
    static __thread struct walk walk;

    walk = walk_with(crowd->source, number + 1, false);
    if (crowd->wrapped)
        walk.inner = &wrap_of(crowd->source)->inner;
    walk_on(&walk, crowd->count);
}

static void crowd_together(struct crowd *crowd)
{
    crowd->count = stress_count(20000, 1000000) / THREADS;
    stress_threads(THREADS, walk_in_crowd, crowd);
    stress_verdict();
    OK(ashlar_source_drain(crowd->source, 0));
}

START_TEST(threads_with_ranges_of_their_own_on_one_source)
{
    struct crowd crowd = {.wrapped = false};

    do {
        OK(engine_open(NULL, &crowd.source));
        crowd_together(&crowd);
        ck_assert_ptr_null(engine_left(crowd.source));
        OK(ashlar_source_close(crowd.source));
        ck_assert_uint_eq(source_budget_left(), UINT64_C(16) << 40);
    } while (stress_goes_on());
}
END_TEST

START_TEST(threads_break_no_rule_of_the_driver)
{
    struct crowd crowd = {.wrapped = true};

    do {
        crowd.source = wrap_open(NULL);
        crowd_together(&crowd);
        wrap_close(crowd.source);
    } while (stress_goes_on());
}
END_TEST

/* --- one range, many threads ---------------------------------------------- */

struct common {
    struct ashlar_source *source;
    struct ashlar_range *range;
    uint64_t granule;
    size_t count;
};

/* Each thread writes its own granules, and finds them as they were. */
static void use_common(unsigned number, void *user)
{
    const struct common *common = user;
    struct stress_random random = stress_stream(0x10000 + number);
    struct ashlar_range_result result = ASHLAR_RANGE_RESULT_INIT;
    struct ashlar_range_info info = ASHLAR_RANGE_INFO_INIT;
    uint64_t written = 0; /* granules of ours, one in THREADS */
    uint64_t total = 0;
    uint64_t *word;
    enum ashlar_status status = ASHLAR_OK;
    size_t i;
    uint64_t k;

    for (i = 0; i < common->count && !stress_failed(); i++) {
        total = (1 + stress_below(&random, 4 + i * 900 / common->count)) *
                common->granule;
        switch (stress_below(&random, 6)) {
        case 0:
            status = ashlar_range_prepare(common->range, total,
                                          i % 2 == 0 ? ASHLAR_RANGE_CREATED
                                                     : ASHLAR_RANGE_MAPPED);
            break;
        case 1:
            status = ashlar_range_allow(common->range, 1 + number,
                                        i % 2 == 0 ? ASHLAR_RIGHTS_READ
                                                   : ASHLAR_RIGHTS_NONE);
            break;
        case 2:
            status = ashlar_range_query(common->range, &info);
            break;
        default:
            status = ashlar_range_grow_to(common->range, total, &result);
            STRESS_EXPECT(result.used_bytes >= total, "grown to less");
            for (; (written * THREADS + number + 1) * common->granule <= total;
                 written++) {
                word = (uint64_t *)(uintptr_t)(result.base +
                                               (written * THREADS + number) *
                                                   common->granule);
                STRESS_EXPECT(*word == 0, "not fresh");
                *word = written * THREADS + number + 1;
            }
        }
        STRESS_EXPECT(status == ASHLAR_OK, "%s", ashlar_last_error_message());
    }
    for (k = 0; k < written && !stress_failed(); k++) {
        word = (uint64_t *)(uintptr_t)(result.base + (k * THREADS + number) *
                                                         common->granule);
        STRESS_EXPECT(*word == k * THREADS + number + 1, "granule %lu of %u",
                      (unsigned long)k, number);
    }
}

START_TEST(one_range_is_used_by_many_threads)
{
    struct ashlar_range_options options = ASHLAR_RANGE_OPTIONS_INIT;
    struct common common;
    const char *wrong;

    do {
        common.source = wrap_open(NULL);
        common.granule = common.source->info.granule;
        common.count = stress_count(2000, 50000) / THREADS;
        options.reserve_bytes = 1024 * common.granule;
        options.chunk_max_bytes = 4 * common.granule;
        OK(ashlar_range_create(common.source, &options, &common.range));
        stress_threads(THREADS, use_common, &common);
        stress_verdict();
        wrong = ranges_records(common.source, &common.range, 1);
        ck_assert_msg(wrong == NULL, "%s", wrong);
        OK(ashlar_range_destroy(common.range, ASHLAR_QUIET, 1));
        wrap_close(common.source);
    } while (stress_goes_on());
}
END_TEST

static Suite *stress_range_suite(void)
{
    Suite *suite = suite_create("stress_range");
    TCase *test = tcase_create("random operations");

    tcase_add_test(test, one_thread_and_failures_against_the_model);
    tcase_add_test(test, threads_with_ranges_of_their_own_on_one_source);
    tcase_add_test(test, threads_break_no_rule_of_the_driver);
    tcase_add_test(test, one_range_is_used_by_many_threads);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    stress_begin();
    return suite_run(stress_range_suite());
}
