/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "doctor.h"

#include <stdlib.h>
#include <string.h>

#include "must.h"
#include "toolkit.h"

static void tell_toolkit(struct findings *findings,
                         const struct toolkit *toolkit, unsigned served)
{
    char *name = must_format("CUDA %u.%u, %s", toolkit->version / 1000,
                             toolkit->version % 1000 / 10, toolkit->header);

    if (!toolkit->has_map) {
        findings_add(findings, FINDING_NOTE, "toolkit",
                     "%s: does not declare CUtensorMap", name);
        findings_advise(findings, "tensor maps need CUDA 12.0 or later");
    } else if (toolkit->alignment == 0) {
        findings_add(findings, FINDING_NOTE, "toolkit",
                     "%s: declares CUtensorMap without an alignment; slots are "
                     "at %u",
                     name, served);
    } else if (toolkit->alignment > served) {
        findings_add(findings, FINDING_PROBLEM, "toolkit",
                     "%s: declares CUtensorMap at %u, but slots are only at %u",
                     name, toolkit->alignment, served);
        findings_advise(findings, "this toolkit is newer than this ashlar; get "
                                  "a newer ashlar");
    } else {
        findings_add(findings, FINDING_OK, "toolkit",
                     "%s: declares CUtensorMap at %u; slots are at %u", name,
                     toolkit->alignment, served);
    }
    free(name);
}

/* Code compiled against two toolkits is how a map gets misaligned. */
static void tell_difference(struct findings *findings,
                            const struct toolkits *toolkits)
{
    unsigned low = 0, high = 0;
    size_t i;

    for (i = 0; i < toolkits->count; i++) {
        unsigned alignment = toolkits->list[i].alignment;

        if (alignment != 0 && (low == 0 || alignment < low))
            low = alignment;
        if (alignment > high)
            high = alignment;
    }
    if (low == high)
        return;
    findings_add(findings, FINDING_NOTE, "toolkits",
                 "they declare CUtensorMap at %u and at %u", low, high);
    findings_advise(findings,
                    "code built against one may refuse maps of the other; "
                    "take all maps from an ashlar pool, which suits both");
}

void doctor_toolkit(struct findings *findings, const char *folder,
                    unsigned served)
{
    struct toolkits toolkits = {0, NULL};
    size_t i;

    if (folder != NULL && !toolkits_look_in(&toolkits, folder)) {
        findings_add(findings, FINDING_PROBLEM, "toolkit",
                     "there is no cuda.h of CUDA in %s", folder);
        findings_advise(findings,
                        "give --cuda a toolkit's folder: the one that has "
                        "include/cuda.h in it");
    }
    toolkits_look_around(&toolkits);
    for (i = 0; i < toolkits.count; i++)
        tell_toolkit(findings, &toolkits.list[i], served);
    tell_difference(findings, &toolkits);
    if (toolkits.count == 0) {
        findings_add(findings, FINDING_NOTE, "toolkit",
                     "no cuda.h was found in the usual places");
        findings_advise(findings,
                        "ashlar does not need it; to check one that is "
                        "elsewhere, say --cuda DIR or set CUDA_HOME");
    }
    toolkits_clear(&toolkits);
}
