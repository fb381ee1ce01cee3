/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * The sweep of tables: every verb, with each of its operations, allocations and
 * calls of a driver failing in turn.
 *
 * After each failure the table is as before, once what had to wait is worked
 * off: its records, its slots, and what the source has given out. Then the verb
 * is called again, and does what it should.
 */
#include "config.h"

#include "support/tables.h"

#include <stdio.h>
#include <sys/mman.h>

#include "base/memory.h"
#include "support/engine.h"
#include "support/stress.h"

#define STREAM UINT64_C(11)
#define HANDS  20

enum mode {
    ONCE,     /* one operation fails */
    FOR_EVER, /* it and all that follow */
    STUCK,    /* it, and all that undo */
    MEMORY_ONCE,
    MEMORY_FOR_EVER, /* allocations do */
    DRIVER_ONCE,
    DRIVER_FOR_EVER, /* calls of the driver do, where there is one */
    MODES
};

static const char *const mode_names[MODES] = {
    "once",        "for ever",       "stuck", "memory once", "memory for ever",
    "driver once", "driver for ever"};

/* What is tried. */
struct desk {
    struct ashlar_source *source;
    struct ashlar_tensormap_table *table; /* NULL: to be made, or gone */
    struct ashlar_tensormap_handle hands[2 * HANDS]; /* more than a block */
    struct ashlar_tensormap_handle picked[HANDS];    /* every other one */
};

struct verb {
    const char *name;
    bool has_table;
    bool published; /* the slots are */
    enum ashlar_status (*run)(struct desk *desk);
    bool (*done)(struct desk *desk);
};

/* One point of the sweep. */
struct point {
    const struct verb *verb;
    uint64_t lacks; /* a set of ASHLAR_CAN_* */
    enum mode mode;
    unsigned at;
};

/* Counted by the children that Check forks. */
static unsigned long *points_tried;

#define JUDGE(_condition, _what)                                               \
    do {                                                                       \
        const char *judge_what = (_what);                                      \
        if (!(_condition))                                                     \
            ck_abort_msg("%s, without %lx, %s, at %u: %s", point->verb->name,  \
                         (unsigned long)point->lacks, mode_names[point->mode], \
                         point->at, judge_what);                               \
    } while (0)

/* --- verbs ----------------------------------------------------------------- */

static enum ashlar_status run_create(struct desk *desk)
{
    struct ashlar_tensormap_table_options options =
        ASHLAR_TENSORMAP_TABLE_OPTIONS_INIT;

    options.max_slots = 3 * tables_granule(desk->source);
    options.initial_slots = 8;
    options.staging_slots = 32;
    return ashlar_tensormap_table_create(desk->source, &options, &desk->table);
}

static bool created(struct desk *desk)
{
    return tables_info(desk->table).slots >= 8;
}

static enum ashlar_status run_grow(struct desk *desk)
{
    return ashlar_tensormap_table_reserve(desk->table,
                                          2 * tables_granule(desk->source));
}

static bool grown(struct desk *desk)
{
    return tables_info(desk->table).slots > 2 * tables_granule(desk->source);
}

static enum ashlar_status run_publish(struct desk *desk)
{
    return ashlar_tensormap_table_publish(desk->table, desk->hands, 2 * HANDS,
                                          STREAM);
}

static bool published(struct desk *desk)
{
    return tables_on_device(desk->table, desk->hands[2 * HANDS - 1]) ==
           2 * HANDS;
}

static enum ashlar_status run_scatter(struct desk *desk)
{
    return ashlar_tensormap_table_publish(desk->table, desk->picked, HANDS,
                                          STREAM);
}

static bool scattered(struct desk *desk)
{
    unsigned i;

    for (i = 0; i < HANDS; i++)
        if (tables_on_device(desk->table, desk->picked[i]) != 2 * i + 1)
            return false;
    return true;
}

static enum ashlar_status run_rewrite(struct desk *desk)
{
    return ashlar_tensormap_table_rewrite(desk->table, desk->hands[3],
                                          tables_map(99), STREAM);
}

static bool rewritten(struct desk *desk)
{
    return tables_on_device(desk->table, desk->hands[3]) == 99 &&
           tables_on_host(desk->table, desk->hands[3]) == 99;
}

static enum ashlar_status run_retire(struct desk *desk)
{
    return ashlar_tensormap_table_retire(desk->table, desk->hands, HANDS,
                                         ON_STREAM(STREAM));
}

static bool retired(struct desk *desk)
{
    return tables_info(desk->table).leased == HANDS &&
           tables_info(desk->table).waiting == 0;
}

static enum ashlar_status run_destroy(struct desk *desk)
{
    enum ashlar_status status =
        ashlar_tensormap_table_destroy(desk->table, ON_STREAM(STREAM));

    if (status == ASHLAR_OK)
        desk->table = NULL;
    return status;
}

static bool destroyed(struct desk *desk)
{
    return model_is_empty(&wrap_of(desk->source)->model);
}

static const struct verb verbs[] = {
    {"create", false, false, run_create, created},
    {"grow", true, false, run_grow, grown},
    {"publish neighbours", true, false, run_publish, published},
    {"publish scattered", true, false, run_scatter, scattered},
    {"rewrite", true, true, run_rewrite, rewritten},
    {"retire", true, true, run_retire, retired},
    {"destroy", true, true, run_destroy, destroyed},
};

#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

/* --- a point --------------------------------------------------------------- */

/* Room to grow for what grows. */
static size_t slots_for(const struct point *point, struct ashlar_source *source)
{
    return point->verb->run == run_grow ? 3 * tables_granule(source) + 2 * HANDS
                                        : 4 * HANDS;
}

static void lay(struct desk *desk, const struct point *point)
{
    unsigned i;

    *desk = (struct desk){.source = tables_source(point->lacks)};
    engine_prepare(STREAM);
    if (!point->verb->has_table)
        return;
    desk->table = tables_make(desk->source, slots_for(point, desk->source), 32);
    tables_lease(desk->table, 2 * HANDS, 1, desk->hands);
    for (i = 0; i < HANDS; i++)
        desk->picked[i] = desk->hands[2 * i];
    if (point->verb->published)
        OK(ashlar_tensormap_table_publish(desk->table, desk->hands, 2 * HANDS,
                                          STREAM));
    (void)tables_info(desk->table);
}

static void arm(const struct point *point, struct ashlar_source *source)
{
    struct wrap_fault fault = {.at = point->at,
                               .for_ever = point->mode == FOR_EVER,
                               .stuck = point->mode == STUCK};

    if (point->mode <= STUCK)
        wrap_arm(source, fault);
    else if (point->mode <= MEMORY_FOR_EVER)
        memory_fail_nth(point->at, point->mode == MEMORY_FOR_EVER);
    else
        engine_fail(point->at, 0, point->mode == DRIVER_FOR_EVER);
}

/* Whether the failure was met. */
static bool lift(const struct point *point, struct ashlar_source *source)
{
    uint64_t counted = wrap_of(source)->counted;
    uint64_t failures = wrap_lift(source);

    if (point->mode == STUCK)
        return counted >= point->at;
    if (point->mode < STUCK)
        return failures != 0;
    if (point->mode > MEMORY_FOR_EVER)
        return engine_lift() != 0;
    failures = memory_asked() >= point->at;
    memory_fail_nth(0, false);
    return failures != 0;
}

static struct tables_state *save(struct desk *desk)
{
    return desk->table == NULL ? NULL : tables_save(desk->table);
}

/*
 * Where the fence behind what was queued failed as well, its staging is not had
 * again before the verb is tried again on that stream; and where a growth could
 * not be undone for want of memory, the memory is there for the next.
 */
static bool is_open(const struct point *point, const struct desk *desk)
{
    const struct publication *pending = desk->table->pending;

    return (pending != NULL && pending->lost) ||
           (point->mode == MEMORY_FOR_EVER && point->verb->run == run_grow);
}

/* What failed to be undone is, now that nothing fails. */
static void judge_failure(const struct point *point, struct desk *desk,
                          struct tables_state *before)
{
    struct tables_state *after;

    JUDGE(ashlar_source_drain(desk->source, 0) == ASHLAR_OK,
          ashlar_last_error_message());
    if (desk->table == NULL) {
        JUDGE(model_is_empty(&wrap_of(desk->source)->model),
              "something is left");
        return;
    }
    after = save(desk);
    tables_check(desk->table);
    JUDGE(is_open(point, desk) || tables_differ(before, after) == NULL,
          tables_differ(before, after));
    tables_forget(after);
}

static void judge_success(const struct point *point, struct desk *desk)
{
    JUDGE(ashlar_source_drain(desk->source, 0) == ASHLAR_OK,
          ashlar_last_error_message());
    JUDGE(point->verb->done(desk), "it did not do what it should");
    if (desk->table == NULL)
        return;
    JUDGE(tables_info(desk->table).staging_used == 0 ||
              desk->table->pending->lost,
          "staging is still in use");
    tables_check(desk->table);
}

/* Also what a fence that could not be made left behind. */
static void clear(const struct point *point, struct desk *desk)
{
    if (desk->table != NULL)
        JUDGE(ashlar_tensormap_table_destroy(desk->table, QUIET) == ASHLAR_OK,
              ashlar_last_error_message());
    JUDGE(ashlar_source_drain(desk->source, 0) == ASHLAR_OK,
          ashlar_last_error_message());
    wrap_close(desk->source);
}

static bool try_point(const struct point *point)
{
    struct tables_state *before;
    enum ashlar_status status;
    struct desk desk;
    bool met;

    lay(&desk, point);
    before = save(&desk);
    arm(point, desk.source);
    status = point->verb->run(&desk);
    met = lift(point, desk.source);
    JUDGE(met || status == ASHLAR_OK, ashlar_last_error_message());
    if (status != ASHLAR_OK) {
        JUDGE(ashlar_last_error() == status, "the last error is another");
        judge_failure(point, &desk, before);
        status = point->verb->run(&desk);
        JUDGE(status == ASHLAR_OK, ashlar_last_error_message());
    }
    judge_success(point, &desk);
    if (before != NULL)
        tables_forget(before);
    clear(point, &desk);
    if (met)
        __atomic_fetch_add(points_tried, 1, __ATOMIC_RELAXED);
    return met;
}

/* With all that a source can do, without reaching the host, without a kernel. */
static const uint64_t lacks[] = {0, ASHLAR_CAN_HOST_ACCESS, ASHLAR_CAN_SCATTER};

#define LACKS (sizeof(lacks) / sizeof(lacks[0]))

START_TEST(a_failed_verb_changes_nothing_and_can_be_tried_again)
{
    unsigned i = (unsigned)_i;
    struct point point = {.verb = &verbs[i / MODES / LACKS],
                          .lacks = lacks[i / MODES % LACKS],
                          .mode = (enum mode)(i % MODES),
                          .at = 1};

    if (point.mode >= DRIVER_ONCE && !engine_has_driver())
        return;
    /* A device's memory is none of the host's to begin with. */
    if (point.lacks == ASHLAR_CAN_HOST_ACCESS && !engine_is_vm())
        return;
    while (try_point(&point))
        point.at++;
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fault_map_table");
    TCase *tcase = tcase_create("sweep");
    int result;

    stress_begin();
    tcase_add_loop_test(tcase,
                        a_failed_verb_changes_nothing_and_can_be_tried_again, 0,
                        (int)(VERBS * LACKS * MODES));
    suite_add_tcase(suite, tcase);
    points_tried = mmap(NULL, sizeof(*points_tried), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (points_tried == MAP_FAILED)
        return 1;
    result = suite_run(suite);
    printf("# %lu points of failure tried\n", *points_tried);
    return result;
}
