/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * A stack of pointers to slots: the least that an allocator can be.
 */
#ifndef BENCH_STACK_H
#define BENCH_STACK_H

#include "../harness/driver.h"

#include <ashlar/export.h>

struct stack {
    size_t count;
    size_t capacity;
    void **slots;
};

/* All slots are made at once, and are not touched. */
static inline void stack_fill(struct stack *stack, size_t slots)
{
    char *base = (char *)bench_map_untouched(slots * BENCH_SLOT, 0);

    stack->slots = (void **)bench_map_untouched(slots * sizeof(void *), 0);
    stack->capacity = slots;
    stack->count = slots;
    for (size_t i = 0; i < slots; i++)
        stack->slots[i] = base + (slots - 1 - i) * BENCH_SLOT;
}

/* 1 when there were n. */
BENCH_INLINE int stack_get(struct stack *stack, void **slots, unsigned n)
{
    if (__builtin_expect(stack->count < n, 0))
        return 0;
    stack->count -= n;
    bench_copy(slots, stack->slots + stack->count, n);
    return 1;
}

/* 1 when there was room. */
BENCH_INLINE int stack_put(struct stack *stack, void *const *slots, unsigned n)
{
    if (__builtin_expect(stack->count + n > stack->capacity, 0))
        return 0;
    bench_copy(stack->slots + stack->count, slots, n);
    stack->count += n;
    return 1;
}

/* The same stack behind calls into a shared library, by handle, called the way
 * that ashlar is. */
struct stack *stack_library_open(size_t slots);
void *stack_library_get(struct stack *stack) ASHLAR_NO_PLT;
int stack_library_put(struct stack *stack, void *slot) ASHLAR_NO_PLT;
int stack_library_get_bulk(struct stack *stack, void **slots,
                           unsigned n) ASHLAR_NO_PLT;
int stack_library_put_bulk(struct stack *stack, void *const *slots,
                           unsigned n) ASHLAR_NO_PLT;

#endif
