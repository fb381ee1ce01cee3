/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "support/courier.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* Room for the descriptors, aligned as their header wants it. */
union control {
    struct cmsghdr header;
    char room[CMSG_SPACE(COURIER_FDS * sizeof(int))];
};

bool courier_open(int ends[2])
{
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0;
}

bool courier_send(int socket, const struct courier_message *message)
{
    const size_t fd_bytes = message->fd_count * sizeof(int);
    struct iovec body = {(void *)(size_t)message->body, message->bytes};
    struct msghdr header = {.msg_iov = &body, .msg_iovlen = 1};
    union control control;
    struct cmsghdr *beside;
    ssize_t sent;

    memset(&control, 0, sizeof(control));
    if (fd_bytes != 0) {
        header.msg_control = &control;
        header.msg_controllen = CMSG_SPACE(fd_bytes);
        beside = CMSG_FIRSTHDR(&header);
        beside->cmsg_level = SOL_SOCKET;
        beside->cmsg_type = SCM_RIGHTS;
        beside->cmsg_len = CMSG_LEN(fd_bytes);
        memcpy(CMSG_DATA(beside), message->fds, fd_bytes);
    }
    do
        sent = sendmsg(socket, &header, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)message->bytes;
}

/* Take the descriptors out of what came beside. */
static void take_fds(struct msghdr *header, struct courier_message *message)
{
    struct cmsghdr *beside;

    for (beside = CMSG_FIRSTHDR(header); beside != NULL;
         beside = CMSG_NXTHDR(header, beside)) {
        if (beside->cmsg_level != SOL_SOCKET || beside->cmsg_type != SCM_RIGHTS)
            continue;
        message->fd_count = (beside->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        memcpy(message->fds, CMSG_DATA(beside),
               message->fd_count * sizeof(int));
    }
}

bool courier_receive(int socket, struct courier_message *message_out)
{
    struct iovec body = {message_out->body, COURIER_BYTES};
    union control control;
    struct msghdr header = {.msg_iov = &body,
                            .msg_iovlen = 1,
                            .msg_control = &control,
                            .msg_controllen = sizeof(control)};
    ssize_t received;

    do
        received = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
    while (received < 0 && errno == EINTR);
    message_out->fd_count = 0;
    if (received <= 0)
        return false;
    message_out->bytes = (size_t)received;
    take_fds(&header, message_out);
    return (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
}

void courier_close_fds(struct courier_message *message)
{
    while (message->fd_count != 0)
        (void)close(message->fds[--message->fd_count]);
}
