/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The parameters of a tensor map, put together by name.
 *
 *     auto tile = ashlar::tiled<__half>(tensor, ashlar::row_major(rows, columns))
 *                     .box(ashlar::row_major(64, 128))
 *                     .swizzle(ASHLAR_SPEC_SWIZZLE_128B);
 *     ashlar::spec spec = tile;             // struct ashlar_spec, filled in
 *
 * Numbers that there are one of for each dimension are given the innermost
 * first, as the driver counts, {columns, rows}; or, by row_major(), the
 * outermost first, as arrays of C are declared. How many they are is checked by
 * the compiler, and so is that the element type is one that the driver has.
 *
 * A builder refuses nothing: what is too large for a member becomes the largest
 * that it holds, so that no wrong number passes for a right one, and check() or
 * the encoder says what is wrong with it (finding.hpp).
 */
#ifndef ASHLAR_SPEC_HPP
#define ASHLAR_SPEC_HPP

#include <ashlar/error.hpp>
#include <ashlar/source.hpp>
#include <ashlar/spec.h>
#include <ashlar/tensormap.h>
#include <ashlar/type.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

namespace ashlar
{

/** struct ashlar_spec, initialised. */
struct spec : ashlar_spec {
    spec() noexcept : ashlar_spec(ASHLAR_SPEC_INIT)
    {
    }

    spec(const ashlar_spec &other) noexcept : ashlar_spec(other)
    {
    }
};

namespace detail
{

constexpr int no_element = -1;

/* What there is for a type that the compiler has by itself. */
template <typename T> constexpr int arithmetic_element() noexcept
{
    constexpr bool negative = std::is_signed_v<T>;

    if constexpr (std::is_same_v<T, float>)
        return ASHLAR_SPEC_FLOAT32;
    else if constexpr (std::is_same_v<T, double>)
        return ASHLAR_SPEC_FLOAT64;
    else if constexpr (!std::is_integral_v<T>)
        return no_element;
    else if constexpr (sizeof(T) == 1)
        return ASHLAR_SPEC_UINT8;
    else if constexpr (sizeof(T) == 2)
        return ASHLAR_SPEC_UINT16;
    else if constexpr (sizeof(T) == 4)
        return negative ? ASHLAR_SPEC_INT32 : ASHLAR_SPEC_UINT32;
    else
        return negative ? ASHLAR_SPEC_INT64 : ASHLAR_SPEC_UINT64;
}

struct named_element {
    std::string_view name;
    enum ashlar_spec_dtype dtype;
};

/* Those of headers that ashlar does not include, by their names. */
inline constexpr named_element named_elements[] = {
    {"__half", ASHLAR_SPEC_FLOAT16},
    {"_Float16", ASHLAR_SPEC_FLOAT16},
    {"c10::Half", ASHLAR_SPEC_FLOAT16},
    {"cutlass::half_t", ASHLAR_SPEC_FLOAT16},
    {"__nv_bfloat16", ASHLAR_SPEC_BFLOAT16},
    {"__bf16", ASHLAR_SPEC_BFLOAT16},
    {"c10::BFloat16", ASHLAR_SPEC_BFLOAT16},
    {"cutlass::bfloat16_t", ASHLAR_SPEC_BFLOAT16},
    {"cutlass::tfloat32_t", ASHLAR_SPEC_TFLOAT32},
    {"__nv_fp8_e4m3", ASHLAR_SPEC_UINT8},
    {"__nv_fp8_e5m2", ASHLAR_SPEC_UINT8},
    {"std::byte", ASHLAR_SPEC_UINT8},
};

template <typename T> constexpr int element_or_none() noexcept
{
    for (const named_element &known : named_elements)
        if (known.name == spelled<T>())
            return known.dtype;
    return arithmetic_element<T>();
}

template <typename T> constexpr enum ashlar_spec_dtype element() noexcept
{
    static_assert(element_or_none<T>() != no_element,
                  "tensor maps have no elements of this type; if it is laid "
                  "out as one of them, specialise ashlar::element_of for it");
    return static_cast<enum ashlar_spec_dtype>(element_or_none<T>());
}

/* As near to a number as a smaller type comes. */
template <typename To, typename From> constexpr To nearest(From number) noexcept
{
    constexpr From most = std::numeric_limits<To>::max();

    if (number > most)
        return std::numeric_limits<To>::max();
    if constexpr (std::is_signed_v<From>)
        if (number < static_cast<From>(std::numeric_limits<To>::min()))
            return std::numeric_limits<To>::min();
    return static_cast<To>(number);
}

/* Numbers, as many as are asked for, of any integral types. */
template <typename Value, std::size_t N> class numbers
{
  public:
    template <typename... I,
              typename = std::enable_if_t<(std::is_integral_v<I> && ...)>>
    constexpr numbers(I... given) noexcept
        : values_{static_cast<Value>(given)...}
    {
        static_assert(sizeof...(I) == N, "one number for each dimension");
    }

    template <typename I, typename = std::enable_if_t<std::is_integral_v<I>>>
    constexpr numbers(const std::array<I, N> &given) noexcept : values_{}
    {
        for (std::size_t i = 0; i < N; i++)
            values_[i] = static_cast<Value>(given[i]);
    }

    constexpr Value operator[](std::size_t i) const noexcept
    {
        return values_[i];
    }

  private:
    Value values_[N == 0 ? 1 : N];
};

} // namespace detail

/**
 * What the elements of a tensor of T are to a tensor map. Known are the
 * integers, float, double, and by their names the types of CUDA, of the
 * compilers, CUTLASS and PyTorch; bytes and 8-bit floats are UINT8. Specialise
 * it for another type that is laid out as one of them:
 *
 *     template <> inline constexpr enum ashlar_spec_dtype
 *         ashlar::element_of<my::half> = ASHLAR_SPEC_FLOAT16;
 *
 * @since 0.1
 */
template <typename T>
inline constexpr enum ashlar_spec_dtype element_of = detail::element<T>();

/** A number for each dimension, the innermost first: dims{columns, rows}. */
template <std::size_t Rank>
class dims : public detail::numbers<std::uint64_t, Rank>
{
  public:
    using detail::numbers<std::uint64_t, Rank>::numbers;
};

template <typename... I> dims(I...) -> dims<sizeof...(I)>;
template <typename I, std::size_t Rank>
dims(const std::array<I, Rank> &) -> dims<Rank>;

/**
 * A number for each dimension, the outermost first: row_major(rows, columns).
 *
 * @since 0.1
 */
template <typename... I>
constexpr dims<sizeof...(I)> row_major(I... numbers) noexcept
{
    constexpr std::size_t rank = sizeof...(I);
    const dims<rank> given{numbers...};
    std::array<std::uint64_t, rank> turned{};

    for (std::size_t i = 0; i < rank; i++)
        turned[i] = given[rank - 1 - i];
    return turned;
}

namespace detail
{

/*
 * What the builders share. Each verb returns the builder, so that they follow
 * one another; what is not said is as the driver's simplest map has it.
 */
template <typename Self, std::size_t Rank> class spec_builder
{
    static_assert(Rank >= 1 && Rank <= ASHLAR_SPEC_RANK_MAX,
                  "a tensor map has 1 to 5 dimensions");

  public:
    /** The address of element 0: of the device, or a number. @since 0.1 */
    template <typename Address> Self &address(Address tensor) noexcept
    {
        spec_.address = number_of(tensor);
        return self();
    }

    /**
     * Bytes from one to the next, for all dimensions but the innermost. If they
     * are not said, the tensor has no gaps.
     *
     * @since 0.1
     */
    Self &strides(const numbers<std::uint64_t, Rank - 1> &bytes) noexcept
    {
        for (std::size_t i = 0; i + 1 < Rank; i++)
            spec_.strides[i] = bytes[i];
        return self();
    }

    /** Elements from one taken to the next; 1 if not said. @since 0.1 */
    Self &element_strides(const dims<Rank> &elements) noexcept
    {
        for (std::size_t i = 0; i < Rank; i++)
            spec_.element_strides[i] = nearest<std::uint32_t>(elements[i]);
        return self();
    }

    /** The interleaved layout. @since 0.1 */
    Self &interleave(enum ashlar_spec_interleave layout) noexcept
    {
        spec_.interleave = layout;
        return self();
    }

    /** How banks of shared memory are swizzled. @since 0.1 */
    Self &swizzle(enum ashlar_spec_swizzle pattern) noexcept
    {
        spec_.swizzle = pattern;
        return self();
    }

    /** What the second level cache fetches. @since 0.1 */
    Self &l2_promotion(enum ashlar_spec_l2_promotion bytes) noexcept
    {
        spec_.l2_promotion = bytes;
        return self();
    }

    /** What elements out of bounds read as. @since 0.1 */
    Self &oob_fill(enum ashlar_spec_oob_fill fill) noexcept
    {
        spec_.oob_fill = fill;
        return self();
    }

    /** @return The spec as it is now, still the builder's. @since 0.1 */
    const ashlar::spec &build() const noexcept
    {
        return spec_;
    }

    operator const ashlar::spec &() const noexcept
    {
        return spec_;
    }

  protected:
    spec_builder(enum ashlar_spec_mode mode, enum ashlar_spec_dtype dtype,
                 std::uint64_t address, const dims<Rank> &elements) noexcept
    {
        spec_.mode = mode;
        spec_.dtype = dtype;
        spec_.rank = Rank;
        spec_.address = address;
        for (std::size_t i = 0; i < Rank; i++) {
            spec_.dims[i] = elements[i];
            spec_.element_strides[i] = 1;
        }
        pack();
    }

    Self &self() noexcept
    {
        return static_cast<Self &>(*this);
    }

    ashlar::spec spec_;

  private:
    /* Strides that fit no number are the largest: no encoder takes them. */
    void pack() noexcept
    {
        if (ASHLAR_UNLIKELY(ashlar_spec_pack(&spec_) != ASHLAR_OK))
            for (std::uint64_t &stride : spec_.strides)
                stride = std::numeric_limits<std::uint64_t>::max();
    }
};

} // namespace detail

/** Builds the spec of a tiled map, which loads boxes: see tiled(). */
template <std::size_t Rank>
class tiled_builder : public detail::spec_builder<tiled_builder<Rank>, Rank>
{
  public:
    /** As tiled() has it, with the type of elements. @since 0.1 */
    tiled_builder(enum ashlar_spec_dtype dtype, std::uint64_t address,
                  const dims<Rank> &elements) noexcept
        : tiled_builder::spec_builder(ASHLAR_SPEC_TILED, dtype, address,
                                      elements)
    {
    }

    /** Elements of the box along each dimension. @since 0.1 */
    tiled_builder &box(const dims<Rank> &elements) noexcept
    {
        for (std::size_t i = 0; i < Rank; i++)
            this->spec_.box[i] = detail::nearest<std::uint32_t>(elements[i]);
        return *this;
    }
};

namespace detail
{

/* What both kinds of im2col share. */
template <typename Self, std::size_t Rank, std::size_t Corners>
class column_builder : public spec_builder<Self, Rank>
{
    static_assert(Rank >= 3, "an im2col map has 3 to 5 dimensions");

  public:
    /** The pixel box, the width first: two corners. @since 0.1 */
    Self &corners(const numbers<std::int64_t, Corners> &lower,
                  const numbers<std::int64_t, Corners> &upper) noexcept
    {
        for (std::size_t i = 0; i < Corners; i++) {
            this->spec_.lower_corner[i] = nearest<std::int32_t>(lower[i]);
            this->spec_.upper_corner[i] = nearest<std::int32_t>(upper[i]);
        }
        return this->self();
    }

    /** Channels of a pixel that are loaded. @since 0.1 */
    Self &channels(std::uint64_t count) noexcept
    {
        this->spec_.channels = nearest<std::uint32_t>(count);
        return this->self();
    }

    /** Pixels of a column that are loaded. @since 0.1 */
    Self &pixels(std::uint64_t count) noexcept
    {
        this->spec_.pixels = nearest<std::uint32_t>(count);
        return this->self();
    }

  protected:
    using spec_builder<Self, Rank>::spec_builder;
};

} // namespace detail

/** Builds the spec of an im2col map, which loads columns: see im2col(). */
template <std::size_t Rank>
class im2col_builder
    : public detail::column_builder<im2col_builder<Rank>, Rank, Rank - 2>
{
  public:
    /** As im2col() has it, with the type of elements. @since 0.1 */
    im2col_builder(enum ashlar_spec_dtype dtype, std::uint64_t address,
                   const dims<Rank> &elements) noexcept
        : im2col_builder::column_builder(ASHLAR_SPEC_IM2COL, dtype, address,
                                         elements)
    {
    }
};

/** Builds the spec of an im2col-wide map: see im2col_wide(). */
template <std::size_t Rank>
class im2col_wide_builder
    : public detail::column_builder<im2col_wide_builder<Rank>, Rank, 1>
{
  public:
    /** As im2col_wide() has it, with the type of elements. @since 0.1 */
    im2col_wide_builder(enum ashlar_spec_dtype dtype, std::uint64_t address,
                        const dims<Rank> &elements) noexcept
        : im2col_wide_builder::column_builder(ASHLAR_SPEC_IM2COL_WIDE, dtype,
                                              address, elements)
    {
    }

    /** Which columns it walks. @since 0.1 */
    im2col_wide_builder &wide_mode(enum ashlar_spec_wide_mode mode) noexcept
    {
        this->spec_.wide_mode = mode;
        return *this;
    }
};

/**
 * Begin the spec of a tiled map.
 *
 * @param dtype    The type of elements; or, as T, a C++ type.
 * @param tensor   The address of element 0: a pointer, or a number.
 * @param elements Along each dimension: dims{...} or row_major(...).
 * @since 0.1
 */
template <typename Address, std::size_t Rank>
tiled_builder<Rank> tiled(enum ashlar_spec_dtype dtype, Address tensor,
                          const dims<Rank> &elements) noexcept
{
    return {dtype, detail::number_of(tensor), elements};
}

template <typename T, typename Address, std::size_t Rank>
tiled_builder<Rank> tiled(Address tensor, const dims<Rank> &elements) noexcept
{
    return {element_of<T>, detail::number_of(tensor), elements};
}

/**
 * Begin the spec of an im2col map, of 3 to 5 dimensions: the channels, the
 * width ..., and the images; otherwise as tiled().
 *
 * @since 0.1
 */
template <typename Address, std::size_t Rank>
im2col_builder<Rank> im2col(enum ashlar_spec_dtype dtype, Address tensor,
                            const dims<Rank> &elements) noexcept
{
    return {dtype, detail::number_of(tensor), elements};
}

template <typename T, typename Address, std::size_t Rank>
im2col_builder<Rank> im2col(Address tensor, const dims<Rank> &elements) noexcept
{
    return {element_of<T>, detail::number_of(tensor), elements};
}

/** The same for an im2col-wide map. @since 0.1 */
template <typename Address, std::size_t Rank>
im2col_wide_builder<Rank> im2col_wide(enum ashlar_spec_dtype dtype,
                                      Address tensor,
                                      const dims<Rank> &elements) noexcept
{
    return {dtype, detail::number_of(tensor), elements};
}

template <typename T, typename Address, std::size_t Rank>
im2col_wide_builder<Rank> im2col_wide(Address tensor,
                                      const dims<Rank> &elements) noexcept
{
    return {element_of<T>, detail::number_of(tensor), elements};
}

} // namespace ashlar

#endif
