/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * The simulated machine: what it has, and whether it runs.
 *
 * One lock guards everything. An entry of the driver takes it in enter() and gives it
 * back in leave() (entry.h); so do the functions of cudasim.h, by machine_lock()
 * and machine_unlock(). Functions that are called with the lock held say nothing
 * about it; the few others do.
 */
#ifndef CUDASIM_MACHINE_H
#define CUDASIM_MACHINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <cuda.h>

#include "index.h"

#define MAX_DEVICES   8
#define MAX_NODES     8
#define MAX_LOCATIONS (MAX_DEVICES + MAX_NODES)
#define GRANULE       ((uint64_t)2 << 20)

/* What CUDA 12.0 has no names for. The host as a place is any node; here it is the
 * first. */
#define LOCATION_TYPE_HOST      2
#define LOCATION_TYPE_HOST_NUMA 3
#define HANDLE_TYPE_FABRIC      8

enum hint_policy { HINTS_GRANT, HINTS_MOVE, HINTS_REFUSE };

struct settings {
    unsigned devices;
    unsigned nodes;  /* host NUMA nodes */
    uint64_t memory; /* bytes of each device */
    int driver;      /* version */
    int capability;  /* of each device to compute: 90 is 9.0 */
    enum hint_policy hints;
    bool peers;
    bool held; /* queued work waits until the test finishes it */
    bool fabric;
    bool rdma;
    bool report;
};

struct machine {
    struct settings settings;
    _Atomic pid_t pid;           /* that called cuInit(); 0: nobody did */
    _Atomic uint64_t generation; /* which machine since the process began */
    bool gone;                   /* as while a process exits */
    uint64_t bogus; /* handles that were never given, or not any more */
};

extern struct machine machine;

/* Read "key=value,..."; NULL: what $CUDASIM says. 0; -1 when it is wrong, which
 * is said on stderr, with nothing changed. */
int settings_read(struct settings *settings, const char *text);
int settings_read_hints(enum hint_policy *hints, const char *text);

void machine_lock(void);
void machine_unlock(void);

/* Wait until another thread called machine_moved(). */
void machine_wait(void);
void machine_moved(void);

/* A number that no handle had before. */
uint64_t machine_handle(void);

/* A new thing with a handle, so many bytes, all zero but for the item that it
 * begins with, and in the index. NULL: no host memory. */
void *machine_object(struct index *index, size_t bytes);

/* The calling thread; no two have the same, also one after the other. No lock. */
uint64_t machine_thread(void);

/* Whether this process is a child of the one that called cuInit(). No lock. */
bool machine_forked(void);

/* Place of a location among MAX_LOCATIONS: devices, then host nodes. -1: there is
 * none such. */
int machine_location(CUmemLocation location);

/* Which locations are host nodes. */
static inline bool location_is_host(int location)
{
    return location >= MAX_DEVICES;
}

/* The driver's version, also before there are settings. */
int machine_driver(void);

/* Free and forget all that the machine has. */
void machine_clear(void);

#endif
