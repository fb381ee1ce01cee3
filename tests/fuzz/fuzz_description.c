/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Descriptions of ranges, as another process may send them.
 *
 *     byte 0     how many of FILES descriptors come with it; and 0x80: its
 *                length, checksum, source and granule are put right, so that
 *                what is behind those checks is reached
 *     the rest   the description
 */
#include "config.h"

#include "fuzz/fuzz.h"

#include "range/description.h"

#include <ashlar.h>

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FILES      4
#define GRANULE    ((uint64_t)65536)
#define FILE_BYTES (8 * GRANULE)
#define PUT_RIGHT  0x80u

static struct ashlar_source *source;
static int fds[FILES];

static void start(void)
{
    size_t i;

    HOLDS(ashlar_source_open("vm", "granule=64K,memory=64M", &source) ==
          ASHLAR_OK);
    for (i = 0; i < FILES; i++) {
        fds[i] = memfd_create("fuzz", MFD_CLOEXEC);
        HOLDS(fds[i] >= 0 && ftruncate(fds[i], (off_t)FILE_BYTES) == 0);
    }
}

static void put_right(unsigned char *description, size_t n, size_t fd_count)
{
    struct description_header header;

    if (n < sizeof(header))
        return;
    memcpy(&header, description, sizeof(header));
    memcpy(header.magic, "ashlarRG", sizeof(header.magic));
    header.version = DESCRIPTION_VERSION;
    header.header_bytes = sizeof(header);
    header.bytes = n;
    header.chunk_count =
        (n - sizeof(header)) / sizeof(struct description_chunk);
    header.fd_count = fd_count;
    header.granule = GRANULE;
    memset(header.source, 0, sizeof(header.source));
    strcpy(header.source, "vm");
    memcpy(header.identity, source->info.identity, sizeof(header.identity));
    memcpy(description, &header, sizeof(header));
    header.checksum = description_checksum(description, n);
    memcpy(description, &header, sizeof(header));
}

/* What a source has given out, all of it. */
static struct ashlar_vm_account account(void)
{
    struct ashlar_vm_account now = ASHLAR_VM_ACCOUNT_INIT;

    HOLDS(ashlar_vm_query(source, &now) == ASHLAR_OK);
    return now;
}

/* All that it says is mapped is there, to be read and written. */
static void touch(struct ashlar_range *range)
{
    struct ashlar_range_info info = ASHLAR_RANGE_INFO_INIT;
    struct ashlar_range_chunk chunks[8];
    size_t count, i;

    HOLDS(ashlar_range_query(range, &info) == ASHLAR_OK);
    HOLDS(info.committed_bytes <= info.reserved_bytes);
    HOLDS(ashlar_range_chunks(range, chunks, 8, &count) == ASHLAR_OK);
    for (i = 0; i < count && i < 8; i++) {
        volatile unsigned char *at =
            (unsigned char *)(uintptr_t)(info.base + chunks[i].offset);

        HOLDS(chunks[i].offset + chunks[i].bytes <= info.reserved_bytes);
        at[0] = at[chunks[i].bytes - 1];
    }
}

/* A second description of the same bytes, made later. */
static void add_more(struct ashlar_range *range, unsigned char *description,
                     size_t n, size_t fd_count)
{
    struct description_header header;
    const struct ashlar_vm_account before = account();
    struct ashlar_vm_account after;

    memcpy(&header, description, sizeof(header));
    header.since = header.epoch;
    header.epoch++;
    memcpy(description, &header, sizeof(header));
    put_right(description, n, fd_count);
    if (ashlar_range_import_more(range, description, n, fds, fd_count) ==
        ASHLAR_OK)
        return;
    after = account();
    HOLDS(memcmp(&before, &after, sizeof(before)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    const struct ashlar_vm_account nothing = ASHLAR_VM_ACCOUNT_INIT;
    struct ashlar_range *range = NULL;
    struct ashlar_vm_account left;
    unsigned char *description;
    size_t fd_count;

    if (source == NULL)
        start();
    if (n == 0)
        return 0;
    fd_count = (bytes[0] & ~PUT_RIGHT) % (FILES + 1);
    description = malloc(n);
    HOLDS(description != NULL);
    memcpy(description, bytes + 1, n - 1);
    if (bytes[0] & PUT_RIGHT)
        put_right(description, n - 1, fd_count);
    if (ashlar_range_import(source, description, n - 1, fds, fd_count, 0,
                            &range) == ASHLAR_OK) {
        touch(range);
        add_more(range, description, n - 1, fd_count);
        touch(range);
        HOLDS(ashlar_range_destroy(range, ASHLAR_QUIET, 1) == ASHLAR_OK);
    } else {
        HOLDS(range == NULL);
        HOLDS(ashlar_last_error_message()[0] != '\0');
    }
    free(description);
    HOLDS(ashlar_source_drain(source, 0) == ASHLAR_OK);
    left = account();
    HOLDS(memcmp(&left, &nothing, sizeof(left)) == 0);
    return 0;
}
