/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* The verbs by which a range goes to another process, here from one source to
 * another. */
#include "config.h"

#include "fault/fault_range.h"

#include "support/engine.h"

#include <fcntl.h>

/* --- the exporter --------------------------------------------------------- */

/* A range that was exported with five granules, and again with nine. Made once
 * for the process, and never broken. */
static struct {
    struct trial trial;
    struct ashlar_range_exported first;
    struct ashlar_range_exported more;
} exporter;

static void export(uint64_t since, struct ashlar_range_exported *export_out)
{
    *export_out = (struct ashlar_range_exported)ASHLAR_RANGE_EXPORTED_INIT;
    OK(ashlar_range_export(exporter.trial.range, since, 0, export_out));
    ck_assert_uint_eq(export_out->more, 0);
}

static void make_exporter(void)
{
    if (exporter.trial.source != NULL)
        return;
    trial_open(&exporter.trial, NULL);
    trial_create(&exporter.trial, 64, 2, ASHLAR_RANGE_EXPORT);
    trial_grow(&exporter.trial, 5);
    export(0, &exporter.first);
    trial_grow(&exporter.trial, 9);
    export(exporter.first.epoch, &exporter.more);
}

/* Importers see what the exporter wrote. */
static void know_stamps(struct trial *trial)
{
    unsigned i;

    for (i = 0; i < 9; i++)
        trial->stamps[i] = exporter.trial.stamps[i];
}

/* --- export --------------------------------------------------------------- */

static void setup_exporting(struct trial *trial)
{
    trial_open(trial, NULL);
    trial_create(trial, 64, 2, ASHLAR_RANGE_EXPORT);
    trial_grow(trial, 5);
}

static unsigned count_files(void)
{
    unsigned count = 0;
    int fd;

    for (fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) != -1;
    return count;
}

static enum ashlar_status run_export(struct trial *trial)
{
    struct ashlar_range_exported made = ASHLAR_RANGE_EXPORTED_INIT;
    unsigned before = count_files();
    enum ashlar_status status = ashlar_range_export(trial->range, 0, 0, &made);

    if (status == ASHLAR_OK)
        ck_assert_uint_eq(count_files(), before + made.fd_count);
    ashlar_range_export_free(&made);
    ck_assert_uint_eq(count_files(), before);
    return status;
}

static bool done_export(const struct trial *trial, const struct before *before)
{
    return before_differs(before, trial) == NULL &&
           before_given_differs(before, trial) == NULL;
}

/* --- import --------------------------------------------------------------- */

static void setup_importing(struct trial *trial)
{
    make_exporter();
    trial_open(trial, NULL);
}

static enum ashlar_status import(struct trial *trial)
{
    const struct ashlar_range_exported *from = &exporter.first;

    return ashlar_range_import(
        trial->source, from->description, from->description_bytes, from->fds,
        from->fd_count, 32 * trial->granule, &trial->range);
}

static enum ashlar_status run_import(struct trial *trial)
{
    bool clean = trial_waiting(trial) == 0;
    unsigned before = count_files();
    enum ashlar_status status = import(trial);

    /* One file of vm's, whatever the number of chunks in it, and none of a
     * driver's; none after a failure, unless undoing failed as well. */
    if (clean && (status == ASHLAR_OK || trial_waiting(trial) == 0))
        ck_assert_uint_eq(count_files(),
                          before + (engine_is_vm() && status == ASHLAR_OK));
    know_stamps(trial);
    return status;
}

static bool done_import(const struct trial *trial, const struct before *before)
{
    (void)before;
    return trial_info(trial).used_bytes == 5 * trial->granule &&
           trial_info(trial).reserved_bytes == 32 * trial->granule;
}

static void setup_imported(struct trial *trial)
{
    setup_importing(trial);
    OK(import(trial));
    know_stamps(trial);
}

static enum ashlar_status run_import_more(struct trial *trial)
{
    const struct ashlar_range_exported *from = &exporter.more;
    enum ashlar_status status = ashlar_range_import_more(
        trial->range, from->description, from->description_bytes, from->fds,
        from->fd_count);

    know_stamps(trial);
    return status;
}

static bool done_import_more(const struct trial *trial,
                             const struct before *before)
{
    return trial_info(trial).used_bytes == 9 * trial->granule &&
           trial_info(trial).base == before->info.base;
}

/* -------------------------------------------------------------------------- */

const struct verb share_verbs[] = {
    {"export", setup_exporting, run_export, done_export, 0, true, 0},
    {"import", setup_importing, run_import, done_import, 0, true, 3},
    {"import_more", setup_imported, run_import_more, done_import_more, 0, true,
     0},
};

const unsigned share_verb_count = sizeof(share_verbs) / sizeof(share_verbs[0]);
