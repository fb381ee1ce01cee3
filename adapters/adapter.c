/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "adapter.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ashlar/range.h>
#include <ashlar/source.h>
#include <ashlar/status.h>

static struct ashlar_arena *arenas[ADAPTER_DEVICES]; /* atomic */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t kept; /* atomic */

static void complain(int device, const char *what)
{
    (void)fprintf(stderr, "ashlar_adapter: device %d: %s: %s\n", device, what,
                  ashlar_last_error_message());
}

/* --- an arena for each device --------------------------------------------- */

/* "name" or "name:options", as the variable has it. */
static enum ashlar_status open_source(int device,
                                      struct ashlar_source **source_out)
{
    const char *given = getenv("ASHLAR_ADAPTER_SOURCE");
    const char *colon;
    char options[PATH_MAX + 256]; /* a driver's path, and others */
    char name[64];

    if (given == NULL || *given == '\0')
        given = "cuda";
    colon = strchr(given, ':');
    (void)snprintf(
        name, sizeof(name), "%.*s",
        (int)(colon == NULL ? strlen(given) : (size_t)(colon - given)), given);
    (void)snprintf(options, sizeof(options), "%s",
                   colon == NULL ? "" : colon + 1);
    if (strcmp(name, "cuda") == 0)
        (void)snprintf(options, sizeof(options), "device=%d%s%s", device,
                       colon == NULL ? "" : ",",
                       colon == NULL ? "" : colon + 1);
    return ashlar_source_open(name, options, source_out);
}

/* With the lock held. */
static struct ashlar_arena *make_arena(int device)
{
    struct ashlar_arena_options options = ASHLAR_ARENA_OPTIONS_INIT;
    struct ashlar_arena *arena = NULL;
    char name[32];

    if (open_source(device, &options.source) != ASHLAR_OK) {
        complain(device, "no source");
        return NULL;
    }
    (void)snprintf(name, sizeof(name), "adapter, device %d", device);
    options.name = name;
    if (ashlar_arena_create(&options, &arena) == ASHLAR_OK)
        return arena;
    complain(device, "no arena");
    (void)ashlar_source_close(options.source);
    return NULL;
}

struct ashlar_arena *ashlar_adapter_arena(int device)
{
    struct ashlar_arena *arena;

    if (device < 0 || device >= ADAPTER_DEVICES)
        return NULL;
    arena = __atomic_load_n(&arenas[device], __ATOMIC_ACQUIRE);
    if (arena != NULL)
        return arena;
    (void)pthread_mutex_lock(&lock);
    arena = arenas[device];
    if (arena == NULL) {
        arena = make_arena(device);
        __atomic_store_n(&arenas[device], arena, __ATOMIC_RELEASE);
    }
    (void)pthread_mutex_unlock(&lock);
    return arena;
}

uint64_t ashlar_adapter_kept(void)
{
    return __atomic_load_n(&kept, __ATOMIC_RELAXED);
}

/* --- blocks --------------------------------------------------------------- */

static void *alloc(int device, size_t size)
{
    struct ashlar_arena *arena = ashlar_adapter_arena(device);
    void *block;

    if (device < 0 || device >= ADAPTER_DEVICES)
        (void)fprintf(stderr,
                      "ashlar_adapter: device is %d; devices are 0 to %d\n",
                      device, ADAPTER_DEVICES - 1);
    if (arena == NULL || size == 0)
        return NULL;
    block = ashlar_arena_alloc(arena, size, ADAPTER_ALIGNMENT);
    if (block == NULL)
        complain(device, "no block");
    return block;
}

/*
 * What is freed on a stream that is being captured comes back with its graph,
 * which may use it whenever it runs. What cannot be freed stays: work may use
 * it still.
 */
static enum ashlar_status free_in(struct ashlar_arena *arena, void *block,
                                  uint64_t stream)
{
    struct ashlar_fence fence = ASHLAR_FENCE_OF_STREAM(NULL, stream);
    enum ashlar_status status =
        ashlar_arena_free_after(arena, block, &fence, 1);

    if (status != ASHLAR_ERR_CAPTURE)
        return status;
    fence.kind = ASHLAR_FENCE_CAPTURE;
    return ashlar_arena_free_after(arena, block, &fence, 1);
}

static void free_after(int device, void *block, uint64_t stream)
{
    struct ashlar_arena *arena;

    if (block == NULL)
        return;
    arena = ashlar_adapter_arena(device);
    if (arena == NULL || free_in(arena, block, stream) != ASHLAR_OK)
        __atomic_fetch_add(&kept, 1, __ATOMIC_RELAXED);
}

void *ashlar_torch_alloc(ssize_t size, int device, void *stream)
{
    (void)stream;
    return size <= 0 ? NULL : alloc(device, (size_t)size);
}

void ashlar_torch_free(void *block, ssize_t size, int device, void *stream)
{
    (void)size;
    free_after(device, block, (uint64_t)(uintptr_t)stream);
}

void *ashlar_cupy_alloc(intptr_t param, size_t size, int device)
{
    (void)param;
    return alloc(device, size);
}

void ashlar_cupy_free(intptr_t param, void *block, int device)
{
    free_after(device, block, (uint64_t)param);
}
