/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * Writing JSON (RFC 8259): what the library needs of it and no more.
 *
 *     struct json json;
 *     json_start(&json, &text);
 *     json_open(&json, '{');                      {
 *     json_key(&json, "pools");                   "pools":
 *     json_open(&json, '[');                      [
 *     json_number(&json, 1);                      1
 *     json_number(&json, 2);                      , 2
 *     json_close(&json, ']');                     ]
 *     json_close(&json, '}');                     }
 *
 * The writer sets the commas; that every bracket is closed and that keys stand
 * in objects alone is the caller's to see to.
 */
#ifndef ASHLAR_OBSERVE_JSON_H
#define ASHLAR_OBSERVE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "observe/text.h"

struct json {
    struct text *text;
    bool comma; /* the next key or value has one before it in its brackets */
};

/** Begin to write JSON at the end of a text. */
void json_start(struct json *json, struct text *text);

/** Begin an object, '{', or an array, '['. */
void json_open(struct json *json, char bracket);

/** End an object, '}', or an array, ']'. */
void json_close(struct json *json, char bracket);

/** The name of the next value of an object. */
void json_key(struct json *json, const char *key);

/**
 * A string of any bytes: quotes, backslashes and control characters are
 * escaped, each byte that is not part of UTF-8 becomes U+FFFD.
 */
void json_string(struct json *json, const char *string);

/**
 * A number, exact. Beyond 2^53 many readers keep them as doubles and lose the
 * last digits.
 */
void json_number(struct json *json, uint64_t number);

#endif
