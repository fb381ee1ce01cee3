/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "type/type.h"

#include <stdbool.h>
#include <string.h>

#include "base/align.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/thread.h"
#include "type/record.h"

/*
 * Built-in records lie in their own table. Registered ones lie in chunks that
 * double, so that they never move and a pointer is checked against a few
 * bounds; a hash table over names leads to them.
 *
 *     chunks ──> [0 .. 63] [64 .. 191] [192 .. 447] ...
 *     buckets ──> record ──> record        (chain; the newest first)
 *
 * Writers hold the lock and publish a record once it is complete: first
 * `count`, for who walks, then the bucket, for who looks up a name. Readers
 * take no lock.
 */
#define CHUNK_FIRST     ((size_t)64)
#define CHUNKS_MAX      24
#define BUCKET_COUNT    1024
#define NAME_LENGTH_MAX 127

static struct lock lock = LOCK_INIT;
static struct ashlar_type *chunks[CHUNKS_MAX];
static size_t count;
static struct ashlar_type *buckets[BUCKET_COUNT];

/* Which chunk holds an index; *first_out is the index of its first record. */
static size_t chunk_of(size_t index, size_t *first_out)
{
    size_t chunk = 0, first = 0;

    while (index - first >= CHUNK_FIRST << chunk)
        first += CHUNK_FIRST << chunk++;
    *first_out = first;
    return chunk;
}

static struct ashlar_type *registered_at(size_t index)
{
    size_t first, chunk = chunk_of(index, &first);

    return __atomic_load_n(&chunks[chunk], __ATOMIC_ACQUIRE) + (index - first);
}

static bool is_built_in(const struct ashlar_type *type)
{
    uintptr_t offset = (uintptr_t)type - (uintptr_t)builtin_types;

    return offset < builtin_count * sizeof(*type) &&
           offset % sizeof(*type) == 0;
}

/* Whether the pointer is one of the records counted. Compared as integers:
 * it may be anything. */
static bool is_registered(const struct ashlar_type *type)
{
    size_t records = __atomic_load_n(&count, __ATOMIC_ACQUIRE);
    size_t first = 0, chunk;

    for (chunk = 0; first < records; chunk++) {
        size_t length = min_size(records - first, CHUNK_FIRST << chunk);
        uintptr_t offset =
            (uintptr_t)type -
            (uintptr_t)__atomic_load_n(&chunks[chunk], __ATOMIC_ACQUIRE);

        if (offset < length * sizeof(*type))
            return offset % sizeof(*type) == 0;
        first += CHUNK_FIRST << chunk;
    }
    return false;
}

int type_is_known(const struct ashlar_type *type)
{
    return type != NULL && (is_built_in(type) || is_registered(type));
}

static size_t load_state(const struct ashlar_type *type)
{
    return __atomic_load_n(&type->state, __ATOMIC_ACQUIRE);
}

/* FNV-1a. */
static uint64_t hash_name(const char *name, size_t length)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    size_t i;

    for (i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Whether a name is one of a list separated by commas. */
static bool list_has(const char *list, const char *name, size_t length)
{
    while (*list != '\0') {
        const char *end = strchrnul(list, ',');

        if ((size_t)(end - list) == length && memcmp(list, name, length) == 0)
            return true;
        list = end + (*end == ',');
    }
    return false;
}

static struct ashlar_type *find_built_in(const char *name, size_t length)
{
    size_t i;

    for (i = 0; i < builtin_count; i++) {
        struct ashlar_type *type = &builtin_types[i];

        if ((type->name[0] == name[0] && strcmp(type->name, name) == 0) ||
            list_has(type->aliases, name, length))
            return type;
    }
    return NULL;
}

static struct ashlar_type *find_registered(const char *name, uint64_t hash)
{
    struct ashlar_type *type =
        __atomic_load_n(&buckets[hash % BUCKET_COUNT], __ATOMIC_ACQUIRE);

    while (type != NULL &&
           (type->hash != hash || strcmp(type->name, name) != 0))
        type = type->chain;
    return type;
}

/* The hash table first: no name is in both, and it takes one look. */
static struct ashlar_type *find(const char *name, size_t length, uint64_t hash)
{
    struct ashlar_type *type = find_registered(name, hash);

    return type != NULL ? type : find_built_in(name, length);
}

const struct ashlar_type *ashlar_type_find(const char *name)
{
    const struct ashlar_type *type;
    size_t length;

    if (name == NULL)
        return error_null(ASHLAR_ERR_INVALID,
                          "the name of the type to find is NULL");
    length = strlen(name);
    type = find(name, length, hash_name(name, length));
    if (type == NULL)
        return error_null(ASHLAR_ERR_NOT_FOUND,
                          "no type is named \"%s\": register it first", name);
    return type;
}

const struct ashlar_type *ashlar_type_next(const struct ashlar_type *type)
{
    size_t index = 0;

    if (type == NULL)
        return builtin_types;
    if (is_built_in(type)) {
        if (type + 1 < builtin_types + builtin_count)
            return type + 1;
    } else if (is_registered(type)) {
        index = (size_t)type->index + 1;
    } else {
        return NULL;
    }
    if (index >= __atomic_load_n(&count, __ATOMIC_ACQUIRE))
        return NULL;
    return registered_at(index);
}

static enum ashlar_status check_name(const char *name)
{
    size_t length;

    if (name == NULL)
        return error_set(ASHLAR_ERR_INVALID, "the name of the type is NULL");
    length = strlen(name);
    if (length == 0)
        return error_set(ASHLAR_ERR_INVALID, "the name of the type is empty");
    if (length > NAME_LENGTH_MAX)
        return error_set(ASHLAR_ERR_INVALID,
                         "a type's name of %zu bytes is too long: at most %zu "
                         "are kept; it begins with \"%s\"",
                         length, (size_t)NAME_LENGTH_MAX, name);
    return ASHLAR_OK;
}

static enum ashlar_status check_layout(const char *name, size_t size,
                                       size_t alignment)
{
    if (size == 0)
        return error_set(ASHLAR_ERR_INVALID,
                         "the size of \"%s\" is 0: a slot has 1 byte or more",
                         name);
    if (!is_power_of_two(alignment))
        return error_set(ASHLAR_ERR_INVALID,
                         "the alignment of \"%s\" is %zu, which is no power "
                         "of two",
                         name, alignment);
    if (alignment > ASHLAR_TYPE_ALIGNMENT_MAX)
        return error_set(ASHLAR_ERR_INVALID,
                         "the alignment of \"%s\" is %zu, above the maximum "
                         "of %zu",
                         name, alignment, ASHLAR_TYPE_ALIGNMENT_MAX);
    if (size > PTRDIFF_MAX - (alignment - 1))
        return error_set(ASHLAR_ERR_INVALID,
                         "the size of \"%s\" is %zu: rounded up to its "
                         "alignment of %zu it exceeds what one object may "
                         "have",
                         name, size, alignment);
    return ASHLAR_OK;
}

static enum ashlar_status refuse_size(const struct ashlar_type *type,
                                      const char *name, size_t size)
{
    return error_set(ASHLAR_ERR_CONFLICT,
                     "\"%s\" is %s with a size of %zu, and has %zu here: "
                     "register one of the two under another name",
                     name, is_built_in(type) ? "built in" : "registered",
                     type->size, size);
}

static enum ashlar_status refuse_alignment(const struct ashlar_type *type,
                                           const char *name, size_t state,
                                           size_t alignment)
{
    if (is_built_in(type))
        return error_set(ASHLAR_ERR_CONFLICT,
                         "\"%s\" is built in with an alignment of %zu, and "
                         "has %zu here: register it under another name",
                         name, state >> 1, alignment);
    return error_set(ASHLAR_ERR_CONFLICT,
                     "\"%s\" has had a pool at an alignment of %zu, and has "
                     "%zu here: register it with %zu before its first pool, "
                     "or under another name",
                     name, state >> 1, alignment, alignment);
}

/* Register what is known already. Takes the lock only to strengthen. */
static enum ashlar_status register_known(struct ashlar_type *type,
                                         const char *name, size_t size,
                                         size_t alignment)
{
    size_t state = load_state(type);

    if (type->size != size)
        return refuse_size(type, name, size);
    if (alignment <= state >> 1)
        return ASHLAR_OK;
    if (is_built_in(type))
        return refuse_alignment(type, name, state, alignment);
    lock_take(&lock);
    state = load_state(type);
    if (alignment > state >> 1 && (state & TYPE_STATE_FROZEN) == 0) {
        state = TYPE_STATE(alignment);
        __atomic_store_n(&type->state, state, __ATOMIC_RELEASE);
    }
    lock_give(&lock);
    if (alignment > state >> 1)
        return refuse_alignment(type, name, state, alignment);
    return ASHLAR_OK;
}

/* Room for the record after the last, under the lock; NULL without memory. */
static struct ashlar_type *make_room(size_t index)
{
    size_t first, chunk = chunk_of(index, &first);
    struct ashlar_type *records;

    if (chunk >= CHUNKS_MAX)
        return NULL;
    records = chunks[chunk];
    if (records == NULL) {
        records = memory_zalloc((CHUNK_FIRST << chunk) * sizeof(*records));
        if (records == NULL)
            return NULL;
        __atomic_store_n(&chunks[chunk], records, __ATOMIC_RELEASE);
    }
    return records + (index - first);
}

/* Add a record for a name that is new, under the lock; NULL without memory. */
static struct ashlar_type *add(const char *name, uint64_t hash, size_t size,
                               size_t alignment)
{
    struct ashlar_type **bucket = &buckets[hash % BUCKET_COUNT];
    struct ashlar_type *type = make_room(count);
    char *copy = type == NULL ? NULL : memory_copy_text(name, NAME_LENGTH_MAX);

    if (copy == NULL)
        return NULL;
    type->name = copy;
    type->aliases = "";
    type->source = "";
    type->size = size;
    type->state = TYPE_STATE(alignment);
    type->hash = hash;
    type->index = (uint32_t)count;
    type->chain = *bucket;
    __atomic_store_n(&count, count + 1, __ATOMIC_RELEASE);
    __atomic_store_n(bucket, type, __ATOMIC_RELEASE);
    return type;
}

static void fork_before(void)
{
    lock_take(&lock);
}

static void fork_after(void)
{
    lock_give(&lock);
}

/* The registry's lock must be free in a child: said once, before it is first
 * taken. Two threads that say it at the same time say the same. */
static void join_forks(void)
{
    static bool joined;

    if (__atomic_load_n(&joined, __ATOMIC_ACQUIRE))
        return;
    (void)thread_set_fork_part(THREAD_FORK_TYPE, fork_before, fork_after,
                               fork_after);
    __atomic_store_n(&joined, true, __ATOMIC_RELEASE);
}

/* The record of a name, made when it is new; NULL without memory. *known_out
 * says that it was there before. */
static struct ashlar_type *find_or_add(const char *name, size_t size,
                                       size_t alignment, bool *known_out)
{
    size_t length = strlen(name);
    uint64_t hash = hash_name(name, length);
    struct ashlar_type *type = find(name, length, hash);

    *known_out = type != NULL;
    if (type != NULL)
        return type;
    lock_take(&lock);
    type = find_registered(name, hash);
    *known_out = type != NULL;
    if (type == NULL)
        type = add(name, hash, size, alignment);
    lock_give(&lock);
    return type;
}

enum ashlar_status ashlar_type_register(const char *name, size_t size,
                                        size_t alignment,
                                        const struct ashlar_type **type_out)
{
    enum ashlar_status status = check_name(name);
    struct ashlar_type *type;
    bool known;

    if (status == ASHLAR_OK)
        status = check_layout(name, size, alignment);
    if (status != ASHLAR_OK)
        return status;
    if (type_out == NULL)
        return error_set(ASHLAR_ERR_INVALID,
                         "the place for the type \"%s\" is NULL", name);
    join_forks();
    type = find_or_add(name, size, alignment, &known);
    if (type == NULL)
        return error_set(ASHLAR_ERR_NO_MEMORY,
                         "no host memory for the record of type \"%s\"", name);
    if (known)
        status = register_known(type, name, size, alignment);
    if (status == ASHLAR_OK)
        *type_out = type;
    return status;
}

enum ashlar_status ashlar_type_query(const struct ashlar_type *type,
                                     struct ashlar_type_info *info)
{
    struct ashlar_type_info own = ASHLAR_TYPE_INFO_INIT;
    size_t state;

    if (!type_is_known(type))
        return error_set(ASHLAR_ERR_INVALID,
                         "%p is no type of this process: use what "
                         "ashlar_type_register() or ashlar_type_find() gave",
                         (const void *)type);
    state = load_state(type);
    own.name = type->name;
    own.aliases = type->aliases;
    own.source = type->source;
    own.object_size = type->size;
    own.alignment = state >> 1;
    own.stride = align_up(type->size, state >> 1);
    own.cuda12_alignment = type->cuda12;
    own.cuda13_alignment = type->cuda13;
    own.flags = type->flags;
    if ((state & TYPE_STATE_FROZEN) != 0)
        own.flags |= ASHLAR_TYPE_FROZEN;
    return result_write(info, &own, sizeof(own), "struct ashlar_type_info");
}

void type_layout(const struct ashlar_type *type, size_t *object_size_out,
                 size_t *alignment_out, size_t *stride_out)
{
    size_t alignment = load_state(type) >> 1;

    *object_size_out = type->size;
    *alignment_out = alignment;
    *stride_out = align_up(type->size, alignment);
}

bool type_freeze(const struct ashlar_type *type, size_t alignment)
{
    /* Callers hold it const; the registry made it, and may write its state. */
    struct ashlar_type *own = (struct ashlar_type *)(uintptr_t)type;
    size_t state = load_state(type);

    if ((state & TYPE_STATE_FROZEN) == 0) {
        join_forks();
        lock_take(&lock);
        state = load_state(type);
        if (state >> 1 == alignment) {
            state |= TYPE_STATE_FROZEN;
            __atomic_store_n(&own->state, state, __ATOMIC_RELEASE);
        }
        lock_give(&lock);
    }
    return state >> 1 == alignment;
}
