/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Who else may use the memory: peers, the host, other processes; and copies. */
#include "config.h"

#include "cuda/rig.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- peers ------------------------------------------------------------------------ */

START_TEST(peers_of_the_source_have_rights_on_every_chunk_whenever_it_came)
{
    uint64_t i;
    int device;

    rig_start("devices=8,memory=256M", "device=3,peers=0:1:2:4:5:6:7");
    rig_make(16, 1, 0);
    for (i = 1; i <= 16; i += 5)
        OK(rig_grow(i));
    OK(ashlar_range_decommit(rig.range, GRANULE, GRANULE, QUIET, NULL));
    OK(ashlar_range_commit(rig.range, GRANULE, GRANULE, NULL));
    for (i = 0; i < 16; i++)
        for (device = 0; device < 8; device++)
            ck_assert_uint_eq(rig_rights(rig_info().base + i * GRANULE, device),
                              ASHLAR_RIGHTS_READ_WRITE);
    rig_end();
}
END_TEST

START_TEST(a_peer_that_is_added_has_rights_on_old_chunks_and_on_new)
{
    uint64_t i;

    rig_start("devices=2,memory=256M", NULL);
    rig_make(8, 2, 0);
    OK(rig_grow(4));
    ck_assert_uint_eq(rig_rights(rig_info().base, 1), ASHLAR_RIGHTS_NONE);
    OK(ashlar_range_allow(rig.range, 1, ASHLAR_RIGHTS_READ));
    OK(rig_grow(8));
    for (i = 0; i < 8; i++)
        ck_assert_uint_eq(rig_rights(rig_info().base + i * GRANULE, 1),
                          ASHLAR_RIGHTS_READ);
    rig_end();
}
END_TEST

START_TEST(options_of_a_range_may_leave_a_peer_out)
{
    static const struct ashlar_access none = {1, ASHLAR_RIGHTS_NONE};
    struct ashlar_range_options options = ASHLAR_RANGE_OPTIONS_INIT;

    rig_start("devices=2,memory=256M", "peers=1");
    options.reserve_bytes = 4 * GRANULE;
    options.access = &none;
    options.access_count = 1;
    OK(ashlar_range_create(rig.source, &options, &rig.range));
    OK(rig_grow(4));
    ck_assert_uint_eq(rig_rights(rig_info().base, 1), ASHLAR_RIGHTS_NONE);
    ck_assert_uint_eq(rig_rights(rig_info().base, 0), ASHLAR_RIGHTS_READ_WRITE);
    rig_end();
}
END_TEST

/* --- the host --------------------------------------------------------------------- */

START_TEST(host_memory_is_accessible_to_its_node_the_device_and_peers)
{
    const CUmemLocation node = {.type = CU_MEM_LOCATION_TYPE_HOST_NUMA,
                                .id = 1};
    unsigned long long flags = 0;
    uint64_t i;

    rig_start("devices=2,numa=2", "location=host:1,peers=1");
    rig_make(8, 1, 0);
    OK(rig_grow(3));
    OK(rig_grow(8));
    for (i = 0; i < 8; i++) {
        ck_assert_uint_eq(rig_rights(rig_info().base + i * GRANULE, 0),
                          ASHLAR_RIGHTS_READ_WRITE);
        ck_assert_uint_eq(rig_rights(rig_info().base + i * GRANULE, 1),
                          ASHLAR_RIGHTS_READ_WRITE);
        CU(cu.MemGetAccess(&flags, &node, rig_info().base + i * GRANULE));
        ck_assert_uint_eq(flags, ASHLAR_RIGHTS_READ_WRITE);
    }
    rig_stamp(8);
    rig_check(8);
    rig_end();
}
END_TEST

START_TEST(a_host_range_off_the_granule_is_given_back_whole)
{
    rig_start("devices=1", "location=host");
    rig_make(0, 0, 0);
    OK(ashlar_range_grow_to(rig.range, 5 * GRANULE + 4097, NULL));
    ck_assert_uint_eq(rig_info().committed_bytes, 6 * GRANULE);
    rig_end();
}
END_TEST

START_TEST(the_default_handles_work_on_host_memory)
{
    struct ashlar_range_options options = ASHLAR_RANGE_OPTIONS_INIT;
    struct ashlar_range_exported made = ASHLAR_RANGE_EXPORTED_INIT;

    rig_start("devices=1", "location=host");
    options.reserve_bytes = 4 * GRANULE;
    options.flags = ASHLAR_RANGE_EXPORT;
    OK(ashlar_range_create(rig.source, &options, &rig.range));
    OK(rig_grow(4));
    OK(ashlar_range_export(rig.range, 0, 0, &made));
    ck_assert_uint_ge(made.fd_count, 1);
    ashlar_range_export_free(&made);
    rig_end();
}
END_TEST

/* --- other processes, here another source ------------------------------------------ */

static struct ashlar_range_exported sent;

/* A range of six granules in three chunks, exported. */
static void start_export(const char *settings, const char *options)
{
    struct ashlar_range_options sizes = ASHLAR_RANGE_OPTIONS_INIT;

    rig_start(settings, options);
    sizes.reserve_bytes = 8 * GRANULE;
    sizes.chunk_max_bytes = 2 * GRANULE;
    sizes.flags = ASHLAR_RANGE_EXPORT;
    OK(ashlar_range_create(rig.source, &sizes, &rig.range));
    OK(rig_grow(6));
    rig_stamp(6);
    sent = (struct ashlar_range_exported)ASHLAR_RANGE_EXPORTED_INIT;
    OK(ashlar_range_export(rig.range, 0, 0, &sent));
}

static enum ashlar_status import(struct ashlar_source *source,
                                 struct ashlar_range **range_out)
{
    return ashlar_range_import(source, sent.description, sent.description_bytes,
                               sent.fds, sent.fd_count, 0, range_out);
}

static void end_export(void)
{
    ashlar_range_export_free(&sent);
    rig_end();
}

static unsigned count_files(void)
{
    unsigned count = 0;
    int fd;

    for (fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) != -1;
    return count;
}

START_TEST(an_imported_range_is_the_same_memory_and_no_more_addresses)
{
    struct ashlar_range_info info = ASHLAR_RANGE_INFO_INIT;
    struct ashlar_source *source;
    struct ashlar_range *range;
    volatile uint64_t *word;
    size_t i;

    start_export("devices=1", NULL);
    ck_assert_uint_eq(sent.fd_count, 3);
    for (i = 0; i < sent.fd_count; i++)
        ck_assert((fcntl(sent.fds[i], F_GETFD) & FD_CLOEXEC) != 0);
    OK(rig_open_source(NULL, &source));
    OK(import(source, &range));
    OK(ashlar_range_query(range, &info));
    /* Exactly what is needed: addresses are not without end. */
    ck_assert_uint_eq(info.reserved_bytes, 6 * GRANULE);
    word = (volatile uint64_t *)(uintptr_t)(info.base + 5 * GRANULE);
    ck_assert_uint_eq(*word, *rig_word(5));
    *word = 99;
    ck_assert_uint_eq(*rig_word(5), 99);
    OK(ashlar_range_destroy(range, QUIET));
    OK(ashlar_source_close(source));
    end_export();
}
END_TEST

START_TEST(fabric_handles_travel_in_small_files)
{
    struct ashlar_range_info info = ASHLAR_RANGE_INFO_INIT;
    struct ashlar_source *source;
    struct ashlar_range *range = NULL;
    struct stat facts;
    size_t i;

    start_export("devices=1,fabric=yes", "handle=fabric");
    for (i = 0; i < sent.fd_count; i++) {
        ck_assert_int_eq(fstat(sent.fds[i], &facts), 0);
        ck_assert_int_eq(facts.st_size, sizeof(CUmemFabricHandle));
        ck_assert((fcntl(sent.fds[i], F_GETFD) & FD_CLOEXEC) != 0);
    }
    OK(rig_open_source("handle=fabric", &source));
    OK(import(source, &range));
    OK(ashlar_range_query(range, &info));
    ck_assert_uint_eq(
        *(volatile uint64_t *)(uintptr_t)(info.base + 5 * GRANULE),
        *rig_word(5));
    OK(ashlar_range_destroy(range, QUIET));
    ck_assert_int_eq(ftruncate(sent.fds[0], 7), 0);
    REFUSED(ASHLAR_ERR_INVALID, "holds no fabric handle",
            import(source, &range));
    OK(ashlar_source_close(source));
    end_export();
}
END_TEST

START_TEST(a_description_says_what_it_is_of_and_fits_nothing_else)
{
    struct ashlar_range *range = NULL;
    struct ashlar_source *source;

    start_export("devices=2", NULL);
    OK(rig_open_source("device=1", &source));
    REFUSED(ASHLAR_ERR_WRONG_OWNER, "", import(source, &range));
    OK(ashlar_source_close(source));
    OK(rig_open_source("location=host", &source));
    REFUSED(ASHLAR_ERR_WRONG_OWNER, "", import(source, &range));
    OK(ashlar_source_close(source));
    OK(ashlar_source_open("vm", NULL, &source));
    REFUSED(ASHLAR_ERR_WRONG_OWNER, "", import(source, &range));
    OK(ashlar_source_close(source));
    ck_assert_ptr_null(range);
    end_export();
}
END_TEST

START_TEST(an_import_that_fails_at_any_call_leaves_no_memory_and_no_file)
{
    struct cudasim_account before;
    struct cudasim_account after;
    enum ashlar_status status = ASHLAR_ERR_DRIVER;
    struct ashlar_source *source;
    struct ashlar_range *range = NULL;
    unsigned files;
    uint64_t n;

    start_export("devices=1", NULL);
    OK(rig_open_source(NULL, &source));
    before = sim_account();
    files = count_files();
    for (n = 1; status != ASHLAR_OK; n++) {
        ck_assert_int_eq(sim.inject(NULL, n, CUDA_ERROR_UNKNOWN, 0), 0);
        status = import(source, &range);
        sim.inject_none();
        if (status == ASHLAR_OK)
            break;
        after = sim_account();
        ck_assert_ptr_null(range);
        ck_assert_mem_eq(&before, &after, sizeof(before));
        ck_assert_uint_eq(count_files(), files);
    }
    ck_assert_uint_eq(n, 11); /* a reservation, and three times three */
    OK(ashlar_range_destroy(range, QUIET));
    OK(ashlar_source_close(source));
    end_export();
}
END_TEST

START_TEST(a_descriptor_that_is_none_of_the_drivers_is_refused)
{
    struct ashlar_range *range = NULL;
    struct ashlar_source *source;
    int file = memfd_create("none", MFD_CLOEXEC);
    int own;

    start_export("devices=1", NULL);
    OK(rig_open_source(NULL, &source));
    own = sent.fds[1];
    sent.fds[1] = file;
    ck_assert_int_ne(import(source, &range), ASHLAR_OK);
    ck_assert(strstr(ashlar_last_error_message(),
                     "cuMemImportFromShareableHandle()") != NULL);
    sent.fds[1] = own;
    (void)close(file);
    OK(ashlar_source_close(source));
    end_export();
}
END_TEST

/* --- copies ----------------------------------------------------------------------- */

static void copy(uint64_t to, uint64_t from, uint64_t bytes, CUstream stream)
{
    OK(rig.source->ops.copy(rig.source->state, to, from, bytes,
                            (uint64_t)(uintptr_t)stream));
}

START_TEST(the_first_copy_that_finds_no_context_starts_one_and_close_ends_it)
{
    uint64_t word = 77;
    uint64_t back = 0;
    CUdevice device;

    rig_start("devices=1", NULL);
    rig_make(4, 0, 0);
    OK(rig_grow(4));
    CU(cu.CtxSetCurrent(NULL));
    CU(cu.DeviceGet(&device, 0));
    CU(cu.DevicePrimaryCtxRelease(device));
    ck_assert_uint_eq(sim_account().contexts_retained, 0);
    copy(rig_info().base, (uint64_t)(uintptr_t)&word, sizeof(word), NULL);
    copy((uint64_t)(uintptr_t)&back, rig_info().base, sizeof(back), NULL);
    ck_assert_uint_eq(sim_account().contexts_retained, 1);
    ck_assert_uint_eq(back, 77);
    rig_end();
    ck_assert_uint_eq(sim_account().contexts_retained, 0);
}
END_TEST

START_TEST(a_context_that_was_reset_is_started_anew_by_the_next_copy)
{
    uint64_t word = 79;
    CUdevice device;

    rig_start("devices=1", NULL);
    rig_make(4, 0, 0);
    OK(rig_grow(4));
    CU(cu.CtxSetCurrent(NULL));
    CU(cu.DeviceGet(&device, 0));
    CU(cu.DevicePrimaryCtxRelease(device));
    copy(rig_info().base, (uint64_t)(uintptr_t)&word, sizeof(word), NULL);
    CU(cu.DevicePrimaryCtxReset(device));
    copy(rig_info().base + 8, (uint64_t)(uintptr_t)&word, sizeof(word), NULL);
    copy(rig_info().base + 16, (uint64_t)(uintptr_t)&word, sizeof(word), NULL);
    ck_assert_uint_eq(rig_word(0)[1], 79);
    ck_assert_uint_eq(rig_word(0)[2], 79);
    rig_end();
}
END_TEST

START_TEST(a_copy_finds_the_callers_context_and_leaves_it_current)
{
    CUcontext current;
    CUstream stream;
    uint64_t word = 78;

    rig_start("devices=1", NULL);
    rig_make(4, 0, 0);
    OK(rig_grow(4));
    stream = rig_stream();
    copy(rig_info().base, (uint64_t)(uintptr_t)&word, sizeof(word), stream);
    ck_assert_uint_eq(*rig_word(0), 78);
    CU(cu.CtxGetCurrent(&current));
    ck_assert_ptr_eq(current, sim.context);
    ck_assert_uint_eq(sim_account().contexts_retained, 1);
    rig_end();
}
END_TEST

START_TEST(a_copy_spoils_no_capture_of_a_stream_that_it_would_wait_for)
{
    uint64_t word = 80;
    CUstream stream;
    CUgraph graph;

    rig_start("devices=1", NULL);
    rig_make(4, 0, 0);
    OK(rig_grow(4));
    CU(cu.StreamCreate(&stream, CU_STREAM_DEFAULT));
    CU(cu.StreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    REFUSED(ASHLAR_ERR_CAPTURE, "waits for one that is being captured",
            rig.source->ops.copy(rig.source->state, rig_info().base,
                                 (uint64_t)(uintptr_t)&word, sizeof(word), 0));
    CU(cu.StreamEndCapture(stream, &graph));
    CU(cu.GraphDestroy(graph));
    CU(cu.StreamDestroy(stream));
    copy(rig_info().base, (uint64_t)(uintptr_t)&word, sizeof(word), NULL);
    ck_assert_uint_eq(*rig_word(0), 80);
    rig_end();
}
END_TEST

/* -------------------------------------------------------------------------- */

static Suite *cuda_share_suite(void)
{
    Suite *suite = suite_create("cuda_share");
    TCase *test = tcase_create("peers");

    tcase_add_test(
        test, peers_of_the_source_have_rights_on_every_chunk_whenever_it_came);
    tcase_add_test(test,
                   a_peer_that_is_added_has_rights_on_old_chunks_and_on_new);
    tcase_add_test(test, options_of_a_range_may_leave_a_peer_out);
    suite_add_tcase(suite, test);

    test = tcase_create("host");
    tcase_add_test(test,
                   host_memory_is_accessible_to_its_node_the_device_and_peers);
    tcase_add_test(test, a_host_range_off_the_granule_is_given_back_whole);
    tcase_add_test(test, the_default_handles_work_on_host_memory);
    suite_add_tcase(suite, test);

    test = tcase_create("processes");
    tcase_add_test(test,
                   an_imported_range_is_the_same_memory_and_no_more_addresses);
    tcase_add_test(test, fabric_handles_travel_in_small_files);
    tcase_add_test(test,
                   a_description_says_what_it_is_of_and_fits_nothing_else);
    tcase_add_test(
        test, an_import_that_fails_at_any_call_leaves_no_memory_and_no_file);
    tcase_add_test(test, a_descriptor_that_is_none_of_the_drivers_is_refused);
    suite_add_tcase(suite, test);

    test = tcase_create("copies");
    tcase_add_test(
        test,
        the_first_copy_that_finds_no_context_starts_one_and_close_ends_it);
    tcase_add_test(test,
                   a_context_that_was_reset_is_started_anew_by_the_next_copy);
    tcase_add_test(test,
                   a_copy_finds_the_callers_context_and_leaves_it_current);
    tcase_add_test(test,
                   a_copy_spoils_no_capture_of_a_stream_that_it_would_wait_for);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    return suite_run(cuda_share_suite());
}
