/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "stack.h"

#include <stdlib.h>

struct stack *stack_library_open(size_t slots)
{
    struct stack *stack = malloc(sizeof(*stack));

    if (stack != NULL)
        stack_fill(stack, slots);
    return stack;
}

void *stack_library_get(struct stack *stack)
{
    void *slot;

    return stack_get(stack, &slot, 1) ? slot : NULL;
}

int stack_library_put(struct stack *stack, void *slot)
{
    return stack_put(stack, &slot, 1);
}

int stack_library_get_bulk(struct stack *stack, void **slots, unsigned n)
{
    return stack_get(stack, slots, n);
}

int stack_library_put_bulk(struct stack *stack, void *const *slots, unsigned n)
{
    return stack_put(stack, slots, n);
}
