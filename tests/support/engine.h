/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * What stands behind the tests of ranges: vm (engine_vm.c), or the plug-in
 * "cuda" on the simulated driver (engine_cuda.c). A test program is linked with
 * one of the two, and knows no other difference.
 *
 * Locations are 0 to 7, and 0 is home. Streams, events and graphs are numbers
 * that a test likes; what is held on a number is finished by that number.
 */
#ifndef ASHLAR_TESTS_SUPPORT_ENGINE_H
#define ASHLAR_TESTS_SUPPORT_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include <ashlar.h>

#include "support/driver_model.h"

/* The operations. Of its options, tests use "memory=BYTES" alone. */
const struct ashlar_plugin *engine_plugin(void);

/* Whether it is vm: pages are protected by rights, and come from few files. */
bool engine_is_vm(void);

/* The options that every source is opened with, such as "granule=4096". */
const char *engine_options(void);

/* "memory=BYTES" for so many granules, in a static buffer. */
const char *engine_memory(uint64_t granules);

/* Open one, as ashlar_source_open() does. More options may be NULL. */
enum ashlar_status engine_open(const char *more,
                               struct ashlar_source **source_out);

/* Queue work on a stream that lasts until it is finished. `inner` is a source
 * that has the engine's operations and state. */
enum ashlar_status engine_hold(struct ashlar_source *inner, uint64_t number);
enum ashlar_status engine_finish(struct ashlar_source *inner, uint64_t number);

/* Make what stands for a number now, and not when it is first met. */
void engine_prepare(uint64_t number);

/* The rights of a location at an address that is mapped. */
enum ashlar_status engine_rights(struct ashlar_source *inner, uint64_t address,
                                 uint32_t location, uint32_t *rights_out);

/* Bytes of memory that are given out, and bytes that are mapped. */
struct engine_bytes {
    uint64_t chunks;
    uint64_t mapped;
};
struct engine_bytes engine_bytes(struct ashlar_source *inner);

/* What differs between a model and what the engine has given out, all of its
 * sources together; NULL for nothing. */
const char *engine_differs(struct ashlar_source *inner,
                           const struct model *model);

/* What a source that is to be closed has not got back; NULL for nothing. */
const char *engine_left(struct ashlar_source *inner);

/*
 * Have the nth call of the driver fail, counted over all entries, and all later
 * ones, or the one numbered `then` if that is not 0.
 */
void engine_fail(uint64_t nth, uint64_t then, bool for_ever);

/* Whether there is a driver whose calls can fail. */
bool engine_has_driver(void);

/* Have no call fail any more. Returns how many of those failures were met. */
uint64_t engine_lift(void);

#endif
