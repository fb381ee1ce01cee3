/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * A vector that one shared object fills and another one empties.
 */
#ifndef ASHLAR_TESTS_CXX_SHARED_HPP
#define ASHLAR_TESTS_CXX_SHARED_HPP

#include <ashlar.hpp>

#include <vector>

struct alignas(64) object {
    int number;
};

using objects = std::vector<object, ashlar::allocator<object>>;

using fill_fn = void(objects &);
using drop_fn = void(objects &);

#endif
