/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Specs of tensor maps: the first byte is the compute capability, the rest lies
 * over the struct behind its size.
 */
#include "config.h"

#include "fuzz/fuzz.h"

#include <ashlar.h>

#include <string.h>

#define BEHIND_SIZE (offsetof(struct ashlar_spec, size) + sizeof(size_t))

/* A finding is of a known rule, and a sentence that any room is enough for. */
static void check_finding(const struct ashlar_spec_finding *finding)
{
    char sentence[256], cut[16];
    size_t length;

    HOLDS(finding->severity == ASHLAR_SPEC_ERROR ||
          finding->severity == ASHLAR_SPEC_WARNING);
    HOLDS(strcmp(ashlar_spec_rule_name((enum ashlar_spec_rule)finding->rule),
                 "unknown-rule") != 0);
    length = ashlar_spec_explain(finding, NULL, sentence, sizeof(sentence));
    HOLDS(length > 10 && length < sizeof(sentence));
    HOLDS(strlen(sentence) == length);
    HOLDS(ashlar_spec_explain(finding, NULL, cut, sizeof(cut)) == length);
    HOLDS(strncmp(cut, sentence, sizeof(cut) - 1) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct ashlar_spec_finding findings[ASHLAR_SPEC_FINDINGS_MAX];
    const uint32_t capability = n == 0 ? 0 : bytes[0];
    struct ashlar_spec spec;
    enum ashlar_status status;
    size_t count = 0, again = 0, errors = 0, i;

    memset(&spec, 0, sizeof(spec));
    spec.size = sizeof(spec);
    if (n > sizeof(spec) - BEHIND_SIZE)
        n = sizeof(spec) - BEHIND_SIZE;
    if (n > 1)
        memcpy((char *)&spec + BEHIND_SIZE, bytes + 1, n - 1);
    ashlar_clear_error();
    status = ashlar_spec_check(&spec, capability, findings,
                               ASHLAR_SPEC_FINDINGS_MAX, &count);
    HOLDS(count <= ASHLAR_SPEC_FINDINGS_MAX);
    for (i = 0; i < count; i++) {
        check_finding(&findings[i]);
        errors += findings[i].severity == ASHLAR_SPEC_ERROR;
        HOLDS(errors == i + 1 || findings[i].severity != ASHLAR_SPEC_ERROR);
    }
    HOLDS(status == (errors == 0 ? ASHLAR_OK : ASHLAR_ERR_INVALID));
    HOLDS(ashlar_last_error() == status);
    HOLDS(ashlar_spec_check(&spec, capability, NULL, 0, &again) == status);
    HOLDS(again == count);
    return 0;
}
