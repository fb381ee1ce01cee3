/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "system.h"

#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define HUGE_BYTES ((size_t)2 << 20)

void bench_die(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    _exit(3);
}

double bench_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

long bench_preemptions(void)
{
    struct rusage usage;

    if (getrusage(RUSAGE_THREAD, &usage) != 0)
        bench_die("getrusage failed");
    return usage.ru_nivcsw;
}

/* A number of a processor's topology; -1 when the system does not say. */
static int read_topology(int cpu, const char *name)
{
    char path[96];
    int value = -1;
    FILE *file;

    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/%s",
             cpu, name);
    file = fopen(path, "r");
    if (file == NULL)
        return -1;
    if (fscanf(file, "%d", &value) != 1)
        value = -1;
    fclose(file);
    return value;
}

int bench_share_core(int one, int other)
{
    int core = read_topology(one, "core_id");

    return core >= 0 && core == read_topology(other, "core_id") &&
           read_topology(one, "physical_package_id") ==
               read_topology(other, "physical_package_id");
}

/* The first processor, and the first that is not of its core; if there is none,
 * the second. */
static int choose_processors(const cpu_set_t *allowed, int cpus_out[2])
{
    int count = 0;

    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, allowed))
            continue;
        if (count < 2)
            cpus_out[count++] = cpu;
        else if (!bench_share_core(cpus_out[0], cpus_out[1]))
            break;
        else if (!bench_share_core(cpus_out[0], cpu))
            cpus_out[1] = cpu;
    }
    return count;
}

/* Read once: a pinned thread may use one processor only. */
static int find_processors(int cpus_out[2])
{
    const char *wanted = getenv("BENCH_CPUS");
    cpu_set_t allowed;

    if (wanted != NULL)
        return sscanf(wanted, "%d,%d", &cpus_out[0], &cpus_out[1]);
    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
        bench_die("sched_getaffinity failed");
    return choose_processors(&allowed, cpus_out);
}

int bench_processors(int cpus_out[2])
{
    static int cpus[2];
    static int count = -1;

    if (count < 0)
        count = find_processors(cpus);
    if (count < 1)
        bench_die("BENCH_CPUS should name one or two processors: \"0,1\"");
    memcpy(cpus_out, cpus, sizeof(cpus));
    return count;
}

void bench_pin(int cpu)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof(one), &one) != 0)
        bench_die("cannot run on processor %d", cpu);
}

static char *map(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        bench_die("cannot map %zu bytes", bytes);
    return memory;
}

void *bench_map(size_t bytes)
{
    return memset(map(bytes), 0, bytes);
}

void *bench_map_untouched(size_t bytes, int huge)
{
    size_t rounded = (bytes + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1);
    uintptr_t first = (uintptr_t)map(rounded + HUGE_BYTES);
    char *memory = (char *)((first + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1));

    if (huge && madvise(memory, rounded, MADV_HUGEPAGE) != 0)
        bench_die("the kernel refuses huge pages");
    return memory;
}

struct bench_resident bench_resident(void)
{
    struct bench_resident resident = {0, 0};
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    size_t kib;

    if (file == NULL)
        bench_die("cannot read /proc/self/smaps_rollup");
    while (fgets(line, sizeof(line), file) != NULL) {
        if (sscanf(line, "Rss: %zu kB", &kib) == 1)
            resident.bytes = kib << 10;
        else if (sscanf(line, "AnonHugePages: %zu kB", &kib) == 1)
            resident.huge_bytes = kib << 10;
    }
    fclose(file);
    return resident;
}
