/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "entry.h"

#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "context.h"
#include "stream.h"

#define ENTRIES_MOST  256
#define FAILURES_MOST 64

/* A failure that was asked for. */
struct failure {
    int entry;     /* position; -1: any that can fail */
    uint64_t wait; /* calls until it begins */
    uint64_t times;
    CUresult result;
};

static uint64_t counts[ENTRIES_MOST]; /* of calls, by position */
static struct failure failures[FAILURES_MOST];
static unsigned failure_count;
static struct call *calls;
static _Thread_local bool called_back;

int entry_find(const char *name)
{
    size_t low = 0;
    size_t high = entry_count;
    size_t middle;

    while (low < high) {
        middle = low + (high - low) / 2;
        if (strcmp(entries[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == entry_count || strcmp(entries[low].name, name) != 0)
        return -1;
    return (int)low;
}

/* Whether this call is one that a failure hits. */
static bool hits(struct failure *failure, int position)
{
    if (failure->entry >= 0 ? failure->entry != position
                            : (entries[position].flags & ENTRY_SURE) != 0)
        return false;
    if (failure->wait > 1) {
        failure->wait--;
        return false;
    }
    if (failure->times == 0)
        return false;
    if (failure->times != UINT64_MAX)
        failure->times--;
    return true;
}

/* All failures count this call, and the first that hits is it. */
static CUresult fail(int position)
{
    CUresult result = CUDA_SUCCESS;
    unsigned i;

    for (i = 0; i < failure_count; i++)
        if (hits(&failures[i], position) && result == CUDA_SUCCESS)
            result = failures[i].result;
    return result;
}

static CUresult check(int position)
{
    unsigned flags = entries[position].flags;
    struct context *context;
    CUresult result = CUDA_SUCCESS;

    counts[position]++;
    if ((flags & ENTRY_SURE) != 0)
        return CUDA_SUCCESS;
    if (machine.gone)
        return CUDA_ERROR_DEINITIALIZED;
    if ((flags & ENTRY_EARLY) == 0 && atomic_load(&machine.pid) == 0)
        return CUDA_ERROR_NOT_INITIALIZED;
    result = fail(position);
    if (result == CUDA_SUCCESS && (flags & ENTRY_CONTEXT) != 0)
        result = context_current(&context);
    if (result == CUDA_SUCCESS && (flags & ENTRY_UNSAFE) != 0)
        result = capture_forbid_unsafe();
    return result;
}

bool enter(const char *name, CUresult *result_out)
{
    int position = entry_find(name);
    unsigned flags = entries[position].flags;

    if (machine_forked() && (flags & ENTRY_SURE) == 0) {
        *result_out = (flags & ENTRY_OUTLIVES) != 0
                          ? CUDA_SUCCESS
                          : CUDA_ERROR_NOT_INITIALIZED;
        return false;
    }
    if (called_back && (flags & ENTRY_SURE) == 0) {
        *result_out = CUDA_ERROR_NOT_PERMITTED;
        return false;
    }
    machine_lock();
    *result_out = check(position);
    if (*result_out == CUDA_SUCCESS)
        return true;
    machine_unlock();
    return false;
}

void leave_calling(struct call *call)
{
    struct call **place = &calls;

    while (*place != NULL)
        place = &(*place)->next;
    call->next = NULL;
    *place = call;
}

static void call_user(CUhostFn function, void *user)
{
    bool before = called_back;

    called_back = true;
    function(user);
    called_back = before;
}

void call_back(CUhostFn function, void *user)
{
    machine_unlock();
    call_user(function, user);
    machine_lock();
}

CUresult leave(CUresult result)
{
    struct call *todo;
    struct call *done;

    stream_run();
    todo = calls;
    calls = NULL;
    machine_unlock();
    while (todo != NULL) {
        done = todo;
        todo = todo->next;
        call_user(done->function, done->user);
        free(done->owner);
    }
    return result;
}

/* Where the calls of a name are counted: some function has two names. */
static int find_counted(const char *name)
{
    int position = entry_find(name);
    int first = 0;

    if (position < 0)
        return -1;
    while (entries[first].function != entries[position].function)
        first++;
    return entry_find(entries[first].name);
}

/* Forget the failures that have come to pass. */
static void drop_spent(void)
{
    unsigned kept = 0;
    unsigned i;

    for (i = 0; i < failure_count; i++)
        if (failures[i].times > 0)
            failures[kept++] = failures[i];
    failure_count = kept;
}

int entry_fail(const char *name, uint64_t nth, CUresult result, uint64_t times)
{
    int position = name == NULL ? -1 : find_counted(name);

    drop_spent();
    if ((name != NULL && position < 0) || nth == 0 || result == CUDA_SUCCESS ||
        times == 0 || failure_count == FAILURES_MOST)
        return -1;
    failures[failure_count++] = (struct failure){position, nth, times, result};
    return 0;
}

void entry_fail_none(void)
{
    failure_count = 0;
}

uint64_t entry_calls(const char *name)
{
    int position = name == NULL ? -1 : find_counted(name);
    uint64_t sum = 0;
    size_t i;

    if (name != NULL)
        return position < 0 ? 0 : counts[position];
    for (i = 0; i < entry_count; i++)
        sum += counts[i];
    return sum;
}

void entry_count_none(void)
{
    memset(counts, 0, sizeof(counts));
}
