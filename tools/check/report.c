/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "check/report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <ashlar/version.h>
#include <jansson.h>

#include "can.h"
#include "grid.h"
#include "human.h"
#include "must.h"

static const struct {
    const char *name;
    const char *promise;
} checks[CHECK_COUNT] = {
    [CHECK_SYMBOL] = {"symbol", "the file exports ashlar_plugin_v1 itself"},
    [CHECK_STRUCT] = {"struct", "ABI, size, name, open and close are right"},
    [CHECK_GROUPS] = {"groups", "groups of functions are whole or absent"},
    [CHECK_ALONE] = {"alone", "it calls nothing of libashlar"},
    [CHECK_OPEN] = {"open", "it opens, and what it tells of itself is right"},
    [CHECK_OPTIONS] = {"options", "unknown options are refused"},
    [CHECK_AGAIN] = {"again", "it opens a second time beside the first"},
    [CHECK_RESERVE] = {"reserve", "reserved addresses are aligned, one's own"},
    [CHECK_CHUNKS] = {"chunks", "chunks are made and destroyed"},
    [CHECK_MAP] = {"map", "whole chunks are mapped and unmapped"},
    [CHECK_RIGHTS] = {"rights", "rights are as set; none after mapping"},
    [CHECK_CONTENTS] = {"contents", "memory keeps its bytes, in each mapping"},
    [CHECK_REFUSALS] = {"refusals", "wrong calls are refused, change nothing"},
    [CHECK_LIMITS] = {"limits", "more than there is is refused, by its status"},
    [CHECK_BLOCKS] = {"blocks", "blocks are aligned and one's own"},
    [CHECK_COPY] = {"copy", "copies copy, in the order of the stream"},
    [CHECK_SCATTER] = {"scatter", "descriptors land where they should"},
    [CHECK_FENCES] = {"fences", "fences pass when the work is done"},
    [CHECK_ENCODE] = {"encode", "encoding is exact; rebasing is the same"},
    [CHECK_EXPORT] = {"export", "chunks go through descriptors"},
    [CHECK_REASONS] = {"reasons", "what fails says why, with its status"},
    [CHECK_NO_MEMORY] = {"no_memory", "without host memory nothing is lost"},
    [CHECK_THREADS] = {"threads", "any thread may call at any time"},
    [CHECK_GIVES_BACK] = {"gives_back", "close gives everything back"},
    [CHECK_SURVIVES] = {"survives", "it neither crashes nor hangs"},
};

bool check_that(struct check_report *report, enum check check, bool kept,
                const char *format, ...)
{
    struct check_row *row = &report->rows[check];
    va_list list;

    __atomic_fetch_add(kept ? &row->kept : &row->broken, 1, __ATOMIC_RELAXED);
    if (kept || __atomic_exchange_n(&row->spoken, true, __ATOMIC_RELAXED))
        return kept;
    va_start(list, format);
    vsnprintf(row->said, sizeof(row->said), format, list);
    va_end(list);
    return false;
}

void check_not_tried(struct check_report *report, enum check check,
                     const char *reason)
{
    struct check_row *row = &report->rows[check];

    if (row->kept == 0 && row->broken == 0)
        snprintf(row->said, sizeof(row->said), "%s", reason);
}

static size_t count_broken(const struct check_report *report)
{
    size_t count = 0, i;

    for (i = 0; i < CHECK_COUNT; i++)
        count += report->rows[i].broken != 0;
    return count;
}

bool check_all_kept(const struct check_report *report)
{
    return count_broken(report) == 0;
}

static const char *result_of(const struct check_row *row)
{
    return row->broken != 0 ? "broken" : row->kept != 0 ? "kept" : "not tried";
}

static void print_head(const struct check_report *report,
                       const struct check_run *run, FILE *stream,
                       const struct look *look)
{
    const struct ashlar_plugin_info *info = &report->info;
    bool opened = info->size != 0;
    char *can = can_text(info->can);

    fprintf(stream, "%s%s %s%s: %s\n  %s\n", look_colour(look, LOOK_BOLD),
            report->name, report->version, look_colour(look, LOOK_PLAIN),
            opened ? info->description : "not opened", run->path);
    if (opened)
        fprintf(stream, "  %s", can);
    if (opened && (info->can & ASHLAR_CAN_RANGES) != 0)
        fprintf(stream, "; granule %s, memory %s", human_bytes(info->granule).s,
                info->memory_bytes == 0 ? "unknown"
                                        : human_bytes(info->memory_bytes).s);
    fputs(opened ? "\n\n" : "\n", stream);
    free(can);
}

static void print_table(const struct check_report *report, FILE *stream,
                        const struct look *look)
{
    struct grid *grid = grid_create();
    const struct check_row *row;
    size_t i;

    grid_column(grid, GRID_LEFT, "PROMISE");
    grid_column(grid, GRID_RIGHT, "TIMES");
    grid_column(grid, GRID_LEFT, "RESULT");
    for (i = 0; i < CHECK_COUNT; i++) {
        row = &report->rows[i];
        grid_cell(grid, checks[i].promise);
        grid_cell(grid, human_count(row->kept + row->broken).s);
        if (row->broken != 0)
            grid_cell(grid, "BROKEN");
        else if (row->kept == 0 && row->said[0] != '\0')
            grid_cell(grid, row->said);
        else
            grid_cell(grid, result_of(row));
    }
    grid_print(grid, stream, look);
    grid_destroy(grid);
}

static void print_broken(const struct check_report *report, FILE *stream,
                         const struct look *look)
{
    const struct check_row *row;
    char *said;
    size_t i;

    for (i = 0; i < CHECK_COUNT; i++) {
        row = &report->rows[i];
        if (row->broken == 0)
            continue;
        said = human_printable(row->said, SIZE_MAX, "");
        fprintf(stream, "%s%-12s%s", look_colour(look, LOOK_RED),
                checks[i].name, look_colour(look, LOOK_PLAIN));
        human_wrap(stream, said, 12, look->columns);
        free(said);
    }
}

void check_print(const struct check_report *report, const struct check_run *run,
                 FILE *stream)
{
    struct look look = look_at(stream);
    size_t broken = count_broken(report);

    print_head(report, run, stream, &look);
    print_table(report, stream, &look);
    fputc('\n', stream);
    print_broken(report, stream, &look);
    fprintf(stream,
            "%s%s %s broken, in %s calls; the same again by --seed %" PRIu64
            " --steps %" PRIu64 "\n",
            broken == 0 ? "" : "\n", broken == 0 ? "no" : human_count(broken).s,
            human_plural(broken, "promise", "promises"),
            human_count(report->calls).s, run->seed, run->steps);
}

static json_t *row_json(const struct check_report *report, size_t i)
{
    const struct check_row *row = &report->rows[i];
    char *said = human_printable(row->said, SIZE_MAX, "");
    json_t *object = json_object();

    json_object_set_new(object, "name", json_string(checks[i].name));
    json_object_set_new(object, "promise", json_string(checks[i].promise));
    json_object_set_new(object, "result", json_string(result_of(row)));
    json_object_set_new(object, "kept", json_integer((json_int_t)row->kept));
    json_object_set_new(object, "broken",
                        json_integer((json_int_t)row->broken));
    json_object_set_new(object, "sentence",
                        said[0] == '\0' ? json_null() : json_string(said));
    free(said);
    return object;
}

static json_t *text_json(const char *text)
{
    char *shown = human_printable(text, SIZE_MAX, "");
    json_t *json = json_string(shown);

    free(shown);
    return json;
}

static json_t *plugin_json(const struct check_report *report,
                           const struct check_run *run)
{
    const struct ashlar_plugin_info *info = &report->info;
    json_t *object = json_object();

    json_object_set_new(object, "name", text_json(report->name));
    json_object_set_new(object, "version", text_json(report->version));
    json_object_set_new(object, "path", text_json(run->path));
    json_object_set_new(object, "description", text_json(info->description));
    json_object_set_new(object, "can", can_json(info->can));
    json_object_set_new(object, "granule",
                        json_integer((json_int_t)info->granule));
    json_object_set_new(object, "memory_bytes",
                        json_integer((json_int_t)info->memory_bytes));
    return object;
}

void check_print_json(const struct check_report *report,
                      const struct check_run *run, FILE *stream)
{
    json_t *object = json_object();
    json_t *list = json_array();
    size_t i;

    for (i = 0; i < CHECK_COUNT; i++)
        json_array_append_new(list, row_json(report, i));
    json_object_set_new(object, "ashlar", json_string(ashlar_version_string()));
    json_object_set_new(object, "plugin", plugin_json(report, run));
    json_object_set_new(object, "seed", json_integer((json_int_t)run->seed));
    json_object_set_new(object, "steps", json_integer((json_int_t)run->steps));
    json_object_set_new(object, "threads",
                        json_integer((json_int_t)run->threads));
    json_object_set_new(object, "calls",
                        json_integer((json_int_t)report->calls));
    json_object_set_new(object, "broken",
                        json_integer((json_int_t)count_broken(report)));
    json_object_set_new(object, "checks", list);
    json_dumpf(object, stream, JSON_INDENT(2));
    fputc('\n', stream);
    json_decref(object);
}
