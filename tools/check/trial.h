/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The parts of a trial, a file each. All report; none ends the program.
 */
#ifndef ASHLAR_TOOLS_CHECK_TRIAL_H
#define ASHLAR_TOOLS_CHECK_TRIAL_H

#include "check/model.h"

/** Refusals that ashlar/plugin.h promises, one by one. */
void trial_refusals(struct subject *subject, uint64_t seed);

/**
 * So many steps at random, each held against the model. False when the two
 * parted.
 */
bool trial_random(struct subject *subject, uint64_t seed, uint64_t steps);

/** Blocks of host memory, at random. False when one was not as it should be. */
bool trial_blocks(struct subject *subject, uint64_t seed, uint64_t steps);

/** More of a block than any machine has. */
void trial_blocks_limits(struct subject *subject);

/** Both by several threads at once, each with a model of its own. */
void trial_threads(struct subject *subject, uint64_t seed, uint64_t steps,
                   unsigned threads);

/** Descriptors to a table. */
void trial_scatter(struct subject *subject, uint64_t seed);

/** Many fences at once, and events. */
void trial_fences(struct subject *subject, uint64_t seed);

/** Tensor maps. */
void trial_encode(struct subject *subject);

/** Export a chunk and import it again, as a step at random. */
void trial_share(struct model *model);

/** What import refuses. */
void trial_import_wrongly(struct subject *subject);

#endif
