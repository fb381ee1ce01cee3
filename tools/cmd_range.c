/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "command.h"

#include <error.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <ashlar/version.h>
#include <jansson.h>

#include "grid.h"
#include "growth.h"
#include "human.h"
#include "must.h"

static const char doc[] =
    "Make a range, grow it step by step, and tell of each step which way it "
    "went, where the range is, and what the calls into the source cost."
    "\v"
    "PATH is \"reserved\" for growth into the addresses reserved at the start, "
    "\"adjacent\" into those behind them, \"moved\" when the base is another, "
    "\"none\" when there was room. Times are microseconds; what TOTAL has more "
    "than its parts is ashlar's own. Memory is mapped and not touched.\n"
    "\n"
    "Examples:\n"
    "  ashlar range\n"
    "  ashlar range --options granule=64K --grow 64K,1M,16M\n"
    "  ashlar range --reserve 4M --may-move --grow 2M,8M,32M\n"
    "  ashlar range --source cuda --json | jq '.grows[].us'\n"
    "\n"
    "Exit status: 0; 1 when a step was refused; 2 for a wrong command line.";

enum { KEY_MAY_MOVE = 256, KEY_RESERVE, KEY_CHUNK_MAX };

static const struct argp_option options[] = {
    {"source", 's', "NAME", 0, "The source (default vm)", 0},
    {"options", 'o', "LIST", 0, "Open it by key=value,key=value", 0},
    {"grow", 'g', "SIZES", 0, "Grow to each of these (default 2M,64M,1G)", 0},
    {"reserve", KEY_RESERVE, "SIZE", 0,
     "Addresses to reserve (default: as much as the source has memory)", 0},
    {"chunk-max", KEY_CHUNK_MAX, "SIZE", 0, "The largest chunk", 0},
    {"may-move", KEY_MAY_MOVE, NULL, 0, "The range may get another base", 0},
    {"json", 'j', NULL, 0, "Print one JSON object", 0},
    {NULL, 0, NULL, 0, NULL, 0}};

struct arguments {
    struct growth_options growth;
    bool json;
};

static void parse_sizes(const struct argp_state *state, const char *text,
                        struct growth_options *growth)
{
    char *copy = must_copy(text);
    char *rest = copy;

    growth->count = 0;
    while (rest != NULL) {
        if (growth->count == GROWTH_STEPS_MOST)
            argp_error(state, "--grow has more than %d sizes",
                       GROWTH_STEPS_MOST);
        growth->totals[growth->count++] =
            command_bytes(state, "grow", strsep(&rest, ","));
    }
    free(copy);
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    struct growth_options *growth = &arguments->growth;

    switch (key) {
    case 's':
        growth->source = argument;
        return 0;
    case 'o':
        growth->source_options = argument;
        return 0;
    case 'g':
        parse_sizes(state, argument, growth);
        return 0;
    case KEY_RESERVE:
        growth->range.reserve_bytes = command_bytes(state, "reserve", argument);
        return 0;
    case KEY_CHUNK_MAX:
        growth->range.chunk_max_bytes =
            command_bytes(state, "chunk-max", argument);
        return 0;
    case KEY_MAY_MOVE:
        growth->range.flags |= ASHLAR_RANGE_MAY_MOVE;
        return 0;
    case 'j':
        arguments->json = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* --- as a table ----------------------------------------------------------- */

static double microseconds(uint64_t ns)
{
    return (double)ns / 1e3;
}

static void time_cell(struct grid *grid, uint64_t ns)
{
    char text[32];

    snprintf(text, sizeof(text), "%.1f", microseconds(ns));
    grid_cell(grid, ns == 0 ? "-" : text);
}

static void step_row(struct grid *grid, const struct growth_step *step)
{
    const struct ashlar_source_calls *calls = &step->calls;
    bool good = step->refusal == NULL;
    char base[24];

    snprintf(base, sizeof(base), "0x%" PRIx64, step->result.base);
    grid_cell(grid, human_bytes(step->total).s);
    grid_cell(grid, good ? growth_path_text(step->result.path) : "refused");
    grid_cell(grid, good ? base : "-");
    grid_cell(grid, good ? human_count(step->result.source_calls).s : "-");
    time_cell(grid, calls->reserve.ns + calls->release.ns);
    time_cell(grid, calls->create.ns);
    time_cell(grid, calls->map.ns);
    time_cell(grid, calls->allow.ns);
    time_cell(grid, step->ns);
}

static void print_table(const struct growth *growth, const struct look *look)
{
    struct grid *grid = grid_create();
    size_t i;

    grid_column(grid, GRID_LEFT, "GROW TO");
    grid_column(grid, GRID_LEFT, "PATH");
    grid_column(grid, GRID_LEFT, "BASE");
    grid_column(grid, GRID_RIGHT, "CALLS");
    grid_column(grid, GRID_RIGHT, "RESERVE");
    grid_column(grid, GRID_RIGHT, "CREATE");
    grid_column(grid, GRID_RIGHT, "MAP");
    grid_column(grid, GRID_RIGHT, "ALLOW");
    grid_column(grid, GRID_RIGHT, "TOTAL");
    for (i = 0; i < growth->count; i++)
        step_row(grid, &growth->grows[i]);
    grid_print(grid, stdout, look);
    grid_destroy(grid);
}

/* What is not the source's, as it was at least and at most. */
static void print_own_share(const struct growth *growth)
{
    uint64_t least = UINT64_MAX, most = 0;
    size_t i;

    for (i = 0; i < growth->count; i++) {
        const struct growth_step *step = &growth->grows[i];
        uint64_t own = step->ns - growth_source_ns(step);

        least = own < least ? own : least;
        most = own > most ? own : most;
    }
    printf("\nTimes in microseconds; of TOTAL, ashlar itself took %.1f to "
           "%.1f.\n",
           microseconds(least), microseconds(most));
}

static void print_text(const struct growth *growth)
{
    const struct ashlar_source_calls *last = &growth->destroy.calls;
    char *description =
        human_printable(growth->source.description, SIZE_MAX, "");
    struct look look = look_at(stdout);

    printf("%s: %s, granule %s\n%s of addresses reserved at 0x%" PRIx64
           " in %.1f\n\n",
           growth->source.name, description,
           human_bytes(growth->source.granule).s,
           human_bytes(growth->range.reserved_bytes).s, growth->range.base,
           microseconds(growth->create.ns));
    print_table(growth, &look);
    print_own_share(growth);
    printf("Given back in %.1f: unmap %.1f, destroy %.1f, release %.1f.\n",
           microseconds(growth->destroy.ns), microseconds(last->unmap.ns),
           microseconds(last->destroy.ns), microseconds(last->release.ns));
    free(description);
}

/* --- as JSON -------------------------------------------------------------- */

static json_t *call_json(const struct ashlar_source_call *call)
{
    json_t *object = json_object();

    json_object_set_new(object, "count", json_integer((json_int_t)call->count));
    json_object_set_new(object, "refused",
                        json_integer((json_int_t)call->refused));
    json_object_set_new(object, "us", json_real(microseconds(call->ns)));
    return object;
}

static json_t *calls_json(const struct ashlar_source_calls *calls)
{
    json_t *object = json_object();

    json_object_set_new(object, "reserve", call_json(&calls->reserve));
    json_object_set_new(object, "release", call_json(&calls->release));
    json_object_set_new(object, "create", call_json(&calls->create));
    json_object_set_new(object, "destroy", call_json(&calls->destroy));
    json_object_set_new(object, "map", call_json(&calls->map));
    json_object_set_new(object, "unmap", call_json(&calls->unmap));
    json_object_set_new(object, "allow", call_json(&calls->allow));
    return object;
}

static json_t *verb_json(const struct growth_step *step)
{
    json_t *object = json_object();

    json_object_set_new(object, "us", json_real(microseconds(step->ns)));
    json_object_set_new(
        object, "ashlar_us",
        json_real(microseconds(step->ns - growth_source_ns(step))));
    json_object_set_new(object, "calls", calls_json(&step->calls));
    json_object_set_new(object, "refusal",
                        step->refusal == NULL ? json_null()
                                              : json_string(step->refusal));
    return object;
}

static json_t *address_json(uint64_t address)
{
    return json_sprintf("0x%" PRIx64, address);
}

static json_t *grow_json(const struct growth_step *step)
{
    const struct ashlar_range_result *result = &step->result;
    json_t *object = verb_json(step);

    json_object_set_new(object, "total", json_integer((json_int_t)step->total));
    if (step->refusal != NULL)
        return object;
    json_object_set_new(object, "path",
                        json_string(growth_path_text(result->path)));
    json_object_set_new(object, "base", address_json(result->base));
    json_object_set_new(object, "old_base", address_json(result->old_base));
    json_object_set_new(object, "used_bytes",
                        json_integer((json_int_t)result->used_bytes));
    json_object_set_new(object, "committed_bytes",
                        json_integer((json_int_t)result->committed_bytes));
    json_object_set_new(object, "source_calls",
                        json_integer((json_int_t)result->source_calls));
    return object;
}

static void print_json(const struct growth *growth)
{
    json_t *object = json_object();
    json_t *list = json_array();
    size_t i;

    for (i = 0; i < growth->count; i++)
        json_array_append_new(list, grow_json(&growth->grows[i]));
    json_object_set_new(object, "ashlar", json_string(ashlar_version_string()));
    json_object_set_new(object, "source", json_string(growth->source.name));
    json_object_set_new(object, "granule",
                        json_integer((json_int_t)growth->source.granule));
    json_object_set_new(object, "reserved_bytes",
                        json_integer((json_int_t)growth->range.reserved_bytes));
    json_object_set_new(object, "base", address_json(growth->range.base));
    json_object_set_new(object, "create", verb_json(&growth->create));
    json_object_set_new(object, "grows", list);
    json_object_set_new(object, "destroy", verb_json(&growth->destroy));
    json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    putchar('\n');
    json_decref(object);
}

/* The last step is the only one that can have been refused. */
static int verdict(const struct growth *growth)
{
    const char *refusal = growth->destroy.refusal;

    if (growth->count != 0 && growth->grows[growth->count - 1].refusal != NULL)
        refusal = growth->grows[growth->count - 1].refusal;
    if (refusal == NULL)
        return EXIT_SUCCESS;
    fflush(stdout);
    error(0, 0, "%s", refusal);
    return EXIT_WRONG;
}

int command_range(int argc, char **argv)
{
    static const struct argp argp = {options, parse, NULL, doc,
                                     NULL,    NULL,  NULL};
    struct arguments arguments = {
        .growth = {.source = "vm",
                   .range = ASHLAR_RANGE_OPTIONS_INIT,
                   .totals = {UINT64_C(2) << 20, UINT64_C(64) << 20,
                              UINT64_C(1) << 30},
                   .count = 3}};
    struct growth *growth = must_alloc(1, sizeof(*growth));
    char *said;
    int status;

    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    command_log();
    said = growth_run(&arguments.growth, growth);
    if (said != NULL)
        error(EXIT_WRONG, 0, "%s", said);
    if (arguments.json)
        print_json(growth);
    else
        print_text(growth);
    status = verdict(growth);
    growth_clear(growth);
    free(growth);
    return command_finish(stdout, status);
}
