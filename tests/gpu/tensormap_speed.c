/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * What encoding costs through ashlar, beside the driver's encoder into one
 * buffer, in the same run: medians over rounds that take turns.
 *
 *     tensormap_speed [ROUNDS]                                  31 unless given
 *
 * It opens the source "cuda", so ASHLAR_PLUGIN_PATH has to lead to the plug-in.
 */
#include "config.h"

#include <cuda.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ashlar.h>

#include "crew.h"

#define MAPS        4096
#define ROUNDS_MOST 999

static CUresult (*set_context)(CUcontext context);
static CUcontext context; /* current in every thread, as in a launcher's */
static struct ashlar_source *source;
static struct ashlar_pool *pool;
static struct ashlar_tensormap_cache *cache;
static struct ashlar_tensormap_table *table;
static struct ashlar_tensormap_handle handles[MAPS];
static struct ashlar_spec specs[MAPS];
static void *maps[MAPS];
static size_t shuffled[MAPS];
static struct ashlar_cache *slots;
static unsigned rounds = 31;
static unsigned threads; /* of the crew */

static __typeof__(cuTensorMapEncodeTiled) *encode_tiled;
static __typeof__(cuTensorMapReplaceAddress) *replace_address;

static void fail(const char *what)
{
    printf("# %s: %s\n", what, ashlar_last_error_message());
    exit(1);
}

#define MUST(_call)                                                            \
    do {                                                                       \
        if ((_call) != ASHLAR_OK)                                              \
            fail(#_call);                                                      \
    } while (0)

static double now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* --- what is encoded ------------------------------------------------------ */

/* Of so many shapes, in turn. */
static void set_specs(uint32_t rank, size_t shapes)
{
    struct ashlar_spec fresh = ASHLAR_SPEC_INIT;
    size_t i;
    uint32_t k;

    for (i = 0; i < MAPS; i++) {
        specs[i] = fresh;
        specs[i].rank = rank;
        specs[i].dtype = ASHLAR_SPEC_BFLOAT16;
        specs[i].swizzle = ASHLAR_SPEC_SWIZZLE_128B;
        specs[i].address = UINT64_C(0x7f0000000000) + i * 4096;
        for (k = 0; k < rank; k++) {
            specs[i].dims[k] = k < 2 ? 1024 : 4;
            specs[i].box[k] = k < 2 ? 64 : 1;
            specs[i].element_strides[k] = 1;
        }
        if (rank > 1)
            specs[i].dims[1] += i % shapes;
        MUST(ashlar_spec_pack(&specs[i]));
    }
}

static void bare(const struct ashlar_spec *spec, CUtensorMap *map)
{
    void *address;

    memcpy(&address, &spec->address, sizeof(address));
    if (encode_tiled(map, (CUtensorMapDataType)spec->dtype, spec->rank, address,
                     spec->dims, spec->strides, spec->box,
                     spec->element_strides, CU_TENSOR_MAP_INTERLEAVE_NONE,
                     (CUtensorMapSwizzle)spec->swizzle,
                     CU_TENSOR_MAP_L2_PROMOTION_NONE,
                     CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) {
        printf("# the driver refuses the spec\n");
        exit(1);
    }
}

/* --- the contenders: each does MAPS of its work ---------------------------- */

static void bare_encodes(void)
{
    _Alignas(128) CUtensorMap map;
    size_t i;

    for (i = 0; i < MAPS; i++)
        bare(&specs[i], &map);
}

/* Into as many buffers as a bulk has slots. */
static void bare_encodes_apart(void)
{
    static _Alignas(128) CUtensorMap own[MAPS];
    size_t i;

    for (i = 0; i < MAPS; i++)
        bare(&specs[i], &own[i]);
}

static void one_at_a_time(void)
{
    size_t i;
    void *map;

    for (i = 0; i < MAPS; i++) {
        map = ashlar_pool_get(pool);
        MUST(ashlar_tensormap_encode(source, &specs[i], map));
        MUST(ashlar_pool_put(pool, map));
    }
}

/* By the caller-held cache of slots, inline. */
static void one_inline(void)
{
    size_t i;
    void *map;

    for (i = 0; i < MAPS; i++) {
        map = ashlar_cache_get(slots);
        MUST(ashlar_tensormap_encode(source, &specs[i], map));
        MUST(ashlar_cache_put(slots, map));
    }
}

/* What the pool costs without the encoder, and the encoder without the pool. */
static void get_and_put(void)
{
    size_t i;

    for (i = 0; i < MAPS; i++)
        MUST(ashlar_pool_put(pool, ashlar_pool_get(pool)));
}

static void encodes(void)
{
    _Alignas(128) CUtensorMap map;
    size_t i;

    for (i = 0; i < MAPS; i++)
        MUST(ashlar_tensormap_encode(source, &specs[i], &map));
}

/* What a bulk costs beside its encodes. */
static void bulk_get_and_put(size_t n)
{
    size_t i;

    for (i = 0; i < MAPS; i += n) {
        MUST(ashlar_pool_get_bulk(pool, maps, n));
        MUST(ashlar_pool_put_bulk(pool, maps, n, NULL));
    }
}

static void slots_by_32(void)
{
    bulk_get_and_put(32);
}

static void slots_by_4096(void)
{
    bulk_get_and_put(MAPS);
}

static void in_bulks(size_t n)
{
    size_t i;

    for (i = 0; i < MAPS; i += n) {
        MUST(ashlar_tensormap_encode_many(source, pool, &specs[i], n, maps,
                                          NULL));
        MUST(ashlar_pool_put_bulk(pool, maps, n, NULL));
    }
}

static void bulks_of_32(void)
{
    in_bulks(32);
}

static void bulks_of_256(void)
{
    in_bulks(256);
}

static void bulk_of_4096(void)
{
    in_bulks(MAPS);
}

/* Into host slots that the device reads: each goes back to memory. */
static void into_table(void)
{
    MUST(ashlar_tensormap_table_encode_many(table, handles, specs, MAPS, NULL));
}

static void bare_rebases(void)
{
    _Alignas(128) CUtensorMap map;
    void *address;
    size_t i;

    bare(&specs[0], &map);
    for (i = 0; i < MAPS; i++) {
        memcpy(&address, &specs[i].address, sizeof(address));
        if (replace_address(&map, address) != CUDA_SUCCESS)
            exit(1);
    }
}

static void rebases(void)
{
    _Alignas(128) CUtensorMap map;
    size_t i;

    bare(&specs[0], &map);
    for (i = 0; i < MAPS; i++)
        MUST(ashlar_tensormap_rebase(source, &map, specs[i].address));
}

static void checks(void)
{
    size_t i;

    for (i = 0; i < MAPS; i++)
        MUST(ashlar_spec_check(&specs[i], 90, NULL, 0, NULL));
}

static void hits_of(size_t from, size_t to)
{
    const void *map;
    size_t i;

    for (i = from; i < to; i++) {
        MUST(ashlar_tensormap_cache_get(cache, &specs[i], 0, &map));
        MUST(ashlar_tensormap_cache_put(cache, map));
    }
}

/* In the order in which they were first asked for. */
static void cache_hits(void)
{
    hits_of(0, MAPS);
}

/* In an order that nothing foresees. */
static void shuffled_hits(void)
{
    size_t i;

    for (i = 0; i < MAPS; i++)
        hits_of(shuffled[i], shuffled[i] + 1);
}

static void shuffle(void)
{
    uint64_t random = 1;
    size_t i, other, kept;

    for (i = 0; i < MAPS; i++)
        shuffled[i] = i;
    for (i = MAPS - 1; i > 0; i--) {
        random = random * UINT64_C(6364136223846793005) + 1;
        other = (size_t)(random >> 33) % (i + 1);
        kept = shuffled[i];
        shuffled[i] = shuffled[other];
        shuffled[other] = kept;
    }
}

/* --- by threads ----------------------------------------------------------- */

static struct ashlar_tensormap_batch *batch;

static void take_context(void)
{
    if (set_context(context) != CUDA_SUCCESS)
        exit(1);
}

static void share_batch(unsigned number)
{
    (void)number;
    MUST(ashlar_tensormap_batch_work(batch));
}

static void batch_of_crew(void)
{
    MUST(
        ashlar_tensormap_batch_create(source, pool, specs, MAPS, maps, &batch));
    crew_work(share_batch);
    MUST(ashlar_tensormap_batch_finish(batch, NULL));
    MUST(ashlar_pool_put_bulk(pool, maps, MAPS, NULL));
}

static bool busy; /* atomic */

/* One does all alone, and the others' processors are at work, too. */
static void be_busy(unsigned number)
{
    _Alignas(128) CUtensorMap map;
    size_t i;

    if (number == 0) {
        bulk_of_4096();
        __atomic_store_n(&busy, false, __ATOMIC_RELEASE);
        return;
    }
    for (i = 0; __atomic_load_n(&busy, __ATOMIC_ACQUIRE); i = (i + 1) % MAPS)
        bare(&specs[i], &map);
}

static void one_of_busy_crew(void)
{
    __atomic_store_n(&busy, true, __ATOMIC_RELEASE);
    crew_work(be_busy);
}

/* A part of the specs, into one buffer of the thread's. */
static void encode_part(unsigned number)
{
    _Alignas(128) CUtensorMap map;
    size_t part = MAPS / threads, i;

    for (i = number * part; i < (number + 1) * part; i++)
        bare(&specs[i], &map);
}

static void bare_of_crew(void)
{
    crew_work(encode_part);
}

static void do_nothing(unsigned number)
{
    (void)number;
}

static void meetings(void)
{
    crew_work(do_nothing);
}

/* Each its own specs, as often as one thread all of them. */
static void share_hits(unsigned number)
{
    size_t part = MAPS / threads, i;

    for (i = 0; i < threads; i++)
        hits_of(number * part, (number + 1) * part);
}

static void hits_of_crew(void)
{
    crew_work(share_hits);
}

/* --- rounds --------------------------------------------------------------- */

struct contender {
    const char *name;
    void (*run)(void);
    double ns[ROUNDS_MOST]; /* of one map */
};

static int by_value(const void *a, const void *b)
{
    double one = *(const double *)a, other = *(const double *)b;

    return one < other ? -1 : one > other ? 1 : 0;
}

static double median(struct contender *contender)
{
    qsort(contender->ns, rounds, sizeof(contender->ns[0]), by_value);
    return contender->ns[rounds / 2];
}

/* Taking turns; the first is what the others are compared with. */
static void race(const char *title, struct contender *contenders, size_t count)
{
    double begin, first = 0, ns;
    unsigned round;
    size_t i;

    for (round = 0; round <= rounds; round++)
        for (i = 0; i < count; i++) {
            begin = now_ns();
            contenders[i].run();
            if (round != 0) /* one to get warm */
                contenders[i].ns[round - 1] = (now_ns() - begin) / MAPS;
        }
    printf("%s\n", title);
    for (i = 0; i < count; i++) {
        ns = median(&contenders[i]);
        if (i == 0)
            first = ns;
        printf("  %-28s %8.1f ns  %6.3f\n", contenders[i].name, ns, ns / first);
    }
}

static void race_rank(uint32_t rank, size_t shapes)
{
    static struct contender contenders[] = {
        {"bare encode, one buffer", bare_encodes, {0}},
        {"bare encode, 4096 buffers", bare_encodes_apart, {0}},
        {"get, encode, put", one_at_a_time, {0}},
        {"the same, inline cache", one_inline, {0}},
        {"encode alone", encodes, {0}},
        {"get, put alone", get_and_put, {0}},
        {"bulks of 32", bulks_of_32, {0}},
        {"bulks of 256", bulks_of_256, {0}},
        {"bulk of 4096", bulk_of_4096, {0}},
        {"4096 into a table", into_table, {0}},
        {"slots in bulks of 32, alone", slots_by_32, {0}},
        {"slots, 4096 at once, alone", slots_by_4096, {0}},
        {"cache hit", cache_hits, {0}},
        {"cache hit, shuffled", shuffled_hits, {0}},
        {"check alone", checks, {0}},
        {"bare rebase", bare_rebases, {0}},
        {"rebase", rebases, {0}},
    };
    char title[64];

    set_specs(rank, shapes);
    MUST(ashlar_tensormap_cache_invalidate(cache, 0, UINT64_MAX, NULL));
    cache_hits();
    snprintf(title, sizeof(title), "rank %u, shapes: %zu; each map", rank,
             shapes);
    race(title, contenders, sizeof(contenders) / sizeof(contenders[0]));
}

static void race_batch(unsigned count, size_t shapes)
{
    static struct contender contenders[] = {
        {"one thread, bulk of 4096", bulk_of_4096, {0}},
        {"the threads, one batch", batch_of_crew, {0}},
        {"one thread, others busy", one_of_busy_crew, {0}},
    };
    char title[64];

    set_specs(2, shapes);
    snprintf(title, sizeof(title), "%u threads, shapes: %zu", count, shapes);
    race(title, contenders, 3);
}

static void race_threads(unsigned count)
{
    static struct contender bares[] = {
        {"one thread, bare encode", bare_encodes, {0}},
        {"the threads, bare encode", bare_of_crew, {0}},
        {"the threads, nothing", meetings, {0}},
    };
    static struct contender alone[] = {
        {"one thread, cache hit", cache_hits, {0}},
    };
    static struct contender hits[] = {
        {"each of the threads", hits_of_crew, {0}},
    };
    char title[32];

    snprintf(title, sizeof(title), "%u threads", count);
    threads = count;
    crew_start(count, take_context);
    race_batch(count, MAPS);
    race_batch(count, 1);
    race(title, bares, 3);
    race(title, alone, 1);
    race(title, hits, 1);
    crew_end();
}

/* A table whose host slots the device reads. */
static void make_table(void)
{
    struct ashlar_tensormap_table_options options =
        ASHLAR_TENSORMAP_TABLE_OPTIONS_INIT;

    MUST(ashlar_source_open("cuda", "location=host", &options.host));
    options.initial_slots = options.max_slots = MAPS;
    MUST(ashlar_tensormap_table_create(source, &options, &table));
    MUST(ashlar_tensormap_table_lease(table, MAPS, handles));
}

static bool start(void)
{
    struct ashlar_tensormap_cache_options options =
        ASHLAR_TENSORMAP_CACHE_OPTIONS_INIT;
    CUresult (*init)(unsigned), (*get)(CUdevice *, int),
        (*retain)(CUcontext *, CUdevice);
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *entry;
    CUdevice device;

    if (library == NULL ||
        ashlar_source_open("cuda", NULL, &source) != ASHLAR_OK)
        return false;
#define ENTRY(_pointer, _name)                                                 \
    entry = dlsym(library, _name);                                             \
    memcpy(&(_pointer), &entry, sizeof(entry))
    ENTRY(init, "cuInit");
    ENTRY(get, "cuDeviceGet");
    ENTRY(set_context, "cuCtxSetCurrent");
    ENTRY(retain, "cuDevicePrimaryCtxRetain");
    ENTRY(encode_tiled, "cuTensorMapEncodeTiled");
    ENTRY(replace_address, "cuTensorMapReplaceAddress");
    if (init(0) != CUDA_SUCCESS || get(&device, 0) != CUDA_SUCCESS ||
        retain(&context, device) != CUDA_SUCCESS ||
        set_context(context) != CUDA_SUCCESS)
        return false;
    options.slots = 2 * (size_t)MAPS;
    MUST(ashlar_pool_create(ashlar_type_find("CUtensorMap"), NULL, &pool));
    MUST(ashlar_pool_reserve(pool, MAPS));
    MUST(ashlar_cache_open(pool, 0, ASHLAR_CACHE_LAYOUT, &slots));
    MUST(ashlar_tensormap_cache_create(source, &options, &cache));
    make_table();
    return true;
}

int main(int argc, char **argv)
{
    static const size_t shapes[] = {MAPS, 3, 1};
    unsigned count, cores = crew_cores();
    size_t i;

    if (argc > 1)
        rounds = (unsigned)strtoul(argv[1], NULL, 10);
    if (rounds < 1 || rounds > ROUNDS_MOST)
        rounds = 31;
    if (!start()) {
        printf("no CUDA device, or no plug-in: %s\n",
               ashlar_last_error_message());
        return 77;
    }
    shuffle();
    for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        race_rank(2, shapes[i]);
        race_rank(5, shapes[i]);
    }
    set_specs(2, 1);
    MUST(ashlar_tensormap_cache_invalidate(cache, 0, UINT64_MAX, NULL));
    cache_hits();
    for (count = 2; count <= cores; count *= 2)
        race_threads(count);
    if (cores < CREW_MOST)
        printf("# %u cores: more threads were not tried\n", cores);
    return 0;
}
