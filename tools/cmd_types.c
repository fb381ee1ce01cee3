/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "command.h"

#include <error.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <ashlar/type.h>
#include <ashlar/version.h>
#include <jansson.h>

#include "grid.h"
#include "human.h"
#include "must.h"
#include "suggest.h"

#define LABEL       "  %-11s"
#define LABEL_WIDTH 13

static const char doc[] =
    "List the types that ashlar knows, with what each needs: bytes of one "
    "object, alignment, and stride from slot to slot; and the alignment that "
    "CUDA's headers declare for it in C11 and C++11."
    "\v"
    "With NAMEs, by any of their spellings, all about these. A program adds "
    "its own types by ASHLAR_REGISTER(); those are not listed here.\n"
    "\n"
    "Examples:\n"
    "  ashlar types\n"
    "  ashlar types CUtensorMap double4\n"
    "  ashlar types --json | jq '.types[] | select(.alignment > 16).name'";

static const struct argp_option options[] = {
    {"json", 'j', NULL, 0, "Print one JSON object", 0},
    {NULL, 0, NULL, 0, NULL, 0}};

struct arguments {
    bool json;
    bool named;   /* by NAMEs, else all */
    size_t count; /* of infos */
    struct ashlar_type_info *infos;
};

static struct ashlar_type_info type_info(const struct ashlar_type *type)
{
    struct ashlar_type_info info = ASHLAR_TYPE_INFO_INIT;

    if (ashlar_type_query(type, &info) != ASHLAR_OK)
        error(EXIT_WRONG, 0, "%s", ashlar_last_error_message());
    return info;
}

static void add_type(struct arguments *arguments,
                     const struct ashlar_type *type)
{
    arguments->infos = must_grow(arguments->infos, arguments->count + 1,
                                 sizeof(arguments->infos[0]));
    arguments->infos[arguments->count++] = type_info(type);
}

static void add_all(struct arguments *arguments)
{
    const struct ashlar_type *type = NULL;

    while ((type = ashlar_type_next(type)) != NULL)
        add_type(arguments, type);
}

static void add_name(struct arguments *arguments, const char *name)
{
    const struct ashlar_type *type = ashlar_type_find(name);
    struct suggestion suggestion = {name, NULL, 0};

    if (type != NULL) {
        add_type(arguments, type);
        return;
    }
    while ((type = ashlar_type_next(type)) != NULL)
        suggest_consider(&suggestion, type_info(type).name);
    if (suggestion.best != NULL)
        error(EXIT_WRONG, 0, "no type is called %s: did you mean %s?", name,
              suggestion.best);
    error(EXIT_WRONG, 0, "no type is called %s; ashlar types lists them all",
          name);
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case 'j':
        arguments->json = true;
        return 0;
    case ARGP_KEY_ARG:
        arguments->named = true;
        add_name(arguments, argument);
        return 0;
    case ARGP_KEY_NO_ARGS:
        add_all(arguments);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static bool over_aligned(const struct ashlar_type_info *info)
{
    return (info->flags & ASHLAR_TYPE_NOT_OVER_ALIGNED) == 0;
}

/* What a toolkit declares; "-" where it has no such type. */
static struct human declared(size_t alignment)
{
    struct human none = {"-"};

    return alignment == 0 ? none : human_count(alignment);
}

/* The number of a type's source among the different ones, from 1. */
static size_t note_number(const struct arguments *arguments, size_t index)
{
    const char *source = arguments->infos[index].source;
    size_t number = 1, i, j;

    for (i = 0; i < arguments->count; i++) {
        if (strcmp(arguments->infos[i].source, source) == 0)
            return number;
        for (j = 0; j < i; j++)
            if (strcmp(arguments->infos[j].source,
                       arguments->infos[i].source) == 0)
                break;
        number += j == i;
    }
    return number;
}

static void type_row(struct grid *grid, const struct ashlar_type_info *info,
                     size_t note)
{
    grid_cell(grid, info->name);
    grid_cell(grid, human_count(info->object_size).s);
    grid_cell(grid, human_count(info->alignment).s);
    grid_cell(grid, human_count(info->stride).s);
    grid_cell(grid, declared(info->cuda12_alignment).s);
    grid_cell(grid, declared(info->cuda13_alignment).s);
    grid_cell(grid, human_count(note).s);
}

static void type_rows(struct grid *grid, const struct arguments *arguments,
                      bool over)
{
    size_t i;

    for (i = 0; i < arguments->count; i++)
        if (over_aligned(&arguments->infos[i]) == over)
            type_row(grid, &arguments->infos[i], note_number(arguments, i));
}

static void print_table(const struct arguments *arguments,
                        const struct look *look)
{
    struct grid *grid = grid_create();

    grid_column(grid, GRID_LEFT, "OVER-ALIGNED TYPE");
    grid_column(grid, GRID_RIGHT, "SIZE");
    grid_column(grid, GRID_RIGHT, "ALIGNMENT");
    grid_column(grid, GRID_RIGHT, "STRIDE");
    grid_column(grid, GRID_RIGHT, "CUDA 12");
    grid_column(grid, GRID_RIGHT, "CUDA 13");
    grid_column(grid, GRID_RIGHT, "NOTE");
    type_rows(grid, arguments, true);
    grid_heading(grid, "TAKEN FOR IT, BUT NOT");
    type_rows(grid, arguments, false);
    grid_print(grid, stdout, look);
    grid_destroy(grid);
}

static void print_notes(const struct arguments *arguments,
                        const struct look *look)
{
    size_t number = 1, i;

    for (i = 0; i < arguments->count; i++) {
        if (note_number(arguments, i) != number)
            continue;
        printf("%4zu  ", number++);
        human_wrap(stdout, arguments->infos[i].source, 6, look->columns);
    }
}

static void print_list(const struct arguments *arguments)
{
    struct look look = look_at(stdout);

    print_table(arguments, &look);
    printf("\nALIGNMENT is what ashlar serves, CUDA 12 and CUDA 13 what their "
           "headers declare\nin C11 and C++11, all in bytes. More about one: "
           "ashlar types NAME\n\n");
    print_notes(arguments, &look);
}

/* "a,b" as "a, b". */
static void print_aliases(const char *aliases, const struct look *look)
{
    char *spaced = must_alloc(2 * strlen(aliases) + 1, 1);
    size_t at = 0;

    for (; *aliases != '\0'; aliases++) {
        spaced[at++] = *aliases;
        if (*aliases == ',')
            spaced[at++] = ' ';
    }
    printf(LABEL, "aliases");
    human_wrap(stdout, spaced, LABEL_WIDTH, look->columns);
    free(spaced);
}

static void print_card(const struct ashlar_type_info *info,
                       const struct look *look)
{
    printf("%s%s%s\n", look_colour(look, LOOK_BOLD), info->name,
           look_colour(look, LOOK_PLAIN));
    if (info->aliases[0] != '\0')
        print_aliases(info->aliases, look);
    printf(LABEL "%s\n", "size", human_count(info->object_size).s);
    printf(LABEL "%s\n", "alignment", human_count(info->alignment).s);
    printf(LABEL "%s\n", "stride", human_count(info->stride).s);
    printf(LABEL "declares %s\n", "CUDA 12",
           declared(info->cuda12_alignment).s);
    printf(LABEL "declares %s\n", "CUDA 13",
           declared(info->cuda13_alignment).s);
    printf(LABEL "built in, %s\n", "kind",
           over_aligned(info) ? "over-aligned"
                              : "not over-aligned, though taken for it");
    printf(LABEL, "source");
    human_wrap(stdout, info->source, LABEL_WIDTH, look->columns);
}

static void print_cards(const struct arguments *arguments)
{
    struct look look = look_at(stdout);
    size_t i;

    for (i = 0; i < arguments->count; i++) {
        if (i != 0)
            putchar('\n');
        print_card(&arguments->infos[i], &look);
    }
}

static json_t *aliases_json(const char *aliases)
{
    json_t *list = json_array();

    while (*aliases != '\0') {
        size_t length = strcspn(aliases, ",");

        json_array_append_new(list, json_stringn(aliases, length));
        aliases += length;
        aliases += *aliases == ',';
    }
    return list;
}

static json_t *declared_json(size_t alignment)
{
    return alignment == 0 ? json_null() : json_integer((json_int_t)alignment);
}

static json_t *type_json(const struct ashlar_type_info *info)
{
    json_t *object = json_object();

    json_object_set_new(object, "name", json_string(info->name));
    json_object_set_new(object, "aliases", aliases_json(info->aliases));
    json_object_set_new(object, "size",
                        json_integer((json_int_t)info->object_size));
    json_object_set_new(object, "alignment",
                        json_integer((json_int_t)info->alignment));
    json_object_set_new(object, "stride",
                        json_integer((json_int_t)info->stride));
    json_object_set_new(object, "cuda12_alignment",
                        declared_json(info->cuda12_alignment));
    json_object_set_new(object, "cuda13_alignment",
                        declared_json(info->cuda13_alignment));
    json_object_set_new(
        object, "built_in",
        json_boolean((info->flags & ASHLAR_TYPE_BUILT_IN) != 0));
    json_object_set_new(object, "over_aligned",
                        json_boolean(over_aligned(info)));
    json_object_set_new(object, "source", json_string(info->source));
    return object;
}

static void print_json(const struct arguments *arguments)
{
    json_t *object = json_object();
    json_t *list = json_array();
    size_t i;

    for (i = 0; i < arguments->count; i++)
        json_array_append_new(list, type_json(&arguments->infos[i]));
    json_object_set_new(object, "ashlar", json_string(ashlar_version_string()));
    json_object_set_new(object, "types", list);
    json_dumpf(object, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(object);
}

int command_types(int argc, char **argv)
{
    static const struct argp argp = {options, parse, "[NAME...]", doc,
                                     NULL,    NULL,  NULL};
    struct arguments arguments = {false, false, 0, NULL};

    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    if (arguments.json)
        print_json(&arguments);
    else if (arguments.named)
        print_cards(&arguments);
    else
        print_list(&arguments);
    free(arguments.infos);
    return command_finish(stdout, EXIT_SUCCESS);
}
