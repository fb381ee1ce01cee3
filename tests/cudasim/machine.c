/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "machine.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "context.h"
#include "graph.h"
#include "module.h"
#include "physical.h"
#include "space.h"
#include "stream.h"

struct machine machine;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;

/* Far from any address, so that whoever follows a handle faults. */
static uint64_t last_handle = UINT64_C(0xc0da000000000000);

void machine_lock(void)
{
    pthread_mutex_lock(&lock);
}

void machine_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void machine_wait(void)
{
    pthread_cond_wait(&moved, &lock);
}

void machine_moved(void)
{
    pthread_cond_broadcast(&moved);
}

uint64_t machine_handle(void)
{
    last_handle += 16;
    return last_handle;
}

uint64_t machine_thread(void)
{
    static _Atomic uint64_t last;
    static _Thread_local uint64_t number;

    if (number == 0)
        number = atomic_fetch_add(&last, 1) + 1;
    return number;
}

void *machine_object(struct index *index, size_t bytes)
{
    struct item *item = calloc(1, bytes);

    if (item == NULL)
        return NULL;
    *item = (struct item){machine_handle(), 1};
    if (index_add(index, item) != 0) {
        free(item);
        return NULL;
    }
    return item;
}

bool machine_forked(void)
{
    pid_t pid = atomic_load(&machine.pid);

    return pid != 0 && pid != getpid();
}

int machine_location(CUmemLocation location)
{
    unsigned id = (unsigned)location.id;

    if (location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
        id < machine.settings.devices)
        return location.id;
    if ((int)location.type == LOCATION_TYPE_HOST_NUMA &&
        id < machine.settings.nodes)
        return MAX_DEVICES + location.id;
    if ((int)location.type == LOCATION_TYPE_HOST)
        return MAX_DEVICES;
    return -1;
}

int machine_driver(void)
{
    struct settings settings = machine.settings;

    if (settings.devices == 0 && settings_read(&settings, NULL) != 0)
        return 0;
    return settings.driver;
}

/* Streams go before the contexts that they are in, mappings before memory. */
void machine_clear(void)
{
    stream_clear();
    graph_clear();
    context_clear();
    module_clear();
    space_clear();
    physical_clear();
    machine.gone = false;
    machine.bogus = 0;
    atomic_store(&machine.pid, 0);
    atomic_fetch_add(&machine.generation, 1);
}
