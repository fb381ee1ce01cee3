/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "can.h"

#include <stdlib.h>

#include <ashlar/plugin.h>

#include "must.h"

static const struct {
    uint64_t bit;
    const char *name;
} words[] = {
    {ASHLAR_CAN_BLOCKS, "blocks"},    {ASHLAR_CAN_RANGES, "ranges"},
    {ASHLAR_CAN_COPY, "copy"},        {ASHLAR_CAN_SCATTER, "scatter"},
    {ASHLAR_CAN_FENCE, "fence"},      {ASHLAR_CAN_ENCODE, "encode"},
    {ASHLAR_CAN_EXPORT, "export"},    {ASHLAR_CAN_GRAPH, "graph"},
    {ASHLAR_CAN_HOST_ACCESS, "host"},
};

#define WORD_COUNT (sizeof(words) / sizeof(words[0]))

char *can_text(uint64_t can)
{
    char *text = must_copy("");
    size_t i;

    for (i = 0; i < WORD_COUNT; i++) {
        char *longer;

        if ((can & words[i].bit) == 0)
            continue;
        longer = must_format("%s%s%s", text, *text == '\0' ? "" : " ",
                             words[i].name);
        free(text);
        text = longer;
    }
    if (*text != '\0')
        return text;
    free(text);
    return must_copy("nothing");
}

json_t *can_json(uint64_t can)
{
    json_t *list = json_array();
    size_t i;

    for (i = 0; i < WORD_COUNT; i++)
        if ((can & words[i].bit) != 0)
            json_array_append_new(list, json_string(words[i].name));
    return list;
}
