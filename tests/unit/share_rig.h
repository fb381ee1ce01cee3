/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * An exporter, which is the test, and an importer in another process: what the
 * tests of sharing do with the two.
 */
#ifndef ASHLAR_TESTS_UNIT_SHARE_RIG_H
#define ASHLAR_TESTS_UNIT_SHARE_RIG_H

#include <stddef.h>
#include <stdint.h>

#include <ashlar.h>

#include "support/ranges.h"
#include "unit/share_importer.h"

struct share {
    struct trial trial; /* the exporter */
    struct importer importer;
    uint64_t files; /* open here at the start */
    uint64_t importer_files;
};

extern struct share share;

void share_open(void);

/* Whatever a case did, no descriptor is left on either side. */
void share_close(void);

/* Bytes of so many granules. */
uint64_t share_bytes(uint64_t granules);

/* An order without anything beside it. */
struct importer_answer share_ask(enum importer_verb verb, uint64_t number);

struct ashlar_range_exported share_export(uint64_t since, size_t fds_max);

/* Send an export there. */
struct importer_answer share_send(enum importer_verb verb, uint64_t number,
                                  const struct ashlar_range_exported *made);

/* Export what is new since then, have it imported; returns up to where. */
uint64_t share_new(enum importer_verb verb, uint64_t number, uint64_t since);

/* It was refused there, with these words. */
void share_refused(const struct importer_answer *answer,
                   enum ashlar_status status, const char *words);

/* Nothing is left there of what was begun. */
void share_nothing_there(const struct importer_answer *answer);

/* The other side reads what this side has stamped, granule for granule. */
void share_stamps_there(uint64_t granules);

#endif
