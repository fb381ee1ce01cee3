/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * An arena that destroys itself, and a std::pmr::memory_resource over one.
 *
 *     ashlar::arena arena;
 *     ashlar::memory_resource memory(arena);
 *     std::pmr::vector<double> numbers(&memory);
 *
 * A container of std::pmr asks for the alignment that its compiler gives the
 * type. For more, as CUtensorMap needs it, there is ashlar::allocator.
 */
#ifndef ASHLAR_ARENA_HPP
#define ASHLAR_ARENA_HPP

#include <ashlar/arena.h>
#include <ashlar/error.hpp>
#include <ashlar/owner.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <new>

#ifndef ASHLAR_NO_EXCEPTIONS
#include <memory_resource>
#endif

namespace ashlar
{

/** struct ashlar_arena_options, initialised. */
struct arena_options : ashlar_arena_options {
    arena_options() noexcept : ashlar_arena_options(ASHLAR_ARENA_OPTIONS_INIT)
    {
    }
};

namespace detail
{

inline enum ashlar_status end_arena(struct ashlar_arena *arena) noexcept
{
    return ashlar_arena_destroy(arena, 0);
}

} // namespace detail

/**
 * An arena, or none. Move-only; may be used from any thread.
 *
 * The destructor destroys the C arena: ashlar_arena_destroy(). If blocks are
 * live, it is left to the process instead, so that they stay good; destroy()
 * tells.
 */
class arena : public detail::owner<struct ashlar_arena, detail::end_arena>
{
  public:
    /**
     * Make one: ashlar_arena_create(). Empty when it was refused.
     *
     * @since 0.1
     */
    explicit arena(const std::nothrow_t &, const ashlar_arena_options &options =
                                               arena_options()) noexcept
    {
        (void)ashlar_arena_create(&options, &handle_);
    }

    /**
     * A block: ashlar_arena_alloc().
     *
     * @param alignment  0: what every block has.
     *
     * @return The block, its bytes unspecified; NULL when it was refused.
     * @since 0.1
     */
    void *alloc(const std::nothrow_t &, std::size_t size,
                std::size_t alignment = 0) noexcept
    {
        return ashlar_arena_alloc(handle_, size, alignment);
    }

    /** ashlar_arena_free(). @return The status. @since 0.1 */
    enum ashlar_status free(const std::nothrow_t &, void *block) noexcept
    {
        return ashlar_arena_free(handle_, block);
    }

    /** ashlar_arena_free_after(). @return The status. @since 0.1 */
    enum ashlar_status
    free_after(const std::nothrow_t &, void *block,
               std::initializer_list<struct ashlar_fence> fences) noexcept
    {
        return ashlar_arena_free_after(handle_, block, fences.begin(),
                                       fences.size());
    }

    /** ashlar_arena_reset(). @return The status. @since 0.1 */
    enum ashlar_status reset(const std::nothrow_t &) noexcept
    {
        return ashlar_arena_reset(handle_);
    }

    /**
     * Destroy it: ashlar_arena_destroy(). Refused, it stays this object's.
     *
     * @return The status; ASHLAR_ERR_BUSY while blocks are live.
     * @since 0.1
     */
    enum ashlar_status destroy(const std::nothrow_t &) noexcept
    {
        return end();
    }

#ifndef ASHLAR_NO_EXCEPTIONS
    /* The same, plain: each throws ashlar::error as the C function that the
     * other form names. */

    explicit arena(const ashlar_arena_options &options = arena_options())
        : arena(std::nothrow, options)
    {
        detail::check(handle_);
    }

    void *alloc(std::size_t size, std::size_t alignment = 0)
    {
        return detail::check(ashlar_arena_alloc(handle_, size, alignment));
    }

    void free(void *block)
    {
        detail::check(free(std::nothrow, block));
    }

    void free_after(void *block,
                    std::initializer_list<struct ashlar_fence> fences)
    {
        detail::check(free_after(std::nothrow, block, fences));
    }

    void reset()
    {
        detail::check(reset(std::nothrow));
    }

    void destroy()
    {
        detail::check(destroy(std::nothrow));
    }
#endif

    /** What it holds: ashlar_arena_query(). All 0 for none. @since 0.1 */
    struct ashlar_arena_stats stats() const noexcept
    {
        struct ashlar_arena_stats stats = ASHLAR_ARENA_STATS_INIT;

        (void)ashlar_arena_query(handle_, &stats);
        return stats;
    }
};

#ifndef ASHLAR_NO_EXCEPTIONS
/**
 * A memory resource of an arena, for std::pmr containers. The arena must
 * outlive it, and be one that the host can write, if the containers do.
 *
 * Two are equal when they have the same arena (without RTTI, when they are the
 * same). What is refused is
 * std::bad_alloc, as containers expect; ashlar_last_error_message() has the
 * sentence.
 */
class memory_resource : public std::pmr::memory_resource
{
  public:
    /** @param from  Not empty. @since 0.1 */
    explicit memory_resource(arena &from) noexcept : arena_(from.handle())
    {
    }

    /** @return The arena. @since 0.1 */
    struct ashlar_arena *handle() const noexcept
    {
        return arena_;
    }

  private:
    /* A block of no bytes has an address of its own, too. */
    static std::size_t at_least_one(std::size_t bytes) noexcept
    {
        return bytes == 0 ? 1 : bytes;
    }

    void *do_allocate(std::size_t bytes, std::size_t alignment) override
    {
        void *block =
            ashlar_arena_alloc(arena_, at_least_one(bytes), alignment);

        if (ASHLAR_UNLIKELY(block == nullptr))
            throw std::bad_alloc();
        return block;
    }

    void do_deallocate(void *block, std::size_t bytes,
                       std::size_t alignment) override
    {
        (void)ashlar_arena_free_sized(arena_, block, at_least_one(bytes),
                                      alignment);
    }

    bool
    do_is_equal(const std::pmr::memory_resource &other) const noexcept override
    {
#ifdef __cpp_rtti
        auto *same = dynamic_cast<const memory_resource *>(&other);

        return same != nullptr && same->arena_ == arena_;
#else
        return &other == this;
#endif
    }

    struct ashlar_arena *arena_;
};
#endif

} // namespace ashlar

#endif
