/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Chunks through file descriptors and back, in one process. */
#include "config.h"

#include "check/trial.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check/host.h"

/*
 * A descriptor that is a file hands over all of that file: chunks of two groups
 * must not be in one. (A driver's are of its device, which tells nothing.)
 */
static bool share_a_file(int fd, int other_fd)
{
    struct stat one, other;

    return fstat(fd, &one) == 0 && fstat(other_fd, &other) == 0 &&
           S_ISREG(one.st_mode) && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

static bool export_chunk(struct model *model, uint32_t chunk, int *fd_out,
                         uint64_t *offset_out)
{
    struct check_report *report = model->subject->report;
    int fd = -1;
    bool good;

    if (!model_expect(model, CHECK_EXPORT,
                      CALL(model->subject, chunk_export,
                           model->chunks[chunk].handle,
                           model->chunks[chunk].bytes, &fd, offset_out),
                      "chunk_export()"))
        return false;
    good =
        check_that(report, CHECK_EXPORT, fd >= 0,
                   "chunk_export() gave the descriptor %d", fd) &&
        check_that(report, CHECK_EXPORT, (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0,
                   "chunk_export() gave a descriptor that exec does not "
                   "close");
    model->broken |= !good;
    *fd_out = fd;
    return good;
}

/* Nobody hands on what another process has made. */
static bool is_exportable(const struct model_chunk *chunk)
{
    return chunk->bytes != 0 && chunk->memory->group != 0 && !chunk->imported;
}

/* Any other chunk of another group, against a descriptor. */
static void check_groups(struct model *model, uint32_t chunk, int fd)
{
    uint64_t group = model->chunks[chunk].memory->group;
    uint64_t offset;
    int other = -1;
    uint32_t i;

    for (i = 0; i < MODEL_CHUNKS; i++)
        if (is_exportable(&model->chunks[i]) &&
            model->chunks[i].memory->group != group)
            break;
    if (i == MODEL_CHUNKS || !export_chunk(model, i, &other, &offset))
        return;
    check_that(model->subject->report, CHECK_EXPORT, !share_a_file(fd, other),
               "chunks of two export groups are in one file");
    (void)close(other);
}

void trial_share(struct model *model)
{
    uint32_t chunk = (uint32_t)model_random(model, MODEL_CHUNKS);
    uint64_t handle, offset;
    uint32_t made;
    int fd;

    if (!subject_can(model->subject, ASHLAR_CAN_EXPORT) ||
        model_chunk_room(model) == MODEL_CHUNKS ||
        !is_exportable(&model->chunks[chunk]) ||
        !export_chunk(model, chunk, &fd, &offset))
        return;
    if (model_expect(model, CHECK_EXPORT,
                     CALL(model->subject, chunk_import, fd, offset,
                          model->chunks[chunk].bytes, &handle),
                     "chunk_import()"))
        (void)model_adopt(model, handle, chunk, &made);
    host_fail_nth(0);
    model->starved = false;
    if (!model->broken)
        check_groups(model, chunk, fd);
    (void)close(fd);
}

void trial_import_wrongly(struct subject *subject)
{
    uint64_t handle;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        return;
    check_that(subject->report, CHECK_EXPORT,
               CALL(subject, chunk_import, ends[0], 0, subject->info.granule,
                    &handle) != ASHLAR_OK,
               "chunk_import() took a pipe for a chunk");
    (void)close(ends[0]);
    (void)close(ends[1]);
}
