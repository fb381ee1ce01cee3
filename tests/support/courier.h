/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Messages between two processes over a Unix socket, with file descriptors
 * beside the bytes (SCM_RIGHTS).
 */
#ifndef ASHLAR_TESTS_SUPPORT_COURIER_H
#define ASHLAR_TESTS_SUPPORT_COURIER_H

#include <stdbool.h>
#include <stddef.h>

/* What one message may have: the kernel's limit of descriptors. */
#define COURIER_BYTES ((size_t)32768)
#define COURIER_FDS   ((size_t)253)

struct courier_message {
    size_t bytes;
    size_t fd_count;
    int fds
        [COURIER_FDS]; /* of one that was received: the receiver's to close */
    _Alignas(16) char body[COURIER_BYTES];
};

/* Two ends that keep messages apart, closed by exec. */
bool courier_open(int ends[2]);

/* False: it did not go. */
bool courier_send(int socket, const struct courier_message *message);

/* Wait for one. False: the other end is closed, or it came cut. */
bool courier_receive(int socket, struct courier_message *message_out);

/* Close what came with one. */
void courier_close_fds(struct courier_message *message);

#endif
