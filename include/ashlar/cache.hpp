/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * A caller-held cache that closes itself: the shortest path to a slot, inline.
 */
#ifndef ASHLAR_CACHE_HPP
#define ASHLAR_CACHE_HPP

#include <ashlar/cache.h>
#include <ashlar/error.hpp>
#include <ashlar/owner.hpp>
#include <ashlar/pool.hpp>

#include <cstddef>
#include <new>
#include <type_traits>

namespace ashlar
{

/**
 * A cache of a pool, or none. Move-only; one thread at a time.
 *
 * It deals in plain pointers, for a loop that gets and puts by the million:
 * whoever got one puts it.
 */
template <typename T>
class cache : public detail::owner<struct ashlar_cache, ashlar_cache_close>
{
    static_assert(std::is_trivially_default_constructible_v<T> &&
                      std::is_trivially_destructible_v<T>,
                  "a cache neither constructs nor destroys: use pool::make");

  public:
    /**
     * Open one: ashlar_cache_open(). Empty when it was refused.
     *
     * @param from   The pool.
     * @param slots  The most that it keeps; 0 for ASHLAR_POOL_CACHE_DEFAULT.
     * @since 0.1
     */
    cache(const std::nothrow_t &, pool<T> &from, std::size_t slots = 0) noexcept
    {
        (void)ashlar_cache_open(from.handle(), slots, ASHLAR_CACHE_LAYOUT,
                                &handle_);
    }

#ifndef ASHLAR_NO_EXCEPTIONS
    /**
     * The same, plain.
     *
     * @throws ashlar::error  As ashlar_cache_open().
     * @since 0.1
     */
    explicit cache(pool<T> &from, std::size_t slots = 0)
        : cache(std::nothrow, from, slots)
    {
        detail::check(handle_);
    }
#endif

    /**
     * A slot, its bytes unspecified: ashlar_cache_get(). Not on an empty cache.
     *
     * @return The slot; NULL when it was refused.
     * @since 0.1
     */
    T *get(const std::nothrow_t &) noexcept
    {
        return static_cast<T *>(ashlar_cache_get(handle_));
    }

    /**
     * Put a slot back: ashlar_cache_put(). Not on an empty cache.
     *
     * @return The status.
     * @since 0.1
     */
    enum ashlar_status put(const std::nothrow_t &, T *object) noexcept
    {
        return ashlar_cache_put(handle_, object);
    }

#ifndef ASHLAR_NO_EXCEPTIONS
    /** As above. @throws ashlar::error  As ashlar_cache_get(). @since 0.1 */
    T *get()
    {
        return static_cast<T *>(detail::check(ashlar_cache_get(handle_)));
    }

    /** As above. @throws ashlar::error  As ashlar_cache_put(). @since 0.1 */
    void put(T *object)
    {
        detail::check(ashlar_cache_put(handle_, object));
    }
#endif

  private:
    using cache::owner::handle_;
};

} // namespace ashlar

#endif
