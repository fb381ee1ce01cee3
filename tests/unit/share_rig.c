/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "unit/share_rig.h"

#include <string.h>

#include "support/engine.h"

struct share share;

struct importer_answer share_ask(enum importer_verb verb, uint64_t number)
{
    return importer_ask(&share.importer, verb, number, NULL, 0, NULL, 0);
}

void share_open(void)
{
    share.files = importer_count_files();
    trial_open(&share.trial, NULL);
    share.importer = importer_start(engine_options());
    share.importer_files = share_ask(IMPORTER_COUNT, 0).files;
}

void share_close(void)
{
    if (share.importer.process != 0)
        importer_end(&share.importer);
    if (share.trial.source != NULL)
        trial_close(&share.trial);
    ck_assert_uint_eq(importer_count_files(), share.files);
}

uint64_t share_bytes(uint64_t granules)
{
    return granules * share.trial.granule;
}

struct ashlar_range_exported share_export(uint64_t since, size_t fds_max)
{
    struct ashlar_range_exported made = ASHLAR_RANGE_EXPORTED_INIT;

    OK(ashlar_range_export(share.trial.range, since, fds_max, &made));
    return made;
}

struct importer_answer share_send(enum importer_verb verb, uint64_t number,
                                  const struct ashlar_range_exported *made)
{
    return importer_ask(&share.importer, verb, number, made->description,
                        made->description_bytes, made->fds, made->fd_count);
}

uint64_t share_new(enum importer_verb verb, uint64_t number, uint64_t since)
{
    struct ashlar_range_exported made = share_export(since, 0);
    struct importer_answer answer = share_send(verb, number, &made);
    uint64_t epoch = made.epoch;

    ck_assert_msg(answer.status == ASHLAR_OK, "%s", answer.sentence);
    ck_assert_uint_eq(made.more, 0);
    ashlar_range_export_free(&made);
    return epoch;
}

void share_refused(const struct importer_answer *answer,
                   enum ashlar_status status, const char *words)
{
    ck_assert_msg(answer->status == status, "%s: %s",
                  ashlar_status_name(answer->status), answer->sentence);
    ck_assert_msg(strstr(answer->sentence, words) != NULL, "%s",
                  answer->sentence);
}

void share_nothing_there(const struct importer_answer *answer)
{
    ck_assert_uint_eq(answer->base, 0);
    ck_assert_uint_eq(answer->given_out, 0);
    ck_assert_uint_eq(answer->files, share.importer_files);
}

void share_stamps_there(uint64_t granules)
{
    uint64_t i;

    for (i = 0; i < granules; i++)
        ck_assert_uint_eq(share_ask(IMPORTER_READ, share_bytes(i)).number,
                          share.trial.stamps[i]);
}
