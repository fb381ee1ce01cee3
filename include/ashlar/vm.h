/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The vm source, seen closer: growable host arrays, and a stand-in for a
 * device in tests.
 *
 *     ashlar_source_open("vm", "granule=2M,memory=1G", &source)
 *
 * | option  | meaning                                   | default           |
 * |---------|-------------------------------------------|-------------------|
 * | granule | bytes, a power of two, a page or more     | 2M                |
 * | memory  | bytes that chunks may take together       | the host's memory |
 * | huge    | yes: ask the kernel for huge pages        | no                |
 *
 * Sizes may end in K, M, G or T. Locations are 0 to 7, all this process: rights
 * of location 0 are the protection of the pages; those of the others are only
 * recorded, so that access lists can be tested. Streams are any numbers: a
 * stream has work to do from ashlar_vm_hold() until ashlar_vm_finish(), and
 * fences on it pass then. Events and graphs are such numbers, too, and what
 * captures is the stream.
 */
#ifndef ASHLAR_VM_H
#define ASHLAR_VM_H

#include <ashlar/export.h>
#include <ashlar/plugin.h>
#include <ashlar/source.h>
#include <ashlar/status.h>

ASHLAR_BEGIN_DECLS

/** Locations of the vm source. */
#define ASHLAR_VM_LOCATIONS 8u

/**
 * Queue work on a stream that lasts until ashlar_vm_finish().
 *
 * @param source  An open vm source.
 * @param stream  Any number; its meaning is the caller's.
 *
 * @return ASHLAR_OK; ASHLAR_ERR_INVALID  source is NULL, or no vm source;
 *         ASHLAR_ERR_NO_MEMORY  no host memory for the record.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status ashlar_vm_hold(struct ashlar_source *source,
                                             uint64_t stream);

/**
 * Finish all work queued on a stream: fences recorded on it so far pass.
 *
 * @param source  An open vm source.
 * @param stream  The stream.
 *
 * @return ASHLAR_OK, also when there was none; ASHLAR_ERR_INVALID  as above.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status ashlar_vm_finish(struct ashlar_source *source,
                                               uint64_t stream);

/**
 * The rights that a location has at an address.
 *
 * @param source      An open vm source.
 * @param address     Any address.
 * @param location    0 to ASHLAR_VM_LOCATIONS - 1.
 * @param rights_out  Receives enum ashlar_rights.
 *
 * @return ASHLAR_OK; ASHLAR_ERR_INVALID  as above, or location is too large;
 *         ASHLAR_ERR_NOT_FOUND  nothing is mapped there.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status ashlar_vm_rights(struct ashlar_source *source,
                                               uint64_t address,
                                               uint32_t location,
                                               uint32_t *rights_out);

/** What a vm source has given out. */
struct ashlar_vm_account {
    /** sizeof(struct ashlar_vm_account), set by the caller. */
    size_t size;
    uint64_t reservations;
    uint64_t reserved_bytes;
    uint64_t chunks;
    uint64_t chunk_bytes;
    uint64_t mappings;
    uint64_t mapped_bytes;
    uint64_t fences;
    uint64_t files;
};

/** Initialiser for struct ashlar_vm_account. */
#define ASHLAR_VM_ACCOUNT_INIT                                                 \
    {                                                                          \
        sizeof(struct ashlar_vm_account), 0, 0, 0, 0, 0, 0, 0, 0               \
    }

/**
 * Count what a vm source has given out: all zero when nothing was lost.
 *
 * @param source   An open vm source.
 * @param account  Its size member says how much the caller knows of the struct.
 *
 * @return ASHLAR_OK; ASHLAR_ERR_INVALID  as above, or a size that is 0.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_vm_query(struct ashlar_source *source,
                struct ashlar_vm_account *account);

ASHLAR_END_DECLS

#endif
