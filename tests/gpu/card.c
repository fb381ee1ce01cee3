/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "gpu/card.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gpu/kernels.h"

#define BLOCKS  1024
#define THREADS 256

static struct {
    CUcontext context;
    CUfunction fill;
    CUfunction wrong;
    CUfunction spin;
    CUdeviceptr count;       /* of words that are wrong */
    volatile uint32_t *flag; /* that stops a spinning kernel */
} card;

/* --- whether there is one --------------------------------------------------- */

struct finding {
    int count;
    char reason[256];
};

static struct finding look(void)
{
    struct finding finding = {0, ""};
    const char *reason = cu_open(NULL);
    CUresult result;

    if (reason != NULL) {
        (void)snprintf(finding.reason, sizeof(finding.reason), "%s", reason);
        return finding;
    }
    result = cu.Init(0);
    if (result == CUDA_SUCCESS)
        result = cu.DeviceGetCount(&finding.count);
    if (result != CUDA_SUCCESS)
        (void)snprintf(finding.reason, sizeof(finding.reason), "no card: %s",
                       cu_name(result));
    return finding;
}

/* In a child, since a driver that was started does not survive a fork. */
static const struct finding *find(void)
{
    static struct finding found;
    static bool asked;
    int ends[2];
    pid_t child;

    if (asked)
        return &found;
    asked = true;
    (void)snprintf(found.reason, sizeof(found.reason), "no process to look");
    if (pipe(ends) != 0)
        return &found;
    child = fork();
    if (child == 0) {
        struct finding finding = look();

        _exit(write(ends[1], &finding, sizeof(finding)) !=
              (ssize_t)sizeof(finding));
    }
    (void)close(ends[1]);
    if (read(ends[0], &found, sizeof(found)) != (ssize_t)sizeof(found))
        (void)snprintf(found.reason, sizeof(found.reason),
                       "the driver ends the process");
    (void)close(ends[0]);
    (void)waitpid(child, NULL, 0);
    return &found;
}

const char *card_missing(void)
{
    const struct finding *found = find();

    return found->reason[0] == '\0' ? NULL : found->reason;
}

int card_count(void)
{
    return find()->count;
}

/* --- the card ---------------------------------------------------------------- */

/*
 * Each kernel once, and a stream: what the driver sets aside at the first use
 * is not to look like a leak.
 */
static void warm_up(void)
{
    CUstream stream = card_stream();

    card_fill(stream, card.count, sizeof(uint32_t), 0);
    card_spin(stream, card.count, sizeof(uint32_t));
    card_stop();
    CU(cu.StreamSynchronize(stream));
    CU(cu.StreamDestroy(stream));
    (void)card_count_wrong(card.count, 0, 0);
}

/* From make check, the plug-in is the one that was built. */
static void find_plugin(void)
{
    const char *build = getenv("top_builddir");
    char path[4096];

    if (build == NULL)
        return;
    (void)snprintf(path, sizeof(path), "%s/plugins/cuda/.libs", build);
    (void)setenv("ASHLAR_PLUGIN_PATH", path, 0);
}

void card_start(void)
{
    CUmodule module;
    CUdevice device;
    void *flag;

    find_plugin();
    ck_assert_ptr_null(cu_open(NULL));
    CU(cu.Init(0));
    CU(cu.DeviceGet(&device, 0));
    CU(cu.DevicePrimaryCtxRetain(&card.context, device));
    CU(cu.CtxSetCurrent(card.context));
    CU(cu.ModuleLoadData(&module, kernels));
    CU(cu.ModuleGetFunction(&card.fill, module, "fill"));
    CU(cu.ModuleGetFunction(&card.wrong, module, "wrong"));
    CU(cu.ModuleGetFunction(&card.spin, module, "spin"));
    CU(cu.MemAlloc(&card.count, sizeof(uint32_t)));
    CU(cu.MemHostAlloc(&flag, sizeof(*card.flag), 0));
    card.flag = flag;
    warm_up();
}

uint64_t card_free_bytes(void)
{
    size_t free_bytes = 0;
    size_t total = 0;

    CU(cu.MemGetInfo(&free_bytes, &total));
    return free_bytes;
}

CUstream card_stream(void)
{
    CUstream stream;

    CU(cu.StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

static void launch(CUfunction kernel, unsigned blocks, CUstream stream,
                   void **arguments)
{
    CU(cu.LaunchKernel(kernel, blocks, 1, 1, THREADS, 1, 1, 0, stream,
                       arguments, NULL));
}

void card_fill(CUstream stream, uint64_t address, uint64_t bytes,
               uint32_t stamp)
{
    uint64_t words = bytes / sizeof(uint32_t);
    void *arguments[] = {&address, &words, &stamp};

    launch(card.fill, BLOCKS, stream, arguments);
}

uint32_t card_count_wrong(uint64_t address, uint64_t bytes, uint32_t stamp)
{
    uint64_t words = bytes / sizeof(uint32_t);
    void *arguments[] = {&address, &words, &stamp, &card.count};
    uint32_t wrong = 0;
    CUstream stream = card_stream();

    CU(cu.MemsetD32Async(card.count, 0, 1, stream));
    launch(card.wrong, BLOCKS, stream, arguments);
    CU(cu.StreamSynchronize(stream));
    CU(cu.MemcpyDtoH(&wrong, card.count, sizeof(wrong)));
    CU(cu.StreamDestroy(stream));
    return wrong;
}

void card_spin(CUstream stream, uint64_t address, uint64_t bytes)
{
    uint64_t flag = (uint64_t)(uintptr_t)card.flag;
    uint64_t words = bytes / sizeof(uint32_t);
    void *arguments[] = {&flag, &address, &words};

    *card.flag = 0;
    launch(card.spin, 4, stream, arguments);
}

void card_stop(void)
{
    *card.flag = 1;
}

/* --- time --------------------------------------------------------------------- */

#define ROUNDS     101
#define WORKS_MOST 3

double card_now_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
    double one = *(const double *)a;
    double other = *(const double *)b;

    return one < other ? -1 : one > other;
}

double card_median(double *values, unsigned count)
{
    qsort(values, count, sizeof(*values), compare);
    return values[count / 2];
}

static double time_once(CUstream stream, const struct card_work *work)
{
    double begin, took;

    if (work->prepare != NULL)
        work->prepare(work->user);
    begin = card_now_us();
    work->issue(work->user);
    CU(cu.StreamSynchronize(stream));
    took = card_now_us() - begin;
    if (work->clear != NULL)
        work->clear(work->user);
    return took;
}

void card_times_us(CUstream stream, const struct card_work *works,
                   double *times_out, size_t count)
{
    double took[WORKS_MOST][ROUNDS];
    unsigned round;
    size_t i;

    ck_assert_uint_le(count, WORKS_MOST);
    for (i = 0; i < count; i++) /* to get warm */
        (void)time_once(stream, &works[i]);
    for (round = 0; round < ROUNDS; round++)
        for (i = 0; i < count; i++)
            took[i][round] = time_once(stream, &works[i]);
    for (i = 0; i < count; i++)
        times_out[i] = card_median(took[i], ROUNDS);
}

int card_speed_main(int argc, char **argv, const char *name, const TTest *test,
                    unsigned *rounds, unsigned rounds_most)
{
    const char *missing = card_missing();
    Suite *suite = suite_create(name);
    TCase *tcase = tcase_create("speed");

    if (argc > 1)
        *rounds = (unsigned)strtoul(argv[1], NULL, 10);
    if (*rounds == 0 || *rounds > rounds_most) {
        fprintf(stderr, "rounds are 1 to %u\n", rounds_most);
        return 2;
    }
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    tcase_set_timeout(tcase, 300);
    tcase_add_test(tcase, test);
    suite_add_tcase(suite, tcase);
    return missing != NULL ? suite_skip(missing) : suite_run(suite);
}
