/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "tensormap/tensormap.h"

#include <string.h>

#include "base/error.h"

enum ashlar_status encode_check(struct ashlar_source *source, const char *call)
{
    enum ashlar_status status = source_check(source, call);

    if (status == ASHLAR_OK && !source_can(source, ASHLAR_CAN_ENCODE))
        status = error_set(ASHLAR_ERR_UNSUPPORTED,
                           "the source \"%s\" has no encoder of tensor maps; "
                           "\"cuda\" has one",
                           source->name);
    return status;
}

enum ashlar_status encode_explain(const struct ashlar_source *source,
                                  const struct ashlar_spec *spec,
                                  enum ashlar_status status)
{
    struct error said;

    if (status != ASHLAR_ERR_INVALID)
        return status;
    error_copy(&said);
    if (ashlar_spec_check(spec, source->info.capability, NULL, 0, NULL) ==
        ASHLAR_OK)
        error_restore(&said);
    return status;
}

enum ashlar_status encode_refuse_size(const struct ashlar_spec *spec,
                                      size_t step)
{
    return error_set(ASHLAR_ERR_INVALID,
                     "the size member of this spec is %zu, and that of the "
                     "first %zu: specs of an array are of one size",
                     spec->size, step);
}

enum ashlar_status encode_otherwise(struct ashlar_source *source,
                                    const struct ashlar_spec *spec, void *map)
{
    struct ashlar_spec own;
    enum ashlar_status status = spec_read(&own, spec);

    return status == ASHLAR_OK ? encode_into(source, &own, map) : status;
}

static enum ashlar_status check_map(const void *map, const char *call)
{
    if (map == NULL)
        return error_set(ASHLAR_ERR_INVALID, "%s was given NULL for map", call);
    if ((uintptr_t)map % ASHLAR_TENSOR_MAP_BYTES != 0)
        return error_set(ASHLAR_ERR_MISALIGNED,
                         "map is at %p, %zu bytes behind a multiple of %zu; "
                         "take a slot of a pool of \"CUtensorMap\"",
                         map,
                         (size_t)((uintptr_t)map % ASHLAR_TENSOR_MAP_BYTES),
                         ASHLAR_TENSOR_MAP_BYTES);
    return ASHLAR_OK;
}

/* What is wrong with the arguments of ashlar_tensormap_encode(), if anything. */
static __attribute__((noinline)) enum ashlar_status
check_arguments(struct ashlar_source *source, const struct ashlar_spec *spec,
                const void *map)
{
    static const char call[] = "ashlar_tensormap_encode()";
    enum ashlar_status status = encode_check(source, call);

    if (status == ASHLAR_OK)
        status = check_map(map, call);
    if (status == ASHLAR_OK && spec == NULL)
        status =
            error_set(ASHLAR_ERR_INVALID, "%s was given NULL for spec", call);
    return status;
}

/*
 * A refused map is as it was before. Out of line, so that the encoder's way keeps
 * few registers.
 */
static __attribute__((noinline)) enum ashlar_status
refuse_map(const struct ashlar_source *source, const struct ashlar_spec *spec,
           void *map, const void *before, enum ashlar_status status)
{
    memcpy(map, before, ASHLAR_TENSOR_MAP_BYTES);
    return encode_explain(source, spec, status);
}

/*
 * The encoder may write to a map that it refuses, so what was there is kept
 * meanwhile. The other way round, a copy of a fresh map would have to wait for
 * the encoder's last store.
 */
enum ashlar_status ashlar_tensormap_encode(struct ashlar_source *source,
                                           const struct ashlar_spec *spec,
                                           void *map)
{
    _Alignas(16) unsigned char before[ASHLAR_TENSOR_MAP_BYTES];
    enum ashlar_status status;

    if (ASHLAR_UNLIKELY(!source_is_usable(source) ||
                        !source_can(source, ASHLAR_CAN_ENCODE) || map == NULL ||
                        (uintptr_t)map % ASHLAR_TENSOR_MAP_BYTES != 0 ||
                        spec == NULL))
        return check_arguments(source, spec, map);
    memcpy(before, map, sizeof(before));
    if (ASHLAR_UNLIKELY(spec->size != sizeof(*spec)))
        status = encode_otherwise(source, spec, map);
    else
        status = source->ops.encode(source->state, spec, map);
    return ASHLAR_LIKELY(status == ASHLAR_OK)
               ? status
               : refuse_map(source, spec, map, before, status);
}

/* What is wrong with an address whatever the map asks of it. */
static enum ashlar_status explain_address(uint64_t address)
{
    unsigned long long number = address;

    if (address == 0)
        return error_set(ASHLAR_ERR_INVALID,
                         "address is 0; encode the map anew if it is to have "
                         "none");
    if (address % 16 != 0)
        return error_set(ASHLAR_ERR_INVALID,
                         "address is 0x%llx; it must be a multiple of 16, and "
                         "of 32 for some maps",
                         number);
    if (address >= ADDRESS_BEYOND)
        return error_set(ASHLAR_ERR_INVALID,
                         "address is 0x%llx; it must be below 0x%llx", number,
                         (unsigned long long)ADDRESS_BEYOND);
    return ASHLAR_ERR_INVALID;
}

enum ashlar_status ashlar_tensormap_rebase(struct ashlar_source *source,
                                           void *map, uint64_t address)
{
    _Alignas(128) unsigned char fresh[ASHLAR_TENSOR_MAP_BYTES];
    enum ashlar_status status =
        encode_check(source, "ashlar_tensormap_rebase()");

    if (status == ASHLAR_OK)
        status = check_map(map, "ashlar_tensormap_rebase()");
    if (status != ASHLAR_OK)
        return status;
    memcpy(fresh, map, sizeof(fresh));
    status = source->ops.encode_rebase(source->state, fresh, address);
    if (status == ASHLAR_OK)
        memcpy(map, fresh, sizeof(fresh));
    return status == ASHLAR_ERR_INVALID ? explain_address(address) : status;
}
