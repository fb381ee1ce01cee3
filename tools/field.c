/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "field.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "human.h"
#include "must.h"

#define VALUE_COLUMNS 60
#define NAME_COLUMNS  60

/* A value as it stands in the file, cut to a length that can be read. */
static char *value_text(const json_t *value)
{
    char *dump, *text;

    if (value == NULL)
        return must_copy("missing");
    dump = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    if (dump == NULL)
        return must_copy("too deep");
    text = human_printable(dump, VALUE_COLUMNS, "...");
    free(dump);
    return text;
}

void field_refuse(const struct place *place, const char *name,
                  const json_t *value, const char *right, ...)
{
    char *is = value_text(value);
    char *must;
    va_list list;

    va_start(list, right);
    must = must_format_list(right, list);
    va_end(list);
    mistakes_add(place->mistakes, place->line,
                 "field \"%s%s\" is %s; it must be %s", place->path, name, is,
                 must);
    free(must);
    free(is);
}

void field_refuse_name(const struct place *place, const char *name,
                       const char *known)
{
    char *shown = human_printable(name, NAME_COLUMNS, "...");
    char *is = value_text(json_object_get(place->object, name));

    mistakes_add(place->mistakes, place->line,
                 "field \"%s%s\" is %s; no field has that name%s%s%s",
                 place->path, shown, is,
                 known != NULL ? ": did you mean \"" : "",
                 known != NULL ? known : "", known != NULL ? "\"?" : "");
    free(is);
    free(shown);
}

bool field_text(const struct place *place, const char *name,
                const char **text_out)
{
    json_t *value = json_object_get(place->object, name);

    if (!json_is_string(value) || json_string_length(value) == 0) {
        field_refuse(place, name, value, "a text that is not empty");
        return false;
    }
    *text_out = json_string_value(value);
    return true;
}

static bool fits(const json_t *value, struct bounds bounds)
{
    return json_is_integer(value) &&
           json_integer_value(value) >= bounds.taken_min &&
           json_integer_value(value) <= bounds.taken_max;
}

static void refuse_integer(const struct place *place, const char *name,
                           const json_t *value, struct bounds bounds)
{
    field_refuse(place, name, value, "an integer from %" PRId64 " to %" PRId64,
                 bounds.min, bounds.max);
}

bool field_integer(const struct place *place, const char *name,
                   enum field_need need, struct bounds bounds,
                   int64_t *integer_out)
{
    json_t *value = json_object_get(place->object, name);

    if (value == NULL && need == FIELD_OPTIONAL)
        return false;
    if (!fits(value, bounds)) {
        refuse_integer(place, name, value, bounds);
        return false;
    }
    *integer_out = json_integer_value(value);
    return true;
}

static void refuse_list(const struct place *place, const char *name,
                        const json_t *value, struct length length)
{
    if (length.max == 0)
        field_refuse(place, name, value, "an empty list (%s)", length.why);
    else if (length.min != length.max)
        field_refuse(place, name, value, "a list of %zu to %zu integers, %s",
                     length.min, length.max, length.why);
    else
        field_refuse(place, name, value, "a list of %zu integer%s, %s",
                     length.min, length.min == 1 ? "" : "s", length.why);
}

/* Every element that is wrong is a mistake of its own. */
static bool read_elements(const struct place *place, const char *name,
                          const json_t *list, struct bounds bounds,
                          int64_t *integers_out)
{
    size_t i, wrong = 0;

    for (i = 0; i < json_array_size(list); i++) {
        json_t *element = json_array_get(list, i);

        if (fits(element, bounds)) {
            integers_out[i] = json_integer_value(element);
        } else {
            char *path = must_format("%s[%zu]", name, i);

            refuse_integer(place, path, element, bounds);
            free(path);
            wrong++;
        }
    }
    return wrong == 0;
}

bool field_integers(const struct place *place, const char *name,
                    enum field_need need, struct length length,
                    struct bounds bounds, int64_t *integers_out,
                    size_t *count_out)
{
    json_t *value = json_object_get(place->object, name);

    if (value == NULL && need == FIELD_OPTIONAL)
        return false;
    if (!json_is_array(value) || json_array_size(value) < length.min ||
        json_array_size(value) > length.max) {
        refuse_list(place, name, value, length);
        return false;
    }
    *count_out = json_array_size(value);
    return read_elements(place, name, value, bounds, integers_out);
}

static void refuse_choice(const struct place *place, const char *name,
                          const json_t *value, enum ashlar_spec_field setting)
{
    const char *text = json_string_value(value);
    const char *nearest = text != NULL ? names_nearest(setting, text) : NULL;
    char *right = names_list(setting);

    if (nearest == NULL)
        field_refuse(place, name, value, "%s", right);
    else
        field_refuse(place, name, value, "%s: did you mean \"%s\"?", right,
                     nearest);
    free(right);
}

bool field_name(const struct place *place, const char *name,
                enum field_need need, enum ashlar_spec_field setting,
                uint32_t *value_out)
{
    json_t *value = json_object_get(place->object, name);

    if (value == NULL && need == FIELD_OPTIONAL)
        return false;
    if (!json_is_string(value) ||
        ashlar_spec_value(setting, json_string_value(value), value_out) !=
            ASHLAR_OK) {
        refuse_choice(place, name, value, setting);
        return false;
    }
    return true;
}
