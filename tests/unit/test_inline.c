/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * A C99, a C11, a C++98 and a C++17 file of one program, which get and put
 * inline through one cache. This is the C11 file.
 */
#include "config.h"

#include "unit/test_inline.h"

#include "support/pools.h"

#include <string.h>

#if __STDC_VERSION__ != 201112L
#error "this file is there to be compiled as C11"
#endif

#define LANGUAGES 4
#define SLOTS     200

INLINE_CALLS(inline_c11, "C11")

static struct inline_calls all[LANGUAGES];
static struct ashlar_pool *pool;
static struct ashlar_cache *cache;

static void start(void)
{
    all[0] = inline_c99();
    all[1] = inline_c11();
    all[2] = inline_cxx98();
    all[3] = inline_cxx17();
    pool = pools_make(ashlar_type_find("CUtensorMap"), NULL);
    ck_assert_int_eq(all[2].open(pool, 64, &cache), ASHLAR_OK);
}

static void end(void)
{
    ck_assert_int_eq(ashlar_cache_close(cache), ASHLAR_OK);
    ck_assert_uint_eq(pools_stats(pool).live_slots, 0);
    pools_end(pool);
}

START_TEST(any_language_puts_what_any_other_got)
{
    void *slots[SLOTS];
    unsigned getter, putter;
    size_t i;

    for (getter = 0; getter < LANGUAGES; getter++)
        for (putter = 0; putter < LANGUAGES; putter++) {
            for (i = 0; i < SLOTS; i++) {
                slots[i] = all[getter].get(cache);
                REQUIRE(slots[i] != NULL && (uintptr_t)slots[i] % 128 == 0);
                memset(slots[i], (int)i, 128);
            }
            REQUIRE(pools_stats(pool).live_slots == SLOTS);
            for (i = SLOTS; i-- > 0;) {
                REQUIRE(*(unsigned char *)slots[i] == i % 256);
                REQUIRE(all[putter].put(cache, slots[i]) == ASHLAR_OK);
            }
        }
}
END_TEST

START_TEST(every_language_refuses_a_second_put)
{
    unsigned i;

    for (i = 0; i < LANGUAGES; i++) {
        void *slot = all[i].get(cache);

        REQUIRE(all[i].put(cache, slot) == ASHLAR_OK);
        REQUIRE(all[i].put(cache, slot) == ASHLAR_ERR_NOT_LIVE);
        REQUIRE(all[i].put(cache, (char *)slot + 4) == ASHLAR_ERR_MISALIGNED);
        REQUIRE(all[i].put(cache, &pool) == ASHLAR_ERR_WRONG_OWNER);
        REQUIRE(all[i].put(cache, NULL) == ASHLAR_ERR_INVALID);
    }
}
END_TEST

START_TEST(every_language_opens_the_layout_of_the_library)
{
    struct ashlar_cache *another;
    unsigned i;

    for (i = 0; i < LANGUAGES; i++) {
        REQUIRE(all[i].open(pool, 1, &another) == ASHLAR_OK);
        REQUIRE(ashlar_cache_close(another) == ASHLAR_OK);
    }
}
END_TEST

static Suite *inline_suite(void)
{
    Suite *suite = suite_create("inline");
    TCase *languages = tcase_create("languages");

    tcase_add_checked_fixture(languages, start, end);
    tcase_add_test(languages, any_language_puts_what_any_other_got);
    tcase_add_test(languages, every_language_refuses_a_second_put);
    tcase_add_test(languages, every_language_opens_the_layout_of_the_library);
    suite_add_tcase(suite, languages);
    return suite;
}

int main(void)
{
    return suite_run(inline_suite());
}
