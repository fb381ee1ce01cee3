/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* The process's budget for addresses: nearly free, but not endless. */
#include "config.h"

#include <ashlar/range.h>

#include "base/error.h"
#include "source/call.h"

#define DEFAULT_BUDGET (UINT64_C(16) << 40)

static uint64_t budget = DEFAULT_BUDGET;
static uint64_t taken;

uint64_t source_budget_left(void)
{
    uint64_t most = __atomic_load_n(&budget, __ATOMIC_RELAXED);
    uint64_t now = __atomic_load_n(&taken, __ATOMIC_RELAXED);

    return most > now ? most - now : 0;
}

static bool budget_take(uint64_t bytes)
{
    uint64_t most = __atomic_load_n(&budget, __ATOMIC_RELAXED);
    uint64_t now = __atomic_load_n(&taken, __ATOMIC_RELAXED);

    do {
        if (now > most || bytes > most - now)
            return false;
    } while (!__atomic_compare_exchange_n(&taken, &now, now + bytes, true,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return true;
}

void source_forget(uint64_t bytes)
{
    __atomic_fetch_sub(&taken, bytes, __ATOMIC_RELAXED);
}

enum ashlar_status source_reserve(struct ashlar_source *source, uint64_t bytes,
                                  uint64_t alignment, uint64_t hint,
                                  uint64_t *address_out)
{
    enum ashlar_status status;
    uint64_t address = 0;
    uint64_t begin;

    if (!budget_take(bytes))
        return error_set(ASHLAR_ERR_NO_ADDRESS_SPACE,
                         "%lu bytes of addresses are more than the %lu left of "
                         "the process's budget; see "
                         "ashlar_range_set_address_budget()",
                         (unsigned long)bytes,
                         (unsigned long)source_budget_left());
    begin = source_call_begin(source);
    status = source_call_end(
        &source->calls.reserve, begin,
        source->ops.reserve(source->state, bytes, alignment, hint, &address));
    if (status == ASHLAR_OK)
        *address_out = address;
    else
        source_forget(bytes);
    return status;
}

enum ashlar_status source_release(struct ashlar_source *source,
                                  uint64_t address, uint64_t bytes)
{
    uint64_t begin = source_call_begin(source);
    enum ashlar_status status =
        source_call_end(&source->calls.release, begin,
                        source->ops.release(source->state, address, bytes));

    if (status == ASHLAR_OK || source_is_gone(status))
        source_forget(bytes);
    return status;
}

uint64_t ashlar_range_set_address_budget(uint64_t bytes)
{
    return __atomic_exchange_n(&budget, bytes == 0 ? DEFAULT_BUDGET : bytes,
                               __ATOMIC_RELAXED);
}
