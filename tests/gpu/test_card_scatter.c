/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Tensor maps scattered on a real card: their bytes, when they are there, and
 * that copies which go by them see them. */
#include "config.h"

#include "gpu/card.h"

#include <stdio.h>
#include <string.h>

#include "source/source.h"

#define SLOT        ASHLAR_TENSOR_MAP_BYTES
#define SLOTS       16384u /* of the table */
#define MOST        4096u  /* maps at a time */
#define TILE_WORDS  256u
#define TILE_BYTES  (TILE_WORDS * sizeof(uint32_t))
#define TABLE_BYTES (SLOTS * SLOT)

static struct ashlar_source *source;
static CUstream stream;
static CUdeviceptr table;
static unsigned char *staging; /* maps, then indices; the device reads it */
static uint32_t *indices;
static CUfunction tiles;

/*
 * Each block takes the map of its number from the list, fetches the tile that
 * it describes, and counts the words that are not the block's. A map that was
 * written by another kernel is acquired first (see scatter_ptx.h).
 */
static const char tile_kernel[] =
    ".version 8.3\n"
    ".target sm_90\n"
    ".address_size 64\n"
    ".visible .entry tiles(.param .u64 table, .param .u64 indices,\n"
    "    .param .u32 stamp, .param .u64 wrong)\n"
    "{\n"
    "    .shared .align 128 .b8 tile[1024];\n"
    "    .shared .align 8 .b64 arrived;\n"
    "    .reg .pred %there, %same, %last;\n"
    "    .reg .b32 %block, %index, %word, %wanted, %left;\n"
    "    .reg .b32 %tile, %arrived, %zero;\n"
    "    .reg .b64 %list, %map, %wrong;\n"
    "    mov.u32 %block, %ctaid.x;\n"
    "    ld.param.u64 %list, [indices];\n"
    "    cvta.to.global.u64 %list, %list;\n"
    "    mad.wide.u32 %list, %block, 4, %list;\n"
    "    ld.global.u32 %index, [%list];\n"
    "    ld.param.u64 %map, [table];\n"
    "    mad.wide.u32 %map, %index, 128, %map;\n"
    "    mov.u32 %tile, tile;\n"
    "    mov.u32 %arrived, arrived;\n"
    "    mov.u32 %zero, 0;\n"
    "    mbarrier.init.shared::cta.b64 [%arrived], 1;\n"
    "    fence.proxy.async.shared::cta;\n"
    "    fence.proxy.tensormap::generic.acquire.gpu [%map], 128;\n"
    "    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%arrived], 1024;\n"
    "    cp.async.bulk.tensor.1d.shared::cluster.global.tile"
    ".mbarrier::complete_tx::bytes [%tile], [%map, {%zero}], [%arrived];\n"
    "wait:\n"
    "    mbarrier.try_wait.parity.shared::cta.b64 %there, [%arrived], 0;\n"
    "    @!%there bra wait;\n"
    "    ld.param.u32 %wanted, [stamp];\n"
    "    mad.lo.u32 %wanted, %block, 256, %wanted;\n"
    "    ld.param.u64 %wrong, [wrong];\n"
    "    cvta.to.global.u64 %wrong, %wrong;\n"
    "    mov.u32 %left, 256;\n"
    "next:\n"
    "    ld.shared.u32 %word, [%tile];\n"
    "    setp.eq.u32 %same, %word, %wanted;\n"
    "    @!%same red.global.add.u32 [%wrong], 1;\n"
    "    add.u32 %tile, %tile, 4;\n"
    "    add.u32 %wanted, %wanted, 1;\n"
    "    sub.u32 %left, %left, 1;\n"
    "    setp.ne.u32 %last, %left, 0;\n"
    "    @%last bra next;\n"
    "    ret;\n"
    "}\n";

static void start(void)
{
    void *pinned;

    card_start();
    OK(ashlar_source_open("cuda", NULL, &source));
    OK(source->ops.scatter_load(source->state));
    stream = card_stream();
    CU(cu.MemAlloc(&table, TABLE_BYTES));
    CU(cu.MemsetD8Async(table, 0, TABLE_BYTES, stream));
    CU(cu.MemHostAlloc(&pinned, MOST * (SLOT + sizeof(uint32_t)), 0));
    staging = pinned;
    indices = (uint32_t *)(void *)(staging + MOST * SLOT);
    CU(cu.StreamSynchronize(stream));
}

static void finish(void)
{
    OK(ashlar_source_close(source));
    CU(cu.MemFree(table));
    CU(cu.MemFreeHost(staging));
    CU(cu.StreamDestroy(stream));
}

static uint64_t number(const void *address)
{
    return (uint64_t)(uintptr_t)address;
}

static enum ashlar_status scatter(uint32_t count)
{
    return source->ops.scatter(source->state, table, number(staging),
                               number(indices), count, number(stream));
}

/* No two of so many are the same slot, whatever the turn. */
static uint32_t slot_of(uint32_t i, uint32_t turn)
{
    return (i * 2654435761u + turn * 40503u) % SLOTS;
}

/* --- bytes ----------------------------------------------------------------- */

static const uint32_t counts[] = {1, 2, 31, 32, 33, 64, MOST};

START_TEST(listed_slots_are_written_and_no_others)
{
    static unsigned char wanted[TABLE_BYTES];
    static unsigned char found[TABLE_BYTES];
    uint32_t i;

    memset(wanted, 0, sizeof(wanted));
    for (i = 0; i < counts[_i]; i++) {
        memset(staging + i * SLOT, (int)(i % 255 + 1), SLOT);
        memcpy(staging + i * SLOT, &i, sizeof(i));
        indices[i] = slot_of(i, 0);
        memcpy(wanted + indices[i] * SLOT, staging + i * SLOT, SLOT);
    }
    OK(scatter(counts[_i]));
    CU(cu.StreamSynchronize(stream));
    CU(cu.MemcpyDtoH(found, table, sizeof(found)));
    ck_assert_int_eq(memcmp(found, wanted, sizeof(found)), 0);
}
END_TEST

static uint32_t word_of(uint32_t slot)
{
    uint32_t word = 0;

    CU(cu.MemcpyDtoH(&word, table + slot * SLOT, sizeof(word)));
    return word;
}

static void list_one(uint32_t slot, int value)
{
    memset(staging, value, SLOT);
    indices[0] = slot;
}

START_TEST(a_scatter_behind_a_kernel_waits_for_it)
{
    CUdeviceptr elsewhere;

    CU(cu.MemAlloc(&elsewhere, SLOT));
    list_one(5, 1);
    card_spin(stream, elsewhere, SLOT);
    OK(scatter(1));
    ck_assert_uint_eq(word_of(5), 0);
    card_stop();
    CU(cu.StreamSynchronize(stream));
    ck_assert_uint_eq(word_of(5), 0x01010101);
    CU(cu.MemFree(elsewhere));
}
END_TEST

static const CUstreamCaptureMode modes[] = {CU_STREAM_CAPTURE_MODE_GLOBAL,
                                            CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                                            CU_STREAM_CAPTURE_MODE_RELAXED};

START_TEST(a_captured_scatter_is_done_at_each_replay)
{
    CUgraphExec executable;
    CUgraph graph;
    int i;

    CU(cu.StreamBeginCapture(stream, modes[_i]));
    OK(scatter(1));
    CU(cu.StreamEndCapture(stream, &graph));
    CU(cu.GraphInstantiate(&executable, graph, 0));
    for (i = 1; i < 4; i++) {
        list_one((uint32_t)i, i);
        CU(cu.GraphLaunch(executable, stream));
        CU(cu.StreamSynchronize(stream));
        ck_assert_uint_eq(word_of((uint32_t)i), 0x01010101u * (uint32_t)i);
    }
    CU(cu.GraphExecDestroy(executable));
    CU(cu.GraphDestroy(graph));
}
END_TEST

START_TEST(loading_disturbs_no_capture)
{
    struct ashlar_source *fresh;
    CUgraph graph;

    OK(ashlar_source_open("cuda", NULL, &fresh));
    CU(cu.StreamBeginCapture(stream, modes[_i]));
    OK(fresh->ops.scatter_load(fresh->state));
    CU(cu.StreamEndCapture(stream, &graph));
    CU(cu.GraphDestroy(graph));
    OK(ashlar_source_close(fresh));
}
END_TEST

/* The legacy stream waits for those that are made to heed it. */
START_TEST(a_scatter_spoils_no_capture_of_a_stream_that_it_would_wait_for)
{
    CUstream heeding;
    CUgraph graph;

    list_one(5, 1);
    CU(cu.StreamCreate(&heeding, CU_STREAM_DEFAULT));
    CU(cu.StreamBeginCapture(heeding, modes[_i]));
    ck_assert_int_eq(source->ops.scatter(source->state, table, number(staging),
                                         number(indices), 1, 0),
                     ASHLAR_ERR_CAPTURE);
    CU(cu.StreamEndCapture(heeding, &graph));
    CU(cu.GraphDestroy(graph));
    CU(cu.StreamDestroy(heeding));
    ck_assert_uint_eq(word_of(5), 0);
}
END_TEST

START_TEST(closing_gives_the_kernels_memory_back)
{
    struct ashlar_source *fresh;
    uint64_t before = 0;
    int i;

    for (i = 0; i < 100; i++) {
        OK(ashlar_source_open("cuda", NULL, &fresh));
        OK(fresh->ops.scatter_load(fresh->state));
        OK(ashlar_source_close(fresh));
        if (i == 0)
            before = card_free_bytes();
    }
    ck_assert_uint_ge(card_free_bytes() + 2 * MIB, before);
}
END_TEST

/* --- who goes by the maps -------------------------------------------------- */

/* The map of tile i of the data, where it is to be staged. */
static void encode(CUdeviceptr data, uint32_t i)
{
    const struct ashlar_spec spec = {.size = sizeof(spec),
                                     .address = data + i * TILE_BYTES,
                                     .dims = {TILE_WORDS},
                                     .box = {TILE_WORDS},
                                     .element_strides = {1},
                                     .rank = 1,
                                     .dtype = ASHLAR_SPEC_UINT32};

    OK(ashlar_tensormap_encode(source, &spec, staging + i * SLOT));
}

static uint32_t count_wrong(CUdeviceptr wrong, uint32_t stamp)
{
    CUdeviceptr list = number(indices);
    void *arguments[] = {&table, &list, &stamp, &wrong};
    uint32_t count = 0;

    CU(cu.MemsetD32Async(wrong, 0, 1, stream));
    CU(cu.LaunchKernel(tiles, MOST, 1, 1, 1, 1, 1, 0, stream, arguments, NULL));
    CU(cu.StreamSynchronize(stream));
    CU(cu.MemcpyDtoH(&count, wrong, sizeof(count)));
    return count;
}

/* Slots are written anew each turn, with the maps of other tiles. */
START_TEST(copies_go_by_the_maps_that_were_scattered_last)
{
    CUmodule module;
    CUdeviceptr data;
    CUdeviceptr wrong;
    uint32_t turn;
    uint32_t i;

    CU(cu.ModuleLoadData(&module, tile_kernel));
    CU(cu.ModuleGetFunction(&tiles, module, "tiles"));
    CU(cu.MemAlloc(&data, MOST * TILE_BYTES));
    CU(cu.MemAlloc(&wrong, sizeof(uint32_t)));
    card_fill(stream, data, MOST * TILE_BYTES, 77);
    for (i = 0; i < MOST; i++)
        encode(data, i);
    for (turn = 0; turn < 64; turn++) {
        for (i = 0; i < MOST; i++)
            indices[i] = slot_of(i, turn);
        OK(scatter(MOST));
        ck_assert_msg(count_wrong(wrong, 77) == 0, "turn %u", turn);
    }
    CU(cu.MemFree(wrong));
    CU(cu.MemFree(data));
}
END_TEST

/* --- speed ----------------------------------------------------------------- */

/* So many copies of neighbouring bytes. */
static void copy(uint32_t copies, uint64_t bytes)
{
    uint32_t i;

    for (i = 0; i < copies; i++)
        CU(cu.MemcpyAsync(table + slot_of(i, 0) * SLOT % (TABLE_BYTES - bytes),
                          number(staging) + i * bytes, bytes, stream));
}

static void copy_slots(uint32_t count)
{
    copy(count, SLOT);
}

static void copy_whole(uint32_t count)
{
    copy(1, count * SLOT);
}

static void scatter_slots(uint32_t count)
{
    OK(scatter(count));
}

struct job {
    void (*publish)(uint32_t);
    uint32_t count;
};

static void issue(void *user)
{
    const struct job *job = user;

    job->publish(job->count);
}

/* Three jobs that take turns. */
static void time_jobs(struct job *jobs, double *us)
{
    struct card_work works[3];
    size_t i;

    for (i = 0; i < 3; i++)
        works[i] = (struct card_work){.issue = issue, .user = &jobs[i]};
    card_times_us(stream, works, us, 3);
}

/* Says figures, and judges none. */
START_TEST(how_long_it_takes)
{
    struct job few[] = {{copy_slots, 1}, {copy_slots, 64}, {scatter_slots, 64}};
    struct job many[] = {
        {copy_whole, MOST}, {scatter_slots, MOST}, {scatter_slots, MOST}};
    double us[3];
    uint32_t i;

    for (i = 0; i < MOST; i++)
        indices[i] = slot_of(i, 0);
    time_jobs(few, us);
    printf("# one 128-byte copy %.1f us, 64 of them %.1f us, a scatter of 64 "
           "%.1f us: %.2f times one copy\n",
           us[0], us[1], us[2], us[2] / us[0]);
    time_jobs(many, us);
    printf("# one copy of 512 KiB %.1f us, a scatter of 4,096 %.1f us: %.2f "
           "times that\n",
           us[0], us[1], us[1] / us[0]);
    (void)fflush(stdout);
}
END_TEST

/* --------------------------------------------------------------------------- */

#define COUNT(_array) (int)(sizeof(_array) / sizeof((_array)[0]))

static Suite *card_scatter_suite(void)
{
    Suite *suite = suite_create("card_scatter");
    TCase *test = tcase_create("scatter");

    tcase_add_checked_fixture(test, start, finish);
    tcase_set_timeout(test, 120);
    tcase_add_loop_test(test, listed_slots_are_written_and_no_others, 0,
                        COUNT(counts));
    tcase_add_loop_test(test, a_captured_scatter_is_done_at_each_replay, 0,
                        COUNT(modes));
    tcase_add_loop_test(test, loading_disturbs_no_capture, 0, COUNT(modes));
    tcase_add_loop_test(
        test, a_scatter_spoils_no_capture_of_a_stream_that_it_would_wait_for, 0,
        COUNT(modes));
    tcase_add_test(test, closing_gives_the_kernels_memory_back);
    tcase_add_test(test, how_long_it_takes);
    suite_add_tcase(suite, test);

    test = tcase_create("beside other kernels");
    tcase_add_checked_fixture(test, start, finish);
    tcase_set_timeout(test, 120);
    tcase_add_test(test, a_scatter_behind_a_kernel_waits_for_it);
    tcase_add_test(test, copies_go_by_the_maps_that_were_scattered_last);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    const char *missing = card_missing();

    return missing != NULL ? suite_skip(missing)
                           : suite_run(card_scatter_suite());
}
