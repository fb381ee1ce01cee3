/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * Blocks of any size inside a range: memory is committed under them, serves the
 * next ones when they are freed, and goes when the arena is trimmed. On a
 * device it is the same with the source "cuda".
 */
#include <ashlar.h>
#include <stdio.h>

#define MIB ((size_t)1 << 20)

static unsigned committed(struct ashlar_arena *arena)
{
    struct ashlar_arena_stats stats = ASHLAR_ARENA_STATS_INIT;

    ashlar_arena_query(arena, &stats);
    return (unsigned)(stats.committed_bytes >> 20);
}

int main(void)
{
    struct ashlar_arena_options options = ASHLAR_ARENA_OPTIONS_INIT;
    struct ashlar_fence done;
    struct ashlar_arena *arena;
    void *weights, *workspace;

    if (ashlar_source_open("vm", "memory=1G", &options.source) != ASHLAR_OK ||
        ashlar_arena_create(&options, &arena) != ASHLAR_OK) {
        fprintf(stderr, "%s\n", ashlar_last_error_message());
        return 1;
    }
    weights = ashlar_arena_alloc(arena, 100 * MIB, 256);
    workspace = ashlar_arena_alloc(arena, 30 * MIB, 4096);
    if (weights == NULL || workspace == NULL) {
        fprintf(stderr, "%s\n", ashlar_last_error_message());
        return 1;
    }
    printf("two blocks: %u MiB\n", committed(arena));

    /* Work queued on stream 1 uses it: it comes back when that is done. */
    done = (struct ashlar_fence){ASHLAR_FENCE_STREAM, 0, NULL, 1};
    ashlar_vm_hold(options.source, 1);
    ashlar_arena_free_after(arena, workspace, &done, 1);
    if (ashlar_arena_free(arena, workspace) != ASHLAR_OK)
        printf("freed twice: refused\n");
    if (ashlar_arena_destroy(arena, 0) == ASHLAR_ERR_BUSY)
        printf("destroyed with a live block: refused\n");
    ashlar_vm_finish(options.source, 1);

    printf("one freed: %u MiB\n", committed(arena));
    ashlar_arena_trim(arena, NULL);
    printf("trimmed: %u MiB\n", committed(arena));
    ashlar_arena_free(arena, weights);
    ashlar_arena_destroy(arena, 0);
    ashlar_source_close(options.source);
    return 0;
}

/*
 * Output:
 * two blocks: 130 MiB
 * freed twice: refused
 * destroyed with a live block: refused
 * one freed: 130 MiB
 * trimmed: 100 MiB
 */
