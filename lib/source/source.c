/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Opening, closing and asking sources. */
#include "config.h"

#include "source/call.h"

#include <ashlar/range.h>

#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/thread.h"

#define OPTIONS_MOST 16

static void host_log(enum ashlar_log_level level, const char *format, ...)
    ASHLAR_FORMAT(2, 3);
static enum ashlar_status host_fail(enum ashlar_status status,
                                    const char *format, ...)
    ASHLAR_FORMAT(2, 3);

static void host_log(enum ashlar_log_level level, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    log_line_v(level, format, arguments);
    va_end(arguments);
}

static enum ashlar_status host_fail(enum ashlar_status status,
                                    const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    status = error_set_v(status, format, arguments);
    va_end(arguments);
    return status;
}

const struct ashlar_host source_host = {
    .abi = ASHLAR_PLUGIN_ABI,
    .struct_size = sizeof(struct ashlar_host),
    .fail = host_fail,
    .log = host_log,
    .alloc = memory_zalloc,
    .free = memory_free,
};

/* "key=value,key=value", cut into pieces in place. */
struct pairs {
    struct ashlar_plugin_option options[OPTIONS_MOST];
    size_t count;
    char *text;
};

static enum ashlar_status cut_pair(struct pairs *pairs, char *pair)
{
    char *value = strchr(pair, '=');
    size_t i;

    if (value == NULL || value == pair)
        return error_set(ASHLAR_ERR_INVALID,
                         "the option \"%s\" is no key=value", pair);
    *value++ = '\0';
    for (i = 0; i < pairs->count; i++)
        if (strcmp(pairs->options[i].key, pair) == 0)
            return error_set(ASHLAR_ERR_INVALID,
                             "the option \"%s\" is given twice", pair);
    if (pairs->count == OPTIONS_MOST)
        return error_set(ASHLAR_ERR_INVALID, "more than %d options are given",
                         OPTIONS_MOST);
    pairs->options[pairs->count++] = (struct ashlar_plugin_option){pair, value};
    return ASHLAR_OK;
}

static enum ashlar_status cut_options(const char *options, struct pairs *pairs)
{
    enum ashlar_status status = ASHLAR_OK;
    char *pair;
    char *rest;

    memset(pairs, 0, sizeof(*pairs));
    if (options == NULL || *options == '\0')
        return ASHLAR_OK;
    pairs->text = memory_copy_text(options, strlen(options));
    if (pairs->text == NULL)
        return error_set(ASHLAR_ERR_NO_MEMORY,
                         "no host memory for the options of a source");
    for (rest = pairs->text; status == ASHLAR_OK && rest != NULL;) {
        pair = strsep(&rest, ",");
        status = cut_pair(pairs, pair);
    }
    return status;
}

static const struct ashlar_plugin *built_in(const char *name)
{
    if (strcmp(name, heap_plugin.name) == 0)
        return &heap_plugin;
    return strcmp(name, vm_plugin.name) == 0 ? &vm_plugin : NULL;
}

const struct ashlar_plugin *ashlar_source_built_in(const char *name)
{
    const struct ashlar_plugin *plugin;

    if (name == NULL)
        return error_null(ASHLAR_ERR_INVALID,
                          "ashlar_source_built_in() was given NULL for name");
    plugin = built_in(name);
    if (plugin == NULL)
        return error_null(ASHLAR_ERR_NOT_FOUND,
                          "the source \"%s\" is not built in; \"heap\" and "
                          "\"vm\" are",
                          name);
    return plugin;
}

static enum ashlar_status find_ops(struct ashlar_source *source,
                                   const char *name, uint64_t *can_out)
{
    if (built_in(name) != NULL)
        return plugin_check(built_in(name), name, &source->ops, can_out);
    if (!plugin_name_is_good(name))
        return error_set(ASHLAR_ERR_INVALID,
                         "\"%s\" is no name of a source; a name is 1 to %d of "
                         "a-z, 0-9 and _",
                         name, SOURCE_NAME_BYTES - 1);
    return plugin_load(name, &source->ops, can_out, source->path);
}

/* The rights that ranges are to start with. */
static enum ashlar_status check_access(const struct ashlar_source *source)
{
    const struct ashlar_plugin_info *info = &source->info;
    uint32_t i;

    if (info->access_count > ASHLAR_PLUGIN_ACCESS_MOST)
        return error_set(ASHLAR_ERR_NO_PLUGIN,
                         "plug-in \"%s\" names the rights of %u locations for "
                         "new ranges; %d is the most",
                         source->name, info->access_count,
                         ASHLAR_PLUGIN_ACCESS_MOST);
    for (i = 0; i < info->access_count; i++)
        if (info->access[i].location >= info->location_count ||
            !rights_are_known(info->access[i].rights))
            return error_set(ASHLAR_ERR_NO_PLUGIN,
                             "plug-in \"%s\" gives new ranges rights %u for "
                             "location %u of %u",
                             source->name, info->access[i].rights,
                             info->access[i].location, info->location_count);
    return ASHLAR_OK;
}

/* What open() said of the source, held against what it must be. */
static enum ashlar_status check_info(struct ashlar_source *source, uint64_t can)
{
    struct ashlar_plugin_info *info = &source->info;
    uint64_t granule = info->granule;

    info->description[sizeof(info->description) - 1] = '\0';
    if ((info->can & plugin_groups() & ~can) != 0)
        return error_set(ASHLAR_ERR_NO_PLUGIN,
                         "plug-in \"%s\" says that it can do 0x%lx, but has "
                         "the functions for 0x%lx alone",
                         source->name, (unsigned long)info->can,
                         (unsigned long)can);
    info->can &= can | ASHLAR_CAN_HOST_ACCESS;
    if (!source_can(source, ASHLAR_CAN_RANGES))
        return ASHLAR_OK;
    if (granule == 0 || (granule & (granule - 1)) != 0)
        return error_set(ASHLAR_ERR_NO_PLUGIN,
                         "plug-in \"%s\" says that its granule is %lu bytes; "
                         "it must be a power of two",
                         source->name, (unsigned long)granule);
    if (info->home_location >= info->location_count)
        return error_set(ASHLAR_ERR_NO_PLUGIN,
                         "plug-in \"%s\" says that its home is location %u of "
                         "%u",
                         source->name, info->home_location,
                         info->location_count);
    return check_access(source);
}

/* An error that a plug-in does not explain is not to look like the last one. */
static enum ashlar_status call_open(struct ashlar_source *source,
                                    const struct pairs *pairs)
{
    enum ashlar_status status;
    struct error before;

    error_copy(&before);
    ashlar_clear_error();
    status = source->ops.open(&source_host, pairs->options, pairs->count,
                              &source->info, &source->state);
    if (status == ASHLAR_OK)
        error_restore(&before);
    else if (ashlar_last_error() != status)
        (void)error_set(status,
                        "the source \"%s\" could not be opened; its plug-in "
                        "does not say why",
                        source->name);
    return status;
}

/* `plugin` is NULL when the name says which one it is. */
static enum ashlar_status open_with(struct ashlar_source *source,
                                    const struct ashlar_plugin *plugin,
                                    const char *name, const char *options)
{
    struct pairs pairs;
    enum ashlar_status status;
    uint64_t can = 0;

    if (plugin != NULL)
        status = plugin_check(plugin, name, &source->ops, &can);
    else
        status = find_ops(source, name, &can);
    if (status != ASHLAR_OK)
        return status;
    strncpy(source->name, name, sizeof(source->name) - 1);
    source->process = thread_process();
    source->info.size = sizeof(source->info);
    lock_init(&source->retire.lock);
    status = cut_options(options, &pairs);
    if (status == ASHLAR_OK)
        status = call_open(source, &pairs);
    memory_free(pairs.text);
    if (status != ASHLAR_OK)
        return status;
    status = check_info(source, can);
    if (status != ASHLAR_OK)
        source->ops.close(source->state);
    return status;
}

static enum ashlar_status open_new(const struct ashlar_plugin *plugin,
                                   const char *name, const char *options,
                                   struct ashlar_source **source_out)
{
    struct ashlar_source *source =
        thread_start() == 0 ? memory_zalloc(sizeof(*source)) : NULL;
    enum ashlar_status status;

    if (source == NULL)
        return error_set(ASHLAR_ERR_NO_MEMORY,
                         "no host memory for a source record of %zu bytes",
                         sizeof(*source));
    status = open_with(source, plugin, name, options);
    if (status != ASHLAR_OK) {
        memory_free(source);
        return status;
    }
    *source_out = source;
    return ASHLAR_OK;
}

enum ashlar_status ashlar_source_open(const char *name, const char *options,
                                      struct ashlar_source **source_out)
{
    if (name == NULL || source_out == NULL)
        return error_set(ASHLAR_ERR_INVALID,
                         "ashlar_source_open() was given NULL for %s",
                         name == NULL ? "name" : "source_out");
    return open_new(NULL, name, options, source_out);
}

enum ashlar_status source_open_plugin(const struct ashlar_plugin *plugin,
                                      const char *name, const char *options,
                                      struct ashlar_source **source_out)
{
    return open_new(plugin, name, options, source_out);
}

struct ashlar_source *source_heap(void)
{
    static struct ashlar_source heap;
    static struct lock lock = LOCK_INIT;
    static bool ready;

    if (__atomic_load_n(&ready, __ATOMIC_ACQUIRE))
        return &heap;
    lock_take(&lock);
    if (!ready) {
        (void)open_with(&heap, NULL, heap_plugin.name, NULL);
        __atomic_store_n(&ready, true, __ATOMIC_RELEASE);
    }
    lock_give(&lock);
    return &heap;
}

struct ashlar_source *source_hold(struct ashlar_source *source)
{
    if (source == NULL)
        source = source_heap();
    __atomic_fetch_add(&source->holders, 1, __ATOMIC_RELAXED);
    return source;
}

void source_drop(struct ashlar_source *source)
{
    __atomic_fetch_sub(&source->holders, 1, __ATOMIC_RELEASE);
}

enum ashlar_status source_check(struct ashlar_source *source, const char *call)
{
    if (source_is_usable(source))
        return ASHLAR_OK;
    if (source == NULL)
        return error_set(ASHLAR_ERR_INVALID, "%s was given NULL for source",
                         call);
    return error_set(ASHLAR_ERR_FORKED,
                     "%s: the source \"%s\" was opened by the parent process, "
                     "and is not usable after fork; open one here",
                     call, source->name);
}

enum ashlar_status ashlar_source_close(struct ashlar_source *source)
{
    enum ashlar_status status = source_check(source, "ashlar_source_close()");
    unsigned holders;

    if (status != ASHLAR_OK)
        return status;
    if (!retire_collect(source))
        return error_set(ASHLAR_ERR_BUSY,
                         "%lu bytes retired on the source \"%s\" wait for "
                         "their fences; see ashlar_source_drain()",
                         (unsigned long)retire_bytes(source), source->name);
    holders = __atomic_load_n(&source->holders, __ATOMIC_ACQUIRE);
    if (holders != 0)
        return error_set(ASHLAR_ERR_BUSY,
                         "%u pool(s), arena(s), range(s) or fence(s) stand on "
                         "the source \"%s\"; destroy them before closing it",
                         holders, source->name);
    source->ops.close(source->state);
    memory_free(source);
    return ASHLAR_OK;
}

const char *ashlar_source_name(const struct ashlar_source *source)
{
    return source == NULL ? heap_plugin.name : source->name;
}

enum ashlar_status ashlar_source_query(struct ashlar_source *source,
                                       struct ashlar_source_info *info)
{
    struct ashlar_source_info own = ASHLAR_SOURCE_INFO_INIT;

    if (info == NULL)
        return error_set(ASHLAR_ERR_INVALID,
                         "ashlar_source_query() was given NULL for info");
    if (source == NULL)
        source = source_heap();
    own.name = source->name;
    own.version = source->ops.version == NULL ? "" : source->ops.version;
    own.path = source->path;
    own.description = source->info.description;
    own.can = source->info.can;
    own.granule = source->info.granule;
    own.memory_bytes = source->info.memory_bytes;
    own.location_count = source->info.location_count;
    own.home_location = source->info.home_location;
    own.capability = source->info.capability;
    own.holders = __atomic_load_n(&source->holders, __ATOMIC_RELAXED);
    own.retired_bytes = retire_bytes(source);
    own.retired_items =
        __atomic_load_n(&source->retire.items, __ATOMIC_RELAXED);
    own.dropped_items =
        __atomic_load_n(&source->retire.dropped, __ATOMIC_RELAXED);
    return result_write(info, &own, sizeof(own), "struct ashlar_source_info");
}

static void read_call(struct ashlar_source_call *to,
                      const struct ashlar_source_call *from)
{
    to->count = __atomic_load_n(&from->count, __ATOMIC_RELAXED);
    to->refused = __atomic_load_n(&from->refused, __ATOMIC_RELAXED);
    to->ns = __atomic_load_n(&from->ns, __ATOMIC_RELAXED);
}

enum ashlar_status ashlar_source_query_calls(struct ashlar_source *source,
                                             struct ashlar_source_calls *calls)
{
    struct ashlar_source_calls own = ASHLAR_SOURCE_CALLS_INIT;

    if (calls == NULL)
        return error_set(ASHLAR_ERR_INVALID,
                         "ashlar_source_query_calls() was given NULL for "
                         "calls");
    if (source == NULL)
        source = source_heap();
    read_call(&own.reserve, &source->calls.reserve);
    read_call(&own.release, &source->calls.release);
    read_call(&own.create, &source->calls.create);
    read_call(&own.destroy, &source->calls.destroy);
    read_call(&own.map, &source->calls.map);
    read_call(&own.unmap, &source->calls.unmap);
    read_call(&own.allow, &source->calls.allow);
    read_call(&own.chunk_export, &source->calls.chunk_export);
    read_call(&own.chunk_import, &source->calls.chunk_import);
    return result_write(calls, &own, sizeof(own), "struct ashlar_source_calls");
}

void ashlar_source_time_calls(struct ashlar_source *source, int on)
{
    if (source == NULL)
        source = source_heap();
    __atomic_store_n(&source->timed, on != 0, __ATOMIC_RELAXED);
}

uint64_t source_clock_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

enum ashlar_status ashlar_source_drain(struct ashlar_source *source,
                                       uint64_t timeout_ns)
{
    static const struct timespec pause = {0, 50000};
    enum ashlar_status status = source_check(source, "ashlar_source_drain()");
    uint64_t begin;

    if (status != ASHLAR_OK)
        return status;
    begin = source_clock_ns();
    while (!retire_collect(source)) {
        if (source_clock_ns() - begin >= timeout_ns)
            return error_set(ASHLAR_ERR_BUSY,
                             "%lu bytes in %lu items retired on the source "
                             "\"%s\" still wait for their fences",
                             (unsigned long)retire_bytes(source),
                             (unsigned long)__atomic_load_n(
                                 &source->retire.items, __ATOMIC_RELAXED),
                             source->name);
        (void)nanosleep(&pause, NULL);
    }
    return ASHLAR_OK;
}
