/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "source/plugin.h"

#include <string.h>

#include "base/error.h"

#define REQUIRED_BYTES offsetof(struct ashlar_plugin, block_usable)

/* --- what a missing group says ------------------------------------------- */

static enum ashlar_status unsupported(const char *what)
{
    return error_set(ASHLAR_ERR_UNSUPPORTED,
                     "this source has no %s; see what it can do by "
                     "ashlar_source_query()",
                     what);
}

static size_t no_block_usable(void *state, size_t bytes, size_t alignment)
{
    (void)state, (void)bytes, (void)alignment;
    return 0;
}

static void *no_block_alloc(void *state, size_t bytes, size_t alignment)
{
    (void)state, (void)bytes, (void)alignment;
    return NULL;
}

static void no_block_free(void *state, void *block, size_t bytes,
                          size_t alignment)
{
    (void)state, (void)block, (void)bytes, (void)alignment;
}

static void no_block_wish(void *state, void *address, size_t bytes)
{
    (void)state, (void)address, (void)bytes;
}

static enum ashlar_status no_reserve(void *state, uint64_t bytes,
                                     uint64_t alignment, uint64_t hint,
                                     uint64_t *address_out)
{
    (void)state, (void)bytes, (void)alignment, (void)hint, (void)address_out;
    return unsupported("ranges");
}

static enum ashlar_status no_range_pair(void *state, uint64_t what,
                                        uint64_t bytes)
{
    (void)state, (void)what, (void)bytes;
    return unsupported("ranges");
}

static enum ashlar_status
no_chunk_create(void *state, const struct ashlar_chunk_request *request,
                uint64_t *chunk_out)
{
    (void)state, (void)request, (void)chunk_out;
    return unsupported("ranges");
}

static enum ashlar_status no_map(void *state, uint64_t address, uint64_t chunk,
                                 uint64_t bytes)
{
    (void)state, (void)address, (void)chunk, (void)bytes;
    return unsupported("ranges");
}

static enum ashlar_status no_allow(void *state, uint64_t address,
                                   uint64_t bytes,
                                   const struct ashlar_access *access,
                                   size_t access_count)
{
    (void)state, (void)address, (void)bytes, (void)access, (void)access_count;
    return unsupported("ranges");
}

static enum ashlar_status no_copy(void *state, uint64_t to, uint64_t from,
                                  uint64_t bytes, uint64_t stream)
{
    (void)state, (void)to, (void)from, (void)bytes, (void)stream;
    return unsupported("copies");
}

static enum ashlar_status no_scatter_load(void *state)
{
    (void)state;
    return unsupported("scattering");
}

static enum ashlar_status no_scatter(void *state, uint64_t table,
                                     uint64_t staging, uint64_t indices,
                                     uint32_t count, uint64_t stream)
{
    (void)state, (void)table, (void)staging, (void)indices, (void)count;
    (void)stream;
    return unsupported("scattering");
}

static enum ashlar_status no_fence_record(void *state, uint64_t handle,
                                          uint64_t *fence_out)
{
    (void)state, (void)handle, (void)fence_out;
    return unsupported("fences");
}

static enum ashlar_status no_fence_query(void *state, uint64_t fence)
{
    (void)state, (void)fence;
    return unsupported("fences");
}

static void no_fence_drop(void *state, uint64_t fence)
{
    (void)state, (void)fence;
}

static enum ashlar_status no_fence_graph(void *state, uint64_t handle,
                                         uint64_t *fence_out)
{
    (void)state, (void)handle, (void)fence_out;
    return unsupported("fences on graphs");
}

static enum ashlar_status no_encode(void *state, const struct ashlar_spec *spec,
                                    void *map_out)
{
    (void)state, (void)spec, (void)map_out;
    return unsupported("encoder of tensor maps");
}

static enum ashlar_status no_encode_many(void *state,
                                         const struct ashlar_spec *specs,
                                         size_t step, void *const *maps,
                                         size_t n, size_t *done_out)
{
    (void)state, (void)specs, (void)step, (void)maps, (void)n;
    *done_out = 0;
    return unsupported("encoder of tensor maps");
}

static enum ashlar_status no_rebase(void *state, void *map, uint64_t address)
{
    (void)state, (void)map, (void)address;
    return unsupported("encoder of tensor maps");
}

static enum ashlar_status no_export(void *state, uint64_t chunk, uint64_t bytes,
                                    int *fd_out, uint64_t *offset_out)
{
    (void)state, (void)chunk, (void)bytes, (void)fd_out, (void)offset_out;
    return unsupported("export");
}

static enum ashlar_status no_import(void *state, int fd, uint64_t offset,
                                    uint64_t bytes, uint64_t *chunk_out)
{
    (void)state, (void)fd, (void)offset, (void)bytes, (void)chunk_out;
    return unsupported("export");
}

/* --- groups --------------------------------------------------------------- */

/* Members of the optional groups are function pointers, one behind another. */
typedef void (*any_function)(void);

struct group {
    const char *name;
    uint64_t can;
    size_t from; /* offset of its first member */
    size_t to;   /* offset behind its last */
};

#define GROUP(_name, _can, _first, _last)                                      \
    {                                                                          \
        _name, _can, offsetof(struct ashlar_plugin, _first),                   \
            offsetof(struct ashlar_plugin, _last) + sizeof(any_function)       \
    }

static const struct group groups[] = {
    GROUP("blocks", ASHLAR_CAN_BLOCKS, block_usable, block_prefer_huge),
    GROUP("ranges", ASHLAR_CAN_RANGES, reserve, allow),
    GROUP("copy", ASHLAR_CAN_COPY, copy, copy),
    GROUP("scatter", ASHLAR_CAN_SCATTER, scatter_load, scatter),
    GROUP("fence", ASHLAR_CAN_FENCE, fence_record, fence_drop),
    GROUP("encode", ASHLAR_CAN_ENCODE, encode, encode_rebase),
    GROUP("export", ASHLAR_CAN_EXPORT, chunk_export, chunk_import),
    GROUP("graph", ASHLAR_CAN_GRAPH, fence_capture, fence_graph),
};

#define GROUP_COUNT (sizeof(groups) / sizeof(groups[0]))

static const struct ashlar_plugin missing = {
    .block_usable = no_block_usable,
    .block_alloc = no_block_alloc,
    .block_free = no_block_free,
    .block_purge = no_block_wish,
    .block_prefer_huge = no_block_wish,
    .reserve = no_reserve,
    .release = no_range_pair,
    .chunk_create = no_chunk_create,
    .chunk_destroy = no_range_pair,
    .map = no_map,
    .unmap = no_range_pair,
    .allow = no_allow,
    .copy = no_copy,
    .scatter_load = no_scatter_load,
    .scatter = no_scatter,
    .fence_record = no_fence_record,
    .fence_event = no_fence_record,
    .fence_query = no_fence_query,
    .fence_drop = no_fence_drop,
    .encode = no_encode,
    .encode_many = no_encode_many,
    .encode_rebase = no_rebase,
    .chunk_export = no_export,
    .chunk_import = no_import,
    .fence_capture = no_fence_graph,
    .fence_graph = no_fence_graph,
};

/* How many members of a group are set, of how many. */
static size_t group_count(const struct ashlar_plugin *plugin,
                          const struct group *group, size_t *all_out)
{
    const any_function *member;
    size_t count = 0;
    size_t i;

    *all_out = (group->to - group->from) / sizeof(any_function);
    member = (const any_function *)(const void *)((const char *)plugin +
                                                  group->from);
    for (i = 0; i < *all_out; i++)
        count += member[i] != NULL;
    return count;
}

/* Groups are whole, or absent and then completed. */
static enum ashlar_status complete(struct ashlar_plugin *own, uint64_t *can_out)
{
    uint64_t can = 0;
    size_t count;
    size_t all;
    size_t i;

    for (i = 0; i < GROUP_COUNT; i++) {
        count = group_count(own, &groups[i], &all);
        if (count != 0 && count != all)
            return error_set(ASHLAR_ERR_NO_PLUGIN,
                             "plug-in \"%s\" has %zu of the %zu functions of "
                             "the group \"%s\"; a group is whole or absent",
                             own->name, count, all, groups[i].name);
        if (count == all)
            can |= groups[i].can;
        else
            memcpy((char *)own + groups[i].from,
                   (const char *)&missing + groups[i].from,
                   groups[i].to - groups[i].from);
    }
    if ((can & ASHLAR_CAN_GRAPH) != 0 && (can & ASHLAR_CAN_FENCE) == 0)
        return error_set(ASHLAR_ERR_NO_PLUGIN,
                         "plug-in \"%s\" has the group \"graph\" without "
                         "\"fence\", by which its fences are queried",
                         own->name);
    *can_out = can;
    return ASHLAR_OK;
}

uint64_t plugin_groups(void)
{
    uint64_t all = 0;
    size_t i;

    for (i = 0; i < GROUP_COUNT; i++)
        all |= groups[i].can;
    return all;
}

bool plugin_name_is_good(const char *name)
{
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");

    return length != 0 && name[length] == '\0' && length < SOURCE_NAME_BYTES;
}

static enum ashlar_status check_required(const struct ashlar_plugin *own,
                                         const char *name)
{
    if (own->name == NULL || !plugin_name_is_good(own->name))
        return error_set(ASHLAR_ERR_NO_PLUGIN,
                         "the plug-in calls itself \"%s\"; a name is 1 to %d "
                         "of a-z, 0-9 and _",
                         own->name == NULL ? "(NULL)" : own->name,
                         SOURCE_NAME_BYTES - 1);
    if (name != NULL && strcmp(own->name, name) != 0)
        return error_set(ASHLAR_ERR_NO_PLUGIN,
                         "the file is for a plug-in \"%s\", but the plug-in "
                         "calls itself \"%s\"",
                         name, own->name);
    if (own->open == NULL || own->close == NULL)
        return error_set(ASHLAR_ERR_NO_PLUGIN,
                         "plug-in \"%s\" has no %s function", own->name,
                         own->open == NULL ? "open" : "close");
    return ASHLAR_OK;
}

enum ashlar_status plugin_check(const struct ashlar_plugin *given,
                                const char *name, struct ashlar_plugin *own_out,
                                uint64_t *can_out)
{
    struct ashlar_plugin own;
    enum ashlar_status status;
    size_t bytes = sizeof(own);

    memset(&own, 0, sizeof(own));
    if (given->abi != ASHLAR_PLUGIN_ABI)
        return error_set(ASHLAR_ERR_NO_PLUGIN,
                         "the plug-in was built for ABI %u, and this library "
                         "has %u; build it again with this library's headers",
                         given->abi, ASHLAR_PLUGIN_ABI);
    if (given->struct_size < REQUIRED_BYTES)
        return error_set(ASHLAR_ERR_NO_PLUGIN,
                         "the plug-in's struct has %u bytes; the required part "
                         "alone has %zu",
                         given->struct_size, (size_t)REQUIRED_BYTES);
    if (given->struct_size < bytes)
        bytes =
            given->struct_size / sizeof(any_function) * sizeof(any_function);
    memcpy(&own, given, bytes);
    own.struct_size = (uint32_t)sizeof(own);
    status = check_required(&own, name);
    if (status == ASHLAR_OK)
        status = complete(&own, can_out);
    if (status == ASHLAR_OK)
        *own_out = own;
    return status;
}
