/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Copies between any addresses: the device's, its peers' and the host's. */
#include "config.h"

#include "context.h"
#include "error.h"

enum ashlar_status cuda_copy(void *state, uint64_t to, uint64_t from,
                             uint64_t bytes, uint64_t stream)
{
    struct cuda *cuda = state;
    CUstream handle = (CUstream)(uintptr_t)stream;
    struct cuda_visit visit;
    enum ashlar_status status;
    CUresult result = CUDA_SUCCESS;

    status = cuda_visit_begin(cuda, handle, true, &visit);
    if (status != ASHLAR_OK)
        return status;
    status = cuda_check_work(cuda, handle);
    if (status == ASHLAR_OK)
        result = cuda->driver.memcpy_async(to, from, bytes, handle);
    cuda_visit_end(cuda, &visit);
    if (result == CUDA_SUCCESS)
        return status;
    return cuda_fail_at(cuda, result, "cuMemcpyAsync",
                        ASHLAR_ERR_NO_DEVICE_MEMORY, to, bytes);
}
