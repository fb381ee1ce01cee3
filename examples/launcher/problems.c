/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "problems.h"

#include <stdlib.h>
#include <string.h>

#include "must.h"

#define ALIGNMENT UINT64_C(128) /* of a matrix; the encoder asks for 16 */
#define CLEARED   0xEE          /* the bytes of what was not copied */

static uint64_t bytes_of(const struct problem *problem)
{
    return (uint64_t)problem->rows * problem->columns * sizeof(uint32_t);
}

static uint32_t tiles(uint32_t elements)
{
    return (elements + KERNELS_TILE - 1) / KERNELS_TILE;
}

/* --- on the host ----------------------------------------------------------- */

/* 1 to 64 rows of 4 to 64 elements: what fits one tile, and what does not. */
static struct problem shape(size_t i, uint64_t offset)
{
    struct problem problem = {(uint32_t)(1 + i * 7 % 64),
                              (uint32_t)(4 * (1 + i * 5 % 16)), offset};

    return problem;
}

static struct ashlar_spec spec_of(const struct problem *problem)
{
    struct ashlar_spec spec = ASHLAR_SPEC_INIT;

    spec.dtype = ASHLAR_SPEC_UINT32;
    spec.rank = 2;
    spec.dims[0] = problem->columns;
    spec.dims[1] = problem->rows;
    spec.box[0] = spec.box[1] = KERNELS_TILE;
    spec.element_strides[0] = spec.element_strides[1] = 1;
    MUST(ashlar_spec_pack(&spec));
    return spec;
}

static struct kernels_job job_of(const struct problem *problem, size_t i)
{
    struct kernels_job job = {(uint32_t)(2 * i), (uint32_t)(2 * i + 1),
                              tiles(problem->columns), tiles(problem->rows)};

    return job;
}

void problems_make(struct problems *problems, size_t count)
{
    struct problem *each = must_allocate(count, sizeof(*each));
    uint64_t offset = 0;
    size_t i;

    memset(problems, 0, sizeof(*problems));
    problems->count = count;
    problems->each = each;
    problems->specs = must_allocate(2 * count, sizeof(*problems->specs));
    problems->jobs = must_allocate(count, sizeof(*problems->jobs));
    for (i = 0; i < count; i++) {
        each[i] = shape(i, offset);
        problems->specs[2 * i] = spec_of(&each[i]);
        problems->specs[2 * i + 1] = problems->specs[2 * i];
        problems->jobs[i] = job_of(&each[i], i);
        offset += (bytes_of(&each[i]) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    problems->part_bytes = offset;
    problems->given = must_allocate(1, offset);
    problems->got = must_allocate(1, offset);
    for (i = 0; i < offset / sizeof(uint32_t); i++)
        problems->given[i] = (uint32_t)i * UINT32_C(2654435761);
}

/* --- on the device --------------------------------------------------------- */

/* Such a copy may be on its way still when the call returns, and the streams
 * here do not wait for the default one. */
static void upload(uint64_t to, const void *from, uint64_t bytes)
{
    CU(driver.MemcpyHtoD(to, from, bytes));
    CU(driver.CtxSynchronize());
}

void problems_place(struct problems *problems, struct ashlar_source *source)
{
    struct ashlar_range_result result = ASHLAR_RANGE_RESULT_INIT;
    uint64_t parts = 2 * problems->part_bytes;
    size_t i;

    MUST(ashlar_range_create(source, NULL, &problems->range));
    MUST(ashlar_range_grow_to(
        problems->range, parts + problems->count * sizeof(struct kernels_job),
        &result));
    problems->from = result.base;
    problems->to = result.base + problems->part_bytes;
    problems->jobs_address = result.base + parts;
    for (i = 0; i < problems->count; i++) {
        problems->specs[2 * i].address =
            problems->from + problems->each[i].offset;
        problems->specs[2 * i + 1].address =
            problems->to + problems->each[i].offset;
    }
    upload(problems->from, problems->given, problems->part_bytes);
}

void problems_place_jobs(struct problems *problems)
{
    upload(problems->jobs_address, problems->jobs,
           problems->count * sizeof(*problems->jobs));
}

void problems_clear(const struct problems *problems, CUstream stream)
{
    CU(driver.MemsetD8Async(problems->to, CLEARED, problems->part_bytes,
                            stream));
}

static bool is_cleared(const unsigned char *bytes, uint64_t count)
{
    uint64_t i;

    for (i = 0; i < count; i++)
        if (bytes[i] != CLEARED)
            return false;
    return true;
}

/* The matrix came, and what lies between it and the next is as it was. */
static bool is_right(const struct problems *problems, size_t i)
{
    const struct problem *problem = &problems->each[i];
    uint64_t end = i + 1 < problems->count ? problem[1].offset
                                           : problems->part_bytes,
             bytes = bytes_of(problem);
    const unsigned char *given = (const unsigned char *)problems->given,
                        *got = (const unsigned char *)problems->got;

    return memcmp(given + problem->offset, got + problem->offset, bytes) == 0 &&
           is_cleared(got + problem->offset + bytes,
                      end - problem->offset - bytes);
}

size_t problems_count_right(struct problems *problems)
{
    size_t right = 0, i;

    CU(driver.MemcpyDtoH(problems->got, problems->to, problems->part_bytes));
    for (i = 0; i < problems->count; i++)
        right += is_right(problems, i);
    return right;
}

void problems_destroy(struct problems *problems,
                      const struct ashlar_fence *fences, size_t n)
{
    if (problems->range != NULL)
        MUST(ashlar_range_destroy(problems->range, fences, n));
    free(problems->each);
    free(problems->specs);
    free(problems->jobs);
    free(problems->given);
    free(problems->got);
}
