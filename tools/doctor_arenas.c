/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "doctor.h"

#include <ashlar/arena.h>
#include <ashlar/source.h>
#include <ashlar/status.h>

#define RESERVE_BYTES ((uint64_t)64 << 20)

/* What settings and builds of jemalloc stand in the way of, is seen by trying. */
static void try_arena(struct findings *findings, struct ashlar_source *vm)
{
    struct ashlar_arena_options options = ASHLAR_ARENA_OPTIONS_INIT;
    struct ashlar_arena *arena = NULL;

    options.source = vm;
    options.reserve_bytes = RESERVE_BYTES;
    if (ashlar_arena_create(&options, &arena) == ASHLAR_OK) {
        findings_add(findings, FINDING_OK, "arenas",
                     "jemalloc manages memory of ranges");
        (void)ashlar_arena_destroy(arena, 0);
        return;
    }
    findings_add(findings, FINDING_NOTE, "arenas", "%s",
                 ashlar_last_error_message());
    findings_advise(findings, "until then only the heap has arenas");
}

void doctor_arenas(struct findings *findings)
{
    struct ashlar_source *vm = NULL;

    if (ashlar_source_open("vm", NULL, &vm) != ASHLAR_OK)
        return; /* doctor_sources() says why */
    try_arena(findings, vm);
    (void)ashlar_source_close(vm);
}
