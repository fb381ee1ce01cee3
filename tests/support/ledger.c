/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "support/ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/stress.h"

/* Of a large slot the ends are stamped, so many bytes each. */
#define END_BYTES 1024u

bool ledger_open(struct ledger *ledger, size_t bytes, size_t alignment,
                 const struct ashlar_pool_options *options)
{
    struct ashlar_type_info info = ASHLAR_TYPE_INFO_INIT;
    const struct ashlar_type *type = NULL;
    char name[64];

    memset(ledger, 0, sizeof(*ledger));
    (void)snprintf(name, sizeof(name), "stress_%zu_%zu", bytes, alignment);
    if (!STRESS_EXPECT(ashlar_type_register(name, bytes, alignment, &type) ==
                               ASHLAR_OK &&
                           ashlar_type_query(type, &info) == ASHLAR_OK,
                       "type %s: %s", name, ashlar_last_error_message()))
        return false;
    ledger->object_bytes = bytes;
    ledger->stride = info.stride;
    ledger->alignment = info.alignment;
    ledger->checked =
        options == NULL || (options->flags & ASHLAR_POOL_UNCHECKED) == 0;
    ledger->claims = calloc(LEDGER_SLOTS, 1);
    return STRESS_EXPECT(ledger->claims != NULL, "no memory for claims") &&
           STRESS_EXPECT(ashlar_pool_create(type, options, &ledger->pool) ==
                             ASHLAR_OK,
                         "create: %s", ashlar_last_error_message());
}

void ledger_close(struct ledger *ledger, uint32_t flags)
{
    STRESS_EXPECT(ashlar_pool_destroy(ledger->pool, flags) == ASHLAR_OK,
                  "destroy: %s", ashlar_last_error_message());
    free(ledger->claims);
    ledger->claims = NULL;
}

/* --- stamps --------------------------------------------------------------- */

static uint64_t stamp_word(uint64_t stamp, size_t i)
{
    return stamp + i * UINT64_C(0x9e3779b97f4a7c15);
}

static void stamp_write(unsigned char *at, size_t bytes, uint64_t stamp)
{
    uint64_t word;
    size_t i;

    for (i = 0; i + sizeof(word) <= bytes; i += sizeof(word)) {
        word = stamp_word(stamp, i);
        memcpy(at + i, &word, sizeof(word));
    }
    word = stamp_word(stamp, i);
    memcpy(at + i, &word, bytes - i);
}

static bool stamp_is(const unsigned char *at, size_t bytes, uint64_t stamp)
{
    uint64_t wanted;
    uint64_t word;
    size_t i;

    for (i = 0; i + sizeof(word) <= bytes; i += sizeof(word)) {
        memcpy(&word, at + i, sizeof(word));
        if (word != stamp_word(stamp, i))
            return false;
    }
    wanted = stamp_word(stamp, i);
    return memcmp(at + i, &wanted, bytes - i) == 0;
}

static void slot_write(unsigned char *at, size_t bytes, uint64_t stamp)
{
    if (bytes > 2 * END_BYTES) {
        stamp_write(at + bytes - END_BYTES, END_BYTES, ~stamp);
        bytes = END_BYTES;
    }
    stamp_write(at, bytes, stamp);
}

static bool slot_is(const unsigned char *at, size_t bytes, uint64_t stamp)
{
    if (bytes > 2 * END_BYTES) {
        if (!stamp_is(at + bytes - END_BYTES, END_BYTES, ~stamp))
            return false;
        bytes = END_BYTES;
    }
    return stamp_is(at, bytes, stamp);
}

/* --- claims --------------------------------------------------------------- */

/* Where the first of n slots stands in the pool; all of them side by side. */
static bool find_slots(const struct ledger *ledger, void *slot, size_t n,
                       size_t *index_out)
{
    size_t last = 0;

    return STRESS_EXPECT((uintptr_t)slot % ledger->alignment == 0,
                         "%p is not at a multiple of %zu", slot,
                         ledger->alignment) &&
           STRESS_EXPECT(
               ashlar_pool_index(ledger->pool, slot, index_out) == ASHLAR_OK &&
                   ashlar_pool_index(ledger->pool,
                                     (char *)slot + n * ledger->stride - 1,
                                     &last) == ASHLAR_OK,
               "index of %p: %s", slot, ashlar_last_error_message()) &&
           STRESS_EXPECT(last == *index_out + n - 1 && last < LEDGER_SLOTS,
                         "%zu slots from %p on have indices %zu to %zu", n,
                         slot, *index_out, last) &&
           STRESS_EXPECT(ashlar_pool_at(ledger->pool, *index_out) == slot,
                         "slot %zu is %p by index, and %p by address",
                         *index_out, ashlar_pool_at(ledger->pool, *index_out),
                         slot);
}

bool ledger_take(struct ledger *ledger, void *slot, size_t n, uint64_t stamp)
{
    size_t slots = n == 0 ? 1 : n;
    size_t index;
    size_t i;

    if (!find_slots(ledger, slot, slots, &index))
        return false;
    for (i = 0; i < slots; i++) {
        if (!STRESS_EXPECT(__atomic_exchange_n(&ledger->claims[index + i], 1,
                                               __ATOMIC_RELAXED) == 0,
                           "slot %zu (%p) was handed out twice", index + i,
                           (void *)((char *)slot + i * ledger->stride)))
            return false;
        slot_write((unsigned char *)slot + i * ledger->stride,
                   ledger->object_bytes, stamp + i);
    }
    return true;
}

bool ledger_matches(const struct ledger *ledger, void *slot, size_t n,
                    uint64_t stamp)
{
    size_t slots = n == 0 ? 1 : n;
    size_t i;

    for (i = 0; i < slots; i++) {
        unsigned char *at = (unsigned char *)slot + i * ledger->stride;

        if (!STRESS_EXPECT(slot_is(at, ledger->object_bytes, stamp + i),
                           "slot %p was written to while it was held",
                           (void *)at))
            return false;
    }
    return true;
}

static void set_claims(struct ledger *ledger, void *slot, size_t n,
                       unsigned char value)
{
    size_t slots = n == 0 ? 1 : n;
    size_t index = 0;
    size_t i;

    (void)ashlar_pool_index(ledger->pool, slot, &index);
    for (i = 0; i < slots; i++)
        __atomic_store_n(&ledger->claims[index + i], value, __ATOMIC_RELAXED);
}

bool ledger_give(struct ledger *ledger, void *slot, size_t n, uint64_t stamp)
{
    if (!ledger_matches(ledger, slot, n, stamp))
        return false;
    set_claims(ledger, slot, n, 0);
    return true;
}

void ledger_keep(struct ledger *ledger, void *slot, size_t n)
{
    set_claims(ledger, slot, n, 1);
}

void ledger_forget(struct ledger *ledger)
{
    memset(ledger->claims, 0, ledger_stats(ledger).capacity_slots);
}

/* --- the balance ---------------------------------------------------------- */

struct ashlar_pool_stats ledger_stats(const struct ledger *ledger)
{
    struct ashlar_pool_stats stats = ASHLAR_POOL_STATS_INIT;

    STRESS_EXPECT(ashlar_pool_query(ledger->pool, &stats) == ASHLAR_OK,
                  "query: %s", ashlar_last_error_message());
    return stats;
}

struct listing {
    struct ledger *ledger;
    size_t slots;
};

static int list_one(void *first, size_t n, void *user)
{
    struct listing *listing = user;
    size_t index = 0;
    size_t i;

    if (!find_slots(listing->ledger, first, n, &index))
        return 1;
    for (i = 0; i < n; i++)
        if (!STRESS_EXPECT(listing->ledger->claims[index + i] == 1,
                           "slot %zu is listed as live, but nobody has it",
                           index + i))
            return 1;
    listing->slots += n;
    return 0;
}

bool ledger_balances(struct ledger *ledger, size_t live)
{
    struct ashlar_pool_stats stats = ledger_stats(ledger);
    struct listing listing = {ledger, 0};

    if (!STRESS_EXPECT(stats.live_slots == live,
                       "%zu slots are live by the pool, %zu by the test",
                       stats.live_slots, live) ||
        !STRESS_EXPECT(
            stats.live_slots + stats.cached_slots + stats.free_slots ==
                stats.capacity_slots,
            "%zu live + %zu cached + %zu free is not %zu", stats.live_slots,
            stats.cached_slots, stats.free_slots, stats.capacity_slots) ||
        !STRESS_EXPECT(stats.capacity_slots <= stats.max_slots &&
                           stats.peak_slots <= stats.capacity_slots,
                       "capacity is %zu, peak %zu, max_slots %zu",
                       stats.capacity_slots, stats.peak_slots,
                       stats.max_slots) ||
        !STRESS_EXPECT(stats.duplicates == 0, "%zu slots were put twice",
                       (size_t)stats.duplicates))
        return false;
    if (!ledger->checked)
        return true;
    return STRESS_EXPECT(ashlar_pool_for_each_live(ledger->pool, list_one,
                                                   &listing) == ASHLAR_OK,
                         "for_each_live: %s", ashlar_last_error_message()) &&
           STRESS_EXPECT(stress_failed() || listing.slots == live,
                         "%zu slots are listed as live, %zu are", listing.slots,
                         live);
}
