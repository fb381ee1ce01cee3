/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * From a C++ type to a registered one: its name is spelled by the compiler.
 *
 *     CUtensorMap                     "CUtensorMap_st", an alias of the
 *                                     built-in type: 128 bytes, always at 128
 *     struct alignas(64) my::header   "my::header"
 *
 * So a type is the same to C, C++ and Python if it has the same name. A name
 * beyond what ashlar_type_register() takes is cut, and ends in a hash of all
 * of it.
 */
#ifndef ASHLAR_TYPE_HPP
#define ASHLAR_TYPE_HPP

#include <ashlar/error.hpp>
#include <ashlar/type.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace ashlar
{
namespace detail
{

constexpr std::size_t name_max = 127;
constexpr std::size_t hash_digits = 16;

template <typename T> constexpr std::string_view signature() noexcept
{
    return __PRETTY_FUNCTION__;
}

/* The part of the signature that changes with T; void shows where it is. */
template <typename T> constexpr std::string_view spelled() noexcept
{
    constexpr std::string_view probe = signature<void>();
    constexpr std::size_t before = probe.find("void");
    constexpr std::size_t after = probe.size() - before - 4;
    constexpr std::string_view all = signature<T>();

    return all.substr(before, all.size() - before - after);
}

/* FNV-1a */
constexpr std::uint64_t hash_of(std::string_view text) noexcept
{
    std::uint64_t hash = 14695981039346656037u;

    for (char c : text)
        hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    return hash;
}

/* A name of at most Max bytes: cut, with '#' and the hash, where it must be. */
template <std::size_t Max> struct short_name {
    char text[Max + 1] = {};

    constexpr explicit short_name(std::string_view name, bool cut) noexcept
    {
        std::size_t kept = cut ? Max - hash_digits - 1 : name.size();

        if (kept > name.size())
            kept = name.size();
        for (std::size_t i = 0; i < kept; i++)
            text[i] = name[i];
        if (!cut)
            return;
        text[kept] = '#';
        for (std::size_t i = 0; i < hash_digits; i++)
            text[kept + 1 + i] =
                "0123456789abcdef"[hash_of(name) >> (60 - 4 * i) & 15];
    }
};

template <typename T>
inline constexpr short_name<name_max> registered_name{
    spelled<T>(), spelled<T>().size() > name_max};

} // namespace detail

/**
 * The name that T is registered under. Specialise it for a type that C knows
 * by another name, or where two types of one program are spelled alike:
 *
 *     template <> inline constexpr const char *ashlar::type_name<my_t> = "mine";
 *
 * @since 0.1
 */
template <typename T>
inline constexpr const char *type_name = detail::registered_name<T>.text;

/**
 * Register T by its name, with the size and alignment that the compiler gives
 * it: ashlar_type_register(). Pools do it by themselves.
 *
 * @return The type; NULL when it was refused.
 * @since 0.1
 */
template <typename T>
const struct ashlar_type *register_type(const std::nothrow_t &) noexcept
{
    static_assert(std::is_object_v<T> && !std::is_array_v<T> &&
                      std::is_same_v<T, std::remove_cv_t<T>>,
                  "a type of slots is an object type, no array, not const");
    const struct ashlar_type *type = nullptr;

    (void)ashlar_type_register(type_name<T>, sizeof(T), alignof(T), &type);
    return type;
}

#ifndef ASHLAR_NO_EXCEPTIONS
/**
 * The same, plain.
 *
 * @return The type.
 * @throws ashlar::error  As ashlar_type_register().
 * @since 0.1
 */
template <typename T> const struct ashlar_type *register_type()
{
    return detail::check(register_type<T>(std::nothrow));
}
#endif

} // namespace ashlar

#endif
