/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * A finding as a sentence of up to four parts:
 *
 *     strides[0] is 2050 bytes; it must be a multiple of 16: pad it to 2064
 *     [subject]    [value]      [what the rule asks]        [what to do]
 *                               [, as interleave is ...]
 */
#include "config.h"

#include "tensormap/tensormap.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

struct sentence {
    char *buffer;
    size_t bytes;
    size_t length; /* in full */
};

static void say(struct sentence *sentence, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(struct sentence *sentence, const char *format, ...)
{
    bool fits = sentence->length < sentence->bytes;
    va_list list;
    int n;

    va_start(list, format);
    n = vsnprintf(fits ? sentence->buffer + sentence->length : NULL,
                  fits ? sentence->bytes - sentence->length : 0, format, list);
    va_end(list);
    if (n > 0)
        sentence->length += (size_t)n;
}

/* How a value is written. */
enum style {
    NUMBER,
    SIGNED,
    BYTES,
    ADDRESS,
    NAME /* of a setting */
};

static void say_value(struct sentence *sentence, enum style style,
                      uint32_t field, uint64_t value)
{
    const char *name = NULL;

    if (style == NAME && value <= UINT32_MAX)
        name = ashlar_spec_name((enum ashlar_spec_field)field, (uint32_t)value);
    if (name != NULL)
        say(sentence, "%s", name);
    else if (style == SIGNED)
        say(sentence, "%" PRId64, (int64_t)value);
    else if (style == ADDRESS)
        say(sentence, "0x%" PRIx64, value);
    else
        say(sentence, "%" PRIu64 "%s", value, style == BYTES ? " bytes" : "");
}

static bool is_array(uint32_t field)
{
    return field >= ASHLAR_SPEC_FIELD_DIMS &&
           field <= ASHLAR_SPEC_FIELD_UPPER_CORNER;
}

static void say_subject(struct sentence *sentence,
                        const struct ashlar_spec_finding *finding,
                        const char *subject)
{
    if (subject == NULL)
        subject =
            ashlar_spec_field_name((enum ashlar_spec_field)finding->field);
    say(sentence, "%s", subject);
    if (is_array(finding->field) && finding->rule != ASHLAR_RULE_BOX_MEMORY)
        say(sentence, "[%" PRIu32 "]", finding->index);
    say(sentence, " is ");
}

static void say_cause(struct sentence *sentence,
                      const struct ashlar_spec_finding *finding)
{
    if (finding->cause == ASHLAR_SPEC_FIELD_NONE)
        return;
    say(sentence, ", as %s is ",
        ashlar_spec_field_name((enum ashlar_spec_field)finding->cause));
    say_value(sentence, NAME, finding->cause, finding->cause_value);
}

/* The settings of a set: "a, b or c". */
static void say_set(struct sentence *sentence, uint32_t field, uint64_t set)
{
    uint64_t rest = set;
    uint32_t i;

    for (i = 0; rest != 0; i++, rest >>= 1) {
        if ((rest & 1) == 0)
            continue;
        if (rest != set >> __builtin_ctzll(set))
            say(sentence, "%s", rest == 1 ? " or " : ", ");
        say_value(sentence, NAME, field, i);
    }
}

/* What rules ask for, in the words of one kind of rule. */
enum demand {
    RANGE_FROM_1,
    RANGE_OF_RANK,
    RANGE_OF_CORNER,
    KNOWN,
    AT_LEAST,
    BELOW,
    EXACTLY,
    MULTIPLE,
    INNER_MULTIPLE,
    INNER_MOST,
    ONE_OF,
    AREA,
    CAPABILITY,
    SAID,      /* in full by the rule's text */
    SAID_BOUND /* the same, with the bound behind it */
};

static const struct rule {
    uint32_t rule;
    const char *name;
    enum style style;
    enum demand demand;
    const char *text; /* what to do, with the right value behind; or all */
} rules[] = {
    {ASHLAR_RULE_KNOWN_VALUE, "known-value", NUMBER, KNOWN, NULL},
    {ASHLAR_RULE_RANK_RANGE, "rank-range", NUMBER, RANGE_OF_RANK, NULL},
    {ASHLAR_RULE_RANK_INTERLEAVE, "rank-interleave", NUMBER, AT_LEAST, NULL},
    {ASHLAR_RULE_ADDRESS_MULTIPLE, "address-multiple", ADDRESS, MULTIPLE,
     "move the tensor to "},
    {ASHLAR_RULE_ADDRESS_RANGE, "address-range", ADDRESS, BELOW, NULL},
    {ASHLAR_RULE_DIM_RANGE, "dim-range", NUMBER, RANGE_FROM_1, NULL},
    {ASHLAR_RULE_DIM_PACKED, "dim-packed", NUMBER, MULTIPLE, "pad it to "},
    {ASHLAR_RULE_STRIDE_MULTIPLE, "stride-multiple", BYTES, MULTIPLE,
     "pad it to "},
    {ASHLAR_RULE_STRIDE_RANGE, "stride-range", BYTES, BELOW, NULL},
    {ASHLAR_RULE_BOX_RANGE, "box-range", NUMBER, RANGE_FROM_1, NULL},
    {ASHLAR_RULE_INNER_MULTIPLE, "inner-multiple", NUMBER, INNER_MULTIPLE,
     "make it "},
    {ASHLAR_RULE_INNER_PACKED, "inner-packed", NUMBER, EXACTLY, NULL},
    {ASHLAR_RULE_INNER_SWIZZLE, "inner-swizzle", NUMBER, INNER_MOST,
     "make it at most "},
    {ASHLAR_RULE_BOX_MEMORY, "box-memory", BYTES, SAID_BOUND,
     " of shared memory; it must be at most "},
    {ASHLAR_RULE_ELEMENT_STRIDE_RANGE, "element-stride-range", NUMBER,
     RANGE_FROM_1, NULL},
    {ASHLAR_RULE_INTERLEAVE_PACKED, "interleave-packed", NAME, ONE_OF, NULL},
    {ASHLAR_RULE_SWIZZLE_PACKED, "swizzle-packed", NAME, ONE_OF, NULL},
    {ASHLAR_RULE_SWIZZLE_WIDE, "swizzle-wide", NAME, ONE_OF, NULL},
    {ASHLAR_RULE_CORNER_RANGE, "corner-range", SIGNED, RANGE_OF_CORNER, NULL},
    {ASHLAR_RULE_CORNER_AREA, "corner-area", SIGNED, AREA, NULL},
    {ASHLAR_RULE_CHANNELS_RANGE, "channels-range", NUMBER, RANGE_FROM_1, NULL},
    {ASHLAR_RULE_PIXELS_RANGE, "pixels-range", NUMBER, RANGE_FROM_1, NULL},
    {ASHLAR_RULE_OOB_FLOAT, "oob-float", NAME, ONE_OF, NULL},
    {ASHLAR_RULE_CAPABILITY, "capability", NAME, CAPABILITY, NULL},
    {ASHLAR_RULE_ADDRESS_NULL, "address-null", NUMBER, SAID,
     "; kernels that use the map will fault"},
    {ASHLAR_RULE_ADDRESS_END, "address-end", ADDRESS, SAID,
     "; the tensor ends beyond 0x200000000000000, where addresses do"},
    {ASHLAR_RULE_STRIDE_SHORT, "stride-short", BYTES, SAID_BOUND,
     "; rows overlap, as one has bytes: "},
    {ASHLAR_RULE_BOX_WIDE, "box-wide", NUMBER, SAID_BOUND,
     "; the rest is out of bounds, as the tensor has elements there: "},
    {ASHLAR_RULE_ELEMENT_STRIDE_IGNORED, "element-stride-ignored", NUMBER, SAID,
     "; the encoder ignores it, as interleave is none"},
    {ASHLAR_RULE_SWIZZLE_INTERLEAVE, "swizzle-interleave", NAME, ONE_OF, NULL},
    {ASHLAR_RULE_CORNER_WRAP, "corner-wrap", NUMBER, SAID_BOUND,
     "; with the corners, the driver counts to "},
    {ASHLAR_RULE_CAPABILITY_WIDE, "capability-wide", NAME, CAPABILITY, NULL},
};

#define RULE_COUNT (sizeof(rules) / sizeof(rules[0]))

static const struct rule *rule_of(uint32_t number)
{
    size_t i;

    for (i = 0; i < RULE_COUNT; i++)
        if (rules[i].rule == number)
            return &rules[i];
    return NULL;
}

static void say_capability(struct sentence *sentence,
                           const struct ashlar_spec_finding *finding)
{
    say(sentence,
        ", which takes a device of compute capability %" PRIu64 ".%" PRIu64
        "; this one has %" PRIu32 ".%" PRIu32,
        finding->bound / 10, finding->bound % 10, finding->cause_value / 10,
        finding->cause_value % 10);
}

/* "1 to 256", and the like. */
static void say_range(struct sentence *sentence, enum demand demand,
                      const struct ashlar_spec_finding *finding)
{
    int64_t least = 1;

    if (demand == RANGE_OF_RANK && finding->cause != ASHLAR_SPEC_FIELD_NONE)
        least = 3;
    else if (demand == RANGE_OF_CORNER)
        least = -(int64_t)finding->bound - 1;
    say(sentence, "; it must be %" PRId64 " to %" PRIu64, least,
        finding->bound);
}

static void say_demand(struct sentence *sentence, const struct rule *rule,
                       const struct ashlar_spec_finding *finding)
{
    switch (rule->demand) {
    case RANGE_FROM_1:
    case RANGE_OF_RANK:
    case RANGE_OF_CORNER:
        say_range(sentence, rule->demand, finding);
        break;
    case KNOWN:
        say(sentence, "; it must be 0 (");
        say_value(sentence, NAME, finding->field, 0);
        say(sentence, ") to %" PRIu64 " (", finding->bound);
        say_value(sentence, NAME, finding->field, finding->bound);
        say(sentence, ")");
        break;
    case AT_LEAST:
        say(sentence, "; it must be %" PRIu64 " or more", finding->bound);
        break;
    case BELOW:
        say(sentence, "; it must be below ");
        say_value(sentence, rule->style == ADDRESS ? ADDRESS : NUMBER,
                  finding->field, finding->bound);
        break;
    case EXACTLY:
        say(sentence, "; it must be %" PRIu64, finding->bound);
        break;
    case MULTIPLE:
        say(sentence, "; it must be a multiple of %" PRIu64, finding->bound);
        break;
    case INNER_MULTIPLE:
        say(sentence, "; its bytes must be a multiple of %" PRIu64,
            finding->bound);
        break;
    case INNER_MOST:
        say(sentence, "; its bytes must be at most %" PRIu64, finding->bound);
        break;
    case ONE_OF:
        say(sentence, "; it must be ");
        say_set(sentence, finding->field, finding->bound);
        break;
    case AREA:
        say(sentence,
            "; it must be %" PRId64
            " or more, or the box between the corners is empty",
            (int64_t)finding->right);
        break;
    case CAPABILITY:
        say_capability(sentence, finding);
        break;
    case SAID:
        say(sentence, "%s", rule->text);
        break;
    case SAID_BOUND:
        say(sentence, "%s%" PRIu64, rule->text, finding->bound);
        break;
    }
}

size_t ashlar_spec_explain(const struct ashlar_spec_finding *finding,
                           const char *subject, char *buffer, size_t bytes)
{
    struct sentence sentence = {buffer, buffer == NULL ? 0 : bytes, 0};
    const struct rule *rule;

    if (sentence.bytes != 0)
        buffer[0] = '\0';
    rule = finding == NULL ? NULL : rule_of(finding->rule);
    if (rule == NULL)
        return 0;
    say_subject(&sentence, finding, subject);
    say_value(&sentence, rule->style, finding->field, finding->value);
    say_demand(&sentence, rule, finding);
    say_cause(&sentence, finding);
    if (rule->demand < SAID && rule->text != NULL) {
        say(&sentence, ": %s", rule->text);
        say_value(&sentence, rule->style, finding->field, finding->right);
    }
    return sentence.length;
}

const char *ashlar_spec_rule_name(enum ashlar_spec_rule rule)
{
    const struct rule *found = rule_of((uint32_t)rule);

    return found == NULL ? "unknown-rule" : found->name;
}
