/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "support/engine.h"

#include <stdio.h>
#include <unistd.h>

#include "source/source.h"

const struct ashlar_plugin *engine_plugin(void)
{
    return &vm_plugin;
}

bool engine_is_vm(void)
{
    return true;
}

const char *engine_options(void)
{
    static char text[32];

    (void)snprintf(text, sizeof(text), "granule=%ld", sysconf(_SC_PAGESIZE));
    return text;
}

const char *engine_memory(uint64_t granules)
{
    static char text[48];

    (void)snprintf(text, sizeof(text), "memory=%lu",
                   (unsigned long)(granules * (uint64_t)sysconf(_SC_PAGESIZE)));
    return text;
}

enum ashlar_status engine_open(const char *more,
                               struct ashlar_source **source_out)
{
    char options[128];

    (void)snprintf(options, sizeof(options), "%s%s%s", engine_options(),
                   more == NULL ? "" : ",", more == NULL ? "" : more);
    return ashlar_source_open("vm", options, source_out);
}

enum ashlar_status engine_hold(struct ashlar_source *inner, uint64_t number)
{
    return ashlar_vm_hold(inner, number);
}

enum ashlar_status engine_finish(struct ashlar_source *inner, uint64_t number)
{
    return ashlar_vm_finish(inner, number);
}

void engine_prepare(uint64_t number)
{
    (void)number;
}

enum ashlar_status engine_rights(struct ashlar_source *inner, uint64_t address,
                                 uint32_t location, uint32_t *rights_out)
{
    return ashlar_vm_rights(inner, address, location, rights_out);
}

static struct ashlar_vm_account account_of(struct ashlar_source *inner)
{
    struct ashlar_vm_account account = ASHLAR_VM_ACCOUNT_INIT;

    (void)ashlar_vm_query(inner, &account);
    return account;
}

struct engine_bytes engine_bytes(struct ashlar_source *inner)
{
    struct ashlar_vm_account account = account_of(inner);

    return (struct engine_bytes){account.chunk_bytes, account.mapped_bytes};
}

const char *engine_differs(struct ashlar_source *inner,
                           const struct model *model)
{
    struct ashlar_vm_account account = account_of(inner);

    if (account.reservations != model->spaces.count)
        return "vm has other reservations";
    if (account.chunks != model->chunks.count)
        return "vm has other chunks";
    return account.mappings == model->mappings.count ? NULL
                                                     : "vm has other mappings";
}

const char *engine_left(struct ashlar_source *inner)
{
    struct ashlar_vm_account account = account_of(inner);

    if (account.reservations + account.chunks + account.mappings != 0)
        return "vm has given out memory or addresses";
    if (account.reserved_bytes + account.chunk_bytes + account.mapped_bytes !=
        0)
        return "vm counts bytes of nothing";
    if (account.fences != 0)
        return "vm has fences";
    return account.files == 0 ? NULL : "vm has files";
}

void engine_fail(uint64_t nth, uint64_t then, bool for_ever)
{
    (void)nth, (void)then, (void)for_ever;
}

bool engine_has_driver(void)
{
    return false;
}

uint64_t engine_lift(void)
{
    return 0;
}
