/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include <ashlar.h>
#include <cuda.h>
#include <stdio.h>

/* kernel(const __grid_constant__ CUtensorMap), once for each of n tensors. */
static CUresult launch(CUfunction kernel, struct ashlar_source *cuda,
                       struct ashlar_pool *pool,
                       const struct ashlar_spec *specs, void **maps, size_t n)
{
    CUresult result = CUDA_SUCCESS;

    if (ashlar_pool_reserve(pool, n) != 0 || /* once, ahead of need */
        ashlar_tensormap_encode_many(cuda, pool, specs, n, maps, NULL) != 0)
        return CUDA_ERROR_INVALID_VALUE; /* ashlar_last_error_message() */
    for (size_t i = 0; i < n && result == CUDA_SUCCESS; i++)
        result = cuLaunchKernel(kernel, 132, 1, 1, 128, 1, 1, 0, NULL, &maps[i],
                                NULL);
    ashlar_pool_put_bulk(pool, maps, n, NULL); /* each launch has its copy */
    return result;
}

#define TENSORS 1000

static const char module_text[] =
    ".version 8.0\n"
    ".target sm_90\n"
    ".address_size 64\n"
    ".visible .entry kernel(.param .align 128 .b8 map[128]) { ret; }\n";

/* Square matrices of 1,024 elements a side, one behind the other. */
static void describe(struct ashlar_spec *specs, uint64_t address)
{
    struct ashlar_spec spec = ASHLAR_SPEC_INIT;

    spec.dtype = ASHLAR_SPEC_FLOAT16;
    spec.swizzle = ASHLAR_SPEC_SWIZZLE_128B;
    spec.rank = 2;
    spec.dims[0] = spec.dims[1] = 1024;
    spec.box[0] = spec.box[1] = 64;
    spec.element_strides[0] = spec.element_strides[1] = 1;
    ashlar_spec_pack(&spec);
    for (size_t i = 0; i < TENSORS; i++) {
        specs[i] = spec;
        specs[i].address = address + i * 1024 * 1024 * 2;
    }
}

static CUfunction load(void)
{
    CUfunction kernel = NULL;
    CUcontext context;
    CUmodule module;
    CUdevice device;

    if (cuInit(0) != CUDA_SUCCESS || cuDeviceGet(&device, 0) != CUDA_SUCCESS ||
        cuDevicePrimaryCtxRetain(&context, device) != CUDA_SUCCESS ||
        cuCtxSetCurrent(context) != CUDA_SUCCESS ||
        cuModuleLoadData(&module, module_text) != CUDA_SUCCESS ||
        cuModuleGetFunction(&kernel, module, "kernel") != CUDA_SUCCESS)
        fprintf(stderr, "no device to launch on\n");
    return kernel;
}

int main(void)
{
    static struct ashlar_spec specs[TENSORS];
    static void *maps[TENSORS];
    struct ashlar_source *cuda;
    struct ashlar_pool *pool;
    CUfunction kernel = load();
    const char *name;

    if (kernel == NULL)
        return 1;
    if (ashlar_source_open("cuda", NULL, &cuda) != 0 ||
        ashlar_pool_create(ashlar_type_find("CUtensorMap"), NULL, &pool) != 0) {
        fprintf(stderr, "%s\n", ashlar_last_error_message());
        return 1;
    }
    describe(specs, UINT64_C(0x7f0000000000)); /* of memory on the device */
    cuGetErrorName(launch(kernel, cuda, pool, specs, maps, TENSORS), &name);
    printf("%s\n", name);
    ashlar_pool_destroy(pool, 0);
    ashlar_source_close(cuda);
    return 0;
}

/*
 * Output on the simulated driver, which runs no kernels:
 * CUDA_ERROR_NOT_SUPPORTED
 */
