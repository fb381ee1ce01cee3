/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * A range of a real card in a second process, over a Unix socket. The second
 * one is forked before either starts the driver.
 *
 *     exporter                       importer
 *     grows, fills, exports    ──>   imports, counts, fills anew
 *     grows, exports the rest  ──>   imports more, counts, fills anew
 *     counts                   <──   done
 */
#include "config.h"

#include "gpu/card.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUIET           ASHLAR_QUIET, 1
#define FDS_MOST        64
#define DESCRIPTION_MAX 65536

/* The child's: it has no test case to fail. */
#define CHILD(_condition)                                                      \
    do {                                                                       \
        if (!(_condition))                                                     \
            _exit(__LINE__ % 200 + 20);                                        \
    } while (0)

static struct ashlar_source *source;

/* --- the socket -------------------------------------------------------------- */

union control {
    struct cmsghdr header;
    char room[CMSG_SPACE(FDS_MOST * sizeof(int))];
};

static bool send_export(int socket, const struct ashlar_range_exported *export)
{
    union control control;
    struct iovec bytes = {export->description, export->description_bytes};
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1};
    size_t fd_bytes = export->fd_count * sizeof(int);

    memset(&control, 0, sizeof(control));
    message.msg_control = &control;
    message.msg_controllen = CMSG_SPACE(fd_bytes);
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(fd_bytes);
    memcpy(CMSG_DATA(&control.header), export->fds, fd_bytes);
    return sendmsg(socket, &message, 0) == (ssize_t) export->description_bytes;
}

struct received {
    char description[DESCRIPTION_MAX];
    size_t bytes;
    int fds[FDS_MOST];
    size_t fd_count;
};

static bool receive(int socket, struct received *received)
{
    union control control;
    struct iovec bytes = {received->description, DESCRIPTION_MAX};
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1};
    ssize_t length;

    memset(&control, 0, sizeof(control));
    message.msg_control = &control;
    message.msg_controllen = sizeof(control);
    length = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (length <= 0 || control.header.cmsg_type != SCM_RIGHTS)
        return false;
    received->bytes = (size_t)length;
    received->fd_count = (control.header.cmsg_len - CMSG_LEN(0)) / sizeof(int);
    memcpy(received->fds, CMSG_DATA(&control.header),
           received->fd_count * sizeof(int));
    return true;
}

static void close_all(struct received *received)
{
    while (received->fd_count != 0)
        (void)close(received->fds[--received->fd_count]);
}

/* --- the importer ------------------------------------------------------------ */

static uint64_t base_of(struct ashlar_range *range)
{
    struct ashlar_range_info info = ASHLAR_RANGE_INFO_INIT;

    if (ashlar_range_query(range, &info) != ASHLAR_OK)
        return 0;
    return info.base;
}

static void import_all(int socket)
{
    static struct received received;
    struct ashlar_range *range;
    uint64_t base;

    card_start();
    CHILD(ashlar_source_open("cuda", NULL, &source) == ASHLAR_OK);
    CHILD(receive(socket, &received));
    CHILD(ashlar_range_import(source, received.description, received.bytes,
                              received.fds, received.fd_count, 64 * MIB,
                              &range) == ASHLAR_OK);
    close_all(&received);
    base = base_of(range);
    CHILD(card_count_wrong(base, 8 * MIB, 1) == 0);
    card_fill(NULL, base, 8 * MIB, 2);
    CHILD(receive(socket, &received));
    CHILD(ashlar_range_import_more(range, received.description, received.bytes,
                                   received.fds,
                                   received.fd_count) == ASHLAR_OK);
    close_all(&received);
    CHILD(card_count_wrong(base + 8 * MIB, 8 * MIB, 3) == 0);
    card_fill(NULL, base + 8 * MIB, 8 * MIB, 4);
    CHILD(cu.CtxSynchronize() == CUDA_SUCCESS);
    CHILD(write(socket, "", 1) == 1);
    /* What the exporter gives up stays here until this gives it up, too. */
    CHILD(read(socket, received.description, 1) == 1);
    CHILD(card_count_wrong(base, 8 * MIB, 2) == 0);
    CHILD(ashlar_range_destroy(range, QUIET) == ASHLAR_OK);
    CHILD(ashlar_source_close(source) == ASHLAR_OK);
    _exit(0);
}

/* --- the exporter ------------------------------------------------------------ */

static uint64_t send_since(struct ashlar_range *range, uint64_t epoch,
                           int socket)
{
    struct ashlar_range_exported export = ASHLAR_RANGE_EXPORTED_INIT;

    OK(ashlar_range_export(range, epoch, 0, &export));
    ck_assert_uint_eq(export.more, 0);
    ck_assert(send_export(socket, &export));
    epoch = export.epoch;
    ashlar_range_export_free(&export);
    return epoch;
}

START_TEST(another_process_uses_a_range_and_what_is_added_to_it)
{
    struct ashlar_range_options options = ASHLAR_RANGE_OPTIONS_INIT;
    struct ashlar_range *range;
    uint64_t epoch;
    int sockets[2];
    int status = -1;
    pid_t child;
    char byte;

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets), 0);
    child = fork();
    if (child == 0) {
        (void)close(sockets[0]);
        import_all(sockets[1]);
    }
    (void)close(sockets[1]);
    card_start();
    OK(ashlar_source_open("cuda", NULL, &source));
    options.reserve_bytes = 64 * MIB;
    options.chunk_max_bytes = 2 * MIB;
    options.flags = ASHLAR_RANGE_EXPORT;
    OK(ashlar_range_create(source, &options, &range));
    OK(ashlar_range_grow_to(range, 8 * MIB, NULL));
    card_fill(NULL, base_of(range), 8 * MIB, 1);
    CU(cu.CtxSynchronize());
    epoch = send_since(range, 0, sockets[0]);
    OK(ashlar_range_grow_to(range, 16 * MIB, NULL));
    card_fill(NULL, base_of(range) + 8 * MIB, 8 * MIB, 3);
    CU(cu.CtxSynchronize());
    (void)send_since(range, epoch, sockets[0]);
    ck_assert_int_eq(read(sockets[0], &byte, 1), 1);
    ck_assert_uint_eq(card_count_wrong(base_of(range), 8 * MIB, 2), 0);
    ck_assert_uint_eq(card_count_wrong(base_of(range) + 8 * MIB, 8 * MIB, 4),
                      0);
    OK(ashlar_range_destroy(range, QUIET));
    OK(ashlar_source_close(source));
    ck_assert_int_eq(write(sockets[0], "", 1), 1);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    (void)close(sockets[0]);
}
END_TEST

static Suite *card_share_suite(void)
{
    Suite *suite = suite_create("card_share");
    TCase *test = tcase_create("processes");

    tcase_set_timeout(test, 120);
    tcase_add_test(test, another_process_uses_a_range_and_what_is_added_to_it);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    const char *missing = card_missing();

    return missing != NULL ? suite_skip(missing)
                           : suite_run(card_share_suite());
}
