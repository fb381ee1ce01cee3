/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * A registered type, as the library sees it.
 */
#ifndef ASHLAR_TYPE_TYPE_H
#define ASHLAR_TYPE_TYPE_H

#include <stddef.h>

#include <ashlar/type.h>

/**
 * Fix a type's alignment for ever and read what a pool needs of it. Called
 * when the first pool is made; repeatable.
 */
void type_freeze(const struct ashlar_type *type, size_t *object_size_out,
                 size_t *alignment_out, size_t *stride_out);

/** True when the pointer is a type of this process: walks the list. */
int type_is_known(const struct ashlar_type *type);

#endif
