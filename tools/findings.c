/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "findings.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <ashlar/version.h>
#include <jansson.h>

#include "human.h"
#include "look.h"
#include "must.h"

#define LEVEL_WIDTH 9
#define TOPIC_WIDTH 14
#define FACT_AT     (LEVEL_WIDTH + TOPIC_WIDTH)

static const struct {
    const char *name;
    enum look_colour colour;
} levels[] = {
    [FINDING_OK] = {"ok", LOOK_GREEN},
    [FINDING_NOTE] = {"note", LOOK_YELLOW},
    [FINDING_PROBLEM] = {"problem", LOOK_RED},
};

/* What a sentence quotes may be anything; what is kept can be printed. */
static char *sentence(const char *format, va_list list)
    __attribute__((format(printf, 1, 0)));

static char *sentence(const char *format, va_list list)
{
    char *raw = must_format_list(format, list);
    char *text = human_printable(raw, SIZE_MAX, "");

    free(raw);
    return text;
}

void findings_add(struct findings *findings, enum finding_level level,
                  const char *topic, const char *format, ...)
{
    struct finding finding = {level, topic, NULL, NULL};
    va_list list;

    va_start(list, format);
    finding.fact = sentence(format, list);
    va_end(list);
    findings->list = must_grow(findings->list, findings->count + 1,
                               sizeof(findings->list[0]));
    findings->list[findings->count++] = finding;
}

void findings_advise(struct findings *findings, const char *format, ...)
{
    struct finding *last = &findings->list[findings->count - 1];
    va_list list;

    va_start(list, format);
    last->advice = sentence(format, list);
    va_end(list);
}

size_t findings_count(const struct findings *findings, enum finding_level level)
{
    size_t count = 0, i;

    for (i = 0; i < findings->count; i++)
        count += findings->list[i].level == level;
    return count;
}

static void print_finding(const struct finding *finding, FILE *stream,
                          const struct look *look)
{
    const char *name = levels[finding->level].name;

    fprintf(stream, "%s%-*s%s%-*s",
            look_colour(look, levels[finding->level].colour), LEVEL_WIDTH, name,
            look_colour(look, LOOK_PLAIN), TOPIC_WIDTH, finding->topic);
    human_wrap(stream, finding->fact, FACT_AT, look->columns);
    if (finding->advice == NULL)
        return;
    fprintf(stream, "%*s-> ", FACT_AT, "");
    human_wrap(stream, finding->advice, FACT_AT + 3, look->columns);
}

void findings_print(const struct findings *findings, FILE *stream)
{
    size_t problems = findings_count(findings, FINDING_PROBLEM);
    size_t notes = findings_count(findings, FINDING_NOTE);
    struct look look = look_at(stream);
    size_t i;

    for (i = 0; i < findings->count; i++)
        print_finding(&findings->list[i], stream, &look);
    fprintf(stream, "\n%s %s, %s %s\n",
            problems == 0 ? "no" : human_count(problems).s,
            human_plural(problems, "problem", "problems"),
            notes == 0 ? "no" : human_count(notes).s,
            human_plural(notes, "note", "notes"));
}

static json_t *finding_json(const struct finding *finding)
{
    json_t *object = json_object();

    json_object_set_new(object, "level",
                        json_string(levels[finding->level].name));
    json_object_set_new(object, "topic", json_string(finding->topic));
    json_object_set_new(object, "fact", json_string(finding->fact));
    json_object_set_new(object, "advice",
                        finding->advice == NULL ? json_null()
                                                : json_string(finding->advice));
    return object;
}

void findings_print_json(const struct findings *findings, FILE *stream)
{
    json_t *object = json_object();
    json_t *list = json_array();
    size_t i;

    for (i = 0; i < findings->count; i++)
        json_array_append_new(list, finding_json(&findings->list[i]));
    json_object_set_new(object, "ashlar", json_string(ashlar_version_string()));
    json_object_set_new(
        object, "problems",
        json_integer((json_int_t)findings_count(findings, FINDING_PROBLEM)));
    json_object_set_new(
        object, "notes",
        json_integer((json_int_t)findings_count(findings, FINDING_NOTE)));
    json_object_set_new(object, "findings", list);
    json_dumpf(object, stream, JSON_INDENT(2));
    fputc('\n', stream);
    json_decref(object);
}

void findings_clear(struct findings *findings)
{
    size_t i;

    for (i = 0; i < findings->count; i++) {
        free(findings->list[i].fact);
        free(findings->list[i].advice);
    }
    free(findings->list);
    memset(findings, 0, sizeof(*findings));
}
