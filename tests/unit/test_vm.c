/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* The vm source by itself: its options, and the rules of a driver. */
#include "config.h"

#include "source/vm.h"

#include "range/range.h"
#include "support/engine.h"
#include "support/ranges.h"
#include "support/stress.h"

#include <string.h>
#include <sys/mman.h>

static struct ashlar_source *source;
static uint64_t granule;

static void open_source(void)
{
    OK(ashlar_source_open("vm", engine_options(), &source));
    granule = source->info.granule;
}

static void close_source(void)
{
    struct ashlar_vm_account account = ASHLAR_VM_ACCOUNT_INIT;

    OK(ashlar_vm_query(source, &account));
    ck_assert_uint_eq(account.reservations + account.reserved_bytes +
                          account.chunks + account.chunk_bytes +
                          account.mappings + account.mapped_bytes +
                          account.fences + account.files,
                      0);
    OK(ashlar_source_close(source));
}

/* The operations, on the source. */
static enum ashlar_status reserve(uint64_t granules, uint64_t hint,
                                  uint64_t *address_out)
{
    return source->ops.reserve(source->state, granules * granule, granule, hint,
                               address_out);
}

static enum ashlar_status release(uint64_t address, uint64_t granules)
{
    return source->ops.release(source->state, address, granules * granule);
}

static enum ashlar_status create_in(uint64_t granules, uint64_t group,
                                    uint64_t *chunk_out)
{
    const struct ashlar_chunk_request request = {sizeof(request),
                                                 granules * granule, group};

    return source->ops.chunk_create(source->state, &request, chunk_out);
}

static enum ashlar_status create(uint64_t granules, uint64_t *chunk_out)
{
    return create_in(granules, 0, chunk_out);
}

static enum ashlar_status destroy(uint64_t chunk, uint64_t granules)
{
    return source->ops.chunk_destroy(source->state, chunk, granules * granule);
}

static enum ashlar_status map(uint64_t address, uint64_t chunk,
                              uint64_t granules)
{
    return source->ops.map(source->state, address, chunk, granules * granule);
}

static enum ashlar_status unmap(uint64_t address, uint64_t granules)
{
    return source->ops.unmap(source->state, address, granules * granule);
}

static enum ashlar_status allow(uint64_t address, uint64_t granules,
                                uint32_t location, uint32_t rights)
{
    const struct ashlar_access access = {location, rights};

    return source->ops.allow(source->state, address, granules * granule,
                             &access, 1);
}

/* --- options -------------------------------------------------------------- */

static void refuse_option(const char *options, const char *words)
{
    struct ashlar_source *none = NULL;

    REFUSED(ASHLAR_ERR_INVALID, words,
            ashlar_source_open("vm", options, &none));
    ck_assert_ptr_null(none);
}

START_TEST(bad_options_are_refused_with_what_would_be_right)
{
    refuse_option("granule=3M", "granule is \"3M\"; it must be a power of two");
    refuse_option("granule=0", "granule is \"0\"");
    refuse_option("granule=1", "granule is \"1\"");
    refuse_option("granule=", "granule is \"\"");
    refuse_option("granule=2m", "granule is \"2m\"");
    refuse_option("granule=2MB", "granule is \"2MB\"");
    refuse_option("granule=-4096", "granule is \"-4096\"");
    refuse_option("granule=99999999999999999999", "granule is");
    refuse_option("granule=16777216T", "granule is");
    refuse_option("memory=none", "memory is \"none\"; it must be bytes");
    refuse_option("memory=0", "memory is \"0\"");
    refuse_option("huge=maybe", "huge is \"maybe\"; it must be yes or no");
    refuse_option("colour=red", "has no option \"colour\"; it has granule");
    refuse_option("granule", "\"granule\" is no key=value");
    refuse_option("=2M", "\"=2M\" is no key=value");
    refuse_option("granule=2M,", "\"\" is no key=value");
    refuse_option("memory=1G,memory=1G", "\"memory\" is given twice");
}
END_TEST

START_TEST(good_options_are_taken)
{
    static const struct {
        const char *options;
        uint64_t granule;
        uint64_t memory_bytes;
    } good[] = {
        {"granule=64K,memory=1G", 64 << 10, UINT64_C(1) << 30},
        {"memory=3T", 2 << 20, UINT64_C(3) << 40},
        {"granule=1T,memory=12345678", UINT64_C(1) << 40, 12345678},
        {"huge=no,memory=4M", 2 << 20, 4 << 20},
    };
    struct ashlar_source_info info = ASHLAR_SOURCE_INFO_INIT;
    struct ashlar_source *other;
    unsigned i;

    for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        OK(ashlar_source_open("vm", good[i].options, &other));
        OK(ashlar_source_query(other, &info));
        ck_assert_uint_eq(info.granule, good[i].granule);
        ck_assert_uint_eq(info.memory_bytes, good[i].memory_bytes);
        ck_assert_uint_eq(info.location_count, ASHLAR_VM_LOCATIONS);
        OK(ashlar_source_close(other));
    }
    OK(ashlar_source_open("vm", NULL, &other));
    OK(ashlar_source_query(other, &info));
    ck_assert_uint_eq(info.granule, 2 << 20);
    ck_assert_uint_gt(info.memory_bytes, 1 << 20);
    OK(ashlar_source_close(other));
}
END_TEST

/* --- the rules of a driver ------------------------------------------------ */

START_TEST(a_release_takes_exactly_one_empty_reservation)
{
    uint64_t a, b, chunk;

    OK(reserve(4, 0, &a));
    REFUSED(ASHLAR_ERR_INVALID, "not one reservation", release(a, 3));
    REFUSED(ASHLAR_ERR_INVALID, "not one reservation", release(a + granule, 3));
    OK(create(1, &chunk));
    OK(map(a + granule, chunk, 1));
    REFUSED(ASHLAR_ERR_INVALID, "nothing is mapped", release(a, 4));
    OK(unmap(a + granule, 1));
    OK(destroy(chunk, 1));
    if (reserve(2, a + 4 * granule, &b) == ASHLAR_OK && b == a + 4 * granule)
        REFUSED(ASHLAR_ERR_INVALID, "not one reservation", release(a, 6));
    OK(release(b, 2));
    OK(release(a, 4));
    REFUSED(ASHLAR_ERR_INVALID, "not one reservation", release(a, 4));
}
END_TEST

START_TEST(odd_reservations_are_refused)
{
    uint64_t address = 1;

    REFUSED(ASHLAR_ERR_INVALID, "does not fit the granule",
            reserve(0, 0, &address));
    REFUSED(
        ASHLAR_ERR_INVALID, "does not fit the granule",
        source->ops.reserve(source->state, granule + 1, granule, 0, &address));
    REFUSED(
        ASHLAR_ERR_INVALID, "does not fit the granule",
        source->ops.reserve(source->state, granule, 3 * granule, 0, &address));
    REFUSED(ASHLAR_ERR_INVALID, "does not fit the granule",
            reserve(1, granule + 1, &address));
    REFUSED(ASHLAR_ERR_NO_ADDRESS_SPACE, "found no",
            reserve((UINT64_C(1) << 47) / granule, 0, &address));
    ck_assert_uint_eq(address, 1);
}
END_TEST

START_TEST(a_hint_that_is_taken_is_granted_elsewhere)
{
    uint64_t a, b;

    OK(reserve(4, 0, &a));
    OK(reserve(4, a, &b));
    ck_assert_uint_ne(a, b);
    OK(release(a, 4));
    OK(release(b, 4));
    /* Free now, unless somebody was quicker. */
    OK(reserve(4, a, &b));
    OK(release(b, 4));
}
END_TEST

START_TEST(a_chunk_is_mapped_whole_inside_one_reservation_over_nothing)
{
    uint64_t address, chunk, other;

    OK(reserve(4, 0, &address));
    OK(create(2, &chunk));
    OK(create(2, &other));
    REFUSED(ASHLAR_ERR_INVALID, "cannot be mapped", map(address, chunk, 1));
    REFUSED(ASHLAR_ERR_INVALID, "cannot be mapped",
            map(address + 3 * granule, chunk, 2));
    REFUSED(ASHLAR_ERR_INVALID, "cannot be mapped",
            map(address + granule / 2, chunk, 2));
    REFUSED(ASHLAR_ERR_INVALID, "cannot be mapped", map(granule, chunk, 2));
    OK(map(address + granule, chunk, 2));
    REFUSED(ASHLAR_ERR_INVALID, "over nothing else", map(address, other, 2));
    REFUSED(ASHLAR_ERR_INVALID, "while it is mapped", destroy(chunk, 2));
    REFUSED(ASHLAR_ERR_INVALID, "cannot be destroyed", destroy(other, 1));
    OK(unmap(address + granule, 2));
    OK(destroy(chunk, 2));
    OK(destroy(other, 2));
    OK(release(address, 4));
}
END_TEST

START_TEST(unmap_and_allow_take_whole_neighbouring_mappings)
{
    uint64_t address, chunks[3];
    uint32_t rights;
    unsigned i;

    OK(reserve(8, 0, &address));
    for (i = 0; i < 3; i++) {
        OK(create(2, &chunks[i]));
        OK(map(address + 2 * i * granule, chunks[i], 2));
    }
    OK(allow(address, 6, 0, ASHLAR_RIGHTS_READ_WRITE));
    memset((void *)(uintptr_t)address, 1, 6 * granule);
    OK(allow(address + 2 * granule, 2, 5, ASHLAR_RIGHTS_READ));
    OK(ashlar_vm_rights(source, address + 3 * granule, 5, &rights));
    ck_assert_uint_eq(rights, ASHLAR_RIGHTS_READ);
    OK(ashlar_vm_rights(source, address, 5, &rights));
    ck_assert_uint_eq(rights, ASHLAR_RIGHTS_NONE);
    REFUSED(ASHLAR_ERR_INVALID, "not whole mappings", unmap(address, 3));
    REFUSED(ASHLAR_ERR_INVALID, "not whole mappings",
            unmap(address + granule, 3));
    REFUSED(ASHLAR_ERR_INVALID, "not whole mappings", unmap(address, 8));
    REFUSED(ASHLAR_ERR_INVALID, "not whole mappings", unmap(address, 0));
    REFUSED(ASHLAR_ERR_INVALID, "cannot be set", allow(address, 3, 0, 1));
    REFUSED(ASHLAR_ERR_INVALID, "cannot be set", allow(address, 6, 8, 1));
    REFUSED(ASHLAR_ERR_INVALID, "cannot be set", allow(address, 6, 0, 2));
    REFUSED(ASHLAR_ERR_INVALID, "cannot be set",
            source->ops.allow(source->state, address, 6 * granule, NULL, 0));
    OK(unmap(address + 2 * granule, 2));
    REFUSED(ASHLAR_ERR_INVALID, "not whole mappings", unmap(address, 6));
    OK(unmap(address, 2));
    OK(unmap(address + 4 * granule, 2));
    for (i = 0; i < 3; i++)
        OK(destroy(chunks[i], 2));
    OK(release(address, 8));
}
END_TEST

START_TEST(a_fresh_mapping_has_no_rights_and_a_chunk_fresh_memory)
{
    uint64_t address, chunk;
    uint32_t rights;
    unsigned round;

    OK(reserve(1, 0, &address));
    for (round = 0; round < 3; round++) {
        OK(create(1, &chunk));
        OK(map(address, chunk, 1));
        OK(ashlar_vm_rights(source, address, 0, &rights));
        ck_assert_uint_eq(rights, ASHLAR_RIGHTS_NONE);
        OK(allow(address, 1, 0, ASHLAR_RIGHTS_READ_WRITE));
        ck_assert_int_eq(*(char *)(uintptr_t)address, 0);
        memset((void *)(uintptr_t)address, 7, granule);
        OK(unmap(address, 1));
        OK(destroy(chunk, 1));
    }
    REFUSED(ASHLAR_ERR_NOT_FOUND, "nothing is mapped",
            ashlar_vm_rights(source, address, 0, &rights));
    OK(release(address, 1));
}
END_TEST

START_TEST(a_chunk_mapped_twice_is_one_memory)
{
    uint64_t address, chunk;

    OK(reserve(2, 0, &address));
    OK(create(1, &chunk));
    OK(map(address, chunk, 1));
    OK(map(address + granule, chunk, 1));
    OK(allow(address, 2, 0, ASHLAR_RIGHTS_READ_WRITE));
    *(int *)(uintptr_t)address = 5;
    ck_assert_int_eq(*(int *)(uintptr_t)(address + granule), 5);
    OK(unmap(address, 1));
    ck_assert_int_eq(*(int *)(uintptr_t)(address + granule), 5);
    REFUSED(ASHLAR_ERR_INVALID, "while it is mapped", destroy(chunk, 1));
    OK(unmap(address + granule, 1));
    OK(destroy(chunk, 1));
    OK(release(address, 2));
}
END_TEST

START_TEST(memory_is_counted_and_limited)
{
    struct ashlar_vm_account account = ASHLAR_VM_ACCOUNT_INIT;
    struct ashlar_source *plain = source;
    uint64_t chunks[2], none = 1;

    OK(ashlar_source_open("vm", "granule=1M,memory=4M", &source));
    granule = source->info.granule;
    OK(create(3, &chunks[0]));
    REFUSED(ASHLAR_ERR_NO_DEVICE_MEMORY, "of its 4194304", create(2, &none));
    REFUSED(ASHLAR_ERR_NO_DEVICE_MEMORY, "option memory",
            create(UINT64_C(1) << 40, &none));
    ck_assert_uint_eq(none, 1);
    OK(create(1, &chunks[1]));
    OK(ashlar_vm_query(source, &account));
    ck_assert_uint_eq(account.chunks, 2);
    ck_assert_uint_eq(account.chunk_bytes, 4 << 20);
    ck_assert_uint_eq(account.files, 1);
    OK(destroy(chunks[0], 3));
    OK(destroy(chunks[1], 1));
    close_source();
    source = plain;
}
END_TEST

START_TEST(odd_chunks_are_refused)
{
    uint64_t chunk = 1;
    const struct ashlar_chunk_request odd = {sizeof(odd), granule + 1, 0};

    REFUSED(ASHLAR_ERR_INVALID, "does not fit the granule", create(0, &chunk));
    REFUSED(ASHLAR_ERR_INVALID, "does not fit the granule",
            source->ops.chunk_create(source->state, &odd, &chunk));
    ck_assert_uint_eq(chunk, 1);
}
END_TEST

START_TEST(a_copy_copies)
{
    char from[64], to[64] = "";

    memset(from, 9, sizeof(from));
    OK(source->ops.copy(source->state, (uint64_t)(uintptr_t)to,
                        (uint64_t)(uintptr_t)from, sizeof(to), 0));
    ck_assert_mem_eq(from, to, sizeof(to));
}
END_TEST

/* --- the kernel's limit of mappings --------------------------------------- */

#define PAGES_OF_NOTHING ((size_t)1 << 18)
#define LAST_ONES        64

/* All mappings that a process may have. */
struct mappings {
    char *block; /* every other page is protected otherwise */
    void *last[LAST_ONES];
    size_t last_count;
    size_t page;
};

/* Whether they were used up. */
static bool use_up(struct mappings *mappings)
{
    size_t bytes = PAGES_OF_NOTHING * mappings->page;
    void *at;
    size_t i = 0;

    mappings->block = mmap(NULL, bytes, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ck_assert_ptr_ne(mappings->block, MAP_FAILED);
    while (i < PAGES_OF_NOTHING &&
           mprotect(mappings->block + i * mappings->page, mappings->page,
                    PROT_READ) == 0)
        i += 2;
    /* Shared ones do not become one with their neighbours. */
    while (i < PAGES_OF_NOTHING && mappings->last_count < LAST_ONES) {
        at = mmap(NULL, mappings->page, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS,
                  -1, 0);
        if (at == MAP_FAILED)
            return true;
        mappings->last[mappings->last_count++] = at;
    }
    return false;
}

static void give_back(struct mappings *mappings)
{
    while (mappings->last_count != 0)
        (void)munmap(mappings->last[--mappings->last_count], mappings->page);
    (void)munmap(mappings->block, PAGES_OF_NOTHING * mappings->page);
}

START_TEST(without_a_mapping_left_nothing_changes)
{
    struct mappings mappings = {.page = granule};
    struct ashlar_range *range;
    struct ashlar_range_info info = ASHLAR_RANGE_INFO_INIT;
    struct ashlar_range_info after = ASHLAR_RANGE_INFO_INIT;

    /* A tool that looks on would itself run out of them. */
    if (stress_is_watched() || stress_is_tsan())
        return;
    OK(ashlar_range_create(source, NULL, &range));
    OK(ashlar_range_grow_to(range, 2 * granule, NULL));
    *(int *)(uintptr_t)range->base = 5;
    OK(ashlar_range_query(range, &info));
    if (use_up(&mappings)) {
        REFUSED(ASHLAR_ERR_NO_MEMORY, "vm.max_map_count",
                ashlar_range_grow_to(range, 5 * granule, NULL));
        OK(ashlar_range_query(range, &after));
        ck_assert_mem_eq(&info, &after, sizeof(info));
        ck_assert_int_eq(*(int *)(uintptr_t)range->base, 5);
    }
    give_back(&mappings);
    OK(ashlar_range_grow_to(range, 5 * granule, NULL));
    OK(ashlar_range_destroy(range, ASHLAR_QUIET, 1));
}
END_TEST

/* --- streams and fences --------------------------------------------------- */

START_TEST(a_fence_passes_when_the_work_before_it_is_done)
{
    uint64_t early, late;

    OK(ashlar_vm_hold(source, 3));
    OK(source->ops.fence_record(source->state, 3, &early));
    ashlar_clear_error();
    ck_assert_int_eq(source->ops.fence_query(source->state, early),
                     ASHLAR_ERR_BUSY);
    ck_assert_int_eq(ashlar_last_error(), ASHLAR_OK);
    OK(ashlar_vm_finish(source, 4));
    ck_assert_int_eq(source->ops.fence_query(source->state, early),
                     ASHLAR_ERR_BUSY);
    OK(ashlar_vm_finish(source, 3));
    OK(source->ops.fence_query(source->state, early));
    OK(ashlar_vm_hold(source, 3));
    OK(source->ops.fence_query(source->state, early));
    OK(source->ops.fence_event(source->state, 3, &late));
    ck_assert_int_eq(source->ops.fence_query(source->state, late),
                     ASHLAR_ERR_BUSY);
    /* Dropped without having passed. */
    source->ops.fence_drop(source->state, late);
    source->ops.fence_drop(source->state, early);
    OK(source->ops.fence_record(source->state, 99, &early));
    OK(source->ops.fence_query(source->state, early));
    source->ops.fence_drop(source->state, early);
}
END_TEST

START_TEST(what_is_for_vm_is_refused_for_others)
{
    struct ashlar_vm_account account = ASHLAR_VM_ACCOUNT_INIT;
    struct ashlar_source *wrapped = wrap_open(NULL);
    uint32_t rights = 9;

    REFUSED(ASHLAR_ERR_INVALID, "it is for \"vm\"", ashlar_vm_hold(wrapped, 1));
    REFUSED(ASHLAR_ERR_INVALID, "it is for \"vm\"",
            ashlar_vm_finish(wrapped, 1));
    REFUSED(ASHLAR_ERR_INVALID, "it is for \"vm\"",
            ashlar_vm_query(wrapped, &account));
    REFUSED(ASHLAR_ERR_INVALID, "it is for \"vm\"",
            ashlar_vm_rights(wrapped, 0, 0, &rights));
    wrap_close(wrapped);
    REFUSED(ASHLAR_ERR_INVALID, "NULL for source", ashlar_vm_hold(NULL, 1));
    REFUSED(ASHLAR_ERR_INVALID, "NULL for account",
            ashlar_vm_query(source, NULL));
    REFUSED(ASHLAR_ERR_INVALID, "location is 8",
            ashlar_vm_rights(source, 0, 8, &rights));
    REFUSED(ASHLAR_ERR_INVALID, "must not be NULL",
            ashlar_vm_rights(source, 0, 0, NULL));
    account.size = 0;
    REFUSED(ASHLAR_ERR_INVALID, "struct ashlar_vm_account",
            ashlar_vm_query(source, &account));
    ck_assert_uint_eq(rights, 9);
}
END_TEST

/* -------------------------------------------------------------------------- */

static TCase *add_case(Suite *suite, const char *name)
{
    TCase *test = tcase_create(name);

    tcase_add_checked_fixture(test, open_source, close_source);
    suite_add_tcase(suite, test);
    return test;
}

static Suite *vm_suite(void)
{
    Suite *suite = suite_create("vm");
    TCase *test = add_case(suite, "options");

    tcase_add_test(test, bad_options_are_refused_with_what_would_be_right);
    tcase_add_test(test, good_options_are_taken);

    test = add_case(suite, "rules");
    tcase_add_test(test, a_release_takes_exactly_one_empty_reservation);
    tcase_add_test(test, odd_reservations_are_refused);
    tcase_add_test(test, a_hint_that_is_taken_is_granted_elsewhere);
    tcase_add_test(test,
                   a_chunk_is_mapped_whole_inside_one_reservation_over_nothing);
    tcase_add_test(test, unmap_and_allow_take_whole_neighbouring_mappings);
    tcase_add_test(test,
                   a_fresh_mapping_has_no_rights_and_a_chunk_fresh_memory);
    tcase_add_test(test, a_chunk_mapped_twice_is_one_memory);
    tcase_add_test(test, memory_is_counted_and_limited);
    tcase_add_test(test, odd_chunks_are_refused);
    tcase_add_test(test, a_copy_copies);
    tcase_add_test(test, without_a_mapping_left_nothing_changes);

    test = add_case(suite, "fences");
    tcase_add_test(test, a_fence_passes_when_the_work_before_it_is_done);
    tcase_add_test(test, what_is_for_vm_is_refused_for_others);
    return suite;
}

int main(void)
{
    return suite_run(vm_suite());
}
