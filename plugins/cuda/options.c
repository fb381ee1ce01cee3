/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "options.h"

#include <string.h>

/* More than any machine has; and it keeps sums of ordinals far from INT_MAX. */
#define NUMBER_MOST 9999

/* A number at the start of a text; NULL: none, else what follows it. */
static const char *read_number(const char *text, int *number_out)
{
    const char *at = text;
    int number = 0;

    for (; *at >= '0' && *at <= '9'; at++) {
        number = number * 10 + (*at - '0');
        if (number > NUMBER_MOST)
            return NULL;
    }
    if (at == text)
        return NULL;
    *number_out = number;
    return at;
}

/* A text that is a number and nothing else. */
static bool is_number(const char *text, int *number_out)
{
    const char *rest = read_number(text, number_out);

    return rest != NULL && *rest == '\0';
}

/* One of some words; -1 for none. */
static int choose(const char *value, const char *const *words)
{
    int i;

    for (i = 0; words[i] != NULL; i++)
        if (strcmp(value, words[i]) == 0)
            return i;
    return -1;
}

static bool read_device(struct cuda_options *options, const char *value)
{
    return is_number(value, &options->device);
}

static bool read_peers(struct cuda_options *options, const char *value)
{
    const char *at = value;

    for (options->peer_count = 0; options->peer_count < CUDA_PEERS_MOST;) {
        at = read_number(at, &options->peers[options->peer_count]);
        if (at == NULL)
            return false;
        options->peer_count++;
        if (*at == '\0')
            return true;
        if (*at++ != ':')
            return false;
    }
    return false;
}

static bool read_location(struct cuda_options *options, const char *value)
{
    options->node = -1;
    options->on_host = strncmp(value, "host", 4) == 0;
    if (!options->on_host)
        return strcmp(value, "device") == 0;
    return value[4] == '\0' ||
           (value[4] == ':' && is_number(value + 5, &options->node));
}

static bool read_handle(struct cuda_options *options, const char *value)
{
    static const char *const words[] = {"none", "posix_fd", "fabric", NULL};
    static const enum cuda_handle handles[] = {
        CUDA_HANDLE_NONE, CUDA_HANDLE_POSIX_FD, CUDA_HANDLE_FABRIC};
    int i = choose(value, words);

    if (i >= 0)
        options->handle = handles[i];
    return i >= 0;
}

static bool read_rdma(struct cuda_options *options, const char *value)
{
    static const char *const words[] = {"no", "preferred", "required", NULL};
    static const enum cuda_rdma wishes[] = {CUDA_RDMA_NO, CUDA_RDMA_PREFERRED,
                                            CUDA_RDMA_REQUIRED};
    int i = choose(value, words);

    if (i >= 0)
        options->rdma = wishes[i];
    return i >= 0;
}

static bool read_driver(struct cuda_options *options, const char *value)
{
    options->driver = value;
    return *value != '\0';
}

struct reader {
    const char *key;
    bool (*read)(struct cuda_options *options, const char *value);
    const char *right; /* what it must be */
};

static const struct reader readers[] = {
    {"device", read_device, "a device's number, such as 0"},
    {"peers", read_peers, "devices' numbers, such as 1 or 1:2, 15 at most"},
    {"location", read_location,
     "device, host, or host:N with the number of a NUMA node"},
    {"handle", read_handle, "none, posix_fd or fabric"},
    {"rdma", read_rdma, "no, preferred or required"},
    {"driver", read_driver, "the path of a driver's library"},
};

#define READER_COUNT (sizeof(readers) / sizeof(readers[0]))

static enum ashlar_status read_one(struct cuda_options *options,
                                   const struct ashlar_host *host,
                                   const struct ashlar_plugin_option *option)
{
    size_t i;

    for (i = 0; i < READER_COUNT; i++) {
        if (strcmp(option->key, readers[i].key) != 0)
            continue;
        if (readers[i].read(options, option->value))
            return ASHLAR_OK;
        return host->fail(ASHLAR_ERR_INVALID, "%s is \"%s\"; it must be %s",
                          option->key, option->value, readers[i].right);
    }
    return host->fail(ASHLAR_ERR_INVALID,
                      "the source \"cuda\" has no option \"%s\"; it has "
                      "device, peers, location, handle, rdma and driver",
                      option->key);
}

static enum ashlar_status check_peers(const struct cuda_options *options,
                                      const struct ashlar_host *host)
{
    int i;
    int j;

    for (i = 0; i < options->peer_count; i++) {
        if (options->peers[i] == options->device)
            return host->fail(ASHLAR_ERR_INVALID,
                              "peers has %d, which is the device itself; name "
                              "others",
                              options->device);
        for (j = 0; j < i; j++)
            if (options->peers[i] == options->peers[j])
                return host->fail(ASHLAR_ERR_INVALID, "peers has %d twice",
                                  options->peers[i]);
    }
    return ASHLAR_OK;
}

enum ashlar_status cuda_options_read(struct cuda_options *options,
                                     const struct ashlar_host *host,
                                     const struct ashlar_plugin_option *given,
                                     size_t count)
{
    enum ashlar_status status = ASHLAR_OK;
    size_t i;

    *options = (struct cuda_options){.node = -1};
    for (i = 0; i < count && status == ASHLAR_OK; i++)
        status = read_one(options, host, &given[i]);
    return status == ASHLAR_OK ? check_peers(options, host) : status;
}
