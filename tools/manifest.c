/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "manifest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ashlar/pool.h>
#include <jansson.h>

#include "human.h"
#include "must.h"
#include "stop.h"
#include "suggest.h"
#include "tensor_spec.h"

static const struct bounds instance_bounds = {1, ASHLAR_POOL_SLOTS_MAX, 1,
                                              ASHLAR_POOL_SLOTS_MAX};

static const char *json_kind(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_ARRAY:
        return "a list";
    case JSON_STRING:
        return "a text";
    case JSON_INTEGER:
    case JSON_REAL:
        return "a number";
    default:
        return "true, false or null";
    }
}

static void check_kernel_names(const struct place *place)
{
    static const char *const known[] = {"kernel", "instances", "tensors"};
    const char *name;
    json_t *value;

    json_object_foreach(place->object, name, value)
    {
        struct suggestion suggestion = {name, NULL, 0};
        size_t i;

        for (i = 0; i < 3 && strcmp(name, known[i]) != 0; i++)
            suggest_consider(&suggestion, known[i]);
        if (i == 3)
            field_refuse_name(place, name, suggestion.best);
    }
}

/* A tensor's name stands for a parameter of the kernel, so once is enough. */
static void check_tensor_name(const struct place *place, json_t *seen,
                              size_t index)
{
    json_t *value = json_object_get(place->object, "name");
    const char *name = json_string_value(value);
    json_t *first;

    if (name == NULL || name[0] == '\0')
        return; /* told already */
    first = json_object_get(seen, name);
    if (first != NULL)
        field_refuse(place, "name", value,
                     "another than that of tensors[%lld] of this kernel",
                     (long long)json_integer_value(first));
    else
        json_object_set_new(seen, name, json_integer((json_int_t)index));
}

static void read_tensors(const struct place *place, struct kernel *kernel)
{
    static const char right[] = "a list of objects, one for each tensor";
    json_t *list = json_object_get(place->object, "tensors");
    json_t *seen;
    size_t i;

    if (!json_is_array(list)) {
        field_refuse(place, "tensors", list, "%s", right);
        return;
    }
    seen = json_object();
    kernel->tensors =
        must_alloc(json_array_size(list), sizeof(kernel->tensors[0]));
    kernel->tensor_count = json_array_size(list);
    for (i = 0; i < kernel->tensor_count; i++) {
        size_t before = place->mistakes->count;
        char *path = must_format("tensors[%zu]", i);
        char *dotted = must_format("%s.", path);
        struct place inside = {place->mistakes, place->line,
                               json_array_get(list, i), dotted};

        if (json_is_object(inside.object)) {
            tensor_read(&inside, &kernel->tensors[i]);
            check_tensor_name(&inside, seen, i);
            if (place->mistakes->count == before)
                tensor_check(&inside, kernel->name, &kernel->tensors[i], 0);
        } else {
            field_refuse(place, path, inside.object,
                         "an object such as {\"name\": \"A\", \"dtype\": "
                         "\"bfloat16\", \"shape\": [4096, 128]}");
        }
        free(dotted);
        free(path);
    }
    json_decref(seen);
}

static void kernel_clear(struct kernel *kernel)
{
    size_t i;

    for (i = 0; i < kernel->tensor_count; i++)
        tensor_clear(&kernel->tensors[i]);
    free(kernel->tensors);
    free(kernel->name);
}

static void add_kernel(struct manifest *manifest, const struct kernel *kernel)
{
    size_t n = manifest->kernel_count;
    uint64_t descriptors;

    if ((n & (n - 1)) == 0)
        manifest->kernels = must_grow(manifest->kernels, n == 0 ? 1 : 2 * n,
                                      sizeof(manifest->kernels[0]));
    manifest->kernels[n] = *kernel;
    manifest->kernel_count++;
    manifest->instances += kernel->instances;
    if (__builtin_mul_overflow(kernel->instances, kernel->tensor_count,
                               &descriptors) ||
        __builtin_add_overflow(manifest->descriptors, descriptors,
                               &manifest->descriptors))
        manifest->descriptors = UINT64_MAX;
}

static void read_kernel(struct mistakes *mistakes, size_t line, json_t *object,
                        struct manifest *manifest)
{
    struct place place = {mistakes, line, object, ""};
    struct kernel kernel = {NULL, 0, 0, NULL};
    const char *name;
    int64_t instances = 0;

    if (!json_is_object(object)) {
        mistakes_add(mistakes, line,
                     "the line is %s; it must be one object, {\"kernel\": ..., "
                     "\"instances\": ..., \"tensors\": [...]}",
                     json_kind(object));
        return;
    }
    check_kernel_names(&place);
    if (field_text(&place, "kernel", &name))
        kernel.name = must_copy(name);
    field_integer(&place, "instances", FIELD_NEEDED, instance_bounds,
                  &instances);
    kernel.instances = (uint64_t)instances;
    read_tensors(&place, &kernel);
    add_kernel(manifest, &kernel);
}

/* The line without the white space at its end. */
static size_t trimmed(const char *text, size_t length)
{
    while (length != 0 && text[length - 1] != '\0' &&
           strchr(" \t\r\n", text[length - 1]) != NULL)
        length--;
    return length;
}

static void read_line(struct mistakes *mistakes, size_t line, const char *text,
                      size_t length, struct manifest *manifest)
{
    json_error_t error;
    json_t *object;

    length = trimmed(text, length);
    if (length == 0)
        return;
    object = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY,
                        &error);
    if (object == NULL) {
        char *reason = human_printable(error.text, SIZE_MAX, "...");

        mistakes_add(mistakes, line,
                     "the line is no JSON (column %d: %s); it must be one "
                     "object, from { to }",
                     error.column, reason);
        free(reason);
        return;
    }
    read_kernel(mistakes, line, object, manifest);
    json_decref(object);
}

/* What can be seen only at the end. */
static void check_whole(struct mistakes *mistakes,
                        const struct manifest *manifest)
{
    if (mistakes->count != 0)
        return;
    if (manifest->kernel_count == 0)
        mistakes_add(mistakes, 0,
                     "there is no kernel in it; each line must be one object, "
                     "{\"kernel\": ..., \"instances\": ..., \"tensors\": "
                     "[...]}");
    else if (manifest->descriptors > ASHLAR_POOL_SLOTS_MAX)
        mistakes_add(mistakes, 0,
                     "it has %s descriptors in all; a pool holds at most %s",
                     human_count(manifest->descriptors).s,
                     human_count(ASHLAR_POOL_SLOTS_MAX).s);
}

/* Some editors begin a file with a byte order mark. */
static size_t mark_length(const char *text, size_t length)
{
    return length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

bool manifest_read(FILE *stream, uint64_t bytes, struct progress *progress,
                   struct mistakes *mistakes, struct manifest *manifest)
{
    char *text = NULL;
    size_t room = 0, line = 0;
    uint64_t done = 0;
    ssize_t length = 0;

    memset(manifest, 0, sizeof(*manifest));
    progress_phase(progress, "reading", bytes);
    errno = 0;
    while (!stop_wanted() && (length = getline(&text, &room, stream)) >= 0) {
        size_t skip = line == 0 ? mark_length(text, (size_t)length) : 0;

        line++;
        read_line(mistakes, line, text + skip, (size_t)length - skip, manifest);
        done += (uint64_t)length;
        progress_step(progress, done);
    }
    progress_end(progress);
    free(text);
    if (stop_wanted())
        return false;
    if (!feof(stream))
        mistakes_add(mistakes, 0, "the file cannot be read: %s",
                     strerror(errno));
    check_whole(mistakes, manifest);
    return true;
}

void manifest_clear(struct manifest *manifest)
{
    size_t i;

    for (i = 0; i < manifest->kernel_count; i++)
        kernel_clear(&manifest->kernels[i]);
    free(manifest->kernels);
    memset(manifest, 0, sizeof(*manifest));
}
