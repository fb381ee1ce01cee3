/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Scattering, fences and encoding. */
#include "config.h"

#include "check/trial.h"

#include <stdlib.h>
#include <string.h>

#include "check/content.h"
#include "must.h"

#define MAP_BYTES ASHLAR_TENSOR_MAP_BYTES

/* --- scatter -------------------------------------------------------------- */

#define TABLE_MAPS 64u

struct table {
    struct model model;
    uint64_t address; /* of the table */
    uint64_t staging; /* behind it */
    unsigned char wanted[TABLE_MAPS * MAP_BYTES];
};

static bool table_start(struct table *table, struct subject *subject,
                        uint64_t seed)
{
    struct model *model = &table->model;
    uint64_t g = subject->info.granule;
    uint64_t bytes = (2 * sizeof(table->wanted) + g - 1) / g * g;
    uint32_t chunk;

    if (!model_start(model, subject, seed) ||
        !model_reserve(model, bytes, g, 0) ||
        !model_create(model, bytes, 0, &chunk) ||
        !model_map(model, model->spaces[0].address, chunk, bytes) ||
        !model_allow(model, model->spaces[0].address, bytes,
                     ASHLAR_RIGHTS_READ_WRITE))
        return false;
    table->address = model->spaces[0].address;
    table->staging = table->address + sizeof(table->wanted);
    memset(table->wanted, 0x11, sizeof(table->wanted));
    return content_write(model, table->address, table->wanted,
                         sizeof(table->wanted));
}

static void scatter_some(struct table *table)
{
    static const uint32_t indices[] = {5, 0, 63, 17, 18};
    struct subject *subject = table->model.subject;
    const size_t count = sizeof(indices) / sizeof(indices[0]);
    unsigned char staging[5 * MAP_BYTES];
    unsigned char found[sizeof(table->wanted)];
    size_t i;

    for (i = 0; i < sizeof(staging); i++)
        staging[i] = (unsigned char)(i * 7 + i / MAP_BYTES + 1);
    for (i = 0; i < count; i++)
        memcpy(table->wanted + indices[i] * MAP_BYTES, staging + i * MAP_BYTES,
               MAP_BYTES);
    if (!content_write(&table->model, table->staging, staging,
                       sizeof(staging)) ||
        !content_write(&table->model, table->staging + sizeof(staging), indices,
                       sizeof(indices)) ||
        !model_expect(&table->model, CHECK_SCATTER,
                      CALL(subject, scatter, table->address, table->staging,
                           table->staging + sizeof(staging), (uint32_t)count,
                           0),
                      "scatter()") ||
        !content_wait(&table->model) ||
        !content_read(&table->model, table->address, found, sizeof(found)))
        return;
    check_that(subject->report, CHECK_SCATTER,
               memcmp(found, table->wanted, sizeof(found)) == 0,
               "after scatter() the table is not what it should be");
}

void trial_scatter(struct subject *subject, uint64_t seed)
{
    struct table *table = must_alloc(1, sizeof(*table));
    enum ashlar_status status;

    subject_begin(subject, "scatter_load");
    status = subject->ops.scatter_load(subject->state);
    (void)subject_end(subject, "scatter_load", status);
    if (table_start(table, subject, seed) &&
        model_expect(&table->model, CHECK_SCATTER, status, "scatter_load()"))
        scatter_some(table);
    model_end(&table->model);
    free(table);
}

/* --- fences --------------------------------------------------------------- */

#define FENCES 64

static void drop(struct subject *subject, uint64_t fence)
{
    subject_begin(subject, "fence_drop");
    subject->ops.fence_drop(subject->state, fence);
}

static void many_fences(struct model *model)
{
    struct subject *subject = model->subject;
    uint64_t fences[FENCES];
    size_t count = 0, i;

    while (count < FENCES &&
           model_expect(model, CHECK_FENCES,
                        CALL(subject, fence_record, 0, &fences[count]),
                        "fence_record() on stream 0"))
        count++;
    /* What was recorded last has passed: so have those before it. */
    if (count == FENCES && content_wait(model))
        for (i = 0; i < count; i++) {
            subject_begin(subject, "fence_query");
            check_that(subject->report, CHECK_FENCES,
                       subject->ops.fence_query(subject->state, fences[i]) ==
                           ASHLAR_OK,
                       "a fence has not passed, but a later one of its stream "
                       "has");
        }
    while (count != 0)
        drop(subject, fences[--count]);
}

/* No event has the number 0: refused, or a fence that has passed. */
static void no_event(struct subject *subject)
{
    uint64_t fence;

    if (CALL(subject, fence_event, 0, &fence) != ASHLAR_OK)
        return;
    subject_begin(subject, "fence_query");
    check_that(subject->report, CHECK_FENCES,
               subject->ops.fence_query(subject->state, fence) == ASHLAR_OK,
               "fence_event() took the event 0, which never passes");
    drop(subject, fence);
}

/*
 * Nothing is captured here, and no graph has the number 0: each is refused, or
 * a fence that has passed.
 */
static void no_graph(struct subject *subject)
{
    uint64_t fences[2];
    size_t count = 0;

    if (CALL(subject, fence_capture, 0, &fences[count]) == ASHLAR_OK)
        count++;
    if (CALL(subject, fence_graph, 0, &fences[count]) == ASHLAR_OK)
        count++;
    while (count-- != 0) {
        subject_begin(subject, "fence_query");
        check_that(subject->report, CHECK_FENCES,
                   subject->ops.fence_query(subject->state, fences[count]) ==
                       ASHLAR_OK,
                   "a fence on a graph that is not there does not pass");
        drop(subject, fences[count]);
    }
}

void trial_fences(struct subject *subject, uint64_t seed)
{
    struct model *model = must_alloc(1, sizeof(*model));

    if (model_start(model, subject, seed))
        many_fences(model);
    model_end(model);
    free(model);
    no_event(subject);
    if (subject_can(subject, ASHLAR_CAN_GRAPH))
        no_graph(subject);
}

/* --- encode --------------------------------------------------------------- */

static enum ashlar_status encode(struct subject *subject,
                                 const struct ashlar_spec *spec,
                                 unsigned char *map)
{
    memset(map, 0xa5, 2 * MAP_BYTES);
    return CALL(subject, encode, spec, map);
}

static struct ashlar_spec plain_spec(uint64_t address)
{
    struct ashlar_spec spec = {.size = sizeof(spec),
                               .address = address,
                               .dims = {256, 128},
                               .strides = {512},
                               .box = {64, 64},
                               .element_strides = {1, 1},
                               .rank = 2,
                               .mode = ASHLAR_SPEC_TILED,
                               .dtype = ASHLAR_SPEC_FLOAT16,
                               .swizzle = ASHLAR_SPEC_SWIZZLE_128B};

    return spec;
}

/* 128 bytes, and not one more. */
static bool is_in_bounds(const unsigned char *map)
{
    size_t i;

    for (i = MAP_BYTES; i < 2 * MAP_BYTES; i++)
        if (map[i] != 0xa5)
            return false;
    return true;
}

static void encode_one(struct subject *subject)
{
    _Alignas(128) unsigned char map[2 * MAP_BYTES];
    _Alignas(128) unsigned char again[2 * MAP_BYTES];
    struct ashlar_spec spec = plain_spec(UINT64_C(1) << 32);
    struct check_report *report = subject->report;

    if (!check_that(report, CHECK_ENCODE,
                    encode(subject, &spec, map) == ASHLAR_OK &&
                        encode(subject, &spec, again) == ASHLAR_OK,
                    "encode() refuses a plain spec of 256 x 128 halves"))
        return;
    check_that(report, CHECK_ENCODE, is_in_bounds(map),
               "encode() wrote beyond 128 bytes");
    check_that(report, CHECK_ENCODE, memcmp(map, again, MAP_BYTES) == 0,
               "encode() made two maps of one spec");
    spec.address += 4096;
    check_that(report, CHECK_ENCODE,
               CALL(subject, encode_rebase, map, spec.address) == ASHLAR_OK &&
                   encode(subject, &spec, again) == ASHLAR_OK &&
                   memcmp(map, again, MAP_BYTES) == 0,
               "encode_rebase() is not the same as encoding anew");
}

/* Two that are plain, one of no rank, and one behind it. */
static void encode_some(struct subject *subject)
{
    _Alignas(128) unsigned char map[4][2 * MAP_BYTES];
    _Alignas(128) unsigned char alone[2 * MAP_BYTES];
    struct ashlar_spec specs[4];
    struct check_report *report = subject->report;
    void *maps[4];
    size_t done = SIZE_MAX, i;

    for (i = 0; i < 4; i++) {
        specs[i] = plain_spec((UINT64_C(1) << 32) + i * 4096);
        maps[i] = map[i];
    }
    specs[2].rank = 0;
    memset(map, 0xa5, sizeof(map));
    check_that(report, CHECK_ENCODE,
               CALL(subject, encode_many, specs, sizeof(specs[0]), maps, 4,
                    &done) != ASHLAR_OK &&
                   done == 2,
               "encode_many() did not stop at the third spec, of rank 0");
    check_that(report, CHECK_ENCODE,
               map[3][0] == 0xa5 && is_in_bounds(map[3]) &&
                   memcmp(map[3], map[3] + MAP_BYTES, MAP_BYTES) == 0,
               "encode_many() wrote behind what it refused");
    check_that(report, CHECK_ENCODE,
               CALL(subject, encode_many, specs, 3 * sizeof(specs[0]), maps, 2,
                    &done) == ASHLAR_OK &&
                   done == 2 && is_in_bounds(map[0]) && is_in_bounds(map[1]) &&
                   encode(subject, &specs[3], alone) == ASHLAR_OK &&
                   memcmp(map[1], alone, MAP_BYTES) == 0,
               "encode_many() of every third spec is not the same as encode()");
}

void trial_encode(struct subject *subject)
{
    _Alignas(128) unsigned char map[2 * MAP_BYTES];
    struct ashlar_spec spec = plain_spec(UINT64_C(1) << 32);

    encode_one(subject);
    encode_some(subject);
    spec.rank = 0;
    check_that(subject->report, CHECK_ENCODE,
               encode(subject, &spec, map) != ASHLAR_OK,
               "encode() took a spec of rank 0");
    spec.rank = ASHLAR_SPEC_RANK_MAX + 1;
    check_that(subject->report, CHECK_ENCODE,
               encode(subject, &spec, map) != ASHLAR_OK,
               "encode() took a spec of rank 6");
}
