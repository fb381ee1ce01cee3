/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "range/description.h"

#include <string.h>

#include "base/error.h"

#define MAGIC "ashlarRG"
/* More than any machine can address. */
#define RESERVED_MOST (UINT64_C(1) << 62)

/* FNV-1a: finds accidents and clumsy hands, and is no seal. */
static uint64_t hash_more(uint64_t hash, const unsigned char *at, size_t bytes)
{
    for (; bytes != 0; bytes--)
        hash = (hash ^ *at++) * UINT64_C(1099511628211);
    return hash;
}

uint64_t description_checksum(const void *description, size_t bytes)
{
    static const unsigned char zeros[sizeof(uint64_t)];
    const size_t at = offsetof(struct description_header, checksum);
    const unsigned char *all = description;
    uint64_t hash = UINT64_C(14695981039346656037);

    hash = hash_more(hash, all, at);
    hash = hash_more(hash, zeros, sizeof(zeros));
    return hash_more(hash, all + at + sizeof(zeros),
                     bytes - at - sizeof(zeros));
}

static enum ashlar_status check_whole(const struct description_header *header,
                                      const void *description, size_t bytes)
{
    if (memcmp(header->magic, MAGIC, sizeof(header->magic)) != 0)
        return error_set(ASHLAR_ERR_INVALID,
                         "this is no description of a range");
    if (header->version != DESCRIPTION_VERSION ||
        header->header_bytes != sizeof(*header))
        return error_set(ASHLAR_ERR_INVALID,
                         "the description has version %u; this library reads "
                         "%u",
                         header->version, DESCRIPTION_VERSION);
    if (header->bytes != bytes ||
        header->chunk_count > bytes / sizeof(struct description_chunk) ||
        sizeof(*header) +
                header->chunk_count * sizeof(struct description_chunk) !=
            bytes)
        return error_set(ASHLAR_ERR_INVALID,
                         "the description has %zu bytes, but says %lu with %lu "
                         "chunks; it was cut",
                         bytes, (unsigned long)header->bytes,
                         (unsigned long)header->chunk_count);
    if (header->checksum != description_checksum(description, bytes))
        return error_set(ASHLAR_ERR_INVALID,
                         "the description's checksum is wrong; it was changed "
                         "on its way");
    return ASHLAR_OK;
}

static enum ashlar_status check_source(const struct description_header *header,
                                       const struct ashlar_source *source)
{
    if (memchr(header->source, '\0', sizeof(header->source)) == NULL ||
        strcmp(header->source, source->name) != 0)
        return error_set(ASHLAR_ERR_WRONG_OWNER,
                         "the description is of a source \"%s\", not of \"%s\"",
                         memchr(header->source, '\0', sizeof(header->source)) ==
                                 NULL
                             ? "?"
                             : header->source,
                         source->name);
    if (memcmp(header->identity, source->info.identity,
               sizeof(header->identity)) != 0)
        return error_set(ASHLAR_ERR_WRONG_OWNER,
                         "the description is of another device than this "
                         "source \"%s\" is on",
                         source->name);
    if (header->granule != source->info.granule)
        return error_set(ASHLAR_ERR_WRONG_OWNER,
                         "the description has a granule of %lu bytes, this "
                         "source one of %lu",
                         (unsigned long)header->granule,
                         (unsigned long)source->info.granule);
    return ASHLAR_OK;
}

static enum ashlar_status check_chunks(const struct description_header *header,
                                       const char *chunks)
{
    uint64_t end = 0;
    struct description_chunk chunk;
    uint64_t limit = header->reserved_bytes;
    uint64_t i;

    if (limit == 0 || limit % header->granule != 0 || limit > RESERVED_MOST ||
        header->used > limit)
        return error_set(ASHLAR_ERR_INVALID,
                         "the description says that %lu bytes are used of %lu "
                         "reserved",
                         (unsigned long)header->used, (unsigned long)limit);
    for (i = 0; i < header->chunk_count; i++) {
        memcpy(&chunk, chunks + i * sizeof(chunk), sizeof(chunk));
        if (chunk.bytes == 0 || chunk.bytes % header->granule != 0 ||
            chunk.offset % header->granule != 0 || chunk.offset < end ||
            chunk.offset > limit || chunk.bytes > limit - chunk.offset ||
            chunk.fd >= header->fd_count)
            return error_set(ASHLAR_ERR_INVALID,
                             "chunk %lu of the description does not fit: %lu "
                             "bytes at %lu, descriptor %lu",
                             (unsigned long)i, (unsigned long)chunk.bytes,
                             (unsigned long)chunk.offset,
                             (unsigned long)chunk.fd);
        end = chunk.offset + chunk.bytes;
    }
    return ASHLAR_OK;
}

enum ashlar_status description_check(const struct ashlar_source *source,
                                     const void *description, size_t bytes,
                                     size_t fd_count,
                                     struct description_header *header_out,
                                     const char **chunks_out)
{
    enum ashlar_status status;

    if (bytes < sizeof(*header_out))
        return error_set(ASHLAR_ERR_INVALID,
                         "the description has %zu bytes; its header alone has "
                         "%zu",
                         bytes, sizeof(*header_out));
    memcpy(header_out, description, sizeof(*header_out));
    *chunks_out = (const char *)description + sizeof(*header_out);
    status = check_whole(header_out, description, bytes);
    if (status == ASHLAR_OK)
        status = check_source(header_out, source);
    if (status == ASHLAR_OK && header_out->fd_count != fd_count)
        status = error_set(ASHLAR_ERR_INVALID,
                           "the description comes with %lu descriptors, but "
                           "%zu were given",
                           (unsigned long)header_out->fd_count, fd_count);
    if (status == ASHLAR_OK)
        status = check_chunks(header_out, *chunks_out);
    return status;
}
