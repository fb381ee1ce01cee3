/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "space.h"

#include <stdlib.h>
#include <sys/mman.h>

/* As much as a process may have on the machines of today, less what it needs. */
#define AREA_MOST  (UINT64_C(96) << 40)
#define AREA_LEAST (UINT64_C(1) << 30)

/* Left free behind a reservation, for one that wants to be its neighbour. */
#define GAP_WIDE   (UINT64_C(64) << 30)
#define GAP_NARROW (UINT64_C(64) << 20)

struct index reservations;
struct index mappings;

static uint64_t area_start;
static uint64_t area_bytes;
static uint64_t last_id;

static void *at(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

static void *shut(uint64_t address, uint64_t bytes, int how)
{
    return mmap(at(address), bytes, PROT_NONE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | how, -1, 0);
}

/* Get the area, once for the process: three quarters of what was asked for until
 * the kernel grants it. Memory checkers leave much less. */
static CUresult area_open(void)
{
    uint64_t bytes = AREA_MOST;
    void *area;

    if (area_bytes != 0)
        return CUDA_SUCCESS;
    for (; bytes >= AREA_LEAST; bytes = bytes / 4 * 3) {
        area = shut(0, bytes, 0);
        if (area != MAP_FAILED) {
            area_start =
                ((uint64_t)(uintptr_t)area + GRANULE - 1) & ~(GRANULE - 1);
            area_bytes = (bytes - GRANULE) & ~(GRANULE - 1);
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_OUT_OF_MEMORY;
}

bool space_contains(uint64_t address)
{
    return address - area_start < area_bytes;
}

static bool is_free(uint64_t address, uint64_t bytes)
{
    return address >= area_start && bytes <= area_bytes &&
           address - area_start <= area_bytes - bytes &&
           !index_overlaps(&reservations, address, bytes);
}

/* The lowest place with so much room behind it; 0: there is none. `not` is where
 * it may not be. */
static uint64_t find_place(uint64_t bytes, uint64_t alignment, uint64_t gap,
                           uint64_t not )
{
    uint64_t place = area_start;
    const struct item *next;
    size_t i = 0;

    for (;;) {
        place = (place + alignment - 1) & ~(alignment - 1);
        if (place == not )
            place += alignment;
        if (place - area_start > area_bytes ||
            area_bytes - (place - area_start) < bytes)
            return 0;
        if (i == reservations.count)
            return place;
        next = reservations.items[i++];
        if (next->start >= place && next->start - place >= bytes &&
            next->start - place - bytes >= gap)
            return place;
        if (next->start + next->bytes + gap > place)
            place = next->start + next->bytes + gap;
    }
}

static uint64_t choose_place(uint64_t bytes, uint64_t alignment, uint64_t hint)
{
    static const uint64_t gaps[] = {GAP_WIDE, GAP_NARROW, 0};
    uint64_t place = 0;
    unsigned i;

    if (hint != 0 && machine.settings.hints == HINTS_GRANT &&
        is_free(hint, bytes))
        return hint;
    for (i = 0; i < 3 && place == 0; i++)
        place = find_place(bytes, alignment, gaps[i], hint);
    return place;
}

CUresult space_reserve(uint64_t bytes, uint64_t alignment, uint64_t hint,
                       enum reservation_kind kind,
                       struct reservation **reservation_out)
{
    CUresult result = area_open();
    struct reservation *reservation;
    uint64_t place;

    if (result != CUDA_SUCCESS)
        return result;
    place = choose_place(bytes, alignment, hint);
    if (place == 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    reservation = calloc(1, sizeof(*reservation));
    if (reservation == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    reservation->span = (struct item){place, bytes};
    reservation->kind = kind;
    reservation->id = ++last_id;
    if (index_add(&reservations, &reservation->span) != 0) {
        free(reservation);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *reservation_out = reservation;
    return CUDA_SUCCESS;
}

void space_free(struct reservation *reservation)
{
    index_remove(&reservations, &reservation->span);
    free(reservation);
}

CUresult space_map(uint64_t address, struct physical *physical,
                   struct mapping **mapping_out)
{
    struct mapping *mapping = calloc(1, sizeof(*mapping));
    int rights = location_is_host(physical->location) && !physical->plain
                     ? PROT_NONE
                     : PROT_READ | PROT_WRITE;

    if (mapping == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    mapping->span = (struct item){address, physical->bytes};
    mapping->physical = physical;
    mapping->used = physical->bytes;
    mapping->id = ++last_id;
    if (index_add(&mappings, &mapping->span) != 0)
        goto err_free;
    if (mmap(at(address), physical->bytes, rights, MAP_SHARED | MAP_FIXED,
             physical->fd, (off_t)physical->offset) == MAP_FAILED)
        goto err_remove;
    physical->mappings++;
    *mapping_out = mapping;
    return CUDA_SUCCESS;

err_remove:
    index_remove(&mappings, &mapping->span);
err_free:
    free(mapping);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

void space_unmap(struct mapping *mapping)
{
    shut(mapping->span.start, mapping->span.bytes, MAP_FIXED);
    index_remove(&mappings, &mapping->span);
    physical_unmapped(mapping->physical);
    free(mapping);
}

CUresult space_protect(const struct mapping *mapping)
{
    static const int protections[] = {PROT_NONE, PROT_READ, PROT_READ,
                                      PROT_READ | PROT_WRITE};
    unsigned rights = 0;
    int i;

    if (!location_is_host(mapping->physical->location))
        return CUDA_SUCCESS;
    for (i = MAX_DEVICES; i < MAX_LOCATIONS; i++)
        rights |= mapping->rights[i];
    if (mprotect(at(mapping->span.start), mapping->span.bytes,
                 protections[rights & 3]) != 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    return CUDA_SUCCESS;
}

unsigned space_rights(const struct mapping *mapping)
{
    unsigned count = 0;
    int i;

    for (i = 0; i < MAX_LOCATIONS; i++)
        count += mapping->rights[i] != CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return count;
}

static bool may(const struct mapping *mapping, int device, bool write)
{
    return (mapping->rights[device] &
            (write ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE & 2
                   : CU_MEM_ACCESS_FLAGS_PROT_READ)) != 0;
}

bool space_reachable(int device, uint64_t address, uint64_t bytes, bool write)
{
    uint64_t end = address + bytes;
    const struct mapping *mapping;

    while (address < end) {
        mapping = index_find(&mappings, address);
        if (mapping == NULL || !may(mapping, device, write) ||
            address - mapping->span.start >= mapping->used)
            return false;
        address = mapping->span.start + mapping->used;
    }
    return true;
}

static void drop(struct reservation *reservation)
{
    struct mapping *mapping;

    for (;;) {
        mapping = index_find(&mappings, reservation->span.start);
        if (mapping == NULL)
            break;
        space_unmap(mapping);
    }
    space_free(reservation);
}

void space_drop(uint64_t context)
{
    struct reservation *reservation;
    size_t i = reservations.count;

    while (i-- > 0) {
        reservation = (struct reservation *)reservations.items[i];
        if (reservation->kind != RESERVED && reservation->context == context)
            drop(reservation);
    }
}

/* The area stays: another might not be granted. */
void space_clear(void)
{
    while (mappings.count > 0)
        space_unmap((struct mapping *)mappings.items[mappings.count - 1]);
    while (reservations.count > 0)
        space_free(
            (struct reservation *)reservations.items[reservations.count - 1]);
    index_clear(&mappings);
    index_clear(&reservations);
}
