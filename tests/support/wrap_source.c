/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "support/wrap_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/thread.h"
#include "support/engine.h"
#include "support/suite.h"

#define GARBAGE UINT64_C(0xdeadbeefdeadb000)
/* In granules: the arena, and room for neighbours between its reservations. */
#define ARENA_GRANULES (UINT64_C(256) << 10)
#define GAP_GRANULES   (UINT64_C(2) << 10)

#define NOTHING (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

/* --- what fails ----------------------------------------------------------- */

static const enum ashlar_status usual[WRAP_OPS] = {
    [WRAP_RESERVE] = ASHLAR_ERR_NO_ADDRESS_SPACE,
    [WRAP_RELEASE] = ASHLAR_ERR_DRIVER,
    [WRAP_CREATE] = ASHLAR_ERR_NO_DEVICE_MEMORY,
    [WRAP_DESTROY] = ASHLAR_ERR_DRIVER,
    [WRAP_MAP] = ASHLAR_ERR_DRIVER,
    [WRAP_UNMAP] = ASHLAR_ERR_DRIVER,
    [WRAP_ALLOW] = ASHLAR_ERR_DRIVER,
    [WRAP_FENCE_RECORD] = ASHLAR_ERR_DRIVER,
    [WRAP_FENCE_EVENT] = ASHLAR_ERR_DRIVER,
    [WRAP_FENCE_CAPTURE] = ASHLAR_ERR_DRIVER,
    [WRAP_FENCE_GRAPH] = ASHLAR_ERR_DRIVER,
    [WRAP_FENCE_QUERY] = ASHLAR_ERR_DRIVER,
    [WRAP_EXPORT] = ASHLAR_ERR_LIMIT,
    [WRAP_IMPORT] = ASHLAR_ERR_DRIVER,
    [WRAP_COPY] = ASHLAR_ERR_DRIVER,
    [WRAP_SCATTER_LOAD] = ASHLAR_ERR_DRIVER,
    [WRAP_SCATTER] = ASHLAR_ERR_DRIVER,
};

static bool gives_back(enum wrap_op op)
{
    return op == WRAP_RELEASE || op == WRAP_DESTROY || op == WRAP_UNMAP;
}

static bool is_due(const struct wrap *wrap, enum wrap_op op)
{
    const struct wrap_fault *fault = &wrap->fault;
    uint64_t n = wrap->counted;

    return n == fault->at || (fault->then != 0 && n == fault->then) ||
           (fault->for_ever && n > fault->at) ||
           (fault->stuck && gives_back(op)) ||
           (fault->stuck && op == WRAP_ALLOW && n > fault->at);
}

/* With the lock held: count an operation; ASHLAR_OK when it is to be done. */
static enum ashlar_status begin(struct wrap *wrap, enum wrap_op op)
{
    const struct wrap_fault *fault = &wrap->fault;
    enum ashlar_status status = usual[op];

    wrap->calls[op]++;
    if (fault->at == 0 || (fault->only != 0 && (fault->only >> op & 1) == 0))
        return ASHLAR_OK;
    wrap->counted++;
    if (!is_due(wrap, op))
        return ASHLAR_OK;
    wrap->failures++;
    if (fault->status != ASHLAR_OK)
        status = fault->status;
    return (*wrap->host->fail)(status,
                               "failed on purpose: operation %d, call %lu",
                               (int)op, (unsigned long)wrap->counted);
}

static enum ashlar_status refuse(struct wrap *wrap)
{
    return (*wrap->host->fail)(ASHLAR_ERR_INVALID, "a rule was broken: %s",
                               wrap->model.wrong);
}

/* --- addresses ------------------------------------------------------------ */

static bool in_arena(const struct wrap *wrap, uint64_t address, uint64_t bytes)
{
    uint64_t arena = ARENA_GRANULES * wrap->model.granule;

    return address >= wrap->arena && bytes <= arena &&
           address - wrap->arena <= arena - bytes;
}

/* Keep others out of a part of the arena. Another thread's malloc() may have
 * taken it meanwhile: then no part of the arena is ours to unmap any more. */
static void guard(struct wrap *wrap, uint64_t address, uint64_t bytes)
{
    void *at = (void *)(uintptr_t)address;

    if (in_arena(wrap, address, bytes) &&
        mmap(at, bytes, PROT_NONE, NOTHING | MAP_FIXED_NOREPLACE, -1, 0) != at)
        wrap->lost = true;
}

/* A place in the arena with room around it; 0 for none. */
static uint64_t find_place(const struct wrap *wrap, uint64_t bytes,
                           uint64_t alignment)
{
    uint64_t gap = GAP_GRANULES * wrap->model.granule;
    uint64_t at = wrap->arena + gap;
    const struct model_item *near;

    for (;;) {
        at = (at + alignment - 1) & ~(alignment - 1);
        if (!in_arena(wrap, at, bytes + gap))
            return 0;
        near = model_over(&wrap->model.spaces, at - gap, bytes + 2 * gap);
        if (near == NULL)
            return at;
        at = near->key + near->bytes + gap;
    }
}

/* Reserve at a place, if it is free in the arena, or wherever the source does.
 * The simulated driver has addresses of its own and never looks at the arena, so
 * nothing there makes way for it. */
static enum ashlar_status reserve_at(struct wrap *wrap, uint64_t bytes,
                                     uint64_t alignment, uint64_t place,
                                     uint64_t *address_out)
{
    bool ours = engine_is_vm() && !wrap->lost && place != 0 &&
                in_arena(wrap, place, bytes) &&
                model_over(&wrap->model.spaces, place, bytes) == NULL;
    enum ashlar_status status;

    if (ours)
        (void)munmap((void *)(uintptr_t)place, bytes);
    status = wrap->inner.ops.reserve(wrap->inner.state, bytes, alignment, place,
                                     address_out);
    if (ours && (status != ASHLAR_OK || *address_out != place))
        guard(wrap, place, bytes);
    return status;
}

static enum ashlar_status wrap_reserve(void *state, uint64_t bytes,
                                       uint64_t alignment, uint64_t hint,
                                       uint64_t *address_out)
{
    struct wrap *wrap = state;
    enum ashlar_status status;
    uint64_t place = hint;

    (void)pthread_mutex_lock(&wrap->lock);
    wrap->hints += hint != 0;
    status = begin(wrap, WRAP_RESERVE);
    if (status == ASHLAR_OK &&
        !model_may_reserve(&wrap->model, bytes, alignment, hint))
        status = refuse(wrap);
    if (status == ASHLAR_OK && hint != 0 && wrap->hint == WRAP_REFUSED)
        status = (*wrap->host->fail)(ASHLAR_ERR_NO_ADDRESS_SPACE,
                                     "hints are refused here");
    if (hint == 0 || wrap->hint == WRAP_ELSEWHERE)
        place = find_place(wrap, bytes, alignment);
    if (status == ASHLAR_OK)
        status = reserve_at(wrap, bytes, alignment, place, address_out);
    if (status == ASHLAR_OK)
        model_reserved(&wrap->model, *address_out, bytes);
    else
        *address_out = GARBAGE;
    (void)pthread_mutex_unlock(&wrap->lock);
    return status;
}

static enum ashlar_status wrap_release(void *state, uint64_t address,
                                       uint64_t bytes)
{
    struct wrap *wrap = state;
    enum ashlar_status status;

    (void)pthread_mutex_lock(&wrap->lock);
    status = begin(wrap, WRAP_RELEASE);
    if (status == ASHLAR_OK && !model_may_release(&wrap->model, address, bytes))
        status = refuse(wrap);
    if (status == ASHLAR_OK)
        status = wrap->inner.ops.release(wrap->inner.state, address, bytes);
    if (status == ASHLAR_OK) {
        model_released(&wrap->model, address);
        if (!wrap->lost)
            guard(wrap, address, bytes);
    }
    (void)pthread_mutex_unlock(&wrap->lock);
    return status;
}

/* --- chunks and mappings -------------------------------------------------- */

static enum ashlar_status
wrap_create(void *state, const struct ashlar_chunk_request *request,
            uint64_t *chunk_out)
{
    struct wrap *wrap = state;
    enum ashlar_status status;

    (void)pthread_mutex_lock(&wrap->lock);
    status = begin(wrap, WRAP_CREATE);
    if (status == ASHLAR_OK && !model_may_create(&wrap->model, request->bytes))
        status = refuse(wrap);
    if (status == ASHLAR_OK)
        status =
            wrap->inner.ops.chunk_create(wrap->inner.state, request, chunk_out);
    if (status == ASHLAR_OK)
        model_created(&wrap->model, *chunk_out, request->bytes);
    else
        *chunk_out = GARBAGE;
    (void)pthread_mutex_unlock(&wrap->lock);
    return status;
}

static enum ashlar_status wrap_destroy(void *state, uint64_t chunk,
                                       uint64_t bytes)
{
    struct wrap *wrap = state;
    enum ashlar_status status;

    (void)pthread_mutex_lock(&wrap->lock);
    status = begin(wrap, WRAP_DESTROY);
    if (status == ASHLAR_OK && !model_may_destroy(&wrap->model, chunk, bytes))
        status = refuse(wrap);
    if (status == ASHLAR_OK)
        status = wrap->inner.ops.chunk_destroy(wrap->inner.state, chunk, bytes);
    if (status == ASHLAR_OK)
        model_destroyed(&wrap->model, chunk);
    (void)pthread_mutex_unlock(&wrap->lock);
    return status;
}

static enum ashlar_status wrap_map(void *state, uint64_t address,
                                   uint64_t chunk, uint64_t bytes)
{
    struct wrap *wrap = state;
    enum ashlar_status status;

    (void)pthread_mutex_lock(&wrap->lock);
    status = begin(wrap, WRAP_MAP);
    if (status == ASHLAR_OK &&
        !model_may_map(&wrap->model, address, chunk, bytes))
        status = refuse(wrap);
    if (status == ASHLAR_OK)
        status = wrap->inner.ops.map(wrap->inner.state, address, chunk, bytes);
    if (status == ASHLAR_OK)
        model_mapped(&wrap->model, address, chunk, bytes);
    (void)pthread_mutex_unlock(&wrap->lock);
    return status;
}

static enum ashlar_status wrap_unmap(void *state, uint64_t address,
                                     uint64_t bytes)
{
    struct wrap *wrap = state;
    enum ashlar_status status;

    (void)pthread_mutex_lock(&wrap->lock);
    status = begin(wrap, WRAP_UNMAP);
    if (status == ASHLAR_OK &&
        !model_is_whole(&wrap->model, address, bytes, "unmapped"))
        status = refuse(wrap);
    if (status == ASHLAR_OK)
        status = wrap->inner.ops.unmap(wrap->inner.state, address, bytes);
    if (status == ASHLAR_OK)
        model_unmapped(&wrap->model, address, bytes);
    (void)pthread_mutex_unlock(&wrap->lock);
    return status;
}

static enum ashlar_status wrap_allow(void *state, uint64_t address,
                                     uint64_t bytes,
                                     const struct ashlar_access *access,
                                     size_t access_count)
{
    struct wrap *wrap = state;
    enum ashlar_status status;

    (void)pthread_mutex_lock(&wrap->lock);
    status = begin(wrap, WRAP_ALLOW);
    if (status == ASHLAR_OK &&
        !model_may_allow(&wrap->model, address, bytes, access, access_count))
        status = refuse(wrap);
    if (status == ASHLAR_OK)
        status = wrap->inner.ops.allow(wrap->inner.state, address, bytes,
                                       access, access_count);
    if (status == ASHLAR_OK)
        model_allowed(&wrap->model, address, bytes, access, access_count);
    (void)pthread_mutex_unlock(&wrap->lock);
    return status;
}

/* --- copies and scatters --------------------------------------------------- */

static enum ashlar_status wrap_copy(void *state, uint64_t to, uint64_t from,
                                    uint64_t bytes, uint64_t stream)
{
    struct wrap *wrap = state;
    enum ashlar_status status;

    (void)pthread_mutex_lock(&wrap->lock);
    status = begin(wrap, WRAP_COPY);
    (void)pthread_mutex_unlock(&wrap->lock);
    if (status != ASHLAR_OK)
        return status;
    return wrap->inner.ops.copy(wrap->inner.state, to, from, bytes, stream);
}

static enum ashlar_status wrap_scatter_load(void *state)
{
    struct wrap *wrap = state;
    enum ashlar_status status;

    (void)pthread_mutex_lock(&wrap->lock);
    status = begin(wrap, WRAP_SCATTER_LOAD);
    (void)pthread_mutex_unlock(&wrap->lock);
    if (status != ASHLAR_OK)
        return status;
    return wrap->inner.ops.scatter_load(wrap->inner.state);
}

static enum ashlar_status wrap_scatter(void *state, uint64_t table,
                                       uint64_t staging, uint64_t indices,
                                       uint32_t count, uint64_t stream)
{
    struct wrap *wrap = state;
    enum ashlar_status status;

    (void)pthread_mutex_lock(&wrap->lock);
    status = begin(wrap, WRAP_SCATTER);
    (void)pthread_mutex_unlock(&wrap->lock);
    if (status != ASHLAR_OK)
        return status;
    return wrap->inner.ops.scatter(wrap->inner.state, table, staging, indices,
                                   count, stream);
}

/* --- fences --------------------------------------------------------------- */

typedef enum ashlar_status make_fence(void *state, uint64_t handle,
                                      uint64_t *fence_out);

static enum ashlar_status record(struct wrap *wrap, enum wrap_op op,
                                 make_fence *make, uint64_t handle,
                                 uint64_t *fence_out)
{
    enum ashlar_status status;

    (void)pthread_mutex_lock(&wrap->lock);
    status = begin(wrap, op);
    if (status == ASHLAR_OK)
        status = make(wrap->inner.state, handle, fence_out);
    if (status == ASHLAR_OK)
        model_fenced(&wrap->model, *fence_out);
    else
        *fence_out = GARBAGE;
    (void)pthread_mutex_unlock(&wrap->lock);
    return status;
}

static enum ashlar_status wrap_fence_record(void *state, uint64_t stream,
                                            uint64_t *fence_out)
{
    struct wrap *wrap = state;

    if (stream != 0 && stream == wrap->captured)
        return (*wrap->host->fail)(ASHLAR_ERR_CAPTURE,
                                   "stream %lu is being captured",
                                   (unsigned long)stream);
    return record(wrap, WRAP_FENCE_RECORD, wrap->inner.ops.fence_record, stream,
                  fence_out);
}

static enum ashlar_status wrap_fence_event(void *state, uint64_t event,
                                           uint64_t *fence_out)
{
    struct wrap *wrap = state;

    return record(wrap, WRAP_FENCE_EVENT, wrap->inner.ops.fence_event, event,
                  fence_out);
}

static enum ashlar_status wrap_fence_capture(void *state, uint64_t stream,
                                             uint64_t *fence_out)
{
    struct wrap *wrap = state;

    return record(wrap, WRAP_FENCE_CAPTURE, wrap->inner.ops.fence_capture,
                  stream, fence_out);
}

static enum ashlar_status wrap_fence_graph(void *state, uint64_t graph,
                                           uint64_t *fence_out)
{
    struct wrap *wrap = state;

    return record(wrap, WRAP_FENCE_GRAPH, wrap->inner.ops.fence_graph, graph,
                  fence_out);
}

static enum ashlar_status wrap_fence_query(void *state, uint64_t fence)
{
    struct wrap *wrap = state;
    enum ashlar_status status;

    (void)pthread_mutex_lock(&wrap->lock);
    status = begin(wrap, WRAP_FENCE_QUERY);
    if (status == ASHLAR_OK &&
        !model_has_fence(&wrap->model, fence, "asked for"))
        status = refuse(wrap);
    if (status == ASHLAR_OK)
        status = wrap->inner.ops.fence_query(wrap->inner.state, fence);
    (void)pthread_mutex_unlock(&wrap->lock);
    return status;
}

static void wrap_fence_drop(void *state, uint64_t fence)
{
    struct wrap *wrap = state;

    (void)pthread_mutex_lock(&wrap->lock);
    if (model_has_fence(&wrap->model, fence, "dropped")) {
        wrap->inner.ops.fence_drop(wrap->inner.state, fence);
        model_dropped(&wrap->model, fence);
    }
    (void)pthread_mutex_unlock(&wrap->lock);
}

/* --- export --------------------------------------------------------------- */

static enum ashlar_status wrap_export(void *state, uint64_t chunk,
                                      uint64_t bytes, int *fd_out,
                                      uint64_t *offset_out)
{
    struct wrap *wrap = state;
    enum ashlar_status status;

    (void)pthread_mutex_lock(&wrap->lock);
    status = begin(wrap, WRAP_EXPORT);
    if (status == ASHLAR_OK && model_chunk(&wrap->model, chunk) == NULL)
        (void)model_wrong(&wrap->model, "exported %lx, no chunk",
                          (unsigned long)chunk);
    if (status == ASHLAR_OK)
        status = wrap->inner.ops.chunk_export(wrap->inner.state, chunk, bytes,
                                              fd_out, offset_out);
    (void)pthread_mutex_unlock(&wrap->lock);
    return status;
}

static enum ashlar_status wrap_import(void *state, int fd, uint64_t offset,
                                      uint64_t bytes, uint64_t *chunk_out)
{
    struct wrap *wrap = state;
    enum ashlar_status status;

    (void)pthread_mutex_lock(&wrap->lock);
    status = begin(wrap, WRAP_IMPORT);
    if (status == ASHLAR_OK)
        status = wrap->inner.ops.chunk_import(wrap->inner.state, fd, offset,
                                              bytes, chunk_out);
    if (status == ASHLAR_OK)
        model_created(&wrap->model, *chunk_out, bytes);
    else
        *chunk_out = GARBAGE;
    (void)pthread_mutex_unlock(&wrap->lock);
    return status;
}

/* --- open and close ------------------------------------------------------- */

static enum ashlar_status wrap_start(const struct ashlar_host *host,
                                     const struct ashlar_plugin_option *options,
                                     size_t option_count,
                                     struct ashlar_plugin_info *info,
                                     void **state_out)
{
    struct wrap *wrap = calloc(1, sizeof(*wrap));
    enum ashlar_status status;

    ck_assert_ptr_nonnull(wrap);
    wrap->host = host;
    wrap->inner.ops = *engine_plugin();
    wrap->inner.process = thread_process();
    (void)pthread_mutex_init(&wrap->lock, NULL);
    status = engine_plugin()->open(host, options, option_count, info,
                                   &wrap->inner.state);
    if (status != ASHLAR_OK) {
        free(wrap);
        return status;
    }
    wrap->inner.info = *info;
    wrap->model.granule = info->granule;
    wrap->arena = (uint64_t)(uintptr_t)mmap(
        NULL, ARENA_GRANULES * info->granule, PROT_NONE, NOTHING, -1, 0);
    ck_assert(wrap->arena != (uint64_t)(uintptr_t)MAP_FAILED);
    *state_out = wrap;
    return ASHLAR_OK;
}

static void wrap_end(void *state)
{
    struct wrap *wrap = state;

    engine_plugin()->close(wrap->inner.state);
    if (!wrap->lost)
        (void)munmap((void *)(uintptr_t)wrap->arena,
                     ARENA_GRANULES * wrap->model.granule);
    (void)pthread_mutex_destroy(&wrap->lock);
    model_free(&wrap->model);
    free(wrap);
}

static enum ashlar_status
wrap_encode(void *state, const struct ashlar_spec *spec, void *map_out)
{
    struct wrap *wrap = state;

    return wrap->inner.ops.encode(wrap->inner.state, spec, map_out);
}

static enum ashlar_status wrap_encode_many(void *state,
                                           const struct ashlar_spec *specs,
                                           size_t step, void *const *maps,
                                           size_t n, size_t *done_out)
{
    struct wrap *wrap = state;

    return wrap->inner.ops.encode_many(wrap->inner.state, specs, step, maps, n,
                                       done_out);
}

static enum ashlar_status wrap_encode_rebase(void *state, void *map,
                                             uint64_t address)
{
    struct wrap *wrap = state;

    return wrap->inner.ops.encode_rebase(wrap->inner.state, map, address);
}

static const struct ashlar_plugin wrap_plugin = {
    .abi = ASHLAR_PLUGIN_ABI,
    .struct_size = sizeof(struct ashlar_plugin),
    .name = "wrap",
    .version = "1",
    .open = wrap_start,
    .close = wrap_end,
    .reserve = wrap_reserve,
    .release = wrap_release,
    .chunk_create = wrap_create,
    .chunk_destroy = wrap_destroy,
    .map = wrap_map,
    .unmap = wrap_unmap,
    .allow = wrap_allow,
    .copy = wrap_copy,
    .scatter_load = wrap_scatter_load,
    .scatter = wrap_scatter,
    .fence_record = wrap_fence_record,
    .fence_event = wrap_fence_event,
    .fence_query = wrap_fence_query,
    .fence_drop = wrap_fence_drop,
    .encode = wrap_encode,
    .encode_many = wrap_encode_many,
    .encode_rebase = wrap_encode_rebase,
    .chunk_export = wrap_export,
    .chunk_import = wrap_import,
    .fence_capture = wrap_fence_capture,
    .fence_graph = wrap_fence_graph,
};

struct ashlar_source *wrap_open_as(const char *options)
{
    struct ashlar_source *source = NULL;

    ck_assert_msg(source_open_plugin(&wrap_plugin, "wrap", options, &source) ==
                      ASHLAR_OK,
                  "%s", ashlar_last_error_message());
    return source;
}

struct ashlar_source *wrap_open(const char *more)
{
    char all[4400];

    (void)snprintf(all, sizeof(all), "%s%s%s", engine_options(),
                   more == NULL ? "" : ",", more == NULL ? "" : more);
    return wrap_open_as(all);
}

struct wrap *wrap_of(const struct ashlar_source *source)
{
    return source->state;
}

void wrap_arm(struct ashlar_source *source, struct wrap_fault fault)
{
    struct wrap *wrap = wrap_of(source);

    (void)pthread_mutex_lock(&wrap->lock);
    wrap->fault = fault;
    wrap->counted = 0;
    wrap->failures = 0;
    (void)pthread_mutex_unlock(&wrap->lock);
}

uint64_t wrap_lift(struct ashlar_source *source)
{
    struct wrap *wrap = wrap_of(source);
    uint64_t failures;

    (void)pthread_mutex_lock(&wrap->lock);
    failures = wrap->failures;
    wrap->fault = (struct wrap_fault){.at = 0};
    (void)pthread_mutex_unlock(&wrap->lock);
    return failures;
}

uint64_t wrap_calls(struct ashlar_source *source)
{
    struct wrap *wrap = wrap_of(source);
    uint64_t calls = 0;
    unsigned op;

    (void)pthread_mutex_lock(&wrap->lock);
    for (op = 0; op < WRAP_OPS; op++)
        calls += wrap->calls[op];
    (void)pthread_mutex_unlock(&wrap->lock);
    return calls;
}

struct model wrap_model(struct ashlar_source *source)
{
    struct wrap *wrap = wrap_of(source);
    struct model copy;

    (void)pthread_mutex_lock(&wrap->lock);
    copy = model_copy(&wrap->model);
    (void)pthread_mutex_unlock(&wrap->lock);
    return copy;
}

void wrap_close(struct ashlar_source *source)
{
    struct wrap *wrap = wrap_of(source);
    const char *left = engine_left(&wrap->inner);

    ck_assert_msg(wrap->model.wrong[0] == '\0', "%s", wrap->model.wrong);
    ck_assert(model_is_empty(&wrap->model));
    ck_assert_msg(left == NULL, "%s", left);
    ck_assert_msg(ashlar_source_close(source) == ASHLAR_OK, "%s",
                  ashlar_last_error_message());
}
