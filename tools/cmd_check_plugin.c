/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "command.h"

#include <errno.h>
#include <error.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ashlar/source.h>
#include <ashlar/status.h>

#include "check/run.h"
#include "must.h"

#define STEPS_DEFAULT 20000
#define STEPS_MOST    UINT64_C(1000000000)
#define THREADS_MOST  64
#define PREFIX        "ashlar_"
#define SUFFIX        ".so"

static const char doc[] =
    "Try whether a plug-in keeps what ashlar/plugin.h promises: every "
    "operation, in random order, right calls and wrong ones, with host memory "
    "that runs out, by several threads; and what is in its memory, and what is "
    "left when it is closed."
    "\v"
    "NAME is a plug-in's name, looked for as programs do (see ashlar sources), "
    "or its file, ashlar_NAME.so, with a slash in its path; heap and vm are "
    "built in, and tried as well. It runs in a process of its own, and "
    "nothing but its own functions is called, so a crash is told, too. A "
    "promise that it has no functions for is not tried.\n"
    "\n"
    "Examples:\n"
    "  ashlar check-plugin ./ashlar_mine.so\n"
    "  ashlar check-plugin cuda --options device=1 --steps 2000\n"
    "  ashlar check-plugin ./ashlar_mine.so --json | jq .checks\n"
    "\n"
    "Exit status: 0; 1 when a promise is broken; 2 for a wrong command line.";

enum { KEY_SEED = 256, KEY_THREADS };

static const struct argp_option options[] = {
    {"options", 'o', "LIST", 0, "Open it by key=value,key=value", 0},
    {"steps", 'n', "N", 0, "Random steps of each part (default 20000)", 0},
    {"seed", KEY_SEED, "S", 0, "The steps of an earlier run", 0},
    {"threads", KEY_THREADS, "T", 0, "Threads at once (default 4)", 0},
    {"json", 'j', NULL, 0, "Print one JSON object", 0},
    {NULL, 0, NULL, 0, NULL, 0}};

struct arguments {
    const char *name;
    char *pairs; /* what options point into */
    struct ashlar_plugin_option options[SUBJECT_OPTIONS_MOST];
    size_t option_count;
    struct check_run run;
    bool json;
};

static void parse_options(const struct argp_state *state, const char *text,
                          struct arguments *arguments)
{
    char *rest = must_copy(text);
    char *pair, *value;

    free(arguments->pairs);
    arguments->pairs = rest;
    arguments->option_count = 0;
    while ((pair = strsep(&rest, ",")) != NULL) {
        value = strchr(pair, '=');
        if (value == NULL || value == pair)
            argp_error(state, "--options has \"%s\", which is no key=value",
                       pair);
        if (arguments->option_count == SUBJECT_OPTIONS_MOST)
            argp_error(state, "--options has more than %d of them",
                       SUBJECT_OPTIONS_MOST);
        *value++ = '\0';
        arguments->options[arguments->option_count++] =
            (struct ashlar_plugin_option){pair, value};
    }
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case 'o':
        parse_options(state, argument, arguments);
        return 0;
    case 'n':
        arguments->run.steps =
            command_number(state, "steps", argument, 1, STEPS_MOST);
        return 0;
    case KEY_SEED:
        arguments->run.seed =
            command_number(state, "seed", argument, 0, INT64_MAX);
        return 0;
    case KEY_THREADS:
        arguments->run.threads = (unsigned)command_number(
            state, "threads", argument, 1, THREADS_MOST);
        return 0;
    case 'j':
        arguments->json = true;
        return 0;
    case ARGP_KEY_ARG:
        if (arguments->name != NULL)
            argp_error(state, "one NAME, please: \"%s\" is a second one",
                       argument);
        arguments->name = argument;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which plug-in? ashlar sources lists them");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* "mine" of "/path/ashlar_mine.so". */
static char *name_of_file(const char *path)
{
    const char *file = strrchr(path, '/') + 1;
    size_t length = strlen(file);
    size_t around = strlen(PREFIX) + strlen(SUFFIX);

    if (length <= around || strncmp(file, PREFIX, strlen(PREFIX)) != 0 ||
        strcmp(file + length - strlen(SUFFIX), SUFFIX) != 0)
        error(EXIT_WRONG, 0,
              "%s: a plug-in's file is called " PREFIX "NAME" SUFFIX, path);
    return must_format("%.*s", (int)(length - around), file + strlen(PREFIX));
}

struct search {
    const char *name;
    char *path; /* "": built in; NULL: not found */
};

/* Also a file that ashlar refuses: then the trial says more about it. */
static int find(const struct ashlar_source_candidate *candidate, void *user)
{
    struct search *search = user;

    if (strcmp(candidate->name, search->name) != 0)
        return 0;
    search->path = must_copy(candidate->path);
    return 1;
}

static char *path_of_name(const char *name)
{
    struct search search = {name, NULL};

    if (ashlar_source_list(find, &search) != ASHLAR_OK)
        error(EXIT_WRONG, 0, "%s", ashlar_last_error_message());
    if (search.path == NULL)
        error(EXIT_WRONG, 0,
              "no plug-in is called %s; ashlar sources lists them, and a file "
              "is given with a slash in its path",
              name);
    return search.path;
}

int command_check_plugin(int argc, char **argv)
{
    static const struct argp argp = {options, parse, "NAME", doc,
                                     NULL,    NULL,  NULL};
    struct arguments arguments = {.run = {.seed = (uint64_t)time(NULL),
                                          .steps = STEPS_DEFAULT,
                                          .threads = 4}};
    struct check_report *report;
    char *name, *path;

    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    if (strchr(arguments.name, '/') != NULL) {
        path = must_copy(arguments.name);
        name = name_of_file(path);
    } else {
        path = path_of_name(arguments.name);
        name = must_copy(arguments.name);
    }
    arguments.run.path = path[0] == '\0' ? "built into libashlar" : path;
    report = check_run(path, name, arguments.options, arguments.option_count,
                       &arguments.run);
    if (report == NULL)
        error(EXIT_WRONG, errno, "a process to try %s in", name);
    if (arguments.json)
        check_print_json(report, &arguments.run, stdout);
    else
        check_print(report, &arguments.run, stdout);
    free(name);
    free(path);
    free(arguments.pairs);
    return command_finish(stdout,
                          check_all_kept(report) ? EXIT_SUCCESS : EXIT_WRONG);
}
