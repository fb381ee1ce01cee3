/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * Floor: a stack of pointers, inline, one per thread.
 */
#include "../harness/driver.h"
#include "stack.h"

#define DRIVER_CAN (BENCH_CAN_THREADS | BENCH_CAN_COLD)

static __thread struct stack stack;
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
    stack_fill(&stack, capacity);
}

static void driver_thread_end(void)
{
}

BENCH_INLINE void driver_get(void **slots, unsigned n)
{
    if (__builtin_expect(!stack_get(&stack, slots, n), 0))
        bench_die("the stack is empty");
}

BENCH_INLINE void driver_put(void **slots, unsigned n)
{
    if (__builtin_expect(!stack_put(&stack, slots, n), 0))
        bench_die("the stack is full");
}

#include "../harness/loops.h"
