/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * Addresses of a range, handed to jemalloc: what its extent hooks do.
 *
 *     base                next                       end
 *      [ handed out        |                          ]
 *
 * What jemalloc has, it keeps and divides itself until it is reset or
 * destroyed; so there is nothing here but how far it has got. The hooks take no
 * lock, call nothing, and touch no memory. Splits and merges always succeed.
 *
 * Invariant: base <= next <= end.
 */
#ifndef ASHLAR_ARENA_EXTENT_H
#define ASHLAR_ARENA_EXTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jemalloc/jemalloc.h>

struct extents {
    extent_hooks_t hooks; /* first: jemalloc hands it to each of them */
    uint64_t base;
    uint64_t end;
    uint64_t next;    /* atomic */
    uint64_t refused; /* atomic: times that addresses were asked for in vain */
};

/** Hand out the addresses from base on. */
void extents_start(struct extents *extents, uint64_t base, uint64_t bytes);

/** How often an extent was refused, for want of addresses. */
uint64_t extents_refused(const struct extents *extents);

/** Bytes of addresses that jemalloc has got. */
uint64_t extents_handed_out(const struct extents *extents);

#endif
