/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * A table of tensor maps that gives itself up, and slots leased from it.
 *
 *     ashlar::tensormap_table<CUtensorMap> table(device);
 *     auto lease = table.lease(specs.size());
 *     lease.encode_many(specs);
 *     lease.publish(stream);
 *     kernel<<<..., stream>>>(table.base(), lease[0].index);
 *     lease.retire({ashlar::after(device, stream)});
 *
 * What a kernel has to do that reads device slots is said in
 * ashlar/tensormap_table.h.
 */
#ifndef ASHLAR_TENSORMAP_TABLE_HPP
#define ASHLAR_TENSORMAP_TABLE_HPP

#include <ashlar/error.hpp>
#include <ashlar/source.hpp>
#include <ashlar/tensormap.hpp>
#include <ashlar/tensormap_table.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <new>
#include <utility>

namespace ashlar
{

/** struct ashlar_tensormap_table_options, initialised. */
struct tensormap_table_options : ashlar_tensormap_table_options {
    tensormap_table_options() noexcept
        : ashlar_tensormap_table_options(ASHLAR_TENSORMAP_TABLE_OPTIONS_INIT)
    {
    }
};

/**
 * Slots that are leased from a table, or none. Move-only. The list of handles
 * is the only memory that it takes beside them, from operator new.
 *
 * The destructor retires them behind the fence that the lease was made with; if
 * that is refused, they stay leased until the table goes. retire() tells.
 */
template <typename T> class tensormap_lease
{
  public:
    using fences = std::initializer_list<struct ashlar_fence>;

    /** None. @since 0.1 */
    tensormap_lease() noexcept = default;

    /**
     * Take over leased slots.
     *
     * @param table    Where they are from; must outlive this.
     * @param handles  Theirs; this one's from now on.
     * @param n        How many.
     * @param at_end   What the destructor waits for.
     * @since 0.1
     */
    tensormap_lease(struct ashlar_tensormap_table *table,
                    std::unique_ptr<struct ashlar_tensormap_handle[]> handles,
                    std::size_t n, const struct ashlar_fence &at_end) noexcept
        : table_(table), handles_(std::move(handles)), size_(n), at_end_(at_end)
    {
    }

    tensormap_lease(tensormap_lease &&other) noexcept
        : table_(other.table_), handles_(std::move(other.handles_)),
          size_(std::exchange(other.size_, 0)), at_end_(other.at_end_)
    {
    }

    tensormap_lease &operator=(tensormap_lease &&other) noexcept
    {
        tensormap_lease old(std::move(other));

        std::swap(table_, old.table_);
        std::swap(handles_, old.handles_);
        std::swap(size_, old.size_);
        std::swap(at_end_, old.at_end_);
        return *this;
    }

    ~tensormap_lease()
    {
        if (size_ != 0)
            (void)retire(std::nothrow, {at_end_});
    }

    std::size_t size() const noexcept
    {
        return size_;
    }

    bool empty() const noexcept
    {
        return size_ == 0;
    }

    explicit operator bool() const noexcept
    {
        return size_ != 0;
    }

    /** @param i  Below size(), which is not checked. @since 0.1 */
    struct ashlar_tensormap_handle operator[](std::size_t i) const noexcept
    {
        return handles_[i];
    }

    /** @return The handles, for C. @since 0.1 */
    const struct ashlar_tensormap_handle *handles() const noexcept
    {
        return handles_.get();
    }

    /** What slot i holds: ashlar_tensormap_table_look(). @since 0.1 */
    struct ashlar_tensormap_slot look(std::size_t i) const noexcept
    {
        struct ashlar_tensormap_slot slot = ASHLAR_TENSORMAP_SLOT_INIT;

        (void)ashlar_tensormap_table_look(table_, handles_[i], &slot);
        return slot;
    }

    /**
     * The map of slot i on the host: ashlar_tensormap_table_map().
     *
     * @return The map, to be read; NULL when it was refused.
     * @since 0.1
     */
    const T *map(const std::nothrow_t &, std::size_t i) const noexcept
    {
        return static_cast<const T *>(
            ashlar_tensormap_table_map(table_, handles_[i]));
    }

    /** ashlar_tensormap_table_encode(). @return The status. @since 0.1 */
    enum ashlar_status encode(const std::nothrow_t &, std::size_t i,
                              const ashlar_spec &spec) noexcept
    {
        return ashlar_tensormap_table_encode(table_, handles_[i], &spec);
    }

    /**
     * Encode a spec into each slot: ashlar_tensormap_table_encode_many().
     *
     * @param specs    Side by side, size() of them, which is not checked.
     * @param culprit  Receives which was refused, or how many there are if it
     *                 was none; may be NULL.
     *
     * @return The status.
     * @since 0.1
     */
    template <typename Specs>
    enum ashlar_status encode_many(const std::nothrow_t &, const Specs &specs,
                                   std::size_t *culprit = nullptr) noexcept
    {
        return ashlar_tensormap_table_encode_many(
            table_, handles_.get(), detail::first_of(specs), size_, culprit);
    }

    /** ashlar_tensormap_table_fill(). @return The status. @since 0.1 */
    enum ashlar_status fill(const std::nothrow_t &, std::size_t i,
                            const T &map) noexcept
    {
        return ashlar_tensormap_table_fill(table_, handles_[i], &map);
    }

    /**
     * Publish all slots: ashlar_tensormap_table_publish().
     *
     * @param stream  A CUstream, or a number.
     *
     * @return The status.
     * @since 0.1
     */
    template <typename Stream>
    enum ashlar_status publish(const std::nothrow_t &, Stream stream) noexcept
    {
        return ashlar_tensormap_table_publish(table_, handles_.get(), size_,
                                              detail::number_of(stream));
    }

    /** ashlar_tensormap_table_rewrite(). @return The status. @since 0.1 */
    template <typename Stream>
    enum ashlar_status rewrite(const std::nothrow_t &, std::size_t i,
                               const T &map, Stream stream) noexcept
    {
        return ashlar_tensormap_table_rewrite(table_, handles_[i], &map,
                                              detail::number_of(stream));
    }

    /**
     * Give all slots back: ashlar_tensormap_table_retire(). Refused, they stay
     * this one's.
     *
     * @return The status.
     * @since 0.1
     */
    enum ashlar_status retire(const std::nothrow_t &, fences before) noexcept
    {
        enum ashlar_status status = ashlar_tensormap_table_retire(
            table_, handles_.get(), size_, before.begin(), before.size());

        if (status == ASHLAR_OK)
            size_ = 0;
        return status;
    }

#ifndef ASHLAR_NO_EXCEPTIONS
    /* The same, plain: each throws ashlar::error as the C function that the
     * other form names, and what encodes ashlar::spec_error of a spec that
     * breaks rules. */

    const T *map(std::size_t i) const
    {
        return detail::check(map(std::nothrow, i));
    }

    void encode(std::size_t i, const ashlar_spec &spec)
    {
        enum ashlar_status status = encode(std::nothrow, i, spec);

        if (ASHLAR_UNLIKELY(status != ASHLAR_OK))
            detail::refuse_spec(status, &spec, 0);
    }

    template <typename Specs> void encode_many(const Specs &specs)
    {
        const ashlar_spec *first = detail::first_of(specs);
        std::size_t culprit = size_;
        enum ashlar_status status = encode_many(std::nothrow, specs, &culprit);

        if (ASHLAR_UNLIKELY(status != ASHLAR_OK))
            detail::refuse_spec(
                status, culprit < size_ ? &first[culprit] : nullptr, culprit);
    }

    void fill(std::size_t i, const T &map)
    {
        detail::check(fill(std::nothrow, i, map));
    }

    template <typename Stream> void publish(Stream stream)
    {
        detail::check(publish(std::nothrow, stream));
    }

    template <typename Stream>
    void rewrite(std::size_t i, const T &map, Stream stream)
    {
        detail::check(rewrite(std::nothrow, i, map, stream));
    }

    void retire(fences before)
    {
        detail::check(retire(std::nothrow, before));
    }
#endif

  private:
    struct ashlar_tensormap_table *table_ = nullptr;
    std::unique_ptr<struct ashlar_tensormap_handle[]> handles_;
    std::size_t size_ = 0;
    struct ashlar_fence at_end_ = quiet();
};

/**
 * A table of tensor maps, or none. Move-only; may be used from any thread, and
 * must outlive what is leased from it.
 *
 * The destructor gives it up behind the fence that it was made with, with all
 * that is leased. If that is refused, it stays for the rest of the process;
 * destroy() tells.
 */
template <typename T> class tensormap_table
{
  public:
    using value_type = T;
    using fences = std::initializer_list<struct ashlar_fence>;

    /**
     * Make one: ashlar_tensormap_table_create(). Empty when it was refused.
     *
     * @param from     The source; must stay open.
     * @param options  Borrowed for the call.
     * @param at_end   What the destructor waits for: after(from, stream), where
     *                 a stream uses the table. By default it is quiet then.
     * @since 0.1
     */
    tensormap_table(const std::nothrow_t &, const source &from,
                    const ashlar_tensormap_table_options &options =
                        tensormap_table_options(),
                    const struct ashlar_fence &at_end = quiet()) noexcept
        : at_end_(at_end)
    {
        detail::require_map<T>();
        (void)ashlar_tensormap_table_create(from.handle(), &options, &handle_);
    }

    tensormap_table(tensormap_table &&other) noexcept
        : handle_(std::exchange(other.handle_, nullptr)), at_end_(other.at_end_)
    {
    }

    tensormap_table &operator=(tensormap_table &&other) noexcept
    {
        tensormap_table old(std::move(other));

        std::swap(handle_, old.handle_);
        std::swap(at_end_, old.at_end_);
        return *this;
    }

    ~tensormap_table()
    {
        if (handle_ != nullptr)
            (void)ashlar_tensormap_table_destroy(handle_, &at_end_, 1);
    }

    /** @return The C handle, still this object's. @since 0.1 */
    struct ashlar_tensormap_table *handle() const noexcept
    {
        return handle_;
    }

    /** @return Whether there is a table. @since 0.1 */
    explicit operator bool() const noexcept
    {
        return handle_ != nullptr;
    }

    /** What it has and did: ashlar_tensormap_table_query(). @since 0.1 */
    struct ashlar_tensormap_table_info info() const noexcept
    {
        struct ashlar_tensormap_table_info info =
            ASHLAR_TENSORMAP_TABLE_INFO_INIT;

        (void)ashlar_tensormap_table_query(handle_, &info);
        return info;
    }

    /** @return The address of device slot 0, which stays. @since 0.1 */
    std::uint64_t base() const noexcept
    {
        return info().base;
    }

    /**
     * Give it up with all that is leased: ashlar_tensormap_table_destroy().
     * Refused, it stays this object's.
     *
     * @param before  What must be done before; none: no slot may be leased.
     *
     * @return The status.
     * @since 0.1
     */
    enum ashlar_status destroy(const std::nothrow_t &, fences before) noexcept
    {
        enum ashlar_status status = ashlar_tensormap_table_destroy(
            handle_, before.size() == 0 ? nullptr : before.begin(),
            before.size());

        if (status == ASHLAR_OK)
            handle_ = nullptr;
        return status;
    }

    /** ashlar_tensormap_table_reserve(). @return The status. @since 0.1 */
    enum ashlar_status reserve(const std::nothrow_t &, std::size_t n) noexcept
    {
        return ashlar_tensormap_table_reserve(handle_, n);
    }

    /**
     * Lease slots: ashlar_tensormap_table_lease().
     *
     * @param n       How many.
     * @param at_end  What the lease's destructor waits for.
     *
     * @return The lease; empty when it was refused, or when operator new has no
     *         memory for n handles.
     * @since 0.1
     */
    tensormap_lease<T>
    lease(const std::nothrow_t &, std::size_t n,
          const struct ashlar_fence &at_end = quiet()) noexcept
    {
        return leased(ashlar_tensormap_table_lease, n, at_end);
    }

    /** The same, side by side: ashlar_tensormap_table_lease_run(). @since 0.1 */
    tensormap_lease<T>
    lease_run(const std::nothrow_t &, std::size_t n,
              const struct ashlar_fence &at_end = quiet()) noexcept
    {
        return leased(ashlar_tensormap_table_lease_run, n, at_end);
    }

#ifndef ASHLAR_NO_EXCEPTIONS
    /* The same, plain: each throws ashlar::error as the C function that the
     * other form names, and a lease std::bad_alloc without memory for its
     * handles. */

    explicit tensormap_table(const source &from,
                             const ashlar_tensormap_table_options &options =
                                 tensormap_table_options(),
                             const struct ashlar_fence &at_end = quiet())
        : tensormap_table(std::nothrow, from, options, at_end)
    {
        detail::check(handle_);
    }

    void destroy(fences before)
    {
        detail::check(destroy(std::nothrow, before));
    }

    void reserve(std::size_t n)
    {
        detail::check(reserve(std::nothrow, n));
    }

    tensormap_lease<T> lease(std::size_t n,
                             const struct ashlar_fence &at_end = quiet())
    {
        return leased_or_thrown(ashlar_tensormap_table_lease, n, at_end);
    }

    tensormap_lease<T> lease_run(std::size_t n,
                                 const struct ashlar_fence &at_end = quiet())
    {
        return leased_or_thrown(ashlar_tensormap_table_lease_run, n, at_end);
    }
#endif

  private:
    using lease_fn = enum ashlar_status(struct ashlar_tensormap_table *,
                                        std::size_t,
                                        struct ashlar_tensormap_handle *);
    using handles_of = std::unique_ptr<struct ashlar_tensormap_handle[]>;

    tensormap_lease<T> leased(lease_fn *call, std::size_t n,
                              const struct ashlar_fence &at_end) noexcept
    {
        handles_of handles(
            new (std::nothrow) struct ashlar_tensormap_handle[n]);

        if (handles == nullptr || call(handle_, n, handles.get()) != ASHLAR_OK)
            return {};
        return {handle_, std::move(handles), n, at_end};
    }

#ifndef ASHLAR_NO_EXCEPTIONS
    tensormap_lease<T> leased_or_thrown(lease_fn *call, std::size_t n,
                                        const struct ashlar_fence &at_end)
    {
        handles_of handles(new struct ashlar_tensormap_handle[n]);

        detail::check(call(handle_, n, handles.get()));
        return {handle_, std::move(handles), n, at_end};
    }
#endif

    struct ashlar_tensormap_table *handle_ = nullptr;
    struct ashlar_fence at_end_ = quiet();
};

} // namespace ashlar

#endif
