/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "range/transaction.h"

#include "base/error.h"
#include "source/call.h"

enum ashlar_status transaction_begin(struct transaction *transaction,
                                     struct ashlar_range *range, uint32_t steps)
{
    *transaction = (struct transaction){.range = range};
    /* A stretch that stays mapped haunts the range: room for each. What is to be
     * undone now is what the range's end has to do later. */
    if (vector_make_room(&range->ghosts, steps, sizeof(struct range_ghost)) ==
            0 &&
        range_make_end(range, steps) == 0)
        transaction->undo = retire_item_create(range->owner, steps, 0);
    if (transaction->undo != NULL)
        return ASHLAR_OK;
    return error_set(ASHLAR_ERR_NO_MEMORY,
                     "no host memory to note how %lu steps are undone",
                     (unsigned long)steps);
}

void transaction_commit(struct transaction *transaction)
{
    struct retire_item *undo = transaction->undo;

    undo->step_count = 0;
    if (transaction->stray.kind != RETIRE_RELEASE) {
        retire_item_drop(undo);
        return;
    }
    retire_item_add(undo, RETIRE_RELEASE, transaction->stray.what,
                    transaction->stray.bytes);
    retire_item_queue(transaction->range->source, undo);
}

/* The stretches of this range that the undo unmaps, as ghosts. */
static void raise_ghosts(struct transaction *transaction)
{
    struct ashlar_range *range = transaction->range;
    struct retire_item *undo = transaction->undo;
    struct range_ghost ghost;
    uint32_t i;

    for (i = 0; i < transaction->unmaps; i++) {
        if (undo->steps[i].what < range->base ||
            undo->steps[i].what >= range->base + range->reserved)
            continue;
        ghost.offset = undo->steps[i].what - range->base;
        ghost.bytes = undo->steps[i].bytes;
        ghost.item = undo;
        __atomic_fetch_add(&undo->references, 1, __ATOMIC_RELAXED);
        vector_append(&range->ghosts, &ghost, sizeof(ghost));
    }
}

void transaction_abort(struct transaction *transaction)
{
    struct retire_item *undo = transaction->undo;

    if (transaction->stray.kind == RETIRE_RELEASE)
        retire_item_add(undo, RETIRE_RELEASE, transaction->stray.what,
                        transaction->stray.bytes);
    if (undo->step_count == 0) {
        undo->unmapped = 1;
        retire_item_drop(undo);
        return;
    }
    raise_ghosts(transaction);
    retire_item_queue(transaction->range->source, undo);
    (void)range_haunted(transaction->range, 0, 0);
}

/* Add a step where its kind belongs. */
static void note(struct transaction *transaction, enum retire_kind kind,
                 uint64_t what, uint64_t bytes)
{
    struct retire_item *undo = transaction->undo;
    uint32_t at = undo->step_count;
    uint32_t i;

    if (kind == RETIRE_UNMAP)
        at = transaction->unmaps++;
    else if (kind == RETIRE_DESTROY)
        at = transaction->unmaps + transaction->destroys++;
    retire_item_add(undo, kind, what, bytes);
    for (i = undo->step_count - 1; i > at; i--)
        undo->steps[i] = undo->steps[i - 1];
    undo->steps[at] = (struct retire_step){kind, what, bytes, {0, 0}};
}

/* An operation that asks for memory or addresses, tried until it is in vain. */
struct attempt {
    bool crowded; /* something waits to be given back */
    struct error before;
};

static void attempt_begin(struct transaction *transaction,
                          struct attempt *attempt)
{
    struct ashlar_source *source = transaction->range->source;

    attempt->crowded = !retire_is_empty(&source->retire);
    if (!attempt->crowded)
        return;
    error_copy(&attempt->before);
    transaction->patience.given_back = retire_given_back(source);
}

/* Whether to try again what was not to be had. */
static bool attempt_again(struct transaction *transaction,
                          const struct attempt *attempt)
{
    return attempt->crowded &&
           retire_await(transaction->range->source, &transaction->patience);
}

static void attempt_end(const struct attempt *attempt,
                        enum ashlar_status status)
{
    if (attempt->crowded && status == ASHLAR_OK)
        error_restore(&attempt->before);
}

enum ashlar_status transaction_reserve(struct transaction *transaction,
                                       uint64_t bytes, uint64_t hint,
                                       uint64_t *address_out)
{
    struct ashlar_range *range = transaction->range;
    uint64_t alignment = hint == 0 ? range->alignment : range->granule;
    enum ashlar_status status;
    struct attempt attempt;

    attempt_begin(transaction, &attempt);
    do {
        transaction->calls++;
        status =
            source_reserve(range->source, bytes, alignment, hint, address_out);
    } while (status == ASHLAR_ERR_NO_ADDRESS_SPACE && hint == 0 &&
             attempt_again(transaction, &attempt));
    attempt_end(&attempt, status);
    if (status == ASHLAR_OK)
        note(transaction, RETIRE_RELEASE, *address_out, bytes);
    return status;
}

void transaction_give_up_space(struct transaction *transaction)
{
    struct ashlar_source *source = transaction->range->source;
    struct retire_item *undo = transaction->undo;
    struct retire_step last = undo->steps[undo->step_count - 1];
    enum ashlar_status status;
    struct error before;

    error_copy(&before);
    transaction->calls++;
    undo->step_count--;
    status = source_release(source, last.what, last.bytes);
    if (status != ASHLAR_OK && !source_is_gone(status))
        transaction->stray = last;
    error_restore(&before);
}

enum ashlar_status transaction_create(struct transaction *transaction,
                                      uint64_t bytes, uint64_t *handle_out)
{
    struct ashlar_range *range = transaction->range;
    struct ashlar_chunk_request request = {sizeof(request), bytes,
                                           range->export_group};
    enum ashlar_status status;
    struct attempt attempt;

    attempt_begin(transaction, &attempt);
    do {
        transaction->calls++;
        status = source_create(range->source, &request, handle_out);
    } while (status == ASHLAR_ERR_NO_DEVICE_MEMORY &&
             attempt_again(transaction, &attempt));
    attempt_end(&attempt, status);
    if (status == ASHLAR_OK)
        note(transaction, RETIRE_DESTROY, *handle_out, bytes);
    return status;
}

enum ashlar_status transaction_import(struct transaction *transaction, int fd,
                                      uint64_t offset, uint64_t bytes,
                                      uint64_t *handle_out)
{
    struct ashlar_range *range = transaction->range;
    enum ashlar_status status;

    transaction->calls++;
    status = source_import(range->source, fd, offset, bytes, handle_out);
    if (status == ASHLAR_OK)
        note(transaction, RETIRE_DESTROY, *handle_out, bytes);
    return status;
}

enum ashlar_status transaction_map(struct transaction *transaction,
                                   uint64_t address, uint64_t handle,
                                   uint64_t bytes)
{
    struct ashlar_range *range = transaction->range;
    enum ashlar_status status;

    transaction->calls++;
    status = source_map(range->source, address, handle, bytes);
    if (status == ASHLAR_OK)
        note(transaction, RETIRE_UNMAP, address, bytes);
    return status;
}

enum ashlar_status transaction_allow(struct transaction *transaction,
                                     uint64_t address, uint64_t bytes)
{
    struct ashlar_range *range = transaction->range;

    transaction->calls++;
    return source_allow(range->source, address, bytes, range->access.items,
                        range->access.count);
}

enum ashlar_status transaction_set_rights(struct transaction *transaction,
                                          uint64_t address, uint64_t bytes,
                                          const struct ashlar_access *access,
                                          const struct ashlar_access *before)
{
    struct retire_item *undo = transaction->undo;
    struct ashlar_source *source = transaction->range->source;
    enum ashlar_status status;

    transaction->calls++;
    status = source_allow(source, address, bytes, access, 1);
    if (status == ASHLAR_OK) {
        retire_item_add(undo, RETIRE_ALLOW, address, bytes);
        undo->steps[undo->step_count - 1].access = *before;
    }
    return status;
}
