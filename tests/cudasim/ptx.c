/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "ptx.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A word or a sign of the text. */
struct token {
    const char *start;
    size_t length; /* 0: the text is at its end */
};

static bool is_word(char c)
{
    return isalnum((unsigned char)c) ||
           (c != '\0' && strchr("._$%", c) != NULL);
}

/* Past spaces and comments. */
static const char *skip(const char *text)
{
    for (;;) {
        if (isspace((unsigned char)*text)) {
            text++;
        } else if (text[0] == '/' && text[1] == '/') {
            text += strcspn(text, "\n");
        } else if (text[0] == '/' && text[1] == '*') {
            text = strstr(text + 2, "*/");
            if (text == NULL)
                return "";
            text += 2;
        } else {
            return text;
        }
    }
}

static struct token next(struct ptx *ptx)
{
    struct token token = {skip(ptx->rest), 0};

    while (is_word(token.start[token.length]))
        token.length++;
    if (token.length == 0 && *token.start != '\0')
        token.length = 1;
    ptx->rest = token.start + token.length;
    return token;
}

static bool is(struct token token, const char *text)
{
    return token.length == strlen(text) &&
           memcmp(token.start, text, token.length) == 0;
}

/* ".version 8.3 .target sm_90", which a text has to begin with. */
bool ptx_begin(struct ptx *ptx, const char *text)
{
    struct token token;
    char *end;

    *ptx = (struct ptx){0, 0, text};
    if (!is(next(ptx), ".version"))
        return false;
    token = next(ptx);
    ptx->version = (unsigned)strtoul(token.start, &end, 10) * 10;
    if (*end == '.')
        ptx->version += (unsigned)strtoul(end + 1, NULL, 10);
    if (!is(next(ptx), ".target"))
        return false;
    token = next(ptx);
    if (token.length > 3 && strncmp(token.start, "sm_", 3) == 0)
        ptx->target = (unsigned)strtoul(token.start + 3, NULL, 10);
    return ptx->target != 0;
}

/* Bytes of a type, such as .u64; 0: the token is none. */
static uint64_t size_of(struct token token)
{
    if (token.length < 3 || token.start[0] != '.' ||
        strchr("ubsf", token.start[1]) == NULL)
        return 0;
    return strtoul(token.start + 2, NULL, 10) / 8;
}

/* A parameter behind its ".param", up to the comma or the closing bracket. */
static struct token read_parameter(struct ptx *ptx, uint64_t *bytes)
{
    struct token token = next(ptx);

    *bytes = 0;
    while (token.length > 0 && !is(token, ",") && !is(token, ")")) {
        if (is(token, "["))
            *bytes *= strtoul(next(ptx).start, NULL, 10);
        else if (*bytes == 0)
            *bytes = size_of(token);
        token = next(ptx);
    }
    return token;
}

static void read_parameters(struct ptx *ptx, struct ptx_entry *entry)
{
    struct token token = next(ptx);
    uint64_t bytes;

    while (token.length > 0 && !is(token, ")")) {
        token = read_parameter(ptx, &bytes);
        if (entry->parameters < KERNEL_PARAMETERS_MOST)
            entry->bytes[entry->parameters] = bytes;
        entry->parameters++;
        if (is(token, ","))
            token = next(ptx);
    }
}

bool ptx_next(struct ptx *ptx, struct ptx_entry *entry)
{
    struct token token = next(ptx);
    const char *behind;

    while (token.length > 0 && !is(token, ".entry"))
        token = next(ptx);
    token = next(ptx);
    if (token.length == 0)
        return false;
    *entry = (struct ptx_entry){.name = token.start, .length = token.length};
    behind = ptx->rest;
    if (is(next(ptx), "("))
        read_parameters(ptx, entry);
    else
        ptx->rest = behind;
    return true;
}
