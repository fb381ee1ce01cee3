/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * A pool of objects of one C++ type.
 *
 *     ashlar::pool<CUtensorMap> maps;     // registers the type by itself
 *     auto one = maps.get();              // bytes unspecified
 *     auto six = maps.make_run(6);        // zeroed, as CUtensorMap() is
 *     auto all = maps.get_batch(1000);
 *
 * get, get_run and get_batch are for types that need no constructor, and leave
 * the bytes as they are; make and make_run construct.
 */
#ifndef ASHLAR_POOL_HPP
#define ASHLAR_POOL_HPP

#include <ashlar/error.hpp>
#include <ashlar/owner.hpp>
#include <ashlar/pool.h>
#include <ashlar/slot.hpp>
#include <ashlar/source.hpp>
#include <ashlar/stats.h>
#include <ashlar/type.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#ifndef ASHLAR_NO_EXCEPTIONS
#include <exception>
#endif

namespace ashlar
{

/** struct ashlar_pool_options, initialised. */
struct pool_options : ashlar_pool_options {
    pool_options() noexcept : ashlar_pool_options(ASHLAR_POOL_OPTIONS_INIT)
    {
    }
};

namespace detail
{

inline enum ashlar_status end_pool(struct ashlar_pool *pool) noexcept
{
    return ashlar_pool_destroy(pool, 0);
}

/* A slot or a run that goes back unless the objects in it were made. */
struct undo {
    struct ashlar_pool *pool;
    void *memory;
    std::size_t n; /* 0: a single slot */

    ~undo()
    {
        if (memory == nullptr)
            return;
        if (n == 0)
            (void)ashlar_pool_put(pool, memory);
        else
            (void)ashlar_pool_put_run(pool, memory, n);
    }
};

/* Objects made so far, which are destroyed unless all were. */
template <typename T> struct undo_objects {
    T *first;
    std::size_t made = 0;
    bool all = false;

    ~undo_objects()
    {
        if (!all)
            std::destroy_n(first, made);
    }
};

} // namespace detail

/**
 * A pool, or none. Move-only; may be used from any thread.
 *
 * The destructor destroys the C pool: ashlar_pool_destroy(). If slots are
 * out, it is left to the process instead, so that they stay good; destroy()
 * tells.
 */
template <typename T>
class pool : public detail::owner<struct ashlar_pool, detail::end_pool>
{
  public:
    using value_type = T;

    /**
     * Register T and make a pool of it: ashlar_type_register(),
     * ashlar_pool_create(). Empty when it was refused; also
     * (ASHLAR_ERR_CONFLICT) when another registered the name with an alignment
     * that would lay objects further apart than an array of T does.
     *
     * @since 0.1
     */
    explicit pool(const std::nothrow_t &,
                  const ashlar_pool_options &options = pool_options()) noexcept
    {
        const struct ashlar_type *type = register_type<T>(std::nothrow);
        ashlar_pool_options own = options;

        own.stride = sizeof(T);
        if (type != nullptr)
            (void)ashlar_pool_create(type, &own, &handle_);
    }

#ifndef ASHLAR_NO_EXCEPTIONS
    /**
     * The same, plain.
     *
     * @throws ashlar::error  As ashlar_type_register(), ashlar_pool_create().
     * @since 0.1
     */
    explicit pool(const ashlar_pool_options &options = pool_options())
        : pool(std::nothrow, options)
    {
        detail::check(handle_);
    }
#endif

    /**
     * Destroy it: ashlar_pool_destroy(). Refused, it stays this object's.
     *
     * @return The status; ASHLAR_ERR_BUSY while slots are out.
     * @since 0.1
     */
    enum ashlar_status destroy(const std::nothrow_t &) noexcept
    {
        return this->end();
    }

    /** ashlar_pool_reserve(). @return The status. @since 0.1 */
    enum ashlar_status reserve(const std::nothrow_t &, std::size_t n) noexcept
    {
        return ashlar_pool_reserve(handle_, n);
    }

    /** ashlar_pool_reserve_runs(). @return The status. @since 0.1 */
    enum ashlar_status reserve_runs(const std::nothrow_t &, std::size_t n,
                                    std::size_t count) noexcept
    {
        return ashlar_pool_reserve_runs(handle_, n, count);
    }

    /**
     * A slot, its bytes unspecified: ashlar_pool_get().
     *
     * @return The slot; empty when it was refused.
     * @since 0.1
     */
    slot<T> get(const std::nothrow_t &) noexcept
    {
        return {handle_, begin(ashlar_pool_get(handle_), 1)};
    }

    /**
     * A run, its bytes unspecified: ashlar_pool_get_run().
     *
     * @param n  Its length, 1 or more.
     *
     * @return The run; empty when it was refused.
     * @since 0.1
     */
    run<T> get_run(const std::nothrow_t &, std::size_t n) noexcept
    {
        return {handle_, begin(ashlar_pool_get_run(handle_, n), n), n};
    }

    /**
     * Single slots, all or none, their bytes unspecified:
     * ashlar_pool_get_bulk().
     *
     * @param n  How many.
     *
     * @return The slots; empty when it was refused, or when operator new has
     *         no memory for n pointers.
     * @since 0.1
     */
    batch<T> get_batch(const std::nothrow_t &, std::size_t n) noexcept
    {
        std::unique_ptr<void *[]> slots(new (std::nothrow) void *[n]);

        if (slots == nullptr ||
            ashlar_pool_get_bulk(handle_, slots.get(), n) != ASHLAR_OK)
            return {};
        for (std::size_t i = 0; i < n; i++)
            (void)begin(slots[i], 1);
        return {handle_, std::move(slots), n};
    }

    /**
     * An object, made from the arguments, in a slot of its own.
     *
     * @return The object; empty when ashlar_pool_get() was refused.
     * @throws  What T's constructor throws; the slot has gone back then.
     * @since 0.1
     */
    template <typename... Args>
    slot<T>
    make(const std::nothrow_t &,
         Args &&...args) noexcept(std::is_nothrow_constructible_v<T, Args...>)
    {
        void *memory = ashlar_pool_get(handle_);

        return memory == nullptr
                   ? slot<T>()
                   : construct(memory, std::forward<Args>(args)...);
    }

    /**
     * Objects side by side, each made from the arguments, or from none.
     *
     * @param n  The run's length, 1 or more.
     *
     * @return The run; empty when ashlar_pool_get_run() was refused.
     * @throws  What T's constructor throws; the objects made before it are
     *          destroyed and the run has gone back then.
     * @since 0.1
     */
    template <typename... Args>
    run<T> make_run(
        const std::nothrow_t &, std::size_t n,
        const Args
            &...args) noexcept(std::is_nothrow_constructible_v<T,
                                                               const Args &...>)
    {
        void *memory = ashlar_pool_get_run(handle_, n);

        return memory == nullptr ? run<T>() : construct_run(memory, n, args...);
    }

    /**
     * Call fn(T *first, std::size_t n) for each live slot and run:
     * ashlar_pool_for_each_live(). All slots that are out hold objects.
     *
     * @param fn  What it throws ends the walk and comes out of this call.
     *
     * @return The status.
     * @since 0.1
     */
    template <typename Fn>
    enum ashlar_status for_each_live(const std::nothrow_t &, Fn &&fn)
    {
        visit<std::remove_reference_t<Fn>> walk{fn};
        enum ashlar_status status =
            ashlar_pool_for_each_live(handle_, walk.step, &walk);

        walk.rethrow();
        return status;
    }

#ifndef ASHLAR_NO_EXCEPTIONS
    /* The same, plain: each throws ashlar::error as the C function that the
     * other form names. */

    void destroy()
    {
        detail::check(destroy(std::nothrow));
    }

    void reserve(std::size_t n)
    {
        detail::check(reserve(std::nothrow, n));
    }

    void reserve_runs(std::size_t n, std::size_t count)
    {
        detail::check(reserve_runs(std::nothrow, n, count));
    }

    slot<T> get()
    {
        return {handle_, begin(detail::check(ashlar_pool_get(handle_)), 1)};
    }

    run<T> get_run(std::size_t n)
    {
        return {handle_,
                begin(detail::check(ashlar_pool_get_run(handle_, n)), n), n};
    }

    /** @throws std::bad_alloc  No memory for n pointers. @since 0.1 */
    batch<T> get_batch(std::size_t n)
    {
        std::unique_ptr<void *[]> slots(new void *[n]);

        detail::check(ashlar_pool_get_bulk(handle_, slots.get(), n));
        for (std::size_t i = 0; i < n; i++)
            (void)begin(slots[i], 1);
        return {handle_, std::move(slots), n};
    }

    template <typename... Args> slot<T> make(Args &&...args)
    {
        return construct(detail::check(ashlar_pool_get(handle_)),
                         std::forward<Args>(args)...);
    }

    template <typename... Args>
    run<T> make_run(std::size_t n, const Args &...args)
    {
        return construct_run(detail::check(ashlar_pool_get_run(handle_, n)), n,
                             args...);
    }

    template <typename Fn> void for_each_live(Fn &&fn)
    {
        detail::check(for_each_live(std::nothrow, std::forward<Fn>(fn)));
    }
#endif

    /** ashlar_pool_owns(). @since 0.1 */
    bool owns(const void *address) const noexcept
    {
        return ashlar_pool_owns(handle_, address) != 0;
    }

    /** What it holds: ashlar_pool_query(). All 0 for none. @since 0.1 */
    struct ashlar_pool_stats stats() const noexcept
    {
        struct ashlar_pool_stats stats = ASHLAR_POOL_STATS_INIT;

        (void)ashlar_pool_query(handle_, &stats);
        return stats;
    }

    /**
     * Give pages of free slots back: ashlar_pool_trim().
     *
     * @return Bytes given back; 0 also when it was refused.
     * @since 0.1
     */
    std::size_t trim() noexcept
    {
        std::size_t bytes = 0;

        (void)ashlar_pool_trim(handle_, &bytes);
        return bytes;
    }

  private:
    /* For C, which must not see an exception pass. */
    template <typename Fn> struct visit {
        Fn &fn;
#ifndef ASHLAR_NO_EXCEPTIONS
        std::exception_ptr thrown = nullptr;
#endif

        static int step(void *first, std::size_t n, void *user) noexcept
        {
            visit *self = static_cast<visit *>(user);

#ifndef ASHLAR_NO_EXCEPTIONS
            try {
                self->fn(static_cast<T *>(first), n);
            } catch (...) {
                self->thrown = std::current_exception();
                return 1;
            }
#else
            self->fn(static_cast<T *>(first), n);
#endif
            return 0;
        }

        void rethrow()
        {
#ifndef ASHLAR_NO_EXCEPTIONS
            if (thrown != nullptr)
                std::rethrow_exception(thrown);
#endif
        }
    };

    /* Objects that begin to live without a constructor. */
    static T *begin(void *memory, std::size_t n) noexcept
    {
        static_assert(std::is_trivially_default_constructible_v<T>,
                      "T has a constructor: use make");
        T *first = static_cast<T *>(memory);

        if (memory != nullptr)
            std::uninitialized_default_construct_n(first, n);
        return first;
    }

    template <typename... Args> slot<T> construct(void *memory, Args &&...args)
    {
        detail::undo undo{handle_, memory, 0};
        T *object = ::new (memory) T(std::forward<Args>(args)...);

        undo.memory = nullptr;
        return {handle_, object};
    }

    template <typename... Args>
    run<T> construct_run(void *memory, std::size_t n, const Args &...args)
    {
        detail::undo undo{handle_, memory, n};
        detail::undo_objects<T> objects{static_cast<T *>(memory)};

        for (; objects.made < n; objects.made++)
            ::new (static_cast<void *>(objects.first + objects.made))
                T(args...);
        objects.all = true;
        undo.memory = nullptr;
        return {handle_, objects.first, n};
    }

    using pool::owner::handle_;
};

} // namespace ashlar

#endif
