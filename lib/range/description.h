/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The description of a range, as it travels.
 *
 *     header | chunk | chunk | ...      all numbers as the machine has them
 *
 * Invariants of one that description_check() let pass: its length and checksum
 * are right; offsets and sizes are multiples of the granule, in order, without
 * overlap, within what is reserved, as used is (chunks may lie beyond used:
 * what was mapped ahead); descriptors are numbered below fd_count.
 */
#ifndef ASHLAR_RANGE_DESCRIPTION_H
#define ASHLAR_RANGE_DESCRIPTION_H

#include <stddef.h>
#include <stdint.h>

#include "range/range.h"

#define DESCRIPTION_VERSION 1u

struct description_header {
    char magic[8]; /* "ashlarRG" */
    uint32_t version;
    uint32_t header_bytes;
    uint64_t bytes;    /* of all of it */
    uint64_t checksum; /* over all of it, with 0 here */
    uint64_t range_id; /* of the exporter's range */
    uint64_t since;
    uint64_t epoch;
    uint64_t granule;
    uint64_t used;
    uint64_t reserved_bytes;
    uint64_t chunk_count;
    uint64_t fd_count;
    uint8_t identity[16];
    char source[SOURCE_NAME_BYTES];
};

struct description_chunk {
    uint64_t offset;
    uint64_t bytes;
    uint64_t fd;        /* its place among the descriptors */
    uint64_t fd_offset; /* what chunk_import() is told */
};

_Static_assert(sizeof(struct description_header) == 144, "no padding");
_Static_assert(sizeof(struct description_chunk) == 32, "no padding");

/** The checksum that a description should have. */
uint64_t description_checksum(const void *description, size_t bytes);

/**
 * Copy a description's header and check all of it, for a source.
 *
 * @param chunks_out  Receives where the chunks start; not aligned.
 */
enum ashlar_status description_check(const struct ashlar_source *source,
                                     const void *description, size_t bytes,
                                     size_t fd_count,
                                     struct description_header *header_out,
                                     const char **chunks_out);

#endif
