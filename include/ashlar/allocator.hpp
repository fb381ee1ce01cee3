/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * An allocator for containers: every block begins where T's pools begin a
 * slot, however weakly the including compiler or toolkit aligns T.
 *
 *     std::vector<CUtensorMap, ashlar::allocator<CUtensorMap>> maps(1000);
 *
 * That holds for the block, and so for the elements of a vector. A list or map
 * keeps each element inside a node, where the compiler has put it.
 *
 * Blocks are runs of one pool for each T in the process, whichever shared
 * object asks; it is made at first use and never destroyed, so that containers
 * may live until the process ends.
 *
 * A container hears of a failure by an exception alone: without them there is
 * no allocator, and pool::get_run() is what to use.
 */
#ifndef ASHLAR_ALLOCATOR_HPP
#define ASHLAR_ALLOCATOR_HPP

#include <ashlar/error.hpp>

#ifndef ASHLAR_NO_EXCEPTIONS

#include <ashlar/pool.h>
#include <ashlar/type.hpp>

#include <atomic>
#include <cstddef>
#include <new>
#include <string_view>
#include <type_traits>

namespace ashlar
{
namespace detail
{

/*
 * The pool of all allocators of T. Shared objects may each have their own copy
 * of `found`, so that the pool's name decides: the oldest of the name is it.
 */
template <typename T> class shared_pool
{
  public:
    static struct ashlar_pool *get() noexcept
    {
        struct ashlar_pool *pool = found.load(std::memory_order_acquire);

        return pool != nullptr ? pool : find_or_make();
    }

  private:
    static constexpr std::size_t name_bytes = 63;
    static constexpr short_name<name_bytes> name{std::string_view(type_name<T>),
                                                 true};

    static struct ashlar_pool *find_or_make() noexcept
    {
        const struct ashlar_type *type = register_type<T>(std::nothrow);
        struct ashlar_pool_options options = ASHLAR_POOL_OPTIONS_INIT;
        struct ashlar_pool *pool = type == nullptr ? nullptr : oldest();
        struct ashlar_pool *made = nullptr;

        if (type == nullptr || pool != nullptr)
            return keep(pool);
        options.name = name.text;
        options.cache_slots = ASHLAR_POOL_CACHE_NONE;
        options.stride = sizeof(T);
        if (ashlar_pool_create(type, &options, &made) != ASHLAR_OK)
            return nullptr;
        pool = oldest();
        if (pool != made)
            (void)ashlar_pool_destroy(made, 0);
        return keep(pool);
    }

    static struct ashlar_pool *oldest() noexcept
    {
        return ashlar_pool_find(name.text);
    }

    static struct ashlar_pool *keep(struct ashlar_pool *pool) noexcept
    {
        found.store(pool, std::memory_order_release);
        return pool;
    }

    static inline std::atomic<struct ashlar_pool *> found{nullptr};
};

} // namespace detail

/** The allocator. All of one T are equal. */
template <typename T> class allocator
{
  public:
    using value_type = T;
    using is_always_equal = std::true_type;
    using propagate_on_container_move_assignment = std::true_type;

    allocator() noexcept = default;

    template <typename U> allocator(const allocator<U> &) noexcept
    {
    }

    /**
     * Room for n objects side by side: ashlar_pool_get_run().
     *
     * @throws std::bad_alloc  It was refused; ashlar_last_error_message() has
     *                         the sentence.
     * @since 0.1
     */
    T *allocate(std::size_t n)
    {
        void *run = nullptr;
        struct ashlar_pool *pool = detail::shared_pool<T>::get();

        if (pool != nullptr)
            run = ashlar_pool_get_run(pool, n == 0 ? 1 : n);
        if (run == nullptr)
            throw std::bad_alloc();
        return static_cast<T *>(run);
    }

    /**
     * Give it back: ashlar_pool_put_run().
     *
     * @param first  From allocate().
     * @param n      As for it.
     * @since 0.1
     */
    void deallocate(T *first, std::size_t n) noexcept
    {
        (void)ashlar_pool_put_run(detail::shared_pool<T>::get(), first,
                                  n == 0 ? 1 : n);
    }
};

template <typename T, typename U>
bool operator==(const allocator<T> &, const allocator<U> &) noexcept
{
    return true;
}

template <typename T, typename U>
bool operator!=(const allocator<T> &, const allocator<U> &) noexcept
{
    return false;
}

} // namespace ashlar

#endif
#endif
