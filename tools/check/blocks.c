/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Blocks of host memory at random: filled, purged, looked at, given back. */
#include "config.h"

#include "check/trial.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/host.h"
#include "must.h"

#define BLOCKS 32

struct block {
    unsigned char *at;
    size_t bytes;
    size_t alignment;
    unsigned char fill;
    size_t purged_from, purged_to; /* reads as zero */
};

struct blocks {
    struct model model; /* for its numbers alone */
    struct subject *subject;
    size_t page;
    size_t count;
    struct block list[BLOCKS];
};

static bool kept(struct blocks *blocks, bool good, const char *what)
{
    if (check_that(blocks->subject->report, CHECK_BLOCKS, good, "%s", what))
        return true;
    blocks->model.broken = true;
    return false;
}

/* What purge() has emptied reads as zero, and the rest as it was filled. */
static void look_at(struct blocks *blocks, const struct block *block)
{
    unsigned char wanted;
    bool good = true;
    size_t i;

    for (i = 0; i < block->bytes && good; i++) {
        wanted =
            i >= block->purged_from && i < block->purged_to ? 0 : block->fill;
        good = block->at[i] == wanted;
    }
    kept(blocks, good,
         "a block does not hold what was written to it, or, "
         "where block_purge() was, zero");
}

static void fill(struct blocks *blocks, struct block *block)
{
    block->fill = (unsigned char)(1 + model_random(&blocks->model, 255));
    block->purged_from = block->purged_to = 0;
    memset(block->at, block->fill, block->bytes);
}

static bool check_place(struct blocks *blocks, const struct block *block)
{
    uintptr_t at = (uintptr_t)block->at;
    bool good = at % block->alignment == 0;
    size_t i;

    if (!kept(blocks, good, "block_alloc() gave a block off its alignment"))
        return false;
    for (i = 0; i < blocks->count && good; i++) {
        uintptr_t other = (uintptr_t)blocks->list[i].at;

        good =
            at + block->bytes <= other || other + blocks->list[i].bytes <= at;
    }
    return kept(blocks, good, "block_alloc() gave a part of another block");
}

static void step_alloc(struct blocks *blocks)
{
    struct subject *subject = blocks->subject;
    size_t wanted =
        1 + model_random(&blocks->model,
                         UINT64_C(1) << model_random(&blocks->model, 20));
    struct block block = {.alignment = sizeof(void *)
                                       << model_random(&blocks->model, 14)};

    subject_begin(subject, "block_usable");
    block.bytes =
        subject->ops.block_usable(subject->state, wanted, block.alignment);
    if (!kept(blocks, block.bytes >= wanted,
              "block_usable() gave less than was asked for"))
        return;
    subject_begin(subject, "block_alloc");
    block.at =
        subject->ops.block_alloc(subject->state, block.bytes, block.alignment);
    if (block.at == NULL && blocks->model.starved && host_has_failed()) {
        check_that(subject->report, CHECK_NO_MEMORY, true, "-");
        return;
    }
    if (!kept(blocks, block.at != NULL,
              "block_alloc() gave nothing for what block_usable() said") ||
        !check_place(blocks, &block))
        return;
    fill(blocks, &block);
    blocks->list[blocks->count++] = block;
}

static void step_free(struct blocks *blocks)
{
    struct subject *subject = blocks->subject;
    size_t i = model_random(&blocks->model, blocks->count);
    struct block block = blocks->list[i];

    look_at(blocks, &block);
    blocks->list[i] = blocks->list[--blocks->count];
    subject_begin(subject, "block_free");
    subject->ops.block_free(subject->state, block.at, block.bytes,
                            block.alignment);
}

static void step_purge(struct blocks *blocks)
{
    struct subject *subject = blocks->subject;
    struct block *block =
        &blocks->list[model_random(&blocks->model, blocks->count)];
    size_t head = -(uintptr_t)block->at % blocks->page;
    size_t pages =
        block->bytes < head ? 0 : (block->bytes - head) / blocks->page;
    size_t first;

    if (pages == 0)
        return;
    fill(blocks, block);
    first = model_random(&blocks->model, pages);
    pages = 1 + model_random(&blocks->model, pages - first);
    block->purged_from = head + first * blocks->page;
    block->purged_to = block->purged_from + pages * blocks->page;
    subject_begin(subject, "block_purge");
    subject->ops.block_purge(subject->state, block->at + block->purged_from,
                             pages * blocks->page);
    look_at(blocks, block);
}

static void step_prefer_huge(struct blocks *blocks)
{
    struct subject *subject = blocks->subject;
    struct block *block =
        &blocks->list[model_random(&blocks->model, blocks->count)];

    subject_begin(subject, "block_prefer_huge");
    subject->ops.block_prefer_huge(subject->state, block->at, block->bytes);
    look_at(blocks, block);
}

static void one_step(struct blocks *blocks)
{
    uint64_t at = model_random(&blocks->model, 16);

    if (blocks->count == 0 || (at < 7 && blocks->count < BLOCKS))
        step_alloc(blocks);
    else if (at < 12)
        step_free(blocks);
    else if (at < 15)
        step_purge(blocks);
    else
        step_prefer_huge(blocks);
}

bool trial_blocks(struct subject *subject, uint64_t seed, uint64_t steps)
{
    struct blocks *blocks = must_alloc(1, sizeof(*blocks));
    bool good;

    blocks->subject = subject;
    blocks->page = (size_t)sysconf(_SC_PAGESIZE);
    blocks->model.seed = 2 * seed + 1;
    for (; steps != 0 && !blocks->model.broken; steps--) {
        blocks->model.starved = model_random(&blocks->model, 16) == 0;
        host_fail_nth(blocks->model.starved ? 1 : 0);
        one_step(blocks);
        host_fail_nth(0);
    }
    blocks->model.starved = false;
    while (blocks->count != 0 && !blocks->model.broken)
        step_free(blocks);
    good = !blocks->model.broken;
    free(blocks);
    return good;
}

/* NULL, and no error set. */
void trial_blocks_limits(struct subject *subject)
{
    void *block;

    subject_begin(subject, "block_alloc");
    block = subject->ops.block_alloc(subject->state, SIZE_MAX / 8, 64);
    check_that(subject->report, CHECK_LIMITS, block == NULL,
               "block_alloc() gave 2^61 bytes");
    check_that(subject->report, CHECK_LIMITS, host_status() == ASHLAR_OK,
               "block_alloc() set an error; NULL says it all");
}
