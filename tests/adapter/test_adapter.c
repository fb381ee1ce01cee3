/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* ashlar_adapter.so, loaded as frameworks do it, on the vm source. */
#include "config.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ashlar.h>

#include "adapter.h"
#include "support/crew.h"
#include "support/suite.h"

#define MIB ((size_t)1 << 20)

static __typeof__(&ashlar_torch_alloc) torch_alloc;
static __typeof__(&ashlar_torch_free) torch_free;
static __typeof__(&ashlar_cupy_alloc) cupy_alloc;
static __typeof__(&ashlar_cupy_free) cupy_free;
static __typeof__(&ashlar_adapter_arena) arena_of;
static __typeof__(&ashlar_adapter_kept) kept;

static void *stream(uintptr_t number)
{
    return (void *)number;
}

static struct ashlar_arena_stats stats(int device)
{
    struct ashlar_arena_stats own = ASHLAR_ARENA_STATS_INIT;

    ck_assert_int_eq(ashlar_arena_query(arena_of(device), &own), ASHLAR_OK);
    return own;
}

/* Under an arena, as nobody else has opened it. */
static struct ashlar_source *source_of(int device)
{
    struct ashlar_range_info info = ASHLAR_RANGE_INFO_INIT;

    ck_assert_int_eq(
        ashlar_range_query(ashlar_arena_range(arena_of(device)), &info),
        ASHLAR_OK);
    return info.source;
}

START_TEST(a_block_has_the_size_and_alignment_of_cuda)
{
    char *blocks[20];
    size_t i;

    for (i = 0; i < 20; i++) {
        blocks[i] = torch_alloc((ssize_t)1 << i, 0, stream(1));
        ck_assert_ptr_nonnull(blocks[i]);
        ck_assert_uint_eq((uintptr_t)blocks[i] % ADAPTER_ALIGNMENT, 0);
        memset(blocks[i], 1, (size_t)1 << i);
    }
    ck_assert_uint_eq(stats(0).live_blocks, 20);
    for (i = 0; i < 20; i++)
        torch_free(blocks[i], (ssize_t)1 << i, 0, stream(1));
    ck_assert_uint_eq(stats(0).live_blocks, 0);
    ck_assert_uint_eq(stats(0).waiting_blocks, 0);
}
END_TEST

START_TEST(a_free_waits_for_the_stream_it_names)
{
    void *block = torch_alloc(4 * MIB, 0, stream(1));
    void *other;

    ck_assert_int_eq(ashlar_vm_hold(source_of(0), 7), ASHLAR_OK);
    torch_free(block, 4 * MIB, 0, stream(7));
    ck_assert_uint_eq(stats(0).waiting_blocks, 1);
    other = torch_alloc(4 * MIB, 0, stream(1));
    ck_assert_ptr_ne(other, block);
    ck_assert_int_eq(ashlar_vm_finish(source_of(0), 7), ASHLAR_OK);
    torch_free(other, 4 * MIB, 0, stream(1));
    ck_assert_uint_eq(stats(0).waiting_blocks, 0);
}
END_TEST

START_TEST(cupys_parameter_is_the_stream)
{
    void *block = cupy_alloc(5, 100, 0);

    ck_assert_ptr_nonnull(block);
    ck_assert_int_eq(ashlar_vm_hold(source_of(0), 5), ASHLAR_OK);
    cupy_free(5, block, 0);
    ck_assert_uint_eq(stats(0).waiting_blocks, 1);
    ck_assert_int_eq(ashlar_vm_finish(source_of(0), 5), ASHLAR_OK);
    ck_assert_uint_eq(stats(0).waiting_blocks, 0);
}
END_TEST

START_TEST(each_device_has_an_arena_of_its_own)
{
    void *block = torch_alloc(100, 3, NULL);

    ck_assert_ptr_nonnull(block);
    ck_assert_ptr_ne(arena_of(3), arena_of(0));
    ck_assert_str_eq(ashlar_arena_name(arena_of(3)), "adapter, device 3");
    ck_assert_uint_eq(stats(3).live_blocks, 1);
    ck_assert_uint_eq(stats(0).live_blocks, 0);
    torch_free(block, 100, 3, NULL);
    ck_assert_ptr_null(arena_of(-1));
    ck_assert_ptr_null(arena_of(ADAPTER_DEVICES));
    ck_assert_ptr_null(torch_alloc(100, -1, NULL));
}
END_TEST

/* The frameworks take NULL for memory, so that the reason is told otherwise. */
START_TEST(a_device_that_cannot_be_is_told_of)
{
    FILE *said = tmpfile();
    char line[200] = "";

    ck_assert_ptr_nonnull(said);
    ck_assert_int_ge(dup2(fileno(said), STDERR_FILENO), 0);
    ck_assert_ptr_null(torch_alloc(100, ADAPTER_DEVICES, NULL));
    rewind(said);
    ck_assert_ptr_nonnull(fgets(line, sizeof(line), said));
    ck_assert_str_eq(line,
                     "ashlar_adapter: device is 64; devices are 0 to 63\n");
    (void)fclose(said);
}
END_TEST

START_TEST(nothing_is_nothing)
{
    ck_assert_ptr_null(torch_alloc(0, 0, NULL));
    ck_assert_ptr_null(torch_alloc(-1, 0, NULL));
    ck_assert_ptr_null(cupy_alloc(0, 0, 0));
    torch_free(NULL, 0, 0, NULL);
    cupy_free(0, NULL, 0);
    ck_assert_uint_eq(stats(0).refusals, 0);
    ck_assert_uint_eq(kept(), 0);
}
END_TEST

START_TEST(what_cannot_be_freed_is_kept_and_counted)
{
    char *block = torch_alloc(4096, 0, NULL);

    torch_free(block + 512, 10, 0, NULL);
    ck_assert_uint_eq(kept(), 1);
    torch_free(block, 4096, 0, NULL);
    ck_assert_uint_eq(kept(), 1);
    torch_free(block, 4096, 0, NULL);
    ck_assert_uint_eq(kept(), 2);
    ck_assert_uint_eq(stats(0).live_blocks, 0);
}
END_TEST

/* The first blocks of all threads meet. */
static void work(unsigned number, void *argument)
{
    size_t i;

    (void)argument;
    for (i = 1; i < 2000; i++) {
        char *block = torch_alloc((ssize_t)(i * 37), 1, NULL);

        memset(block, (int)number, i * 37);
        torch_free(block, (ssize_t)(i * 37), 1, stream(number));
    }
}

START_TEST(threads_share_a_device)
{
    struct crew crew;

    crew_start(&crew, 4);
    crew_work(&crew, work, NULL);
    crew_end(&crew);
    ck_assert_uint_eq(stats(1).live_blocks, 0);
    ck_assert_uint_eq(kept(), 0);
}
END_TEST

START_TEST(a_source_that_cannot_be_opened_gives_no_block)
{
    ck_assert_int_eq(setenv("ASHLAR_ADAPTER_SOURCE", "nosuch:a=1", 1), 0);
    ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
    ck_assert_ptr_null(torch_alloc(100, 0, NULL));
    ck_assert_ptr_null(arena_of(0));
    /* It is tried again. */
    ck_assert_int_eq(setenv("ASHLAR_ADAPTER_SOURCE", "vm", 1), 0);
    torch_free(torch_alloc(100, 0, NULL), 100, 0, NULL);
    ck_assert_uint_eq(kept(), 0);
}
END_TEST

static Suite *adapter_suite(void)
{
    Suite *suite = suite_create("adapter");
    TCase *test = tcase_create("adapter");

    tcase_add_test(test, a_block_has_the_size_and_alignment_of_cuda);
    tcase_add_test(test, a_free_waits_for_the_stream_it_names);
    tcase_add_test(test, cupys_parameter_is_the_stream);
    tcase_add_test(test, each_device_has_an_arena_of_its_own);
    tcase_add_test(test, a_device_that_cannot_be_is_told_of);
    tcase_add_test(test, nothing_is_nothing);
    tcase_add_test(test, what_cannot_be_freed_is_kept_and_counted);
    tcase_add_test(test, threads_share_a_device);
    tcase_add_test(test, a_source_that_cannot_be_opened_gives_no_block);
    suite_add_tcase(suite, test);
    return suite;
}

/* A function of the adapter's; memcpy, since C has no such cast. */
static void find(void *module, const char *name, void *function_out)
{
    void *address = dlsym(module, name);

    memcpy(function_out, &address, sizeof(address));
}

int main(void)
{
    const char *top = getenv("top_builddir");
    char path[4096];
    void *module;

    (void)snprintf(path, sizeof(path), "%s/adapters/.libs/ashlar_adapter.so",
                   top == NULL ? "." : top);
    module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (module == NULL)
        return suite_skip("ashlar_adapter.so was not built");
    find(module, "ashlar_torch_alloc", &torch_alloc);
    find(module, "ashlar_torch_free", &torch_free);
    find(module, "ashlar_cupy_alloc", &cupy_alloc);
    find(module, "ashlar_cupy_free", &cupy_free);
    find(module, "ashlar_adapter_arena", &arena_of);
    find(module, "ashlar_adapter_kept", &kept);
    if (setenv("ASHLAR_ADAPTER_SOURCE", "vm:memory=1G", 1) != 0)
        return 1;
    return suite_run(adapter_suite());
}
