/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The options of the source "cuda", as they are written: what the machine can
 * do of it is seen when the source is opened (source.c).
 */
#ifndef ASHLAR_PLUGINS_CUDA_OPTIONS_H
#define ASHLAR_PLUGINS_CUDA_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include <ashlar/plugin.h>

/** The most devices that can be named as peers. */
#define CUDA_PEERS_MOST 15

enum cuda_handle {
    CUDA_HANDLE_AUTO, /* posix_fd where the device has it */
    CUDA_HANDLE_NONE,
    CUDA_HANDLE_POSIX_FD,
    CUDA_HANDLE_FABRIC
};

enum cuda_rdma { CUDA_RDMA_NO, CUDA_RDMA_PREFERRED, CUDA_RDMA_REQUIRED };

struct cuda_options {
    int device;
    bool on_host; /* memory of a host's NUMA node, not of the device */
    int node;     /* -1: the device's own; then known once it is open */
    int peers[CUDA_PEERS_MOST];
    int peer_count;
    enum cuda_handle handle;
    enum cuda_rdma rdma;
    const char *driver; /* borrowed; NULL: the machine's own */
};

/** Read them; ASHLAR_OK, or ASHLAR_ERR_INVALID with what would be right. */
enum ashlar_status cuda_options_read(struct cuda_options *options,
                                     const struct ashlar_host *host,
                                     const struct ashlar_plugin_option *given,
                                     size_t count);

#endif
