/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "pool/state.h"

#include "support/pools.h"

#include <string.h>

#define BYTES 100

/* Aligned as slabs have it, so that a place says which way words fall. */
static _Alignas(64) unsigned char states[BYTES + 8];

START_TEST(a_fill_changes_its_stretch_and_nothing_else)
{
    unsigned char expected[BYTES];
    size_t begin, end;
    int value;

    for (value = SLOT_FREE; value <= SLOT_LIVE; value++)
        for (begin = 0; begin <= BYTES; begin++)
            for (end = begin; end <= BYTES; end++) {
                memset(states, !value, BYTES);
                memset(expected, !value, BYTES);
                memset(expected + begin, value, end - begin);
                state_fill(states + begin, end - begin, (enum slot_state)value);
                if (memcmp(states, expected, BYTES) != 0)
                    ck_abort_msg("a fill from %zu to %zu with %d", begin, end,
                                 value);
            }
}
END_TEST

START_TEST(counting_ends_at_the_first_that_is_not_live)
{
    size_t begin, end, wrong, live;

    for (begin = 0; begin < BYTES; begin++)
        for (end = begin + 1; end <= BYTES; end++)
            for (wrong = begin; wrong < end; wrong++) {
                memset(states, SLOT_LIVE, BYTES);
                states[wrong] = SLOT_FREE;
                live = state_count_live(states + begin, end - begin);
                if (live != wrong - begin)
                    ck_abort_msg("from %zu to %zu, free at %zu: %zu live",
                                 begin, end, wrong, live);
            }
}
END_TEST

START_TEST(counting_does_not_look_beyond_its_stretch)
{
    size_t begin, end;

    for (begin = 0; begin <= BYTES; begin++)
        for (end = begin; end <= BYTES; end++) {
            memset(states, SLOT_FREE, BYTES);
            memset(states + begin, SLOT_LIVE, end - begin);
            REQUIRE(state_count_live(states + begin, end - begin) ==
                    end - begin);
        }
}
END_TEST

START_TEST(a_stray_value_is_not_live)
{
    unsigned value;

    for (value = 2; value < 256; value++) {
        memset(states, SLOT_LIVE, BYTES);
        states[13] = (unsigned char)value;
        REQUIRE(state_count_live(states, BYTES) == 13);
        REQUIRE(state_count_live(states + 13, 1) == 0);
    }
}
END_TEST

START_TEST(a_words_bits_are_its_live_bytes)
{
    unsigned bits, i;

    for (bits = 0; bits < 256; bits++) {
        for (i = 0; i < 8; i++)
            states[i] = (bits >> i & 1) != 0 ? SLOT_LIVE : SLOT_FREE;
        REQUIRE(state_bits(state_get_word(states)) == bits);
    }
    ck_assert_uint_eq(state_bits(state_word(SLOT_LIVE)), 0xff);
}
END_TEST

static Suite *state_suite(void)
{
    Suite *suite = suite_create("state");
    TCase *stretches = tcase_create("stretches");

    tcase_add_test(stretches, a_fill_changes_its_stretch_and_nothing_else);
    tcase_add_test(stretches, counting_ends_at_the_first_that_is_not_live);
    tcase_add_test(stretches, counting_does_not_look_beyond_its_stretch);
    tcase_add_test(stretches, a_stray_value_is_not_live);
    tcase_add_test(stretches, a_words_bits_are_its_live_bytes);
    suite_add_tcase(suite, stretches);
    return suite;
}

int main(void)
{
    return suite_run(state_suite());
}
