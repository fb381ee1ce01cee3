/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * A source that closes itself, and fences.
 */
#ifndef ASHLAR_SOURCE_HPP
#define ASHLAR_SOURCE_HPP

#include <ashlar/error.hpp>
#include <ashlar/owner.hpp>
#include <ashlar/range.h>
#include <ashlar/source.h>

#include <cstdint>
#include <type_traits>

namespace ashlar
{

/**
 * An open source, or none. Move-only.
 *
 * The destructor closes it. If pools or ranges still stand on it, or something
 * waits for its fences, it stays open for the rest of the process, rather than
 * go from under them; close() tells.
 */
class source : public detail::owner<struct ashlar_source, ashlar_source_close>
{
  public:
    /**
     * Open one: ashlar_source_open(). Empty when it was refused.
     *
     * @since 0.1
     */
    source(const std::nothrow_t &, const char *name,
           const char *options = nullptr) noexcept
    {
        (void)ashlar_source_open(name, options, &handle_);
    }

#ifndef ASHLAR_NO_EXCEPTIONS
    /**
     * The same, plain.
     *
     * @throws ashlar::error  As ashlar_source_open().
     * @since 0.1
     */
    explicit source(const char *name, const char *options = nullptr)
        : source(std::nothrow, name, options)
    {
        detail::check(handle_);
    }
#endif

    /**
     * Close it: ashlar_source_close(). Refused, it stays open and this one's.
     *
     * @return The status.
     * @since 0.1
     */
    enum ashlar_status close(const std::nothrow_t &) noexcept
    {
        return end();
    }

    /**
     * Collect what waits, and wait for the rest: ashlar_source_drain().
     *
     * @return The status; ASHLAR_ERR_BUSY when something still waits.
     * @since 0.1
     */
    enum ashlar_status drain(const std::nothrow_t &,
                             std::uint64_t timeout_ns) noexcept
    {
        return ashlar_source_drain(handle_, timeout_ns);
    }

#ifndef ASHLAR_NO_EXCEPTIONS
    /** Close it. @throws ashlar::error  As ashlar_source_close(). @since 0.1 */
    void close()
    {
        detail::check(close(std::nothrow));
    }

    /** Drain it. @throws ashlar::error  As ashlar_source_drain(). @since 0.1 */
    void drain(std::uint64_t timeout_ns)
    {
        detail::check(drain(std::nothrow, timeout_ns));
    }
#endif
};

/**
 * The fence that says that nobody uses it any more: ASHLAR_FENCE_QUIET.
 *
 * @since 0.1
 */
inline struct ashlar_fence quiet() noexcept
{
    return ashlar_fence_quiet;
}

namespace detail
{

template <typename H> std::uint64_t number_of(H handle) noexcept
{
    if constexpr (std::is_pointer_v<H>)
        return reinterpret_cast<std::uintptr_t>(handle);
    else
        return static_cast<std::uint64_t>(handle);
}

} // namespace detail

/**
 * A fence on the work queued on a stream so far.
 *
 * @param from    The source that the stream belongs to; must stay open.
 * @param stream  A CUstream, or a number; 0 is the default stream, and waits.
 * @since 0.1
 */
template <typename Stream>
struct ashlar_fence after(const source &from, Stream stream) noexcept
{
    return {ASHLAR_FENCE_STREAM, 0, from.handle(), detail::number_of(stream)};
}

/**
 * A fence on an event of the caller's, who keeps it until it has passed.
 *
 * @param from   The source that the event belongs to; must stay open.
 * @param event  A CUevent, or a number.
 * @since 0.1
 */
template <typename Event>
struct ashlar_fence after_event(const source &from, Event event) noexcept
{
    return {ASHLAR_FENCE_EVENT, 0, from.handle(), detail::number_of(event)};
}

} // namespace ashlar

#endif
