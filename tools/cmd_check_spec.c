/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "command.h"

#include <errno.h>
#include <error.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <ashlar/status.h>
#include <ashlar/version.h>
#include <jansson.h>

#include "human.h"
#include "must.h"
#include "tensor.h"
#include "tensor_spec.h"

#define SENTENCE_BYTES 512

static const char doc[] =
    "Check one tensor map: every rule that it breaks, with the value and what "
    "would be right; and what the driver takes, but people regret."
    "\v"
    "A FIELD=VALUE is a field of a manifest's tensor (all of them: man "
    "ashlar), "
    "or an address; lists are numbers with commas between them, the innermost "
    "dimension first. No driver is asked.\n"
    "\n"
    "Examples:\n"
    "  ashlar check-spec dtype=bfloat16 shape=4096,8192 box=64,128 "
    "swizzle=128B\n"
    "  ashlar check-spec dtype=fp16 shape=1025,64 strides=2050 box=64,64\n"
    "  ashlar check-spec --capability 9.0 mode=im2col_wide dtype=bf16 \\\n"
    "    shape=64,56,56,32 pixel_box_lower_corner=-1 \\\n"
    "    pixel_box_upper_corner=1 channels_per_pixel=64 "
    "pixels_per_column=128 \\\n"
    "    swizzle=128B\n"
    "\n"
    "Exit status: 0 when the driver takes it, also with warnings; 1 when it "
    "does not; 2 for a wrong command line.";

static const struct argp_option options[] = {
    {"capability", 'c', "X.Y", 0,
     "Of the device: tells what it does not have at all", 0},
    {"json", 'j', NULL, 0, "Print one JSON object", 0},
    {NULL, 0, NULL, 0, NULL, 0}};

struct arguments {
    uint32_t capability; /* 0: not known */
    bool json;
    json_t *tensor;
};

/* --- the command line ----------------------------------------------------- */

/* "9.0" as 90. */
static uint32_t parse_capability(const struct argp_state *state,
                                 const char *text)
{
    unsigned major = 0, minor = 0;
    char behind;

    if (sscanf(text, "%3u.%1u%c", &major, &minor, &behind) != 2 || major == 0)
        argp_error(state,
                   "--capability is \"%s\"; it must be two numbers, such as "
                   "9.0",
                   text);
    return major * 10 + minor;
}

/* A whole number, also as 0x...; else the text, which the reader refuses. */
static json_t *number_or_text(const char *text, size_t length)
{
    char *copy = must_format("%.*s", (int)length, text), *end;
    long long n;
    json_t *value;

    errno = 0;
    n = strtoll(copy, &end, 0);
    value = errno == 0 && end != copy && *end == '\0' ? json_integer(n)
                                                      : json_string(copy);
    free(copy);
    return value;
}

static json_t *list_of(const char *text)
{
    json_t *list = json_array();
    size_t length;

    while (*text != '\0') {
        length = strcspn(text, ",");
        json_array_append_new(list, number_or_text(text, length));
        text += length;
        text += *text == ',';
    }
    return list;
}

static json_t *value_of(const char *field, size_t length, const char *text)
{
    static const char *const lists[] = {"shape",
                                        "strides",
                                        "box",
                                        "element_strides",
                                        "pixel_box_lower_corner",
                                        "pixel_box_upper_corner"};
    static const char *const numbers[] = {"address", "channels_per_pixel",
                                          "pixels_per_column"};
    size_t i;

    for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        if (strlen(lists[i]) == length && strncmp(lists[i], field, length) == 0)
            return list_of(text);
    for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (strlen(numbers[i]) == length &&
            strncmp(numbers[i], field, length) == 0)
            return number_or_text(text, strlen(text));
    return json_string(text);
}

static void parse_field(struct argp_state *state, const char *word,
                        json_t *tensor)
{
    const char *is = strchr(word, '=');
    size_t length = is == NULL ? 0 : (size_t)(is - word);
    char *field;
    json_t *value;

    if (length == 0)
        argp_error(state, "\"%s\" is no FIELD=VALUE, such as dtype=bfloat16",
                   word);
    field = must_format("%.*s", (int)length, word);
    if (json_object_get(tensor, field) != NULL)
        argp_error(state, "\"%s\" is given twice", field);
    value = value_of(word, length, word + length + 1);
    if (value == NULL || json_object_set_new(tensor, field, value) != 0)
        argp_error(state, "the argument \"%s\" is no UTF-8", word);
    free(field);
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case 'c':
        arguments->capability = parse_capability(state, argument);
        return 0;
    case 'j':
        arguments->json = true;
        return 0;
    case ARGP_KEY_ARG:
        parse_field(state, argument, arguments->tensor);
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which tensor map? Try: ashlar check-spec "
                          "dtype=bfloat16 shape=4096,8192 box=64,128");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* --- what was found ------------------------------------------------------- */

struct findings_of_spec {
    size_t count;
    size_t errors;
    struct ashlar_spec_finding at[ASHLAR_SPEC_FINDINGS_MAX];
};

static void check(const struct ashlar_spec *spec, uint32_t capability,
                  struct findings_of_spec *found)
{
    (void)ashlar_spec_check(spec, capability, found->at,
                            ASHLAR_SPEC_FINDINGS_MAX, &found->count);
    found->errors = 0;
    while (found->errors < found->count &&
           found->at[found->errors].severity == ASHLAR_SPEC_ERROR)
        found->errors++;
}

static const char *severity_text(const struct ashlar_spec_finding *finding)
{
    return finding->severity == ASHLAR_SPEC_ERROR ? "error" : "warning";
}

static const char *rule_text(const struct ashlar_spec_finding *finding)
{
    return ashlar_spec_rule_name((enum ashlar_spec_rule)finding->rule);
}

static void print_text(const struct findings_of_spec *found)
{
    char sentence[SENTENCE_BYTES];
    size_t i, warnings = found->count - found->errors;

    for (i = 0; i < found->count; i++) {
        (void)ashlar_spec_explain(&found->at[i], tensor_field(&found->at[i]),
                                  sentence, sizeof(sentence));
        printf("%s: %s (%s)\n", severity_text(&found->at[i]), sentence,
               rule_text(&found->at[i]));
    }
    printf("%zu %s, %zu %s: the driver %s it\n", found->errors,
           human_plural(found->errors, "error", "errors"), warnings,
           human_plural(warnings, "warning", "warnings"),
           found->errors == 0 ? "takes" : "refuses");
}

/* Corners and the like may be below 0; no other value is as large. */
static json_t *number_json(uint64_t value)
{
    return json_integer((json_int_t)value);
}

static json_t *finding_json(const struct ashlar_spec_finding *finding)
{
    char sentence[SENTENCE_BYTES];
    json_t *object = json_object();

    (void)ashlar_spec_explain(finding, tensor_field(finding), sentence,
                              sizeof(sentence));
    json_object_set_new(object, "severity",
                        json_string(severity_text(finding)));
    json_object_set_new(object, "rule", json_string(rule_text(finding)));
    json_object_set_new(object, "field", json_string(tensor_field(finding)));
    json_object_set_new(object, "index", json_integer(finding->index));
    json_object_set_new(object, "value", number_json(finding->value));
    json_object_set_new(object, "right", number_json(finding->right));
    json_object_set_new(object, "text", json_string(sentence));
    return object;
}

static void print_json(const struct findings_of_spec *found)
{
    json_t *object = json_object();
    json_t *list = json_array();
    size_t i;

    for (i = 0; i < found->count; i++)
        json_array_append_new(list, finding_json(&found->at[i]));
    json_object_set_new(object, "ashlar", json_string(ashlar_version_string()));
    json_object_set_new(object, "errors",
                        json_integer((json_int_t)found->errors));
    json_object_set_new(
        object, "warnings",
        json_integer((json_int_t)(found->count - found->errors)));
    json_object_set_new(object, "findings", list);
    json_dumpf(object, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(object);
}

/* --- the command ---------------------------------------------------------- */

/*
 * Read the fields, and tell what is no spec at all: also one that has no packed
 * strides, though it breaks no rule.
 */
static bool read_spec(json_t *object, struct ashlar_spec *spec,
                      bool *has_strides_out)
{
    struct mistakes mistakes;
    struct tensor tensor;
    struct place place = {&mistakes, 0, object, ""};
    bool good;

    mistakes_start(&mistakes, "ashlar check-spec");
    if (json_object_get(object, "name") == NULL)
        json_object_set_new(object, "name", json_string("spec"));
    tensor_read(&place, &tensor);
    *has_strides_out = mistakes.count == 0 && tensor_spec(&tensor, spec);
    if (mistakes.count == 0 && !*has_strides_out &&
        ashlar_spec_check(spec, 0, NULL, 0, NULL) == ASHLAR_OK)
        mistakes_add(&mistakes, 0, "%s", ashlar_last_error_message());
    mistakes_print(&mistakes, stderr);
    good = mistakes.count == 0;
    tensor_clear(&tensor);
    mistakes_end(&mistakes);
    return good;
}

int command_check_spec(int argc, char **argv)
{
    static const struct argp argp = {
        options, parse, "FIELD=VALUE...", doc, NULL, NULL, NULL};
    struct arguments arguments = {0, false, json_object()};
    struct findings_of_spec found;
    struct ashlar_spec spec;
    int status = EXIT_WRONG;
    bool has_strides;

    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    if (read_spec(arguments.tensor, &spec, &has_strides)) {
        check(&spec, arguments.capability, &found);
        if (!has_strides)
            found.count = found.errors; /* some warn of strides of 0 */
        if (arguments.json)
            print_json(&found);
        else
            print_text(&found);
        status = command_finish(stdout,
                                found.errors == 0 ? EXIT_SUCCESS : EXIT_WRONG);
    }
    json_decref(arguments.tensor);
    return status;
}
