/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Modules, and launches of the kernel that the plug-in "cuda" brings. */
#include "conformance.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "scatter_ptx.h"

#define SLOT    128
#define THREADS 256

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"

/* Whether driver and device are new enough for the kernel. */
static bool begin_with_kernels(void)
{
    int version = 0, major = 0;

    if (!begin_with_context())
        return false;
    cu.DriverGetVersion(&version);
    cu.DeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                          0);
    if (version >= CUDA_SCATTER_DRIVER && major >= CUDA_SCATTER_CAPABILITY)
        return true;
    ask_not("the kernel", "the driver or the device is too old for it");
    return false;
}

/* --- modules -------------------------------------------------------------- */

static void ask_images(void)
{
    CUmodule module;
    int major = 0;

    ASK("load NULL", CUDA_ERROR_INVALID_VALUE,
        cu.ModuleLoadData(&module, NULL));
    ASK("load to NULL", CUDA_ERROR_INVALID_VALUE,
        cu.ModuleLoadData(NULL, HEAD));
    ASK("load garbage", CUDA_ERROR_INVALID_IMAGE,
        cu.ModuleLoadData(&module, "garbage"));
    ASK("load PTX without a target", CUDA_ERROR_INVALID_PTX,
        cu.ModuleLoadData(&module, ".version 8.0\n"));
    ASK("load PTX of a later version", CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
        cu.ModuleLoadData(&module, ".version 99.0\n.target sm_90\n"));
    cu.DeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                          0);
    if (major == 9)
        ASK("load PTX for a newer device", CUDA_ERROR_INVALID_PTX,
            cu.ModuleLoadData(
                &module, ".version 8.6\n.target sm_100\n.address_size 64\n"));
    else
        ask_not("load PTX for a newer device", "which is newer, is not known");
    ASK("load PTX without a kernel", CUDA_SUCCESS,
        cu.ModuleLoadData(&module, HEAD));
    ASK("unload it", CUDA_SUCCESS, cu.ModuleUnload(module));
}

static void ask_functions(CUmodule module)
{
    CUfunction function, again;

    ASK("a function", CUDA_SUCCESS,
        cu.ModuleGetFunction(&function, module, CUDA_SCATTER_KERNEL));
    ASK("the same", CUDA_SUCCESS,
        cu.ModuleGetFunction(&again, module, CUDA_SCATTER_KERNEL));
    ask_number("which is the same", 1, again == function);
    ASK("one that is not there", CUDA_ERROR_NOT_FOUND,
        cu.ModuleGetFunction(&again, module, "no_such_kernel"));
    ASK("one without a name", CUDA_ERROR_INVALID_VALUE,
        cu.ModuleGetFunction(&again, module, NULL));
    ASK("to NULL", CUDA_ERROR_INVALID_VALUE,
        cu.ModuleGetFunction(NULL, module, CUDA_SCATTER_KERNEL));
}

/* What is done with a module while a stream is captured, in the thread's mode. */
static CUresult load_one(CUmodule *module, CUstream stream)
{
    (void)stream;
    return cu.ModuleLoadData(module, cuda_scatter_ptx);
}

static CUresult find_one(CUmodule *module, CUstream stream)
{
    CUfunction function;

    (void)stream;
    return cu.ModuleGetFunction(&function, *module, CUDA_SCATTER_KERNEL);
}

/* Of no maps: its pointers lead nowhere. */
static CUresult launch_one(CUmodule *module, CUstream stream)
{
    CUdeviceptr nowhere = 0;
    uint32_t count = 0;
    void *arguments[] = {&nowhere, &nowhere, &nowhere, &count};
    CUfunction function;
    CUresult result =
        cu.ModuleGetFunction(&function, *module, CUDA_SCATTER_KERNEL);

    if (result != CUDA_SUCCESS)
        return result;
    return cu.LaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments,
                           NULL);
}

static CUresult unload_one(CUmodule *module, CUstream stream)
{
    (void)stream;
    return cu.ModuleUnload(*module);
}

/* Whether it is one that spoils the capture. */
static void ask_during_capture(const char *question, CUstreamCaptureMode mode,
                               CUresult (*use)(CUmodule *, CUstream),
                               CUmodule *module, bool spoils)
{
    CUgraph graph = NULL;
    CUstream stream;
    CUresult result, end;

    if (!works("a stream", cu.StreamCreate(&stream, CU_STREAM_NON_BLOCKING)) ||
        !works("begin",
               cu.StreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL)))
        return;
    cu.ThreadExchangeStreamCaptureMode(&mode);
    result = use(module, stream);
    cu.ThreadExchangeStreamCaptureMode(&mode);
    end = cu.StreamEndCapture(stream, &graph);
    ask_pair(question,
             spoils ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS,
             spoils ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS,
             result, end);
    if (end == CUDA_SUCCESS)
        works("the graph", cu.GraphDestroy(graph));
    works("the stream", cu.StreamDestroy(stream));
}

static void ask_captures(void)
{
    const CUstreamCaptureMode global = CU_STREAM_CAPTURE_MODE_GLOBAL;
    const CUstreamCaptureMode relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUmodule module = NULL;

    ask_during_capture("load during a capture", global, load_one, &module,
                       false);
    ask_during_capture("a function during a capture", global, find_one, &module,
                       false);
    ask_during_capture("its first launch in one", global, launch_one, &module,
                       false);
    ask_during_capture("unload during a capture", global, unload_one, &module,
                       true);
    ask_during_capture("relaxed: load during a capture", relaxed, load_one,
                       &module, false);
    ask_during_capture("relaxed: unload during a capture", relaxed, unload_one,
                       &module, false);
}

static void ask_contexts(CUcontext context)
{
    CUresult (*create)(CUcontext *, unsigned, CUdevice);
    CUcontext other;
    CUfunction function;
    CUmodule module, stays;

    works("load", cu.ModuleLoadData(&module, cuda_scatter_ptx));
    works("load", cu.ModuleLoadData(&stays, cuda_scatter_ptx));
    cu.CtxSetCurrent(NULL);
    ASK("load without a context", CUDA_ERROR_INVALID_CONTEXT,
        cu.ModuleLoadData(&module, cuda_scatter_ptx));
    ASK("a function without a context", CUDA_SUCCESS,
        cu.ModuleGetFunction(&function, module, CUDA_SCATTER_KERNEL));
    ASK("unload without a context", CUDA_SUCCESS, cu.ModuleUnload(module));
    *(void **)&create = driver_function("cuCtxCreate_v2");
    if (works("another context", create(&other, 0, 0)))
        ASK("unload in another context", CUDA_SUCCESS, cu.ModuleUnload(stays));
    cu.CtxSetCurrent(context);
    ASK("unload what is not loaded any more", CUDA_ERROR_INVALID_HANDLE,
        cu.ModuleUnload(stays));
}

void chapter_modules(void)
{
    CUcontext context = NULL;
    CUmodule module;

    if (!begin_with_kernels())
        return;
    ask_images();
    ASK("load", CUDA_SUCCESS, cu.ModuleLoadData(&module, cuda_scatter_ptx));
    ask_functions(module);
    ASK("unload", CUDA_SUCCESS, cu.ModuleUnload(module));
    ask_captures();
    works("the current context", cu.CtxGetCurrent(&context));
    ask_contexts(context);
}

/* --- launches ------------------------------------------------------------- */

/* What the launches below have in common. */
static struct {
    CUmodule module;
    CUfunction function;
    CUstream stream;
    CUdeviceptr table;
    CUdeviceptr staging; /* one map */
    CUdeviceptr indices;
    uint32_t count;
} my;

static bool begin_with_launches(void)
{
    CUmemGenericAllocationHandle handle;
    const uint32_t index = 3;

    if (!begin_with_kernels() ||
        !works("load", cu.ModuleLoadData(&my.module, cuda_scatter_ptx)) ||
        !works("its kernel", cu.ModuleGetFunction(&my.function, my.module,
                                                  CUDA_SCATTER_KERNEL)) ||
        !works("a stream", cu.StreamCreate(&my.stream, CU_STREAM_NON_BLOCKING)))
        return false;
    my.table = usable(granule(), &handle);
    my.staging = my.table + MIB;
    my.indices = my.staging + SLOT;
    my.count = 1;
    return works("clear", cu.MemsetD8(my.table, 0, granule())) &&
           works("a map", cu.MemsetD8(my.staging, 42, SLOT)) &&
           works("its index", cu.MemcpyHtoD(my.indices, &index, sizeof(index)));
}

static CUresult launch_shape(unsigned blocks, unsigned threads, unsigned shared)
{
    void *arguments[] = {&my.table, &my.staging, &my.indices, &my.count};

    return cu.LaunchKernel(my.function, blocks, 1, 1, threads, 1, 1, shared,
                           my.stream, arguments, NULL);
}

static CUresult launch(void)
{
    return launch_shape(1, THREADS, 0);
}

/* A byte of a slot, once all is done. */
static uint64_t byte_of(unsigned slot)
{
    unsigned char byte = 0;

    works("wait", cu.StreamSynchronize(my.stream));
    works("read", cu.MemcpyDtoH(&byte, my.table + slot * SLOT + SLOT - 1, 1));
    return byte;
}

static void ask_shapes(void)
{
    void *missing[] = {&my.table, &my.staging, &my.indices, &my.count};
    void *extra[] = {CU_LAUNCH_PARAM_END};

    ASK("no blocks", CUDA_ERROR_INVALID_VALUE, launch_shape(0, 1, 0));
    ASK("no threads", CUDA_ERROR_INVALID_VALUE, launch_shape(1, 0, 0));
    ASK("1,025 threads", CUDA_ERROR_INVALID_VALUE, launch_shape(1, 1025, 0));
    ASK("2^31 blocks", CUDA_ERROR_INVALID_VALUE, launch_shape(1u << 31, 1, 0));
    ASK("more than 48 KiB of shared memory", CUDA_ERROR_INVALID_VALUE,
        launch_shape(1, 1, 49153));
    ASK("without arguments", CUDA_ERROR_INVALID_VALUE,
        cu.LaunchKernel(my.function, 1, 1, 1, 1, 1, 1, 0, my.stream, NULL,
                        NULL));
    ASK("with arguments twice", CUDA_SUCCESS,
        cu.LaunchKernel(my.function, 1, 1, 1, 1, 1, 1, 0, my.stream, missing,
                        extra));
    ASK("no function", CUDA_ERROR_INVALID_HANDLE,
        cu.LaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, my.stream, missing, NULL));
    ask_number("nothing was done", 0, byte_of(3));
}

static CUgraph capture(void)
{
    CUgraph graph = NULL;

    works("begin",
          cu.StreamBeginCapture(my.stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ASK("launch on a captured stream", CUDA_SUCCESS, launch());
    works("end", cu.StreamEndCapture(my.stream, &graph));
    return graph;
}

/* A graph is launched, updated to write one slot further, and launched. */
static void ask_graphs(void)
{
    CUgraphExecUpdateResultInfo info;
    CUgraph graph = capture(), other;
    CUgraphExec exec = NULL;
    struct held held;

    my.table += SLOT;
    other = capture();
    my.table -= SLOT;
    works("make it executable", cu.GraphInstantiate(&exec, graph, 0));
    works("set", cu.MemsetD8Async(my.staging, 43, SLOT, my.stream));
    ASK("launch the graph", CUDA_SUCCESS, cu.GraphLaunch(exec, my.stream));
    ask_number("it reads when it runs", 43, byte_of(3));
    works("set", cu.MemsetD8Async(my.staging, 44, SLOT, my.stream));
    ASK("launch it again", CUDA_SUCCESS, cu.GraphLaunch(exec, my.stream));
    ask_number("which did the same", 44, byte_of(3));
    works("set", cu.MemsetD8Async(my.staging, 45, SLOT, my.stream));
    works("work before a launch", hold(&held, my.stream));
    works("launch", cu.GraphLaunch(exec, my.stream));
    ASK("update it meanwhile", CUDA_SUCCESS,
        cu.GraphExecUpdate(exec, other, &info));
    let_go(&held);
    ask_number("it runs as it was", 45, byte_of(3));
    ask_number("and not as it is", 0, byte_of(4));
    works("launch", cu.GraphLaunch(exec, my.stream));
    ask_number("then it runs as it is", 45, byte_of(4));
    works("destroy", cu.GraphDestroy(other));
    works("an empty graph", cu.GraphCreate(&other, 0));
    ASK("update it to another shape", CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
        cu.GraphExecUpdate(exec, other, &info));
    ask_number("why", CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, info.result);
    works("destroy", cu.GraphDestroy(other));
    works("destroy", cu.GraphDestroy(graph));
    ASK("unload what a graph uses", CUDA_SUCCESS, cu.ModuleUnload(my.module));
    ASK("destroy the graph then", CUDA_SUCCESS, cu.GraphExecDestroy(exec));
}

void chapter_kernels(void)
{
    struct held held;

    if (!begin_with_launches())
        return;
    ask_shapes();
    ASK("work before it", CUDA_SUCCESS, hold(&held, my.stream));
    ASK("launch", CUDA_SUCCESS, launch());
    ASK("it waits", CUDA_ERROR_NOT_READY, cu.StreamQuery(my.stream));
    let_go(&held);
    ask_number("it was done", 42, byte_of(3));
    ask_number("and nothing beside", 0, byte_of(2) + byte_of(4));
    ask_graphs();
}

void chapter_misaligned(void)
{
    if (!begin_with_launches())
        return;
    my.staging += 8;
    ASK("read 16 bytes at a multiple of 8", CUDA_SUCCESS, launch());
    ASK("wait", CUDA_ERROR_MISALIGNED_ADDRESS, cu.StreamSynchronize(my.stream));
    ASK("load", CUDA_ERROR_MISALIGNED_ADDRESS,
        cu.ModuleLoadData(&my.module, cuda_scatter_ptx));
    ASK("launch", CUDA_ERROR_MISALIGNED_ADDRESS, launch());
    ASK("unload", CUDA_ERROR_MISALIGNED_ADDRESS, cu.ModuleUnload(my.module));
    ASK("unload it again", CUDA_ERROR_MISALIGNED_ADDRESS,
        cu.ModuleUnload(my.module));
}

/* --- unloaded meanwhile ---------------------------------------------------- */

/* Milliseconds in which a call comes back that waits for nothing. */
#define SOON 300

struct unloading {
    CUcontext context;
    CUresult result;
    int back;
};

static void *unload_apart(void *argument)
{
    struct unloading *unloading = argument;

    cu.CtxSetCurrent(unloading->context);
    unloading->result = cu.ModuleUnload(my.module);
    __atomic_store_n(&unloading->back, 1, __ATOMIC_RELEASE);
    return NULL;
}

/* Unload, by another thread, while something is held. */
static void ask_unloading(struct held *held)
{
    const struct timespec soon = {0, SOON * 1000000L};
    struct unloading unloading = {.result = CUDA_ERROR_UNKNOWN};
    pthread_t thread;

    works("the current context", cu.CtxGetCurrent(&unloading.context));
    if (pthread_create(&thread, NULL, unload_apart, &unloading) != 0)
        return;
    nanosleep(&soon, NULL);
    ask_number("it is back before", 0,
               (uint64_t)__atomic_load_n(&unloading.back, __ATOMIC_ACQUIRE));
    let_go(held);
    (void)pthread_join(thread, NULL);
    ASK("unload", CUDA_SUCCESS, unloading.result);
}

void chapter_unloaded(void)
{
    struct held held;

    if (!begin_with_launches())
        return;
    works("work before it", hold(&held, my.stream));
    works("launch", launch());
    ask_unloading(&held);
    ASK("wait", CUDA_SUCCESS, cu.StreamSynchronize(my.stream));
    ask_number("the kernel has run", 42, byte_of(3));
}

void chapter_unloaded_beside(void)
{
    struct held held;
    CUstream other;

    if (!begin_with_launches() ||
        !works("a stream", cu.StreamCreate(&other, CU_STREAM_NON_BLOCKING)))
        return;
    works("launch", launch());
    works("wait", cu.StreamSynchronize(my.stream));
    works("work without a kernel", hold(&held, other));
    ask_unloading(&held);
    ASK("wait", CUDA_SUCCESS, cu.StreamSynchronize(other));
}

void chapter_unloaded_graph(void)
{
    CUgraphExec exec = NULL;
    CUgraph graph;

    if (!begin_with_launches())
        return;
    graph = capture();
    works("make it executable", cu.GraphInstantiate(&exec, graph, 0));
    works("unload", cu.ModuleUnload(my.module));
    ASK("launch the graph", ANY, cu.GraphLaunch(exec, my.stream));
    ASK("wait", ANY, cu.StreamSynchronize(my.stream));
    ask_number("the kernel has run", 42, byte_of(3));
}
