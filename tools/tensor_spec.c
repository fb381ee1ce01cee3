/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "tensor_spec.h"

#include <stdlib.h>
#include <string.h>

#include <ashlar/status.h>

#include "human.h"
#include "must.h"

/* A multiple of whatever tensors are aligned to. */
#define ADDRESS_OF_ANY (UINT64_C(1) << 30)

#define SENTENCE_BYTES 512
#define NAME_COLUMNS   60

static void copy_lists(const struct tensor *tensor, struct ashlar_spec *spec)
{
    size_t i;

    for (i = 0; i < tensor->rank; i++) {
        spec->dims[i] = (uint64_t)tensor->shape[i];
        spec->box[i] = tensor->box_count == 0 ? 1 : (uint32_t)tensor->box[i];
        spec->element_strides[i] = (uint32_t)tensor->element_strides[i];
    }
    for (i = 0; i < tensor->stride_count; i++)
        spec->strides[i] = (uint64_t)tensor->strides[i];
    for (i = 0; i < tensor->corner_count; i++) {
        spec->lower_corner[i] = (int32_t)tensor->lower_corner[i];
        spec->upper_corner[i] = (int32_t)tensor->upper_corner[i];
    }
}

/* As the check would have it. */
static void choose_box(struct ashlar_spec *spec)
{
    struct ashlar_spec_finding found[ASHLAR_SPEC_FINDINGS_MAX];
    size_t count, i;

    (void)ashlar_spec_check(spec, 0, found, ASHLAR_SPEC_FINDINGS_MAX, &count);
    for (i = 0; i < count; i++)
        if (found[i].field == ASHLAR_SPEC_FIELD_BOX &&
            found[i].severity == ASHLAR_SPEC_ERROR)
            spec->box[found[i].index] = (uint32_t)found[i].right;
}

bool tensor_spec(const struct tensor *tensor, struct ashlar_spec *spec)
{
    struct ashlar_spec fresh = ASHLAR_SPEC_INIT;

    *spec = fresh;
    spec->mode = (uint32_t)tensor->mode;
    spec->dtype = tensor->dtype;
    spec->address =
        tensor->has_address ? (uint64_t)tensor->address : ADDRESS_OF_ANY;
    spec->rank = (uint32_t)tensor->rank;
    spec->interleave = tensor->interleave;
    spec->swizzle = tensor->swizzle;
    spec->l2_promotion = tensor->l2_promotion;
    spec->oob_fill = tensor->oob_fill;
    spec->channels = (uint32_t)tensor->channels_per_pixel;
    spec->pixels = (uint32_t)tensor->pixels_per_column;
    spec->wide_mode = tensor->wide_mode;
    copy_lists(tensor, spec);
    if (tensor->mode == TENSOR_TILED && tensor->box_count == 0)
        choose_box(spec);
    /* The last, as what it says is to be the last error. */
    return tensor->stride_count != 0 || ashlar_spec_pack(spec) == ASHLAR_OK;
}

const char *tensor_field(const struct ashlar_spec_finding *finding)
{
    switch (finding->field) {
    case ASHLAR_SPEC_FIELD_DIMS:
        return "shape";
    case ASHLAR_SPEC_FIELD_LOWER_CORNER:
        return "pixel_box_lower_corner";
    case ASHLAR_SPEC_FIELD_UPPER_CORNER:
        return "pixel_box_upper_corner";
    case ASHLAR_SPEC_FIELD_CHANNELS:
        return "channels_per_pixel";
    case ASHLAR_SPEC_FIELD_PIXELS:
        return "pixels_per_column";
    default:
        return ashlar_spec_field_name((enum ashlar_spec_field)finding->field);
    }
}

void tensor_note(const struct place *place, const char *kernel,
                 const char *tensor, const char *what)
{
    char *of =
        human_printable(kernel == NULL ? "" : kernel, NAME_COLUMNS, "...");
    char *name = human_printable(tensor, NAME_COLUMNS, "...");

    mistakes_add(place->mistakes, place->line,
                 "kernel \"%s\", tensor \"%s\": %s", of, name, what);
    free(name);
    free(of);
}

static void note_finding(const struct place *place, const char *kernel,
                         const char *tensor,
                         const struct ashlar_spec_finding *finding)
{
    char sentence[SENTENCE_BYTES];
    char *what;

    (void)ashlar_spec_explain(finding, tensor_field(finding), sentence,
                              sizeof(sentence));
    what = must_format(
        "%s (%s)", sentence,
        ashlar_spec_rule_name((enum ashlar_spec_rule)finding->rule));
    tensor_note(place, kernel, tensor, what);
    free(what);
}

void tensor_check(const struct place *place, const char *kernel,
                  const struct tensor *tensor, uint32_t capability)
{
    struct ashlar_spec_finding found[ASHLAR_SPEC_FINDINGS_MAX];
    struct ashlar_spec spec;
    char *why = NULL;
    size_t count, i;

    if (!tensor_spec(tensor, &spec))
        why = must_copy(ashlar_last_error_message());
    if (ashlar_spec_check(&spec, capability, found, ASHLAR_SPEC_FINDINGS_MAX,
                          &count) != ASHLAR_OK) {
        for (i = 0; i < count && found[i].severity == ASHLAR_SPEC_ERROR; i++)
            note_finding(place, kernel, tensor->name, &found[i]);
    } else if (why != NULL) {
        tensor_note(place, kernel, tensor->name, why);
    }
    free(why);
}
