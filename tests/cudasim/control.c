/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* The functions for tests, of cudasim.h. */
#include "config.h"

#include <string.h>

#include "account.h"
#include "capture.h"
#include "entry.h"
#include "stream.h"

int cudasim_reset(const char *settings)
{
    struct settings read;

    if (settings_read(&read, settings) != 0)
        return -1;
    machine_lock();
    machine_clear();
    machine.settings = read;
    entry_fail_none();
    entry_count_none();
    machine_unlock();
    return 0;
}

int cudasim_fail_times(const char *entry, uint64_t nth, CUresult result,
                       uint64_t times)
{
    int ret;

    machine_lock();
    ret = entry_fail(entry, nth, result, times);
    machine_unlock();
    return ret;
}

int cudasim_fail(const char *entry, uint64_t nth, CUresult result, int forever)
{
    return cudasim_fail_times(entry, nth, result, forever ? UINT64_MAX : 1);
}

void cudasim_fail_none(void)
{
    machine_lock();
    entry_fail_none();
    machine_unlock();
}

uint64_t cudasim_calls(const char *entry)
{
    uint64_t calls;

    machine_lock();
    calls = entry_calls(entry);
    machine_unlock();
    return calls;
}

void cudasim_count_none(void)
{
    machine_lock();
    entry_count_none();
    machine_unlock();
}

int cudasim_hints(const char *policy)
{
    int ret;

    machine_lock();
    ret = settings_read_hints(&machine.settings.hints, policy);
    machine_unlock();
    return ret;
}

/* A stream as a test names it: NULL and 1 also without a current context, in the
 * primary one of device 0. */
static struct stream *find(CUstream handle)
{
    struct context *context;
    struct stream *stream;
    CUresult result;

    result = context_current(&context);
    if ((handle == NULL || handle == CU_STREAM_LEGACY) &&
        result != CUDA_SUCCESS) {
        context = context_primary(0);
        return context == NULL || !context->alive ? NULL
                                                  : stream_default(context);
    }
    return stream_resolve(handle, &stream) == CUDA_SUCCESS ? stream : NULL;
}

int cudasim_hold(CUstream handle)
{
    struct stream *stream;

    machine_lock();
    stream = find(handle);
    if (stream != NULL)
        stream->held = true;
    machine_unlock();
    return stream == NULL ? -1 : 0;
}

int cudasim_finish(CUstream handle)
{
    struct stream *stream;

    machine_lock();
    stream = find(handle);
    if (stream != NULL) {
        stream->held = machine.settings.held;
        stream_finish(stream);
    }
    leave(CUDA_SUCCESS);
    return stream == NULL ? -1 : 0;
}

void cudasim_finish_all(void)
{
    struct stream *stream;
    size_t i;

    machine_lock();
    for (i = 0; i < streams.count; i++) {
        stream = (struct stream *)streams.items[i];
        stream->held = machine.settings.held;
        stream_finish(stream);
    }
    leave(CUDA_SUCCESS);
}

int cudasim_touch(CUstream handle, CUdeviceptr address, size_t bytes, int write)
{
    struct action action = {.kind = ACTION_TOUCH,
                            .to = address,
                            .bytes = bytes,
                            .write = write != 0};
    struct stream *stream;
    CUresult result = CUDA_ERROR_INVALID_HANDLE;

    machine_lock();
    stream = find(handle);
    if (stream != NULL)
        result = capture_or_queue(stream, &action);
    machine_unlock();
    return result == CUDA_SUCCESS ? 0 : -1;
}

int cudasim_fail_context(CUdevice device, CUresult result)
{
    struct context *context = NULL;

    machine_lock();
    if (device >= 0 && (unsigned)device < machine.settings.devices &&
        result != CUDA_SUCCESS)
        context = context_primary(device);
    if (context != NULL && context->alive)
        context_fail(context, result);
    else
        context = NULL;
    machine_unlock();
    return context == NULL ? -1 : 0;
}

void cudasim_deinitialize(void)
{
    machine_lock();
    machine.gone = true;
    machine_unlock();
}

int cudasim_query(struct cudasim_account *account)
{
    struct cudasim_account full;
    size_t size = account->size;

    if (size < sizeof(size) || size > sizeof(full))
        return -1;
    machine_lock();
    account_take(&full);
    machine_unlock();
    full.size = size;
    memcpy(account, &full, size);
    return 0;
}

int cudasim_report(char *buffer, size_t bytes)
{
    int length;

    machine_lock();
    length = account_report(buffer, bytes);
    machine_unlock();
    return length;
}
