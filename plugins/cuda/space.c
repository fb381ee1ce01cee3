/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "space.h"

#include <search.h>
#include <stddef.h>

/* Those that overlap are equal: a tree has none that do. */
static int compare(const void *a, const void *b)
{
    const struct cuda_space *one = a;
    const struct cuda_space *other = b;

    if (one->address + one->bytes <= other->address)
        return -1;
    return one->address >= other->address + other->bytes;
}

void cuda_spaces_start(struct cuda_spaces *spaces)
{
    (void)pthread_mutex_init(&spaces->lock, NULL);
    spaces->tree = NULL;
}

void cuda_spaces_end(struct cuda_spaces *spaces, const struct ashlar_host *host)
{
    struct cuda_space *space;

    while (spaces->tree != NULL) {
        space = *(struct cuda_space **)spaces->tree; /* the root's */
        (void)tdelete(space, &spaces->tree, compare);
        host->free(space);
    }
    (void)pthread_mutex_destroy(&spaces->lock);
}

bool cuda_spaces_add(struct cuda_spaces *spaces, struct cuda_space *space)
{
    return tsearch(space, &spaces->tree, compare) != NULL;
}

/* With the lock held: the one that an address lies in. */
static struct cuda_space *find_around(const struct cuda_spaces *spaces,
                                      uint64_t address)
{
    const struct cuda_space byte = {address, 1};
    struct cuda_space *const *node = tfind(&byte, &spaces->tree, compare);

    return node == NULL ? NULL : *node;
}

struct cuda_space *cuda_spaces_find(const struct cuda_spaces *spaces,
                                    uint64_t address)
{
    struct cuda_space *space = find_around(spaces, address);

    return space == NULL || space->address != address ? NULL : space;
}

void cuda_spaces_remove(struct cuda_spaces *spaces, struct cuda_space *space)
{
    (void)tdelete(space, &spaces->tree, compare);
}

bool cuda_spaces_have(struct cuda_spaces *spaces, uint64_t address,
                      uint64_t bytes)
{
    const struct cuda_space *space;
    bool have;

    (void)pthread_mutex_lock(&spaces->lock);
    space = find_around(spaces, address);
    have = space != NULL && bytes <= space->bytes - (address - space->address);
    (void)pthread_mutex_unlock(&spaces->lock);
    return have;
}
