/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * What the tests of ranges share: a range on a wrapped source, what should be
 * in it, and a check of all records against each other and against the
 * driver's rules.
 *
 *     trial   stamps[granule]   what the test wrote there; 0: fresh, all zero
 *     before  the range's facts, chunks, and all that the source has given out
 */
#ifndef ASHLAR_TESTS_SUPPORT_RANGES_H
#define ASHLAR_TESTS_SUPPORT_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ashlar.h>

#include "support/suite.h"
#include "support/wrap_source.h"

/* A trial's range has so many granules at most. */
#define TRIAL_GRANULES 1024

/* As ck_assert_int_eq(), with the library's own sentence. */
#define OK(_call)                                                              \
    do {                                                                       \
        enum ashlar_status ok_status = (_call);                                \
        if (ok_status != ASHLAR_OK)                                            \
            ck_abort_msg("%s: %s: %s", #_call, ashlar_status_name(ok_status),  \
                         ashlar_last_error_message());                         \
    } while (0)

/* It is refused with that status, and the sentence has that text. */
#define REFUSED(_status, _text, _call)                                         \
    do {                                                                       \
        enum ashlar_status refused_status = (_call);                           \
        ck_assert_msg(refused_status == (_status), "%s gave %s", #_call,       \
                      ashlar_status_name(refused_status));                     \
        ck_assert_msg(ranges_error_is(_status, _text), "%s: %s", #_call,       \
                      ashlar_last_error_message());                            \
    } while (0)

/* Whether the last error has the status, and its sentence the text. */
bool ranges_error_is(enum ashlar_status status, const char *text);

struct trial {
    struct ashlar_source *source; /* from wrap_open() */
    struct ashlar_range *range;
    uint64_t granule;
    uint64_t last_stamp;
    uint64_t stamps[TRIAL_GRANULES];
};

/* A source; more options than the engine's, or NULL. */
void trial_open(struct trial *trial, const char *more);

/* Options: so many granules reserved, chunks of so many at most (0: any). */
struct ashlar_range_options trial_options(const struct trial *trial,
                                          uint64_t reserve_granules,
                                          uint64_t chunk_granules,
                                          uint32_t flags);

/* Make the range, with rights for locations 1 and 3 beside the home's. */
void trial_create(struct trial *trial, uint64_t reserve_granules,
                  uint64_t chunk_granules, uint32_t flags);

/* Grow to so many granules, and stamp what is new. */
void trial_grow(struct trial *trial, uint64_t granules);

/* Facts of the range. */
struct ashlar_range_info trial_info(const struct trial *trial);

/* Items that wait on the source. */
uint64_t trial_waiting(const struct trial *trial);

/* After a verb that worked: forget what is gone, and stamp what is new. */
void trial_sync(struct trial *trial);

/* Forget what is gone, only. */
void trial_forget(struct trial *trial);

/* Destroy the range if there is one, drain, and close: nothing may be left. */
void trial_close(struct trial *trial);

/* What is wrong with what can be read through the range and through what moves
 * left behind; NULL for nothing. */
const char *trial_contents(const struct trial *trial);

/* What is wrong with the records of ranges that are all there are on a
 * wrapped source; NULL for nothing. No verb may run. */
const char *ranges_records(struct ashlar_source *source,
                           struct ashlar_range *const *ranges, size_t count);

/* Both, for a trial. */
const char *trial_wrong(const struct trial *trial);

struct before {
    struct ashlar_range_info info;
    struct ashlar_range_chunk chunks[TRIAL_GRANULES];
    size_t chunk_count;
    struct model model;
    uint64_t budget;
    bool exists;
};

void before_take(struct before *before, const struct trial *trial);
void before_free(struct before *before);

/* What of the range differs from before, as others see it; NULL: nothing. */
const char *before_differs(const struct before *before,
                           const struct trial *trial);

/* The same of what the source has given out, and of the budget. */
const char *before_given_differs(const struct before *before,
                                 const struct trial *trial);

#endif
