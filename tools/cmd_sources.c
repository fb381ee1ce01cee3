/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "command.h"

#include <error.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <ashlar/status.h>
#include <ashlar/version.h>
#include <jansson.h>

#include "can.h"
#include "grid.h"
#include "human.h"
#include "must.h"
#include "sources.h"

#define NAME_WIDTH 14

static const char doc[] =
    "List where memory can come from: the sources that are built in, and the "
    "plug-ins that are found, with what each can do on this machine."
    "\v"
    "Plug-ins are files ashlar_NAME.so in the folders of $ASHLAR_PLUGIN_PATH, "
    "in ashlar/plugins beside the library, and where ashlar was installed; the "
    "first of a name counts. Each is opened, once for each of its devices, "
    "unless --no-open says otherwise: a device's driver may then start.\n"
    "\n"
    "Examples:\n"
    "  ashlar sources\n"
    "  ashlar sources --json | jq '.sources[] | select(.state == \"refused\")'";

enum { KEY_NO_OPEN = 256 };

static const struct argp_option options[] = {
    {"no-open", KEY_NO_OPEN, NULL, 0, "Look at files, and open nothing", 0},
    {"json", 'j', NULL, 0, "Print one JSON object", 0},
    {NULL, 0, NULL, 0, NULL, 0}};

struct arguments {
    bool no_open;
    bool json;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    (void)argument;
    switch (key) {
    case KEY_NO_OPEN:
        arguments->no_open = true;
        return 0;
    case 'j':
        arguments->json = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* --- as a table ----------------------------------------------------------- */

static void bytes_cell(struct grid *grid, const struct found *found,
                       uint64_t bytes)
{
    bool known = found->state == FOUND_OPENED && bytes != 0;

    grid_cell(grid, known ? human_bytes(bytes).s : "-");
}

static void source_row(struct grid *grid, const struct found *found)
{
    char *can = can_text(found->can);
    char *device = must_format("  %s", found->options);

    grid_cell(grid, found->options[0] == '\0' ? found->name : device);
    bytes_cell(grid, found, found->granule);
    bytes_cell(grid, found, found->memory_bytes);
    grid_cell(grid, found->state == FOUND_OPENED || found->state == FOUND_GOOD
                        ? can
                        : found_state_text(found->state));
    free(device);
    free(can);
}

static void print_note(const struct found *found, const struct look *look)
{
    char *name = human_printable(
        found->options[0] == '\0' ? found->name : found->options, SIZE_MAX, "");
    char *fact = must_format(
        "%s%s%s%s%s", found->path[0] == '\0' ? "built in" : found->path,
        found->version[0] == '\0' ? "" : ", version ", found->version,
        found->description[0] == '\0' ? "" : ": ", found->description);
    char *shown = human_printable(fact, SIZE_MAX, "");

    printf("%s%-*s%s", look_colour(look, LOOK_BOLD), NAME_WIDTH, name,
           look_colour(look, LOOK_PLAIN));
    human_wrap(stdout, shown, NAME_WIDTH, look->columns);
    if (found->reason[0] != '\0') {
        char *reason = human_printable(found->reason, SIZE_MAX, "");

        printf("%*s-> ", NAME_WIDTH, "");
        human_wrap(stdout, reason, NAME_WIDTH + 3, look->columns);
        free(reason);
    }
    free(shown);
    free(fact);
    free(name);
}

static void print_list(const struct sources *sources)
{
    struct look look = look_at(stdout);
    struct grid *grid = grid_create();
    size_t i;

    grid_column(grid, GRID_LEFT, "SOURCE");
    grid_column(grid, GRID_RIGHT, "GRANULE");
    grid_column(grid, GRID_RIGHT, "MEMORY");
    grid_column(grid, GRID_LEFT, "WHAT IT CAN DO");
    for (i = 0; i < sources->count; i++)
        source_row(grid, &sources->list[i]);
    grid_print(grid, stdout, &look);
    grid_destroy(grid);
    putchar('\n');
    for (i = 0; i < sources->count; i++)
        print_note(&sources->list[i], &look);
}

/* --- as JSON -------------------------------------------------------------- */

static json_t *text_json(const char *text)
{
    char *shown = human_printable(text, SIZE_MAX, "");
    json_t *json = shown[0] == '\0' ? json_null() : json_string(shown);

    free(shown);
    return json;
}

static json_t *bytes_json(const struct found *found, uint64_t bytes)
{
    return found->state == FOUND_OPENED && bytes != 0
               ? json_integer((json_int_t)bytes)
               : json_null();
}

static json_t *source_json(const struct found *found)
{
    json_t *object = json_object();

    json_object_set_new(object, "name", text_json(found->name));
    json_object_set_new(object, "state",
                        json_string(found_state_text(found->state)));
    json_object_set_new(object, "built_in",
                        json_boolean(found->path[0] == '\0'));
    json_object_set_new(object, "path", text_json(found->path));
    json_object_set_new(object, "version", text_json(found->version));
    json_object_set_new(object, "options", text_json(found->options));
    json_object_set_new(object, "description", text_json(found->description));
    json_object_set_new(object, "can", can_json(found->can));
    json_object_set_new(object, "granule", bytes_json(found, found->granule));
    json_object_set_new(object, "memory_bytes",
                        bytes_json(found, found->memory_bytes));
    json_object_set_new(object, "reason", text_json(found->reason));
    return object;
}

static void print_json(const struct sources *sources)
{
    json_t *object = json_object();
    json_t *list = json_array();
    size_t i;

    for (i = 0; i < sources->count; i++)
        json_array_append_new(list, source_json(&sources->list[i]));
    json_object_set_new(object, "ashlar", json_string(ashlar_version_string()));
    json_object_set_new(object, "sources", list);
    json_dumpf(object, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(object);
}

int command_sources(int argc, char **argv)
{
    static const struct argp argp = {options, parse, NULL, doc,
                                     NULL,    NULL,  NULL};
    struct arguments arguments = {false, false};
    struct sources sources;

    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    command_log();
    if (!sources_find(&sources, !arguments.no_open))
        error(EXIT_WRONG, 0, "%s", ashlar_last_error_message());
    if (arguments.json)
        print_json(&sources);
    else
        print_list(&sources);
    sources_clear(&sources);
    return command_finish(stdout, EXIT_SUCCESS);
}
