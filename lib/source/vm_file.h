/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * Memory of the vm source: extents of files that have no name.
 *
 *     file (memfd)   [ extent ][ hole ][ extent ][ hole ...
 *
 * All chunks come out of one file, since a descriptor for each would run into
 * RLIMIT_NOFILE; a chunk is destroyed by punching its extent out. Chunks that
 * may be exported share a file only within their group, since a descriptor
 * hands over the whole file.
 *
 * An extent that was exported is somebody else's, too: it is not punched out,
 * nor given out again, and its memory goes when nobody has the file open. The
 * file of a group is sealed against shrinking: a page that is mapped and cut
 * off would end the process that touches it.
 *
 * Invariants:
 *   - holes are kept sorted, neighbours joined; what lies behind `end` is free;
 *   - a file of a group is closed when its last extent is given back.
 *
 * One lock of the caller's guards all files of a source.
 */
#ifndef ASHLAR_SOURCE_VM_FILE_H
#define ASHLAR_SOURCE_VM_FILE_H

#include <stdbool.h>
#include <stdint.h>

struct vm_hole {
    uint64_t offset;
    uint64_t bytes;
};

struct vm_file {
    struct vm_file *next;
    int fd;
    uint64_t group; /* 0: of all that is not exported */
    uint64_t end;
    uint64_t extents; /* given out */
    struct vm_hole *holes;
    uint32_t hole_count;
    uint32_t hole_room;
};

/**
 * Take an extent out of the file of a group, which is made when missing.
 *
 * @return 0; or an errno: ENOMEM, EMFILE, ENOSPC, EFBIG ...
 */
int vm_file_take(struct vm_file **files, uint64_t group, uint64_t bytes,
                 struct vm_file **file_out, uint64_t *offset_out);

/** Give an extent back: its memory goes. 0, or an errno, and it stays. */
int vm_file_give(struct vm_file **files, struct vm_file *file, uint64_t offset,
                 uint64_t bytes);

/** Give an extent up that others may still use. */
void vm_file_leave(struct vm_file **files, struct vm_file *file);

/** Whether a descriptor is a file of a group's, which nobody can cut short. */
bool vm_file_is_safe(int fd);

/** A file that came from another process, as one with one extent. */
int vm_file_adopt(struct vm_file **files, int fd, struct vm_file **file_out);

/** Close all files. */
void vm_file_close_all(struct vm_file **files);

#endif
