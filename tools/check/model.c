/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "check/model.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/content.h"
#include "check/host.h"
#include "must.h"

/* Outputs are written only on success: this is what they hold before. */
#define UNWRITTEN UINT64_C(0xbadc0ffee0ddf00d)

bool model_start(struct model *model, struct subject *subject, uint64_t seed)
{
    uint64_t most = subject->info.memory_bytes / 2;

    memset(model, 0, sizeof(*model));
    model->subject = subject;
    model->seed = 2 * seed + 1;
    model->granule = subject->info.granule;
    model->most_bytes = 64 * model->granule;
    if (most != 0 && model->most_bytes > most)
        model->most_bytes = most;
    if (pipe2(model->pipe, O_CLOEXEC | O_NONBLOCK) == 0)
        return true;
    model->pipe[0] = model->pipe[1] = -1;
    return false;
}

uint64_t model_random(struct model *model, uint64_t below)
{
    model->seed ^= model->seed << 13;
    model->seed ^= model->seed >> 7;
    model->seed ^= model->seed << 17;
    return (model->seed >> 11) % below;
}

bool model_expect(struct model *model, enum check check,
                  enum ashlar_status status, const char *what)
{
    struct check_report *report = model->subject->report;

    if (status != ASHLAR_OK && model->starved && host_has_failed())
        return !check_that(report, CHECK_NO_MEMORY, true, "-");
    if (check_that(report, check, status == ASHLAR_OK, "%s failed: %s", what,
                   host_sentence()))
        return true;
    model->broken = true;
    return false;
}

bool model_expect_refusal(struct model *model, enum ashlar_status status,
                          const char *format, ...)
{
    char what[160];
    va_list list;

    va_start(list, format);
    vsnprintf(what, sizeof(what), format, list);
    va_end(list);
    if (check_that(model->subject->report, CHECK_REFUSALS, status != ASHLAR_OK,
                   "%s succeeded", what))
        return true;
    model->broken = true;
    return false;
}

/* An output after a call that failed. */
static void expect_unwritten(struct model *model, enum ashlar_status status,
                             uint64_t output, const char *operation)
{
    if (status != ASHLAR_OK)
        check_that(model->subject->report, CHECK_REFUSALS, output == UNWRITTEN,
                   "%s() failed, but wrote its output", operation);
}

/* --- space ---------------------------------------------------------------- */

static bool overlaps(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes)
{
    return a < b + b_bytes && b < a + a_bytes;
}

static bool check_granted(struct model *model, uint64_t address, uint64_t bytes,
                          uint64_t alignment)
{
    const struct model_space *space;
    bool good = address != 0 && address % alignment == 0;
    uint32_t i;

    good = check_that(model->subject->report, CHECK_RESERVE, good,
                      "0x%" PRIx64 " was granted for an alignment of %" PRIu64,
                      address, alignment);
    for (i = 0; i < model->space_count && good; i++) {
        space = &model->spaces[i];
        good =
            check_that(model->subject->report, CHECK_RESERVE,
                       !overlaps(address, bytes, space->address, space->bytes),
                       "%" PRIu64 " bytes at 0x%" PRIx64
                       " were granted, which are reserved already",
                       bytes, address);
    }
    model->broken |= !good;
    return good;
}

bool model_reserve(struct model *model, uint64_t bytes, uint64_t alignment,
                   uint64_t hint)
{
    uint64_t address = UNWRITTEN;
    enum ashlar_status status =
        CALL(model->subject, reserve, bytes, alignment, hint, &address);

    expect_unwritten(model, status, address, "reserve");
    /* A hint may be refused, whatever it is. */
    if (status != ASHLAR_OK && hint != 0)
        return false;
    if (!model_expect(model, CHECK_RESERVE, status, "reserve()") ||
        !check_granted(model, address, bytes, alignment))
        return false;
    model->spaces[model->space_count++] = (struct model_space){address, bytes};
    return true;
}

bool model_release(struct model *model, uint32_t i)
{
    struct model_space space = model->spaces[i];
    bool empty = model_cover(model, space.address, space.bytes) == COVER_NONE;
    enum ashlar_status status =
        CALL(model->subject, release, space.address, space.bytes);

    if (!empty)
        return model_expect_refusal(model, status,
                                    "release() with something mapped in it");
    if (!model_expect(model, CHECK_RESERVE, status, "release()"))
        return false;
    model->spaces[i] = model->spaces[--model->space_count];
    return true;
}

/* --- chunks --------------------------------------------------------------- */

uint32_t model_chunk_room(const struct model *model)
{
    uint32_t i = 0;

    while (i < MODEL_CHUNKS && model->chunks[i].bytes != 0)
        i++;
    return i;
}

bool model_create(struct model *model, uint64_t bytes, uint64_t group,
                  uint32_t *chunk_out)
{
    struct ashlar_chunk_request request = {sizeof(request), bytes, group};
    uint32_t i = model_chunk_room(model);
    uint64_t handle = UNWRITTEN;
    enum ashlar_status status =
        CALL(model->subject, chunk_create, &request, &handle);

    expect_unwritten(model, status, handle, "chunk_create");
    if (!model_expect(model, CHECK_CHUNKS, status, "chunk_create()"))
        return false;
    model->chunks[i] = (struct model_chunk){
        .handle = handle,
        .bytes = bytes,
        .memory = must_alloc(1, sizeof(struct model_memory))};
    model->chunks[i].memory->references = 1;
    model->chunks[i].memory->group = group;
    model->bytes += bytes;
    *chunk_out = i;
    return true;
}

bool model_adopt(struct model *model, uint64_t handle, uint32_t from,
                 uint32_t *chunk_out)
{
    uint32_t i = model_chunk_room(model);

    model->chunks[i] = model->chunks[from];
    model->chunks[i].handle = handle;
    model->chunks[i].mappings = 0;
    model->chunks[i].imported = true;
    model->chunks[i].memory->references++;
    *chunk_out = i;
    return true;
}

bool model_destroy(struct model *model, uint32_t i)
{
    struct model_chunk *chunk = &model->chunks[i];
    enum ashlar_status status =
        CALL(model->subject, chunk_destroy, chunk->handle, chunk->bytes);

    if (!model_expect(model, CHECK_CHUNKS, status, "chunk_destroy()"))
        return false;
    if (--chunk->memory->references == 0) {
        model->bytes -= chunk->bytes;
        free(chunk->memory);
    }
    chunk->bytes = 0;
    return true;
}

/* --- mappings ------------------------------------------------------------- */

enum model_cover model_cover(const struct model *model, uint64_t address,
                             uint64_t bytes)
{
    const struct model_mapping *mapping;
    uint64_t inside = 0;
    uint32_t i;

    for (i = 0; i < model->mapping_count; i++) {
        mapping = &model->mappings[i];
        if (!overlaps(address, bytes, mapping->address, mapping->bytes))
            continue;
        if (mapping->address < address ||
            mapping->address + mapping->bytes > address + bytes)
            return COVER_PART;
        inside += mapping->bytes;
    }
    if (inside == 0)
        return COVER_NONE;
    return inside == bytes ? COVER_WHOLE : COVER_GAPS;
}

bool model_is_free(const struct model *model, uint64_t address, uint64_t bytes)
{
    const struct model_space *space;
    uint32_t i;

    for (i = 0; i < model->space_count; i++) {
        space = &model->spaces[i];
        if (address >= space->address &&
            address + bytes <= space->address + space->bytes)
            return address % model->granule == 0 &&
                   model_cover(model, address, bytes) == COVER_NONE;
    }
    return false;
}

bool model_map(struct model *model, uint64_t address, uint32_t i,
               uint64_t bytes)
{
    struct model_chunk *chunk = &model->chunks[i];
    struct model_mapping *mapping = &model->mappings[model->mapping_count];
    enum ashlar_status status =
        CALL(model->subject, map, address, chunk->handle, bytes);

    if (bytes != chunk->bytes || !model_is_free(model, address, bytes))
        return model_expect_refusal(model, status,
                                    "map() of a chunk of %" PRIu64
                                    " bytes with %" PRIu64 " at 0x%" PRIx64
                                    ", where it is not whole or cannot be,",
                                    chunk->bytes, bytes, address);
    if (!model_expect(model, CHECK_MAP, status, "map()"))
        return false;
    *mapping = (struct model_mapping){address, bytes, i, ASHLAR_RIGHTS_NONE};
    model->mapping_count++;
    chunk->mappings++;
    content_check_rights(model, model->mapping_count - 1);
    return !model->broken;
}

static bool is_inside(const struct model_mapping *mapping, uint64_t address,
                      uint64_t bytes)
{
    return mapping->address >= address && mapping->address < address + bytes;
}

bool model_unmap(struct model *model, uint64_t address, uint64_t bytes)
{
    enum model_cover cover = model_cover(model, address, bytes);
    enum ashlar_status status = CALL(model->subject, unmap, address, bytes);
    uint32_t i = 0;

    if (cover == COVER_PART)
        return model_expect_refusal(model, status,
                                    "unmap() of a part of a mapping");
    if (!model_expect(model, CHECK_MAP, status, "unmap()"))
        return false;
    while (i < model->mapping_count) {
        if (!is_inside(&model->mappings[i], address, bytes)) {
            i++;
            continue;
        }
        model->chunks[model->mappings[i].chunk].mappings--;
        model->mappings[i] = model->mappings[--model->mapping_count];
    }
    return true;
}

/* Home, and the locations that the source lets in beside it, as ranges do. */
static size_t insiders(const struct ashlar_plugin_info *info, uint32_t rights,
                       struct ashlar_access *access)
{
    uint32_t i;

    access[0] = (struct ashlar_access){info->home_location, rights};
    for (i = 0; i < info->access_count; i++)
        access[i + 1] =
            (struct ashlar_access){info->access[i].location, rights};
    return i + 1;
}

bool model_allow(struct model *model, uint64_t address, uint64_t bytes,
                 uint32_t rights)
{
    struct ashlar_access access[1 + ASHLAR_PLUGIN_ACCESS_MOST];
    size_t count = insiders(&model->subject->info, rights, access);
    enum model_cover cover = model_cover(model, address, bytes);
    enum ashlar_status status =
        CALL(model->subject, allow, address, bytes, access, count);
    uint32_t i;

    if (cover != COVER_WHOLE)
        return model_expect_refusal(model, status, "allow() %s",
                                    cover == COVER_PART
                                        ? "on a part of a mapping"
                                        : "where something is not mapped");
    if (!model_expect(model, CHECK_RIGHTS, status, "allow()"))
        return false;
    for (i = 0; i < model->mapping_count; i++) {
        if (!is_inside(&model->mappings[i], address, bytes))
            continue;
        model->mappings[i].rights = rights;
        content_check_rights(model, i);
    }
    return !model->broken;
}

/* --- the end -------------------------------------------------------------- */

static void give_all_back(struct model *model)
{
    uint32_t i;

    while (model->mapping_count != 0 && !model->broken)
        (void)model_unmap(model, model->mappings[0].address,
                          model->mappings[0].bytes);
    for (i = 0; i < MODEL_CHUNKS && !model->broken; i++)
        if (model->chunks[i].bytes != 0)
            (void)model_destroy(model, i);
    while (model->space_count != 0 && !model->broken)
        (void)model_release(model, model->space_count - 1);
}

void model_end(struct model *model)
{
    model->starved = false;
    while (model->fence_count != 0) {
        subject_begin(model->subject, "fence_drop");
        model->subject->ops.fence_drop(model->subject->state,
                                       model->fences[--model->fence_count]);
    }
    give_all_back(model);
    if (model->pipe[0] >= 0) {
        (void)close(model->pipe[0]);
        (void)close(model->pipe[1]);
    }
}
