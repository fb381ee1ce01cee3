/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * Where memory comes from.
 *
 * A source is opened by name. Built in are "heap", host memory from jemalloc,
 * and "vm", virtual memory of the host that ranges grow in (ashlar/vm.h). Any
 * other name is that of a plug-in, ashlar_NAME.so, which is looked for when it
 * is asked for: in the folders of $ASHLAR_PLUGIN_PATH (not in a process with
 * more rights than its caller), in ashlar/plugins beside the running library,
 * and in the folder of the installation. The first file of that name decides.
 * A process with more rights than its caller also refuses a file that anybody
 * may write, or whose folder anybody may.
 *
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
 * @param name        "heap", "vm", or a plug-in's.
 * @param options     "key=value,key=value", or NULL or "" for none; which keys
 *                    there are is the source's to say. The heap has none.
 * @param source_out  Receives the source, owned by the caller until
 *                    ashlar_source_close(); written only on success.
 *
 * @return ASHLAR_OK;
 *         ASHLAR_ERR_INVALID    a NULL argument, a name that cannot be one, an
 *                               option that is no key=value, given twice, or
 *                               unknown to the source, or a bad value;
 *         ASHLAR_ERR_NO_PLUGIN  no source of that name exists, or its file was
 *                               refused; the sentence has the reason;
 *         ASHLAR_ERR_NO_MEMORY  no host memory for the record;
 *         whatever else the source says.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_source_open(const char *name, const char *options,
                   struct ashlar_source **source_out);

/**
 * Close a source. May wait for what a device is at: "cuda" does once a table was
 * made on it, since a driver that unloads a kernel waits for its context.
 *
 * @param source  From ashlar_source_open(); gone after success.
 *
 * @return ASHLAR_OK;
 *         ASHLAR_ERR_INVALID  source is NULL;
 *         ASHLAR_ERR_BUSY     pools, arenas or ranges still stand on it, or
 *                             something retired waits for its fences; the
 *                             sentence has the count;
 *         ASHLAR_ERR_FORKED   it was opened by the parent process.
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

/** What is known of a source. Strings live as long as the source. */
struct ashlar_source_info {
    /** sizeof(struct ashlar_source_info), set by the caller. */
    size_t size;
    const char *name;
    const char *version;
    /** The plug-in's file; "" for what is built in. */
    const char *path;
    /** A few words, such as "host memory, jemalloc". */
    const char *description;
    /** ASHLAR_CAN_*: see ashlar/plugin.h. */
    uint64_t can;
    /** Bytes; what ranges are mapped in. 0: it has no ranges. */
    uint64_t granule;
    /** Bytes of memory that it can give; 0: unknown. */
    uint64_t memory_bytes;
    /** Bytes of memory, and items, that wait for their fences. */
    uint64_t retired_bytes;
    uint64_t retired_items;
    /** Steps that were given up because the driver was gone. */
    uint64_t dropped_items;
    /** Pools, arenas, ranges and fences that stand on it. */
    uint32_t holders;
    uint32_t location_count;
    uint32_t home_location;
    /** The device's compute capability times ten; 0: none, or not known. */
    uint32_t capability;
};

/** Initialiser for struct ashlar_source_info. */
#define ASHLAR_SOURCE_INFO_INIT                                                \
    {                                                                          \
        sizeof(struct ashlar_source_info), NULL, NULL, NULL, NULL, 0, 0, 0, 0, \
            0, 0, 0, 0, 0, 0                                                   \
    }

/**
 * Everything known of a source.
 *
 * @param source  An open source; NULL stands for the heap.
 * @param info    Its size member says how much the caller knows of the struct;
 *                no more than that is written.
 *
 * @return ASHLAR_OK; ASHLAR_ERR_INVALID  info is NULL, or its size is 0.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_source_query(struct ashlar_source *source,
                    struct ashlar_source_info *info);

/** How often one operation of a source was called. */
struct ashlar_source_call {
    uint64_t count;
    /** Of these, calls that failed. */
    uint64_t refused;
    /** Nanoseconds spent in those that were timed. */
    uint64_t ns;
};

/** The operations that ranges are made of: see ashlar/plugin.h. */
struct ashlar_source_calls {
    /** sizeof(struct ashlar_source_calls), set by the caller. */
    size_t size;
    struct ashlar_source_call reserve;
    struct ashlar_source_call release;
    struct ashlar_source_call create;
    struct ashlar_source_call destroy;
    struct ashlar_source_call map;
    struct ashlar_source_call unmap;
    struct ashlar_source_call allow;
    struct ashlar_source_call chunk_export;
    struct ashlar_source_call chunk_import;
};

/** Initialiser for struct ashlar_source_calls. */
#define ASHLAR_SOURCE_CALLS_INIT                                               \
    {                                                                          \
        sizeof(struct ashlar_source_calls), {0, 0, 0}, {0, 0, 0}, {0, 0, 0},   \
            {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0},             \
        {                                                                      \
            0, 0, 0                                                            \
        }                                                                      \
    }

/**
 * The calls that ranges have made into a source since it was opened.
 *
 * @param source  An open source; NULL stands for the heap.
 * @param calls   Its size member says how much the caller knows of the struct;
 *                no more than that is written.
 *
 * @return ASHLAR_OK; ASHLAR_ERR_INVALID  calls is NULL, or its size is 0.
 *
 * @par Threads  Any thread at any time; what others do meanwhile may be counted
 *               or not.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_source_query_calls(struct ashlar_source *source,
                          struct ashlar_source_calls *calls);

/**
 * Time the calls that ranges make into a source, from now on. Each then reads
 * the clock twice, which is why a source starts without.
 *
 * @param source  An open source; NULL stands for the heap.
 * @param on      0 for no more; anything else to begin.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API void ashlar_source_time_calls(struct ashlar_source *source, int on);

/** A source that could be opened, or a file that could have been one. */
struct ashlar_source_candidate {
    /** sizeof(struct ashlar_source_candidate), set by ashlar. */
    size_t size;
    /** What ashlar_source_open() is to be given. */
    const char *name;
    /** The plug-in's own; "" when its file was not loaded. */
    const char *version;
    /** The plug-in's file; "" for what is built in. */
    const char *path;
    /** Why it cannot be opened, as a sentence; "" when it can. */
    const char *reason;
    /** The groups of functions that it has, of ASHLAR_CAN_*. */
    uint64_t groups;
    /**
     * enum ashlar_status: ASHLAR_OK; ASHLAR_ERR_NO_PLUGIN, the file was
     * refused; ASHLAR_ERR_CONFLICT, another of its name comes first.
     */
    int32_t status;
    uint32_t reserved;
};

/**
 * Sees one candidate.
 *
 * @param found  A candidate; it and its strings are good during the call.
 * @param user   What was given to ashlar_source_list().
 *
 * @return 0 to go on; anything else ends the walk.
 */
typedef int
ashlar_source_candidate_fn(const struct ashlar_source_candidate *found,
                           void *user);

/**
 * Call a function for each source that is built in, and for each file that may
 * be a plug-in, in the order in which names are looked for.
 *
 * Files are loaded, and stay so, but none is opened: no device is touched. What
 * a source can do on this machine, its granule and its memory are known when
 * it is open: ashlar_source_query(). No lock is held while fn runs.
 *
 * @param fn    The function.
 * @param user  Handed to fn as it is.
 *
 * @return ASHLAR_OK, also when fn ended the walk;
 *         ASHLAR_ERR_INVALID    fn is NULL;
 *         ASHLAR_ERR_NO_MEMORY  no host memory for the list of files.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status ashlar_source_list(ashlar_source_candidate_fn *fn,
                                                 void *user);

struct ashlar_plugin;

/**
 * The operations of a source that is built in, as a plug-in has them: to be
 * tried by `ashlar check-plugin`, or to stand behind a source of one's own that
 * counts, or fails on purpose.
 *
 * Whoever calls them does all that ashlar/plugin.h asks of ashlar, and brings a
 * struct ashlar_host.
 *
 * @param name  "heap" or "vm".
 *
 * @return The struct, constant, for the life of the process; NULL when name is
 *         NULL (ASHLAR_ERR_INVALID), or no source that is built in
 *         (ASHLAR_ERR_NOT_FOUND).
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API const struct ashlar_plugin *ashlar_source_built_in(const char *name);

ASHLAR_END_DECLS

#endif
