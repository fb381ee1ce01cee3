/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The kernel that scatters tensor maps, as PTX: the driver compiles it, so the
 * build needs no nvcc.
 *
 *     thread          0     1         7     8    ...   15
 *     staging      [ 16 B  16 B ... 16 B ][ 16 B ... 16 B ] ...   map by map
 *                    └─────── slot ─────┘   └── slot ───┘
 *     table           indices[0] * 128       indices[1] * 128
 *
 * A map is 128 bytes, and eight neighbouring threads write it, 16 bytes each.
 * Threads beyond the last map do nothing.
 *
 * The fence at the end: a map is written through the generic proxy, and read by
 * the copies that use it through that of tensor maps. What orders the two is a
 * release of who writes and an acquire of who reads; that one kernel ends before
 * the other begins does not, says the PTX manual ("Causality order"). Here is the
 * release, in the scope of the system, since peers may read the table. The
 * acquire is the reading kernel's, as CUDA's programming guide asks for any map in
 * global memory ("Using TMA to transfer multi-dimensional arrays"). Both came
 * with PTX 8.3, in CUDA 12.3.
 */
#ifndef ASHLAR_PLUGINS_CUDA_SCATTER_PTX_H
#define ASHLAR_PLUGINS_CUDA_SCATTER_PTX_H

/** What the kernel needs: the driver's version, the device's capability. */
#define CUDA_SCATTER_DRIVER     12030
#define CUDA_SCATTER_CAPABILITY 9

/** Its name, and how many of its threads write a map. */
#define CUDA_SCATTER_KERNEL          "ashlar_scatter"
#define CUDA_SCATTER_THREADS_PER_MAP 8

/* clang-format off */
static const char cuda_scatter_ptx[] =
    ".version 8.3\n"
    ".target sm_90\n"
    ".address_size 64\n"
    "\n"
    ".visible .entry ashlar_scatter(\n"
    "    .param .u64 table,\n"
    "    .param .u64 staging,\n"
    "    .param .u64 indices,\n"
    "    .param .u32 count)\n"
    "{\n"
    "    .reg .pred %beyond;\n"
    "    .reg .b32 %block, %threads, %thread, %index;\n"
    "    .reg .b64 %piece, %map, %last, %from, %to, %low, %high;\n"
    "\n"
    "    // piece: which 16 bytes; map: which map they are of\n"
    "    mov.u32 %block, %ctaid.x;\n"
    "    mov.u32 %threads, %ntid.x;\n"
    "    mov.u32 %thread, %tid.x;\n"
    "    cvt.u64.u32 %piece, %thread;\n"
    "    mad.wide.u32 %piece, %block, %threads, %piece;\n"
    "    shr.u64 %map, %piece, 3;\n"
    "    ld.param.u32 %last, [count];\n"
    "    setp.ge.u64 %beyond, %map, %last;\n"
    "    @%beyond bra done;\n"
    "\n"
    "    // from = staging + piece * 16\n"
    "    ld.param.u64 %from, [staging];\n"
    "    cvta.to.global.u64 %from, %from;\n"
    "    shl.b64 %to, %piece, 4;\n"
    "    add.u64 %from, %from, %to;\n"
    "    ld.global.v2.b64 {%low, %high}, [%from];\n"
    "\n"
    "    // to = table + indices[map] * 128 + piece % 8 * 16\n"
    "    ld.param.u64 %to, [indices];\n"
    "    cvta.to.global.u64 %to, %to;\n"
    "    shl.b64 %map, %map, 2;\n"
    "    add.u64 %to, %to, %map;\n"
    "    ld.global.u32 %index, [%to];\n"
    "    ld.param.u64 %to, [table];\n"
    "    cvta.to.global.u64 %to, %to;\n"
    "    mad.wide.u32 %to, %index, 128, %to;\n"
    "    and.b64 %piece, %piece, 7;\n"
    "    shl.b64 %piece, %piece, 4;\n"
    "    add.u64 %to, %to, %piece;\n"
    "    st.global.v2.b64 [%to], {%low, %high};\n"
    "    fence.proxy.tensormap::generic.release.sys;\n"
    "done:\n"
    "    ret;\n"
    "}\n";
/* clang-format on */

#endif
