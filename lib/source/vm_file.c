/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "source/vm_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

/* A group number that vm_file_take() never looks for. */
#define FOREIGN_GROUP UINT64_MAX
#define FIRST_HOLES   8u

static struct vm_file *file_link(struct vm_file **files, int fd, uint64_t group)
{
    struct vm_file *file = memory_zalloc(sizeof(*file));

    if (file == NULL)
        return NULL;
    file->fd = fd;
    file->group = group;
    file->next = *files;
    *files = file;
    return file;
}

static int file_open(struct vm_file **files, uint64_t group,
                     struct vm_file **file_out)
{
    int fd = memfd_create("ashlar-vm", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int err = errno;

    if (fd < 0)
        return err;
    /* So that no importer need fear that its pages go: it insists on this. */
    if (group != 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) != 0) {
        err = errno;
        (void)close(fd);
        return err;
    }
    *file_out = file_link(files, fd, group);
    if (*file_out != NULL)
        return 0;
    (void)close(fd);
    return ENOMEM;
}

static void file_close(struct vm_file **files, struct vm_file *file)
{
    struct vm_file **link = files;

    while (*link != file)
        link = &(*link)->next;
    *link = file->next;
    (void)close(file->fd);
    memory_free(file->holes);
    memory_free(file);
}

/* Room for one hole more: so that giving back needs no memory. */
static bool holes_have_room(struct vm_file *file)
{
    uint32_t room = file->hole_room == 0 ? FIRST_HOLES : file->hole_room * 2;
    struct vm_hole *holes;

    /* There is at most one hole in front of each extent. */
    if (file->hole_room > file->extents + 1)
        return true;
    holes = memory_realloc(file->holes, room * sizeof(*holes));
    if (holes == NULL)
        return false;
    file->holes = holes;
    file->hole_room = room;
    return true;
}

static void hole_remove(struct vm_file *file, uint32_t i)
{
    for (; i + 1 < file->hole_count; i++)
        file->holes[i] = file->holes[i + 1];
    file->hole_count--;
}

/* The first hole that is large enough, else the end of the file. */
static int place_extent(struct vm_file *file, uint64_t bytes,
                        uint64_t *offset_out)
{
    uint32_t i;

    for (i = 0; i < file->hole_count; i++) {
        if (file->holes[i].bytes < bytes)
            continue;
        *offset_out = file->holes[i].offset;
        file->holes[i].offset += bytes;
        file->holes[i].bytes -= bytes;
        if (file->holes[i].bytes == 0)
            hole_remove(file, i);
        return 0;
    }
    if (ftruncate(file->fd, (off_t)(file->end + bytes)) != 0)
        return errno;
    *offset_out = file->end;
    file->end += bytes;
    return 0;
}

int vm_file_take(struct vm_file **files, uint64_t group, uint64_t bytes,
                 struct vm_file **file_out, uint64_t *offset_out)
{
    struct vm_file *file = *files;
    int err = 0;

    while (file != NULL && file->group != group)
        file = file->next;
    if (file == NULL)
        err = file_open(files, group, &file);
    if (err != 0)
        return err;
    err =
        holes_have_room(file) ? place_extent(file, bytes, offset_out) : ENOMEM;
    if (err != 0) {
        if (file->extents == 0)
            file_close(files, file);
        return err;
    }
    file->extents++;
    *file_out = file;
    return 0;
}

/* Put a hole in its place, joined with its neighbours. */
static void hole_insert(struct vm_file *file, uint64_t offset, uint64_t bytes)
{
    struct vm_hole *holes = file->holes;
    uint32_t at = 0;
    uint32_t i;

    while (at < file->hole_count && holes[at].offset < offset)
        at++;
    if (at != 0 && holes[at - 1].offset + holes[at - 1].bytes == offset) {
        at--;
        holes[at].bytes += bytes;
    } else {
        for (i = file->hole_count; i > at; i--)
            holes[i] = holes[i - 1];
        holes[at] = (struct vm_hole){offset, bytes};
        file->hole_count++;
    }
    if (at + 1 < file->hole_count &&
        holes[at].offset + holes[at].bytes == holes[at + 1].offset) {
        holes[at].bytes += holes[at + 1].bytes;
        hole_remove(file, at + 1);
    }
}

void vm_file_leave(struct vm_file **files, struct vm_file *file)
{
    file->extents--;
    if (file->extents == 0)
        file_close(files, file);
}

int vm_file_give(struct vm_file **files, struct vm_file *file, uint64_t offset,
                 uint64_t bytes)
{
    if (fallocate(file->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  (off_t)offset, (off_t)bytes) != 0)
        return errno;
    hole_insert(file, offset, bytes);
    vm_file_leave(files, file);
    return 0;
}

/* A file that came before, by another descriptor; NULL for none. */
static struct vm_file *find_foreign(struct vm_file *file,
                                    const struct stat *facts)
{
    struct stat other;

    for (; file != NULL; file = file->next)
        if (file->group == FOREIGN_GROUP && fstat(file->fd, &other) == 0 &&
            other.st_dev == facts->st_dev && other.st_ino == facts->st_ino)
            return file;
    return NULL;
}

bool vm_file_is_safe(int fd)
{
    int seals = fcntl(fd, F_GET_SEALS);

    return seals >= 0 && (seals & F_SEAL_SHRINK) != 0;
}

int vm_file_adopt(struct vm_file **files, int fd, struct vm_file **file_out)
{
    struct stat facts;
    int own;
    int err;

    if (fstat(fd, &facts) != 0)
        return errno;
    *file_out = find_foreign(*files, &facts);
    if (*file_out != NULL) {
        (*file_out)->extents++;
        return 0;
    }
    own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    err = errno;
    if (own < 0)
        return err;
    *file_out = file_link(files, own, FOREIGN_GROUP);
    if (*file_out == NULL) {
        (void)close(own);
        return ENOMEM;
    }
    (*file_out)->extents = 1;
    return 0;
}

void vm_file_close_all(struct vm_file **files)
{
    while (*files != NULL)
        file_close(files, *files);
}
