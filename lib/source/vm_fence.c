/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Streams of the vm source, whose work its caller finishes by hand. */
#include "config.h"

#include "base/error.h"
#include "base/options.h"
#include "source/source.h"
#include "source/vm.h"

/* With the lock held: a stream's record, made when `make` says so. */
static struct vm_stream *stream_of(struct vm *vm, uint64_t number, bool make)
{
    struct vm_stream *stream = vm->streams;

    while (stream != NULL && stream->stream != number)
        stream = stream->next;
    if (stream != NULL || !make)
        return stream;
    stream = vm->host->alloc(sizeof(*stream));
    if (stream != NULL) {
        stream->stream = number;
        stream->next = vm->streams;
        vm->streams = stream;
    }
    return stream;
}

enum ashlar_status vm_fence_record(void *state, uint64_t number,
                                   uint64_t *fence_out)
{
    struct vm *vm = state;
    struct vm_fence *fence = vm->host->alloc(sizeof(*fence));
    struct vm_stream *stream;

    if (fence == NULL)
        return vm_no_records(vm);
    lock_take(&vm->lock);
    stream = stream_of(vm, number, false);
    if (stream != NULL && stream->finished != stream->queued) {
        fence->stream = stream;
        fence->target = stream->queued;
    }
    vm->account.fences++;
    lock_give(&vm->lock);
    *fence_out = (uint64_t)(uintptr_t)fence;
    return ASHLAR_OK;
}

enum ashlar_status vm_fence_query(void *state, uint64_t handle)
{
    struct vm *vm = state;
    struct vm_fence *fence = (struct vm_fence *)(uintptr_t)handle;
    bool passed;

    lock_take(&vm->lock);
    passed = fence->stream == NULL || fence->stream->finished >= fence->target;
    lock_give(&vm->lock);
    return passed ? ASHLAR_OK : ASHLAR_ERR_BUSY;
}

void vm_fence_drop(void *state, uint64_t handle)
{
    struct vm *vm = state;

    lock_take(&vm->lock);
    vm->account.fences--;
    lock_give(&vm->lock);
    vm->host->free((void *)(uintptr_t)handle);
}

/* --- what a caller does by hand ------------------------------------------- */

/* The vm source behind a source; NULL with the error set for another kind. */
static struct vm *vm_of(struct ashlar_source *source, const char *call)
{
    if (source_check(source, call) != ASHLAR_OK)
        return NULL;
    if (source->ops.open == vm_plugin.open)
        return source->state;
    return error_null(ASHLAR_ERR_INVALID,
                      "%s was given the source \"%s\"; it is for \"vm\"", call,
                      source->name);
}

enum ashlar_status ashlar_vm_hold(struct ashlar_source *source, uint64_t number)
{
    struct vm *vm = vm_of(source, "ashlar_vm_hold()");
    struct vm_stream *stream;

    if (vm == NULL)
        return ashlar_last_error();
    lock_take(&vm->lock);
    stream = stream_of(vm, number, true);
    if (stream != NULL)
        stream->queued++;
    lock_give(&vm->lock);
    return stream != NULL ? ASHLAR_OK : vm_no_records(vm);
}

enum ashlar_status ashlar_vm_finish(struct ashlar_source *source,
                                    uint64_t number)
{
    struct vm *vm = vm_of(source, "ashlar_vm_finish()");
    struct vm_stream *stream;

    if (vm == NULL)
        return ashlar_last_error();
    lock_take(&vm->lock);
    stream = stream_of(vm, number, false);
    if (stream != NULL)
        stream->finished = stream->queued;
    lock_give(&vm->lock);
    return ASHLAR_OK;
}

enum ashlar_status ashlar_vm_rights(struct ashlar_source *source,
                                    uint64_t address, uint32_t location,
                                    uint32_t *rights_out)
{
    struct vm *vm = vm_of(source, "ashlar_vm_rights()");

    if (vm == NULL)
        return ashlar_last_error();
    if (location >= ASHLAR_VM_LOCATIONS || rights_out == NULL)
        return error_set(ASHLAR_ERR_INVALID,
                         "location is %u, and must be below %u; rights_out "
                         "must not be NULL",
                         location, ASHLAR_VM_LOCATIONS);
    return vm_rights_at(vm, address, location, rights_out);
}

enum ashlar_status ashlar_vm_query(struct ashlar_source *source,
                                   struct ashlar_vm_account *account)
{
    struct vm *vm = vm_of(source, "ashlar_vm_query()");
    struct ashlar_vm_account own;
    const struct vm_file *file;

    if (vm == NULL)
        return ashlar_last_error();
    if (account == NULL)
        return error_set(ASHLAR_ERR_INVALID,
                         "ashlar_vm_query() was given NULL for account");
    lock_take(&vm->lock);
    own = vm->account;
    for (file = vm->files; file != NULL; file = file->next)
        own.files++;
    lock_give(&vm->lock);
    own.size = sizeof(own);
    own.huge = vm->huge_state;
    own.huge_page_bytes = vm->huge_page_bytes;
    if (vm->huge && !vm_huge_count(vm, &own.huge_bytes))
        own.huge = ASHLAR_VM_HUGE_UNKNOWN;
    return result_write(account, &own, sizeof(own), "struct ashlar_vm_account");
}
