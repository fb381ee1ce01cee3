/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * Tensor maps on a device, where a kernel is told an index: leased, published,
 * and retired behind the work that reads them. "vm" stands in for a device.
 */
#include <ashlar.h>
#include <stdio.h>
#include <stdlib.h>

#define STREAM ((uint64_t)7)

static struct ashlar_source *source;
static struct ashlar_tensormap_table *table;

static void must(enum ashlar_status status)
{
    if (status == ASHLAR_OK)
        return;
    fprintf(stderr, "%s\n", ashlar_last_error_message());
    exit(1);
}

/* A map at index i of the table is 128 * i bytes behind its base, for ever. */
static struct ashlar_tensormap_handle publish_one(const char *name)
{
    static const unsigned char map[ASHLAR_TENSOR_MAP_BYTES] = "encoded";
    struct ashlar_tensormap_handle handle;

    must(ashlar_tensormap_table_lease(table, 1, &handle));
    /* On "cuda", ashlar_tensormap_table_encode(table, handle, &spec). */
    must(ashlar_tensormap_table_fill(table, handle, map));
    must(ashlar_tensormap_table_publish(table, &handle, 1, STREAM));
    printf("%s is at index %u\n", name, (unsigned)handle.index);
    return handle;
}

int main(void)
{
    struct ashlar_tensormap_table_options options =
        ASHLAR_TENSORMAP_TABLE_OPTIONS_INIT;
    struct ashlar_tensormap_handle first, second;
    struct ashlar_fence fence;
    enum ashlar_status status;

    options.max_slots = 2; /* so that a slot comes again soon */
    must(ashlar_source_open("vm", NULL, &source));
    must(ashlar_tensormap_table_create(source, &options, &table));
    first = publish_one("the first");

    /* A kernel that reads it is queued; what it reads is retired behind it. */
    must(ashlar_vm_hold(source, STREAM));
    fence = (struct ashlar_fence)ASHLAR_FENCE_OF_STREAM(source, STREAM);
    must(ashlar_tensormap_table_retire(table, &first, 1, &fence, 1));
    second = publish_one("while the kernel runs, the second");

    /* It is done: the slot is had again, by another handle. */
    must(ashlar_vm_finish(source, STREAM));
    (void)publish_one("the third");
    status = ashlar_tensormap_table_retire(table, &first, 1, ASHLAR_QUIET, 1);
    printf("the first, retired once more: %s\n", ashlar_status_name(status));

    must(ashlar_tensormap_table_retire(table, &second, 1, ASHLAR_QUIET, 1));
    must(ashlar_tensormap_table_destroy(table, ASHLAR_QUIET, 1));
    must(ashlar_source_close(source));
    return 0;
}

/*
 * Output:
 * the first is at index 0
 * while the kernel runs, the second is at index 1
 * the third is at index 0
 * the first, retired once more: ASHLAR_ERR_NOT_LIVE
 */
