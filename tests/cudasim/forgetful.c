/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* A program that knows only the driver, and leaves something behind. */
#include <cuda.h>

int main(void)
{
    CUdeviceptr address;

    if (cuInit(0) != CUDA_SUCCESS)
        return 1;
    cuMemAddressReserve(&address, (size_t)2 << 20, 0, 0, 0);
    return 0;
}
