/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Giving slots back, and letting go what has passed. */
#include "config.h"

#include "tensormap/map_table.h"

#include "base/error.h"
#include "base/memory.h"

/* --- publications ---------------------------------------------------------- */

static void drop_reference(struct publication *publication)
{
    if (--publication->references == 0)
        memory_free(publication);
}

void map_table_set_publication(struct ashlar_tensormap_table *table,
                               uint32_t index, struct publication *publication)
{
    struct publication *before = table->publications[index];

    if (publication != NULL)
        publication->references++;
    table->publications[index] = publication;
    table->words[index] &= ~WORD_NAMES;
    if (publication != NULL)
        table->words[index] |= WORD_NAMES;
    if (before != NULL)
        drop_reference(before);
}

/* A retired slot may be leased again. */
static void free_slot(struct ashlar_tensormap_table *table, uint32_t index)
{
    map_table_set_publication(table, index, NULL);
    bits_set(table->free, index, 1);
    table->free_count++;
    table->waiting--;
}

static void unlink_publication(struct ashlar_tensormap_table *table,
                               struct publication *publication)
{
    if (publication->previous == NULL)
        table->pending = publication->next;
    else
        publication->previous->next = publication->next;
    if (publication->next == NULL)
        table->pending_last = publication->previous;
    else
        publication->next->previous = publication->previous;
}

/* What it queued is done: what it held is had again. */
static void pass(struct ashlar_tensormap_table *table,
                 struct publication *publication)
{
    uint32_t index, next;

    unlink_publication(table, publication);
    retire_item_drop(publication->fences);
    publication->fences = NULL;
    bits_set(table->staging_free, publication->staging_first,
             publication->staging_count);
    table->staging_used -= publication->staging_count;
    if (publication->graph)
        table->in_graphs -= publication->references - 1;
    for (index = publication->waiting; index != NO_SLOT; index = next) {
        next = table->next[index];
        free_slot(table, index);
    }
    drop_reference(publication);
}

static bool is_done(const struct publication *publication)
{
    return !publication->lost && retire_item_passed(publication->fences);
}

/*
 * A graph has no place in a stream's order: it may be gone while work is left
 * that was queued before, for a slot that the graph had after it. One that is lost
 * has no slot of the graph's, which would be lost, too.
 */
static bool has_passed(const struct publication *publication)
{
    const struct publication *earlier = publication->previous;
    bool passed = is_done(publication);

    if (!publication->graph)
        return passed;
    for (; passed && earlier != NULL; earlier = earlier->previous)
        passed = earlier->graph || earlier->lost || is_done(earlier);
    return passed;
}

bool map_table_is_pending(struct ashlar_tensormap_table *table, uint32_t index)
{
    struct publication *publication = table->publications[index];
    struct error before;
    bool passed;

    if (publication == NULL || publication->fences == NULL)
        return false;
    error_copy(&before);
    passed = has_passed(publication);
    error_restore(&before);
    if (passed)
        pass(table, publication);
    return !passed;
}

/* --- batches --------------------------------------------------------------- */

/* The fences of who retired it have passed: its publication's are left. */
static void send_on(struct ashlar_tensormap_table *table, uint32_t index)
{
    struct publication *last = table->publications[index];

    if (last == NULL || last->fences == NULL) {
        free_slot(table, index);
        return;
    }
    table->next[index] = last->waiting;
    last->waiting = index;
}

static void end_batch(struct ashlar_tensormap_table *table, struct batch *batch)
{
    uint32_t index, next;

    for (index = batch->first; index != NO_SLOT; index = next) {
        next = table->next[index];
        send_on(table, index);
    }
    retire_item_drop(batch->fences);
    memory_free(batch);
}

static void settle_batches(struct ashlar_tensormap_table *table,
                           size_t patience)
{
    struct batch **at = &table->batches, *batch, *last = NULL;

    while ((batch = *at) != NULL && patience != 0) {
        if (retire_item_passed(batch->fences)) {
            *at = batch->next;
            end_batch(table, batch);
        } else {
            last = batch;
            at = &batch->next;
            patience--;
        }
    }
    if (*at == NULL)
        table->batches_last = last;
}

static void settle_publications(struct ashlar_tensormap_table *table,
                                size_t patience)
{
    struct publication *publication = table->pending, *next;

    for (; publication != NULL && patience != 0; publication = next) {
        next = publication->next;
        if (has_passed(publication))
            pass(table, publication);
        else
            patience--;
    }
}

void map_table_settle(struct ashlar_tensormap_table *table, size_t patience)
{
    struct error before;

    if (table->pending == NULL && table->batches == NULL)
        return;
    error_copy(&before);
    settle_publications(table, patience);
    settle_batches(table, patience);
    error_restore(&before);
}

/* --- retire ---------------------------------------------------------------- */

/* The word of the next lease. */
static void end_lease(struct ashlar_tensormap_table *table, uint32_t index)
{
    uint32_t word = table->words[index];
    uint32_t generation = (word >> WORD_GENERATION_SHIFT) + 1;
    uint32_t bits = word & (WORD_STALE | WORD_NAMES);

    if ((word & WORD_STATE) == ASHLAR_TENSORMAP_PUBLISHED)
        bits |= WORD_STALE;
    if (generation == WORD_GENERATIONS)
        generation = 1; /* a zeroed handle is never of a lease */
    table->words[index] = generation << WORD_GENERATION_SHIFT | bits;
}

static enum ashlar_status
check_handles(struct ashlar_tensormap_table *table,
              const struct ashlar_tensormap_handle *handles, size_t n)
{
    size_t i;

    /* Taken in hand, what is there twice is found. */
    for (i = 0; i < n; i++) {
        if (!is_live(table, handles[i]) ||
            (table->words[handles[i].index] & WORD_IN_HAND) != 0)
            break;
        table->words[handles[i].index] |= WORD_IN_HAND;
    }
    if (i == n)
        return ASHLAR_OK;
    (void)map_table_refuse_handle(table, handles[i], i, CLAIM_FILL);
    map_table_unclaim(table, handles, i);
    return ashlar_last_error();
}

/* Out of their leases, into a batch, which takes them in their order. */
static enum ashlar_status
retire_slots(struct ashlar_tensormap_table *table,
             const struct ashlar_tensormap_handle *handles, size_t n,
             struct batch *batch)
{
    enum ashlar_status status = check_handles(table, handles, n);
    size_t i;

    if (status != ASHLAR_OK)
        return status;
    for (i = n; i-- > 0;) {
        end_lease(table, handles[i].index);
        table->next[handles[i].index] = batch->first;
        batch->first = handles[i].index;
    }
    table->leased -= n;
    table->waiting += n;
    if (table->batches_last == NULL)
        table->batches = batch;
    else
        table->batches_last->next = batch;
    table->batches_last = batch;
    return ASHLAR_OK;
}

static struct batch *make_batch(size_t fences)
{
    struct batch *batch = memory_zalloc(sizeof(*batch));

    if (batch != NULL) {
        batch->first = NO_SLOT;
        batch->fences = retire_item_create(0, 0, (uint32_t)fences);
        if (batch->fences != NULL)
            return batch;
        memory_free(batch);
    }
    return error_null(ASHLAR_ERR_NO_MEMORY,
                      "no host memory to note what is retired");
}

static enum ashlar_status retire(struct ashlar_tensormap_table *table,
                                 const struct ashlar_tensormap_handle *handles,
                                 size_t n, const struct ashlar_fence *fences,
                                 size_t fence_count)
{
    struct batch *batch = make_batch(fence_count);
    enum ashlar_status status;

    if (batch == NULL)
        return ASHLAR_ERR_NO_MEMORY;
    status = fences_record(table->source, fences, fence_count, batch->fences);
    if (status == ASHLAR_OK) {
        lock_take(&table->lock);
        status = retire_slots(table, handles, n, batch);
        if (status == ASHLAR_OK)
            map_table_settle(table, GLANCE);
        lock_give(&table->lock);
    }
    if (status != ASHLAR_OK) {
        retire_item_drop(batch->fences);
        memory_free(batch);
    }
    return status;
}

enum ashlar_status
ashlar_tensormap_table_retire(struct ashlar_tensormap_table *table,
                              const struct ashlar_tensormap_handle *handles,
                              size_t n, const struct ashlar_fence *fences,
                              size_t fence_count)
{
    static const char call[] = "ashlar_tensormap_table_retire()";
    enum ashlar_status status = map_table_check(table, call);

    if (status == ASHLAR_OK)
        status = fences_check(fences, fence_count, call);
    if (status == ASHLAR_OK && n != 0 && handles == NULL)
        status = map_table_refuse_null(call, "handles");
    return status != ASHLAR_OK || n == 0
               ? status
               : retire(table, handles, n, fences, fence_count);
}
