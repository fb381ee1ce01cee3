/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * Reservations, by address: the driver maps beyond the end of one without a
 * word, over addresses that are somebody else's.
 *
 * Invariant: the tree has exactly what the driver has granted to this source,
 * and the lock is held while that changes.
 */
#ifndef ASHLAR_PLUGINS_CUDA_SPACE_H
#define ASHLAR_PLUGINS_CUDA_SPACE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <ashlar/plugin.h>

struct cuda_space {
    uint64_t address;
    uint64_t bytes;
};

struct cuda_spaces {
    pthread_mutex_t lock;
    void *tree; /* of struct cuda_space, which the tree does not own */
};

void cuda_spaces_start(struct cuda_spaces *spaces);
/** Forget those that are left, since the driver is gone. */
void cuda_spaces_end(struct cuda_spaces *spaces,
                     const struct ashlar_host *host);

/** With the lock held: add one; false without memory. */
bool cuda_spaces_add(struct cuda_spaces *spaces, struct cuda_space *space);

/** With the lock held: the one that begins there; NULL: none does. */
struct cuda_space *cuda_spaces_find(const struct cuda_spaces *spaces,
                                    uint64_t address);

/** With the lock held. */
void cuda_spaces_remove(struct cuda_spaces *spaces, struct cuda_space *space);

/** Whether a stretch lies in one reservation. */
bool cuda_spaces_have(struct cuda_spaces *spaces, uint64_t address,
                      uint64_t bytes);

#endif
