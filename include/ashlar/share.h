/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * A range in another process: a description, and file descriptors for its
 * chunks.
 *
 *     exporter                                  importer
 *     ashlar_range_export(range, 0)    ──────>  ashlar_range_import()
 *         grows ...
 *     ashlar_range_export(range, epoch) ─────>  ashlar_range_import_more()
 *
 * The description says what it is of: version, source, device, granule, sizes,
 * and each chunk's place; it has a checksum, and is checked whole before
 * anything is done. How it and the descriptors travel (a Unix socket and
 * SCM_RIGHTS, as a rule) is the callers' business. Both sides see the same
 * memory; the importer may not grow, shrink or export it.
 *
 * What the exporter decommits or shrinks is not taken away from importers:
 * their mapping keeps the memory until they destroy their range.
 */
#ifndef ASHLAR_SHARE_H
#define ASHLAR_SHARE_H

#include <ashlar/export.h>
#include <ashlar/range.h>
#include <ashlar/source.h>
#include <ashlar/status.h>

ASHLAR_BEGIN_DECLS

/** What ashlar_range_export() makes. */
struct ashlar_range_exported {
    /** sizeof(struct ashlar_range_exported), set by the caller. */
    size_t size;
    /** Bytes to be sent. */
    void *description;
    size_t description_bytes;
    /** Descriptors to be sent beside, in this order; closed by exec. */
    int *fds;
    size_t fd_count;
    /** Up to which epoch the description goes; ask from there next time. */
    uint64_t epoch;
    /**
     * 1: there is more to export than fds_max allowed; ask again from epoch.
     * Until all of it has come, the importer's range has holes.
     */
    uint32_t more;
    uint32_t reserved;
};

/** Initialiser for struct ashlar_range_exported. */
#define ASHLAR_RANGE_EXPORTED_INIT                                             \
    {                                                                          \
        sizeof(struct ashlar_range_exported), NULL, 0, NULL, 0, 0, 0, 0        \
    }

/** What an fds_max of 0 means; a message over a socket takes up to 253. */
#define ASHLAR_EXPORT_FDS_DEFAULT ((size_t)64)

/**
 * Describe a range, or what has been added to it, for another process.
 *
 * @param range       A range made with ASHLAR_RANGE_EXPORT.
 * @param since       0 for everything; or the epoch of the previous export.
 * @param fds_max     The most descriptors to make; 0: the default.
 * @param export_out  Its size member must be set. On success its description
 *                    and fds are the caller's until ashlar_range_export_free().
 *
 * @return ASHLAR_OK;
 *         ASHLAR_ERR_INVALID      a NULL argument, a struct without its size,
 *                                 an epoch that is still to come;
 *         ASHLAR_ERR_UNSUPPORTED  the range was not made for export;
 *         ASHLAR_ERR_LIMIT        no file descriptor is left;
 *         ASHLAR_ERR_NO_MEMORY    no host memory for the description;
 *         ASHLAR_ERR_FORKED       the range is the parent's.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_range_export(struct ashlar_range *range, uint64_t since, size_t fds_max,
                    struct ashlar_range_exported *export_out);

/**
 * Close an export's descriptors and free its memory.
 *
 * @param export_made  From ashlar_range_export(); emptied. NULL is ignored.
 *
 * @par Threads  Any thread, once no other uses it.
 * @since 0.1
 */
ASHLAR_API void
ashlar_range_export_free(struct ashlar_range_exported *export_made);

/**
 * Make a range of another process's memory.
 *
 * @param source             A source of the same kind and device.
 * @param description        What ashlar_range_export() made, from epoch 0 on.
 * @param description_bytes  Its length.
 * @param fds                Its descriptors, in order; they stay the caller's.
 * @param fd_count           How many.
 * @param reserve_bytes      Addresses to reserve, so that later growth of the
 *                           exporter fits; 0: what is used now.
 * @param range_out          Receives the range; written only on success.
 *
 * @return ASHLAR_OK;
 *         ASHLAR_ERR_INVALID      a NULL argument; a description that is cut,
 *                                 changed, of another version, or has more or
 *                                 fewer descriptors; nothing was done;
 *         ASHLAR_ERR_WRONG_OWNER  it is of another kind of source or device;
 *         and as ashlar_range_create().
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_range_import(struct ashlar_source *source, const void *description,
                    size_t description_bytes, const int *fds, size_t fd_count,
                    uint64_t reserve_bytes, struct ashlar_range **range_out);

/**
 * Add to an imported range what its exporter has added since.
 *
 * @param range              From ashlar_range_import().
 * @param description        The exporter's next description.
 * @param description_bytes  Its length.
 * @param fds                Its descriptors, in order; they stay the caller's.
 * @param fd_count           How many.
 *
 * @return As ashlar_range_import(); ASHLAR_ERR_WRONG_OWNER when it is of
 *         another range; ASHLAR_ERR_INVALID when one before it is missing;
 *         ASHLAR_ERR_NO_ROOM when it does not fit what was reserved;
 *         ASHLAR_ERR_UNSUPPORTED when the range was not imported.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_range_import_more(struct ashlar_range *range, const void *description,
                         size_t description_bytes, const int *fds,
                         size_t fd_count);

ASHLAR_END_DECLS

#endif
