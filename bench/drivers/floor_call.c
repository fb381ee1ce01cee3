/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * Floor: a stack of pointers in a shared library, one per thread, found by
 * handle: what a call into a library costs, whatever is in it.
 */
#include "stack.h"

#define DRIVER_CAN (BENCH_CAN_THREADS | BENCH_CAN_COLD)

static __thread struct stack *stack;
static size_t capacity;

static const char *driver_version(void)
{
    return "";
}

static void driver_begin(size_t slots)
{
    capacity = slots;
}

static void driver_thread_begin(void)
{
    stack = stack_library_open(capacity);
}

static void driver_thread_end(void)
{
}

BENCH_INLINE void driver_get(void **slots, unsigned n)
{
    int got;

    if (n == 1) {
        slots[0] = stack_library_get(stack);
        got = slots[0] != NULL;
    } else {
        got = stack_library_get_bulk(stack, slots, n);
    }
    if (__builtin_expect(!got, 0))
        bench_die("the stack is empty");
}

BENCH_INLINE void driver_put(void **slots, unsigned n)
{
    int put = n == 1 ? stack_library_put(stack, slots[0])
                     : stack_library_put_bulk(stack, slots, n);

    if (__builtin_expect(!put, 0))
        bench_die("the stack is full");
}

#include "../harness/loops.h"
