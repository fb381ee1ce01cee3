/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "command.h"

#include <errno.h>
#include <error.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <ashlar/status.h>

#include "encoding.h"
#include "human.h"
#include "launcher.h"
#include "manifest.h"
#include "must.h"
#include "preparation.h"
#include "report.h"
#include "stop.h"

#define THREADS_MOST     1024
#define LAUNCHES_MOST    UINT64_C(1000000000000)
#define LAUNCHES_DEFAULT 100000
#define OWN_MANIFESTS    "llama3-8b, deepseek-v3-moe, resnet50"

static const char doc[] =
    "Pre-allocate the descriptor slots of all kernels of a manifest, one run "
    "of slots for each instance, check and encode the descriptors, and tell "
    "what "
    "it cost."
    "\v"
    "MANIFEST is a file of JSON Lines, - for standard input, or the name of "
    "one that came with ashlar: " OWN_MANIFESTS
    ". A line is a kernel; a tensor has the fields of a CUDA tensor map, its "
    "shape innermost dimension first (all of them: man ashlar):\n"
    "\n"
    "  {\"kernel\": \"gemm\", \"instances\": 32, \"tensors\": [\n"
    "    {\"name\": \"A\", \"dtype\": \"bfloat16\", \"shape\": [4096, 128],\n"
    "     \"box\": [64, 128], \"swizzle\": \"swizzle_128B\"}]}\n"
    "\n"
    "(on one line in the file). With --threads, --launches or --seed, threads "
    "then take, fill and put back the kernels' runs as a launcher does.\n"
    "\n"
    "Examples:\n"
    "  ashlar prepare llama3-8b\n"
    "  ashlar prepare resnet50 --all\n"
    "  ashlar prepare llama3-8b --driver=sim\n"
    "  ashlar prepare my.jsonl --threads 8 --launches 1000000\n"
    "  make_manifest | ashlar prepare - --json\n"
    "\n"
    "Exit status: 0; 1 when the manifest has mistakes (then nothing was "
    "made) or the work failed; 2 for a wrong command line; 130 after Ctrl-C.";

enum { KEY_SEED = 256, KEY_PROGRESS, KEY_DRIVER };

static const struct argp_option options[] = {
    {"threads", 't', "T", 0, "Play a launcher with T threads", 0},
    {"launches", 'n', "N", 0, "N launches of each thread (default 100000)", 0},
    {"seed", KEY_SEED, "S", 0,
     "Launch the instances at random, from this seed (default: in the model's "
     "order)",
     0},
    {"driver", KEY_DRIVER, "WHAT", 0,
     "Encode by: auto (the machine's driver, if it has one), sim (the "
     "simulated "
     "one), none, or a driver's file",
     0},
    {"json", 'j', NULL, 0, "Print one JSON object", 0},
    {"all", 'a', NULL, 0, "Give each kernel a row, however many there are", 0},
    {"progress", KEY_PROGRESS, "WHEN", 0,
     "Progress bar: auto (on a terminal, after half a second), always, never",
     0},
    {NULL, 0, NULL, 0, NULL, 0}};

struct arguments {
    const char *manifest;
    const char *driver;
    bool launch;
    struct launcher_options launcher;
    bool json;
    bool all;
    enum progress_when progress;
};

static enum progress_when parse_progress(const struct argp_state *state,
                                         const char *text)
{
    if (strcmp(text, "auto") == 0)
        return PROGRESS_AUTO;
    if (strcmp(text, "always") == 0)
        return PROGRESS_ALWAYS;
    if (strcmp(text, "never") != 0)
        argp_error(
            state,
            "--progress is \"%s\"; it must be one of auto, always, never",
            text);
    return PROGRESS_NEVER;
}

static void parse_manifest(struct argp_state *state,
                           struct arguments *arguments)
{
    if (arguments->manifest != NULL)
        argp_error(state, "one MANIFEST, please: \"%s\" is a second one",
                   state->argv[state->next - 1]);
    arguments->manifest = state->argv[state->next - 1];
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    struct launcher_options *launcher = &arguments->launcher;

    switch (key) {
    case 't':
        launcher->threads = (unsigned)command_number(state, "threads", argument,
                                                     1, THREADS_MOST);
        arguments->launch = true;
        break;
    case 'n':
        launcher->launches =
            command_number(state, "launches", argument, 1, LAUNCHES_MOST);
        arguments->launch = true;
        break;
    case KEY_SEED:
        launcher->seed = command_number(state, "seed", argument, 0, INT64_MAX);
        launcher->shuffled = true;
        arguments->launch = true;
        break;
    case KEY_DRIVER:
        arguments->driver = argument;
        break;
    case 'j':
        arguments->json = true;
        break;
    case 'a':
        arguments->all = true;
        break;
    case KEY_PROGRESS:
        arguments->progress = parse_progress(state, argument);
        break;
    case ARGP_KEY_ARG:
        parse_manifest(state, arguments);
        break;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which manifest? Try: ashlar prepare llama3-8b");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* A file that came with ashlar, by its name alone. */
static FILE *open_installed(const char *name)
{
    char *path;
    FILE *stream;

    if (strchr(name, '/') != NULL)
        return NULL;
    path = must_format("%s/%s.jsonl", ASHLAR_MANIFEST_DIR, name);
    stream = fopen(path, "re");
    free(path);
    return stream;
}

static void tell_not_open(const char *name, int err)
{
    char *shown = human_printable(name, SIZE_MAX, "");

    if (err == ENOENT && strchr(name, '/') == NULL)
        error(0, 0, "the manifest %s: %s; ashlar's own are %s", shown,
              strerror(err), OWN_MANIFESTS);
    else
        error(0, err, "the manifest %s", shown);
    free(shown);
}

static FILE *open_manifest(const char *name)
{
    FILE *stream;
    int err;

    if (strcmp(name, "-") == 0)
        return stdin;
    stream = fopen(name, "re");
    err = errno;
    if (stream == NULL && err == ENOENT)
        stream = open_installed(name);
    if (stream == NULL)
        tell_not_open(name, err);
    return stream;
}

static uint64_t file_bytes(FILE *stream)
{
    struct stat status;

    if (fstat(fileno(stream), &status) != 0 || !S_ISREG(status.st_mode))
        return 0;
    return (uint64_t)status.st_size;
}

/* What to call it where a mistake is told. */
static const char *name_of(const char *manifest)
{
    return strcmp(manifest, "-") == 0 ? "standard input" : manifest;
}

/* Read it all, and tell its mistakes. Returns an exit status. */
static int read_manifest(const char *name, struct progress *progress,
                         struct manifest *manifest)
{
    struct mistakes mistakes;
    FILE *stream = open_manifest(name);
    int status = EXIT_SUCCESS;

    if (stream == NULL)
        return EXIT_WRONG;
    mistakes_start(&mistakes, name_of(name));
    if (!manifest_read(stream, file_bytes(stream), progress, &mistakes,
                       manifest)) {
        error(0, 0, "interrupted while reading; nothing was made");
        status = stop_exit_status();
    } else if (mistakes.count != 0) {
        mistakes_print(&mistakes, stderr);
        error(0, 0, "%s %s in the manifest; nothing was made",
              human_count(mistakes.count).s,
              human_plural(mistakes.count, "mistake", "mistakes"));
        status = EXIT_WRONG;
    }
    mistakes_end(&mistakes);
    if (stream != stdin)
        fclose(stream);
    return status;
}

static bool encode(const struct arguments *arguments,
                   const struct preparation *preparation,
                   struct encoding *encoding)
{
    const struct mistakes *mistakes = &encoding->mistakes;

    if (encoding_do(preparation, name_of(arguments->manifest),
                    arguments->driver, encoding))
        return true;
    mistakes_print(mistakes, stderr);
    if (encoding->failure != NULL || encoding->reason != NULL)
        error(0, 0, "%s",
              encoding->failure != NULL ? encoding->failure : encoding->reason);
    else
        error(0, 0, "%s %s in the manifest, says %s",
              human_count(mistakes->count).s,
              human_plural(mistakes->count, "mistake", "mistakes"),
              encoding->driver);
    return false;
}

/* Prepare, launch, and collect what the report tells. False on a refusal. */
static bool work(const struct arguments *arguments,
                 const struct manifest *manifest, struct progress *progress,
                 struct preparation *preparation, struct encoding *encoding,
                 struct report *report, struct launcher_result *result)
{
    const struct launcher_options *launcher = &arguments->launcher;

    if (!preparation_make(manifest, arguments->launch ? launcher->threads : 0,
                          progress, preparation)) {
        error(0, 0, "%s", ashlar_last_error_message());
        return false;
    }
    if (!encode(arguments, preparation, encoding))
        return false;
    if (arguments->launch && !stop_wanted()) {
        if (!preparation_return(preparation)) {
            error(0, 0, "%s", ashlar_last_error_message());
            return false;
        }
        report->options = launcher;
        report->launches = result;
        if (!launcher_run(preparation, launcher, progress, result)) {
            error(0, 0, "%s", result->refusal);
            return false;
        }
    }
    report->source_calls = preparation_source_calls(preparation);
    report->interrupted = stop_wanted();
    return true;
}

/* The promises that a run of this program shows. */
static int verdict(const struct report *report)
{
    const struct launcher_result *launches = report->launches;

    if (report->preparation->residue != 0 || report->source_calls != 0)
        return EXIT_WRONG;
    if (launches != NULL && (launches->residue != 0 || launches->clashes != 0))
        return EXIT_WRONG;
    return report->interrupted ? stop_exit_status() : EXIT_SUCCESS;
}

static int prepare(const struct arguments *arguments,
                   const struct manifest *manifest, struct progress *progress)
{
    struct launcher_result *result = must_alloc(1, sizeof(*result));
    struct preparation preparation;
    struct encoding encoding = {.driver = NULL};
    struct report report = {.file = arguments->manifest,
                            .preparation = &preparation,
                            .encoding = &encoding,
                            .all = arguments->all};
    int status = EXIT_WRONG;

    if (work(arguments, manifest, progress, &preparation, &encoding, &report,
             result)) {
        if (arguments->json)
            report_json(&report, stdout);
        else
            report_text(&report, stdout);
        status = command_finish(stdout, verdict(&report));
    }
    encoding_end(&encoding);
    preparation_end(&preparation);
    free(result->refusal);
    free(result);
    return status;
}

int command_prepare(int argc, char **argv)
{
    static const struct argp argp = {options, parse, "MANIFEST", doc,
                                     NULL,    NULL,  NULL};
    struct arguments arguments = {
        .driver = "auto",
        .launcher = {.threads = 1, .launches = LAUNCHES_DEFAULT}};
    struct manifest manifest = {0, NULL, 0, 0};
    struct progress progress;
    int status;

    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    stop_catch();
    command_log();
    progress_start(&progress, arguments.progress);
    status = read_manifest(arguments.manifest, &progress, &manifest);
    if (status == EXIT_SUCCESS)
        status = prepare(&arguments, &manifest, &progress);
    manifest_clear(&manifest);
    return status;
}
