/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * Giving memory to a stretch of a range, as one transaction.
 *
 *     spaces   [ reservation          ][ its neighbour      ]
 *     pieces   [ prepared ][ new      ][ new      ][ new    ]
 *              from                                         to
 *
 * A piece is a chunk, mapped whole. None lies across two reservations, since
 * drivers refuse that; none is larger than the range's chunk_max. Chunks that
 * were prepared come first, and one of them may reach beyond `to`.
 *
 * Until filling_commit() nothing of it is in the range's records.
 */
#ifndef ASHLAR_RANGE_FILLING_H
#define ASHLAR_RANGE_FILLING_H

#include <stdbool.h>
#include <stdint.h>

#include "range/range.h"
#include "range/transaction.h"

struct filling {
    struct transaction transaction;
    struct vector fresh;     /* struct range_chunk: mapped, in no record yet */
    uint32_t prepared_taken; /* of range->prepared, from the first on */
    uint64_t end;            /* offset behind what was mapped */
};

/** Where a stretch lies, and what may be used for it. */
struct stretch {
    uint64_t base;               /* of the place that offsets count from */
    const struct vector *spaces; /* struct range_space, neighbours from base */
    uint64_t from;
    uint64_t to;
    bool prepared; /* prepared chunks may be taken */
};

/** The most pieces that a stretch takes. */
uint64_t filling_pieces(const struct ashlar_range *range,
                        const struct stretch *stretch);

/** How large the piece at an offset is that goes up to `to` at most. */
uint64_t filling_piece(const struct ashlar_range *range,
                       const struct stretch *stretch, uint64_t at);

/** Start, with room for so many pieces, and steps beside theirs. */
enum ashlar_status filling_begin(struct filling *filling,
                                 struct ashlar_range *range, uint64_t pieces,
                                 uint32_t other_steps);

/** Create one chunk and map it nowhere. */
enum ashlar_status filling_create(struct filling *filling, uint64_t bytes);

/** Map pieces all over a stretch, with the range's rights. */
enum ashlar_status filling_fill(struct filling *filling,
                                const struct stretch *stretch);

/** Everything stands: the chunks are the range's. */
void filling_commit(struct filling *filling);

/**
 * Undo everything. Returns the status; its sentence says also what waits to be
 * taken away, if anything does.
 */
enum ashlar_status filling_abort(struct filling *filling,
                                 enum ashlar_status status);

#endif
