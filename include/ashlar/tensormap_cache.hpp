/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * A cache of tensor maps that destroys itself, and a hold on one of them.
 *
 *     ashlar::tensormap_cache<CUtensorMap> cache(device);
 *     {
 *         auto map = cache.get(tile);      // encoded once, held
 *         launch(*map);                    // by value
 *     }                                    // held no longer
 *     cache.invalidate(tensor, bytes);     // before its memory is freed
 */
#ifndef ASHLAR_TENSORMAP_CACHE_HPP
#define ASHLAR_TENSORMAP_CACHE_HPP

#include <ashlar/error.hpp>
#include <ashlar/owner.hpp>
#include <ashlar/source.hpp>
#include <ashlar/tensormap.hpp>
#include <ashlar/tensormap_cache.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace ashlar
{

/** struct ashlar_tensormap_cache_options, initialised. */
struct tensormap_cache_options : ashlar_tensormap_cache_options {
    tensormap_cache_options() noexcept
        : ashlar_tensormap_cache_options(ASHLAR_TENSORMAP_CACHE_OPTIONS_INIT)
    {
    }
};

/**
 * A map of a cache, held, or none. Move-only, and empty after a move.
 *
 * While it is held it stays as it is, where it is. Its cache must outlive it:
 * tensormap_cache's destructor sees to that, by leaving the C cache to the
 * process when maps are held.
 */
template <typename T> class held_map
{
  public:
    /** None. @since 0.1 */
    held_map() noexcept = default;

    /**
     * Take over a hold.
     *
     * @param cache  Where the map is from.
     * @param map    Held; this one's hold from now on. NULL for none.
     * @since 0.1
     */
    held_map(struct ashlar_tensormap_cache *cache, const T *map) noexcept
        : cache_(cache), map_(map)
    {
    }

    held_map(held_map &&other) noexcept
        : cache_(other.cache_), map_(std::exchange(other.map_, nullptr))
    {
    }

    held_map &operator=(held_map &&other) noexcept
    {
        held_map old(std::move(other));

        std::swap(cache_, old.cache_);
        std::swap(map_, old.map_);
        return *this;
    }

    ~held_map()
    {
        if (map_ != nullptr)
            (void)put();
    }

    /** @return The map, not to be written; NULL for none. @since 0.1 */
    const T *get() const noexcept
    {
        return map_;
    }

    const T &operator*() const noexcept
    {
        return *map_;
    }

    const T *operator->() const noexcept
    {
        return map_;
    }

    explicit operator bool() const noexcept
    {
        return map_ != nullptr;
    }

    /** Give the hold up: it is the caller's to put. @since 0.1 */
    const T *release() noexcept
    {
        return std::exchange(map_, nullptr);
    }

    /**
     * Hold it no longer: ashlar_tensormap_cache_put(). Empty then, whatever
     * the status.
     *
     * @return The status; ASHLAR_OK when there was none.
     * @since 0.1
     */
    enum ashlar_status put() noexcept
    {
        const T *map = release();

        return map == nullptr ? ASHLAR_OK
                              : ashlar_tensormap_cache_put(cache_, map);
    }

  private:
    struct ashlar_tensormap_cache *cache_ = nullptr;
    const T *map_ = nullptr;
};

/**
 * A cache of tensor maps, or none. Move-only; may be used from any thread.
 *
 * The destructor destroys the C cache: ashlar_tensormap_cache_destroy(). If
 * maps are held, it is left to the process instead, so that they stay good;
 * destroy() tells.
 */
template <typename T>
class tensormap_cache : public detail::owner<struct ashlar_tensormap_cache,
                                             ashlar_tensormap_cache_destroy>
{
  public:
    using value_type = T;

    /**
     * Make one: ashlar_tensormap_cache_create(). Empty when it was refused.
     *
     * @param from     A source with an encoder; must stay open.
     * @param options  Borrowed for the call.
     * @since 0.1
     */
    tensormap_cache(const std::nothrow_t &, const source &from,
                    const ashlar_tensormap_cache_options &options =
                        tensormap_cache_options()) noexcept
    {
        detail::require_map<T>();
        (void)ashlar_tensormap_cache_create(from.handle(), &options, &handle_);
    }

    /**
     * The map of a spec, encoded if it is not there:
     * ashlar_tensormap_cache_get().
     *
     * @param spec     Borrowed for the call.
     * @param context  What else the map belongs to; 0 where there is nothing.
     *
     * @return The map, held; empty when it was refused.
     * @since 0.1
     */
    held_map<T> get(const std::nothrow_t &, const ashlar_spec &spec,
                    std::uint64_t context = 0) noexcept
    {
        const void *map = nullptr;

        (void)ashlar_tensormap_cache_get(handle_, &spec, context, &map);
        return {handle_, static_cast<const T *>(map)};
    }

    /**
     * Forget the maps of a stretch of addresses:
     * ashlar_tensormap_cache_invalidate().
     *
     * @param address  Where it starts: a pointer, or a number.
     * @param bytes    Its length.
     * @param dropped  Receives how many were forgotten; may be NULL.
     *
     * @return The status.
     * @since 0.1
     */
    template <typename Address>
    enum ashlar_status invalidate(const std::nothrow_t &, Address address,
                                  std::uint64_t bytes,
                                  std::size_t *dropped = nullptr) noexcept
    {
        return ashlar_tensormap_cache_invalidate(
            handle_, detail::number_of(address), bytes, dropped);
    }

    /**
     * Destroy it: ashlar_tensormap_cache_destroy(). Refused, it stays this
     * object's.
     *
     * @return The status; ASHLAR_ERR_BUSY while maps are held.
     * @since 0.1
     */
    enum ashlar_status destroy(const std::nothrow_t &) noexcept
    {
        return this->end();
    }

#ifndef ASHLAR_NO_EXCEPTIONS
    /* The same, plain: each throws ashlar::error as the C function that the
     * other form names, and get() ashlar::spec_error of a spec that breaks
     * rules. */

    explicit tensormap_cache(const source &from,
                             const ashlar_tensormap_cache_options &options =
                                 tensormap_cache_options())
        : tensormap_cache(std::nothrow, from, options)
    {
        detail::check(handle_);
    }

    held_map<T> get(const ashlar_spec &spec, std::uint64_t context = 0)
    {
        const void *map = nullptr;
        enum ashlar_status status =
            ashlar_tensormap_cache_get(handle_, &spec, context, &map);

        if (ASHLAR_UNLIKELY(status != ASHLAR_OK))
            detail::refuse_spec(status, &spec, 0);
        return {handle_, static_cast<const T *>(map)};
    }

    /** @return How many were forgotten. @since 0.1 */
    template <typename Address>
    std::size_t invalidate(Address address, std::uint64_t bytes)
    {
        std::size_t dropped = 0;

        detail::check(invalidate(std::nothrow, address, bytes, &dropped));
        return dropped;
    }

    void destroy()
    {
        detail::check(destroy(std::nothrow));
    }
#endif

    /** What it did and has: ashlar_tensormap_cache_query(). @since 0.1 */
    struct ashlar_tensormap_cache_stats stats() const noexcept
    {
        struct ashlar_tensormap_cache_stats stats =
            ASHLAR_TENSORMAP_CACHE_STATS_INIT;

        (void)ashlar_tensormap_cache_query(handle_, &stats);
        return stats;
    }

  private:
    using tensormap_cache::owner::handle_;
};

} // namespace ashlar

#endif
