/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * A shared object that keeps its own to itself, built with hidden symbols.
 */
#include "cxx/shared.hpp"

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT fill_fn fill;
EXPORT drop_fn drop;

void fill(objects &given)
{
    given.resize(100);
}

void drop(objects &given)
{
    objects().swap(given);
}
