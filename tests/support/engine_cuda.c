/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * The plug-in "cuda" on a simulated machine of eight devices, of which device 0
 * is home and the others are peers. A machine is made when the first source is
 * opened, and made anew with the first after all were closed.
 */
#include "config.h"

#include "support/engine.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/plugin.h"
#include "source/source.h"
#include "support/sim.h"

#include "driver.h" /* the plug-in's entries, to be counted */

#define GRANULE      (UINT64_C(2) << 20)
#define MEMORY_BYTES (UINT64_C(64) << 30)
#define LOCATIONS    8
#define NUMBERS_MOST 64
#define SCRATCH      64

/* What stands for a number. */
struct number {
    uint64_t number;
    CUstream stream;
    CUevent event;     /* behind what was held last */
    CUstream captures; /* begun for engine_capture(); NULL: not */
    CUgraph graph;
};

static struct {
    pthread_mutex_t lock;
    struct ashlar_plugin plugin; /* the plug-in's; open and close are below */
    struct ashlar_plugin own;
    unsigned open;
    struct number numbers[NUMBERS_MOST];
    unsigned number_count;
    unsigned event_count;
    CUdeviceptr scratch;
    uint64_t fail_nth;
    uint64_t fail_then;
    uint64_t calls_before;
} engine = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- sources ------------------------------------------------------------------ */

static void start_machine(uint64_t memory_bytes)
{
    char settings[64];

    (void)snprintf(settings, sizeof(settings), "devices=%d,memory=%lu",
                   LOCATIONS,
                   (unsigned long)(memory_bytes + GRANULE)); /* the scratch */
    sim_start(settings);
    CU(cu.MemAlloc(&engine.scratch, SCRATCH));
    engine.number_count = 0;
    engine.event_count = 0;
}

/* "memory" is ours; the rest, and its count, is the plug-in's. */
static uint64_t take_memory(const struct ashlar_plugin_option *options,
                            size_t *count, struct ashlar_plugin_option *rest)
{
    uint64_t bytes = 0;
    size_t kept = 0;
    size_t i;

    for (i = 0; i < *count; i++)
        if (strcmp(options[i].key, "memory") == 0)
            bytes = strtoull(options[i].value, NULL, 10);
        else
            rest[kept++] = options[i];
    *count = kept;
    return bytes;
}

static enum ashlar_status
engine_start(const struct ashlar_host *host,
             const struct ashlar_plugin_option *options, size_t option_count,
             struct ashlar_plugin_info *info, void **state_out)
{
    struct ashlar_plugin_option rest[16];
    uint64_t memory = take_memory(options, &option_count, rest);
    enum ashlar_status status;

    if (__atomic_fetch_add(&engine.open, 1, __ATOMIC_ACQ_REL) == 0)
        start_machine(memory == 0 ? MEMORY_BYTES : memory);
    status = engine.plugin.open(host, rest, option_count, info, state_out);
    if (status != ASHLAR_OK) {
        __atomic_fetch_sub(&engine.open, 1, __ATOMIC_ACQ_REL);
        return status;
    }
    if (memory != 0)
        info->memory_bytes = memory;
    info->location_count = LOCATIONS; /* the host's nodes left out */
    return ASHLAR_OK;
}

/* What the plug-in has not given back is said by a failed test. */
static void engine_end(void *state)
{
    struct cudasim_account account;

    engine.plugin.close(state);
    if (__atomic_sub_fetch(&engine.open, 1, __ATOMIC_ACQ_REL) != 0)
        return;
    account = sim_account();
    ck_assert_uint_eq(account.events, engine.event_count);
    ck_assert_uint_eq(account.user_objects, 0);
    ck_assert_uint_eq(account.contexts_retained, 1);
    ck_assert_uint_eq(account.bogus_handles, 0);
}

bool engine_is_vm(void)
{
    return false;
}

const char *engine_options(void)
{
    static char text[4200];

    (void)snprintf(text, sizeof(text), "driver=%s", sim_path());
    return text;
}

const char *engine_memory(uint64_t granules)
{
    static char text[48];

    (void)snprintf(text, sizeof(text), "memory=%lu",
                   (unsigned long)(granules * GRANULE));
    return text;
}

enum ashlar_status engine_open(const char *more,
                               struct ashlar_source **source_out)
{
    char options[4300];

    (void)snprintf(options, sizeof(options), "%s%s%s", engine_options(),
                   more == NULL ? "" : ",", more == NULL ? "" : more);
    return source_open_plugin(engine_plugin(), "cuda", options, source_out);
}

/* --- numbers ------------------------------------------------------------------ */

/* The thread keeps whatever context it has, also none. */
static CUcontext enter(void)
{
    CUcontext before;

    CU(cu.CtxGetCurrent(&before));
    CU(cu.CtxSetCurrent(sim.context));
    return before;
}

/* With the lock held: the default stream is 0's. */
static struct number *find_number(uint64_t number)
{
    struct number *found = engine.numbers;
    CUcontext before;
    unsigned i;

    for (i = 0; i < engine.number_count; i++, found++)
        if (found->number == number)
            return found;
    ck_assert_uint_lt(engine.number_count, NUMBERS_MOST);
    *found = (struct number){.number = number};
    before = enter();
    if (number != 0)
        CU(cu.StreamCreate(&found->stream, CU_STREAM_NON_BLOCKING));
    CU(cu.EventCreate(&found->event, CU_EVENT_DISABLE_TIMING));
    CU(cu.CtxSetCurrent(before));
    engine.number_count++;
    engine.event_count++;
    return found;
}

static struct number *number_of(uint64_t number)
{
    struct number *found;

    (void)pthread_mutex_lock(&engine.lock);
    found = find_number(number);
    (void)pthread_mutex_unlock(&engine.lock);
    return found;
}

/* Recorded here, so that asking for it calls no driver. */
enum ashlar_status engine_hold(struct ashlar_source *inner, uint64_t number)
{
    struct number *found = number_of(number);
    CUcontext before = enter();

    (void)inner;
    ck_assert_int_eq(sim.hold(found->stream), 0);
    ck_assert_int_eq(sim.touch(found->stream, engine.scratch, SCRATCH, 0), 0);
    CU(cu.EventRecord(found->event, found->stream));
    CU(cu.CtxSetCurrent(before));
    return ASHLAR_OK;
}

/* A graph of the number's own, which it keeps until it is finished. */
static void end_capture(struct number *number)
{
    CUgraph graph = NULL;

    if (number->captures == NULL)
        return;
    CU(cu.StreamEndCapture(number->captures, &graph));
    CU(cu.GraphDestroy(graph));
    CU(cu.StreamDestroy(number->captures));
    number->captures = NULL;
}

enum ashlar_status engine_finish(struct ashlar_source *inner, uint64_t number)
{
    struct number *found = number_of(number);

    /* No call of the driver that a failure could hit, where none is needed. */
    (void)inner;
    ck_assert_int_eq(sim.finish(found->stream), 0);
    end_capture(found);
    if (found->graph != NULL)
        CU(cu.GraphDestroy(found->graph));
    found->graph = NULL;
    return ASHLAR_OK;
}

void engine_prepare(uint64_t number)
{
    (void)number_of(number);
}

/* --- fences ------------------------------------------------------------------- */

static enum ashlar_status engine_record(void *state, uint64_t number,
                                        uint64_t *fence_out)
{
    CUstream stream = number_of(number)->stream;

    return engine.plugin.fence_record(state, (uint64_t)(uintptr_t)stream,
                                      fence_out);
}

static enum ashlar_status engine_event(void *state, uint64_t number,
                                       uint64_t *fence_out)
{
    CUevent event = number_of(number)->event;

    return engine.plugin.fence_event(state, (uint64_t)(uintptr_t)event,
                                     fence_out);
}

static void begin_capture(CUstream *stream_out)
{
    CU(cu.StreamCreate(stream_out, CU_STREAM_NON_BLOCKING));
    CU(cu.StreamBeginCapture(*stream_out, CU_STREAM_CAPTURE_MODE_GLOBAL));
}

static enum ashlar_status engine_capture(void *state, uint64_t number,
                                         uint64_t *fence_out)
{
    struct number *found = number_of(number);
    CUcontext before = enter();

    if (found->captures == NULL)
        begin_capture(&found->captures);
    CU(cu.CtxSetCurrent(before));
    return engine.plugin.fence_capture(
        state, (uint64_t)(uintptr_t)found->captures, fence_out);
}

static enum ashlar_status engine_graph(void *state, uint64_t number,
                                       uint64_t *fence_out)
{
    struct number *found = number_of(number);
    CUcontext before = enter();
    CUstream stream;

    if (found->graph == NULL) {
        begin_capture(&stream);
        CU(cu.StreamEndCapture(stream, &found->graph));
        CU(cu.StreamDestroy(stream));
    }
    CU(cu.CtxSetCurrent(before));
    return engine.plugin.fence_graph(state, (uint64_t)(uintptr_t)found->graph,
                                     fence_out);
}

/* --- copies and scatters -------------------------------------------------------- */

static enum ashlar_status engine_copy(void *state, uint64_t to, uint64_t from,
                                      uint64_t bytes, uint64_t number)
{
    CUstream stream = number_of(number)->stream;

    return engine.plugin.copy(state, to, from, bytes,
                              (uint64_t)(uintptr_t)stream);
}

static enum ashlar_status engine_scatter(void *state, uint64_t table,
                                         uint64_t staging, uint64_t indices,
                                         uint32_t count, uint64_t number)
{
    CUstream stream = number_of(number)->stream;

    return engine.plugin.scatter(state, table, staging, indices, count,
                                 (uint64_t)(uintptr_t)stream);
}

/* --- the plug-in --------------------------------------------------------------- */

static void load_plugin(void)
{
    const char *build = getenv("top_builddir");
    char path[4096];
    uint64_t can;

    (void)snprintf(path, sizeof(path), "%s/plugins/cuda/.libs/ashlar_cuda.so",
                   build == NULL ? "." : build);
    ck_assert_msg(plugin_load_file(path, "cuda", &engine.plugin, &can) ==
                      ASHLAR_OK,
                  "%s", ashlar_last_error_message());
    engine.own = engine.plugin;
    engine.own.open = engine_start;
    engine.own.close = engine_end;
    engine.own.copy = engine_copy;
    engine.own.scatter = engine_scatter;
    engine.own.fence_record = engine_record;
    engine.own.fence_event = engine_event;
    engine.own.fence_capture = engine_capture;
    engine.own.fence_graph = engine_graph;
}

const struct ashlar_plugin *engine_plugin(void)
{
    (void)pthread_mutex_lock(&engine.lock);
    if (engine.own.open == NULL)
        load_plugin();
    (void)pthread_mutex_unlock(&engine.lock);
    return &engine.own;
}

/* --- accounts ----------------------------------------------------------------- */

enum ashlar_status engine_rights(struct ashlar_source *inner, uint64_t address,
                                 uint32_t location, uint32_t *rights_out)
{
    const CUmemLocation where = {.type = CU_MEM_LOCATION_TYPE_DEVICE,
                                 .id = (int)location};
    unsigned long long flags = 0;

    (void)inner;
    if (cu.MemGetAccess(&flags, &where, address) != CUDA_SUCCESS)
        return ASHLAR_ERR_NOT_FOUND;
    *rights_out = (uint32_t)flags;
    return ASHLAR_OK;
}

/* Of all sources. */
struct engine_bytes engine_bytes(struct ashlar_source *inner)
{
    struct cudasim_account account = sim_account();

    (void)inner;
    return (struct engine_bytes){account.handle_bytes, account.mapped_bytes};
}

static const char *compare_rights(struct ashlar_source *inner,
                                  const struct model_item *mapping)
{
    uint32_t rights;
    uint32_t i;

    for (i = 0; i < LOCATIONS; i++) {
        if (engine_rights(inner, mapping->key, i, &rights) != ASHLAR_OK)
            return "the driver has a mapping less";
        if (rights != mapping->rights[i])
            return "the driver has other rights";
    }
    return NULL;
}

const char *engine_differs(struct ashlar_source *inner,
                           const struct model *model)
{
    struct cudasim_account account = sim_account();
    const char *differs = NULL;
    size_t i;

    for (i = 0; i < model->mappings.count && differs == NULL; i++)
        differs = compare_rights(inner, &model->mappings.items[i]);
    if (differs != NULL || __atomic_load_n(&engine.open, __ATOMIC_ACQUIRE) != 1)
        return differs;
    if (account.reservations != model->spaces.count)
        return "the driver has other reservations";
    if (account.handles != model->chunks.count ||
        account.references != model->chunks.count)
        return "the driver has other memory";
    return account.mappings == model->mappings.count
               ? NULL
               : "the driver has other mappings";
}

const char *engine_left(struct ashlar_source *inner)
{
    struct cudasim_account account = sim_account();

    (void)inner;
    if (__atomic_load_n(&engine.open, __ATOMIC_ACQUIRE) != 1)
        return NULL;
    if (account.reservations + account.reserved_bytes != 0)
        return "the driver has reservations";
    if (account.handles + account.references + account.handle_bytes != 0)
        return "the driver has memory";
    return account.mappings + account.mapped_bytes + account.accesses == 0
               ? NULL
               : "the driver has mappings";
}

/* --- failures ----------------------------------------------------------------- */

/* Calls of entries that can fail. */
static uint64_t count_calls(void)
{
#define NAME(_member, _entry, _version, _required) #_entry,
    static const char *const names[] = {CUDA_DRIVER_ENTRIES(NAME)};
    uint64_t calls = 0;
    size_t i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strncmp(names[i], "cuGetError", 10) != 0)
            calls += sim.calls(names[i]);
    return calls;
}

static void inject(uint64_t nth, bool for_ever)
{
    ck_assert_int_eq(sim.inject(NULL, nth, CUDA_ERROR_OUT_OF_MEMORY, for_ever),
                     0);
}

void engine_fail(uint64_t nth, uint64_t then, bool for_ever)
{
    engine.fail_nth = nth;
    engine.fail_then = then;
    engine.calls_before = count_calls();
    inject(nth, for_ever);
    if (then != 0)
        inject(then, false);
}

bool engine_has_driver(void)
{
    return true;
}

uint64_t engine_lift(void)
{
    uint64_t calls = count_calls() - engine.calls_before;

    sim.inject_none();
    if (calls < engine.fail_nth)
        return 0;
    return engine.fail_then != 0 && calls >= engine.fail_then ? 2 : 1;
}
