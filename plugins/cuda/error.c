/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "error.h"

#include "source.h"

/* Results by which a context has failed for good: it runs nothing any more. */
static bool is_context_failure(CUresult result)
{
    switch ((int)result) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_MPS_CLIENT_TERMINATED:
    case CUDA_ERROR_EXTERNAL_DEVICE:
    case 226: /* CUDA_ERROR_CONTAINED, since CUDA 12.9 */
    case 721: /* CUDA_ERROR_TENSOR_MEMORY_LEAK, since CUDA 12.9 */
        return true;
    default:
        return false;
    }
}

static bool is_capture(CUresult result)
{
    return result >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED &&
           result <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
}

enum ashlar_status cuda_status(CUresult result, enum ashlar_status no_memory)
{
    if (is_context_failure(result))
        return ASHLAR_ERR_CONTEXT_FAILED;
    if (is_capture(result))
        return ASHLAR_ERR_CAPTURE;
    switch (result) {
    case CUDA_SUCCESS:
        return ASHLAR_OK;
    case CUDA_ERROR_OUT_OF_MEMORY:
        return no_memory;
    case CUDA_ERROR_NOT_INITIALIZED:
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_STUB_LIBRARY:
        return ASHLAR_ERR_NO_DRIVER;
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
        return ASHLAR_ERR_DRIVER_TOO_OLD;
    case CUDA_ERROR_NO_DEVICE:
        return ASHLAR_ERR_NOT_FOUND;
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_INVALID_DEVICE:
    case CUDA_ERROR_INVALID_CONTEXT:
    case CUDA_ERROR_INVALID_HANDLE:
        return ASHLAR_ERR_INVALID;
    case CUDA_ERROR_NOT_SUPPORTED:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
    case CUDA_ERROR_JIT_COMPILATION_DISABLED:
        return ASHLAR_ERR_UNSUPPORTED;
    default:
        return ASHLAR_ERR_DRIVER;
    }
}

const char *cuda_result_name(const struct cuda_driver *driver, CUresult result)
{
    const char *name = NULL;

    if (driver->get_error_name(result, &name) != CUDA_SUCCESS || name == NULL)
        return "an unknown result";
    return name;
}

const char *cuda_result_text(const struct cuda_driver *driver, CUresult result)
{
    const char *text = NULL;

    if (driver->get_error_string(result, &text) != CUDA_SUCCESS || text == NULL)
        return "the driver has no words for it";
    return text;
}

enum ashlar_status cuda_fail(const struct cuda *cuda, CUresult result,
                             const char *call)
{
    return cuda->host->fail(cuda_status(result, ASHLAR_ERR_NO_DEVICE_MEMORY),
                            "%s() failed: %s (%d), %s", call,
                            cuda_result_name(&cuda->driver, result),
                            (int)result,
                            cuda_result_text(&cuda->driver, result));
}

enum ashlar_status cuda_fail_at(const struct cuda *cuda, CUresult result,
                                const char *call, enum ashlar_status no_memory,
                                uint64_t address, uint64_t bytes)
{
    enum ashlar_status status = cuda_status(result, no_memory);
    const char *name = cuda_result_name(&cuda->driver, result);
    const char *text = cuda_result_text(&cuda->driver, result);

    if (address == 0)
        return cuda->host->fail(status,
                                "%s() of %lu bytes failed on device %d: %s "
                                "(%d), %s",
                                call, (unsigned long)bytes,
                                cuda->options.device, name, (int)result, text);
    return cuda->host->fail(status,
                            "%s() of %lu bytes at 0x%lx failed on device %d: "
                            "%s (%d), %s",
                            call, (unsigned long)bytes, (unsigned long)address,
                            cuda->options.device, name, (int)result, text);
}
