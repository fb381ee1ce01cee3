/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "encoding.h"

#include <stdlib.h>
#include <string.h>

#include <ashlar/source.h>
#include <ashlar/tensormap.h>

#include "clock.h"
#include "human.h"
#include "must.h"
#include "stop.h"
#include "tensor_spec.h"

#define NAME_COLUMNS 60

/* The plug-in, by the driver that was asked for; NULL, and the last error. */
static struct ashlar_source *open_source(const char *driver)
{
    struct ashlar_source *source = NULL;
    char *options = NULL;

    if (strcmp(driver, "sim") == 0)
        options = must_format("driver=%s", ASHLAR_CUDASIM);
    else if (strcmp(driver, "auto") != 0)
        options = must_format("driver=%s", driver);
    if (ashlar_source_open("cuda", options, &source) != ASHLAR_OK)
        source = NULL;
    free(options);
    return source;
}

static char *describe(struct ashlar_source *source)
{
    struct ashlar_source_info info = ASHLAR_SOURCE_INFO_INIT;

    if (ashlar_source_query(source, &info) != ASHLAR_OK)
        return must_copy("cuda");
    return must_copy(info.description);
}

static void note_refusal(const struct kernel *kernel,
                         const struct tensor *tensor, struct encoding *encoding)
{
    char *of = human_printable(kernel->name, NAME_COLUMNS, "...");
    char *name = human_printable(tensor->name, NAME_COLUMNS, "...");

    encoding->refusal = must_format("kernel \"%s\", tensor \"%s\": %s", of,
                                    name, ashlar_last_error_message());
    free(name);
    free(of);
}

/* One tensor, in every instance of its kernel. */
static bool encode_tensor(const struct preparation *preparation,
                          struct ashlar_source *source, size_t index,
                          size_t tensor, struct encoding *encoding)
{
    const struct kernel *kernel = &preparation->manifest->kernels[index];
    void **runs = preparation->runs + preparation->first[index];
    uint64_t begin, i;
    struct ashlar_spec spec;
    bool good = true;

    (void)tensor_spec(&kernel->tensors[tensor], &spec);
    begin = clock_ns();
    for (i = 0; i < preparation->taken[index] && good; i++) {
        char *map = (char *)runs[i] + tensor * preparation->stride;

        good = ashlar_tensormap_encode(source, &spec, map) == ASHLAR_OK;
        encoding->maps += good;
    }
    encoding->ns += clock_ns() - begin;
    if (!good)
        note_refusal(kernel, &kernel->tensors[tensor], encoding);
    return good;
}

/* The first call is the one that may have to start a context. */
static void warm_up(struct ashlar_source *source,
                    const struct preparation *preparation)
{
    _Alignas(128) unsigned char map[ASHLAR_TENSOR_MAP_BYTES];
    const struct manifest *manifest = preparation->manifest;
    struct ashlar_spec spec;
    size_t i = 0;

    while (i < manifest->kernel_count && manifest->kernels[i].tensor_count == 0)
        i++;
    if (i == manifest->kernel_count)
        return;
    (void)tensor_spec(&manifest->kernels[i].tensors[0], &spec);
    (void)ashlar_tensormap_encode(source, &spec, map);
}

static bool encode_all(const struct preparation *preparation,
                       struct ashlar_source *source, struct encoding *encoding)
{
    const struct manifest *manifest = preparation->manifest;
    size_t i, j;

    warm_up(source, preparation);
    for (i = 0; i < manifest->kernel_count; i++)
        for (j = 0; j < manifest->kernels[i].tensor_count; j++)
            if (stop_wanted() ||
                !encode_tensor(preparation, source, i, j, encoding))
                return stop_wanted() && encoding->refusal == NULL;
    return true;
}

bool encoding_do(const struct preparation *preparation, const char *driver,
                 struct encoding *encoding)
{
    struct ashlar_source *source;
    bool done;

    memset(encoding, 0, sizeof(*encoding));
    if (strcmp(driver, "none") == 0) {
        encoding->reason = must_copy("none was asked for");
        return true;
    }
    source = open_source(driver);
    if (source == NULL) {
        encoding->reason = must_copy(ashlar_last_error_message());
        return strcmp(driver, "auto") == 0;
    }
    encoding->driver = describe(source);
    done = encode_all(preparation, source, encoding);
    (void)ashlar_source_close(source);
    return done;
}

void encoding_end(struct encoding *encoding)
{
    free(encoding->driver);
    free(encoding->reason);
    free(encoding->refusal);
    memset(encoding, 0, sizeof(*encoding));
}
