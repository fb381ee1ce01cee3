/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Ranges of one real card, used by another. */
#include "config.h"

#include "gpu/card.h"

#define QUIET ASHLAR_QUIET, 1

static struct ashlar_source *source;
static struct ashlar_range *range;

static void make(const char *options)
{
    struct ashlar_range_options sizes = ASHLAR_RANGE_OPTIONS_INIT;

    card_start(); /* on device 0: the memory below is device 1's */
    OK(ashlar_source_open("cuda", options, &source));
    sizes.reserve_bytes = 64 * MIB;
    sizes.chunk_max_bytes = 2 * MIB;
    OK(ashlar_range_create(source, &sizes, &range));
}

static uint64_t base(void)
{
    struct ashlar_range_info info = ASHLAR_RANGE_INFO_INIT;

    OK(ashlar_range_query(range, &info));
    return info.base;
}

static void use(uint64_t bytes, uint32_t stamp)
{
    card_fill(NULL, base(), bytes, stamp);
    CU(cu.CtxSynchronize());
    ck_assert_uint_eq(card_count_wrong(base(), bytes, stamp), 0);
}

static void end(void)
{
    OK(ashlar_range_destroy(range, QUIET));
    OK(ashlar_source_close(source));
}

START_TEST(a_peer_of_the_source_reads_every_chunk)
{
    make("device=1,peers=0");
    OK(ashlar_range_grow_to(range, 8 * MIB, NULL));
    use(8 * MIB, 1);
    OK(ashlar_range_grow_to(range, 16 * MIB, NULL));
    use(16 * MIB, 2);
    end();
}
END_TEST

START_TEST(a_peer_that_is_added_reads_old_chunks_and_new)
{
    make("device=1");
    OK(ashlar_range_grow_to(range, 8 * MIB, NULL));
    OK(ashlar_range_allow(range, 0, ASHLAR_RIGHTS_READ_WRITE));
    use(8 * MIB, 1);
    OK(ashlar_range_grow_to(range, 16 * MIB, NULL));
    use(16 * MIB, 2);
    end();
}
END_TEST

static Suite *card_peers_suite(void)
{
    Suite *suite = suite_create("card_peers");
    TCase *test = tcase_create("peers");

    tcase_set_timeout(test, 120);
    tcase_add_test(test, a_peer_of_the_source_reads_every_chunk);
    tcase_add_test(test, a_peer_that_is_added_reads_old_chunks_and_new);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    const char *missing = card_missing();

    if (missing != NULL)
        return suite_skip(missing);
    if (card_count() < 2)
        return suite_skip("one card alone; peers need two");
    return suite_run(card_peers_suite());
}
