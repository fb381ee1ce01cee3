/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * What a pool hands out, with an owner that puts it back: one slot, a run of
 * neighbours, or a batch of single slots.
 *
 *     slot   [T]
 *     run    [T][T][T]            side by side: an array
 *     batch  [T] ... [T] ... [T]  n pointers
 *
 * All are move-only, and empty after a move. The objects in them are destroyed
 * before they go back. Their pool must outlive them: pool's destructor sees to
 * that, by leaving the C pool to the process when slots are out.
 *
 * Putting back fails only for a mistake: an unchecked copy of the pointer was
 * put, or the pool was destroyed by its C handle. put() tells; the destructor
 * does not.
 */
#ifndef ASHLAR_SLOT_HPP
#define ASHLAR_SLOT_HPP

#include <ashlar/error.hpp>
#include <ashlar/pool.h>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <utility>

namespace ashlar
{
namespace detail
{

template <typename T>
enum ashlar_status
put_after(struct ashlar_pool *pool, void *const *slots, std::size_t n,
          std::initializer_list<struct ashlar_fence> fences) noexcept
{
    static_assert(std::is_trivially_destructible_v<T>,
                  "work may still read it: there is no time to destroy it");

    return ashlar_pool_put_after(pool, slots, n, fences.begin(), fences.size(),
                                 nullptr);
}

} // namespace detail

/** One object in one slot, or none. */
template <typename T> class slot
{
  public:
    /** None. @since 0.1 */
    slot() noexcept = default;

    /**
     * Take over an object that lives in a slot.
     *
     * @param pool    Where the slot is from.
     * @param object  Live; this one's from now on. NULL for none.
     * @since 0.1
     */
    slot(struct ashlar_pool *pool, T *object) noexcept
        : pool_(pool), object_(object)
    {
    }

    slot(slot &&other) noexcept
        : pool_(other.pool_), object_(std::exchange(other.object_, nullptr))
    {
    }

    slot &operator=(slot &&other) noexcept
    {
        slot old(std::move(other));

        std::swap(pool_, old.pool_);
        std::swap(object_, old.object_);
        return *this;
    }

    ~slot()
    {
        if (object_ != nullptr)
            (void)put();
    }

    /** @return The object; NULL for none. @since 0.1 */
    T *get() const noexcept
    {
        return object_;
    }

    T &operator*() const noexcept
    {
        return *object_;
    }

    T *operator->() const noexcept
    {
        return object_;
    }

    explicit operator bool() const noexcept
    {
        return object_ != nullptr;
    }

    /**
     * Give the object up: it lives on, and is the caller's to destroy and put.
     *
     * @since 0.1
     */
    T *release() noexcept
    {
        return std::exchange(object_, nullptr);
    }

    /**
     * Destroy the object and put the slot: ashlar_pool_put(). Empty then,
     * whatever the status.
     *
     * @return The status; ASHLAR_OK when there was none.
     * @since 0.1
     */
    enum ashlar_status put() noexcept
    {
        T *object = release();

        if (object == nullptr)
            return ASHLAR_OK;
        object->~T();
        return ashlar_pool_put(pool_, object);
    }

    /**
     * Put the slot when the work that still reads it is done:
     * ashlar_pool_put_after(). Refused, the slot stays this one's.
     *
     * @return The status.
     * @since 0.1
     */
    enum ashlar_status
    put_after(const std::nothrow_t &,
              std::initializer_list<struct ashlar_fence> fences) noexcept
    {
        void *address = object_;
        enum ashlar_status status =
            detail::put_after<T>(pool_, &address, 1, fences);

        if (status == ASHLAR_OK)
            object_ = nullptr;
        return status;
    }

#ifndef ASHLAR_NO_EXCEPTIONS
    /**
     * The same, plain.
     *
     * @throws ashlar::error  As ashlar_pool_put_after().
     * @since 0.1
     */
    void put_after(std::initializer_list<struct ashlar_fence> fences)
    {
        detail::check(put_after(std::nothrow, fences));
    }
#endif

  private:
    struct ashlar_pool *pool_ = nullptr;
    T *object_ = nullptr;
};

/** Objects side by side, or none: an array that knows its length. */
template <typename T> class run
{
  public:
    using value_type = T;
    using iterator = T *;

    /** None. @since 0.1 */
    run() noexcept = default;

    /**
     * Take over objects that live in a run.
     *
     * @param pool   Where the run is from.
     * @param first  Its first object; all live, this one's from now on. NULL
     *               for none.
     * @param n      Its length.
     * @since 0.1
     */
    run(struct ashlar_pool *pool, T *first, std::size_t n) noexcept
        : pool_(pool), first_(first), size_(first == nullptr ? 0 : n)
    {
    }

    run(run &&other) noexcept
        : pool_(other.pool_), first_(std::exchange(other.first_, nullptr)),
          size_(std::exchange(other.size_, 0))
    {
    }

    run &operator=(run &&other) noexcept
    {
        run old(std::move(other));

        std::swap(pool_, old.pool_);
        std::swap(first_, old.first_);
        std::swap(size_, old.size_);
        return *this;
    }

    ~run()
    {
        if (first_ != nullptr)
            (void)put();
    }

    T *data() const noexcept
    {
        return first_;
    }

    std::size_t size() const noexcept
    {
        return size_;
    }

    bool empty() const noexcept
    {
        return size_ == 0;
    }

    T *begin() const noexcept
    {
        return first_;
    }

    T *end() const noexcept
    {
        return first_ + size_;
    }

    /** @param i  Below size(), which is not checked. @since 0.1 */
    T &operator[](std::size_t i) const noexcept
    {
        return first_[i];
    }

    explicit operator bool() const noexcept
    {
        return first_ != nullptr;
    }

    /**
     * Destroy the objects and put the run, whole: ashlar_pool_put_run(). Empty
     * then, whatever the status.
     *
     * @return The status; ASHLAR_OK when there was none.
     * @since 0.1
     */
    enum ashlar_status put() noexcept
    {
        T *first = std::exchange(first_, nullptr);
        std::size_t n = std::exchange(size_, 0);

        if (first == nullptr)
            return ASHLAR_OK;
        std::destroy_n(first, n);
        return ashlar_pool_put_run(pool_, first, n);
    }

  private:
    struct ashlar_pool *pool_ = nullptr;
    T *first_ = nullptr;
    std::size_t size_ = 0;
};

/**
 * Single slots, got and put in bulk, or none. The list of pointers is the only
 * memory that it takes beside them, from operator new.
 */
template <typename T> class batch
{
  public:
    /** None. @since 0.1 */
    batch() noexcept = default;

    /**
     * Take over slots in which objects live.
     *
     * @param pool   Where the slots are from.
     * @param slots  Their addresses; the objects are this one's from now on.
     * @param n      How many.
     * @since 0.1
     */
    batch(struct ashlar_pool *pool, std::unique_ptr<void *[]> slots,
          std::size_t n) noexcept
        : pool_(pool), slots_(std::move(slots)), size_(n)
    {
    }

    batch(batch &&other) noexcept
        : pool_(other.pool_), slots_(std::move(other.slots_)),
          size_(std::exchange(other.size_, 0))
    {
    }

    batch &operator=(batch &&other) noexcept
    {
        batch old(std::move(other));

        std::swap(pool_, old.pool_);
        std::swap(slots_, old.slots_);
        std::swap(size_, old.size_);
        return *this;
    }

    ~batch()
    {
        (void)put();
    }

    std::size_t size() const noexcept
    {
        return size_;
    }

    bool empty() const noexcept
    {
        return size_ == 0;
    }

    /** @param i  Below size(), which is not checked. @since 0.1 */
    T &operator[](std::size_t i) const noexcept
    {
        return *static_cast<T *>(slots_[i]);
    }

    /** @return The addresses, for C. @since 0.1 */
    void *const *slots() const noexcept
    {
        return slots_.get();
    }

    explicit operator bool() const noexcept
    {
        return size_ != 0;
    }

    /**
     * Destroy the objects and put the slots: ashlar_pool_put_bulk(). Empty
     * then, whatever the status.
     *
     * @return The status; ASHLAR_OK when there was none.
     * @since 0.1
     */
    enum ashlar_status put() noexcept
    {
        std::size_t n = std::exchange(size_, 0);

        if (n == 0)
            return ASHLAR_OK;
        if constexpr (!std::is_trivially_destructible_v<T>)
            for (std::size_t i = 0; i < n; i++)
                static_cast<T *>(slots_[i])->~T();
        return ashlar_pool_put_bulk(pool_, slots_.get(), n, nullptr);
    }

    /**
     * Put the slots when the work that still reads them is done:
     * ashlar_pool_put_after(). Refused, the slots stay this one's.
     *
     * @return The status.
     * @since 0.1
     */
    enum ashlar_status
    put_after(const std::nothrow_t &,
              std::initializer_list<struct ashlar_fence> fences) noexcept
    {
        enum ashlar_status status =
            detail::put_after<T>(pool_, slots_.get(), size_, fences);

        if (status == ASHLAR_OK)
            size_ = 0;
        return status;
    }

#ifndef ASHLAR_NO_EXCEPTIONS
    /**
     * The same, plain.
     *
     * @throws ashlar::error  As ashlar_pool_put_after().
     * @since 0.1
     */
    void put_after(std::initializer_list<struct ashlar_fence> fences)
    {
        detail::check(put_after(std::nothrow, fences));
    }
#endif

  private:
    struct ashlar_pool *pool_ = nullptr;
    std::unique_ptr<void *[]> slots_;
    std::size_t size_ = 0;
};

} // namespace ashlar

#endif
