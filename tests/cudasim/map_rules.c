/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "tensor_map.h"

#define FIRST_PACKED     13u /* of the dtypes: none before compute capability 10 */
#define FIRST_ATOM       4u /* of the swizzles: the same */
#define ADDRESSES        (UINT64_C(1) << 57)
#define SHARED_BYTES     (228u << 10)
#define IS_FLOAT(_dtype) ((_dtype) >= 6 && (_dtype) <= 12)

static unsigned bytes_of(unsigned dtype)
{
    static const unsigned char bytes[FIRST_PACKED] = {1, 2, 4, 4, 8, 8, 2,
                                                      4, 8, 2, 4, 4, 4};

    return bytes[dtype];
}

static bool settings_are_known(const struct map_request *request)
{
    return request->dtype < FIRST_PACKED && request->interleave < 3 &&
           request->swizzle < FIRST_ATOM && request->promotion < 4 &&
           request->fill < 2 && request->wide < 2 &&
           (request->fill == 0 || IS_FLOAT(request->dtype));
}

static bool rank_is_allowed(const struct map_request *request)
{
    unsigned least =
        request->kind != MAP_TILED || request->interleave != 0 ? 3 : 1;

    return request->rank >= least && request->rank <= 5;
}

bool map_address_is_allowed(uint64_t address, unsigned dtype,
                            unsigned interleave)
{
    (void)dtype;
    return address % (interleave == 2 ? 32 : 16) == 0 && address < ADDRESSES;
}

static bool extents_are_allowed(const struct map_request *request)
{
    unsigned step = request->interleave == 2 ? 32 : 16, i;

    for (i = 0; i < request->rank; i++)
        if (request->dims[i] - 1 > UINT32_MAX || request->steps[i] - 1 > 7)
            return false;
    for (i = 0; i + 1 < request->rank; i++)
        if (request->strides[i] % step != 0 || request->strides[i] >> 40 != 0)
            return false;
    return true;
}

/* A row of the box: whole stretches of 16 bytes, within what is swizzled. */
static bool row_is_allowed(const struct map_request *request, uint64_t elements)
{
    uint64_t bytes = elements * bytes_of(request->dtype);

    return bytes % 16 == 0 &&
           (request->swizzle == 0 || request->interleave != 0 ||
            bytes <= 16u << request->swizzle);
}

static bool box_is_allowed(const struct map_request *request)
{
    uint64_t bytes = bytes_of(request->dtype);
    unsigned i;

    for (i = 0; i < request->rank; i++) {
        if (request->box[i] - 1 > 255)
            return false;
        bytes *= request->box[i] / request->steps[i];
    }
    return bytes <= SHARED_BYTES && row_is_allowed(request, request->box[0]);
}

/* Offsets have fewer bits the more of them there are. */
static bool corners_are_allowed(const struct map_request *request)
{
    static const int most[] = {32767, 127, 15};
    unsigned count = request->kind == MAP_IM2COL ? request->rank - 2 : 1, i;
    unsigned first = request->interleave == 0; /* the channels come first */
    int32_t end;

    for (i = 0; i < count; i++) {
        int limit = most[count - 1];

        end = (int32_t)(uint32_t)(request->dims[first + i] +
                                  (uint64_t)(int64_t)request->upper[i]);
        if (request->lower[i] < -limit - 1 || request->lower[i] > limit ||
            request->upper[i] < -limit - 1 || request->upper[i] > limit ||
            end <= request->lower[i])
            return false;
    }
    return true;
}

static bool pixels_are_allowed(const struct map_request *request)
{
    return request->channels - 1 <= 255 && request->pixels - 1 <= 1023 &&
           (uint64_t)request->channels * request->pixels *
                   bytes_of(request->dtype) <=
               SHARED_BYTES &&
           row_is_allowed(request, request->channels);
}

bool map_is_allowed(const struct map_request *request)
{
    if (!settings_are_known(request) || !rank_is_allowed(request) ||
        !map_address_is_allowed(request->address, request->dtype,
                                request->interleave) ||
        !extents_are_allowed(request))
        return false;
    if (request->kind == MAP_TILED)
        return box_is_allowed(request);
    return corners_are_allowed(request) && pixels_are_allowed(request);
}
