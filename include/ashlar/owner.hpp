/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * What the classes that own a C handle share. Not to be used by itself.
 */
#ifndef ASHLAR_OWNER_HPP
#define ASHLAR_OWNER_HPP

#include <ashlar/error.hpp>

#include <utility>

namespace ashlar
{
namespace detail
{

/**
 * A C handle, or none. Move-only; its end is tried once, by the destructor: if
 * that is refused, the C object stays for the rest of the process.
 */
template <typename Handle, enum ashlar_status (*End)(Handle *)> class owner
{
  public:
    owner(owner &&other) noexcept
        : handle_(std::exchange(other.handle_, nullptr))
    {
    }

    owner &operator=(owner &&other) noexcept
    {
        owner old(std::move(other));

        std::swap(handle_, old.handle_);
        return *this;
    }

    ~owner()
    {
        if (handle_ != nullptr)
            (void)End(handle_);
    }

    /** @return The C handle, still this object's. @since 0.1 */
    Handle *handle() const noexcept
    {
        return handle_;
    }

    /** @return Whether there is one. @since 0.1 */
    explicit operator bool() const noexcept
    {
        return handle_ != nullptr;
    }

  protected:
    owner() noexcept = default;

    /* Refused, it stays this object's. */
    enum ashlar_status end() noexcept
    {
        enum ashlar_status status = End(handle_);

        if (status == ASHLAR_OK)
            handle_ = nullptr;
        return status;
    }

    Handle *handle_ = nullptr;
};

} // namespace detail
} // namespace ashlar

#endif
