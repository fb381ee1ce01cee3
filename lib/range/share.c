/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Ranges in other processes: export, import, and what is added later. */
#include "config.h"

#include <ashlar/share.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/align.h"
#include "base/error.h"
#include "base/options.h"
#include "range/description.h"
#include "range/transaction.h"
#include "source/call.h"

/* --- export --------------------------------------------------------------- */

/* A name for a range that no other range of any process is likely to have. */
static uint64_t make_id(const struct ashlar_range *range)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return ((uint64_t)getpid() << 40) ^ ((uint64_t)now.tv_sec << 24) ^
           (uint64_t)now.tv_nsec ^ (uint64_t)(uintptr_t)range;
}

/* An export that is being made. */
struct packing {
    char *description;
    size_t bytes;
    int *fds;
    size_t fd_count;
    uint64_t epoch; /* all chunks up to it are in */
    bool more;
};

static void packing_drop(struct packing *packing)
{
    while (packing->fd_count != 0)
        (void)close(packing->fds[--packing->fd_count]);
    memory_free(packing->fds);
    memory_free(packing->description);
}

static int compare_epochs(const void *a, const void *b)
{
    uint64_t one = *(const uint64_t *)a;
    uint64_t other = *(const uint64_t *)b;

    return one < other ? -1 : one > other;
}

/*
 * Choose the epoch up to which chunks go in, so that no more than fds_max do:
 * each chunk has an epoch of its own. 0, or -1: no memory.
 */
static int choose_epoch(struct packing *packing,
                        const struct ashlar_range *range, uint64_t since,
                        size_t fds_max, size_t *count_out)
{
    const struct range_chunk *chunks = range->chunks.items;
    uint64_t *epochs;
    size_t count = 0;
    uint32_t i;

    epochs = memory_alloc((range->chunks.count + (size_t)1) * sizeof(*epochs));
    if (epochs == NULL)
        return -1;
    for (i = 0; i < range->chunks.count; i++)
        if (chunks[i].epoch > since)
            epochs[count++] = chunks[i].epoch;
    packing->epoch = range->epoch;
    packing->more = count > fds_max;
    if (packing->more) {
        qsort(epochs, count, sizeof(*epochs), compare_epochs);
        count = fds_max;
        packing->epoch = epochs[count - 1];
    }
    memory_free(epochs);
    *count_out = count;
    return 0;
}

static enum ashlar_status pack_chunk(struct packing *packing,
                                     struct ashlar_source *source,
                                     const struct range_chunk *chunk)
{
    struct description_chunk packed = {chunk->offset, chunk->bytes,
                                       packing->fd_count, 0};
    enum ashlar_status status;

    status = source_export(source, chunk->handle, chunk->bytes,
                           &packing->fds[packing->fd_count], &packed.fd_offset);
    if (status != ASHLAR_OK)
        return status;
    packing->fd_count++;
    memcpy(packing->description + packing->bytes, &packed, sizeof(packed));
    packing->bytes += sizeof(packed);
    return ASHLAR_OK;
}

static void pack_header(struct packing *packing,
                        const struct ashlar_range *range, uint64_t since)
{
    struct description_header header;

    memset(&header, 0, sizeof(header));
    memcpy(header.magic, "ashlarRG", sizeof(header.magic));
    header.version = DESCRIPTION_VERSION;
    header.header_bytes = (uint32_t)sizeof(header);
    header.bytes = packing->bytes;
    header.range_id = range->id;
    header.since = since;
    header.epoch = packing->epoch;
    header.granule = range->granule;
    header.used = range->used;
    header.reserved_bytes = range->reserved;
    header.chunk_count = packing->fd_count;
    header.fd_count = packing->fd_count;
    memcpy(header.identity, range->source->info.identity,
           sizeof(header.identity));
    memcpy(header.source, range->source->name, sizeof(header.source));
    memcpy(packing->description, &header, sizeof(header));
    header.checksum =
        description_checksum(packing->description, packing->bytes);
    memcpy(packing->description, &header, sizeof(header));
}

/* The lock is held. */
static enum ashlar_status pack(struct packing *packing,
                               struct ashlar_range *range, uint64_t since,
                               size_t fds_max)
{
    const struct range_chunk *chunks = range->chunks.items;
    enum ashlar_status status = ASHLAR_OK;
    size_t count = 0;
    uint32_t i;

    if (since > range->epoch)
        return error_set(ASHLAR_ERR_INVALID,
                         "since is %lu, but the range is at epoch %lu",
                         (unsigned long)since, (unsigned long)range->epoch);
    if (range->id == 0)
        range->id = make_id(range);
    if (choose_epoch(packing, range, since, fds_max, &count) == 0) {
        packing->description =
            memory_alloc(sizeof(struct description_header) +
                         count * sizeof(struct description_chunk));
        packing->fds = memory_alloc((count + 1) * sizeof(*packing->fds));
    }
    if (packing->description == NULL || packing->fds == NULL)
        return error_set(ASHLAR_ERR_NO_MEMORY,
                         "no host memory to describe a range of %lu chunks",
                         (unsigned long)range->chunks.count);
    packing->bytes = sizeof(struct description_header);
    for (i = 0; i < range->chunks.count && status == ASHLAR_OK; i++)
        if (chunks[i].epoch > since && chunks[i].epoch <= packing->epoch)
            status = pack_chunk(packing, range->source, &chunks[i]);
    if (status == ASHLAR_OK)
        pack_header(packing, range, since);
    return status;
}

enum ashlar_status ashlar_range_export(struct ashlar_range *range,
                                       uint64_t since, size_t fds_max,
                                       struct ashlar_range_exported *export_out)
{
    struct ashlar_range_exported own = ASHLAR_RANGE_EXPORTED_INIT;
    enum ashlar_status status = range_check(range, "ashlar_range_export()");
    struct packing packing = {.bytes = 0};

    if (status != ASHLAR_OK)
        return status;
    if (export_out == NULL || export_out->size < sizeof(own))
        return error_set(ASHLAR_ERR_INVALID,
                         "export_out is NULL, or its size is not set; use "
                         "ASHLAR_RANGE_EXPORTED_INIT");
    if (range->export_group == 0)
        return error_set(ASHLAR_ERR_UNSUPPORTED,
                         "the range was not made for export; set "
                         "ASHLAR_RANGE_EXPORT when it is made");
    lock_take(&range->lock);
    status = pack(&packing, range, since,
                  fds_max == 0 ? ASHLAR_EXPORT_FDS_DEFAULT : fds_max);
    lock_give(&range->lock);
    if (status != ASHLAR_OK) {
        packing_drop(&packing);
        return status;
    }
    own.description = packing.description;
    own.description_bytes = packing.bytes;
    own.fds = packing.fds;
    own.fd_count = packing.fd_count;
    own.epoch = packing.epoch;
    own.more = packing.more;
    return result_write(export_out, &own, sizeof(own),
                        "struct ashlar_range_exported");
}

void ashlar_range_export_free(struct ashlar_range_exported *export_made)
{
    struct packing packing = {.bytes = 0};

    if (export_made == NULL)
        return;
    packing.description = export_made->description;
    packing.fds = export_made->fds;
    packing.fd_count = export_made->fd_count;
    packing_drop(&packing);
    export_made->description = NULL;
    export_made->description_bytes = 0;
    export_made->fds = NULL;
    export_made->fd_count = 0;
}

/* --- import --------------------------------------------------------------- */

/* A description that was checked, with its descriptors. */
struct parcel {
    struct description_header header;
    const char *chunks;
    const int *fds;
};

static struct description_chunk parcel_chunk(const struct parcel *parcel,
                                             uint64_t i)
{
    struct description_chunk chunk;

    memcpy(&chunk, parcel->chunks + i * sizeof(chunk), sizeof(chunk));
    return chunk;
}

/* Import one chunk and map it, with its rights. */
static enum ashlar_status take_in(struct transaction *transaction,
                                  const struct parcel *parcel, uint64_t i,
                                  struct range_chunk *chunk_out)
{
    struct description_chunk packed = parcel_chunk(parcel, i);
    struct ashlar_range *range = transaction->range;
    enum ashlar_status status;

    chunk_out->offset = packed.offset;
    chunk_out->bytes = packed.bytes;
    chunk_out->epoch = parcel->header.epoch;
    status =
        transaction_import(transaction, parcel->fds[packed.fd],
                           packed.fd_offset, packed.bytes, &chunk_out->handle);
    if (status == ASHLAR_OK)
        status = transaction_map(transaction, range->base + packed.offset,
                                 chunk_out->handle, packed.bytes);
    if (status == ASHLAR_OK)
        status = transaction_allow(transaction, range->base + packed.offset,
                                   packed.bytes);
    return status;
}

/* Where a parcel ends: its last chunk, or what is used. */
static uint64_t parcel_end(const struct parcel *parcel)
{
    uint64_t end = parcel->header.used;
    struct description_chunk last;

    if (parcel->header.chunk_count != 0) {
        last = parcel_chunk(parcel, parcel->header.chunk_count - 1);
        end = max_size(end, last.offset + last.bytes);
    }
    return align_up(end, parcel->header.granule);
}

/* Whether a parcel fits what is reserved. */
static enum ashlar_status check_room(const struct ashlar_range *range,
                                     const struct parcel *parcel)
{
    uint64_t end = parcel_end(parcel);

    if (end <= range->reserved)
        return ASHLAR_OK;
    return error_set(ASHLAR_ERR_NO_ROOM,
                     "the exporter's range has grown to %lu bytes, beyond the "
                     "%lu reserved here; import it anew with a larger "
                     "reserve_bytes",
                     (unsigned long)end, (unsigned long)range->reserved);
}

/* Whether nothing is mapped where a chunk goes. */
static enum ashlar_status check_place(struct ashlar_range *range,
                                      const struct description_chunk *packed)
{
    const struct range_chunk *chunks = range->chunks.items;
    uint32_t at = range_chunk_at(range, packed->offset);
    bool taken;

    taken = at < range->chunks.count &&
            chunks[at].offset < packed->offset + packed->bytes;
    taken = taken || (at != 0 && chunks[at - 1].offset + chunks[at - 1].bytes >
                                     packed->offset);
    if (!taken)
        return range_check_unmapped(range, packed->offset, packed->bytes);
    return error_set(ASHLAR_ERR_INVALID,
                     "the description has a chunk at offset %lu, where one was "
                     "imported before; import the range anew",
                     (unsigned long)packed->offset);
}

/* Everything of a parcel becomes part of a range, or nothing. Lock held. */
static enum ashlar_status unpack(struct ashlar_range *range,
                                 const struct parcel *parcel)
{
    uint32_t count = (uint32_t)parcel->header.chunk_count;
    struct vector fresh = {NULL, 0, 0};
    enum ashlar_status status = check_room(range, parcel);
    struct transaction transaction;
    struct description_chunk packed;
    struct range_chunk chunk;
    uint32_t i;

    for (i = 0; i < count && status == ASHLAR_OK; i++) {
        packed = parcel_chunk(parcel, i);
        status = check_place(range, &packed);
    }
    if (status != ASHLAR_OK)
        return status;
    if (vector_make_room(&fresh, count, sizeof(chunk)) != 0 ||
        vector_make_room(&range->chunks, count, sizeof(chunk)) != 0 ||
        transaction_begin(&transaction, range, 2 * count) != ASHLAR_OK) {
        vector_free(&fresh);
        return error_set(ASHLAR_ERR_NO_MEMORY,
                         "no host memory for the records of %lu chunks",
                         (unsigned long)count);
    }
    for (i = 0; i < count && status == ASHLAR_OK; i++) {
        status = take_in(&transaction, parcel, i, &chunk);
        vector_append(&fresh, &chunk, sizeof(chunk));
    }
    if (status != ASHLAR_OK) {
        transaction_abort(&transaction);
        vector_free(&fresh);
        return status;
    }
    for (i = 0; i < count; i++) {
        chunk = ((struct range_chunk *)fresh.items)[i];
        vector_insert(&range->chunks, range_chunk_at(range, chunk.offset),
                      &chunk, sizeof(chunk));
        range->committed += chunk.bytes;
        range->frontier = max_size(range->frontier, chunk.offset + chunk.bytes);
    }
    range->used = parcel->header.used;
    range->epoch = parcel->header.epoch;
    transaction_commit(&transaction);
    vector_free(&fresh);
    return ASHLAR_OK;
}

static enum ashlar_status open_parcel(const struct ashlar_source *source,
                                      const void *description, size_t bytes,
                                      const int *fds, size_t fd_count,
                                      struct parcel *parcel_out)
{
    if (description == NULL || (fds == NULL && fd_count != 0))
        return error_set(ASHLAR_ERR_INVALID, "an import was given NULL for %s",
                         description == NULL ? "description" : "fds");
    if (!source_can(source, ASHLAR_CAN_EXPORT))
        return error_set(ASHLAR_ERR_UNSUPPORTED,
                         "the source \"%s\" cannot import ranges",
                         source->name);
    parcel_out->fds = fds;
    return description_check(source, description, bytes, fd_count,
                             &parcel_out->header, &parcel_out->chunks);
}

/* Addresses for all of a parcel, and for what is to come. */
static uint64_t bytes_to_reserve(const struct parcel *parcel,
                                 uint64_t reserve_bytes)
{
    return max_size(max_size(reserve_bytes, parcel_end(parcel)),
                    parcel->header.granule);
}

/* A range of its own for a parcel. */
static enum ashlar_status import(struct ashlar_source *source,
                                 const struct parcel *parcel,
                                 uint64_t reserve_bytes,
                                 struct ashlar_range **range_out)
{
    struct ashlar_range_options options = ASHLAR_RANGE_OPTIONS_INIT;
    struct ashlar_range *range;
    enum ashlar_status status;
    struct error error;

    options.reserve_bytes = bytes_to_reserve(parcel, reserve_bytes);
    status = ashlar_range_create(source, &options, &range);
    if (status != ASHLAR_OK)
        return status;
    range->imported = true;
    range->id = parcel->header.range_id;
    lock_take(&range->lock);
    status = unpack(range, parcel);
    lock_give(&range->lock);
    if (status == ASHLAR_OK) {
        *range_out = range;
        return ASHLAR_OK;
    }
    error_copy(&error);
    range_abandon(range, range->end);
    error_restore(&error);
    return status;
}

enum ashlar_status ashlar_range_import(struct ashlar_source *source,
                                       const void *description,
                                       size_t description_bytes, const int *fds,
                                       size_t fd_count, uint64_t reserve_bytes,
                                       struct ashlar_range **range_out)
{
    enum ashlar_status status = source_check(source, "ashlar_range_import()");
    struct parcel parcel;

    if (status == ASHLAR_OK && range_out == NULL)
        status = error_set(ASHLAR_ERR_INVALID,
                           "ashlar_range_import() was given NULL for "
                           "range_out");
    if (status == ASHLAR_OK)
        status = open_parcel(source, description, description_bytes, fds,
                             fd_count, &parcel);
    if (status != ASHLAR_OK)
        return status;
    if (parcel.header.since != 0)
        return error_set(ASHLAR_ERR_INVALID,
                         "the description starts at epoch %lu; import one that "
                         "starts at 0 first",
                         (unsigned long)parcel.header.since);
    return import(source, &parcel, reserve_bytes, range_out);
}

enum ashlar_status ashlar_range_import_more(struct ashlar_range *range,
                                            const void *description,
                                            size_t description_bytes,
                                            const int *fds, size_t fd_count)
{
    enum ashlar_status status =
        range_check(range, "ashlar_range_import_more()");
    struct parcel parcel;

    if (status == ASHLAR_OK && !range->imported)
        status = error_set(ASHLAR_ERR_UNSUPPORTED,
                           "the range at 0x%lx was not imported",
                           (unsigned long)range->base);
    if (status == ASHLAR_OK)
        status = open_parcel(range->source, description, description_bytes, fds,
                             fd_count, &parcel);
    if (status != ASHLAR_OK)
        return status;
    lock_take(&range->lock);
    if (parcel.header.range_id != range->id)
        status = error_set(ASHLAR_ERR_WRONG_OWNER,
                           "the description is of another range than the one "
                           "imported at 0x%lx",
                           (unsigned long)range->base);
    else if (parcel.header.since != range->epoch)
        status = error_set(ASHLAR_ERR_INVALID,
                           "the description starts at epoch %lu, but the range "
                           "was imported up to %lu; ask the exporter from "
                           "there",
                           (unsigned long)parcel.header.since,
                           (unsigned long)range->epoch);
    else
        status = unpack(range, &parcel);
    lock_give(&range->lock);
    return status;
}
