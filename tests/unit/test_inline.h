/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * The inline get and put of ashlar/cache.h as each language compiles them.
 */
#ifndef ASHLAR_TESTS_UNIT_TEST_INLINE_H
#define ASHLAR_TESTS_UNIT_TEST_INLINE_H

#include <ashlar/cache.h>

ASHLAR_BEGIN_DECLS

struct inline_calls {
    const char *language;
    void *(*get)(struct ashlar_cache *cache);
    enum ashlar_status (*put)(struct ashlar_cache *cache, void *slot);
    enum ashlar_status (*open)(struct ashlar_pool *pool, size_t slots,
                               struct ashlar_cache **cache_out);
};

struct inline_calls inline_c99(void);
struct inline_calls inline_c11(void);
struct inline_calls inline_cxx98(void);
struct inline_calls inline_cxx17(void);

ASHLAR_END_DECLS

/* The functions, and what gives them away. */
#define INLINE_CALLS(_function, _language)                                     \
    static void *get(struct ashlar_cache *cache)                               \
    {                                                                          \
        return ashlar_cache_get(cache);                                        \
    }                                                                          \
                                                                               \
    static enum ashlar_status put(struct ashlar_cache *cache, void *slot)      \
    {                                                                          \
        return ashlar_cache_put(cache, slot);                                  \
    }                                                                          \
                                                                               \
    static enum ashlar_status open_cache(struct ashlar_pool *pool,             \
                                         size_t slots,                         \
                                         struct ashlar_cache **cache_out)      \
    {                                                                          \
        return ashlar_cache_open(pool, slots, ASHLAR_CACHE_LAYOUT, cache_out); \
    }                                                                          \
                                                                               \
    struct inline_calls _function(void)                                        \
    {                                                                          \
        struct inline_calls calls;                                             \
                                                                               \
        calls.language = _language;                                            \
        calls.get = get;                                                       \
        calls.put = put;                                                       \
        calls.open = open_cache;                                               \
        return calls;                                                          \
    }

#endif
