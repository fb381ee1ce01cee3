/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * How a refused call is told in C++: see ashlar.hpp for the two forms.
 */
#ifndef ASHLAR_ERROR_HPP
#define ASHLAR_ERROR_HPP

#if __cplusplus < 201703L
#error "the C++ headers of ashlar need C++17"
#endif

#include <ashlar/export.h>
#include <ashlar/status.h>

#include <new> /* std::nothrow_t */

#if !defined(ASHLAR_NO_EXCEPTIONS) && !defined(__cpp_exceptions)
#define ASHLAR_NO_EXCEPTIONS 1
#endif

#ifndef ASHLAR_NO_EXCEPTIONS

#include <stdexcept>

namespace ashlar
{

/** What a plain call throws: a status, and in what() the sentence. */
class error : public std::runtime_error
{
  public:
    /**
     * @param status    Not ASHLAR_OK.
     * @param sentence  Copied.
     * @since 0.1
     */
    error(enum ashlar_status status, const char *sentence)
        : std::runtime_error(sentence), status_(status)
    {
    }

    /** @return What the C function said. @since 0.1 */
    enum ashlar_status status() const noexcept
    {
        return status_;
    }

  private:
    enum ashlar_status status_;
};

namespace detail
{

/* Out of line and cold, so that the way of success is that of C. */
[[noreturn, gnu::cold, gnu::noinline]] inline void
refuse(enum ashlar_status status)
{
    throw error(status, ashlar_last_error_message());
}

inline void check(enum ashlar_status status)
{
    if (ASHLAR_UNLIKELY(status != ASHLAR_OK))
        refuse(status);
}

/* The pointer that a C function gave, if it gave one. */
template <typename P> P *check(P *made)
{
    if (ASHLAR_UNLIKELY(made == nullptr))
        refuse(ashlar_last_error());
    return made;
}

} // namespace detail
} // namespace ashlar

#endif
#endif
