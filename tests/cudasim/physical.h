/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Memory by itself, without an address: what cuMemCreate() makes.
 *
 *     file of the machine   [physical)[physical)      [physical) ...
 *     file of its own       [physical)[label)         if it may be exported
 *
 * The memory is that of files in memory. One serves all, since a descriptor each
 * would soon be too many; what may be exported has one of its own, because who
 * gets a descriptor gets the whole file. There, a label behind the memory says
 * what it is to the process that imports it.
 *
 * Who imports a descriptor, also in the process that exported it, gets another
 * physical of the same file; the memory goes with the last of them.
 *
 * Invariants: a physical is there as long as somebody holds a reference or a
 * mapping shows it. Its handle is good while there are references.
 */
#ifndef CUDASIM_PHYSICAL_H
#define CUDASIM_PHYSICAL_H

#include "machine.h"

struct file {
    int fd;
    uint64_t users; /* physicals of this process */
    bool foreign;   /* its memory was made by another process */
};

struct physical {
    struct item handle;
    uint64_t bytes;
    uint64_t references;
    uint64_t mappings;
    CUmemAllocationProp properties;
    int location; /* machine_location() */
    int fd;       /* the file that it lies in */
    uint64_t offset;
    struct file *file; /* if it is of its own; else NULL */
    bool imported;
    bool plain; /* under cuMemAlloc(), not of cuMemCreate() */
};

extern struct index physicals;

/* Bytes of a location that are taken. */
extern uint64_t physical_taken[MAX_LOCATIONS];
uint64_t physical_limit(int location);

/* Descriptors that the driver holds open. */
uint64_t physical_fds(void);

/* Make memory, with one reference. */
CUresult physical_create(uint64_t bytes, const CUmemAllocationProp *properties,
                         struct physical **physical_out);

/* Drop a reference, or a mapping; the last one frees it. */
void physical_release(struct physical *physical);
void physical_unmapped(struct physical *physical);

/* What a handle means; NULL, and counted as bogus: nothing. */
struct physical *physical_find(uint64_t handle);

/* A descriptor of a file of its own, for another process, which the caller owns; and
 * back. */
CUresult physical_export(const struct physical *physical, int *fd_out);
CUresult physical_import(int fd, struct physical **physical_out);

void physical_clear(void);

#endif
