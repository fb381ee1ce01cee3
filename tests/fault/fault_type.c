/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Every allocation of a registration fails in turn: the type is not there, the
 * others are as before, and a retry works.
 */
#include "config.h"

#include <ashlar.h>

#include "support/pools.h"

#include <stdio.h>

#include "base/memory.h"

/* Records come in chunks of 64, 128, 256 ...: before these, one is allocated. */
static const size_t firsts[] = {0, 64, 192, 448};

/* Each of two allocations, once and from then on. */
#define FAILURES ((int)(4 * sizeof(firsts) / sizeof(firsts[0])))

static size_t named; /* types registered by this process */

static const char *name_of(size_t number)
{
    static char name[32];

    (void)snprintf(name, sizeof(name), "fault type %zu", number);
    return name;
}

static size_t count_types(void)
{
    const struct ashlar_type *type = NULL;
    size_t count = 0;

    while ((type = ashlar_type_next(type)) != NULL)
        count++;
    return count;
}

static void register_up_to(size_t count)
{
    const struct ashlar_type *type;

    for (; named < count; named++)
        REQUIRE(ashlar_type_register(name_of(named), 24, 8, &type) ==
                ASHLAR_OK);
}

/* Nothing of the type is there. */
static void expect_refused(enum ashlar_status status, size_t count)
{
    REQUIRE(status == ASHLAR_ERR_NO_MEMORY);
    REQUIRE(last_error_is(ASHLAR_ERR_NO_MEMORY, name_of(named)));
    REQUIRE(ashlar_type_find(name_of(named)) == NULL);
    REQUIRE(ashlar_last_error() == ASHLAR_ERR_NOT_FOUND);
    REQUIRE(count_types() == count);
}

/* Register one more while the nth allocation fails; true when it was asked. */
static bool fail_at(unsigned long nth, bool forever)
{
    const struct ashlar_type *const untouched =
        (const struct ashlar_type *)(const void *)firsts;
    const struct ashlar_type *type = untouched;
    size_t count = count_types();
    enum ashlar_status status;
    unsigned long asked;

    memory_fail_nth(nth, forever);
    status = ashlar_type_register(name_of(named), 24, 8, &type);
    asked = memory_asked();
    memory_fail_nth(0, false);
    if (status != ASHLAR_OK) {
        REQUIRE(type == untouched);
        expect_refused(status, count);
        REQUIRE(ashlar_type_register(name_of(named), 24, 8, &type) ==
                ASHLAR_OK);
    }
    REQUIRE(ashlar_type_find(name_of(named)) == type);
    REQUIRE(count_types() == count + 1);
    named++;
    return asked >= nth;
}

START_TEST(a_failing_allocation_registers_nothing)
{
    size_t first = firsts[_i / 4];
    unsigned long nth = 1 + (unsigned long)_i % 2;
    bool forever = _i / 2 % 2 != 0;
    bool is_first;

    memory_fail_nth(0, false);
    (void)ashlar_type_find(NULL); /* so that there is room for an error */
    register_up_to(first);
    /* In one process with the tests before, there are more. */
    is_first = named == first;
    ck_assert(fail_at(nth, forever) || !is_first);
    printf("# after %zu: failure point %lu, %s\n", first, nth,
           forever ? "from then on" : "once");
    (void)fflush(stdout);
}
END_TEST

START_TEST(a_failing_copy_of_a_name_registers_nothing)
{
    (void)ashlar_type_find(NULL);
    register_up_to(10);
    ck_assert(fail_at(1, _i != 0));
    ck_assert(!fail_at(2, _i != 0));
}
END_TEST

static Suite *fault_suite(void)
{
    Suite *suite = suite_create("faults of types");
    TCase *memory = tcase_create("memory");

    tcase_add_loop_test(memory, a_failing_allocation_registers_nothing, 0,
                        FAILURES);
    tcase_add_loop_test(memory, a_failing_copy_of_a_name_registers_nothing, 0,
                        2);
    suite_add_tcase(suite, memory);
    return suite;
}

int main(void)
{
    return suite_run(fault_suite());
}
