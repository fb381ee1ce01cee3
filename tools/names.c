/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "names.h"

#include <stdlib.h>

#include "must.h"
#include "suggest.h"

char *names_list(enum ashlar_spec_field field)
{
    char *list = must_copy("one of ");
    const char *name;
    uint32_t i;

    for (i = 0; (name = ashlar_spec_name(field, i)) != NULL; i++) {
        char *longer = must_format("%s%s%s", list, i == 0 ? "" : ", ", name);

        free(list);
        list = longer;
    }
    return list;
}

const char *names_nearest(enum ashlar_spec_field field, const char *text)
{
    struct suggestion suggestion = {text, NULL, 0};
    const char *name;
    uint32_t i;

    for (i = 0; (name = ashlar_spec_name(field, i)) != NULL; i++)
        suggest_consider(&suggestion, name);
    for (i = 0; (name = ashlar_spec_alias(field, i)) != NULL; i++)
        suggest_consider(&suggestion, name);
    return suggestion.best;
}
