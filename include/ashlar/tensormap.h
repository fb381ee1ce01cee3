/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * Tensor maps: a spec is checked, explained, and encoded.
 *
 *     struct ashlar_spec ──> ashlar_spec_check() ──> findings ──> sentences
 *            │
 *            └─> ashlar_tensormap_encode()       one, into memory of the caller
 *                ashlar_tensormap_encode_many()  many, into slots of a pool
 *                ashlar_tensormap_batch_...()    the same, by many threads
 *
 * The driver says of a spec that it does not like that a value is invalid, and
 * no more. Here every rule that cuda.h documents for its three encoders is
 * tried, without a GPU, and each that is broken is told with its field, its
 * value and what would be right.
 *
 * Encoding does not check first: that takes longer than the encoder does. What
 * the encoder refuses is then checked, so that the sentence is the same.
 */
#ifndef ASHLAR_TENSORMAP_H
#define ASHLAR_TENSORMAP_H

#include <ashlar/export.h>
#include <ashlar/pool.h>
#include <ashlar/source.h>
#include <ashlar/spec.h>
#include <ashlar/status.h>

ASHLAR_BEGIN_DECLS

/** Initialiser for struct ashlar_spec: its size, and zero everywhere else. */
#define ASHLAR_SPEC_INIT                                                       \
    {                                                                          \
        sizeof(struct ashlar_spec), 0, {0, 0, 0, 0, 0}, {0, 0, 0, 0},          \
            {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, {0, 0, 0}, {0, 0, 0}, 0, 0, 0,   \
            0, 0, 0, 0, 0, 0, 0                                                \
    }

/**
 * Set the strides of a spec to those of a tensor without gaps, from its rank,
 * dims and dtype.
 *
 * @param spec  Its strides are written, and only on success.
 *
 * @return ASHLAR_OK; the strides may still be none that the encoder takes;
 *         ASHLAR_ERR_INVALID  spec is NULL or without its size, rank or dtype
 *                             is none, a row has no whole bytes, or a stride
 *                             does not fit 64 bits.
 *
 * @par Threads  Any thread at any time; the spec is the caller's.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status ashlar_spec_pack(struct ashlar_spec *spec);

/** The members of struct ashlar_spec. */
enum ashlar_spec_field {
    ASHLAR_SPEC_FIELD_NONE = 0,
    ASHLAR_SPEC_FIELD_ADDRESS = 1,
    ASHLAR_SPEC_FIELD_DIMS = 2,
    ASHLAR_SPEC_FIELD_STRIDES = 3,
    ASHLAR_SPEC_FIELD_BOX = 4,
    ASHLAR_SPEC_FIELD_ELEMENT_STRIDES = 5,
    ASHLAR_SPEC_FIELD_LOWER_CORNER = 6,
    ASHLAR_SPEC_FIELD_UPPER_CORNER = 7,
    ASHLAR_SPEC_FIELD_CHANNELS = 8,
    ASHLAR_SPEC_FIELD_PIXELS = 9,
    ASHLAR_SPEC_FIELD_RANK = 10,
    ASHLAR_SPEC_FIELD_MODE = 11,
    ASHLAR_SPEC_FIELD_DTYPE = 12,
    ASHLAR_SPEC_FIELD_INTERLEAVE = 13,
    ASHLAR_SPEC_FIELD_SWIZZLE = 14,
    ASHLAR_SPEC_FIELD_L2_PROMOTION = 15,
    ASHLAR_SPEC_FIELD_OOB_FILL = 16,
    ASHLAR_SPEC_FIELD_WIDE_MODE = 17
};

/**
 * What the encoders ask of a spec, and what they do not ask, but people
 * regret. Values of one rule never change; new ones may be appended. They are
 * those of cuda.h, but where "the driver" is said: there it was asked.
 *
 * "Inner bytes" are those of one row of the box: box[0], or channels for the
 * im2col encoders, times the size of an element.
 */
enum ashlar_spec_rule {
    /* Errors: the encoder refuses. */

    /** An enum's value is one that it has. */
    ASHLAR_RULE_KNOWN_VALUE = 1,
    /** rank is 1 to 5; for im2col 3 to 5. */
    ASHLAR_RULE_RANK_RANGE = 2,
    /** rank is 3 or more with an interleaved layout. */
    ASHLAR_RULE_RANK_INTERLEAVE = 3,
    /** address is a multiple of 16; of 32 with some settings. */
    ASHLAR_RULE_ADDRESS_MULTIPLE = 4,
    /** address is below 2^57: the driver. */
    ASHLAR_RULE_ADDRESS_RANGE = 5,
    /** Each of dims is 1 to 2^32. */
    ASHLAR_RULE_DIM_RANGE = 6,
    /** dims[0] is a multiple of 2 or 128 with packed types. */
    ASHLAR_RULE_DIM_PACKED = 7,
    /** Each of strides is a multiple of 16; of 32 with some settings. */
    ASHLAR_RULE_STRIDE_MULTIPLE = 8,
    /** Each of strides is below 2^40. */
    ASHLAR_RULE_STRIDE_RANGE = 9,
    /** Each of box is 1 to 256. */
    ASHLAR_RULE_BOX_RANGE = 10,
    /**
     * Inner bytes are a multiple of 16. The driver asks it of interleaved
     * layouts, too.
     */
    ASHLAR_RULE_INNER_MULTIPLE = 11,
    /** box[0], or channels, is 128 with the types that are packed in 16 bytes. */
    ASHLAR_RULE_INNER_PACKED = 12,
    /** Inner bytes fit the swizzle's span, unless the layout is interleaved. */
    ASHLAR_RULE_INNER_SWIZZLE = 13,
    /** What is loaded fits 228 KiB of shared memory: the driver. */
    ASHLAR_RULE_BOX_MEMORY = 14,
    /**
     * Each of element_strides is 1 to 8. The driver asks it of the first, too,
     * also where it ignores that one.
     */
    ASHLAR_RULE_ELEMENT_STRIDE_RANGE = 15,
    /** 16u6_align16b is not interleaved. */
    ASHLAR_RULE_INTERLEAVE_PACKED = 16,
    /** swizzle is one that the packed type has. */
    ASHLAR_RULE_SWIZZLE_PACKED = 17,
    /** swizzle is one that im2col-wide has. */
    ASHLAR_RULE_SWIZZLE_WIDE = 18,
    /** A corner is in the range of the rank. */
    ASHLAR_RULE_CORNER_RANGE = 19,
    /**
     * The box between the corners is not empty along any dimension. The driver
     * counts its end in 32 bits, so 2^31 and more may be empty, too.
     */
    ASHLAR_RULE_CORNER_AREA = 20,
    /** channels is 1 to 256. */
    ASHLAR_RULE_CHANNELS_RANGE = 21,
    /** pixels is 1 to 1024. */
    ASHLAR_RULE_PIXELS_RANGE = 22,
    /** Out of bounds is NaN for floating-point types only. */
    ASHLAR_RULE_OOB_FLOAT = 23,
    /**
     * The device has the encoder (9.0), the packed types, and the swizzles by
     * atoms (10.0): the driver.
     */
    ASHLAR_RULE_CAPABILITY = 24,

    /* Warnings: the encoder takes it. */

    /** address is not 0. */
    ASHLAR_RULE_ADDRESS_NULL = 101,
    /** The tensor ends below 2^57, where addresses do. */
    ASHLAR_RULE_ADDRESS_END = 102,
    /** A stride is no shorter than a row. */
    ASHLAR_RULE_STRIDE_SHORT = 103,
    /** The box is no wider than the tensor. */
    ASHLAR_RULE_BOX_WIDE = 104,
    /** element_strides[0] is 1, as it is ignored unless interleaved. */
    ASHLAR_RULE_ELEMENT_STRIDE_IGNORED = 105,
    /**
     * Interleaved by 32 bytes, swizzle is 32B: cuda.h says must, and the driver
     * takes others.
     */
    ASHLAR_RULE_SWIZZLE_INTERLEAVE = 106,
    /** The box ends below 2^31, in which the driver counts. */
    ASHLAR_RULE_CORNER_WRAP = 107,
    /** The device has im2col-wide (10.0); the driver encodes for others, too. */
    ASHLAR_RULE_CAPABILITY_WIDE = 108
};

/** Whether a finding makes the encoder refuse. */
enum ashlar_spec_severity { ASHLAR_SPEC_ERROR = 1, ASHLAR_SPEC_WARNING = 2 };

/** One thing that is wrong with a spec. */
struct ashlar_spec_finding {
    /** enum ashlar_spec_rule. */
    uint32_t rule;
    /** enum ashlar_spec_severity. */
    uint32_t severity;
    /** enum ashlar_spec_field: what to change. */
    uint32_t field;
    /** Which element of it, where it is an array. */
    uint32_t index;
    /** What it is; corners as int64_t. */
    uint64_t value;
    /** The number that the rule names: a multiple, a bound, bytes. */
    uint64_t bound;
    /**
     * The value nearest to it that the rule allows; corners as int64_t. Of
     * ASHLAR_RULE_BOX_MEMORY, value and right are bytes of the whole box.
     */
    uint64_t right;
    /** The field that makes the rule apply, or ASHLAR_SPEC_FIELD_NONE. */
    uint32_t cause;
    /** What that one is. */
    uint32_t cause_value;
};

/** No spec has more findings than this. */
#define ASHLAR_SPEC_FINDINGS_MAX ((size_t)64)

/**
 * Check a spec against every rule of its encoder. No driver is asked.
 *
 * @param spec        Borrowed for the call.
 * @param capability  The device's compute capability times ten, such as 90 or
 *                    100 (ashlar_source_info::capability); 0: not known, and
 *                    rules about it are not tried.
 * @param findings    Receives up to room of them, errors before warnings; may
 *                    be NULL when room is 0.
 * @param room        Room in findings; ASHLAR_SPEC_FINDINGS_MAX is enough.
 * @param count_out   Receives how many there are, whatever this returns: 0 when
 *                    the call itself was wrong. May be NULL.
 *
 * @return ASHLAR_OK when the encoder takes the spec; there may be warnings;
 *         ASHLAR_ERR_INVALID  it breaks rules, and the last error's sentence is
 *                             about the first of them; or spec is NULL or
 *                             without its size, or findings is NULL though
 *                             there is room.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_spec_check(const struct ashlar_spec *spec, uint32_t capability,
                  struct ashlar_spec_finding *findings, size_t room,
                  size_t *count_out);

/**
 * Put a finding in a sentence: "strides[0] is 2050 bytes; it must be a multiple
 * of 16: pad it to 2064". No full stop, no newline.
 *
 * @param finding  From ashlar_spec_check().
 * @param subject  What to call the field; NULL: as struct ashlar_spec does.
 * @param buffer   Receives the sentence, cut to fit; may be NULL when bytes
 *                 is 0.
 * @param bytes    Room, with the NUL; 256 is enough when subject is NULL.
 *
 * @return The sentence's length in full, without the NUL; 0 when finding is
 *         NULL or none that this library could have made.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API size_t ashlar_spec_explain(const struct ashlar_spec_finding *finding,
                                      const char *subject, char *buffer,
                                      size_t bytes);

/**
 * The name of a rule, such as "stride-multiple".
 *
 * @param rule  Any value, also one this library does not know.
 *
 * @return A constant string, never NULL, never freed; "unknown-rule".
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API const char *
ashlar_spec_rule_name(enum ashlar_spec_rule rule) ASHLAR_CONST;

/**
 * The name of a member of struct ashlar_spec, such as "strides".
 *
 * @param field  Any value, also one this library does not know.
 *
 * @return A constant string, never NULL, never freed; "?".
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API const char *
ashlar_spec_field_name(enum ashlar_spec_field field) ASHLAR_CONST;

/**
 * The name of a setting, such as "bfloat16" or "swizzle_128B".
 *
 * @param field  A member that is an enum: ASHLAR_SPEC_FIELD_MODE, _DTYPE,
 *               _INTERLEAVE, _SWIZZLE, _L2_PROMOTION, _OOB_FILL, _WIDE_MODE.
 * @param value  Any value.
 *
 * @return A constant string, never freed; NULL when the field is no enum, or
 *         has no such value. Values are 0, 1, ... without a gap.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API const char *ashlar_spec_name(enum ashlar_spec_field field,
                                        uint32_t value) ASHLAR_CONST;

/**
 * Another name by which people know a setting, such as "bf16".
 *
 * @param field  As for ashlar_spec_name().
 * @param i      0, 1, ... until NULL comes.
 *
 * @return A constant string, never freed; NULL when there is no ith.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API const char *ashlar_spec_alias(enum ashlar_spec_field field,
                                         size_t i) ASHLAR_CONST;

/**
 * The value that a name stands for.
 *
 * A name is taken in any case, with CUDA's prefixes or without:
 * "swizzle_128B", "128B" and "CU_TENSOR_MAP_SWIZZLE_128B" are one; and by its
 * aliases.
 *
 * @param field      As for ashlar_spec_name().
 * @param name       The name.
 * @param value_out  Receives the value; written only on success.
 *
 * @return ASHLAR_OK;
 *         ASHLAR_ERR_INVALID    a NULL argument, or a field that is no enum;
 *         ASHLAR_ERR_NOT_FOUND  it has no value of that name.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status ashlar_spec_value(enum ashlar_spec_field field,
                                                const char *name,
                                                uint32_t *value_out);

/**
 * Encode a tensor map.
 *
 * @param source  A source with ASHLAR_CAN_ENCODE.
 * @param spec    Borrowed for the call.
 * @param map     ASHLAR_TENSOR_MAP_BYTES of host memory at a multiple of as
 *                many; written only on success.
 *
 * @return ASHLAR_OK;
 *         ASHLAR_ERR_INVALID         a NULL argument, a spec without its size,
 *                                    or one that the encoder refuses; the
 *                                    sentence is about the first rule that it
 *                                    breaks (ashlar_spec_check());
 *         ASHLAR_ERR_MISALIGNED      map is at no multiple of
 *                                    ASHLAR_TENSOR_MAP_BYTES;
 *         ASHLAR_ERR_UNSUPPORTED     the source has no encoder;
 *         ASHLAR_ERR_NO_DRIVER       the driver is gone;
 *         ASHLAR_ERR_DRIVER_TOO_OLD  the driver lacks this encoder;
 *         ASHLAR_ERR_DRIVER          the driver failed, or had no context and
 *                                    could not make one;
 *         ASHLAR_ERR_CONTEXT_FAILED  the context had failed before: nothing is
 *                                    wrong with the spec;
 *         ASHLAR_ERR_FORKED          the source is the parent's.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_tensormap_encode(struct ashlar_source *source,
                        const struct ashlar_spec *spec, void *map);

/**
 * Give an encoded tensor map another address: the same bytes as encoding anew,
 * in a third of the time.
 *
 * @param source   The source that encoded it.
 * @param map      An encoded map at a multiple of ASHLAR_TENSOR_MAP_BYTES;
 *                 written only on success.
 * @param address  Not 0, below 2^57, and as aligned as the map's address had to
 *                 be.
 *
 * @return As ashlar_tensormap_encode().
 *
 * @par Threads  Any thread at any time; the map is the caller's.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_tensormap_rebase(struct ashlar_source *source, void *map,
                        uint64_t address);

/**
 * Encode many tensor maps into slots of a pool: all, or none.
 *
 * A spec that differs from one of the last four shapes before it in no more than
 * its address is had from that one's map, as by ashlar_tensormap_rebase(), in
 * less than half of the time (doc/measurements.md).
 *
 * @param source       A source with ASHLAR_CAN_ENCODE.
 * @param pool         A pool of "CUtensorMap" whose slots the host may write;
 *                     n slots are got from it, and all put back on failure.
 * @param specs        n of them, each of the same size.
 * @param n            0 is allowed, and does nothing.
 * @param maps_out     Receives n slots, to be put back by the caller; what is in
 *                     it after a failure is of no meaning, and no slot.
 * @param culprit_out  When a spec is refused, receives its index: the lowest, if
 *                     there are several. n when it was not a spec. May be NULL.
 *
 * @return As ashlar_tensormap_encode(), about the spec at *culprit_out;
 *         ASHLAR_ERR_INVALID  also for a pool of another type, or on memory
 *                             that the host does not reach;
 *         or what ashlar_pool_get_bulk() says.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_tensormap_encode_many(struct ashlar_source *source,
                             struct ashlar_pool *pool,
                             const struct ashlar_spec *specs, size_t n,
                             void **maps_out, size_t *culprit_out);

/** Many tensor maps, while threads encode them. Opaque. */
struct ashlar_tensormap_batch;

/**
 * Begin what ashlar_tensormap_encode_many() does, for threads to share.
 *
 * The slots are got here, so that the threads only encode.
 *
 * @param source     As for ashlar_tensormap_encode_many(); must stay open.
 * @param pool       As there.
 * @param specs      As there; borrowed until ashlar_tensormap_batch_finish().
 * @param n          As there.
 * @param maps_out   As there; borrowed likewise.
 * @param batch_out  Receives the batch, the caller's until
 *                   ashlar_tensormap_batch_finish(); written only on success.
 *
 * @return ASHLAR_OK; what ashlar_tensormap_encode_many() says of its arguments
 *         and the slots; ASHLAR_ERR_NO_MEMORY  no host memory for the record.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status ashlar_tensormap_batch_create(
    struct ashlar_source *source, struct ashlar_pool *pool,
    const struct ashlar_spec *specs, size_t n, void **maps_out,
    struct ashlar_tensormap_batch **batch_out);

/**
 * Encode maps of a batch, part by part, until none is left to take. A thread
 * in which a context of the device is current takes a small part of the time
 * that one without takes.
 *
 * @param batch  The batch; NULL is refused.
 *
 * @return ASHLAR_OK when the parts that this thread took are encoded; else why
 *         the first of them is not. When others are done is for the caller to
 *         know, who has the threads. ASHLAR_ERR_FORKED  the batch is the
 *         parent's.
 *
 * @par Threads  Any number of threads at once.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_tensormap_batch_work(struct ashlar_tensormap_batch *batch);

/**
 * End a batch: encode what nobody took, and put all slots back if any failed.
 *
 * @param batch        The batch; gone, unless ASHLAR_ERR_BUSY or
 *                     ASHLAR_ERR_FORKED comes.
 * @param culprit_out  As for ashlar_tensormap_encode_many().
 *
 * @return As ashlar_tensormap_encode_many();
 *         ASHLAR_ERR_BUSY    a thread is in ashlar_tensormap_batch_work()
 *                            still; nothing was ended;
 *         ASHLAR_ERR_FORKED  the batch is the parent's; nothing was ended.
 *
 * @par Threads  One thread, when the others have returned from their work.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_tensormap_batch_finish(struct ashlar_tensormap_batch *batch,
                              size_t *culprit_out);

ASHLAR_END_DECLS

#endif
