/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Something like a device, over the plug-in of examples/plugin/memfd.c: the host
 * does not reach its memory; copies and scatters are queued, and done when a
 * fence behind them is asked for the second time.
 */
#ifndef ASHLAR_TESTS_PLUGIN_DEVICE_H
#define ASHLAR_TESTS_PLUGIN_DEVICE_H

#include "broken.h"

/* Work that is queued. Of one stream for all sources: it is only a test. */
struct job {
    struct job *next;
    uint64_t to, from, bytes;
};

struct pass {
    int asked; /* once already */
};

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static struct job *first;
static struct job **last = &first;

static enum ashlar_status no_memory(const struct memfd *memfd)
{
    return memfd->host->fail(ASHLAR_ERR_NO_MEMORY, "device: no memory");
}

/* --- copy and scatter ----------------------------------------------------- */

static enum ashlar_status copy(void *state, uint64_t to, uint64_t from,
                               uint64_t bytes, uint64_t stream)
{
    struct memfd *memfd = state;
    struct job *job = memfd->host->alloc(sizeof(*job));

    (void)stream;
    if (job == NULL)
        return no_memory(memfd);
    *job = (struct job){NULL, to, from, bytes};
    pthread_mutex_lock(&queue_lock);
    *last = job;
    last = &job->next;
    pthread_mutex_unlock(&queue_lock);
    return ASHLAR_OK;
}

static void work_off(const struct memfd *memfd)
{
    struct job *job;

    pthread_mutex_lock(&queue_lock);
    while ((job = first) != NULL) {
        memmove(pages(job->to), pages(job->from), job->bytes);
        first = job->next;
        memfd->host->free(job);
    }
    last = &first;
    pthread_mutex_unlock(&queue_lock);
}

static enum ashlar_status scatter_load(void *state)
{
    (void)state;
    return ASHLAR_OK;
}

static enum ashlar_status scatter_at(void *state, uint64_t table,
                                     uint64_t staging, uint64_t indices,
                                     uint32_t count, uint64_t shift)
{
    const uint32_t *index = pages(indices);
    enum ashlar_status status = ASHLAR_OK;
    uint32_t i;

    work_off(state); /* the indices may be on their way */
    for (i = 0; i < count && status == ASHLAR_OK; i++)
        status = copy(state, table + (index[i] + shift) * 128,
                      staging + i * UINT64_C(128), 128, 0);
    return status;
}

static enum ashlar_status scatter(void *state, uint64_t table, uint64_t staging,
                                  uint64_t indices, uint32_t count,
                                  uint64_t stream)
{
    (void)stream;
    return scatter_at(state, table, staging, indices, count, 0);
}

/* --- fences --------------------------------------------------------------- */

static enum ashlar_status fence_record(void *state, uint64_t stream,
                                       uint64_t *fence_out)
{
    struct memfd *memfd = state;
    struct pass *pass = memfd->host->alloc(sizeof(*pass));

    (void)stream;
    if (pass == NULL)
        return no_memory(memfd);
    *fence_out = (uint64_t)(uintptr_t)pass;
    return ASHLAR_OK;
}

static enum ashlar_status fence_event(void *state, uint64_t event,
                                      uint64_t *fence_out)
{
    struct memfd *memfd = state;

    if (event == 0)
        return memfd->host->fail(ASHLAR_ERR_INVALID, "device: no event is 0");
    return fence_record(state, event, fence_out);
}

static enum ashlar_status fence_query(void *state, uint64_t fence)
{
    struct pass *pass = pages(fence);

    if (pass->asked++ == 0 && first != NULL)
        return ASHLAR_ERR_BUSY;
    work_off(state);
    return ASHLAR_OK;
}

static void fence_drop(void *state, uint64_t fence)
{
    struct memfd *memfd = state;

    memfd->host->free(pages(fence));
}

/* --- encode --------------------------------------------------------------- */

static enum ashlar_status encode(void *state, const struct ashlar_spec *spec,
                                 void *map_out)
{
    struct memfd *memfd = state;

    if (spec->rank < 1 || spec->rank > ASHLAR_SPEC_RANK_MAX)
        return memfd->host->fail(ASHLAR_ERR_INVALID, "device: rank %u",
                                 spec->rank);
    memset(map_out, 0, ASHLAR_TENSOR_MAP_BYTES);
    memcpy(map_out, &spec->address, sizeof(spec->address));
    memcpy((char *)map_out + 8, spec->dims, sizeof(spec->dims));
    return ASHLAR_OK;
}

static enum ashlar_status encode_many(void *state,
                                      const struct ashlar_spec *specs,
                                      size_t step, void *const *maps, size_t n,
                                      size_t *done_out)
{
    enum ashlar_status status = ASHLAR_OK;
    const char *spec = (const char *)specs;
    size_t i;

    for (i = 0; i < n; i++) {
        status = encode(state, (const void *)(spec + i * step), maps[i]);
        if (status != ASHLAR_OK)
            break;
    }
    *done_out = i;
    return status;
}

static enum ashlar_status encode_rebase(void *state, void *map,
                                        uint64_t address)
{
    (void)state;
    memcpy(map, &address, sizeof(address));
    return ASHLAR_OK;
}

/* --- the plug-in ---------------------------------------------------------- */

static enum ashlar_status
open_device(const struct ashlar_host *host,
            const struct ashlar_plugin_option *options, size_t option_count,
            struct ashlar_plugin_info *info, void **state_out)
{
    enum ashlar_status status =
        open_source(host, options, option_count, info, state_out);

    info->can = ASHLAR_CAN_RANGES | ASHLAR_CAN_COPY | ASHLAR_CAN_SCATTER |
                ASHLAR_CAN_FENCE | ASHLAR_CAN_ENCODE;
    return status;
}

#define DEVICE(_name, ...)                                                     \
    BROKEN(_name, .open = open_device, .copy = copy,                           \
           .scatter_load = scatter_load, .scatter = scatter,                   \
           .fence_record = fence_record, .fence_event = fence_event,           \
           .fence_query = fence_query, .fence_drop = fence_drop,               \
           .encode = encode, .encode_many = encode_many,                       \
           .encode_rebase = encode_rebase, __VA_ARGS__)

#endif
