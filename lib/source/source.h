/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * An open source, and how one is found.
 *
 *     source.c  open, close, query          ┐
 *     plugin.c  check a plug-in's struct     ├─ ops: the checked copy
 *     loader.c  find and load ashlar_NAME.so │
 *     list.c    what there is to open        ┘
 *     call.h    calling the operations of ranges, counted
 *     heap.c vm.c                              built in, by the same struct
 *     retire.c  what waits for its fences before it is taken away
 *     budget.c  addresses, counted over all sources of the process
 *
 * Invariants:
 *   - ops is the library's own copy: complete, so that no call site tests a
 *     member for NULL; what a group lacks says "unsupported";
 *   - a source is closed only when nothing holds it and nothing waits on it;
 *   - a source that memory was mapped through is used in its own process only.
 */
#ifndef ASHLAR_SOURCE_SOURCE_H
#define ASHLAR_SOURCE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include <ashlar/plugin.h>
#include <ashlar/source.h>

#include "base/thread.h"
#include "source/plugin.h"
#include "source/retire.h"

struct ashlar_source {
    struct ashlar_plugin ops;
    void *state;
    struct ashlar_plugin_info info;
    char name[SOURCE_NAME_BYTES];
    char path[SOURCE_PATH_BYTES]; /* the plug-in's file; "" when built in */
    unsigned process;             /* thread_process() at opening */
    unsigned holders; /* pools, ranges and fences that stand on it; atomic */
    bool timed;       /* atomic: see source/call.h */
    struct ashlar_source_calls calls; /* atomic */
    struct retire retire;
};

/** The one heap of the process; what a NULL source stands for. */
struct ashlar_source *source_heap(void);

/** The plug-ins that are built in. */
extern const struct ashlar_plugin heap_plugin;
extern const struct ashlar_plugin vm_plugin;

/** What plug-ins are handed. */
extern const struct ashlar_host source_host;

/**
 * Open a source from a plug-in's struct in memory, checked as one from a file.
 * For tests, and for whoever wraps a source.
 */
enum ashlar_status source_open_plugin(const struct ashlar_plugin *plugin,
                                      const char *name, const char *options,
                                      struct ashlar_source **source_out);

/** Resolve NULL to the heap, and count a holder in. */
struct ashlar_source *source_hold(struct ashlar_source *source);

/** Count a holder out. */
void source_drop(struct ashlar_source *source);

/**
 * Reserve addresses within the process's budget, as the source's operation.
 * Release gives them back to it.
 */
enum ashlar_status source_reserve(struct ashlar_source *source, uint64_t bytes,
                                  uint64_t alignment, uint64_t hint,
                                  uint64_t *address_out);
enum ashlar_status source_release(struct ashlar_source *source,
                                  uint64_t address, uint64_t bytes);

/** Give addresses back to the budget that nobody is left to release. */
void source_forget(uint64_t bytes);

/** What is left of the process's budget for addresses. */
uint64_t source_budget_left(void);

/** Whether an operation says that there is nothing left to be done for it. */
static inline bool source_is_gone(enum ashlar_status status)
{
    return status == ASHLAR_ERR_NO_DRIVER ||
           status == ASHLAR_ERR_CONTEXT_FAILED;
}

/** Whether a number is one of enum ashlar_rights. */
static inline bool rights_are_known(uint32_t rights)
{
    return rights == ASHLAR_RIGHTS_NONE || rights == ASHLAR_RIGHTS_READ ||
           rights == ASHLAR_RIGHTS_READ_WRITE;
}

/** Whether all of a set of ASHLAR_CAN_* bits is there. */
static inline bool source_can(const struct ashlar_source *source, uint64_t bits)
{
    return (source->info.can & bits) == bits;
}

/** Whether source_check() lets it pass. */
static inline bool source_is_usable(const struct ashlar_source *source)
{
    return source != NULL && (source->process == thread_process() ||
                              !source_can(source, ASHLAR_CAN_RANGES));
}

/** Refuse NULL, and the parent's sources in a child of fork(2). */
enum ashlar_status source_check(struct ashlar_source *source, const char *call);

#endif
