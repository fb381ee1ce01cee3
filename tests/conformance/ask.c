/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "conformance.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* One line an answer on standard output, for conformance.c to read:
 * "= question: answer" as expected, "! question: answer, expected ..." not so,
 * "- question: reason" not asked. */

static const char *name_of(CUresult result)
{
    const char *name = "no error of CUDA's";

    if (result == ANY)
        return "any";
    cu.GetErrorName(result, &name);
    return strncmp(name, "CUDA_", 5) == 0 ? name + 5 : name;
}

static bool fits(CUresult expected, CUresult got)
{
    return expected == ANY || expected == got;
}

void ask_result(const char *question, CUresult expected, CUresult got)
{
    if (fits(expected, got))
        printf("= %s: %s\n", question, name_of(got));
    else
        printf("! %s: %s, expected %s\n", question, name_of(got),
               name_of(expected));
    fflush(stdout);
}

void ask_pair(const char *question, CUresult expected, CUresult expected_end,
              CUresult got, CUresult got_end)
{
    if (fits(expected, got) && fits(expected_end, got_end))
        printf("= %s: %s; end: %s\n", question, name_of(got), name_of(got_end));
    else
        printf("! %s: %s; end: %s, expected %s; end: %s\n", question,
               name_of(got), name_of(got_end), name_of(expected),
               name_of(expected_end));
    fflush(stdout);
}

void ask_number(const char *question, uint64_t expected, uint64_t got)
{
    if (expected == got)
        printf("= %s: %" PRIu64 "\n", question, got);
    else
        printf("! %s: %" PRIu64 ", expected %" PRIu64 "\n", question, got,
               expected);
    fflush(stdout);
}

void ask_not(const char *question, const char *reason)
{
    printf("- %s: %s\n", question, reason);
    fflush(stdout);
}

bool works(const char *what, CUresult got)
{
    ask_result(what, CUDA_SUCCESS, got);
    return got == CUDA_SUCCESS;
}

/* --- what chapters share -------------------------------------------------- */

bool begin_with_context(void)
{
    CUdevice device;
    CUcontext context;

    return works("cuInit", cu.Init(0)) &&
           works("device 0", cu.DeviceGet(&device, 0)) &&
           works("its primary context",
                 cu.DevicePrimaryCtxRetain(&context, device)) &&
           works("made current", cu.CtxSetCurrent(context));
}

CUmemAllocationProp device_memory(void)
{
    CUmemAllocationProp prop;

    memset(&prop, 0, sizeof(prop));
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    return prop;
}

CUmemAccessDesc device_access(CUmemAccess_flags flags)
{
    CUmemAccessDesc access;

    memset(&access, 0, sizeof(access));
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.flags = flags;
    return access;
}

size_t granule(void)
{
    CUmemAllocationProp prop = device_memory();
    size_t bytes = 0;

    cu.MemGetAllocationGranularity(&bytes, &prop,
                                   CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    return bytes;
}

CUdeviceptr reserved(size_t bytes)
{
    CUdeviceptr address = 0;

    works("addresses to work with",
          cu.MemAddressReserve(&address, bytes, 0, 0, 0));
    return address;
}

CUdeviceptr mapped(size_t bytes, CUmemGenericAllocationHandle *handle_out)
{
    CUmemAllocationProp prop = device_memory();
    CUdeviceptr address = reserved(bytes);

    if (address == 0 ||
        !works("memory to work with",
               cu.MemCreate(handle_out, bytes, &prop, 0)) ||
        !works("mapped there", cu.MemMap(address, bytes, 0, *handle_out, 0)))
        return 0;
    return address;
}

CUdeviceptr usable(size_t bytes, CUmemGenericAllocationHandle *handle_out)
{
    CUmemAccessDesc access = device_access(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CUdeviceptr address = mapped(bytes, handle_out);

    if (address == 0 ||
        !works("with access", cu.MemSetAccess(address, bytes, &access, 1)))
        return 0;
    return address;
}

static void CUDA_CB wait_for_go(void *data)
{
    struct held *held = data;
    const struct timespec while_ = {0, 100000};

    __atomic_store_n(&held->begun, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&held->go, __ATOMIC_ACQUIRE) == 0)
        nanosleep(&while_, NULL);
}

CUresult hold(struct held *held, CUstream stream)
{
    const struct timespec while_ = {0, 100000};
    CUresult result;

    memset(held, 0, sizeof(*held));
    result = cu.LaunchHostFunc(stream, wait_for_go, held);
    while (result == CUDA_SUCCESS &&
           __atomic_load_n(&held->begun, __ATOMIC_ACQUIRE) == 0)
        nanosleep(&while_, NULL);
    return result;
}

void let_go(struct held *held)
{
    __atomic_store_n(&held->go, 1, __ATOMIC_RELEASE);
}

/* A kernel that writes to address 16, where nothing ever is. */
static const char bad_kernel[] = ".version 7.0\n"
                                 ".target sm_70\n"
                                 ".address_size 64\n"
                                 ".visible .entry bad()\n"
                                 "{\n"
                                 "    .reg .u64 %address;\n"
                                 "    mov.u64 %address, 16;\n"
                                 "    st.global.u64 [%address], %address;\n"
                                 "    ret;\n"
                                 "}\n";

CUresult fail_context(void)
{
    int (*fail)(CUdevice, CUresult);
    CUfunction function;
    CUmodule module;
    CUresult result;

    *(void **)&fail = driver_function("cudasim_fail_context");
    if (fail != NULL)
        return fail(0, CUDA_ERROR_ILLEGAL_ADDRESS) == 0 ? CUDA_SUCCESS
                                                        : CUDA_ERROR_UNKNOWN;
    result = cu.ModuleLoadData(&module, bad_kernel);
    if (result == CUDA_SUCCESS)
        result = cu.ModuleGetFunction(&function, module, "bad");
    if (result == CUDA_SUCCESS)
        result =
            cu.LaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
    return result;
}

struct task {
    CUresult (*function)(void *);
    void *argument;
    CUresult result;
};

static void *run_task(void *data)
{
    struct task *task = data;

    task->result = task->function(task->argument);
    return NULL;
}

CUresult on_another_thread(CUresult (*function)(void *), void *argument)
{
    struct task task = {function, argument, CUDA_ERROR_UNKNOWN};
    pthread_t thread;

    if (pthread_create(&thread, NULL, run_task, &task) == 0)
        pthread_join(thread, NULL);
    return task.result;
}
