/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * The kernels of the tests on a card, as PTX, so that no compiler is needed.
 *
 *     fill(address, words, stamp)           word i becomes stamp + i
 *     wrong(address, words, stamp, count)   counts words that are not
 *     spin(flag, address, words)            writes until *flag is not 0, ten
 *                                           seconds at most
 */
#ifndef ASHLAR_TESTS_GPU_KERNELS_H
#define ASHLAR_TESTS_GPU_KERNELS_H

/* %rd4: this thread's word, %rd5: how many threads there are. */
#define KERNEL_WHO_AM_I                                                        \
    "    mov.u32 %r1, %ctaid.x;\n"                                             \
    "    mov.u32 %r2, %ntid.x;\n"                                              \
    "    mov.u32 %r3, %tid.x;\n"                                               \
    "    mad.lo.u32 %r4, %r1, %r2, %r3;\n"                                     \
    "    mov.u32 %r5, %nctaid.x;\n"                                            \
    "    mul.lo.u32 %r5, %r5, %r2;\n"                                          \
    "    cvt.u64.u32 %rd4, %r4;\n"                                             \
    "    cvt.u64.u32 %rd5, %r5;\n"

/* For each word of this thread's: %rd6 its address, %r6 what it should be. */
#define KERNEL_NEXT_WORD                                                       \
    "next:\n"                                                                  \
    "    setp.ge.u64 %p1, %rd4, %rd2;\n"                                       \
    "    @%p1 bra done;\n"                                                     \
    "    shl.b64 %rd6, %rd4, 2;\n"                                             \
    "    add.u64 %rd6, %rd6, %rd1;\n"                                          \
    "    cvt.u32.u64 %r6, %rd4;\n"                                             \
    "    add.u32 %r6, %r6, %r7;\n"                                             \
    "    add.u64 %rd4, %rd4, %rd5;\n"

#define KERNEL_REGISTERS                                                       \
    "    .reg .pred %p<4>;\n"                                                  \
    "    .reg .b32 %r<12>;\n"                                                  \
    "    .reg .b64 %rd<12>;\n"

static const char kernels[] =
    ".version 8.0\n"
    ".target sm_90\n"
    ".address_size 64\n"
    ".visible .entry fill(.param .u64 address, .param .u64 words,\n"
    "    .param .u32 stamp)\n"
    "{\n" KERNEL_REGISTERS "    ld.param.u64 %rd1, [address];\n"
    "    ld.param.u64 %rd2, [words];\n"
    "    ld.param.u32 %r7, [stamp];\n" KERNEL_WHO_AM_I KERNEL_NEXT_WORD
    "    st.global.u32 [%rd6], %r6;\n"
    "    bra next;\n"
    "done:\n"
    "    ret;\n"
    "}\n"
    ".visible .entry wrong(.param .u64 address, .param .u64 words,\n"
    "    .param .u32 stamp, .param .u64 count)\n"
    "{\n" KERNEL_REGISTERS "    ld.param.u64 %rd1, [address];\n"
    "    ld.param.u64 %rd2, [words];\n"
    "    ld.param.u32 %r7, [stamp];\n"
    "    ld.param.u64 %rd3, [count];\n" KERNEL_WHO_AM_I KERNEL_NEXT_WORD
    "    ld.global.u32 %r8, [%rd6];\n"
    "    setp.eq.u32 %p2, %r8, %r6;\n"
    "    @%p2 bra next;\n"
    "    red.global.add.u32 [%rd3], 1;\n"
    "    bra next;\n"
    "done:\n"
    "    ret;\n"
    "}\n"
    ".visible .entry spin(.param .u64 flag, .param .u64 address,\n"
    "    .param .u64 words)\n"
    "{\n" KERNEL_REGISTERS "    ld.param.u64 %rd3, [flag];\n"
    "    mov.u64 %rd8, %globaltimer;\n"
    "    add.u64 %rd8, %rd8, 10000000000;\n"
    "again:\n"
    "    ld.param.u64 %rd1, [address];\n"
    "    ld.param.u64 %rd2, [words];\n"
    "    mov.u32 %r7, 0;\n" KERNEL_WHO_AM_I KERNEL_NEXT_WORD
    "    st.volatile.global.u32 [%rd6], %r6;\n"
    "    bra next;\n"
    "done:\n"
    "    ld.volatile.global.u32 %r8, [%rd3];\n"
    "    setp.ne.u32 %p2, %r8, 0;\n"
    "    @%p2 bra stop;\n"
    "    mov.u64 %rd9, %globaltimer;\n"
    "    setp.lt.u64 %p3, %rd9, %rd8;\n"
    "    @%p3 bra again;\n"
    "stop:\n"
    "    ret;\n"
    "}\n";

#endif
