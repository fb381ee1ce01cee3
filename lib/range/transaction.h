/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The transaction: what every verb that takes several steps goes through.
 *
 * Each step that succeeds writes down how it is undone, in an item for the
 * retire list that was made before the first step. On success the item is
 * dropped. On failure it is queued, and worked off at once: what cannot be
 * undone just now stays in the list, under the range's name, so that nothing is
 * lost and a later call tries again.
 *
 *     begin ─> reserve, create, map, allow ... ─> commit
 *                                             └─> abort (the first error stays)
 *
 * Undoing goes by kind: unmap, then destroy, then release. Rights that are put
 * back are a transaction of their own.
 *
 * Memory or addresses that are missing may be in the hands of another thread,
 * which collects: before they are said to be missing, that thread is waited for,
 * within bounds.
 */
#ifndef ASHLAR_RANGE_TRANSACTION_H
#define ASHLAR_RANGE_TRANSACTION_H

#include <stdint.h>

#include "range/range.h"

struct transaction {
    struct ashlar_range *range;
    struct retire_item *undo;
    uint32_t unmaps; /* steps of each kind in undo, which is kept sorted */
    uint32_t destroys;
    uint32_t calls;           /* into the source */
    struct retire_step stray; /* a reservation that could not be released */
    struct retire_patience patience;
};

/** Start, with room to undo so many steps. The error is set on failure. */
enum ashlar_status transaction_begin(struct transaction *transaction,
                                     struct ashlar_range *range,
                                     uint32_t steps);

/** Everything stands: forget how to undo it. */
void transaction_commit(struct transaction *transaction);

/** Undo everything, and keep the error as it is. */
void transaction_abort(struct transaction *transaction);

/** The steps. Each is as the source's operation, and can be undone. */
enum ashlar_status transaction_reserve(struct transaction *transaction,
                                       uint64_t bytes, uint64_t hint,
                                       uint64_t *address_out);
enum ashlar_status transaction_create(struct transaction *transaction,
                                      uint64_t bytes, uint64_t *handle_out);
enum ashlar_status transaction_import(struct transaction *transaction, int fd,
                                      uint64_t offset, uint64_t bytes,
                                      uint64_t *handle_out);
enum ashlar_status transaction_map(struct transaction *transaction,
                                   uint64_t address, uint64_t handle,
                                   uint64_t bytes);

/** Give all the range's rights on a stretch. Undone by the unmapping. */
enum ashlar_status transaction_allow(struct transaction *transaction,
                                     uint64_t address, uint64_t bytes);

/** Set one location's rights on a stretch where it had others before. */
enum ashlar_status transaction_set_rights(struct transaction *transaction,
                                          uint64_t address, uint64_t bytes,
                                          const struct ashlar_access *access,
                                          const struct ashlar_access *before);

/** Release the reservation made last, which turned out to be of no use. */
void transaction_give_up_space(struct transaction *transaction);

#endif
