/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Maps in a table on the device: a kernel is told its address and an index.
 */
#ifndef LAUNCHER_TABLE_H
#define LAUNCHER_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include <ashlar.h>

#include "launcher.h"

/* Make the launcher's table, with room for so many maps at most. */
void table_make(struct launcher *launcher, size_t most);

/* Where it begins on the device, for its life. */
uint64_t table_base(const struct launcher *launcher);

/* Slots with the maps of `count` problems from one on: two each. */
struct ashlar_tensormap_handle *table_lease(struct launcher *launcher,
                                            size_t first, size_t count);

/* Tell the jobs of those problems which slots theirs are. */
void table_tell_jobs(struct launcher *launcher, size_t first, size_t count,
                     const struct ashlar_tensormap_handle *handles);

/* Have their maps on the device, in the order of a stream's work. */
void table_publish(struct launcher *launcher,
                   const struct ashlar_tensormap_handle *handles, size_t n,
                   CUstream stream);

/* The device has what the host has, in n slots. Nothing is queued any more. */
void table_check(const struct launcher *launcher,
                 const struct ashlar_tensormap_handle *handles, size_t n);

#endif
