/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * A registered type, as the library sees it.
 */
#ifndef ASHLAR_TYPE_TYPE_H
#define ASHLAR_TYPE_TYPE_H

#include <stdbool.h>
#include <stddef.h>

#include <ashlar/type.h>

/** Read what a pool needs of a type, whose alignment may still get stronger. */
void type_layout(const struct ashlar_type *type, size_t *object_size_out,
                 size_t *alignment_out, size_t *stride_out);

/**
 * Fix a type's alignment for ever, once a pool stands; repeatable.
 *
 * @param alignment  What the pool was made for.
 *
 * @return False: it has got stronger meanwhile, and nothing was done.
 */
bool type_freeze(const struct ashlar_type *type, size_t alignment);

/** True when the pointer is a type of this process: walks the list. */
int type_is_known(const struct ashlar_type *type);

#endif
