/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "unit/share_importer.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/ranges.h"

/* The one descriptor that the importer is started with, but for stdio. */
#define SOCKET_OF_IMPORTER 3

uint64_t importer_count_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    uint64_t count = 0;
    const struct dirent *entry;

    ck_assert_ptr_nonnull(folder);
    while ((entry = readdir(folder)) != NULL)
        count += entry->d_name[0] != '.';
    (void)closedir(folder);
    return count - 1;
}

/* --- the other process ---------------------------------------------------- */

static struct ashlar_source *source;
static struct ashlar_range *range;

static uint64_t *word_at(uint64_t offset)
{
    struct ashlar_range_info info = ASHLAR_RANGE_INFO_INIT;

    OK(ashlar_range_query(range, &info));
    return (uint64_t *)(uintptr_t)(info.base + offset);
}

/* All that its exporter alone may do; how many of them went through. */
static uint64_t try_forbidden(void)
{
    struct ashlar_range_exported made = ASHLAR_RANGE_EXPORTED_INIT;
    uint64_t went = 0;

    went += ashlar_range_grow_to(range, 1, NULL) != ASHLAR_ERR_UNSUPPORTED;
    went += ashlar_range_prepare(range, 1, ASHLAR_RANGE_CREATED) !=
            ASHLAR_ERR_UNSUPPORTED;
    went += ashlar_range_shrink_to(range, 0, ASHLAR_QUIET, 1, NULL) !=
            ASHLAR_ERR_UNSUPPORTED;
    went += ashlar_range_commit(range, 0, 1, NULL) != ASHLAR_ERR_UNSUPPORTED;
    went += ashlar_range_decommit(range, 0, 1, ASHLAR_QUIET, 1, NULL) !=
            ASHLAR_ERR_UNSUPPORTED;
    went += ashlar_range_export(range, 0, 0, &made) != ASHLAR_ERR_UNSUPPORTED;
    return went;
}

static enum ashlar_status do_order(const struct importer_order *order,
                                   const struct courier_message *message,
                                   struct importer_answer *answer)
{
    const char *description = message->body + sizeof(*order);
    size_t bytes = message->bytes - sizeof(*order);
    enum ashlar_status status;

    switch (order->verb) {
    case IMPORTER_IMPORT:
        return ashlar_range_import(source, description, bytes, message->fds,
                                   message->fd_count, order->number, &range);
    case IMPORTER_MORE:
        return ashlar_range_import_more(range, description, bytes, message->fds,
                                        message->fd_count);
    case IMPORTER_READ:
        answer->number = *word_at(order->number);
        return ASHLAR_OK;
    case IMPORTER_WRITE:
        *word_at(order->number) = ~order->number;
        return ASHLAR_OK;
    case IMPORTER_FORBID:
        answer->number = try_forbidden();
        return ASHLAR_OK;
    case IMPORTER_DESTROY:
        status = ashlar_range_destroy(range, ASHLAR_QUIET, 1);
        range = status == ASHLAR_OK ? NULL : range;
        return status;
    case IMPORTER_COUNT:
        return ASHLAR_OK;
    }
    return ASHLAR_ERR_INVALID;
}

static uint64_t count_given_out(void)
{
    struct model model = wrap_model(source);
    uint64_t count =
        model.spaces.count + model.chunks.count + model.mappings.count;

    model_free(&model);
    return count;
}

static void serve(const struct courier_message *message,
                  struct importer_answer *answer)
{
    struct ashlar_range_info info = ASHLAR_RANGE_INFO_INIT;
    struct importer_order order;
    uint64_t calls = wrap_calls(source);

    memset(answer, 0, sizeof(*answer));
    memcpy(&order, message->body, sizeof(order));
    answer->status = do_order(&order, message, answer);
    answer->calls = wrap_calls(source) - calls;
    (void)snprintf(answer->sentence, sizeof(answer->sentence), "%s",
                   ashlar_last_error_message());
    if (range != NULL)
        OK(ashlar_range_query(range, &info));
    answer->base = info.base;
    answer->used_bytes = info.used_bytes;
    answer->reserved_bytes = info.reserved_bytes;
}

static const char *source_options;

START_TEST(whatever_is_ordered)
{
    static struct courier_message message;
    struct importer_answer answer;

    source = wrap_open_as(source_options);
    while (courier_receive(SOCKET_OF_IMPORTER, &message)) {
        serve(&message, &answer);
        courier_close_fds(&message);
        answer.files = importer_count_files();
        answer.given_out = count_given_out();
        memcpy(message.body, &answer, sizeof(answer));
        message.bytes = sizeof(answer);
        ck_assert(courier_send(SOCKET_OF_IMPORTER, &message));
    }
    if (range != NULL)
        OK(ashlar_range_destroy(range, ASHLAR_QUIET, 1));
    wrap_close(source);
}
END_TEST

static void print_failures(SRunner *runner, int failed)
{
    TestResult **results = srunner_failures(runner);
    int i;

    for (i = 0; i < failed; i++)
        fprintf(stderr, "# the importer: %s\n", tr_msg(results[i]));
    free(results);
}

/* A suite, since Check's assertions work nowhere else; of this one process. */
int importer_main(int argc, char **argv)
{
    Suite *suite = suite_create("importer");
    TCase *test = tcase_create("importer");
    SRunner *runner = srunner_create(suite);
    int failed;

    source_options = argc > 2 ? argv[2] : NULL;
    tcase_add_test(test, whatever_is_ordered);
    suite_add_tcase(suite, test);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_SILENT);
    failed = srunner_ntests_failed(runner);
    print_failures(runner, failed);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* --- this process --------------------------------------------------------- */

/* By its own name: under Valgrind, /proc/self/exe is Valgrind's to whoever
 * executes it. */
static void become_importer(int socket, const char *options)
{
    char program[4096];
    ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);

    /* Where it lies already, it would be closed by exec. */
    if (length <= 0 ||
        (socket == SOCKET_OF_IMPORTER ? fcntl(socket, F_SETFD, 0)
                                      : dup2(socket, SOCKET_OF_IMPORTER)) < 0)
        _exit(126);
    program[length] = '\0';
    (void)execl(program, program, IMPORTER_ARGUMENT, options, (char *)NULL);
    _exit(127);
}

struct importer importer_start(const char *options)
{
    struct importer importer;
    int ends[2];

    ck_assert(courier_open(ends));
    importer.process = fork();
    ck_assert_int_ge(importer.process, 0);
    if (importer.process == 0)
        become_importer(ends[1], options);
    (void)close(ends[1]);
    importer.socket = ends[0];
    return importer;
}

struct importer_answer importer_ask(const struct importer *importer,
                                    enum importer_verb verb, uint64_t number,
                                    const void *bytes, size_t length,
                                    const int *fds, size_t fd_count)
{
    static struct courier_message message;
    const struct importer_order order = {verb, number};
    struct importer_answer answer;

    ck_assert_uint_le(sizeof(order) + length, COURIER_BYTES);
    ck_assert_uint_le(fd_count, COURIER_FDS);
    memcpy(message.body, &order, sizeof(order));
    if (length != 0)
        memcpy(message.body + sizeof(order), bytes, length);
    message.bytes = sizeof(order) + length;
    if (fd_count != 0)
        memcpy(message.fds, fds, fd_count * sizeof(*fds));
    message.fd_count = fd_count;
    ck_assert(courier_send(importer->socket, &message));
    ck_assert_msg(courier_receive(importer->socket, &message),
                  "the importer died");
    ck_assert_uint_eq(message.bytes, sizeof(answer));
    memcpy(&answer, message.body, sizeof(answer));
    return answer;
}

void importer_end(struct importer *importer)
{
    int status;

    (void)close(importer->socket);
    ck_assert_int_eq(waitpid(importer->process, &status, 0), importer->process);
    ck_assert_int_eq(status, 0);
    importer->process = 0;
}

void importer_kill(struct importer *importer)
{
    int status;

    ck_assert_int_eq(kill(importer->process, SIGKILL), 0);
    ck_assert_int_eq(waitpid(importer->process, &status, 0), importer->process);
    (void)close(importer->socket);
    importer->process = 0;
}
