/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "report.h"

#include <stdlib.h>

#include "grid.h"
#include "human.h"
#include "must.h"

#define ROWS_MOST 20
#define LABEL     "%-11s"

static void kernel_row(struct grid *grid, const char *name, const char *tensors,
                       uint64_t instances, uint64_t descriptors, size_t stride,
                       const char *residue)
{
    grid_cell(grid, name);
    grid_cell(grid, tensors);
    grid_cell(grid, human_count(instances).s);
    grid_cell(grid, human_count(descriptors).s);
    grid_cell(grid, human_bytes(descriptors * stride).s);
    grid_cell(grid, residue);
}

/* "-" where no slot was looked at. */
static struct human residue_text(size_t residue, uint64_t taken)
{
    struct human none = {"-"};

    return taken == 0 ? none : human_count(residue);
}

static void kernel_rows(struct grid *grid, const struct report *report,
                        size_t count)
{
    const struct preparation *preparation = report->preparation;
    size_t i;

    for (i = 0; i < count; i++) {
        const struct kernel *kernel = &preparation->manifest->kernels[i];

        kernel_row(
            grid, kernel->name, human_count(kernel->tensor_count).s,
            kernel->instances, kernel->instances * kernel->tensor_count,
            preparation->stride,
            residue_text(preparation->residues[i], preparation->taken[i]).s);
    }
}

/* The kernels that have no row of their own, in one. */
static void rest_row(struct grid *grid, const struct report *report,
                     size_t from)
{
    const struct preparation *preparation = report->preparation;
    const struct manifest *manifest = preparation->manifest;
    uint64_t instances = 0, descriptors = 0, taken = 0;
    size_t residue = 0, i;
    char *name;

    for (i = from; i < manifest->kernel_count; i++) {
        instances += manifest->kernels[i].instances;
        descriptors +=
            manifest->kernels[i].instances * manifest->kernels[i].tensor_count;
        taken += preparation->taken[i];
        if (preparation->residues[i] > residue)
            residue = preparation->residues[i];
    }
    name = must_format("... %s more (--all)",
                       human_count(manifest->kernel_count - from).s);
    kernel_row(grid, name, "", instances, descriptors, preparation->stride,
               residue_text(residue, taken).s);
    free(name);
}

static void print_kernels(const struct report *report, FILE *stream,
                          const struct look *look)
{
    const struct preparation *preparation = report->preparation;
    const struct manifest *manifest = preparation->manifest;
    size_t count = manifest->kernel_count;
    struct grid *grid = grid_create();
    char *total = must_format("%s %s", human_count(count).s,
                              human_plural(count, "kernel", "kernels"));
    char *residue = must_format("ADDR %% %zu", preparation->alignment);

    if (count > ROWS_MOST && !report->all)
        count = ROWS_MOST - 1;
    grid_column(grid, GRID_LEFT, "KERNEL");
    grid_column(grid, GRID_RIGHT, "TENSORS");
    grid_column(grid, GRID_RIGHT, "INSTANCES");
    grid_column(grid, GRID_RIGHT, "DESCRIPTORS");
    grid_column(grid, GRID_RIGHT, "BYTES");
    grid_column(grid, GRID_RIGHT, residue);
    kernel_rows(grid, report, count);
    if (count < manifest->kernel_count)
        rest_row(grid, report, count);
    grid_rule(grid);
    kernel_row(grid, total, "", manifest->instances, manifest->descriptors,
               preparation->stride,
               residue_text(preparation->residue, preparation->slots).s);
    grid_print(grid, stream, look);
    grid_destroy(grid);
    free(residue);
    free(total);
}

static void print_prepared(const struct report *report, FILE *stream)
{
    const struct preparation *preparation = report->preparation;
    const struct manifest *manifest = preparation->manifest;
    uint64_t runs = 0;
    size_t i;

    for (i = 0; i < manifest->kernel_count; i++)
        runs += preparation->taken[i];
    fprintf(stream, LABEL "%s", "prepared", human_count(preparation->slots).s);
    if (preparation->interrupted)
        fprintf(stream, " of %s", human_count(manifest->descriptors).s);
    fprintf(stream, " %s in %s %s, %s\n",
            human_plural(preparation->slots, "descriptor", "descriptors"),
            human_count(runs).s, human_plural(runs, "run", "runs"),
            human_bytes(preparation->slots * preparation->stride).s);
    if (preparation->slots == 0)
        return;
    if (preparation->residue == 0)
        fprintf(stream, LABEL "address %% %zu is 0 for each of them\n",
                "alignment", preparation->alignment);
    else
        fprintf(stream, LABEL "address %% %zu is up to %zu: WRONG\n",
                "alignment", preparation->alignment, preparation->residue);
}

/* Why not is a sentence, and has its own lines. */
static void print_encoded(const struct report *report, FILE *stream,
                          const struct look *look)
{
    const struct encoding *encoding = report->encoding;

    fprintf(stream, LABEL, "maps");
    if (encoding->driver == NULL) {
        char *text = must_format("checked, not encoded: %s", encoding->reason);

        human_wrap(stream, text, sizeof("maps       ") - 1, look->columns);
        free(text);
        return;
    }
    fprintf(stream, "%s encoded by %s", human_count(encoding->maps).s,
            encoding->driver);
    if (encoding->maps != 0)
        fprintf(
            stream, ", %s each",
            human_time((double)encoding->ns / (double)encoding->maps, look).s);
    fputc('\n', stream);
}

static void print_cost(const struct report *report, FILE *stream,
                       const struct look *look)
{
    const struct preparation *preparation = report->preparation;
    double slots = (double)preparation->slots;
    double take = (double)preparation->take_ns;
    double reserve = (double)preparation->reserve_ns;

    if (preparation->slots != 0)
        fprintf(stream,
                LABEL "%s a descriptor to take, %s with the reserve before\n",
                "time", human_time(take / slots, look).s,
                human_time((take + reserve) / slots, look).s);
    fprintf(stream, LABEL "%s %s asked of jemalloc, %s\n", "memory",
            human_count(preparation->slabs).s,
            human_plural(preparation->slabs, "slab", "slabs"),
            human_bytes(preparation->slab_bytes).s);
    fprintf(stream, LABEL "%s %s into the source after the reserve%s\n", "",
            human_count(report->source_calls).s,
            human_plural(report->source_calls, "call", "calls"),
            report->source_calls != 0 ? ": WRONG" : "");
}

static void print_latency(const struct launcher_result *result, FILE *stream,
                          const struct look *look)
{
    static const struct {
        const char *title;
        double percent;
    } marks[] = {
        {"P50", 50}, {"P90", 90}, {"P99", 99}, {"P99.9", 99.9}, {"MAX", 100}};
    const size_t count = sizeof(marks) / sizeof(marks[0]);
    struct grid *grid = grid_create();
    size_t i;

    grid_column(grid, GRID_LEFT, "LATENCY OF A LAUNCH");
    for (i = 0; i < count; i++)
        grid_column(grid, GRID_RIGHT, marks[i].title);
    grid_cell(grid, "take, fill, put back");
    for (i = 0; i < count; i++) {
        uint64_t ns = histogram_percentile(&result->latency, marks[i].percent);

        grid_cell(grid, human_time((double)ns, look).s);
    }
    fputc('\n', stream);
    grid_print(grid, stream, look);
    grid_destroy(grid);
    fprintf(stream, "Reading the clock is %s of each.\n",
            human_time((double)result->clock_ns, look).s);
}

static void print_launches(const struct report *report, FILE *stream,
                           const struct look *look)
{
    const struct launcher_result *result = report->launches;
    const struct launcher_options *options = report->options;
    double seconds = (double)result->wall_ns / 1e9;

    if (report->preparation->manifest->descriptors == 0) {
        fprintf(stream, LABEL "none: no kernel has a tensor\n", "launches");
        return;
    }
    fprintf(stream, LABEL "%s", "launches", human_count(result->launches).s);
    if (report->interrupted)
        fprintf(stream, " of %s",
                human_count(options->launches * options->threads).s);
    fprintf(stream, " by %s %s in %s", human_count(options->threads).s,
            human_plural(options->threads, "thread", "threads"),
            human_time((double)result->wall_ns, look).s);
    if (result->wall_ns != 0)
        fprintf(stream, ": %s a second",
                human_amount((double)result->launches / seconds).s);
    fputc('\n', stream);
    if (result->residue != 0)
        fprintf(stream, LABEL "address %% %zu of runs has bits %s: WRONG\n", "",
                report->preparation->alignment, human_count(result->residue).s);
    if (result->clashes != 0)
        fprintf(stream, LABEL "%s launches found foreign bytes: WRONG\n", "",
                human_count(result->clashes).s);
    if (result->launches != 0)
        print_latency(result, stream, look);
}

void report_text(const struct report *report, FILE *stream)
{
    struct look look = look_at(stream);

    print_kernels(report, stream, &look);
    fputc('\n', stream);
    print_prepared(report, stream);
    if (report->preparation->slots != 0)
        print_encoded(report, stream, &look);
    print_cost(report, stream, &look);
    if (report->launches != NULL)
        print_launches(report, stream, &look);
    if (report->interrupted)
        fputs("\nInterrupted: this is what was done until then.\n", stream);
}
