/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * The addresses of the device, which are addresses of this process, too.
 *
 *     area          |.......................................................|
 *     reservations     [===============)        [======)[=====)
 *     mappings         [chunk)[chunk)                   [chunk)
 *
 * The area is one stretch without access, as large as the kernel grants. So what
 * follows a reservation is free for the next, and nobody else gets addresses there.
 *
 * Invariants: each mapping lies in one reservation, which has no other at that
 * place. A mapping is made of a whole physical, counts in physical->mappings, and
 * is mapped in this process; between mappings nothing can be touched.
 */
#ifndef CUDASIM_SPACE_H
#define CUDASIM_SPACE_H

#include "machine.h"
#include "physical.h"

enum reservation_kind {
    RESERVED,      /* by cuMemAddressReserve() */
    DEVICE_MEMORY, /* cuMemAlloc() and the like */
    HOST_MEMORY    /* cuMemHostAlloc() and the like */
};

struct reservation {
    struct item span;
    enum reservation_kind kind;
    int device;       /* of the context that allocated it */
    uint64_t context; /* its id */
    uint64_t id;      /* of the buffer, never used twice */
    uint64_t used;    /* bytes that were asked for by an allocation */
};

struct mapping {
    struct item span;
    struct physical *physical;
    uint64_t used; /* bytes of it that may be touched */
    uint64_t id;
    unsigned char rights[MAX_LOCATIONS]; /* CU_MEM_ACCESS_FLAGS_PROT_... */
};

extern struct index reservations;
extern struct index mappings;

/* Reserve addresses; hint 0: anywhere. */
CUresult space_reserve(uint64_t bytes, uint64_t alignment, uint64_t hint,
                       enum reservation_kind kind,
                       struct reservation **reservation_out);
void space_free(struct reservation *reservation);

CUresult space_map(uint64_t address, struct physical *physical,
                   struct mapping **mapping_out);
void space_unmap(struct mapping *mapping);

/* Give this process the rights on a mapping that its host nodes have. */
CUresult space_protect(const struct mapping *mapping);

/* Whether a device may read, or write, these bytes. */
bool space_reachable(int device, uint64_t address, uint64_t bytes, bool write);

/* Whether an address is the driver's. */
bool space_contains(uint64_t address);

/* A mapping's rights as a whole number over all locations, for accounts. */
unsigned space_rights(const struct mapping *mapping);

/* Free what was allocated in a context. */
void space_drop(uint64_t context);
void space_clear(void);

#endif
