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

/* What it is, and the capability of its device; 0: not known. */
static char *describe(struct ashlar_source *source, uint32_t *capability_out)
{
    struct ashlar_source_info info = ASHLAR_SOURCE_INFO_INIT;

    *capability_out = 0;
    if (ashlar_source_query(source, &info) != ASHLAR_OK)
        return must_copy("cuda");
    *capability_out = info.capability;
    return must_copy(info.description);
}

/* By the rules that it breaks on this device, or else in the driver's words. */
static void note_refusal(const struct kernel *kernel,
                         const struct tensor *tensor, uint32_t capability,
                         struct encoding *encoding)
{
    char *why = must_copy(ashlar_last_error_message());
    const struct place place = {&encoding->mistakes, 0, NULL, ""};
    size_t before = encoding->mistakes.count;

    tensor_check(&place, kernel->name, tensor, capability);
    if (encoding->mistakes.count == before)
        tensor_note(&place, kernel->name, tensor->name, why);
    free(why);
}

static void note_failure(const struct kernel *kernel,
                         const struct tensor *tensor, struct encoding *encoding)
{
    char *of = human_printable(kernel->name, NAME_COLUMNS, "...");
    char *name = human_printable(tensor->name, NAME_COLUMNS, "...");

    encoding->failure = must_format("kernel \"%s\", tensor \"%s\": %s", of,
                                    name, ashlar_last_error_message());
    free(name);
    free(of);
}

/* One tensor, in every instance of its kernel. */
static enum ashlar_status encode_tensor(const struct preparation *preparation,
                                        struct ashlar_source *source,
                                        size_t index, size_t tensor,
                                        struct encoding *encoding)
{
    const struct kernel *kernel = &preparation->manifest->kernels[index];
    void **runs = preparation->runs + preparation->first[index];
    enum ashlar_status status = ASHLAR_OK;
    uint64_t begin, i;
    struct ashlar_spec spec;

    (void)tensor_spec(&kernel->tensors[tensor], &spec);
    begin = clock_ns();
    for (i = 0; i < preparation->taken[index] && status == ASHLAR_OK; i++) {
        char *map = (char *)runs[i] + tensor * preparation->stride;

        status = ashlar_tensormap_encode(source, &spec, map);
        encoding->maps += status == ASHLAR_OK;
    }
    encoding->ns += clock_ns() - begin;
    return status;
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

/* All tensors of a kernel: a refusal of one does not hide the next one's. */
static bool encode_kernel(const struct preparation *preparation,
                          struct ashlar_source *source, size_t index,
                          uint32_t capability, struct encoding *encoding)
{
    const struct kernel *kernel = &preparation->manifest->kernels[index];
    enum ashlar_status status;
    size_t i;

    for (i = 0; i < kernel->tensor_count && !stop_wanted(); i++) {
        status = encode_tensor(preparation, source, index, i, encoding);
        if (status == ASHLAR_ERR_INVALID) {
            note_refusal(kernel, &kernel->tensors[i], capability, encoding);
        } else if (status != ASHLAR_OK) {
            note_failure(kernel, &kernel->tensors[i], encoding);
            return false;
        }
    }
    return true;
}

static bool encode_all(const struct preparation *preparation,
                       struct ashlar_source *source, uint32_t capability,
                       struct encoding *encoding)
{
    const struct manifest *manifest = preparation->manifest;
    size_t i;

    warm_up(source, preparation);
    for (i = 0; i < manifest->kernel_count; i++)
        if (!encode_kernel(preparation, source, i, capability, encoding))
            return false;
    return encoding->mistakes.count == 0;
}

bool encoding_do(const struct preparation *preparation, const char *file,
                 const char *driver, struct encoding *encoding)
{
    struct ashlar_source *source;
    uint32_t capability;
    bool done;

    memset(encoding, 0, sizeof(*encoding));
    mistakes_start(&encoding->mistakes, file);
    if (strcmp(driver, "none") == 0) {
        encoding->reason = must_copy("none was asked for");
        return true;
    }
    source = open_source(driver);
    if (source == NULL) {
        encoding->reason = must_copy(ashlar_last_error_message());
        return strcmp(driver, "auto") == 0;
    }
    encoding->driver = describe(source, &capability);
    done = encode_all(preparation, source, capability, encoding);
    (void)ashlar_source_close(source);
    return done;
}

void encoding_end(struct encoding *encoding)
{
    mistakes_end(&encoding->mistakes);
    free(encoding->driver);
    free(encoding->reason);
    free(encoding->failure);
    memset(encoding, 0, sizeof(*encoding));
}
