/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The registry of types: names with size, alignment and stride.
 *
 *     name           size  alignment  stride
 *     CUtensorMap     128        128     128   built in: fixed
 *     my_header        40         64      64   registered: 40 rounded up to 64
 *
 * Invariants:
 *   - stride is size rounded up to alignment; alignment is a power of two;
 *   - a type is never removed, so a `const struct ashlar_type *` stays valid
 *     until the process ends;
 *   - size never changes. Alignment only ever gets stronger, and not at all
 *     for built-in types, nor once a pool of the type exists.
 *
 * The same type may be registered from many places that were compiled against
 * different toolkits: CUDA 12 headers say 64 for CUtensorMap, CUDA 13 headers
 * say 128, and in C99 or C++98 either says 8. All of them get the one type at
 * 128.
 */
#ifndef ASHLAR_TYPE_H
#define ASHLAR_TYPE_H

#include <ashlar/export.h>
#include <ashlar/status.h>

ASHLAR_BEGIN_DECLS

/** A registered type. Opaque; owned by the library, never freed. */
struct ashlar_type;

/**
 * Register a type, or find the one already registered under its name.
 *
 * The name may be new: then the type is made. Or it may be known, also as an
 * alias: then size must be equal, and an alignment no stronger than the
 * registered one returns the registered type. A stronger alignment is accepted, and from then on is
 * the type's, unless the type is built in or has had a pool.
 *
 * @param name       1 to 127 bytes; copied. Names are compared byte by byte.
 * @param size       Bytes of one object, 1 or more.
 * @param alignment  Bytes, a power of two, at most ASHLAR_TYPE_ALIGNMENT_MAX.
 * @param type_out   Receives the type; written only on success.
 *
 * @return ASHLAR_OK;
 *         ASHLAR_ERR_INVALID    a NULL or empty or overlong name, size 0, an
 *                               alignment that is 0, no power of two or above
 *                               the maximum, a stride above PTRDIFF_MAX;
 *         ASHLAR_ERR_CONFLICT   the name has another size, or an alignment
 *                               that is weaker than asked and can no longer
 *                               change; the sentence names both;
 *         ASHLAR_ERR_NO_MEMORY  no host memory for the record.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_type_register(const char *name, size_t size, size_t alignment,
                     const struct ashlar_type **type_out);

/** The strongest alignment a type may have: 1 GiB. */
#define ASHLAR_TYPE_ALIGNMENT_MAX ((size_t)1 << 30)

/**
 * Register a C or C++ type under its own name, with the size and alignment
 * that the including compiler gives it.
 *
 *     const struct ashlar_type *type;
 *     if (ASHLAR_REGISTER(CUtensorMap, &type) != ASHLAR_OK) ...
 */
#define ASHLAR_REGISTER(_type, _type_out)                                      \
    ashlar_type_register(#_type, sizeof(_type), ASHLAR_ALIGNOF(_type),         \
                         _type_out)

/** The same under a name of the caller's, for a type with a long spelling. */
#define ASHLAR_REGISTER_AS(_name, _type, _type_out)                            \
    ashlar_type_register(_name, sizeof(_type), ASHLAR_ALIGNOF(_type), _type_out)

/**
 * Find a type by name or alias.
 *
 * @param name  Such as "CUtensorMap", or its alias "cute::TmaDescriptor".
 *
 * @return The type; NULL when the name is unknown (ASHLAR_ERR_NOT_FOUND) or
 *         NULL (ASHLAR_ERR_INVALID).
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API const struct ashlar_type *ashlar_type_find(const char *name);

/**
 * Walk through all types: those built in first, then in order of registration.
 *
 * @param type  The previous type, or NULL for the first.
 *
 * @return The next type, or NULL after the last.
 *
 * @par Threads  Any thread at any time; a type registered meanwhile may or may
 *               not be seen.
 * @since 0.1
 */
ASHLAR_API const struct ashlar_type *
ashlar_type_next(const struct ashlar_type *type);

/** ashlar_type_info::flags: part of the library, size and alignment fixed. */
#define ASHLAR_TYPE_BUILT_IN (1u << 0)
/** ashlar_type_info::flags: a pool exists or existed, alignment is fixed. */
#define ASHLAR_TYPE_FROZEN (1u << 1)
/**
 * ashlar_type_info::flags: listed only because people take it for
 * over-aligned; its declaration asks no more than its members do.
 */
#define ASHLAR_TYPE_NOT_OVER_ALIGNED (1u << 2)

/** What is known of a type. Strings live as long as the process. */
struct ashlar_type_info {
    /** sizeof(struct ashlar_type_info), set by the caller. */
    size_t size;
    /** The registered name. */
    const char *name;
    /** Other names that find it, separated by commas; "" for none. */
    const char *aliases;
    /** Where size and alignment come from, a sentence; "" when registered. */
    const char *source;
    /** Bytes of one object. */
    size_t object_size;
    /** Bytes; every slot starts at a multiple of it. */
    size_t alignment;
    /** Bytes from one slot to the next: object_size rounded up to alignment. */
    size_t stride;
    /** Bytes that CUDA 12 declares (C11, C++11); 0: no such type there. */
    size_t cuda12_alignment;
    /** Bytes that CUDA 13 declares (C11, C++11); 0: no such type there. */
    size_t cuda13_alignment;
    /** ASHLAR_TYPE_BUILT_IN, ASHLAR_TYPE_FROZEN, ... */
    uint32_t flags;
    /** Always 0. */
    uint32_t reserved;
};

/** Initialiser for struct ashlar_type_info. */
#define ASHLAR_TYPE_INFO_INIT                                                  \
    {                                                                          \
        sizeof(struct ashlar_type_info), NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0 \
    }

/**
 * Everything known of a type.
 *
 * @param type  A type of this process.
 * @param info  Its size member says how much the caller knows of the struct;
 *              no more than that is written.
 *
 * @return ASHLAR_OK;
 *         ASHLAR_ERR_INVALID  a NULL argument, a pointer that is no type, or
 *                             a size that is 0, too small to hold itself, or
 *                             more than any version has.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_type_query(const struct ashlar_type *type,
                  struct ashlar_type_info *info);

ASHLAR_END_DECLS

#endif
