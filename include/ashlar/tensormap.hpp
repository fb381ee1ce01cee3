/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * Tensor maps: a spec is encoded into a slot, many into slots or a run.
 *
 *     ashlar::source device("cuda");
 *     ashlar::pool<CUtensorMap> pool;
 *     auto map = ashlar::encode(device, pool, tile);         // a slot
 *     auto six = ashlar::encode_run(device, pool, specs);    // an array
 *     auto all = ashlar::encode_many(device, pool, specs);   // single slots
 *
 * A spec is a struct ashlar_spec, or what builds one (spec.hpp). Specs are
 * anything that has them side by side: an array, a std::vector, a std::span.
 * CUtensorMap is the caller's, from cuda.h: any type of 128 bytes is taken.
 */
#ifndef ASHLAR_TENSORMAP_HPP
#define ASHLAR_TENSORMAP_HPP

#include <ashlar/error.hpp>
#include <ashlar/finding.hpp>
#include <ashlar/pool.hpp>
#include <ashlar/slot.hpp>
#include <ashlar/source.hpp>
#include <ashlar/spec.hpp>
#include <ashlar/tensormap.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace ashlar
{

/* --- encode --------------------------------------------------------------- */

namespace detail
{

template <typename T> constexpr void require_map() noexcept
{
    static_assert(sizeof(T) == ASHLAR_TENSOR_MAP_BYTES &&
                      std::is_trivially_copyable_v<T>,
                  "a tensor map is 128 bytes, without a constructor");
}

/* The first of specs that lie side by side. */
template <typename Specs>
const ashlar_spec *first_of(const Specs &specs) noexcept
{
    static_assert(sizeof(*std::data(specs)) == sizeof(ashlar_spec),
                  "specs are of ashlar::spec or struct ashlar_spec");
    return std::data(specs);
}

#ifndef ASHLAR_NO_EXCEPTIONS
/* A refused spec with all that is wrong with it, anything else as it is. */
[[noreturn, gnu::cold, gnu::noinline]] inline void
refuse_spec(enum ashlar_status status, const ashlar_spec *spec,
            std::size_t culprit)
{
    error said(status, ashlar_last_error_message());

    if (status == ASHLAR_ERR_INVALID && spec != nullptr) {
        findings found(*spec, 0);

        if (found.errors() != 0)
            throw spec_error(found, culprit);
    }
    throw said;
}

/* The same, when the slot that was meant for it has gone back. */
[[noreturn, gnu::cold, gnu::noinline]] inline void
refuse_spec(enum ashlar_status status, const ashlar_spec *spec,
            struct ashlar_pool *pool, void *slot)
{
    undo undo{pool, slot, 0};

    refuse_spec(status, spec, 0);
}
#endif

} // namespace detail

/**
 * Encode a tensor map: ashlar_tensormap_encode().
 *
 * @param from  A source with an encoder.
 * @param spec  Borrowed for the call.
 * @param map   At a multiple of 128, such as an object in a slot; written only
 *              on success.
 *
 * @return The status.
 * @since 0.1
 */
template <typename T>
enum ashlar_status encode(const std::nothrow_t &, const source &from,
                          const ashlar_spec &spec, T &map) noexcept
{
    detail::require_map<T>();
    return ashlar_tensormap_encode(from.handle(), &spec, &map);
}

/**
 * Encode a tensor map into a slot of its own: ashlar_pool_get() and
 * ashlar_tensormap_encode().
 *
 * @return The slot; empty when either was refused.
 * @since 0.1
 */
template <typename T>
slot<T> encode(const std::nothrow_t &, const source &from, pool<T> &maps,
               const ashlar_spec &spec) noexcept
{
    slot<T> made = maps.get(std::nothrow);

    if (!made || encode(std::nothrow, from, spec, *made) != ASHLAR_OK)
        return {};
    return made;
}

/**
 * Give an encoded tensor map another address: ashlar_tensormap_rebase().
 *
 * @param map      Encoded by the same source; written only on success.
 * @param address  Of element 0: a pointer, or a number.
 *
 * @return The status.
 * @since 0.1
 */
template <typename T, typename Address>
enum ashlar_status rebase(const std::nothrow_t &, const source &from, T &map,
                          Address address) noexcept
{
    detail::require_map<T>();
    return ashlar_tensormap_rebase(from.handle(), &map,
                                   detail::number_of(address));
}

/**
 * Encode many tensor maps into single slots, all or none:
 * ashlar_tensormap_encode_many().
 *
 * @param specs    Side by side.
 * @param culprit  Receives the index of the spec that was refused, or how many
 *                 there are if it was not a spec; may be NULL.
 *
 * @return The slots; empty when it was refused, when there are no specs, or
 *         when operator new has no memory for the list of pointers.
 * @since 0.1
 */
template <typename T, typename Specs>
batch<T> encode_many(const std::nothrow_t &, const source &from, pool<T> &maps,
                     const Specs &specs,
                     std::size_t *culprit = nullptr) noexcept
{
    detail::require_map<T>();
    const std::size_t n = std::size(specs);
    std::unique_ptr<void *[]> slots(new (std::nothrow) void *[n]);

    if (culprit != nullptr)
        *culprit = n;
    if (slots == nullptr ||
        ashlar_tensormap_encode_many(from.handle(), maps.handle(),
                                     detail::first_of(specs), n, slots.get(),
                                     culprit) != ASHLAR_OK)
        return {};
    return {maps.handle(), std::move(slots), n};
}

/**
 * Encode tensor maps side by side, all or none: ashlar_pool_get_run() and
 * ashlar_tensormap_encode().
 *
 * @param specs    Side by side, 1 or more.
 * @param culprit  As for encode_many().
 *
 * @return The run; empty when it was refused.
 * @since 0.1
 */
template <typename T, typename Specs>
run<T> encode_run(const std::nothrow_t &, const source &from, pool<T> &maps,
                  const Specs &specs, std::size_t *culprit = nullptr) noexcept
{
    const ashlar_spec *first = detail::first_of(specs);
    const std::size_t n = std::size(specs);
    run<T> made = maps.get_run(std::nothrow, n);

    if (culprit != nullptr)
        *culprit = n;
    for (std::size_t i = 0; i < made.size(); i++)
        if (encode(std::nothrow, from, first[i], made[i]) != ASHLAR_OK) {
            if (culprit != nullptr)
                *culprit = i;
            return {};
        }
    return made;
}

#ifndef ASHLAR_NO_EXCEPTIONS
/*
 * The same, plain: each throws ashlar::spec_error of a spec that breaks rules,
 * with all of them and its index, and otherwise ashlar::error as the C
 * functions that the other form names.
 */

template <typename T>
void encode(const source &from, const ashlar_spec &spec, T &map)
{
    enum ashlar_status status = encode(std::nothrow, from, spec, map);

    if (ASHLAR_UNLIKELY(status != ASHLAR_OK))
        detail::refuse_spec(status, &spec, 0);
}

template <typename T>
slot<T> encode(const source &from, pool<T> &maps, const ashlar_spec &spec)
{
    T *map = maps.get().release();
    enum ashlar_status status = encode(std::nothrow, from, spec, *map);

    if (ASHLAR_UNLIKELY(status != ASHLAR_OK))
        detail::refuse_spec(status, &spec, maps.handle(), map);
    return {maps.handle(), map};
}

template <typename T, typename Address>
void rebase(const source &from, T &map, Address address)
{
    detail::check(rebase(std::nothrow, from, map, address));
}

/** @throws std::bad_alloc  No memory for the list of pointers. @since 0.1 */
template <typename T, typename Specs>
batch<T> encode_many(const source &from, pool<T> &maps, const Specs &specs)
{
    detail::require_map<T>();
    const ashlar_spec *first = detail::first_of(specs);
    const std::size_t n = std::size(specs);
    std::size_t culprit = n;
    std::unique_ptr<void *[]> slots(new void *[n]);
    enum ashlar_status status = ashlar_tensormap_encode_many(
        from.handle(), maps.handle(), first, n, slots.get(), &culprit);

    if (ASHLAR_UNLIKELY(status != ASHLAR_OK))
        detail::refuse_spec(status, culprit < n ? &first[culprit] : nullptr,
                            culprit);
    return {maps.handle(), std::move(slots), n};
}

template <typename T, typename Specs>
run<T> encode_run(const source &from, pool<T> &maps, const Specs &specs)
{
    const ashlar_spec *first = detail::first_of(specs);
    run<T> made = maps.get_run(std::size(specs));

    for (std::size_t i = 0; i < made.size(); i++) {
        enum ashlar_status status =
            encode(std::nothrow, from, first[i], made[i]);

        if (ASHLAR_UNLIKELY(status != ASHLAR_OK))
            detail::refuse_spec(status, &first[i], i);
    }
    return made;
}
#endif

/* --- by many threads ------------------------------------------------------ */

/**
 * Many tensor maps, while threads encode them, or none:
 * ashlar_tensormap_batch_create(). Move-only.
 *
 *     ashlar::encoding<CUtensorMap> job(device, pool, specs);
 *     // each thread: job.work();
 *     auto maps = job.finish();            // the threads have returned
 *
 * If it is not finished, the destructor does so and puts the slots back; while
 * a thread is in work() it leaves them, and the list, to the process.
 */
template <typename T> class encoding
{
  public:
    /**
     * Begin. Empty when it was refused.
     *
     * @param from   A source with an encoder; must stay open.
     * @param maps   Where the slots are from.
     * @param specs  Side by side; borrowed until it is finished.
     * @since 0.1
     */
    template <typename Specs>
    encoding(const std::nothrow_t &, const source &from, pool<T> &maps,
             const Specs &specs) noexcept
        : encoding(from, maps, detail::first_of(specs), std::size(specs),
                   std::unique_ptr<void *[]>(
                       new (std::nothrow) void *[std::size(specs)]))
    {
    }

    encoding(encoding &&other) noexcept
        : pool_(other.pool_), specs_(other.specs_), n_(other.n_),
          slots_(std::move(other.slots_)),
          handle_(std::exchange(other.handle_, nullptr))
    {
    }

    encoding &operator=(encoding &&other) noexcept
    {
        encoding old(std::move(other));

        std::swap(pool_, old.pool_);
        std::swap(specs_, old.specs_);
        std::swap(n_, old.n_);
        std::swap(slots_, old.slots_);
        std::swap(handle_, old.handle_);
        return *this;
    }

    ~encoding()
    {
        (void)finish(std::nothrow);
        if (handle_ != nullptr)
            (void)slots_.release(); /* a thread still writes there */
    }

    /** @return The C handle, still this object's. @since 0.1 */
    struct ashlar_tensormap_batch *handle() const noexcept
    {
        return handle_;
    }

    explicit operator bool() const noexcept
    {
        return handle_ != nullptr;
    }

    /**
     * Encode until nothing is left to take: ashlar_tensormap_batch_work().
     *
     * @return The status.
     * @since 0.1
     */
    enum ashlar_status work(const std::nothrow_t &) noexcept
    {
        return ashlar_tensormap_batch_work(handle_);
    }

    /**
     * End it: ashlar_tensormap_batch_finish().
     *
     * @param culprit  As for encode_many().
     *
     * @return The slots; empty when it was refused, or there was none. While a
     *         thread is in work(), nothing is ended.
     * @since 0.1
     */
    batch<T> finish(const std::nothrow_t &,
                    std::size_t *culprit = nullptr) noexcept
    {
        std::size_t at = n_;

        if (handle_ == nullptr || end(&at) != ASHLAR_OK) {
            if (culprit != nullptr)
                *culprit = at;
            return {};
        }
        return {pool_, std::move(slots_), n_};
    }

#ifndef ASHLAR_NO_EXCEPTIONS
    /**
     * Begin, plain.
     *
     * @throws ashlar::error   As ashlar_tensormap_batch_create().
     * @throws std::bad_alloc  No memory for the list of pointers.
     * @since 0.1
     */
    template <typename Specs>
    encoding(const source &from, pool<T> &maps, const Specs &specs)
        : encoding(from, maps, detail::first_of(specs), std::size(specs),
                   std::unique_ptr<void *[]>(new void *[std::size(specs)]))
    {
        detail::check(handle_);
    }

    /** As above. @throws ashlar::error  Why a part failed. @since 0.1 */
    void work()
    {
        detail::check(work(std::nothrow));
    }

    /** As above. @throws ashlar::error  As encode_many(). @since 0.1 */
    batch<T> finish()
    {
        std::size_t culprit = n_;
        enum ashlar_status status = end(&culprit);

        if (ASHLAR_UNLIKELY(status != ASHLAR_OK))
            detail::refuse_spec(
                status, culprit < n_ ? &specs_[culprit] : nullptr, culprit);
        return {pool_, std::move(slots_), n_};
    }
#endif

  private:
    encoding(const source &from, pool<T> &maps, const ashlar_spec *specs,
             std::size_t n, std::unique_ptr<void *[]> slots) noexcept
        : pool_(maps.handle()), specs_(specs), n_(n), slots_(std::move(slots))
    {
        detail::require_map<T>();
        if (slots_ != nullptr)
            (void)ashlar_tensormap_batch_create(from.handle(), pool_, specs_,
                                                n_, slots_.get(), &handle_);
    }

    /* Gone, unless a thread is in it still. */
    enum ashlar_status end(std::size_t *culprit) noexcept
    {
        enum ashlar_status status =
            ashlar_tensormap_batch_finish(handle_, culprit);

        if (status != ASHLAR_ERR_BUSY)
            handle_ = nullptr;
        return status;
    }

    struct ashlar_pool *pool_;
    const ashlar_spec *specs_;
    std::size_t n_;
    std::unique_ptr<void *[]> slots_;
    struct ashlar_tensormap_batch *handle_ = nullptr;
};

} // namespace ashlar

#endif
