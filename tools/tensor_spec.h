/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * A tensor of a manifest as the library's spec, and what is wrong with that.
 */
#ifndef ASHLAR_TOOLS_TENSOR_SPEC_H
#define ASHLAR_TOOLS_TENSOR_SPEC_H

#include <ashlar/tensormap.h>

#include "field.h"
#include "tensor.h"

/**
 * Make a spec of a tensor whose form is right.
 *
 * What the manifest leaves open is filled in so that nothing is wrong with it:
 * an address that any tensor may have, packed strides, the smallest box.
 *
 * @return False when packed strides do not fit; the last error says why, and
 *         they are 0.
 */
bool tensor_spec(const struct tensor *tensor, struct ashlar_spec *spec);

/** What a manifest calls the field of a finding. */
const char *tensor_field(const struct ashlar_spec_finding *finding);

/**
 * Note each rule that a tensor breaks, with its kernel's and its own name.
 *
 * @param capability  As for ashlar_spec_check().
 */
void tensor_check(const struct place *place, const char *kernel,
                  const struct tensor *tensor, uint32_t capability);

/** Note something else of it in the same way. */
void tensor_note(const struct place *place, const char *kernel,
                 const char *tensor, const char *what);

#endif
