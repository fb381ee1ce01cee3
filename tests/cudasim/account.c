/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "account.h"

#include <stdio.h>
#include <string.h>

#include "context.h"
#include "event.h"
#include "graph.h"
#include "module.h"
#include "space.h"
#include "stream.h"

static void count_reservations(struct cudasim_account *account)
{
    const struct reservation *reservation;
    size_t i;

    for (i = 0; i < reservations.count; i++) {
        reservation = (const struct reservation *)reservations.items[i];
        if (reservation->kind == RESERVED) {
            account->reservations++;
            account->reserved_bytes += reservation->span.bytes;
        } else {
            account->allocations++;
            account->allocated_bytes += reservation->used;
        }
    }
}

static void count_memory(struct cudasim_account *account)
{
    const struct physical *physical;
    const struct mapping *mapping;
    size_t i;

    for (i = 0; i < physicals.count; i++) {
        physical = (const struct physical *)physicals.items[i];
        if (physical->plain)
            continue;
        account->handles++;
        account->references += physical->references;
        account->handle_bytes += physical->bytes;
    }
    for (i = 0; i < mappings.count; i++) {
        mapping = (const struct mapping *)mappings.items[i];
        if (mapping->physical->plain)
            continue;
        account->mappings++;
        account->mapped_bytes += mapping->span.bytes;
        account->accesses += space_rights(mapping);
    }
}

/* Without the default streams, which nobody created. */
static void count_streams(struct cudasim_account *account)
{
    const struct stream *stream;
    size_t i;

    for (i = 0; i < streams.count; i++) {
        stream = (const struct stream *)streams.items[i];
        account->streams +=
            !stream->legacy && stream->thread == 0 && !stream->destroyed;
    }
}

/* Without the graphs that are being captured. */
static void count_graphs(struct cudasim_account *account)
{
    size_t i;

    for (i = 0; i < graphs.count; i++)
        account->graphs += !((const struct graph *)graphs.items[i])->capturing;
    account->graph_execs = graph_execs.count;
    account->user_objects = user_objects.count;
}

void account_take(struct cudasim_account *account)
{
    memset(account, 0, sizeof(*account));
    account->size = sizeof(*account);
    count_reservations(account);
    count_memory(account);
    count_streams(account);
    count_graphs(account);
    account->events = events.count;
    account->fds = physical_fds();
    account->contexts_retained = context_retained();
    account->modules = modules.count;
    account->bogus_handles = machine.bogus;
}

/* Append "cudasim: streams: 3 left" and what else there is to say of them. */
static void line(char *buffer, size_t bytes, int *length, const char *what,
                 uint64_t count, uint64_t size)
{
    size_t used = (size_t)*length < bytes ? (size_t)*length : bytes;
    char detail[32] = "";

    if (count == 0)
        return;
    if (size != 0)
        snprintf(detail, sizeof(detail), " (%llu bytes)",
                 (unsigned long long)size);
    *length += snprintf(used < bytes ? buffer + used : NULL, bytes - used,
                        "cudasim: %s: %llu left%s\n", what,
                        (unsigned long long)count, detail);
}

int account_report(char *buffer, size_t bytes)
{
    struct cudasim_account left;
    int length = 0;

    account_take(&left);
    if (bytes > 0)
        buffer[0] = '\0';
    line(buffer, bytes, &length, "reservations", left.reservations,
         left.reserved_bytes);
    line(buffer, bytes, &length, "mappings", left.mappings, left.mapped_bytes);
    line(buffer, bytes, &length, "handles", left.handles, left.handle_bytes);
    line(buffer, bytes, &length, "allocations", left.allocations,
         left.allocated_bytes);
    line(buffer, bytes, &length, "streams", left.streams, 0);
    line(buffer, bytes, &length, "events", left.events, 0);
    line(buffer, bytes, &length, "graphs", left.graphs, 0);
    line(buffer, bytes, &length, "executable graphs", left.graph_execs, 0);
    line(buffer, bytes, &length, "user objects", left.user_objects, 0);
    line(buffer, bytes, &length, "modules", left.modules, 0);
    line(buffer, bytes, &length, "retained primary contexts",
         left.contexts_retained, 0);
    return length;
}
