/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * A range that gives itself up.
 *
 *     ashlar::source host("vm");
 *     ashlar::range range(host);
 *     auto *array = static_cast<double *>(range.grow_to(1 << 20).data());
 *     range.grow_to(1 << 30);              // array is where it was
 *
 * What is taken away goes when its fences have passed. Verbs take them as a
 * list, {ashlar::after(device, stream), ...}; ashlar::quiet() is the caller's
 * word that nobody uses it any more.
 */
#ifndef ASHLAR_RANGE_HPP
#define ASHLAR_RANGE_HPP

#include <ashlar/error.hpp>
#include <ashlar/range.h>
#include <ashlar/source.hpp>

#include <cstdint>
#include <initializer_list>
#include <new>
#include <utility>

namespace ashlar
{

/** struct ashlar_range_options, initialised. */
struct range_options : ashlar_range_options {
    range_options() noexcept : ashlar_range_options(ASHLAR_RANGE_OPTIONS_INIT)
    {
    }
};

/** struct ashlar_range_result, initialised: what a verb did. */
struct range_result : ashlar_range_result {
    range_result() noexcept : ashlar_range_result(ASHLAR_RANGE_RESULT_INIT)
    {
    }

    /** @return The base as a pointer, the host's or a device's. @since 0.1 */
    void *data() const noexcept
    {
        return reinterpret_cast<void *>(static_cast<std::uintptr_t>(base));
    }
};

/**
 * A range, or none. Move-only; may be used from any thread.
 *
 * The destructor gives it up behind the fence that it was made with. If the
 * fence cannot be made, the range stays for the rest of the process, rather
 * than go while it is used; destroy() tells.
 */
class range
{
  public:
    using fences = std::initializer_list<struct ashlar_fence>;

    /**
     * Make one: ashlar_range_create(). Empty when it was refused.
     *
     * @param from     The source; must stay open.
     * @param options  Borrowed for the call.
     * @param at_end   What the destructor waits for: after(from, stream), where
     *                 a stream uses the range. By default it is quiet then.
     * @since 0.1
     */
    range(const std::nothrow_t &, const source &from,
          const ashlar_range_options &options = range_options(),
          const struct ashlar_fence &at_end = quiet()) noexcept
        : at_end_(at_end)
    {
        (void)ashlar_range_create(from.handle(), &options, &handle_);
    }

#ifndef ASHLAR_NO_EXCEPTIONS
    /**
     * The same, plain.
     *
     * @throws ashlar::error  As ashlar_range_create().
     * @since 0.1
     */
    explicit range(const source &from,
                   const ashlar_range_options &options = range_options(),
                   const struct ashlar_fence &at_end = quiet())
        : range(std::nothrow, from, options, at_end)
    {
        detail::check(handle_);
    }
#endif

    range(range &&other) noexcept
        : handle_(std::exchange(other.handle_, nullptr)), at_end_(other.at_end_)
    {
    }

    range &operator=(range &&other) noexcept
    {
        range old(std::move(other));

        std::swap(handle_, old.handle_);
        std::swap(at_end_, old.at_end_);
        return *this;
    }

    ~range()
    {
        if (handle_ != nullptr)
            (void)ashlar_range_destroy(handle_, &at_end_, 1);
    }

    /** @return The C handle, still this object's. @since 0.1 */
    struct ashlar_range *handle() const noexcept
    {
        return handle_;
    }

    /** @return Whether there is a range. @since 0.1 */
    explicit operator bool() const noexcept
    {
        return handle_ != nullptr;
    }

    /** What it holds: ashlar_range_query(). All 0 for none. @since 0.1 */
    struct ashlar_range_info info() const noexcept
    {
        struct ashlar_range_info info = ASHLAR_RANGE_INFO_INIT;

        (void)ashlar_range_query(handle_, &info);
        return info;
    }

    /**
     * Give it up: ashlar_range_destroy(). Refused, it stays this object's.
     *
     * @return The status.
     * @since 0.1
     */
    enum ashlar_status destroy(const std::nothrow_t &, fences before) noexcept
    {
        enum ashlar_status status =
            ashlar_range_destroy(handle_, before.begin(), before.size());

        if (status == ASHLAR_OK)
            handle_ = nullptr;
        return status;
    }

    /**
     * Make `total` bytes usable: ashlar_range_grow_to().
     *
     * @param result  Receives what was done.
     *
     * @return The status.
     * @since 0.1
     */
    enum ashlar_status grow_to(const std::nothrow_t &, std::uint64_t total,
                               range_result &result) noexcept
    {
        return ashlar_range_grow_to(handle_, total, &result);
    }

    /** ashlar_range_prepare(). @return The status. @since 0.1 */
    enum ashlar_status prepare(const std::nothrow_t &, std::uint64_t total,
                               enum ashlar_range_depth depth) noexcept
    {
        return ashlar_range_prepare(handle_, total, depth);
    }

    /** ashlar_range_shrink_to(). @return The status. @since 0.1 */
    enum ashlar_status shrink_to(const std::nothrow_t &, std::uint64_t total,
                                 fences before, range_result &result) noexcept
    {
        return ashlar_range_shrink_to(handle_, total, before.begin(),
                                      before.size(), &result);
    }

    /** ashlar_range_decommit(). @return The status. @since 0.1 */
    enum ashlar_status decommit(const std::nothrow_t &, std::uint64_t offset,
                                std::uint64_t bytes, fences before,
                                range_result &result) noexcept
    {
        return ashlar_range_decommit(handle_, offset, bytes, before.begin(),
                                     before.size(), &result);
    }

    /** ashlar_range_commit(). @return The status. @since 0.1 */
    enum ashlar_status commit(const std::nothrow_t &, std::uint64_t offset,
                              std::uint64_t bytes,
                              range_result &result) noexcept
    {
        return ashlar_range_commit(handle_, offset, bytes, &result);
    }

    /** ashlar_range_retire_old(). @return The status. @since 0.1 */
    enum ashlar_status retire_old(const std::nothrow_t &,
                                  fences before) noexcept
    {
        return ashlar_range_retire_old(handle_, before.begin(), before.size());
    }

    /** ashlar_range_allow(). @return The status. @since 0.1 */
    enum ashlar_status allow(const std::nothrow_t &, std::uint32_t location,
                             enum ashlar_rights rights) noexcept
    {
        return ashlar_range_allow(handle_, location, rights);
    }

#ifndef ASHLAR_NO_EXCEPTIONS
    /* The same, plain: each throws ashlar::error as the C function that the
     * other form names, and returns what was done. */

    void destroy(fences before)
    {
        detail::check(destroy(std::nothrow, before));
    }

    range_result grow_to(std::uint64_t total)
    {
        range_result result;

        detail::check(grow_to(std::nothrow, total, result));
        return result;
    }

    void prepare(std::uint64_t total, enum ashlar_range_depth depth)
    {
        detail::check(prepare(std::nothrow, total, depth));
    }

    range_result shrink_to(std::uint64_t total, fences before)
    {
        range_result result;

        detail::check(shrink_to(std::nothrow, total, before, result));
        return result;
    }

    range_result decommit(std::uint64_t offset, std::uint64_t bytes,
                          fences before)
    {
        range_result result;

        detail::check(decommit(std::nothrow, offset, bytes, before, result));
        return result;
    }

    range_result commit(std::uint64_t offset, std::uint64_t bytes)
    {
        range_result result;

        detail::check(commit(std::nothrow, offset, bytes, result));
        return result;
    }

    void retire_old(fences before)
    {
        detail::check(retire_old(std::nothrow, before));
    }

    void allow(std::uint32_t location, enum ashlar_rights rights)
    {
        detail::check(allow(std::nothrow, location, rights));
    }
#endif

  private:
    struct ashlar_range *handle_ = nullptr;
    struct ashlar_fence at_end_ = quiet();
};

} // namespace ashlar

#endif
