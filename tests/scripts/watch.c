/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * A program that makes one mistake with a slot, which watch.sh wants to be
 * reported by AddressSanitizer or Valgrind.
 */
#include <ashlar.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Aligned to 16, so that a slot has 12 bytes that no object uses. */
#define OBJECT_BYTES 20
#define ALIGNMENT    16
#define STRIDE       32

static struct ashlar_pool *pool;
static volatile char sink;

static void need(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "%s: %s\n", what, ashlar_last_error_message());
    exit(77);
}

static char *get(void)
{
    char *slot = ashlar_pool_get(pool);

    need(slot != NULL, "get");
    memset(slot, 1, OBJECT_BYTES);
    return slot;
}

static void put(void *slot)
{
    need(ashlar_pool_put(pool, slot) == ASHLAR_OK, "put");
}

/* --- what is right -------------------------------------------------------- */

#define MANY 3000

static void use_runs_and_caches(void)
{
    struct ashlar_cache *cache;
    char *run = ashlar_pool_get_run(pool, 10);
    char *slot;

    need(run != NULL, "get_run");
    memset(run, 1, 10 * STRIDE);
    need(ashlar_cache_open(pool, 0, ASHLAR_CACHE_LAYOUT, &cache) == ASHLAR_OK,
         "cache_open");
    slot = ashlar_cache_get(cache);
    need(slot != NULL, "cache_get");
    memset(slot, 1, OBJECT_BYTES);
    need(ashlar_cache_put(cache, slot) == ASHLAR_OK, "cache_put");
    need(ashlar_cache_close(cache) == ASHLAR_OK, "cache_close");
    need(ashlar_pool_put_run(pool, run, 10) == ASHLAR_OK, "put_run");
}

static void no_mistake(void)
{
    static void *slots[MANY];
    int i, round;

    for (round = 0; round < 2; round++) {
        need(ashlar_pool_get_bulk(pool, slots, MANY) == ASHLAR_OK, "get_bulk");
        for (i = 0; i < MANY; i++)
            memset(slots[i], i, OBJECT_BYTES);
        for (i = 0; i < MANY; i += 2)
            put(slots[i]);
        for (i = 1; i < MANY; i += 2)
            need(((char *)slots[i])[OBJECT_BYTES - 1] == (char)i, "a byte");
        for (i = 0; i < MANY; i += 2)
            slots[i] = get();
        need(ashlar_pool_put_bulk(pool, slots, MANY, NULL) == ASHLAR_OK,
             "put_bulk");
        use_runs_and_caches();
        need(ashlar_pool_trim(pool, NULL) == ASHLAR_OK, "trim");
    }
    need(ashlar_pool_destroy(pool, 0) == ASHLAR_OK, "destroy");
}

/* --- what is wrong -------------------------------------------------------- */

static void read_after_put(void)
{
    char *slot = get();

    put(slot);
    sink = slot[0];
}

static void write_after_put_bulk(void)
{
    void *slots[100];

    need(ashlar_pool_get_bulk(pool, slots, 100) == ASHLAR_OK, "get_bulk");
    need(ashlar_pool_put_bulk(pool, slots, 100, NULL) == ASHLAR_OK, "put_bulk");
    ((char *)slots[57])[OBJECT_BYTES - 1] = 1;
}

static void read_past_object(void)
{
    sink = get()[OBJECT_BYTES];
}

/* The next slot is nobody's. */
static void read_past_slot(void)
{
    sink = get()[STRIDE];
}

/* Where the slot before it has no object any more. */
static void read_before_slot(void)
{
    char *slot;

    (void)get();
    slot = get();
    sink = slot[-1];
}

static void read_slot_never_got(void)
{
    (void)get();
    sink = *(char *)ashlar_pool_at(pool, 10);
}

static void read_after_put_run(void)
{
    char *run = ashlar_pool_get_run(pool, 10);

    need(run != NULL, "get_run");
    memset(run, 1, 10 * STRIDE);
    need(ashlar_pool_put_run(pool, run, 10) == ASHLAR_OK, "put_run");
    sink = run[5 * STRIDE];
}

static void read_past_run(void)
{
    char *run = ashlar_pool_get_run(pool, 10);

    need(run != NULL, "get_run");
    memset(run, 1, 10 * STRIDE);
    sink = run[10 * STRIDE];
}

static void read_after_cache_put(void)
{
    struct ashlar_cache *cache;
    char *slot;

    need(ashlar_cache_open(pool, 0, ASHLAR_CACHE_LAYOUT, &cache) == ASHLAR_OK,
         "cache_open");
    slot = ashlar_cache_get(cache);
    need(slot != NULL, "cache_get");
    memset(slot, 1, OBJECT_BYTES);
    need(ashlar_cache_put(cache, slot) == ASHLAR_OK, "cache_put");
    sink = slot[3];
}

/* Valgrind alone sees this. */
static void branch_on_what_was_never_written(void)
{
    char *slot = ashlar_pool_get(pool);

    need(slot != NULL, "get");
    if (slot[7] == 3)
        puts("three");
}

static const struct {
    const char *name;
    void (*make)(void);
} mistakes[] = {
    {"no_mistake", no_mistake},
    {"read_after_put", read_after_put},
    {"write_after_put_bulk", write_after_put_bulk},
    {"read_past_object", read_past_object},
    {"read_past_slot", read_past_slot},
    {"read_before_slot", read_before_slot},
    {"read_slot_never_got", read_slot_never_got},
    {"read_after_put_run", read_after_put_run},
    {"read_past_run", read_past_run},
    {"read_after_cache_put", read_after_cache_put},
    {"branch_on_what_was_never_written", branch_on_what_was_never_written},
};

int main(int argc, char **argv)
{
    const struct ashlar_type *type;
    size_t i;

    need(ashlar_type_register("object", OBJECT_BYTES, ALIGNMENT, &type) ==
             ASHLAR_OK,
         "register");
    need(ashlar_pool_create(type, NULL, &pool) == ASHLAR_OK, "create");
    for (i = 0; argc == 2 && i < sizeof(mistakes) / sizeof(mistakes[0]); i++)
        if (strcmp(argv[1], mistakes[i].name) == 0) {
            mistakes[i].make();
            return 0;
        }
    fprintf(stderr, "usage: watch MISTAKE\n");
    return 77;
}
