/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * The sweep: every verb of ranges, with each of its operations and allocations
 * failing in turn, under each policy for hints.
 *
 * After each failure the range is as before, and so is what the source has
 * given out: at once when undoing worked, else once it works again. Then the
 * verb is called again, and the range destroyed, which leaves nothing.
 */
#include "config.h"

#include "fault/fault_range.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "support/engine.h"
#include "support/stress.h"

enum mode {
    ONCE,     /* one operation fails */
    FOR_EVER, /* it and all that follow */
    STUCK,    /* it, and all that undo */
    PAIRS,    /* it and a later one */
    MEMORY_ONCE,
    MEMORY_FOR_EVER,
    MEMORY_STUCK, /* an allocation fails, and all that undo */
    DRIVER_ONCE,
    DRIVER_FOR_EVER,
    DRIVER_PAIRS, /* calls of the driver fail, where there is one */
    MODES
};

static const char *const mode_names[MODES] = {
    "once",          "for ever",    "stuck",
    "a pair",        "memory once", "memory for ever",
    "memory stuck",  "driver once", "driver for ever",
    "a driver pair",
};

static bool is_memory(enum mode mode)
{
    return mode >= MEMORY_ONCE && mode <= MEMORY_STUCK;
}

static bool is_driver(enum mode mode)
{
    return mode >= DRIVER_ONCE && mode <= DRIVER_PAIRS;
}

/* One point of the sweep. */
struct point {
    const struct verb *verb;
    enum wrap_hint hint;
    enum mode mode;
    unsigned at;
    unsigned then; /* of a pair */
};

/* Counted by the children that Check forks. */
static unsigned long *points_tried;
static unsigned *failures_apart;

#define JUDGE(_condition, _what)                                               \
    do {                                                                       \
        const char *judge_what = (_what);                                      \
        if (!(_condition))                                                     \
            ck_abort_msg("%s, hint %d, %s, at %u and %u: %s",                  \
                         point->verb->name, (int)point->hint,                  \
                         mode_names[point->mode], point->at, point->then,      \
                         judge_what);                                          \
    } while (0)

/* Nothing, or what is said to be wrong. */
#define NOTHING_WRONG(_call)                                                   \
    do {                                                                       \
        const char *wrong = (_call);                                           \
        JUDGE(wrong == NULL, wrong);                                           \
    } while (0)

static void arm(const struct point *point, struct ashlar_source *source)
{
    struct wrap_fault fault = {.at = point->at, .then = point->then};

    fault.for_ever = point->mode == FOR_EVER;
    fault.stuck = point->mode == STUCK || point->mode == MEMORY_STUCK;
    if (point->mode >= MEMORY_ONCE)
        fault.at = fault.stuck ? UINT64_MAX : 0;
    wrap_arm(source, fault);
    if (is_memory(point->mode))
        memory_fail_nth(point->at, point->mode == MEMORY_FOR_EVER);
    /* The streams are there before it counts. */
    engine_prepare(STREAM_IDLE);
    engine_prepare(STREAM_BUSY);
    if (is_driver(point->mode))
        engine_fail(point->at, point->then, point->mode == DRIVER_FOR_EVER);
}

/* How many failed, of those that this point is about. */
static unsigned lift(const struct point *point, struct ashlar_source *source)
{
    uint64_t counted = wrap_of(source)->counted;
    uint64_t failures = wrap_lift(source);

    if (is_driver(point->mode))
        return (unsigned)engine_lift();
    if (point->mode == STUCK)
        return counted >= point->at;
    if (point->mode < MEMORY_ONCE)
        return (unsigned)failures;
    failures = memory_asked() >= point->at;
    memory_fail_nth(0, false);
    return (unsigned)failures;
}

/* Failures that nothing of the undoing shared. */
static bool undoing_worked(const struct point *point)
{
    return point->mode == ONCE || point->mode == MEMORY_ONCE ||
           point->mode == MEMORY_FOR_EVER || point->mode == DRIVER_ONCE;
}

static void judge_success(const struct point *point, struct trial *trial,
                          const struct before *before)
{
    JUDGE(ashlar_source_drain(trial->source, 0) == ASHLAR_OK,
          ashlar_last_error_message());
    if (trial->range != NULL)
        trial_forget(trial);
    NOTHING_WRONG(trial_wrong(trial));
    JUDGE(point->verb->done(trial, before), "it did not do what it should");
}

static void judge_failure(const struct point *point, struct trial *trial,
                          const struct before *before)
{
    NOTHING_WRONG(before_differs(before, trial));
    JUDGE(!undoing_worked(point) || trial_waiting(trial) == 0,
          "something waits, though undoing worked");
    if (trial_waiting(trial) == 0)
        NOTHING_WRONG(before_given_differs(before, trial));
    /* Every other time the verb itself has to collect what waits. */
    if (point->at % 2 == 0)
        return;
    JUDGE(ashlar_source_drain(trial->source, 0) == ASHLAR_OK,
          ashlar_last_error_message());
    NOTHING_WRONG(before_given_differs(before, trial));
    NOTHING_WRONG(before_differs(before, trial));
}

static enum ashlar_status expected(const struct point *point)
{
    return point->hint == WRAP_GRANTED ? ASHLAR_OK : point->verb->without_hint;
}

/* Whether a refusal is what the failures explain. */
static bool is_explained(const struct point *point, enum ashlar_status status,
                         unsigned failures)
{
    if (status == expected(point))
        return true;
    if (failures == 0)
        return false;
    /* A reservation that fails is a hint that was not granted. */
    if (is_memory(point->mode))
        return status == ASHLAR_ERR_NO_MEMORY ||
               status == point->verb->without_hint;
    return (is_driver(point->mode) && status == ASHLAR_ERR_NO_MEMORY) ||
           status == ASHLAR_ERR_DRIVER || status == ASHLAR_ERR_NO_ROOM ||
           status == ASHLAR_ERR_NO_ADDRESS_SPACE ||
           status == ASHLAR_ERR_NO_DEVICE_MEMORY || status == ASHLAR_ERR_LIMIT;
}

/* Returns how many failures the verb met. */
static unsigned try_point(const struct point *point)
{
    struct trial trial;
    struct before before;
    enum ashlar_status status;
    unsigned failures;

    uint64_t budget = source_budget_left();

    point->verb->setup(&trial);
    wrap_of(trial.source)->hint = point->hint;
    before_take(&before, &trial);
    arm(point, trial.source);
    status = point->verb->run(&trial);
    failures = lift(point, trial.source);
    JUDGE(is_explained(point, status, failures), ashlar_status_name(status));
    JUDGE(status == ASHLAR_OK || ashlar_last_error() == status,
          "the last error is another");
    if (status == ASHLAR_OK)
        judge_success(point, &trial, &before);
    else
        judge_failure(point, &trial, &before);
    if (status != ASHLAR_OK) {
        status = point->verb->run(&trial);
        JUDGE(status == expected(point), ashlar_last_error_message());
        if (status == ASHLAR_OK)
            judge_success(point, &trial, &before);
    }
    before_free(&before);
    trial_close(&trial);
    JUDGE(source_budget_left() == budget, "the budget is not given back");
    if (failures != 0)
        __atomic_fetch_add(points_tried, 1, __ATOMIC_RELAXED);
    return failures;
}

/* Ranges that are there all the time. */
static void make_others(unsigned count)
{
    static struct trial others;
    static struct ashlar_range *ranges[8];
    struct ashlar_range_options options;
    unsigned i;

    trial_open(&others, NULL);
    options = trial_options(&others, 4, 0, 0);
    for (i = 0; i < count; i++)
        OK(ashlar_range_create(others.source, &options, &ranges[i]));
}

/* What is made once for the process is there before it counts. */
static void prepare(const struct verb *verb)
{
    struct trial trial;

    if (verb->others != 0)
        make_others(verb->others);
    verb->setup(&trial);
    trial_close(&trial);
}

/* Whether each point is to have a process of its own. */
static bool is_apart(const struct verb *verb)
{
    const char *fork_option = getenv("CK_FORK");

    return verb->others != 0 &&
           (fork_option == NULL || strcmp(fork_option, "no") != 0);
}

/*
 * The same in a process of its own, when the table of ranges is full: the first
 * success makes room in it for good. What fails there, fails here.
 */
static unsigned try_apart(const struct point *point)
{
    int status;
    pid_t child;

    if (!is_apart(point->verb))
        return try_point(point);
    (void)fflush(stdout);
    child = fork();
    if (child == 0) {
        prepare(point->verb);
        *failures_apart = try_point(point);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
        _exit(WEXITSTATUS(status)); /* it has said what is wrong */
    ck_assert_int_eq(status, 0);
    return *failures_apart;
}

static void sweep_pairs(struct point point)
{
    unsigned first = 1;

    for (point.at = 1; first != 0; point.at++) {
        point.then = 0;
        first = try_apart(&point);
        point.then = point.at + 1;
        while (first != 0 && try_apart(&point) == 2)
            point.then++;
    }
}

static void sweep(const struct verb *verb, enum mode mode)
{
    struct point point = {.verb = verb, .mode = mode};
    unsigned hint;

    if (!is_apart(verb))
        prepare(verb);
    for (hint = 0; hint < WRAP_HINTS; hint++) {
        point.hint = (enum wrap_hint)hint;
        point.at = 1;
        point.then = 0;
        if (mode == PAIRS || mode == DRIVER_PAIRS)
            sweep_pairs(point);
        else
            while (try_apart(&point) != 0)
                point.at++;
    }
}

/* A process for each verb and mode: tables of the process start empty. */
START_TEST(a_failed_verb_changes_nothing_and_can_be_tried_again)
{
    unsigned i = (unsigned)_i / MODES;
    enum mode mode = (enum mode)((unsigned)_i % MODES);
    const struct verb *verb =
        i < verb_count ? &verbs[i] : &share_verbs[i - verb_count];

    if (is_driver(mode) && !engine_has_driver())
        return;
    if ((mode != PAIRS && mode != DRIVER_PAIRS) ||
        (verb->pairs && !stress_is_tsan()))
        sweep(verb, mode);
}
END_TEST

static Suite *fault_range_suite(void)
{
    Suite *suite = suite_create("fault_range");
    TCase *test = tcase_create("sweep");

    tcase_add_loop_test(test,
                        a_failed_verb_changes_nothing_and_can_be_tried_again, 0,
                        (int)((verb_count + share_verb_count) * MODES));
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    struct shared {
        unsigned long points;
        unsigned failures;
    } * shared;
    int result;

    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return suite_skip("no shared memory");
    points_tried = &shared->points;
    failures_apart = &shared->failures;
    result = suite_run(fault_range_suite());
    printf("# %lu points of failure tried\n", *points_tried);
    return result;
}
