/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * Reading the fields of one JSON object, each with its type and its bounds.
 *
 * What is wrong becomes a mistake with the line, the field's whole path, its
 * value and what would be right; the reader then goes on with the next field.
 */
#ifndef ASHLAR_TOOLS_FIELD_H
#define ASHLAR_TOOLS_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "mistakes.h"
#include "names.h"

/** An object in the manifest. */
struct place {
    struct mistakes *mistakes;
    size_t line;
    json_t *object;
    const char *path; /* of the object with its dot: "", "tensors[2]." */
};

/**
 * The integers a field is to hold, and those that are taken in, for somebody
 * who knows more to say what is wrong with them.
 */
struct bounds {
    int64_t min;
    int64_t max;
    int64_t taken_min;
    int64_t taken_max;
};

/** How long a list may be. */
struct length {
    size_t min;
    size_t max;
    const char *why; /* "one for each dimension" */
};

/** `field "PATH" is VALUE; it must be RIGHT`; value NULL: "is missing". */
void field_refuse(const struct place *place, const char *name,
                  const json_t *value, const char *right, ...)
    __attribute__((format(printf, 4, 5)));

/**
 * A field that stands there but has no business there. A known name nearby is
 * suggested; NULL for none.
 */
void field_refuse_name(const struct place *place, const char *name,
                       const char *known);

/*
 * Each of these is false when the field was missing or wrong; a field that is
 * needed and missing is a mistake, an optional one is left as it was.
 */
enum field_need { FIELD_OPTIONAL, FIELD_NEEDED };

/** A text that is not empty; borrowed from the object. */
bool field_text(const struct place *place, const char *name,
                const char **text_out);

bool field_integer(const struct place *place, const char *name,
                   enum field_need need, struct bounds bounds,
                   int64_t *integer_out);

/** At most length.max integers. */
bool field_integers(const struct place *place, const char *name,
                    enum field_need need, struct length length,
                    struct bounds bounds, int64_t *integers_out,
                    size_t *count_out);

bool field_name(const struct place *place, const char *name,
                enum field_need need, enum ashlar_spec_field setting,
                uint32_t *value_out);

#endif
