/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The simulated CUDA driver, as a test sees it.
 *
 * libcuda.so.1 of cudasim implements a part of the driver API over real memory, with
 * the real driver's rules, refusals and error codes. The functions below, which
 * it exports beside those of cuda.h, say what the machine is like, what goes
 * wrong and when work is done; and they count. A program is linked with cudasim's
 * folder in front of the real driver's, or finds them by dlsym().
 *
 * Settings are "key=value,...", in the environment variable CUDASIM, which
 * cuInit() reads, or given to cudasim_reset():
 *
 * | setting | meaning                                                | default |
 * |---------|--------------------------------------------------------|---------|
 * | devices | how many, 1 to 8                                       | 1       |
 * | memory  | bytes of each device, a multiple of 2M                 | 1G      |
 * | peers   | all, none: whether devices reach each other            | all     |
 * | numa    | host NUMA nodes, 1 to 8                                | 1       |
 * | driver  | the version that it tells, such as 12000               | 13000   |
 * | sm      | what the devices can compute: 80 is 8.0                | 90      |
 * | hints   | grant, move, refuse: what becomes of an address hint   | grant   |
 * | work    | now, held: queued work is done at once, or when the    | now     |
 * |         | test finishes it                                       |         |
 * | fabric  | yes, no: whether memory may get fabric handles         | no      |
 * | rdma    | yes, no: GPUDirect RDMA for memory of cuMemCreate()    | yes     |
 * | report  | yes, no: at exit, say on stderr what was not freed     | no      |
 *
 * A setting that is wrong is said on stderr, and cuInit() returns
 * CUDA_ERROR_INVALID_VALUE.
 *
 * None of these functions may be called from a function that the driver calls back.
 */
#ifndef CUDASIM_H
#define CUDASIM_H

#include <stddef.h>
#include <stdint.h>

#include <cuda.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What the driver has given out and not got back, in this process. */
struct cudasim_account {
    size_t size;           /**< sizeof(struct cudasim_account), by the caller */
    uint64_t reservations; /**< of addresses */
    uint64_t reserved_bytes;
    uint64_t handles;    /**< of memory that somebody holds or has mapped */
    uint64_t references; /**< on those, by who created, retained, imported */
    uint64_t handle_bytes;
    uint64_t mappings;
    uint64_t mapped_bytes;
    uint64_t accesses; /**< rights other than none, by mapping and location */
    uint64_t events;
    uint64_t streams; /**< without the default ones */
    uint64_t user_objects;
    uint64_t graphs; /**< without those that are being captured */
    uint64_t graph_execs;
    uint64_t fds;               /**< descriptors that the driver holds open */
    uint64_t contexts_retained; /**< how often the primary ones are */
    uint64_t allocations; /**< of cuMemAlloc(), cuMemHostAlloc() and the like */
    uint64_t allocated_bytes;
    uint64_t bogus_handles; /**< in calls: none, or none any more */
    uint64_t modules;
};

/** An account to be filled. */
#define CUDASIM_ACCOUNT_INIT                                                   \
    {                                                                          \
        sizeof(struct cudasim_account), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
            0, 0, 0, 0, 0, 0                                                   \
    }

/**
 * Begin with a fresh machine.
 *
 * All that the driver has given out is forgotten and freed, all counts are zero,
 * no failure is asked for, and cuInit() has to be called again. Destructors of
 * user objects are not called.
 *
 * @param settings  As above; NULL: what the environment says.
 *
 * @return 0; -1 when a setting is wrong, which is said on stderr, and then nothing
 *         changed.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
int cudasim_reset(const char *settings);

/**
 * Have a call fail.
 *
 * The call changes nothing and returns the result. Failures that were asked for add
 * up; at most 64 may be still to come.
 *
 * @param entry    As cuGetProcAddress() takes it, "cuMemMap"; NULL: any that can
 *                 fail.
 * @param nth      Which call of those to come; 1 is the next.
 * @param result   What it returns; not CUDA_SUCCESS.
 * @param forever  Whether all later ones fail, too.
 *
 * @return 0; -1 when there is no such entry, or nth or result is 0, or 64 failures
 *         are still to come.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
int cudasim_fail(const char *entry, uint64_t nth, CUresult result, int forever);

/**
 * Have some calls in a row fail, such as with CUDA_ERROR_NOT_READY for a while.
 *
 * @param entry   As for cudasim_fail().
 * @param nth     The first that fails; 1 is the next.
 * @param result  What they return.
 * @param times   How many; not 0.
 *
 * @return As cudasim_fail().
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
int cudasim_fail_times(const char *entry, uint64_t nth, CUresult result,
                       uint64_t times);

/**
 * Ask for no failure any more.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
void cudasim_fail_none(void);

/**
 * Count the calls of an entry since the last reset or cudasim_count_none().
 *
 * @param entry  As for cudasim_fail(); NULL: all.
 *
 * @return The calls, failed ones among them; 0 if there is no such entry.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
uint64_t cudasim_calls(const char *entry);

/**
 * Begin to count calls at 0 again.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
void cudasim_count_none(void);

/**
 * Say what becomes of address hints from now on.
 *
 * @param policy  "grant": they are followed if the addresses are free. "move": the
 *                reservation is elsewhere. "refuse": CUDA_ERROR_OUT_OF_MEMORY,
 *                and the caller's pointer is garbage.
 *
 * @return 0; -1 for another policy, which is said on stderr.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
int cudasim_hints(const char *policy);

/**
 * Hold what is queued on a stream from now on, until cudasim_finish().
 *
 * @param stream  NULL: the default stream of the current context; without one, of
 *                the primary context of device 0.
 *
 * @return 0; -1 if there is no such stream.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
int cudasim_hold(CUstream stream);

/**
 * Let the work that is queued on a stream be done.
 *
 * It is done in order, before this returns, unless it waits for work of another
 * stream that is held. The stream is no longer held; but with work=held it holds
 * what is queued afterwards.
 *
 * Calls that wait, such as cuStreamSynchronize() and cuMemFree(), do the same for
 * all that they wait for, as time passes while one waits.
 *
 * @param stream  As for cudasim_hold().
 *
 * @return 0; -1 if there is no such stream.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
int cudasim_finish(CUstream stream);

/**
 * Let all work be done, also that of destroyed streams.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
void cudasim_finish_all(void);

/**
 * Queue something like a kernel, which lasts until the stream is finished. While
 * the stream captures, it becomes a part of the graph.
 *
 * If at its end not all that it touches is mapped with the right, the context
 * fails with CUDA_ERROR_ILLEGAL_ADDRESS.
 *
 * @param stream   As for cudasim_hold().
 * @param address  What it touches: first byte,
 * @param bytes    and how many.
 * @param write    Whether it writes; else it reads.
 *
 * @return 0; -1 if there is no such stream, its capture is spoilt, or no host
 *         memory.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
int cudasim_touch(CUstream stream, CUdeviceptr address, size_t bytes,
                  int write);

/**
 * Have the primary context of a device fail, as after a bad kernel.
 *
 * @param device  Its number.
 * @param result  What all calls in that context return from now on.
 *
 * @return 0; -1 if there is no such device, or its context is not retained.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
int cudasim_fail_context(CUdevice device, CUresult result);

/**
 * From now on every call returns CUDA_ERROR_DEINITIALIZED, as while a process exits.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
void cudasim_deinitialize(void);

/**
 * Take the account.
 *
 * @param account  Its size is set by the caller; the rest is filled as far as that
 *                 goes.
 *
 * @return 0; -1 if the size is 0 or too large.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
int cudasim_query(struct cudasim_account *account);

/**
 * Say what was not freed, a line for each kind of thing.
 *
 * @param buffer  For the text, which ends with a zero byte.
 * @param bytes   Of the buffer.
 *
 * @return The length of the whole text, as snprintf() does; 0: nothing is left.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
int cudasim_report(char *buffer, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
