/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* The results by name: those that this driver gives, and those that a test may
 * want it to give. */
#include "config.h"

#include <stddef.h>

#include "entry.h"

#define RESULT(_name) CUDA_##_name, "CUDA_" #_name

static const struct {
    CUresult result;
    const char *name;
    const char *text;
} results[] = {
    {RESULT(SUCCESS), "no error"},
    {RESULT(ERROR_INVALID_VALUE), "invalid argument"},
    {RESULT(ERROR_OUT_OF_MEMORY), "out of memory"},
    {RESULT(ERROR_NOT_INITIALIZED), "initialization error"},
    {RESULT(ERROR_DEINITIALIZED), "driver shutting down"},
    {RESULT(ERROR_DEVICE_UNAVAILABLE), "CUDA-capable device(s) is/are busy"},
    {RESULT(ERROR_NO_DEVICE), "no CUDA-capable device is detected"},
    {RESULT(ERROR_INVALID_DEVICE), "invalid device ordinal"},
    {RESULT(ERROR_INVALID_IMAGE), "device kernel image is invalid"},
    {RESULT(ERROR_INVALID_CONTEXT), "invalid device context"},
    {RESULT(ERROR_MAP_FAILED), "mapping of buffer object failed"},
    {RESULT(ERROR_NO_BINARY_FOR_GPU),
     "no kernel image is available for execution on the device"},
    {RESULT(ERROR_ECC_UNCORRECTABLE), "uncorrectable ECC error encountered"},
    {RESULT(ERROR_PEER_ACCESS_UNSUPPORTED),
     "peer access is not supported between these two devices"},
    {RESULT(ERROR_INVALID_PTX), "a PTX JIT compilation failed"},
    {RESULT(ERROR_UNSUPPORTED_PTX_VERSION),
     "the provided PTX was compiled with an unsupported toolchain."},
    {RESULT(ERROR_OPERATING_SYSTEM), "OS call failed or not supported"},
    {RESULT(ERROR_INVALID_HANDLE), "invalid resource handle"},
    {RESULT(ERROR_ILLEGAL_STATE),
     "the operation cannot be performed in the present state"},
    {RESULT(ERROR_NOT_FOUND), "named symbol not found"},
    {RESULT(ERROR_NOT_READY), "device not ready"},
    {RESULT(ERROR_ILLEGAL_ADDRESS), "an illegal memory access was encountered"},
    {RESULT(ERROR_LAUNCH_OUT_OF_RESOURCES),
     "too many resources requested for launch"},
    {RESULT(ERROR_LAUNCH_TIMEOUT), "the launch timed out and was terminated"},
    {RESULT(ERROR_PEER_ACCESS_ALREADY_ENABLED),
     "peer access is already enabled"},
    {RESULT(ERROR_CONTEXT_IS_DESTROYED), "context is destroyed"},
    {RESULT(ERROR_ASSERT), "device-side assert triggered"},
    {RESULT(ERROR_HARDWARE_STACK_ERROR), "hardware stack error"},
    {RESULT(ERROR_ILLEGAL_INSTRUCTION),
     "an illegal instruction was encountered"},
    {RESULT(ERROR_MISALIGNED_ADDRESS), "misaligned address"},
    {RESULT(ERROR_LAUNCH_FAILED), "unspecified launch failure"},
    {RESULT(ERROR_NOT_PERMITTED), "operation not permitted"},
    {RESULT(ERROR_NOT_SUPPORTED), "operation not supported"},
    {RESULT(ERROR_SYSTEM_NOT_READY), "system not yet initialized"},
    {RESULT(ERROR_SYSTEM_DRIVER_MISMATCH),
     "system has unsupported display driver / cuda driver combination"},
    {RESULT(ERROR_STREAM_CAPTURE_UNSUPPORTED),
     "operation not permitted when stream is capturing"},
    {RESULT(ERROR_STREAM_CAPTURE_INVALIDATED),
     "operation failed due to a previous error during capture"},
    {RESULT(ERROR_STREAM_CAPTURE_MERGE),
     "operation would result in a merge of separate capture sequences"},
    {RESULT(ERROR_STREAM_CAPTURE_UNMATCHED),
     "capture was not ended in the same stream as it began"},
    {RESULT(ERROR_STREAM_CAPTURE_UNJOINED),
     "capturing stream has unjoined work"},
    {RESULT(ERROR_STREAM_CAPTURE_ISOLATION),
     "dependency created on uncaptured work in another stream"},
    {RESULT(ERROR_STREAM_CAPTURE_IMPLICIT),
     "operation would make the legacy stream depend on a capturing blocking "
     "stream"},
    {RESULT(ERROR_CAPTURED_EVENT),
     "operation not permitted on an event last recorded in a capturing stream"},
    {RESULT(ERROR_STREAM_CAPTURE_WRONG_THREAD),
     "attempt to terminate a thread-local capture sequence from another "
     "thread"},
    {RESULT(ERROR_TIMEOUT), "wait operation timed out"},
    {RESULT(ERROR_GRAPH_EXEC_UPDATE_FAILURE),
     "the graph update was not performed because it included changes which "
     "violated constraints specific to instantiated graph update"},
    {RESULT(ERROR_UNKNOWN), "unknown error"},
};

static int find(CUresult result)
{
    size_t i;

    for (i = 0; i < sizeof(results) / sizeof(results[0]); i++)
        if (results[i].result == result)
            return (int)i;
    return -1;
}

static CUresult say(int i, const char **out, const char *text)
{
    if (out == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *out = i < 0 ? NULL : text;
    return i < 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult CUDAAPI cuGetErrorName(CUresult error, const char **name)
{
    int i = find(error);
    CUresult result;

    if (enter("cuGetErrorName", &result))
        result = leave(say(i, name, results[i < 0 ? 0 : i].name));
    return result;
}

CUresult CUDAAPI cuGetErrorString(CUresult error, const char **text)
{
    int i = find(error);
    CUresult result;

    if (enter("cuGetErrorString", &result))
        result = leave(say(i, text, results[i < 0 ? 0 : i].text));
    return result;
}
