/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "check/content.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check/host.h"
#include "clock.h"

#define WAIT_NS (UINT64_C(10) * 1000000000)

static void *host_pointer(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

bool content_is_reachable(const struct subject *subject)
{
    return subject_can(subject, ASHLAR_CAN_HOST_ACCESS) ||
           subject_can(subject, ASHLAR_CAN_COPY);
}

/* --- waiting -------------------------------------------------------------- */

static bool wait_for(struct model *model, uint64_t fence)
{
    static const struct timespec pause = {0, 20000};
    struct subject *subject = model->subject;
    uint64_t begin = clock_ns();
    enum ashlar_status status;

    for (;;) {
        subject_begin(subject, "fence_query");
        status = subject->ops.fence_query(subject->state, fence);
        if (status != ASHLAR_ERR_BUSY)
            break;
        check_that(subject->report, CHECK_FENCES, host_status() == ASHLAR_OK,
                   "fence_query() set an error, but the fence has only not "
                   "passed yet");
        if (!check_that(subject->report, CHECK_FENCES,
                        clock_ns() - begin < WAIT_NS,
                        "a fence on stream 0 did not pass within 10 s"))
            return false;
        (void)nanosleep(&pause, NULL);
    }
    return model_expect(model, CHECK_FENCES,
                        subject_end(subject, "fence_query", status),
                        "fence_query()");
}

bool content_wait(struct model *model)
{
    struct subject *subject = model->subject;
    uint64_t fence;
    bool passed;

    if (!subject_can(subject, ASHLAR_CAN_FENCE))
        return true;
    if (!model_expect(model, CHECK_FENCES,
                      CALL(subject, fence_record, 0, &fence),
                      "fence_record() on stream 0"))
        return false;
    passed = wait_for(model, fence);
    subject_begin(subject, "fence_drop");
    subject->ops.fence_drop(subject->state, fence);
    return passed;
}

/* --- reading and writing -------------------------------------------------- */

static bool copy(struct model *model, uint64_t to, uint64_t from, size_t bytes)
{
    if (!model_expect(model, CHECK_COPY,
                      CALL(model->subject, copy, to, from, bytes, 0),
                      "copy() on stream 0"))
        return false;
    /* It is under way: the waiting has to succeed. */
    host_fail_nth(0);
    model->starved = false;
    return content_wait(model);
}

bool content_read(struct model *model, uint64_t address, void *buffer,
                  size_t bytes)
{
    if (!subject_can(model->subject, ASHLAR_CAN_HOST_ACCESS))
        return copy(model, (uint64_t)(uintptr_t)buffer, address, bytes);
    memcpy(buffer, host_pointer(address), bytes);
    return true;
}

bool content_write(struct model *model, uint64_t address, const void *buffer,
                   size_t bytes)
{
    if (!subject_can(model->subject, ASHLAR_CAN_HOST_ACCESS))
        return copy(model, address, (uint64_t)(uintptr_t)buffer, bytes);
    memcpy(host_pointer(address), buffer, bytes);
    return true;
}

/* --- stamps --------------------------------------------------------------- */

static bool stamp_granule(struct model *model, uint64_t address, uint64_t stamp)
{
    return content_write(model, address, &stamp, sizeof(stamp)) &&
           content_write(model, address + model->granule - sizeof(stamp),
                         &stamp, sizeof(stamp));
}

void content_stamp(struct model *model, uint32_t i)
{
    const struct model_mapping *mapping = &model->mappings[i];
    struct model_memory *memory = model->chunks[mapping->chunk].memory;
    uint64_t g;

    if (mapping->rights != ASHLAR_RIGHTS_READ_WRITE ||
        !content_is_reachable(model->subject))
        return;
    for (g = 0; g < mapping->bytes / model->granule; g++) {
        if (!stamp_granule(model, mapping->address + g * model->granule,
                           model->stamp + 1))
            return;
        memory->stamps[g] = ++model->stamp;
    }
}

static bool check_stamp(struct model *model, uint64_t address, uint64_t stamp)
{
    uint64_t found = 0;

    if (!content_read(model, address, &found, sizeof(found)))
        return false;
    if (check_that(model->subject->report, CHECK_CONTENTS, found == stamp,
                   "0x%" PRIx64 " was written, and 0x%" PRIx64
                   " is read at 0x%" PRIx64,
                   stamp, found, address))
        return true;
    model->broken = true;
    return false;
}

void content_check(struct model *model, uint32_t i)
{
    const struct model_mapping *mapping = &model->mappings[i];
    const struct model_memory *memory = model->chunks[mapping->chunk].memory;
    uint64_t address;
    uint64_t g;

    if (mapping->rights == ASHLAR_RIGHTS_NONE ||
        !content_is_reachable(model->subject))
        return;
    for (g = 0; g < mapping->bytes / model->granule; g++) {
        address = mapping->address + g * model->granule;
        if (memory->stamps[g] != 0 &&
            (!check_stamp(model, address, memory->stamps[g]) ||
             !check_stamp(model, address + model->granule - sizeof(uint64_t),
                          memory->stamps[g])))
            return;
    }
}

void content_copy(struct model *model, uint32_t to, uint32_t from)
{
    const struct model_mapping *target = &model->mappings[to];
    const struct model_mapping *source = &model->mappings[from];
    struct model_memory *memory = model->chunks[target->chunk].memory;
    const struct model_memory *other = model->chunks[source->chunk].memory;

    if (target->rights != ASHLAR_RIGHTS_READ_WRITE ||
        source->rights == ASHLAR_RIGHTS_NONE || memory == other)
        return;
    if (copy(model, target->address, source->address, model->granule))
        memory->stamps[0] = other->stamps[0];
    content_check(model, to);
}

/* --- rights --------------------------------------------------------------- */

/*
 * What the host may do at an address: the kernel reads a byte there, and writes
 * the same byte back, and returns an error where a program would die.
 */
static uint32_t probe(const struct model *model, uint64_t address)
{
    char drained;

    if (write(model->pipe[1], host_pointer(address), 1) != 1)
        return ASHLAR_RIGHTS_NONE;
    if (read(model->pipe[0], host_pointer(address), 1) == 1)
        return ASHLAR_RIGHTS_READ_WRITE;
    (void)!read(model->pipe[0], &drained, 1);
    return ASHLAR_RIGHTS_READ;
}

static const char *rights_text(uint32_t rights)
{
    return rights == ASHLAR_RIGHTS_NONE   ? "no rights"
           : rights == ASHLAR_RIGHTS_READ ? "the right to read"
                                          : "the right to read and write";
}

void content_check_rights(struct model *model, uint32_t i)
{
    const struct model_mapping *mapping = &model->mappings[i];
    uint64_t at[2] = {mapping->address, mapping->address + mapping->bytes - 1};
    uint32_t found;
    size_t k;

    if (!subject_can(model->subject, ASHLAR_CAN_HOST_ACCESS))
        return;
    for (k = 0; k < 2; k++) {
        found = probe(model, at[k]);
        if (check_that(model->subject->report, CHECK_RIGHTS,
                       found == mapping->rights,
                       "home was given %s, and the host has %s at 0x%" PRIx64,
                       rights_text(mapping->rights), rights_text(found), at[k]))
            continue;
        model->broken = true;
        return;
    }
}
