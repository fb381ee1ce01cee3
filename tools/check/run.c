/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "check/run.h"

#include <dirent.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check/content.h"
#include "check/host.h"
#include "check/trial.h"

/* --- what is not tried ---------------------------------------------------- */

static const struct {
    enum check check;
    uint64_t needs; /* ASHLAR_CAN_* */
    const char *lacks;
} needs[] = {
    {CHECK_RESERVE, ASHLAR_CAN_RANGES, "no ranges"},
    {CHECK_CHUNKS, ASHLAR_CAN_RANGES, "no ranges"},
    {CHECK_MAP, ASHLAR_CAN_RANGES, "no ranges"},
    {CHECK_RIGHTS, ASHLAR_CAN_RANGES, "no ranges"},
    {CHECK_CONTENTS, ASHLAR_CAN_RANGES, "no ranges"},
    {CHECK_REFUSALS, ASHLAR_CAN_RANGES, "no ranges"},
    {CHECK_BLOCKS, ASHLAR_CAN_BLOCKS, "no blocks"},
    {CHECK_COPY, ASHLAR_CAN_COPY | ASHLAR_CAN_RANGES, "no copies"},
    {CHECK_SCATTER, ASHLAR_CAN_SCATTER | ASHLAR_CAN_RANGES, "no scatter"},
    {CHECK_FENCES, ASHLAR_CAN_FENCE, "no fences"},
    {CHECK_ENCODE, ASHLAR_CAN_ENCODE, "no encoder"},
    {CHECK_EXPORT, ASHLAR_CAN_EXPORT | ASHLAR_CAN_RANGES, "no export"},
};

static void explain(struct subject *subject, const struct check_run *run)
{
    struct check_report *report = subject->report;
    size_t i;

    for (i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
        if (!subject_can(subject, needs[i].needs))
            check_not_tried(report, needs[i].check, needs[i].lacks);
    if (subject_can(subject, ASHLAR_CAN_RANGES) &&
        !content_is_reachable(subject))
        check_not_tried(report, CHECK_CONTENTS, "nobody reaches it");
    if (!subject_can(subject, ASHLAR_CAN_HOST_ACCESS))
        check_not_tried(report, CHECK_RIGHTS, "no host access");
    if (run->threads < 2)
        check_not_tried(report, CHECK_THREADS, "--threads 1");
    check_not_tried(report, CHECK_NO_MEMORY, "it takes none");
}

/* --- the trial ------------------------------------------------------------ */

static void try_ranges(struct subject *subject, const struct check_run *run)
{
    trial_refusals(subject, run->seed);
    trial_random(subject, run->seed, run->steps);
    if (subject_can(subject, ASHLAR_CAN_EXPORT))
        trial_import_wrongly(subject);
    if (subject_can(subject, ASHLAR_CAN_SCATTER))
        trial_scatter(subject, run->seed);
}

static void try_groups(struct subject *subject, const struct check_run *run)
{
    if (subject_can(subject, ASHLAR_CAN_BLOCKS)) {
        (void)trial_blocks(subject, run->seed, run->steps);
        trial_blocks_limits(subject);
    }
    if (subject_can(subject, ASHLAR_CAN_RANGES))
        try_ranges(subject, run);
    if (run->threads > 1 && check_all_kept(subject->report))
        trial_threads(subject, run->seed, run->steps, run->threads);
    if (subject_can(subject, ASHLAR_CAN_FENCE))
        trial_fences(subject, run->seed);
    if (subject_can(subject, ASHLAR_CAN_ENCODE))
        trial_encode(subject);
}

static unsigned count_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    unsigned count = 0;

    if (folder == NULL)
        return 0;
    while (readdir(folder) != NULL)
        count++;
    (void)closedir(folder);
    return count;
}

/* Open it beside itself: the two are one plug-in, and strangers. */
static void open_again(const struct subject *subject)
{
    struct subject second = *subject;
    enum ashlar_status status;

    memset(&second.info, 0, sizeof(second.info));
    second.info.size = sizeof(second.info);
    subject_begin(&second, "open");
    status = second.ops.open(second.host, second.options, second.option_count,
                             &second.info, &second.state);
    (void)subject_end(&second, "open", status);
    if (!check_that(subject->report, CHECK_AGAIN, status == ASHLAR_OK,
                    "it does not open a second time: %s", host_sentence()))
        return;
    check_that(subject->report, CHECK_AGAIN,
               memcmp(second.info.identity, subject->info.identity,
                      sizeof(second.info.identity)) == 0,
               "opened a second time, it has another identity");
    subject_close(&second);
}

/* Nothing is left of what open() and all after it took. */
static void check_given_back(struct subject *subject, uint64_t blocks,
                             unsigned files)
{
    uint64_t blocks_now = host_blocks();
    unsigned files_now = count_files();

    check_that(subject->report, CHECK_GIVES_BACK, blocks_now == blocks,
               "after close() the host lacks %lu block(s) that host->alloc() "
               "gave",
               (unsigned long)(blocks_now - blocks));
    check_that(subject->report, CHECK_GIVES_BACK, files_now <= files,
               "after close() %u file(s) more are open than before",
               files_now - files);
}

static void try_all(struct subject *subject, const char *path, const char *name,
                    const struct check_run *run)
{
    uint64_t blocks;
    unsigned files;

    if (!subject_load(subject, path, name))
        return;
    subject_open_wrongly(subject);
    /* What the first opening leaves behind may serve all that follow. */
    if (!subject_open(subject))
        return;
    subject_close(subject);
    blocks = host_blocks();
    files = count_files();
    if (!subject_open(subject))
        return;
    open_again(subject);
    try_groups(subject, run);
    explain(subject, run);
    if (!check_all_kept(subject->report))
        return; /* what is left behind is no news */
    subject_close(subject);
    check_given_back(subject, blocks, files);
}

/* --- in a process of its own ---------------------------------------------- */

static void tell_end(struct check_report *report, int status)
{
    int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    const char *operation = report->operation;

    if (operation == NULL)
        operation = "nothing yet";
    if (signal == SIGALRM)
        check_that(report, CHECK_SURVIVES, false,
                   "it did not come back for a minute; the last operation was "
                   "%s",
                   operation);
    else
        check_that(report, CHECK_SURVIVES, signal == 0,
                   "it died of signal %d (%s); the last operation was %s",
                   signal, signal == 0 ? "" : strsignal(signal), operation);
    if (signal == 0)
        check_that(report, CHECK_SURVIVES, report->finished,
                   "it ended the process, with status %d; the last operation "
                   "was %s",
                   WEXITSTATUS(status), operation);
}

static pid_t start(struct subject *subject, const char *path, const char *name,
                   const struct check_run *run)
{
    static const struct rlimit no_core = {0, 0};
    pid_t child = fork();

    if (child != 0)
        return child;
    (void)setrlimit(RLIMIT_CORE, &no_core);
    subject->host = host_start(subject->report);
    try_all(subject, path, name, run);
    subject->report->finished = true;
    _exit(0);
}

struct check_report *check_run(const char *path, const char *name,
                               const struct ashlar_plugin_option *options,
                               size_t option_count, const struct check_run *run)
{
    struct subject subject = {.option_count = option_count};
    struct check_report *report =
        mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status = 0;
    pid_t child;

    if (report == MAP_FAILED)
        return NULL;
    snprintf(report->name, sizeof(report->name), "%s", name);
    subject.report = report;
    if (option_count != 0)
        memcpy(subject.options, options, option_count * sizeof(*options));
    fflush(NULL);
    child = start(&subject, path, name, run);
    if (child < 0 || waitpid(child, &status, 0) != child) {
        (void)munmap(report, sizeof(*report));
        return NULL;
    }
    tell_end(report, status);
    return report;
}
