/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * A program of an earlier version: compiled with its headers, OLD_HEADER,
 * linked with a stub of its library, and run on today's. It ends with 0 when all
 * is well, and else says what is not.
 */
#include OLD_HEADER

#include <stdio.h>
#include <string.h>

#define SLOTS 300

static int broken;

#define REQUIRE(_condition)                                                    \
    do {                                                                       \
        if (!(_condition)) {                                                   \
            printf("line %d: %s: %s\n", __LINE__, #_condition,                 \
                   ashlar_last_error_message());                               \
            broken = 1;                                                        \
        }                                                                      \
    } while (0)

static int count_live(void *first, size_t n, void *user)
{
    (void)first;
    *(size_t *)user += n;
    return 0;
}

static void use_types(void)
{
    struct ashlar_type_info info = ASHLAR_TYPE_INFO_INIT;
    const struct ashlar_type *type;

    REQUIRE(ashlar_type_register("old", 40, 64, &type) == ASHLAR_OK);
    REQUIRE(ashlar_type_query(type, &info) == ASHLAR_OK);
    REQUIRE(info.object_size == 40 && info.stride == 64 &&
            info.alignment == 64 && strcmp(info.name, "old") == 0);
    REQUIRE(ashlar_type_next(NULL) != NULL);
}

static void use_specs(void)
{
    struct ashlar_spec spec = ASHLAR_SPEC_INIT;
    struct ashlar_spec_finding found[ASHLAR_SPEC_FINDINGS_MAX];
    char sentence[256];
    size_t count = 0;

    spec.address = 4096;
    spec.dtype = ASHLAR_SPEC_FLOAT32;
    spec.rank = 2;
    spec.dims[0] = spec.dims[1] = 64;
    spec.box[0] = spec.box[1] = 32;
    spec.element_strides[0] = spec.element_strides[1] = 1;
    REQUIRE(ashlar_spec_pack(&spec) == ASHLAR_OK && spec.strides[0] == 256);
    REQUIRE(ashlar_spec_check(&spec, 90, NULL, 0, NULL) == ASHLAR_OK);
    spec.strides[0] = 250;
    REQUIRE(ashlar_spec_check(&spec, 90, found, ASHLAR_SPEC_FINDINGS_MAX,
                              &count) == ASHLAR_ERR_INVALID);
    REQUIRE(count != 0 && found[0].rule == ASHLAR_RULE_STRIDE_MULTIPLE);
    REQUIRE(found[0].value == 250 && found[0].right == 256);
    REQUIRE(ashlar_spec_explain(&found[0], NULL, sentence, sizeof(sentence)) !=
            0);
    REQUIRE(strstr(sentence, "strides[0] is 250 bytes") == sentence);
}

static void use_pools(void)
{
    struct ashlar_pool_options options = ASHLAR_POOL_OPTIONS_INIT;
    struct ashlar_pool_stats stats = ASHLAR_POOL_STATS_INIT;
    struct ashlar_pool *pool;
    void *slots[SLOTS];
    size_t culprit = 0;
    size_t live = 0;
    char *run;

    options.name = "old";
    options.max_slots = 2 * SLOTS;
    options.initial_slots = 10;
    REQUIRE(ashlar_pool_create(ashlar_type_find("CUtensorMap"), &options,
                               &pool) == ASHLAR_OK);
    REQUIRE(ashlar_pool_get_bulk(pool, slots, SLOTS) == ASHLAR_OK);
    run = ashlar_pool_get_run(pool, 6);
    REQUIRE(run != NULL && (uintptr_t)run % 128 == 0);
    REQUIRE(ashlar_pool_for_each_live(pool, count_live, &live) == ASHLAR_OK);
    REQUIRE(live == SLOTS + 6);
    REQUIRE(ashlar_pool_query(pool, &stats) == ASHLAR_OK);
    REQUIRE(stats.live_slots == SLOTS + 6 && stats.live_runs == 1 &&
            stats.max_slots == 2 * SLOTS && stats.stride == 128);
    REQUIRE(ashlar_pool_put_run(pool, run, 6) == ASHLAR_OK);
    slots[SLOTS - 1] = slots[0];
    REQUIRE(ashlar_pool_put_bulk(pool, slots, SLOTS, &culprit) ==
            ASHLAR_ERR_NOT_LIVE);
    REQUIRE(culprit == SLOTS - 1);
    REQUIRE(strstr(ashlar_last_error_message(), "slots[299]") != NULL);
    REQUIRE(ashlar_pool_destroy(pool, 0) == ASHLAR_ERR_BUSY);
    REQUIRE(ashlar_pool_destroy(pool, ASHLAR_POOL_FORCE) == ASHLAR_OK);
    REQUIRE(ashlar_pool_get(pool) == NULL &&
            ashlar_last_error() == ASHLAR_ERR_STALE);
}

/* What is inline was compiled into this program. */
static void use_cache(void)
{
    struct ashlar_cache *cache;
    struct ashlar_pool *pool;
    void *slots[SLOTS];
    size_t i;

    REQUIRE(ashlar_pool_create(ashlar_type_find("CUtensorMap"), NULL, &pool) ==
            ASHLAR_OK);
    REQUIRE(ashlar_cache_open(pool, 64, ASHLAR_CACHE_LAYOUT, &cache) ==
            ASHLAR_OK);
    for (i = 0; i < SLOTS; i++)
        REQUIRE((slots[i] = ashlar_cache_get(cache)) != NULL);
    while (i-- > 0)
        REQUIRE(ashlar_cache_put(cache, slots[i]) == ASHLAR_OK);
    REQUIRE(ashlar_cache_put(cache, slots[0]) == ASHLAR_ERR_NOT_LIVE);
    REQUIRE(ashlar_cache_close(cache) == ASHLAR_OK);
    REQUIRE(ashlar_pool_destroy(pool, 0) == ASHLAR_OK);
}

static void use_ranges(void)
{
    struct ashlar_range_options options = ASHLAR_RANGE_OPTIONS_INIT;
    struct ashlar_range_result result = ASHLAR_RANGE_RESULT_INIT;
    struct ashlar_range_info info = ASHLAR_RANGE_INFO_INIT;
    struct ashlar_vm_account account = ASHLAR_VM_ACCOUNT_INIT;
    struct ashlar_source *source;
    struct ashlar_range *range;

    REQUIRE(ashlar_source_open("vm", "granule=2M", &source) == ASHLAR_OK);
    options.reserve_bytes = 64 << 20;
    options.chunk_max_bytes = 2 << 20;
    REQUIRE(ashlar_range_create(source, &options, &range) == ASHLAR_OK);
    REQUIRE(ashlar_range_grow_to(range, 5 << 20, &result) == ASHLAR_OK);
    memset((void *)(uintptr_t)result.base, 1, 5 << 20);
    REQUIRE(ashlar_range_query(range, &info) == ASHLAR_OK);
    REQUIRE(info.base == result.base && info.used_bytes == 5 << 20 &&
            info.committed_bytes == 6 << 20 && info.chunk_count == 3 &&
            info.reserved_bytes == 64 << 20);
    /* The constant is read by its address in this program. */
    REQUIRE(ASHLAR_QUIET->kind == ASHLAR_FENCE_QUIET);
    REQUIRE(ashlar_range_shrink_to(range, 1 << 20, ASHLAR_QUIET, 1, &result) ==
            ASHLAR_OK);
    REQUIRE(result.released_bytes == 4 << 20);
    REQUIRE(ashlar_range_destroy(range, ASHLAR_QUIET, 1) == ASHLAR_OK);
    REQUIRE(ashlar_vm_query(source, &account) == ASHLAR_OK);
    REQUIRE(account.reservations == 0 && account.chunks == 0);
    REQUIRE(ashlar_source_close(source) == ASHLAR_OK);
}

int main(void)
{
    use_types();
    use_specs();
    use_pools();
    use_cache();
    use_ranges();
    return broken;
}
