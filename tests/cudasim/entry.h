/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * How a call of the driver begins and ends, and the table of the entries.
 *
 * An exported function is
 *
 *     CUresult CUDAAPI cuThing(int argument)
 *     {
 *         CUresult result;
 *
 *         if (enter("cuThing", &result))
 *             result = leave(thing(argument));
 *         return result;
 *     }
 *
 * and the table says what is checked first: each entry once for each version that
 * cuGetProcAddress() may be asked for.
 */
#ifndef CUDASIM_ENTRY_H
#define CUDASIM_ENTRY_H

#include "machine.h"

enum {
    ENTRY_EARLY = 1,    /* works before cuInit() */
    ENTRY_CONTEXT = 2,  /* needs a current context that has not failed */
    ENTRY_UNSAFE = 4,   /* forbidden while a stream captures; spoils it */
    ENTRY_SURE = 8,     /* never fails, so no failure can be asked for */
    ENTRY_OUTLIVES = 16 /* says SUCCESS in a forked child */
};

struct entry {
    const char *name; /* without suffix, as cuGetProcAddress() takes it */
    int version;      /* that brought it */
    unsigned flags;
    void (*function)(void);
    void (*per_thread)(
        void); /* the same with stream 0 the thread's own, if any */
};

/* Ascending by name, then by version. */
extern const struct entry entries[];
extern const size_t entry_count;

/* Position of the first entry of a name; -1: there is none. */
int entry_find(const char *name);

/* Begin a call. Takes the lock and returns true, or leaves the lock alone, says why
 * in result, and returns false. */
bool enter(const char *name, CUresult *result_out);

/* End a call: do the work that is due, give the lock back, then call what is to be
 * called back. Returns its argument. */
CUresult leave(CUresult result);

/* A function of the user's that is to be called without the lock. It is to make no
 * call of the driver; if it does, that says NOT_PERMITTED. */
struct call {
    struct call *next;
    CUhostFn function;
    void *user;
    void *owner; /* memory that is freed afterwards, this struct in it */
};

/* Have it called when this thread leaves. */
void leave_calling(struct call *call);

/* Call it now; the lock is given back for the while. */
void call_back(CUhostFn function, void *user);

/* What is counted and made to fail. */
int entry_fail(const char *name, uint64_t nth, CUresult result, uint64_t times);
void entry_fail_none(void);
uint64_t entry_calls(const char *name);
void entry_count_none(void);

#endif
