/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * Mappings, made and unmade at random, against a model that has a cell for each
 * granule.
 *
 *     cells         0   1   2  ...  9 | 10 ... 15
 *     reservations  [================)[==========)
 */
#include "config.h"

#include "sim.h"

#include <string.h>

#define CELLS   16
#define FIRST   10 /* cells in the first reservation */
#define HANDLES 6
#define STEPS   1000
#define SEEDS   8

struct cell {
    unsigned start;  /* first cell of the mapping that has it */
    unsigned length; /* its cells; 0: nothing is mapped here */
    unsigned handle;
    unsigned rights;
};

static struct cell cells[CELLS];
static CUdeviceptr base;
static CUmemGenericAllocationHandle handles[HANDLES]; /* of 1, 2, 3, 1, 2, 3 */
static uint32_t state;

static unsigned below(unsigned bound)
{
    state = state * 1664525 + 1013904223;
    return (state >> 16) % bound;
}

static unsigned length_of(unsigned handle)
{
    return handle % 3 + 1;
}

static CUdeviceptr address_of(unsigned cell)
{
    return base + cell * GRANULE;
}

/* --- the model ------------------------------------------------------------ */

static CUresult model_map(unsigned at, unsigned handle)
{
    unsigned length = length_of(handle);
    unsigned end = at < FIRST ? FIRST : CELLS;
    unsigned i;

    if (at + length > end)
        return CUDA_ERROR_INVALID_VALUE;
    for (i = at; i < at + length; i++)
        if (cells[i].length != 0)
            return CUDA_ERROR_INVALID_VALUE;
    for (i = at; i < at + length; i++)
        cells[i] = (struct cell){at, length, handle, 0};
    return CUDA_SUCCESS;
}

/* Whether [at, at + length) is reserved and cuts no mapping. */
static bool is_whole(unsigned at, unsigned length)
{
    const struct cell *first = &cells[at];
    const struct cell *last;

    if (length == 0 || at + length > CELLS)
        return false;
    last = &cells[at + length - 1];
    return (first->length == 0 || first->start == at) &&
           (last->length == 0 || last->start + last->length == at + length);
}

static CUresult model_unmap(unsigned at, unsigned length)
{
    unsigned i;

    if (!is_whole(at, length))
        return CUDA_ERROR_INVALID_VALUE;
    for (i = at; i < at + length; i++)
        cells[i] = (struct cell){0, 0, 0, 0};
    return CUDA_SUCCESS;
}

static CUresult model_allow(unsigned at, unsigned length, unsigned rights)
{
    unsigned i;

    if (!is_whole(at, length))
        return CUDA_ERROR_INVALID_VALUE;
    for (i = at; i < at + length; i++)
        if (cells[i].length == 0)
            return CUDA_ERROR_INVALID_VALUE;
    for (i = at; i < at + length; i++)
        cells[i].rights = rights;
    return CUDA_SUCCESS;
}

static CUresult model_fill(unsigned at, unsigned length)
{
    unsigned i;

    for (i = at; i < at + length; i++)
        if (i >= CELLS || cells[i].rights != 3)
            return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

/* --- both ----------------------------------------------------------------- */

static void step_allow(unsigned at, unsigned length)
{
    static const unsigned flags[] = {0, 1, 3};
    CUmemAccessDesc desc = sim_rights;
    unsigned rights = flags[below(3)];

    desc.flags = (CUmemAccess_flags)rights;
    IS(cuMemSetAccess(address_of(at), length * GRANULE, &desc, 1),
       model_allow(at, length, rights));
}

static void step(void)
{
    unsigned at = below(CELLS);
    unsigned length = below(5);
    unsigned handle = below(HANDLES);

    switch (below(4)) {
    case 0:
        IS(cuMemMap(address_of(at), length_of(handle) * GRANULE, 0,
                    handles[handle], 0),
           model_map(at, handle));
        break;
    case 1:
        IS(cuMemUnmap(address_of(at), length * GRANULE),
           model_unmap(at, length));
        break;
    case 2:
        step_allow(at, length);
        break;
    default:
        IS(cuMemsetD8(address_of(at), (unsigned char)handle, length * GRANULE),
           model_fill(at, length));
        break;
    }
}

static void compare(void)
{
    const CUmemLocation device = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    unsigned long long rights;
    unsigned mapped = 0;
    unsigned i;

    for (i = 0; i < CELLS; i++) {
        if (cells[i].length == 0) {
            IS(cuMemGetAccess(&rights, &device, address_of(i)),
               CUDA_ERROR_INVALID_VALUE);
            continue;
        }
        OK(cuMemGetAccess(&rights, &device, address_of(i) + 77));
        ck_assert_uint_eq(rights, cells[i].rights);
        mapped += cells[i].start == i;
    }
    ck_assert_uint_eq(sim_account().mappings, mapped);
    ck_assert_uint_eq(sim_account().handles, HANDLES);
}

START_TEST(mappings_are_what_the_model_says_after_every_step)
{
    CUdeviceptr beside;
    unsigned i;

    state = (uint32_t)_i + 1;
    memset(cells, 0, sizeof(cells));
    base = sim_reserve(FIRST);
    OK(cuMemAddressReserve(&beside, (CELLS - FIRST) * GRANULE, 0,
                           base + FIRST * GRANULE, 0));
    ck_assert_uint_eq(beside, base + FIRST * GRANULE);
    for (i = 0; i < HANDLES; i++)
        handles[i] = sim_create(length_of(i));
    for (i = 0; i < STEPS; i++) {
        step();
        compare();
    }
    OK(cuMemUnmap(base, CELLS * GRANULE));
    for (i = 0; i < HANDLES; i++)
        OK(cuMemRelease(handles[i]));
    OK(cuMemAddressFree(base, FIRST * GRANULE));
    OK(cuMemAddressFree(beside, (CELLS - FIRST) * GRANULE));
    sim_end();
}
END_TEST

static Suite *model_suite(void)
{
    Suite *suite = suite_create("cudasim model");
    TCase *test = tcase_create("mappings");

    tcase_add_checked_fixture(test, sim_begin, NULL);
    tcase_add_loop_test(test, mappings_are_what_the_model_says_after_every_step,
                        0, SEEDS);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    return suite_run(model_suite());
}
