/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include <errno.h>
#include <error.h>
#include <inttypes.h>
#include <locale.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <ashlar/build.h>
#include <ashlar/status.h>
#include <ashlar/version.h>

#include "command.h"
#include "must.h"
#include "size.h"
#include "suggest.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"prepare", command_prepare},
    {"types", command_types},
    {"sources", command_sources},
    {"range", command_range},
    {"check-plugin", command_check_plugin},
    {"check-spec", command_check_spec},
    {"doctor", command_doctor},
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static const char doc[] =
    "Slots for over-aligned CUDA types, CUtensorMap and its like, in bulk; and "
    "memory that grows in place."
    "\v"
    "Commands:\n"
    "  prepare MANIFEST   pre-allocate the descriptor slots of many kernels,\n"
    "                     and play a launcher on them\n"
    "  types              what each CUDA type needs: size, alignment, stride\n"
    "  sources            where memory can come from: built in, and plug-ins\n"
    "  range              grow a range, and see what each step costs\n"
    "  check-plugin NAME  whether a plug-in keeps what plug-ins promise\n"
    "  check-spec FIELDS  what is wrong with one tensor map\n"
    "  doctor             what is wrong with this machine\n"
    "  help [COMMAND]     all about a command\n"
    "\n"
    "Examples:\n"
    "  ashlar prepare llama3-8b\n"
    "                     the 517 descriptors of Llama 3 8B, in one pool\n"
    "  ashlar prepare llama3-8b --threads 2 --launches 20000\n"
    "                     how fast two launcher threads take and return them\n"
    "  ashlar types CUtensorMap\n"
    "                     why 128, when headers say 64, or 8\n"
    "  ashlar range --grow 2M,64M,1G\n"
    "                     a host array that grows and does not move\n"
    "  ashlar check-spec dtype=bf16 shape=1025,64 box=64,64\n"
    "                     why the driver says INVALID_VALUE\n"
    "  ashlar doctor      which toolkit headers are here, and more";

uint64_t command_number(const struct argp_state *state, const char *option,
                        const char *text, uint64_t min, uint64_t max)
{
    char *end;
    uint64_t n;

    errno = 0;
    n = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' ||
        strchr(text, '-') != NULL || n < min || n > max)
        argp_error(state,
                   "--%s is \"%s\"; it must be a number from %" PRIu64
                   " to %" PRIu64,
                   option, text, min, max);
    return n;
}

uint64_t command_bytes(const struct argp_state *state, const char *option,
                       const char *text)
{
    uint64_t bytes;

    if (!size_parse(text, &bytes) || bytes == 0)
        argp_error(state,
                   "--%s is \"%s\"; it must be bytes, with K, M, G or T "
                   "behind them or nothing",
                   option, text);
    return bytes;
}

int command_finish(FILE *stream, int status)
{
    if (fflush(stream) == 0 && ferror(stream) == 0)
        return status;
    error(0, errno, "the output could not be written");
    return EXIT_WRONG;
}

static void log_to_stderr(enum ashlar_log_level level, const char *message,
                          void *user)
{
    (void)user;
    if (level <= ASHLAR_LOG_WARNING)
        fprintf(stderr, "ashlar: %s%s\n",
                level == ASHLAR_LOG_WARNING ? "warning: " : "", message);
}

void command_log(void)
{
    ashlar_set_log(log_to_stderr, NULL);
}

static void print_version(FILE *stream, struct argp_state *state)
{
    (void)state;
    fprintf(stream, "ashlar %s\n", ASHLAR_VERSION_STRING);
    if (strcmp(ashlar_version_string(), ASHLAR_VERSION_STRING) != 0)
        fprintf(stream, "libashlar %s\n", ashlar_version_string());
    fprintf(stream, "jemalloc %s (%s)\n", ashlar_build_info("jemalloc.version"),
            ashlar_build_info("jemalloc.kind"));
}

/* What the command line asks for. */
struct request {
    size_t command; /* COMMAND_COUNT: the program's own help */
    bool help;      /* about the command, rather than to run it */
    int argc;       /* the command's own part, its name first */
    char **argv;
};

static size_t find_command(const struct argp_state *state, const char *name)
{
    struct suggestion suggestion = {name, NULL, 0};
    size_t i;

    for (i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(name, commands[i].name) == 0)
            return i;
        suggest_consider(&suggestion, commands[i].name);
    }
    suggest_consider(&suggestion, "help");
    if (suggestion.best != NULL)
        argp_error(state, "there is no command \"%s\": did you mean \"%s\"?",
                   name, suggestion.best);
    argp_error(state,
               "there is no command \"%s\"; there are prepare, types, sources, "
               "range, check-plugin, check-spec, doctor and help",
               name);
    return COMMAND_COUNT;
}

static void parse_command(struct argp_state *state, struct request *request)
{
    const char *name;

    request->argv = state->argv + state->next - 1;
    request->argc = state->argc - (state->next - 1);
    request->help = strcmp(request->argv[0], "help") == 0;
    name = request->argv[request->help ? 1 : 0];
    if (name != NULL && strcmp(name, "help") != 0)
        request->command = find_command(state, name);
    state->next = state->argc; /* the rest is the command's */
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    (void)argument;
    switch (key) {
    case ARGP_KEY_ARG:
        parse_command(state, state->input);
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_state_help(state, stderr,
                        (ARGP_HELP_STD_HELP & ~ARGP_HELP_EXIT_OK) |
                            ARGP_HELP_EXIT_ERR);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Run a command under the name "ashlar NAME". */
static int run(const struct request *request, const char *program)
{
    static char help[] = "--help";
    char *name = must_format("%s %s", program, commands[request->command].name);
    char *help_argv[] = {name, help, NULL};
    int status;

    request->argv[0] = name;
    status = commands[request->command].run(request->help ? 2 : request->argc,
                                            request->help ? help_argv
                                                          : request->argv);
    free(name);
    return status;
}

int main(int argc, char **argv)
{
    static const struct argp argp = {
        NULL, parse, "COMMAND [ARGUMENT...]", doc, NULL, NULL, NULL};
    static char name[] = "ashlar";
    struct request request = {COMMAND_COUNT, false, 0, NULL};

    setlocale(LC_CTYPE, "");
    program_invocation_name = program_invocation_short_name = name;
    if (argc > 0)
        argv[0] = name;
    argp_err_exit_status = EXIT_USAGE;
    argp_program_version_hook = print_version;
    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &request);
    if (request.command != COMMAND_COUNT)
        return run(&request, name);
    argp_help(&argp, stdout, ARGP_HELP_STD_HELP, name);
    return EXIT_SUCCESS;
}
