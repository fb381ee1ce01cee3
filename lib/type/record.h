/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * A type's record, shared by the registry and its built-in table alone.
 *
 * Invariant: all members but the state are constant once a record can be
 * found, so readers need no lock.
 */
#ifndef ASHLAR_TYPE_RECORD_H
#define ASHLAR_TYPE_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include <ashlar/type.h>

/** The state of a type: alignment and, in bit 0, whether it is frozen. */
#define TYPE_STATE(_alignment) ((size_t)(_alignment) << 1)
#define TYPE_STATE_FROZEN      ((size_t)1)

struct ashlar_type {
    const char *name;
    const char *aliases; /* separated by commas; "" for none */
    const char *source;  /* "" unless built in */
    size_t size;
    size_t state;              /* atomic; written under the registry's lock */
    uint64_t hash;             /* of the name; 0 when built in */
    struct ashlar_type *chain; /* the next in its bucket */
    uint32_t index;            /* among those registered; 0 when built in */
    uint32_t flags;            /* those that never change */
    uint16_t cuda12;           /* bytes of alignment that CUDA 12 declares */
    uint16_t cuda13;
};

/** The built-in types, constant but for their state. */
extern struct ashlar_type builtin_types[];
extern const size_t builtin_count;

#endif
