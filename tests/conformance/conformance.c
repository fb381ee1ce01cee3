/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "conformance.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Seconds until a chapter is given up: a driver's start takes some. */
#define CHAPTER_SECONDS 300

static const struct chapter {
    const char *name;
    void (*ask)(void);
} chapters[] = {
    {"before cuInit", chapter_before},
    {"devices", chapter_devices},
    {"entries", chapter_entries},
    {"addresses", chapter_space},
    {"memory", chapter_chunks},
    {"mappings", chapter_mappings},
    {"overhang", chapter_overhang},
    {"access", chapter_access},
    {"without a context", chapter_no_context},
    {"contents", chapter_contents},
    {"host memory", chapter_host_memory},
    {"writing where nothing is mapped", chapter_touch_unmapped_memset},
    {"copying to where nothing is mapped", chapter_touch_unmapped_copy},
    {"writing without rights", chapter_touch_no_rights_memset},
    {"copying without rights", chapter_touch_no_rights_copy},
    {"reading with the right to read", chapter_touch_read_only_read},
    {"writing with the right to read", chapter_touch_read_only_memset},
    {"copying with the right to read", chapter_touch_read_only_copy},
    {"a context that failed", chapter_failed},
    {"contexts", chapter_contexts},
    {"a context reset", chapter_reset},
    {"streams", chapter_streams},
    {"events", chapter_events},
    {"capture, global", chapter_capture_global},
    {"capture, thread-local", chapter_capture_thread},
    {"capture, relaxed", chapter_capture_relaxed},
    {"capture, order", chapter_capture_order},
    {"graphs", chapter_graphs},
    {"modules", chapter_modules},
    {"kernels", chapter_kernels},
    {"a misaligned kernel", chapter_misaligned},
    {"a module unloaded under a kernel", chapter_unloaded},
    {"a module unloaded beside work", chapter_unloaded_beside},
    {"a module unloaded under a graph", chapter_unloaded_graph},
    {"descriptors", chapter_export},
    {"fork", chapter_fork},
};

#define CHAPTER_COUNT (sizeof(chapters) / sizeof(chapters[0]))

struct tally {
    size_t asked;
    size_t other; /* answered otherwise than expected */
    size_t not_asked;
};

struct arguments {
    const char *driver;
    const char *only;
    bool all;
    bool tap;
};

static void print_line(const struct arguments *arguments,
                       const struct chapter *chapter, const char *line,
                       struct tally *tally)
{
    tally->asked += line[0] != '-';
    tally->other += line[0] == '!';
    tally->not_asked += line[0] == '-';
    if (arguments->all || line[0] != '=')
        printf("%s%c %s: %s\n", arguments->tap ? "# " : "", line[0],
               chapter->name, line + 2);
}

static void print_broken(const struct arguments *arguments,
                         const struct chapter *chapter, int status,
                         struct tally *tally)
{
    char line[128];

    if (WIFSIGNALED(status))
        snprintf(line, sizeof(line), "! the chapter: ended by signal %d (%s)",
                 WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(line, sizeof(line), "! the chapter: ended with status %d",
                 WEXITSTATUS(status));
    print_line(arguments, chapter, line, tally);
}

/* Ask a chapter in a process of its own, and read what it has to say. */
static void run_chapter(const struct arguments *arguments,
                        const struct chapter *chapter, struct tally *tally)
{
    char line[512];
    int ends[2], status = 0;
    FILE *answers;
    pid_t child;

    fflush(stdout);
    if (pipe(ends) != 0)
        return;
    child = fork();
    if (child == 0) {
        close(ends[0]);
        dup2(ends[1], STDOUT_FILENO);
        close(ends[1]);
        alarm(CHAPTER_SECONDS);
        chapter->ask();
        fflush(stdout);
        _exit(0);
    }
    close(ends[1]);
    answers = fdopen(ends[0], "r");
    while (answers != NULL && fgets(line, sizeof(line), answers) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strchr("=!-", line[0]) != NULL && line[0] != '\0')
            print_line(arguments, chapter, line, tally);
    }
    if (answers != NULL)
        fclose(answers);
    if (child > 0 && waitpid(child, &status, 0) == child && status != 0)
        print_broken(arguments, chapter, status, tally);
}

/* --- the command line ----------------------------------------------------- */

static const struct argp_option options[] = {
    {"driver", 'd', "FILE", 0, "The driver's library [libcuda.so.1]", 0},
    {"chapter", 'c', "WORDS", 0, "Chapters with these words in their names", 0},
    {"all", 'a', NULL, 0, "Print also what was answered as expected", 0},
    {"tap", 't', NULL, 0, "Print TAP, a test for each chapter", 0},
    {0},
};

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case 'd':
        arguments->driver = value;
        return 0;
    case 'c':
        arguments->only = value;
        return 0;
    case 'a':
        arguments->all = true;
        return 0;
    case 't':
        arguments->tap = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp parser = {
    options,
    parse,
    NULL,
    "Asks a CUDA driver what a memory manager has to know of it, and prints "
    "where its answers differ from what is expected.\v"
    "What is expected are the answers of a real driver. Exit status: 0 all as "
    "expected, 1 something differs, 2 there is no driver.",
    NULL,
    NULL,
    NULL};

int main(int argc, char **argv)
{
    struct arguments arguments = {0};
    struct tally tally = {0, 0, 0};
    char sentence[256];
    size_t chapter_count = 0, before, i;
    int version = 0;

    argp_parse(&parser, argc, argv, 0, NULL, &arguments);
    if (!driver_open(arguments.driver, sentence, sizeof(sentence))) {
        fprintf(stderr, "conformance: %s\n", sentence);
        return 2;
    }
    for (i = 0; i < CHAPTER_COUNT; i++) {
        if (arguments.only != NULL &&
            strstr(chapters[i].name, arguments.only) == NULL)
            continue;
        before = tally.other;
        run_chapter(&arguments, &chapters[i], &tally);
        if (arguments.tap)
            printf("%s %zu - %s\n", tally.other == before ? "ok" : "not ok",
                   ++chapter_count, chapters[i].name);
    }
    cu.DriverGetVersion(&version);
    if (arguments.tap)
        printf("1..%zu\n", chapter_count);
    printf("%sdriver %d.%d: %zu questions, %zu answered otherwise than "
           "expected, %zu not asked\n",
           arguments.tap ? "# " : "", version / 1000, version % 1000 / 10,
           tally.asked, tally.other, tally.not_asked);
    return tally.other == 0 ? 0 : 1;
}
