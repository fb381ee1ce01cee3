/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * Where memory comes from.
 *
 * A source is opened by name. "heap" is built in: host memory from jemalloc.
 * A pool that names no source is on the heap.
 */
#ifndef ASHLAR_SOURCE_H
#define ASHLAR_SOURCE_H

#include <ashlar/export.h>
#include <ashlar/status.h>

ASHLAR_BEGIN_DECLS

/** An open source. Opaque. */
struct ashlar_source;

/**
 * Open a source.
 *
 * @param name        "heap".
 * @param options     "key=value,key=value", or NULL or "" for none. The heap
 *                    has none.
 * @param source_out  Receives the source, owned by the caller until
 *                    ashlar_source_close(); written only on success.
 *
 * @return ASHLAR_OK;
 *         ASHLAR_ERR_INVALID    a NULL argument, or an option that the source
 *                               does not know;
 *         ASHLAR_ERR_NO_PLUGIN  no source of that name exists;
 *         ASHLAR_ERR_NO_MEMORY  no host memory for the record.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_source_open(const char *name, const char *options,
                   struct ashlar_source **source_out);

/**
 * Close a source.
 *
 * @param source  From ashlar_source_open(); gone after success.
 *
 * @return ASHLAR_OK;
 *         ASHLAR_ERR_INVALID  source is NULL;
 *         ASHLAR_ERR_BUSY     pools still stand on it; the sentence has the
 *                             count.
 *
 * @par Threads  Any thread, once no other thread uses it.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status ashlar_source_close(struct ashlar_source *source);

/**
 * The name of a source, such as "heap".
 *
 * @param source  An open source; NULL stands for the heap.
 *
 * @return A string that lives as long as the source.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API const char *ashlar_source_name(const struct ashlar_source *source);

ASHLAR_END_DECLS

#endif
