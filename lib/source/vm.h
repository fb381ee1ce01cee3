/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The vm source's record, and how its files hang together.
 *
 *     vm.c        options, open and close, the table of operations
 *     vm_map.c    reservations and mappings, by address
 *     vm_chunk.c  chunks: extents of files (vm_file.c), export
 *     vm_fence.c  streams whose work the caller finishes by hand
 *     vm_huge.c   what the kernel grants of huge pages
 *
 * Invariants: trees hold no two records that overlap; the counters of mappings
 * in a reservation and of a chunk are those of the records; account is their
 * sum. One lock of the source's guards all of it.
 */
#ifndef ASHLAR_SOURCE_VM_H
#define ASHLAR_SOURCE_VM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <ashlar/plugin.h>
#include <ashlar/vm.h>

#include "base/lock.h"
#include "source/vm_file.h"

/** A chunk: an extent of a file. */
struct vm_chunk {
    bool imported; /* takes no memory of its own */
    bool shared;   /* others may have it, too: exported or imported */
    struct vm_file *file;
    uint64_t offset;
    uint64_t bytes;
    uint64_t mappings;
};

/** A stretch of addresses: what the trees are ordered by. First in a record. */
struct vm_span {
    uint64_t address;
    uint64_t bytes;
};

struct vm_space {
    struct vm_span span;
    uint64_t mappings;
};

struct vm_mapping {
    struct vm_span span;
    struct vm_chunk *chunk;
    struct vm_space *space;
    uint8_t rights[ASHLAR_VM_LOCATIONS];
};

struct vm_stream {
    struct vm_stream *next;
    uint64_t stream;
    uint64_t queued;   /* pieces of work queued so far */
    uint64_t finished; /* of those */
};

struct vm_fence {
    struct vm_stream *stream; /* NULL: has passed */
    uint64_t target;
};

struct vm {
    const struct ashlar_host *host;
    struct lock lock; /* all below */
    uint64_t granule;
    uint64_t memory_bytes;
    bool huge;                      /* they are asked for */
    enum ashlar_vm_huge huge_state; /* as it was when the source was opened */
    uint64_t huge_page_bytes;       /* 0: unknown */
    uint64_t
        taken_bytes; /* of memory_bytes: by chunks that were not imported */
    struct vm_file *files;
    void *spaces;
    void *mappings;
    struct vm_stream *streams;
    struct ashlar_vm_account account;
};

/** Set the error that says that there is no memory for records. */
enum ashlar_status vm_no_records(struct vm *vm);

/* vm_map.c */
enum ashlar_status vm_reserve(void *state, uint64_t bytes, uint64_t alignment,
                              uint64_t hint, uint64_t *address_out);
enum ashlar_status vm_release(void *state, uint64_t address, uint64_t bytes);
enum ashlar_status vm_map(void *state, uint64_t address, uint64_t handle,
                          uint64_t bytes);
enum ashlar_status vm_unmap(void *state, uint64_t address, uint64_t bytes);
enum ashlar_status vm_allow(void *state, uint64_t address, uint64_t bytes,
                            const struct ashlar_access *access,
                            size_t access_count);

enum ashlar_status vm_rights_at(struct vm *vm, uint64_t address,
                                uint32_t location, uint32_t *rights_out);

/** Whether an address lies in a mapping. The lock is held. */
bool vm_is_mapped(struct vm *vm, uint64_t address);

/* vm_huge.c */

/**
 * What the kernel's settings allow.
 *
 * @param all  What shmem_enabled says of all sizes of pages; "" for nothing.
 * @param own  The same for huge pages alone.
 */
enum ashlar_vm_huge vm_huge_allowed(const char *all, const char *own);

/** Fill in huge_state and huge_page_bytes for a source that asks for them. */
void vm_huge_ask(struct vm *vm);

/** What a text as /proc/self/smaps says of this source. Without the lock. */
uint64_t vm_huge_sum(struct vm *vm, FILE *smaps);

/**
 * Count the bytes that are mapped by huge pages now. Without the lock.
 *
 * @return False: the kernel does not say.
 */
bool vm_huge_count(struct vm *vm, uint64_t *bytes_out);

/* vm_chunk.c */
enum ashlar_status vm_chunk_create(void *state,
                                   const struct ashlar_chunk_request *request,
                                   uint64_t *chunk_out);
enum ashlar_status vm_chunk_destroy(void *state, uint64_t handle,
                                    uint64_t bytes);
enum ashlar_status vm_chunk_export(void *state, uint64_t handle, uint64_t bytes,
                                   int *fd_out, uint64_t *offset_out);
enum ashlar_status vm_chunk_import(void *state, int fd, uint64_t offset,
                                   uint64_t bytes, uint64_t *chunk_out);

/* vm_fence.c */
enum ashlar_status vm_fence_record(void *state, uint64_t number,
                                   uint64_t *fence_out);
enum ashlar_status vm_fence_query(void *state, uint64_t handle);
void vm_fence_drop(void *state, uint64_t handle);

#endif
