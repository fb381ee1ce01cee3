/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* What README.md shows, as a program: one step of growth that fails. */
#include <stdio.h>

#include "cudasim.h"

#define CHUNK ((size_t)2 << 20)

/* Map one more chunk behind what is there; all or nothing. */
static CUresult grow(CUdeviceptr base, size_t *bytes)
{
    const CUmemAllocationProp memory = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    const CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                    CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle chunk;
    CUresult result = cuMemCreate(&chunk, CHUNK, &memory, 0);

    if (result != CUDA_SUCCESS)
        return result;
    result = cuMemMap(base + *bytes, CHUNK, 0, chunk, 0);
    cuMemRelease(chunk);
    if (result != CUDA_SUCCESS)
        return result;
    result = cuMemSetAccess(base + *bytes, CHUNK, &access, 1);
    if (result != CUDA_SUCCESS)
        cuMemUnmap(base + *bytes, CHUNK);
    else
        *bytes += CHUNK;
    return result;
}

int main(void)
{
    struct cudasim_account account = CUDASIM_ACCOUNT_INIT;
    CUdeviceptr base;
    size_t bytes = 0;

    cudasim_reset("memory=64M");
    cuInit(0);
    cuMemAddressReserve(&base, 16 * CHUNK, 0, 0, 0);
    grow(base, &bytes);

    cudasim_fail("cuMemSetAccess", 1, CUDA_ERROR_OUT_OF_MEMORY, 0);
    printf("grow says %d\n", (int)grow(base, &bytes));
    cudasim_query(&account);
    printf("%llu chunk, %llu mapping\n", (unsigned long long)account.handles,
           (unsigned long long)account.mappings);
    printf("grow says %d\n", (int)grow(base, &bytes));
    return 0;
}
