/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* The public headers of 0.1, by freeze.sh. Never to be edited. */
#ifndef ASHLAR_EXPORT_H
#define ASHLAR_EXPORT_H 
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
#define ASHLAR_BEGIN_DECLS extern "C" {
#define ASHLAR_END_DECLS }
#else
#define ASHLAR_BEGIN_DECLS 
#define ASHLAR_END_DECLS 
#endif
#if defined(__GNUC__)
#define ASHLAR_API __attribute__((visibility("default")))
#define ASHLAR_MUST_USE __attribute__((warn_unused_result))
#define ASHLAR_PURE __attribute__((pure))
#define ASHLAR_CONST __attribute__((const))
#define ASHLAR_FORMAT(_n,_m) __attribute__((format(printf, _n, _m)))
#define ASHLAR_MALLOC __attribute__((malloc))
#define ASHLAR_ALLOC_SIZE(_n) __attribute__((alloc_size(_n)))
#define ASHLAR_LIKELY(_cond) __builtin_expect(!!(_cond), 1)
#define ASHLAR_UNLIKELY(_cond) __builtin_expect(!!(_cond), 0)
#else
#define ASHLAR_API 
#define ASHLAR_MUST_USE 
#define ASHLAR_PURE 
#define ASHLAR_CONST 
#define ASHLAR_FORMAT(_n,_m) 
#define ASHLAR_MALLOC 
#define ASHLAR_ALLOC_SIZE(_n) 
#define ASHLAR_LIKELY(_cond) (_cond)
#define ASHLAR_UNLIKELY(_cond) (_cond)
#endif
#define ASHLAR_NO_PLT 
#if defined(__x86_64__) && defined(__has_attribute)
#if __has_attribute(noplt)
#undef ASHLAR_NO_PLT
#define ASHLAR_NO_PLT __attribute__((noplt))
#endif
#endif
#define ASHLAR_ALIGNOF(_type) ((size_t)__alignof__(_type))
#endif
#ifndef ASHLAR_SPEC_H
#define ASHLAR_SPEC_H 
#define ASHLAR_TENSOR_MAP_BYTES ((size_t)128)
#define ASHLAR_SPEC_RANK_MAX 5
enum ashlar_spec_mode {
    ASHLAR_SPEC_TILED = 0,
    ASHLAR_SPEC_IM2COL = 1,
    ASHLAR_SPEC_IM2COL_WIDE = 2
};
enum ashlar_spec_dtype {
    ASHLAR_SPEC_UINT8 = 0,
    ASHLAR_SPEC_UINT16 = 1,
    ASHLAR_SPEC_UINT32 = 2,
    ASHLAR_SPEC_INT32 = 3,
    ASHLAR_SPEC_UINT64 = 4,
    ASHLAR_SPEC_INT64 = 5,
    ASHLAR_SPEC_FLOAT16 = 6,
    ASHLAR_SPEC_FLOAT32 = 7,
    ASHLAR_SPEC_FLOAT64 = 8,
    ASHLAR_SPEC_BFLOAT16 = 9,
    ASHLAR_SPEC_FLOAT32_FTZ = 10,
    ASHLAR_SPEC_TFLOAT32 = 11,
    ASHLAR_SPEC_TFLOAT32_FTZ = 12,
    ASHLAR_SPEC_16U4_ALIGN8B = 13,
    ASHLAR_SPEC_16U4_ALIGN16B = 14,
    ASHLAR_SPEC_16U6_ALIGN16B = 15
};
enum ashlar_spec_interleave {
    ASHLAR_SPEC_INTERLEAVE_NONE = 0,
    ASHLAR_SPEC_INTERLEAVE_16B = 1,
    ASHLAR_SPEC_INTERLEAVE_32B = 2
};
enum ashlar_spec_swizzle {
    ASHLAR_SPEC_SWIZZLE_NONE = 0,
    ASHLAR_SPEC_SWIZZLE_32B = 1,
    ASHLAR_SPEC_SWIZZLE_64B = 2,
    ASHLAR_SPEC_SWIZZLE_128B = 3,
    ASHLAR_SPEC_SWIZZLE_128B_ATOM_32B = 4,
    ASHLAR_SPEC_SWIZZLE_128B_ATOM_32B_FLIP_8B = 5,
    ASHLAR_SPEC_SWIZZLE_128B_ATOM_64B = 6
};
enum ashlar_spec_l2_promotion {
    ASHLAR_SPEC_L2_NONE = 0,
    ASHLAR_SPEC_L2_64B = 1,
    ASHLAR_SPEC_L2_128B = 2,
    ASHLAR_SPEC_L2_256B = 3
};
enum ashlar_spec_oob_fill {
    ASHLAR_SPEC_OOB_ZERO = 0,
    ASHLAR_SPEC_OOB_NAN_REQUEST_ZERO_FMA = 1
};
enum ashlar_spec_wide_mode {
    ASHLAR_SPEC_WIDE_W = 0,
    ASHLAR_SPEC_WIDE_W128 = 1
};
struct ashlar_spec {
    size_t size;
    uint64_t address;
    uint64_t dims[ASHLAR_SPEC_RANK_MAX];
    uint64_t strides[ASHLAR_SPEC_RANK_MAX - 1];
    uint32_t box[ASHLAR_SPEC_RANK_MAX];
    uint32_t element_strides[ASHLAR_SPEC_RANK_MAX];
    int32_t lower_corner[ASHLAR_SPEC_RANK_MAX - 2];
    int32_t upper_corner[ASHLAR_SPEC_RANK_MAX - 2];
    uint32_t channels;
    uint32_t pixels;
    uint32_t rank;
    uint32_t mode;
    uint32_t dtype;
    uint32_t interleave;
    uint32_t swizzle;
    uint32_t l2_promotion;
    uint32_t oob_fill;
    uint32_t wide_mode;
};
#endif
#ifndef ASHLAR_STATUS_H
#define ASHLAR_STATUS_H 
ASHLAR_BEGIN_DECLS
enum ashlar_status {
    ASHLAR_OK = 0,
    ASHLAR_ERR_INVALID = -1,
    ASHLAR_ERR_MISALIGNED = -2,
    ASHLAR_ERR_CONFLICT = -3,
    ASHLAR_ERR_NO_MEMORY = -4,
    ASHLAR_ERR_NO_DEVICE_MEMORY = -5,
    ASHLAR_ERR_NO_ADDRESS_SPACE = -6,
    ASHLAR_ERR_LIMIT = -7,
    ASHLAR_ERR_NO_ROOM = -8,
    ASHLAR_ERR_FRAGMENTED = -9,
    ASHLAR_ERR_WRONG_OWNER = -10,
    ASHLAR_ERR_NOT_LIVE = -11,
    ASHLAR_ERR_BUSY = -12,
    ASHLAR_ERR_UNSUPPORTED = -13,
    ASHLAR_ERR_NOT_FOUND = -14,
    ASHLAR_ERR_NO_PLUGIN = -15,
    ASHLAR_ERR_NO_DRIVER = -16,
    ASHLAR_ERR_DRIVER_TOO_OLD = -17,
    ASHLAR_ERR_DRIVER = -18,
    ASHLAR_ERR_CONTEXT_FAILED = -19,
    ASHLAR_ERR_CAPTURE = -20,
    ASHLAR_ERR_FORKED = -21,
    ASHLAR_ERR_STALE = -22
};
ASHLAR_API const char *ashlar_status_name(enum ashlar_status status)
    ASHLAR_CONST;
ASHLAR_API const char *ashlar_status_text(enum ashlar_status status)
    ASHLAR_CONST;
ASHLAR_API enum ashlar_status ashlar_last_error(void);
ASHLAR_API const char *ashlar_last_error_message(void);
ASHLAR_API void ashlar_clear_error(void);
enum ashlar_log_level {
    ASHLAR_LOG_ERROR = 1,
    ASHLAR_LOG_WARNING = 2,
    ASHLAR_LOG_INFO = 3
};
typedef void ashlar_log_fn(enum ashlar_log_level level, const char *message,
                           void *user);
ASHLAR_API void ashlar_set_log(ashlar_log_fn *fn, void *user);
ASHLAR_END_DECLS
#endif
#ifndef ASHLAR_PLUGIN_H
#define ASHLAR_PLUGIN_H 
ASHLAR_BEGIN_DECLS
#define ASHLAR_PLUGIN_ABI 1u
#define ASHLAR_PLUGIN_SYMBOL "ashlar_plugin_v1"
#define ASHLAR_CAN_BLOCKS (UINT64_C(1) << 0)
#define ASHLAR_CAN_RANGES (UINT64_C(1) << 1)
#define ASHLAR_CAN_COPY (UINT64_C(1) << 2)
#define ASHLAR_CAN_SCATTER (UINT64_C(1) << 3)
#define ASHLAR_CAN_FENCE (UINT64_C(1) << 4)
#define ASHLAR_CAN_ENCODE (UINT64_C(1) << 5)
#define ASHLAR_CAN_EXPORT (UINT64_C(1) << 6)
#define ASHLAR_CAN_HOST_ACCESS (UINT64_C(1) << 7)
#define ASHLAR_CAN_GRAPH (UINT64_C(1) << 8)
enum ashlar_rights {
    ASHLAR_RIGHTS_NONE = 0,
    ASHLAR_RIGHTS_READ = 1,
    ASHLAR_RIGHTS_READ_WRITE = 3
};
struct ashlar_access {
    uint32_t location;
    uint32_t rights;
};
struct ashlar_plugin_option {
    const char *key;
    const char *value;
};
#define ASHLAR_PLUGIN_ACCESS_MOST 16
struct ashlar_plugin_info {
    size_t size;
    uint64_t can;
    size_t granule;
    uint64_t memory_bytes;
    uint32_t location_count;
    uint32_t home_location;
    uint8_t identity[16];
    char description[64];
    struct ashlar_access access[ASHLAR_PLUGIN_ACCESS_MOST];
    uint32_t access_count;
    uint32_t capability;
};
struct ashlar_host {
    uint32_t abi;
    uint32_t struct_size;
    enum ashlar_status (*fail)(enum ashlar_status status, const char *format,
                               ...) ASHLAR_FORMAT(2, 3);
    void (*log)(enum ashlar_log_level level, const char *format, ...)
        ASHLAR_FORMAT(2, 3);
    void *(*alloc)(size_t bytes);
    void (*free)(void *block);
};
struct ashlar_chunk_request {
    size_t size;
    uint64_t bytes;
    uint64_t export_group;
};
struct ashlar_plugin {
    uint32_t abi;
    uint32_t struct_size;
    const char *name;
    const char *version;
    enum ashlar_status (*open)(const struct ashlar_host *host,
                               const struct ashlar_plugin_option *options,
                               size_t option_count,
                               struct ashlar_plugin_info *info,
                               void **state_out);
    void (*close)(void *state);
    size_t (*block_usable)(void *state, size_t bytes, size_t alignment);
    void *(*block_alloc)(void *state, size_t bytes, size_t alignment);
    void (*block_free)(void *state, void *block, size_t bytes,
                       size_t alignment);
    void (*block_purge)(void *state, void *address, size_t bytes);
    void (*block_prefer_huge)(void *state, void *block, size_t bytes);
    enum ashlar_status (*reserve)(void *state, uint64_t bytes,
                                  uint64_t alignment, uint64_t hint,
                                  uint64_t *address_out);
    enum ashlar_status (*release)(void *state, uint64_t address,
                                  uint64_t bytes);
    enum ashlar_status (*chunk_create)(
        void *state, const struct ashlar_chunk_request *request,
        uint64_t *chunk_out);
    enum ashlar_status (*chunk_destroy)(void *state, uint64_t chunk,
                                        uint64_t bytes);
    enum ashlar_status (*map)(void *state, uint64_t address, uint64_t chunk,
                              uint64_t bytes);
    enum ashlar_status (*unmap)(void *state, uint64_t address, uint64_t bytes);
    enum ashlar_status (*allow)(void *state, uint64_t address, uint64_t bytes,
                                const struct ashlar_access *access,
                                size_t access_count);
    enum ashlar_status (*copy)(void *state, uint64_t to, uint64_t from,
                               uint64_t bytes, uint64_t stream);
    enum ashlar_status (*scatter_load)(void *state);
    enum ashlar_status (*scatter)(void *state, uint64_t table, uint64_t staging,
                                  uint64_t indices, uint32_t count,
                                  uint64_t stream);
    enum ashlar_status (*fence_record)(void *state, uint64_t stream,
                                       uint64_t *fence_out);
    enum ashlar_status (*fence_event)(void *state, uint64_t event,
                                      uint64_t *fence_out);
    enum ashlar_status (*fence_query)(void *state, uint64_t fence);
    void (*fence_drop)(void *state, uint64_t fence);
    enum ashlar_status (*encode)(void *state, const struct ashlar_spec *spec,
                                 void *map_out);
    enum ashlar_status (*encode_many)(void *state,
                                      const struct ashlar_spec *specs,
                                      size_t step, void *const *maps, size_t n,
                                      size_t *done_out);
    enum ashlar_status (*encode_rebase)(void *state, void *map,
                                        uint64_t address);
    enum ashlar_status (*chunk_export)(void *state, uint64_t chunk,
                                       uint64_t bytes, int *fd_out,
                                       uint64_t *offset_out);
    enum ashlar_status (*chunk_import)(void *state, int fd, uint64_t offset,
                                       uint64_t bytes, uint64_t *chunk_out);
    enum ashlar_status (*fence_capture)(void *state, uint64_t stream,
                                        uint64_t *fence_out);
    enum ashlar_status (*fence_graph)(void *state, uint64_t graph,
                                      uint64_t *fence_out);
};
ASHLAR_END_DECLS
#endif
#ifndef ASHLAR_SOURCE_H
#define ASHLAR_SOURCE_H 
ASHLAR_BEGIN_DECLS
struct ashlar_source;
ASHLAR_API enum ashlar_status
ashlar_source_open(const char *name, const char *options,
                   struct ashlar_source **source_out);
ASHLAR_API enum ashlar_status ashlar_source_close(struct ashlar_source *source);
ASHLAR_API const char *ashlar_source_name(const struct ashlar_source *source);
struct ashlar_source_info {
    size_t size;
    const char *name;
    const char *version;
    const char *path;
    const char *description;
    uint64_t can;
    uint64_t granule;
    uint64_t memory_bytes;
    uint64_t retired_bytes;
    uint64_t retired_items;
    uint64_t dropped_items;
    uint32_t holders;
    uint32_t location_count;
    uint32_t home_location;
    uint32_t capability;
};
#define ASHLAR_SOURCE_INFO_INIT \
    { \
        sizeof(struct ashlar_source_info), NULL, NULL, NULL, NULL, 0, 0, 0, 0, \
            0, 0, 0, 0, 0, 0 \
    }
ASHLAR_API enum ashlar_status
ashlar_source_query(struct ashlar_source *source,
                    struct ashlar_source_info *info);
struct ashlar_source_call {
    uint64_t count;
    uint64_t refused;
    uint64_t ns;
};
struct ashlar_source_calls {
    size_t size;
    struct ashlar_source_call reserve;
    struct ashlar_source_call release;
    struct ashlar_source_call create;
    struct ashlar_source_call destroy;
    struct ashlar_source_call map;
    struct ashlar_source_call unmap;
    struct ashlar_source_call allow;
    struct ashlar_source_call chunk_export;
    struct ashlar_source_call chunk_import;
};
#define ASHLAR_SOURCE_CALLS_INIT \
    { \
        sizeof(struct ashlar_source_calls), {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, \
            {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, \
        { \
            0, 0, 0 \
        } \
    }
ASHLAR_API enum ashlar_status
ashlar_source_query_calls(struct ashlar_source *source,
                          struct ashlar_source_calls *calls);
ASHLAR_API void ashlar_source_time_calls(struct ashlar_source *source, int on);
struct ashlar_source_candidate {
    size_t size;
    const char *name;
    const char *version;
    const char *path;
    const char *reason;
    uint64_t groups;
    int32_t status;
    uint32_t reserved;
};
typedef int
ashlar_source_candidate_fn(const struct ashlar_source_candidate *found,
                           void *user);
ASHLAR_API enum ashlar_status ashlar_source_list(ashlar_source_candidate_fn *fn,
                                                 void *user);
struct ashlar_plugin;
ASHLAR_API const struct ashlar_plugin *ashlar_source_built_in(const char *name);
ASHLAR_END_DECLS
#endif
#ifndef ASHLAR_RANGE_H
#define ASHLAR_RANGE_H 
ASHLAR_BEGIN_DECLS
struct ashlar_range;
enum ashlar_fence_kind {
    ASHLAR_FENCE_QUIET = 1,
    ASHLAR_FENCE_STREAM = 2,
    ASHLAR_FENCE_EVENT = 3,
    ASHLAR_FENCE_CAPTURE = 4,
    ASHLAR_FENCE_GRAPH = 5
};
struct ashlar_fence {
    uint32_t kind;
    uint32_t reserved;
    struct ashlar_source *source;
    uint64_t handle;
};
#define ASHLAR_FENCE_OF_STREAM(_source,_stream) \
    { \
        ASHLAR_FENCE_STREAM, 0, _source, (uint64_t)(uintptr_t)(_stream) \
    }
ASHLAR_API extern const struct ashlar_fence ashlar_fence_quiet;
#define ASHLAR_QUIET (&ashlar_fence_quiet)
#define ASHLAR_RANGE_MAY_MOVE (1u << 0)
#define ASHLAR_RANGE_EXPORT (1u << 1)
struct ashlar_range_options {
    size_t size;
    uint64_t reserve_bytes;
    uint64_t alignment;
    uint64_t chunk_max_bytes;
    uint64_t keep_bytes;
    const struct ashlar_access *access;
    size_t access_count;
    uint32_t flags;
    uint32_t reserved;
};
#define ASHLAR_RANGE_OPTIONS_INIT \
    { \
        sizeof(struct ashlar_range_options), 0, 0, 0, 0, NULL, 0, 0, 0 \
    }
enum ashlar_range_path {
    ASHLAR_RANGE_PATH_NONE = 0,
    ASHLAR_RANGE_PATH_IN_RESERVATION = 1,
    ASHLAR_RANGE_PATH_ADJACENT = 2,
    ASHLAR_RANGE_PATH_MOVED = 3
};
struct ashlar_range_result {
    size_t size;
    uint64_t base;
    uint64_t old_base;
    uint64_t used_bytes;
    uint64_t committed_bytes;
    uint64_t released_bytes;
    uint32_t path;
    uint32_t source_calls;
};
#define ASHLAR_RANGE_RESULT_INIT \
    { \
        sizeof(struct ashlar_range_result), 0, 0, 0, 0, 0, 0, 0 \
    }
ASHLAR_API enum ashlar_status
ashlar_range_create(struct ashlar_source *source,
                    const struct ashlar_range_options *options,
                    struct ashlar_range **range_out);
ASHLAR_API enum ashlar_status
ashlar_range_destroy(struct ashlar_range *range,
                     const struct ashlar_fence *fences, size_t n);
ASHLAR_API enum ashlar_status
ashlar_range_grow_to(struct ashlar_range *range, uint64_t total,
                     struct ashlar_range_result *result);
enum ashlar_range_depth {
    ASHLAR_RANGE_CREATED = 1,
    ASHLAR_RANGE_MAPPED = 2
};
ASHLAR_API enum ashlar_status
ashlar_range_prepare(struct ashlar_range *range, uint64_t total,
                     enum ashlar_range_depth depth);
ASHLAR_API enum ashlar_status
ashlar_range_shrink_to(struct ashlar_range *range, uint64_t total,
                       const struct ashlar_fence *fences, size_t n,
                       struct ashlar_range_result *result);
ASHLAR_API enum ashlar_status
ashlar_range_decommit(struct ashlar_range *range, uint64_t offset,
                      uint64_t bytes, const struct ashlar_fence *fences,
                      size_t n, struct ashlar_range_result *result);
ASHLAR_API enum ashlar_status
ashlar_range_commit(struct ashlar_range *range, uint64_t offset, uint64_t bytes,
                    struct ashlar_range_result *result);
ASHLAR_API enum ashlar_status
ashlar_range_retire_old(struct ashlar_range *range,
                        const struct ashlar_fence *fences, size_t n);
ASHLAR_API enum ashlar_status ashlar_range_allow(struct ashlar_range *range,
                                                 uint32_t location,
                                                 enum ashlar_rights rights);
struct ashlar_range_info {
    size_t size;
    struct ashlar_source *source;
    uint64_t base;
    uint64_t used_bytes;
    uint64_t committed_bytes;
    uint64_t prepared_bytes;
    uint64_t reserved_bytes;
    uint64_t old_bytes;
    uint64_t granule;
    uint64_t chunk_count;
    uint64_t epoch;
    uint64_t grows[4];
};
#define ASHLAR_RANGE_INFO_INIT \
    { \
        sizeof(struct ashlar_range_info), NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
        { \
            0, 0, 0, 0 \
        } \
    }
ASHLAR_API enum ashlar_status
ashlar_range_query(struct ashlar_range *range, struct ashlar_range_info *info);
struct ashlar_range_chunk {
    uint64_t offset;
    uint64_t bytes;
};
ASHLAR_API enum ashlar_status
ashlar_range_chunks(struct ashlar_range *range,
                    struct ashlar_range_chunk *chunks, size_t room,
                    size_t *count_out);
ASHLAR_API struct ashlar_range *ashlar_range_find(uint64_t address);
enum ashlar_range_state {
    ASHLAR_RANGE_RESERVED = 0,
    ASHLAR_RANGE_USABLE = 1,
    ASHLAR_RANGE_AHEAD = 2,
    ASHLAR_RANGE_HOLE = 3,
    ASHLAR_RANGE_OLD = 4
};
struct ashlar_range_place {
    size_t size;
    uint64_t base;
    uint64_t offset;
    uint64_t chunk_offset;
    uint64_t chunk_bytes;
    uint32_t state;
    uint32_t reserved;
};
#define ASHLAR_RANGE_PLACE_INIT \
    { \
        sizeof(struct ashlar_range_place), 0, 0, 0, 0, 0, 0 \
    }
ASHLAR_API enum ashlar_status
ashlar_range_locate(struct ashlar_range *range, uint64_t address,
                    struct ashlar_range_place *place);
ASHLAR_API enum ashlar_status ashlar_source_drain(struct ashlar_source *source,
                                                  uint64_t timeout_ns);
ASHLAR_API uint64_t ashlar_range_set_address_budget(uint64_t bytes);
ASHLAR_END_DECLS
#endif
#ifndef ASHLAR_TYPE_H
#define ASHLAR_TYPE_H 
ASHLAR_BEGIN_DECLS
struct ashlar_type;
ASHLAR_API enum ashlar_status
ashlar_type_register(const char *name, size_t size, size_t alignment,
                     const struct ashlar_type **type_out);
#define ASHLAR_TYPE_ALIGNMENT_MAX ((size_t)1 << 30)
#define ASHLAR_REGISTER(_type,_type_out) \
    ashlar_type_register(#_type, sizeof(_type), ASHLAR_ALIGNOF(_type), \
                         _type_out)
#define ASHLAR_REGISTER_AS(_name,_type,_type_out) \
    ashlar_type_register(_name, sizeof(_type), ASHLAR_ALIGNOF(_type), _type_out)
ASHLAR_API const struct ashlar_type *ashlar_type_find(const char *name);
ASHLAR_API const struct ashlar_type *
ashlar_type_next(const struct ashlar_type *type);
#define ASHLAR_TYPE_BUILT_IN (1u << 0)
#define ASHLAR_TYPE_FROZEN (1u << 1)
#define ASHLAR_TYPE_NOT_OVER_ALIGNED (1u << 2)
struct ashlar_type_info {
    size_t size;
    const char *name;
    const char *aliases;
    const char *source;
    size_t object_size;
    size_t alignment;
    size_t stride;
    size_t cuda12_alignment;
    size_t cuda13_alignment;
    uint32_t flags;
    uint32_t reserved;
};
#define ASHLAR_TYPE_INFO_INIT \
    { \
        sizeof(struct ashlar_type_info), NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0 \
    }
ASHLAR_API enum ashlar_status
ashlar_type_query(const struct ashlar_type *type,
                  struct ashlar_type_info *info);
ASHLAR_END_DECLS
#endif
#ifndef ASHLAR_ARENA_H
#define ASHLAR_ARENA_H 
ASHLAR_BEGIN_DECLS
struct ashlar_arena;
#define ASHLAR_ARENA_ISOLATED (1u << 0)
#define ASHLAR_ARENA_ALIGN_MAX ((size_t)1 << 30)
#define ASHLAR_ARENA_ALIGN_RANGE ((size_t)64)
struct ashlar_arena_options {
    size_t size;
    struct ashlar_source *source;
    struct ashlar_range *range;
    const char *name;
    uint64_t reserve_bytes;
    uint64_t chunk_max_bytes;
    uint32_t flags;
    uint32_t reserved;
};
#define ASHLAR_ARENA_OPTIONS_INIT \
    { \
        sizeof(struct ashlar_arena_options), NULL, NULL, NULL, 0, 0, 0, 0 \
    }
ASHLAR_API enum ashlar_status
ashlar_arena_create(const struct ashlar_arena_options *options,
                    struct ashlar_arena **arena_out);
#define ASHLAR_ARENA_FORCE (1u << 0)
ASHLAR_API enum ashlar_status ashlar_arena_destroy(struct ashlar_arena *arena,
                                                   uint32_t flags);
ASHLAR_API void *ashlar_arena_alloc(struct ashlar_arena *arena, size_t size,
                                    size_t alignment) ASHLAR_MALLOC
    ASHLAR_ALLOC_SIZE(2) ASHLAR_MUST_USE ASHLAR_NO_PLT;
ASHLAR_API void *ashlar_arena_calloc(struct ashlar_arena *arena, size_t size,
                                     size_t alignment) ASHLAR_MALLOC
    ASHLAR_ALLOC_SIZE(2) ASHLAR_MUST_USE;
ASHLAR_API void *ashlar_arena_alloc_type(struct ashlar_arena *arena,
                                         const struct ashlar_type *type,
                                         size_t n) ASHLAR_MUST_USE;
ASHLAR_API enum ashlar_status ashlar_arena_free(struct ashlar_arena *arena,
                                                void *block) ASHLAR_NO_PLT;
ASHLAR_API enum ashlar_status
ashlar_arena_free_sized(struct ashlar_arena *arena, void *block, size_t size,
                        size_t alignment) ASHLAR_NO_PLT;
ASHLAR_API enum ashlar_status
ashlar_arena_free_after(struct ashlar_arena *arena, void *block,
                        const struct ashlar_fence *fences, size_t n);
ASHLAR_API enum ashlar_status ashlar_arena_resize(struct ashlar_arena *arena,
                                                  void *block, size_t size,
                                                  size_t alignment);
ASHLAR_API size_t ashlar_arena_usable(struct ashlar_arena *arena,
                                      const void *block);
ASHLAR_API enum ashlar_status ashlar_arena_trim(struct ashlar_arena *arena,
                                                uint64_t *released_out);
ASHLAR_API enum ashlar_status ashlar_arena_reset(struct ashlar_arena *arena);
enum ashlar_arena_kind {
    ASHLAR_ARENA_KIND_SHARED = 1,
    ASHLAR_ARENA_KIND_ISOLATED = 2,
    ASHLAR_ARENA_KIND_RANGE = 3
};
struct ashlar_arena_stats {
    size_t size;
    uint64_t live_blocks;
    uint64_t waiting_blocks;
    uint64_t refusals;
    uint64_t committed_bytes;
    uint64_t peak_committed_bytes;
    uint64_t reserved_bytes;
    uint64_t commits;
    uint64_t releases;
    uint64_t bookkeeping_bytes;
    uint32_t kind;
    uint32_t reserved;
};
#define ASHLAR_ARENA_STATS_INIT \
    { \
        sizeof(struct ashlar_arena_stats), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 \
    }
ASHLAR_API enum ashlar_status
ashlar_arena_query(struct ashlar_arena *arena,
                   struct ashlar_arena_stats *stats);
struct ashlar_arena_figures {
    size_t size;
    uint64_t allocated_bytes;
    uint64_t active_bytes;
    uint64_t kept_bytes;
    uint64_t record_bytes;
    uint64_t committed_bytes;
};
#define ASHLAR_ARENA_FIGURES_INIT \
    { \
        sizeof(struct ashlar_arena_figures), 0, 0, 0, 0, 0 \
    }
ASHLAR_API enum ashlar_status
ashlar_arena_fragmentation(struct ashlar_arena *arena,
                           struct ashlar_arena_figures *figures);
ASHLAR_API struct ashlar_range *ashlar_arena_range(struct ashlar_arena *arena);
ASHLAR_API const char *ashlar_arena_name(struct ashlar_arena *arena);
ASHLAR_API struct ashlar_arena *ashlar_arena_next(struct ashlar_arena *arena);
ASHLAR_END_DECLS
#endif
#ifndef ASHLAR_BUILD_H
#define ASHLAR_BUILD_H 
ASHLAR_BEGIN_DECLS
ASHLAR_API const char *ashlar_build_info(const char *key);
ASHLAR_END_DECLS
#endif
#ifndef ASHLAR_POOL_H
#define ASHLAR_POOL_H 
ASHLAR_BEGIN_DECLS
struct ashlar_pool;
#define ASHLAR_POOL_UNCHECKED (1u << 0)
#define ASHLAR_POOL_HUGE_PAGES (1u << 1)
#define ASHLAR_POOL_SLOTS_MAX ((size_t)UINT32_MAX)
#define ASHLAR_POOL_CACHE_DEFAULT ((size_t)4096)
#define ASHLAR_POOL_CACHE_DEFAULT_BYTES ((size_t)512 << 10)
#define ASHLAR_POOL_CACHE_MAX ((size_t)65536)
#define ASHLAR_POOL_CACHE_NONE SIZE_MAX
struct ashlar_pool_options {
    size_t size;
    struct ashlar_source *source;
    const char *name;
    size_t initial_slots;
    size_t max_slots;
    size_t cache_slots;
    uint32_t flags;
    uint32_t reserved;
    size_t stride;
};
#define ASHLAR_POOL_OPTIONS_INIT \
    { \
        sizeof(struct ashlar_pool_options), NULL, NULL, 0, 0, 0, 0, 0, 0 \
    }
ASHLAR_API enum ashlar_status
ashlar_pool_create(const struct ashlar_type *type,
                   const struct ashlar_pool_options *options,
                   struct ashlar_pool **pool_out);
#define ASHLAR_POOL_FORCE (1u << 0)
ASHLAR_API enum ashlar_status ashlar_pool_destroy(struct ashlar_pool *pool,
                                                  uint32_t flags);
ASHLAR_API enum ashlar_status ashlar_pool_reserve(struct ashlar_pool *pool,
                                                  size_t n);
ASHLAR_API enum ashlar_status ashlar_pool_reserve_runs(struct ashlar_pool *pool,
                                                       size_t n, size_t count);
ASHLAR_API void *
ashlar_pool_get(struct ashlar_pool *pool) ASHLAR_MUST_USE ASHLAR_NO_PLT;
ASHLAR_API enum ashlar_status ashlar_pool_put(struct ashlar_pool *pool,
                                              void *slot) ASHLAR_NO_PLT;
ASHLAR_API enum ashlar_status ashlar_pool_get_bulk(struct ashlar_pool *pool,
                                                   void **slots_out,
                                                   size_t n) ASHLAR_NO_PLT;
ASHLAR_API enum ashlar_status
ashlar_pool_put_bulk(struct ashlar_pool *pool, void *const *slots, size_t n,
                     size_t *culprit_out) ASHLAR_NO_PLT;
ASHLAR_API enum ashlar_status
ashlar_pool_put_after(struct ashlar_pool *pool, void *const *slots, size_t n,
                      const struct ashlar_fence *fences, size_t m,
                      size_t *culprit_out);
ASHLAR_API struct ashlar_range *ashlar_pool_range(struct ashlar_pool *pool);
ASHLAR_API size_t ashlar_pool_get_up_to(struct ashlar_pool *pool,
                                        void **slots_out,
                                        size_t n) ASHLAR_NO_PLT;
ASHLAR_API void *ashlar_pool_get_run(struct ashlar_pool *pool,
                                     size_t n) ASHLAR_MUST_USE ASHLAR_NO_PLT;
ASHLAR_API enum ashlar_status ashlar_pool_put_run(struct ashlar_pool *pool,
                                                  void *run,
                                                  size_t n) ASHLAR_NO_PLT;
ASHLAR_API int ashlar_pool_owns(struct ashlar_pool *pool, const void *address);
ASHLAR_API enum ashlar_status ashlar_pool_index(struct ashlar_pool *pool,
                                                const void *address,
                                                size_t *index_out);
ASHLAR_API void *ashlar_pool_at(struct ashlar_pool *pool, size_t index);
typedef int ashlar_pool_live_fn(void *first, size_t n, void *user);
ASHLAR_API enum ashlar_status
ashlar_pool_for_each_live(struct ashlar_pool *pool, ashlar_pool_live_fn *fn,
                          void *user);
ASHLAR_API enum ashlar_status ashlar_pool_trim(struct ashlar_pool *pool,
                                               size_t *bytes_out);
ASHLAR_API enum ashlar_status ashlar_pool_detach(struct ashlar_pool *pool);
ASHLAR_API const struct ashlar_type *ashlar_pool_type(struct ashlar_pool *pool);
ASHLAR_API const char *ashlar_pool_name(struct ashlar_pool *pool);
ASHLAR_API struct ashlar_pool *ashlar_pool_find(const char *name);
ASHLAR_API struct ashlar_pool *ashlar_pool_next(struct ashlar_pool *pool);
ASHLAR_END_DECLS
#endif
#ifndef ASHLAR_CACHE_H
#define ASHLAR_CACHE_H 
ASHLAR_BEGIN_DECLS
#define ASHLAR_CACHE_LAYOUT 1u
struct ashlar_cache {
    char *base;
    unsigned char *state;
    size_t stride;
    uint32_t begin;
    uint32_t end;
    uint32_t floor;
    uint32_t reserved;
};
ASHLAR_API enum ashlar_status ashlar_cache_open(struct ashlar_pool *pool,
                                                size_t slots, uint32_t layout,
                                                struct ashlar_cache **cache_out);
ASHLAR_API enum ashlar_status ashlar_cache_close(struct ashlar_cache *cache);
ASHLAR_API void *
ashlar_cache_get_slow(struct ashlar_cache *cache) ASHLAR_NO_PLT;
ASHLAR_API enum ashlar_status ashlar_cache_put_slow(struct ashlar_cache *cache,
                                                    void *slot) ASHLAR_NO_PLT;
ASHLAR_API enum ashlar_status ashlar_cache_get_bulk(struct ashlar_cache *cache,
                                                    void **slots_out,
                                                    size_t n) ASHLAR_NO_PLT;
ASHLAR_API enum ashlar_status
ashlar_cache_put_bulk(struct ashlar_cache *cache, void *const *slots, size_t n,
                      size_t *culprit_out) ASHLAR_NO_PLT;
static inline void *ashlar_cache_get(struct ashlar_cache *cache)
{
    uint32_t begin = cache->begin;
    if (ASHLAR_UNLIKELY(begin == cache->end))
        return ashlar_cache_get_slow(cache);
    if (cache->state != NULL)
        __atomic_store_n(&cache->state[begin], 1, __ATOMIC_RELAXED);
    __atomic_store_n(&cache->begin, begin + 1, __ATOMIC_RELAXED);
    return cache->base + begin * cache->stride;
}
static inline enum ashlar_status ashlar_cache_put(struct ashlar_cache *cache,
                                                  void *slot)
{
    uint32_t front = cache->begin - 1;
    if (ASHLAR_UNLIKELY(cache->begin <= cache->floor ||
                        (char *)slot != cache->base + front * cache->stride))
        return ashlar_cache_put_slow(cache, slot);
    if (cache->state != NULL) {
        if (ASHLAR_UNLIKELY(__atomic_load_n(&cache->state[front],
                                            __ATOMIC_RELAXED) != 1))
            return ashlar_cache_put_slow(cache, slot);
        __atomic_store_n(&cache->state[front], 0, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&cache->begin, front, __ATOMIC_RELAXED);
    return ASHLAR_OK;
}
ASHLAR_END_DECLS
#endif
#ifndef ASHLAR_SHARE_H
#define ASHLAR_SHARE_H 
ASHLAR_BEGIN_DECLS
struct ashlar_range_exported {
    size_t size;
    void *description;
    size_t description_bytes;
    int *fds;
    size_t fd_count;
    uint64_t epoch;
    uint32_t more;
    uint32_t reserved;
};
#define ASHLAR_RANGE_EXPORTED_INIT \
    { \
        sizeof(struct ashlar_range_exported), NULL, 0, NULL, 0, 0, 0, 0 \
    }
#define ASHLAR_EXPORT_FDS_DEFAULT ((size_t)64)
ASHLAR_API enum ashlar_status
ashlar_range_export(struct ashlar_range *range, uint64_t since, size_t fds_max,
                    struct ashlar_range_exported *export_out);
ASHLAR_API void
ashlar_range_export_free(struct ashlar_range_exported *export_made);
ASHLAR_API enum ashlar_status
ashlar_range_import(struct ashlar_source *source, const void *description,
                    size_t description_bytes, const int *fds, size_t fd_count,
                    uint64_t reserve_bytes, struct ashlar_range **range_out);
ASHLAR_API enum ashlar_status
ashlar_range_import_more(struct ashlar_range *range, const void *description,
                         size_t description_bytes, const int *fds,
                         size_t fd_count);
ASHLAR_END_DECLS
#endif
#ifndef ASHLAR_STATS_H
#define ASHLAR_STATS_H 
ASHLAR_BEGIN_DECLS
struct ashlar_pool_stats {
    size_t size;
    size_t live_slots;
    size_t cached_slots;
    size_t free_slots;
    size_t capacity_slots;
    size_t peak_slots;
    size_t max_slots;
    size_t promised_slots;
    size_t live_runs;
    size_t free_runs;
    size_t stride;
    size_t slab_bytes;
    size_t waste_bytes;
    size_t bookkeeping_bytes;
    size_t slabs;
    size_t caches;
    uint64_t source_calls;
    uint64_t store_takes;
    uint64_t store_gives;
    uint64_t refusals;
    uint64_t duplicates;
    size_t waiting_slots;
};
#define ASHLAR_POOL_STATS_INIT \
    { \
        sizeof(struct ashlar_pool_stats), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
            0, 0, 0, 0, 0, 0, 0, 0, 0 \
    }
ASHLAR_API enum ashlar_status
ashlar_pool_query(struct ashlar_pool *pool, struct ashlar_pool_stats *stats);
ASHLAR_API size_t ashlar_report_text(char *buffer, size_t bytes);
ASHLAR_API size_t ashlar_report_json(char *buffer, size_t bytes);
ASHLAR_END_DECLS
#endif
#ifndef ASHLAR_TENSORMAP_H
#define ASHLAR_TENSORMAP_H 
ASHLAR_BEGIN_DECLS
#define ASHLAR_SPEC_INIT \
    { \
        sizeof(struct ashlar_spec), 0, {0, 0, 0, 0, 0}, {0, 0, 0, 0}, \
            {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, {0, 0, 0}, {0, 0, 0}, 0, 0, 0, \
            0, 0, 0, 0, 0, 0, 0 \
    }
ASHLAR_API enum ashlar_status ashlar_spec_pack(struct ashlar_spec *spec);
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
enum ashlar_spec_rule {
    ASHLAR_RULE_KNOWN_VALUE = 1,
    ASHLAR_RULE_RANK_RANGE = 2,
    ASHLAR_RULE_RANK_INTERLEAVE = 3,
    ASHLAR_RULE_ADDRESS_MULTIPLE = 4,
    ASHLAR_RULE_ADDRESS_RANGE = 5,
    ASHLAR_RULE_DIM_RANGE = 6,
    ASHLAR_RULE_DIM_PACKED = 7,
    ASHLAR_RULE_STRIDE_MULTIPLE = 8,
    ASHLAR_RULE_STRIDE_RANGE = 9,
    ASHLAR_RULE_BOX_RANGE = 10,
    ASHLAR_RULE_INNER_MULTIPLE = 11,
    ASHLAR_RULE_INNER_PACKED = 12,
    ASHLAR_RULE_INNER_SWIZZLE = 13,
    ASHLAR_RULE_BOX_MEMORY = 14,
    ASHLAR_RULE_ELEMENT_STRIDE_RANGE = 15,
    ASHLAR_RULE_INTERLEAVE_PACKED = 16,
    ASHLAR_RULE_SWIZZLE_PACKED = 17,
    ASHLAR_RULE_SWIZZLE_WIDE = 18,
    ASHLAR_RULE_CORNER_RANGE = 19,
    ASHLAR_RULE_CORNER_AREA = 20,
    ASHLAR_RULE_CHANNELS_RANGE = 21,
    ASHLAR_RULE_PIXELS_RANGE = 22,
    ASHLAR_RULE_OOB_FLOAT = 23,
    ASHLAR_RULE_CAPABILITY = 24,
    ASHLAR_RULE_ADDRESS_NULL = 101,
    ASHLAR_RULE_ADDRESS_END = 102,
    ASHLAR_RULE_STRIDE_SHORT = 103,
    ASHLAR_RULE_BOX_WIDE = 104,
    ASHLAR_RULE_ELEMENT_STRIDE_IGNORED = 105,
    ASHLAR_RULE_SWIZZLE_INTERLEAVE = 106,
    ASHLAR_RULE_CORNER_WRAP = 107,
    ASHLAR_RULE_CAPABILITY_WIDE = 108
};
enum ashlar_spec_severity { ASHLAR_SPEC_ERROR = 1, ASHLAR_SPEC_WARNING = 2 };
struct ashlar_spec_finding {
    uint32_t rule;
    uint32_t severity;
    uint32_t field;
    uint32_t index;
    uint64_t value;
    uint64_t bound;
    uint64_t right;
    uint32_t cause;
    uint32_t cause_value;
};
#define ASHLAR_SPEC_FINDINGS_MAX ((size_t)64)
ASHLAR_API enum ashlar_status
ashlar_spec_check(const struct ashlar_spec *spec, uint32_t capability,
                  struct ashlar_spec_finding *findings, size_t room,
                  size_t *count_out);
ASHLAR_API size_t ashlar_spec_explain(const struct ashlar_spec_finding *finding,
                                      const char *subject, char *buffer,
                                      size_t bytes);
ASHLAR_API const char *
ashlar_spec_rule_name(enum ashlar_spec_rule rule) ASHLAR_CONST;
ASHLAR_API const char *
ashlar_spec_field_name(enum ashlar_spec_field field) ASHLAR_CONST;
ASHLAR_API const char *ashlar_spec_name(enum ashlar_spec_field field,
                                        uint32_t value) ASHLAR_CONST;
ASHLAR_API const char *ashlar_spec_alias(enum ashlar_spec_field field,
                                         size_t i) ASHLAR_CONST;
ASHLAR_API enum ashlar_status ashlar_spec_value(enum ashlar_spec_field field,
                                                const char *name,
                                                uint32_t *value_out);
ASHLAR_API enum ashlar_status
ashlar_tensormap_encode(struct ashlar_source *source,
                        const struct ashlar_spec *spec, void *map);
ASHLAR_API enum ashlar_status
ashlar_tensormap_rebase(struct ashlar_source *source, void *map,
                        uint64_t address);
ASHLAR_API enum ashlar_status
ashlar_tensormap_encode_many(struct ashlar_source *source,
                             struct ashlar_pool *pool,
                             const struct ashlar_spec *specs, size_t n,
                             void **maps_out, size_t *culprit_out);
struct ashlar_tensormap_batch;
ASHLAR_API enum ashlar_status ashlar_tensormap_batch_create(
    struct ashlar_source *source, struct ashlar_pool *pool,
    const struct ashlar_spec *specs, size_t n, void **maps_out,
    struct ashlar_tensormap_batch **batch_out);
ASHLAR_API enum ashlar_status
ashlar_tensormap_batch_work(struct ashlar_tensormap_batch *batch);
ASHLAR_API enum ashlar_status
ashlar_tensormap_batch_finish(struct ashlar_tensormap_batch *batch,
                              size_t *culprit_out);
ASHLAR_END_DECLS
#endif
#ifndef ASHLAR_TENSORMAP_CACHE_H
#define ASHLAR_TENSORMAP_CACHE_H 
ASHLAR_BEGIN_DECLS
struct ashlar_tensormap_cache;
#define ASHLAR_TENSORMAP_CACHE_SLOTS_MAX ((size_t)1 << 20)
#define ASHLAR_TENSORMAP_CACHE_SLOTS_DEFAULT ((size_t)4096)
struct ashlar_tensormap_cache_options {
    size_t size;
    size_t slots;
    const char *name;
};
#define ASHLAR_TENSORMAP_CACHE_OPTIONS_INIT \
    { \
        sizeof(struct ashlar_tensormap_cache_options), 0, NULL \
    }
ASHLAR_API enum ashlar_status ashlar_tensormap_cache_create(
    struct ashlar_source *source,
    const struct ashlar_tensormap_cache_options *options,
    struct ashlar_tensormap_cache **cache_out);
ASHLAR_API enum ashlar_status
ashlar_tensormap_cache_destroy(struct ashlar_tensormap_cache *cache);
ASHLAR_API enum ashlar_status
ashlar_tensormap_cache_get(struct ashlar_tensormap_cache *cache,
                           const struct ashlar_spec *spec, uint64_t context,
                           const void **map_out);
ASHLAR_API enum ashlar_status
ashlar_tensormap_cache_put(struct ashlar_tensormap_cache *cache,
                           const void *map);
ASHLAR_API enum ashlar_status
ashlar_tensormap_cache_invalidate(struct ashlar_tensormap_cache *cache,
                                  uint64_t address, uint64_t bytes,
                                  size_t *dropped_out);
struct ashlar_tensormap_cache_stats {
    size_t size;
    uint64_t slots;
    uint64_t maps;
    uint64_t held;
    uint64_t hits;
    uint64_t misses;
    uint64_t waits;
    uint64_t evictions;
    uint64_t invalidations;
    uint64_t refusals;
};
#define ASHLAR_TENSORMAP_CACHE_STATS_INIT \
    { \
        sizeof(struct ashlar_tensormap_cache_stats), 0, 0, 0, 0, 0, 0, 0, 0, 0 \
    }
ASHLAR_API enum ashlar_status
ashlar_tensormap_cache_query(struct ashlar_tensormap_cache *cache,
                             struct ashlar_tensormap_cache_stats *stats);
ASHLAR_END_DECLS
#endif
#ifndef ASHLAR_TENSORMAP_TABLE_H
#define ASHLAR_TENSORMAP_TABLE_H 
ASHLAR_BEGIN_DECLS
struct ashlar_tensormap_table;
#define ASHLAR_TENSORMAP_TABLE_SLOTS_MAX ((size_t)1 << 22)
#define ASHLAR_TENSORMAP_TABLE_SLOTS_DEFAULT ((size_t)1 << 16)
#define ASHLAR_TENSORMAP_TABLE_STAGING_DEFAULT ((size_t)2048)
struct ashlar_tensormap_handle {
    uint32_t index;
    uint32_t generation;
};
struct ashlar_tensormap_table_options {
    size_t size;
    size_t max_slots;
    size_t initial_slots;
    size_t staging_slots;
    struct ashlar_source *host;
};
#define ASHLAR_TENSORMAP_TABLE_OPTIONS_INIT \
    { \
        sizeof(struct ashlar_tensormap_table_options), 0, 0, 0, NULL \
    }
ASHLAR_API enum ashlar_status ashlar_tensormap_table_create(
    struct ashlar_source *source,
    const struct ashlar_tensormap_table_options *options,
    struct ashlar_tensormap_table **table_out);
ASHLAR_API enum ashlar_status
ashlar_tensormap_table_destroy(struct ashlar_tensormap_table *table,
                               const struct ashlar_fence *fences, size_t n);
ASHLAR_API enum ashlar_status
ashlar_tensormap_table_reserve(struct ashlar_tensormap_table *table, size_t n);
ASHLAR_API enum ashlar_status
ashlar_tensormap_table_lease(struct ashlar_tensormap_table *table, size_t n,
                             struct ashlar_tensormap_handle *handles_out);
ASHLAR_API enum ashlar_status
ashlar_tensormap_table_lease_run(struct ashlar_tensormap_table *table, size_t n,
                                 struct ashlar_tensormap_handle *handles_out);
enum ashlar_tensormap_state {
    ASHLAR_TENSORMAP_EMPTY = 1,
    ASHLAR_TENSORMAP_ENCODED = 2,
    ASHLAR_TENSORMAP_PUBLISHED = 3,
    ASHLAR_TENSORMAP_IN_HAND = 4
};
struct ashlar_tensormap_slot {
    size_t size;
    const void *map;
    uint64_t address;
    uint32_t state;
    uint32_t fresh;
};
#define ASHLAR_TENSORMAP_SLOT_INIT \
    { \
        sizeof(struct ashlar_tensormap_slot), NULL, 0, 0, 0 \
    }
ASHLAR_API enum ashlar_status
ashlar_tensormap_table_look(struct ashlar_tensormap_table *table,
                            struct ashlar_tensormap_handle handle,
                            struct ashlar_tensormap_slot *slot);
ASHLAR_API const void *
ashlar_tensormap_table_map(struct ashlar_tensormap_table *table,
                           struct ashlar_tensormap_handle handle);
ASHLAR_API enum ashlar_status
ashlar_tensormap_table_encode(struct ashlar_tensormap_table *table,
                              struct ashlar_tensormap_handle handle,
                              const struct ashlar_spec *spec);
ASHLAR_API enum ashlar_status ashlar_tensormap_table_encode_many(
    struct ashlar_tensormap_table *table,
    const struct ashlar_tensormap_handle *handles,
    const struct ashlar_spec *specs, size_t n, size_t *culprit_out);
ASHLAR_API enum ashlar_status
ashlar_tensormap_table_fill(struct ashlar_tensormap_table *table,
                            struct ashlar_tensormap_handle handle,
                            const void *map);
ASHLAR_API enum ashlar_status
ashlar_tensormap_table_publish(struct ashlar_tensormap_table *table,
                               const struct ashlar_tensormap_handle *handles,
                               size_t n, uint64_t stream);
ASHLAR_API enum ashlar_status
ashlar_tensormap_table_rewrite(struct ashlar_tensormap_table *table,
                               struct ashlar_tensormap_handle handle,
                               const void *map, uint64_t stream);
ASHLAR_API enum ashlar_status
ashlar_tensormap_table_retire(struct ashlar_tensormap_table *table,
                              const struct ashlar_tensormap_handle *handles,
                              size_t n, const struct ashlar_fence *fences,
                              size_t fence_count);
struct ashlar_tensormap_table_info {
    size_t size;
    struct ashlar_source *source;
    uint64_t base;
    uint64_t max_slots;
    uint64_t slots;
    uint64_t leased;
    uint64_t waiting;
    uint64_t in_graphs;
    uint64_t staging_slots;
    uint64_t staging_used;
    uint64_t publishes;
    uint64_t published_slots;
    uint64_t rewrites;
    uint64_t copies;
    uint64_t scatters;
    uint64_t staging_full;
    uint64_t grows;
    uint64_t device_bytes;
    uint64_t host_bytes;
    uint32_t scatters_by_kernel;
    uint32_t host_is_reached;
};
#define ASHLAR_TENSORMAP_TABLE_INFO_INIT \
    { \
        sizeof(struct ashlar_tensormap_table_info), NULL, 0, 0, 0, 0, 0, 0, 0, \
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 \
    }
ASHLAR_API enum ashlar_status
ashlar_tensormap_table_query(struct ashlar_tensormap_table *table,
                             struct ashlar_tensormap_table_info *info);
ASHLAR_END_DECLS
#endif
#ifndef ASHLAR_VERSION_H
#define ASHLAR_VERSION_H 
#define ASHLAR_VERSION_MAJOR 0
#define ASHLAR_VERSION_MINOR 1
#define ASHLAR_VERSION_PATCH 0
#define ASHLAR_VERSION_STRING "0.1.0"
#define ASHLAR_VERSION \
    ((ASHLAR_VERSION_MAJOR << 16) | (ASHLAR_VERSION_MINOR << 8) | \
     ASHLAR_VERSION_PATCH)
ASHLAR_BEGIN_DECLS
ASHLAR_API uint32_t ashlar_version(void) ASHLAR_CONST;
ASHLAR_API const char *ashlar_version_string(void) ASHLAR_CONST;
ASHLAR_END_DECLS
#endif
#ifndef ASHLAR_VM_H
#define ASHLAR_VM_H 
ASHLAR_BEGIN_DECLS
#define ASHLAR_VM_LOCATIONS 8u
ASHLAR_API enum ashlar_status ashlar_vm_hold(struct ashlar_source *source,
                                             uint64_t stream);
ASHLAR_API enum ashlar_status ashlar_vm_finish(struct ashlar_source *source,
                                               uint64_t stream);
ASHLAR_API enum ashlar_status ashlar_vm_rights(struct ashlar_source *source,
                                               uint64_t address,
                                               uint32_t location,
                                               uint32_t *rights_out);
enum ashlar_vm_huge {
    ASHLAR_VM_HUGE_OFF = 0,
    ASHLAR_VM_HUGE_ALLOWED = 1,
    ASHLAR_VM_HUGE_DENIED = 2,
    ASHLAR_VM_HUGE_UNKNOWN = 3
};
struct ashlar_vm_account {
    size_t size;
    uint64_t reservations;
    uint64_t reserved_bytes;
    uint64_t chunks;
    uint64_t chunk_bytes;
    uint64_t mappings;
    uint64_t mapped_bytes;
    uint64_t fences;
    uint64_t files;
    uint64_t huge_page_bytes;
    uint64_t huge_bytes;
    uint32_t huge;
    uint32_t reserved;
};
#define ASHLAR_VM_ACCOUNT_INIT \
    { \
        sizeof(struct ashlar_vm_account), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 \
    }
ASHLAR_API enum ashlar_status
ashlar_vm_query(struct ashlar_source *source,
                struct ashlar_vm_account *account);
ASHLAR_END_DECLS
#endif
#ifndef ASHLAR_H
#define ASHLAR_H 
#endif
