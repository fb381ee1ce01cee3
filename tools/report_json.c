/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "report.h"

#include <stdlib.h>

#include <ashlar/version.h>
#include <jansson.h>

#include "human.h"

static void set_count(json_t *object, const char *key, uint64_t n)
{
    json_object_set_new(object, key, json_integer((json_int_t)n));
}

static void set_real(json_t *object, const char *key, double n)
{
    json_object_set_new(object, key, json_real(n));
}

static json_t *kernels_json(const struct preparation *preparation)
{
    const struct manifest *manifest = preparation->manifest;
    json_t *list = json_array();
    size_t i;

    for (i = 0; i < manifest->kernel_count; i++) {
        const struct kernel *kernel = &manifest->kernels[i];
        uint64_t descriptors = kernel->instances * kernel->tensor_count;
        json_t *object = json_object();

        json_object_set_new(object, "kernel", json_string(kernel->name));
        set_count(object, "tensors", kernel->tensor_count);
        set_count(object, "instances", kernel->instances);
        set_count(object, "descriptors", descriptors);
        set_count(object, "bytes", descriptors * preparation->stride);
        set_count(object, "runs_prepared", preparation->taken[i]);
        set_count(object, "address_residue", preparation->residues[i]);
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *prepared_json(const struct report *report)
{
    const struct preparation *preparation = report->preparation;
    const struct manifest *manifest = preparation->manifest;
    double slots = preparation->slots != 0 ? (double)preparation->slots : 1;
    json_t *object = json_object();

    set_count(object, "kernels", manifest->kernel_count);
    set_count(object, "instances", manifest->instances);
    set_count(object, "descriptors", manifest->descriptors);
    set_count(object, "bytes", manifest->descriptors * preparation->stride);
    set_count(object, "descriptors_prepared", preparation->slots);
    set_count(object, "alignment", preparation->alignment);
    set_count(object, "address_residue", preparation->residue);
    set_count(object, "reserve_ns", preparation->reserve_ns);
    set_count(object, "take_ns", preparation->take_ns);
    set_real(object, "take_ns_per_descriptor",
             (double)preparation->take_ns / slots);
    set_count(object, "maps_encoded", report->encoding->maps);
    set_count(object, "encode_ns", report->encoding->ns);
    json_object_set_new(object, "driver",
                        report->encoding->driver == NULL
                            ? json_null()
                            : json_string(report->encoding->driver));
    set_count(object, "slabs", preparation->slabs);
    set_count(object, "slab_bytes", preparation->slab_bytes);
    set_count(object, "source_calls_after_reserve", report->source_calls);
    return object;
}

static json_t *latency_json(const struct histogram *histogram)
{
    json_t *object = json_object();

    set_count(object, "p50", histogram_percentile(histogram, 50));
    set_count(object, "p90", histogram_percentile(histogram, 90));
    set_count(object, "p99", histogram_percentile(histogram, 99));
    set_count(object, "p99.9", histogram_percentile(histogram, 99.9));
    set_count(object, "max", histogram->max);
    return object;
}

static json_t *launches_json(const struct report *report)
{
    const struct launcher_result *result = report->launches;
    const struct launcher_options *options = report->options;
    double seconds = (double)result->wall_ns / 1e9;
    json_t *object = json_object();

    set_count(object, "threads", options->threads);
    set_count(object, "launches_per_thread", options->launches);
    if (options->shuffled)
        set_count(object, "seed", options->seed);
    set_count(object, "launches", result->launches);
    set_count(object, "descriptors", result->slots);
    set_count(object, "wall_ns", result->wall_ns);
    set_real(object, "launches_per_second",
             seconds > 0 ? (double)result->launches / seconds : 0);
    json_object_set_new(object, "latency_ns", latency_json(&result->latency));
    set_count(object, "clock_ns", result->clock_ns);
    set_count(object, "address_residue", result->residue);
    set_count(object, "clashes", result->clashes);
    return object;
}

void report_json(const struct report *report, FILE *stream)
{
    char *file = human_printable(report->file, SIZE_MAX, "");
    json_t *object = json_object();

    json_object_set_new(object, "ashlar", json_string(ashlar_version_string()));
    json_object_set_new(object, "manifest", json_string(file));
    json_object_set_new(object, "interrupted",
                        json_boolean(report->interrupted));
    json_object_set_new(object, "kernels", kernels_json(report->preparation));
    json_object_set_new(object, "prepared", prepared_json(report));
    if (report->launches != NULL)
        json_object_set_new(object, "launches", launches_json(report));
    json_dumpf(object, stream, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    fputc('\n', stream);
    json_decref(object);
    free(file);
}
