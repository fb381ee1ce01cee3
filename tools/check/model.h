/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * What a plug-in should have given out, and what is in it.
 *
 *     space    a reservation
 *     chunk ─> memory ─> stamps, a word for each granule; imports share it
 *     mapping  of a chunk, in a space, with the rights of home
 *
 * A stamp stands at the begin and at the end of its granule; 0 means that it
 * was never written. Every step holds what the plug-in does against this, and
 * what it should refuse as well. A model is one thread's.
 */
#ifndef ASHLAR_TOOLS_CHECK_MODEL_H
#define ASHLAR_TOOLS_CHECK_MODEL_H

#include "check/subject.h"

#define MODEL_SPACES   8
#define MODEL_CHUNKS   20
#define MODEL_MAPPINGS 32
#define MODEL_FENCES   16

/* The most that one chunk, and one space, takes. */
#define MODEL_CHUNK_GRANULES 6
#define MODEL_SPACE_GRANULES 24

struct model_memory {
    unsigned references;
    uint64_t group; /* that chunks are exported in; 0: none */
    uint64_t stamps[MODEL_CHUNK_GRANULES];
};

struct model_space {
    uint64_t address;
    uint64_t bytes;
};

struct model_chunk {
    uint64_t handle;
    uint64_t bytes;
    struct model_memory *memory;
    unsigned mappings;
    bool imported;
};

struct model_mapping {
    uint64_t address;
    uint64_t bytes;
    uint32_t chunk; /* its place in model->chunks */
    uint32_t rights;
};

struct model {
    struct subject *subject;
    uint64_t seed; /* what comes next is made from it; never 0 */
    uint64_t granule;
    uint64_t most_bytes; /* of chunks together */
    uint64_t bytes;
    uint64_t stamp; /* the last one */
    bool broken;    /* the plug-in and the model have parted */
    bool starved;   /* an allocation of the call under way may fail */
    int pipe[2];    /* to touch memory without a fault */
    struct model_space spaces[MODEL_SPACES];
    uint32_t space_count;
    struct model_chunk chunks[MODEL_CHUNKS]; /* bytes of 0: not in use */
    struct model_mapping mappings[MODEL_MAPPINGS];
    uint32_t mapping_count;
    uint64_t fences[MODEL_FENCES];
    uint32_t fence_count;
};

/** Start with nothing. False without memory or descriptors. */
bool model_start(struct model *model, struct subject *subject, uint64_t seed);

/** Give everything back: each step must succeed. */
void model_end(struct model *model);

/** A number below `below`, by the seed. */
uint64_t model_random(struct model *model, uint64_t below);

/** What a stretch of addresses is to the model's mappings. */
enum model_cover {
    COVER_NONE,  /* touches none */
    COVER_WHOLE, /* is made of whole ones */
    COVER_GAPS,  /* has whole ones, and gaps */
    COVER_PART   /* cuts through one */
};
enum model_cover model_cover(const struct model *model, uint64_t address,
                             uint64_t bytes);

/** Whether a chunk of so many bytes can be mapped there. */
bool model_is_free(const struct model *model, uint64_t address, uint64_t bytes);

/* Each of these calls the plug-in and says whether that went as it should. A
 * call that the rules forbid is refused, and then changed nothing. */

bool model_reserve(struct model *model, uint64_t bytes, uint64_t alignment,
                   uint64_t hint);
bool model_release(struct model *model, uint32_t space);
bool model_create(struct model *model, uint64_t bytes, uint64_t group,
                  uint32_t *chunk_out);
bool model_destroy(struct model *model, uint32_t chunk);
bool model_map(struct model *model, uint64_t address, uint32_t chunk,
               uint64_t bytes);
bool model_unmap(struct model *model, uint64_t address, uint64_t bytes);
bool model_allow(struct model *model, uint64_t address, uint64_t bytes,
                 uint32_t rights);

/** Take a chunk in that was made by chunk_import(). */
bool model_adopt(struct model *model, uint64_t handle, uint32_t from,
                 uint32_t *chunk_out);

/** A number for a chunk that is to come; MODEL_CHUNKS when there is no room. */
uint32_t model_chunk_room(const struct model *model);

/** A call that may only succeed: false when it did not, and that is told. */
bool model_expect(struct model *model, enum check check,
                  enum ashlar_status status, const char *what);

/** A call that may only be refused. */
bool model_expect_refusal(struct model *model, enum ashlar_status status,
                          const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
