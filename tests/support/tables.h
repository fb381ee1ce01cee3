/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * What the tests of tables share: a table on a wrapped source, maps that can be
 * told apart, and a check of all records against each other.
 */
#ifndef ASHLAR_TESTS_SUPPORT_TABLES_H
#define ASHLAR_TESTS_SUPPORT_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ashlar.h>

#include "support/ranges.h"
#include "support/suite.h"
#include "support/wrap_source.h"
#include "tensormap/map_table.h"

#define QUIET ASHLAR_QUIET, 1

/* A fence on a stream, as an argument with its count. */
#define ON_STREAM(_number)                                                     \
    &(struct ashlar_fence)ASHLAR_FENCE_OF_STREAM(NULL, _number), 1

/* A source that lacks some of what it can do: a set of ASHLAR_CAN_*. */
struct ashlar_source *tables_source(uint64_t lacks);

/* Lend a source the encoder of support/encode_source.h, as new. */
void tables_lend_encoder(struct ashlar_source *source);

/* Slots that a granule has room for. */
size_t tables_granule(const struct ashlar_source *source);

/* Make a table; fails the test case when it cannot. */
struct ashlar_tensormap_table *tables_make(struct ashlar_source *source,
                                           size_t max_slots,
                                           size_t staging_slots);

/* What a test's table stands on. */
struct tables_rig {
    struct ashlar_source *source; /* from wrap_open() */
    struct ashlar_tensormap_table *table;
};

/* Begin with a source that lacks some of what it can do, and a table on it. */
void tables_begin(struct tables_rig *rig, uint64_t lacks, size_t max_slots,
                  size_t staging_slots);

/* The records agree, the table goes, and the source has got all back. */
void tables_end(struct tables_rig *rig);

/* Queue something like a slow kernel, which lasts until it is finished. */
void tables_hold(struct tables_rig *rig, uint64_t stream);
void tables_finish(struct tables_rig *rig, uint64_t stream);

/* Publish during a capture of a stream; its graph is there until
 * tables_finish(). */
enum ashlar_status tables_capture(struct tables_rig *rig,
                                  const struct ashlar_tensormap_handle *handles,
                                  size_t n, uint64_t stream);

struct ashlar_tensormap_table_info
tables_info(struct ashlar_tensormap_table *table);

/* The map of a number: 128 bytes, in a static buffer of the thread's. */
const void *tables_map(uint64_t number);

/* Lease, and fill with the numbers from `first` on. */
void tables_lease(struct ashlar_tensormap_table *table, size_t n,
                  uint64_t first, struct ashlar_tensormap_handle *handles);

/* The number of the map at an address; 0 when it is the map of none. */
uint64_t tables_number(const void *at);

/* What the host slot holds, and the device's. */
uint64_t tables_on_host(struct ashlar_tensormap_table *table,
                        struct ashlar_tensormap_handle handle);
uint64_t tables_on_device(struct ashlar_tensormap_table *table,
                          struct ashlar_tensormap_handle handle);

/* All of a slot; fails the test case when the handle is of no lease. */
struct ashlar_tensormap_slot tables_look(struct ashlar_tensormap_table *table,
                                         struct ashlar_tensormap_handle handle);

/* enum ashlar_tensormap_state; 0: the handle is of no lease. */
uint32_t tables_state(struct ashlar_tensormap_table *table,
                      struct ashlar_tensormap_handle handle);

/* All records agree with each other; fails the test case when not. */
void tables_check(struct ashlar_tensormap_table *table);

/* All that a refused call must leave as it is. To be freed. */
struct tables_state;
struct tables_state *tables_save(struct ashlar_tensormap_table *table);
void tables_forget(struct tables_state *state);

/* What differs, by name; NULL for nothing. */
const char *tables_differ(const struct tables_state *a,
                          const struct tables_state *b);

#endif
