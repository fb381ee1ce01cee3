/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "action.h"

#include <stdlib.h>
#include <string.h>

#include "entry.h"
#include "event.h"
#include "graph.h"
#include "space.h"

static void *at(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

/* Memory of the program's own is not looked at: it has no rights here. */
static bool allowed(int device, uint64_t address, uint64_t bytes, bool write)
{
    return !space_contains(address) ||
           space_reachable(device, address, bytes, write);
}

static CUresult copy(const struct action *action, int device)
{
    const void *from =
        action->staged != NULL ? action->staged : at(action->from);

    if (!allowed(device, action->to, action->bytes, true) ||
        (action->staged == NULL &&
         !allowed(device, action->from, action->bytes, false)))
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    memmove(at(action->to), from, action->bytes);
    return CUDA_SUCCESS;
}

static CUresult fill(const struct action *action, int device)
{
    unsigned char *to = at(action->to);
    uint64_t i;

    if (!allowed(device, action->to, action->bytes, true))
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    if (action->width == 1) {
        memset(to, (int)(action->value & 0xff), action->bytes);
        return CUDA_SUCCESS;
    }
    for (i = 0; i < action->bytes; i += action->width)
        memcpy(to + i, &action->value, action->width);
    return CUDA_SUCCESS;
}

CUresult action_run(const struct action *action, int device,
                    struct moment moment)
{
    switch (action->kind) {
    case ACTION_COPY:
        return copy(action, device);
    case ACTION_FILL:
        return fill(action, device);
    case ACTION_TOUCH:
        return space_reachable(device, action->to, action->bytes, action->write)
                   ? CUDA_SUCCESS
                   : CUDA_ERROR_ILLEGAL_ADDRESS;
    case ACTION_CALL:
        call_back(action->function, action->user);
        return CUDA_SUCCESS;
    case ACTION_KERNEL:
        return kernel_run(&action->launch, device);
    case ACTION_RECORD:
        event_passed(action->event, moment);
        return CUDA_SUCCESS;
    case ACTION_WAIT:
        return CUDA_SUCCESS;
    case ACTION_GRAPH:
        return graph_exec_run(action->exec, device, moment);
    }
    return CUDA_SUCCESS;
}

bool action_calls(const struct action *action)
{
    return action->kind == ACTION_CALL ||
           (action->kind == ACTION_GRAPH &&
            graph_exec_any(action->exec, action_calls));
}

bool action_lasts(const struct action *action)
{
    return action->kind == ACTION_TOUCH ||
           (action->kind == ACTION_GRAPH &&
            graph_exec_any(action->exec, action_lasts));
}

void action_release(struct action *action)
{
    free(action->staged);
    if (action->kind == ACTION_GRAPH)
        graph_exec_put(action->exec);
}
