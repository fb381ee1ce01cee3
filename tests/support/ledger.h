/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * A pool, and our own book on it: which slots are out, and what is in them.
 *
 *     claims[index]  1 while the test holds the slot of that pool index
 *     the slot       filled with a stamp that only its holder knows
 *
 * A slot that is handed out twice is found at once by its claim, and one that
 * the pool writes to, or overlaps with another, by its stamp. Claims are
 * relaxed atomics: they order nothing, so that ThreadSanitizer sees just the
 * order that the pool itself gives.
 */
#ifndef ASHLAR_TESTS_SUPPORT_LEDGER_H
#define ASHLAR_TESTS_SUPPORT_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ashlar.h>

/* A pool under test may have so many slots. */
#define LEDGER_SLOTS ((size_t)1 << 20)

struct ledger {
    struct ashlar_pool *pool;
    size_t object_bytes;
    size_t stride;
    size_t alignment;
    bool checked;
    unsigned char *claims;
};

/* Make a pool of a type of so many bytes. Notes a failure, and returns false,
 * when it cannot be made. */
bool ledger_open(struct ledger *ledger, size_t bytes, size_t alignment,
                 const struct ashlar_pool_options *options);

/* Destroy the pool, which must not be busy unless forced. */
void ledger_close(struct ledger *ledger, uint32_t flags);

/* A slot, or a run of n when n is not 0, came from the pool: check where it
 * lies and that nobody has it, and stamp it. */
bool ledger_take(struct ledger *ledger, void *slot, size_t n, uint64_t stamp);

/* It is about to be put: check its stamp, and give the claim up. */
bool ledger_give(struct ledger *ledger, void *slot, size_t n, uint64_t stamp);

/* A put that should have been done was refused: it is still ours. */
void ledger_keep(struct ledger *ledger, void *slot, size_t n);

/* Forget all claims. */
void ledger_forget(struct ledger *ledger);

/* Only the stamp. */
bool ledger_matches(const struct ledger *ledger, void *slot, size_t n,
                    uint64_t stamp);

/* While nobody uses the pool: so many slots are live, the sums are right, and
 * a checked pool lists just what is claimed. */
bool ledger_balances(struct ledger *ledger, size_t live);

/* A snapshot; all zero when the pool refused. */
struct ashlar_pool_stats ledger_stats(const struct ledger *ledger);

#endif
