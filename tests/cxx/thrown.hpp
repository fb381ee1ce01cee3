/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * What a call throws, and where a thing lies.
 */
#ifndef ASHLAR_TESTS_CXX_THROWN_HPP
#define ASHLAR_TESTS_CXX_THROWN_HPP

#include <ashlar.hpp>

#include <cstdint>
#include <string>

inline bool aligned(const void *address, std::uintptr_t alignment)
{
    return reinterpret_cast<std::uintptr_t>(address) % alignment == 0;
}

/* The status of the ashlar::error that a call throws; ASHLAR_OK for none. */
template <typename Call> enum ashlar_status thrown_by(Call call)
{
    try {
        call();
    } catch (const ashlar::error &error) {
        REQUIRE(std::string(error.what()) == ashlar_last_error_message());
        return error.status();
    }
    return ASHLAR_OK;
}

#endif
