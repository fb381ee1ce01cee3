/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Graphs, what they keep alive, and descriptors for other processes. */
#include "conformance.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int destroyed;

static void CUDA_CB count(void *data)
{
    (void)data;
    __atomic_add_fetch(&destroyed, 1, __ATOMIC_ACQ_REL);
}

/* The destructors run so far, once there are that many, or a second is over. */
static uint64_t destroyed_by_now(int expected)
{
    const struct timespec while_ = {0, 1000000};
    int i;

    for (i = 0; i < 1000; i++) {
        if (__atomic_load_n(&destroyed, __ATOMIC_ACQUIRE) >= expected)
            break;
        nanosleep(&while_, NULL);
    }
    return (uint64_t)__atomic_load_n(&destroyed, __ATOMIC_ACQUIRE);
}

static CUuserObject object(unsigned int references)
{
    CUuserObject made = NULL;

    works("a user object",
          cu.UserObjectCreate(&made, NULL, count, references,
                              CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    return made;
}

/* A capture of a memset; its graph. */
static CUgraph captured(CUstream stream, CUdeviceptr address, CUuserObject kept)
{
    CUstreamCaptureStatus status;
    CUgraph graph = NULL, inside = NULL;
    cuuint64_t id;

    works("begin",
          cu.StreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    works("set", cu.MemsetD8Async(address, 42, 4096, stream));
    if (kept != NULL &&
        works("the graph so far",
              cu.StreamGetCaptureInfo(stream, &status, &id, &inside, NULL, NULL,
                                      NULL)))
        works("give it the user object",
              cu.GraphRetainUserObject(inside, kept, 1,
                                       CU_GRAPH_USER_OBJECT_MOVE));
    works("end", cu.StreamEndCapture(stream, &graph));
    return graph;
}

static void ask_of_replays(CUstream stream, CUdeviceptr address)
{
    unsigned char out = 0;
    CUgraph graph;
    CUgraphExec exec, second;
    struct held held;

    graph = captured(stream, address, object(1));
    ASK("read before the launch", CUDA_SUCCESS,
        cu.MemcpyDtoH(&out, address, 1));
    ask_number("nothing was done", 0, out);
    ASK("instantiate", CUDA_SUCCESS, cu.GraphInstantiate(&exec, graph, 0));
    ASK("instantiate again", CUDA_SUCCESS,
        cu.GraphInstantiate(&second, graph, 0));
    ASK("launch", CUDA_SUCCESS, cu.GraphLaunch(exec, stream));
    ASK("wait", CUDA_SUCCESS, cu.StreamSynchronize(stream));
    ASK("read after it", CUDA_SUCCESS, cu.MemcpyDtoH(&out, address, 1));
    ask_number("it was done", 42, out);
    ASK("destroy the graph", CUDA_SUCCESS, cu.GraphDestroy(graph));
    ask_number("destructors so far", 0, destroyed);
    ASK("destroy one of the two", CUDA_SUCCESS, cu.GraphExecDestroy(exec));
    ask_number("destructors so far", 0, destroyed);
    ASK("work before the launch", CUDA_SUCCESS, hold(&held, stream));
    ASK("launch the other", CUDA_SUCCESS, cu.GraphLaunch(second, stream));
    ASK("destroy it while it waits", CUDA_SUCCESS, cu.GraphExecDestroy(second));
    ask_number("destructors so far", 0, destroyed);
    let_go(&held);
    ASK("wait", CUDA_SUCCESS, cu.StreamSynchronize(stream));
    ask_number("destructors then", 1, destroyed_by_now(1));
}

static void ask_of_clones(CUstream stream, CUdeviceptr address)
{
    CUgraph graph, clone;

    graph = captured(stream, address, object(1));
    ASK("clone", CUDA_SUCCESS, cu.GraphClone(&clone, graph));
    ASK("destroy the first", CUDA_SUCCESS, cu.GraphDestroy(graph));
    ask_number("destructors so far", 1, destroyed);
    ASK("destroy the clone", CUDA_SUCCESS, cu.GraphDestroy(clone));
    ask_number("destructors then", 2, destroyed_by_now(2));
}

static void ask_of_references(void)
{
    CUgraph graph, other;
    CUuserObject kept;

    kept = object(2);
    ASK("release one of two references", CUDA_SUCCESS,
        cu.UserObjectRelease(kept, 1));
    ask_number("destructors so far", 2, destroyed);
    ASK("an empty graph", CUDA_SUCCESS, cu.GraphCreate(&graph, 0));
    ASK("with a flag", CUDA_ERROR_INVALID_VALUE, cu.GraphCreate(&other, 1));
    ASK("give it the user object, kept too", CUDA_SUCCESS,
        cu.GraphRetainUserObject(graph, kept, 1, 0));
    ASK("release the other", CUDA_SUCCESS, cu.UserObjectRelease(kept, 1));
    ask_number("destructors so far", 2, destroyed);
    ASK("take it from the graph", CUDA_SUCCESS,
        cu.GraphReleaseUserObject(graph, kept, 1));
    ask_number("destructors then", 3, destroyed_by_now(3));
    ASK("destroy the graph", CUDA_SUCCESS, cu.GraphDestroy(graph));
    ASK("destroy NULL", CUDA_ERROR_INVALID_VALUE, cu.GraphDestroy(NULL));
    ASK("a user object without references", CUDA_ERROR_INVALID_VALUE,
        cu.UserObjectCreate(&kept, NULL, count, 0,
                            CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    ASK("a user object without flags", CUDA_ERROR_INVALID_VALUE,
        cu.UserObjectCreate(&kept, NULL, count, 1, 0));
}

static void ask_of_spoilt_captures(CUstream stream)
{
    CUstreamCaptureStatus status;
    cuuint64_t id;
    CUgraph graph;

    works("begin",
          cu.StreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    works("the graph so far",
          cu.StreamGetCaptureInfo(stream, &status, &id, &graph, NULL, NULL,
                                  NULL));
    works("give it a user object",
          cu.GraphRetainUserObject(graph, object(1), 1,
                                   CU_GRAPH_USER_OBJECT_MOVE));
    ASK("spoil the capture", CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
        cu.StreamQuery(stream));
    ASK("end it", CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
        cu.StreamEndCapture(stream, &graph));
    ask_number("destructors then", 4, destroyed_by_now(4));
}

void chapter_graphs(void)
{
    CUmemGenericAllocationHandle handle;
    CUdeviceptr address;
    CUstream stream;

    if (!begin_with_context() ||
        !works("a stream", cu.StreamCreate(&stream, CU_STREAM_NON_BLOCKING)))
        return;
    address = usable(granule(), &handle);
    works("clear", cu.MemsetD8(address, 0, 4096));
    ask_of_replays(stream, address);
    ask_of_clones(stream, address);
    ask_of_references();
    ask_of_spoilt_captures(stream);
}

/* A chunk that is handed out by a descriptor, and comes back twice. */
struct export_trial {
    CUmemGenericAllocationHandle handle, imported, again;
    CUdeviceptr space;
    size_t bytes; /* of a granule */
    int fd, second;
};

static void ask_private(size_t bytes)
{
    CUmemAllocationProp prop = device_memory();
    CUmemGenericAllocationHandle plain;
    int fd = -1;

    works("memory not to be shared", cu.MemCreate(&plain, bytes, &prop, 0));
    ASK("export it", CUDA_ERROR_INVALID_VALUE,
        cu.MemExportToShareableHandle(
            &fd, plain, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
}

static void ask_export(struct export_trial *trial)
{
    CUmemAllocationProp prop = device_memory(), read;

    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    ASK("memory to be shared", CUDA_SUCCESS,
        cu.MemCreate(&trial->handle, trial->bytes, &prop, 0));
    ASK("export it as a fabric handle", CUDA_ERROR_INVALID_VALUE,
        cu.MemExportToShareableHandle(&read, trial->handle,
                                      CU_MEM_HANDLE_TYPE_FABRIC, 0));
    ASK("export it with a flag", CUDA_ERROR_INVALID_VALUE,
        cu.MemExportToShareableHandle(&trial->fd, trial->handle,
                                      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                      1));
    ASK("export it", CUDA_SUCCESS,
        cu.MemExportToShareableHandle(&trial->fd, trial->handle,
                                      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                      0));
    ask_number("closed by exec", FD_CLOEXEC,
               (uint64_t)(fcntl(trial->fd, F_GETFD) & FD_CLOEXEC));
    ASK("export it again", CUDA_SUCCESS,
        cu.MemExportToShareableHandle(&trial->second, trial->handle,
                                      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                      0));
    ask_number("another descriptor", 1, trial->fd != trial->second);
}

static void ask_import(struct export_trial *trial)
{
    ASK("import it", CUDA_SUCCESS,
        cu.MemImportFromShareableHandle(
            &trial->imported, (void *)(intptr_t)trial->fd,
            CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    ask_number("the same handle", 0, trial->imported == trial->handle);
    ASK("import it again", CUDA_SUCCESS,
        cu.MemImportFromShareableHandle(
            &trial->again, (void *)(intptr_t)trial->fd,
            CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    ask_number("the same as before", 0, trial->imported == trial->again);
    ask_number("the descriptor is still open", 0,
               fcntl(trial->fd, F_GETFD) < 0);
    close(trial->fd);
    close(trial->second);
}

static void ask_imported(const struct export_trial *trial)
{
    CUmemAccessDesc access = device_access(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CUdeviceptr space = trial->space;
    CUmemAllocationProp read;
    size_t bytes = trial->bytes;
    unsigned char out = 0;

    ASK("properties of what was imported", CUDA_SUCCESS,
        cu.MemGetAllocationPropertiesFromHandle(&read, trial->imported));
    ask_number("where it is", CU_MEM_LOCATION_TYPE_DEVICE, read.location.type);
    ASK("map the first", CUDA_SUCCESS,
        cu.MemMap(space, bytes, 0, trial->handle, 0));
    ASK("map what was imported", CUDA_SUCCESS,
        cu.MemMap(space + bytes, bytes, 0, trial->imported, 0));
    ASK("map half of what was imported", CUDA_ERROR_NOT_SUPPORTED,
        cu.MemMap(space + 2 * bytes, bytes / 2, 0, trial->again, 0));
    ASK("access", CUDA_SUCCESS, cu.MemSetAccess(space, 2 * bytes, &access, 1));
    ASK("write the first", CUDA_SUCCESS, cu.MemsetD8(space, 77, 4096));
    ASK("read the imported", CUDA_SUCCESS,
        cu.MemcpyDtoH(&out, space + bytes + 4000, 1));
    ask_number("which is", 77, out);
}

static void ask_release(struct export_trial *trial)
{
    CUdeviceptr space = trial->space;
    size_t bytes = trial->bytes;

    ASK("export what was imported", CUDA_ERROR_INVALID_VALUE,
        cu.MemExportToShareableHandle(&trial->fd, trial->imported,
                                      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                      0));
    ASK("release the first", CUDA_SUCCESS, cu.MemRelease(trial->handle));
    ASK("unmap both", CUDA_SUCCESS, cu.MemUnmap(space, 2 * bytes));
    ASK("release the imported", CUDA_SUCCESS, cu.MemRelease(trial->imported));
    ASK("release the other", CUDA_SUCCESS, cu.MemRelease(trial->again));
}

static void ask_no_chunks(void)
{
    CUmemGenericAllocationHandle imported;
    int foreign;

    ASK("import descriptor -1", CUDA_ERROR_UNKNOWN,
        cu.MemImportFromShareableHandle(
            &imported, (void *)(intptr_t)-1,
            CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    foreign = open("/dev/null", O_RDWR | O_CLOEXEC);
    ASK("import a file that is none of the driver's", CUDA_ERROR_UNKNOWN,
        cu.MemImportFromShareableHandle(
            &imported, (void *)(intptr_t)foreign,
            CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    close(foreign);
}

void chapter_export(void)
{
    struct export_trial trial = {.fd = -1, .second = -1};

    if (!begin_with_context())
        return;
    trial.bytes = granule();
    trial.space = reserved(4 * trial.bytes);
    ask_private(trial.bytes);
    ask_export(&trial);
    ask_import(&trial);
    ask_imported(&trial);
    ask_release(&trial);
    ask_no_chunks();
}
