/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "observe/json.h"

#include <string.h>

void json_start(struct json *json, struct text *text)
{
    json->text = text;
    json->comma = false;
}

static void separate(struct json *json)
{
    if (json->comma)
        text_say(json->text, ", ");
    json->comma = true;
}

void json_open(struct json *json, char bracket)
{
    separate(json);
    text_add(json->text, &bracket, 1);
    json->comma = false;
}

void json_close(struct json *json, char bracket)
{
    text_add(json->text, &bracket, 1);
    json->comma = true;
}

static void escape(struct text *text, unsigned char byte)
{
    static const char escaped[] = "\"\\\b\f\n\r\t";
    static const char letters[] = "\"\\bfnrt";
    const char *found = strchr(escaped, byte);

    if (found != NULL)
        text_format(text, "\\%c", letters[found - escaped]);
    else
        text_format(text, "\\u%04x", (unsigned int)byte);
}

static void quote(struct text *text, const char *string)
{
    text_say(text, "\"");
    while (*string != '\0') {
        unsigned char byte = (unsigned char)*string;
        size_t n = text_utf8(string);

        if (n == 0)
            text_say(text, "\xef\xbf\xbd"); /* U+FFFD */
        else if (byte < 0x20 || byte == '"' || byte == '\\')
            escape(text, byte);
        else
            text_add(text, string, n);
        string += n > 0 ? n : 1;
    }
    text_say(text, "\"");
}

void json_key(struct json *json, const char *key)
{
    separate(json);
    quote(json->text, key);
    text_say(json->text, ": ");
    json->comma = false;
}

void json_string(struct json *json, const char *string)
{
    separate(json);
    quote(json->text, string);
}

void json_number(struct json *json, uint64_t number)
{
    separate(json);
    text_format(json->text, "%llu", (unsigned long long)number);
}
