/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "source/source.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

struct ashlar_source source_heap = {.ops = &heap_ops, .holders = 0};

struct ashlar_source *source_hold(struct ashlar_source *source)
{
    if (source == NULL)
        source = &source_heap;
    __atomic_fetch_add(&source->holders, 1, __ATOMIC_RELAXED);
    return source;
}

void source_drop(struct ashlar_source *source)
{
    __atomic_fetch_sub(&source->holders, 1, __ATOMIC_RELEASE);
}

enum ashlar_status ashlar_source_open(const char *name, const char *options,
                                      struct ashlar_source **source_out)
{
    struct ashlar_source *source;

    if (name == NULL || source_out == NULL)
        return error_set(ASHLAR_ERR_INVALID,
                         "ashlar_source_open() was given NULL for %s",
                         name == NULL ? "name" : "source_out");
    if (strcmp(name, heap_ops.name) != 0)
        return error_set(ASHLAR_ERR_NO_PLUGIN,
                         "no source is called \"%s\"; built in is \"heap\"",
                         name);
    if (options != NULL && options[0] != '\0')
        return error_set(ASHLAR_ERR_INVALID,
                         "the source \"heap\" has no options, but was given "
                         "\"%s\"; give NULL or an empty string",
                         options);
    source = memory_zalloc(sizeof(*source));
    if (source == NULL)
        return error_set(ASHLAR_ERR_NO_MEMORY,
                         "no host memory for a source record of %zu bytes",
                         sizeof(*source));
    source->ops = &heap_ops;
    *source_out = source;
    return ASHLAR_OK;
}

enum ashlar_status ashlar_source_close(struct ashlar_source *source)
{
    unsigned holders;

    if (source == NULL)
        return error_set(ASHLAR_ERR_INVALID,
                         "ashlar_source_close() was given NULL for source");
    holders = __atomic_load_n(&source->holders, __ATOMIC_ACQUIRE);
    if (holders != 0)
        return error_set(ASHLAR_ERR_BUSY,
                         "%u pool(s) stand on the source \"%s\"; destroy them "
                         "before closing it",
                         holders, source->ops->name);
    memory_free(source);
    return ASHLAR_OK;
}

const char *ashlar_source_name(const struct ashlar_source *source)
{
    return source == NULL ? heap_ops.name : source->ops->name;
}
