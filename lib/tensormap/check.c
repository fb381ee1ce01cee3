/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "tensormap/check.h"

#include "base/error.h"
#include "base/options.h"

void check_found(struct check *check, const struct ashlar_spec_finding *what)
{
    struct ashlar_spec_finding finding = *what;

    finding.severity = check->severity;
    if (check->count == 0)
        check->first = finding;
    if (check->count < check->room)
        check->findings[check->count] = finding;
    check->count++;
}

enum ashlar_status spec_read(struct ashlar_spec *own,
                             const struct ashlar_spec *given)
{
    return options_read(own, sizeof(*own), given, "struct ashlar_spec");
}

static enum ashlar_status refuse(const struct check *check, size_t errors)
{
    char sentence[ERROR_TEXT_BYTES];

    (void)ashlar_spec_explain(&check->first, NULL, sentence, sizeof(sentence));
    if (errors == 1)
        return error_set(ASHLAR_ERR_INVALID, "%s", sentence);
    return error_set(ASHLAR_ERR_INVALID, "%s; and %zu more", sentence,
                     errors - 1);
}

enum ashlar_status ashlar_spec_check(const struct ashlar_spec *spec,
                                     uint32_t capability,
                                     struct ashlar_spec_finding *findings,
                                     size_t room, size_t *count_out)
{
    struct ashlar_spec own;
    struct check check = {.spec = &own,
                          .capability = capability,
                          .severity = ASHLAR_SPEC_ERROR,
                          .findings = findings,
                          .room = room};
    enum ashlar_status status;
    size_t errors;

    if (count_out != NULL)
        *count_out = 0;
    if (findings == NULL && room != 0)
        return error_set(ASHLAR_ERR_INVALID,
                         "findings is NULL, with room for %zu: give an array, "
                         "or a room of 0",
                         room);
    status = spec_read(&own, spec);
    if (status != ASHLAR_OK)
        return status;
    check.dtype = own.dtype < SPEC_DTYPES ? &spec_dtypes[own.dtype] : NULL;
    check_rules(&check);
    errors = check.count;
    check.severity = ASHLAR_SPEC_WARNING;
    check_warnings(&check);
    if (count_out != NULL)
        *count_out = check.count;
    return errors == 0 ? ASHLAR_OK : refuse(&check, errors);
}
