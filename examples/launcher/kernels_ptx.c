/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * The kernels. What each of their instructions is there for:
 *
 *     fence.proxy.tensormap   a map in global memory was written through the
 *                             generic proxy, and what reads maps has a cache of
 *                             its own in each SM, which may keep what was there
 *                             before: so in each block, before its first use of
 *                             the map. Of scope sys, as a copy from the host may
 *                             have written it. Parameters of the launch need
 *                             none.
 *     prefetch.tensormap      a hint: the map is fetched while the barrier is
 *                             made.
 *     fence.proxy.async       the barrier was initialised through the generic
 *                             proxy, and the copy completes on it through the
 *                             async proxy; and before the tile is read by the
 *                             async proxy, which is what a kernel needs that
 *                             writes to the tile.
 *     expect_tx               all bytes of the box: what is out of the tensor's
 *                             bounds is filled with zeros, and counted.
 *     wait_group              the tile has to stay until it was read, and the
 *                             kernel's end is to mean that it was written.
 *
 * One thread does it all, since the copies are the hardware's. Where more
 * threads read the tile, one issues, and all of them wait on the barrier,
 * behind a bar.sync that shows them that it is initialised.
 */
#include "kernels.h"

/* clang-format off */

#define REGISTERS                                                              \
    "    .reg .pred %p<4>;\n"                                                  \
    "    .reg .b32 %r<12>;\n"                                                  \
    "    .reg .b64 %rd<6>;\n"

/* %rd4: the table; %r5, %r6: indices. The maps, once they can be used. */
#define FIND_MAPS                                                              \
    "    mad.wide.u32 %rd1, %r5, 128, %rd4;\n"                                 \
    "    mad.wide.u32 %rd2, %r6, 128, %rd4;\n"                                 \
    "    fence.proxy.tensormap::generic.acquire.sys [%rd1], 128;\n"            \
    "    fence.proxy.tensormap::generic.acquire.sys [%rd2], 128;\n"

/* Where the tile begins, from which block of its matrix this one is. */
#define FIND_TILE(_across, _down)                                              \
    "    mov.u32 %r1, %ctaid." _across ";\n"                                   \
    "    mov.u32 %r2, %ctaid." _down ";\n"                                     \
    "    shl.b32 %r1, %r1, 5;\n"                                               \
    "    shl.b32 %r2, %r2, 5;\n"

/* %rd1, %rd2: addresses of the maps; %r1, %r2: the first column and row. */
#define COPY_TILE                                                              \
    "    prefetch.tensormap [%rd1];\n"                                         \
    "    prefetch.tensormap [%rd2];\n"                                         \
    "    mov.u32 %r3, tile;\n"                                                 \
    "    mov.u32 %r4, full;\n"                                                 \
    "    mbarrier.init.shared::cta.b64 [%r4], 1;\n"                            \
    "    fence.proxy.async.shared::cta;\n"                                     \
    "    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 4096;\n"          \
    "    cp.async.bulk.tensor.2d.shared::cluster.global.tile"                  \
         ".mbarrier::complete_tx::bytes [%r3], [%rd1, {%r1, %r2}], [%r4];\n"   \
    "wait:\n"                                                                  \
    "    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r4], 0;\n"            \
    "    @!%p1 bra wait;\n"                                                    \
    "    fence.proxy.async.shared::cta;\n"                                     \
    "    cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group"           \
         " [%rd2, {%r1, %r2}], [%r3];\n"                                       \
    "    cp.async.bulk.commit_group;\n"                                        \
    "    cp.async.bulk.wait_group 0;\n"                                        \
    "    ret;\n"

const char kernels_ptx[] =
    ".version 8.3\n"
    ".target sm_90\n"
    ".address_size 64\n"
    "\n"
    ".shared .align 128 .b8 tile[4096];\n"
    ".shared .align 8 .b64 full;\n"
    "\n"
    ".visible .entry nothing()\n"
    "{\n"
    "    ret;\n"
    "}\n"
    "\n"
    /* const __grid_constant__ CUtensorMap: a copy in a variable is no map. */
    ".visible .entry copy_by_value(.param .align 128 .b8 from[128],\n"
    "    .param .align 128 .b8 to[128])\n"
    "{\n"
    REGISTERS
    "    mov.b64 %rd3, from;\n"
    "    cvta.param.u64 %rd1, %rd3;\n"
    "    mov.b64 %rd3, to;\n"
    "    cvta.param.u64 %rd2, %rd3;\n"
    FIND_TILE("x", "y")
    COPY_TILE
    "}\n"
    "\n"
    ".visible .entry copy_by_index(.param .u64 table, .param .u32 from,\n"
    "    .param .u32 to)\n"
    "{\n"
    REGISTERS
    "    ld.param.u64 %rd4, [table];\n"
    "    ld.param.u32 %r5, [from];\n"
    "    ld.param.u32 %r6, [to];\n"
    FIND_MAPS
    FIND_TILE("x", "y")
    COPY_TILE
    "}\n"
    "\n"
    /* Block (i, x, y) has tile (x, y) of job i, if there is one. */
    ".visible .entry copy_grouped(.param .u64 table, .param .u64 jobs)\n"
    "{\n"
    REGISTERS
    "    ld.param.u64 %rd4, [table];\n"
    "    ld.param.u64 %rd5, [jobs];\n"
    "    mov.u32 %r9, %ctaid.x;\n"
    "    mad.wide.u32 %rd5, %r9, 16, %rd5;\n"
    "    ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%rd5];\n"
    "    mov.u32 %r10, %ctaid.y;\n"
    "    mov.u32 %r11, %ctaid.z;\n"
    "    setp.ge.u32 %p2, %r10, %r7;\n"
    "    setp.ge.u32 %p3, %r11, %r8;\n"
    "    or.pred %p2, %p2, %p3;\n"
    "    @%p2 ret;\n"
    FIND_MAPS
    FIND_TILE("y", "z")
    COPY_TILE
    "}\n";
