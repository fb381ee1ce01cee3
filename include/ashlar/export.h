/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * What every other header of ashlar needs: visibility, attributes, C linkage.
 *
 * Nothing here is to be used by callers, except ASHLAR_ALIGNOF.
 */
#ifndef ASHLAR_EXPORT_H
#define ASHLAR_EXPORT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define ASHLAR_BEGIN_DECLS extern "C" {
#define ASHLAR_END_DECLS   }
#else
#define ASHLAR_BEGIN_DECLS
#define ASHLAR_END_DECLS
#endif

#if defined(__GNUC__)
#define ASHLAR_API             __attribute__((visibility("default")))
#define ASHLAR_MUST_USE        __attribute__((warn_unused_result))
#define ASHLAR_PURE            __attribute__((pure))
#define ASHLAR_CONST           __attribute__((const))
#define ASHLAR_FORMAT(_n, _m)  __attribute__((format(printf, _n, _m)))
#define ASHLAR_MALLOC          __attribute__((malloc))
#define ASHLAR_ALLOC_SIZE(_n)  __attribute__((alloc_size(_n)))
#define ASHLAR_LIKELY(_cond)   __builtin_expect(!!(_cond), 1)
#define ASHLAR_UNLIKELY(_cond) __builtin_expect(!!(_cond), 0)
#else
#define ASHLAR_API
#define ASHLAR_MUST_USE
#define ASHLAR_PURE
#define ASHLAR_CONST
#define ASHLAR_FORMAT(_n, _m)
#define ASHLAR_MALLOC
#define ASHLAR_ALLOC_SIZE(_n)
#define ASHLAR_LIKELY(_cond)   (_cond)
#define ASHLAR_UNLIKELY(_cond) (_cond)
#endif

/*
 * Of functions that take a few nanoseconds: a program calls them at the address
 * that the loader found, instead of by a jump in the program's own PLT, which
 * would be a fifth of the time. They are bound at load, and not at first use.
 */
#define ASHLAR_NO_PLT
#if defined(__x86_64__) && defined(__has_attribute)
#if __has_attribute(noplt)
#undef ASHLAR_NO_PLT
#define ASHLAR_NO_PLT __attribute__((noplt))
#endif
#endif

/**
 * The alignment in bytes that the including compiler gives to a type.
 *
 * __alignof__ rather than _Alignof or alignof, so that C99 and C++98 have it
 * too; it is the alignment of a whole object, which is what a slot holds.
 */
#define ASHLAR_ALIGNOF(_type) ((size_t)__alignof__(_type))

#endif
