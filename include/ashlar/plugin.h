/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The plug-in ABI: all that an author of a source needs.
 *
 * A plug-in is a shared object ashlar_NAME.so that exports one constant,
 * ASHLAR_PLUGIN_SYMBOL. It says how to reserve addresses, make memory, map it,
 * copy and fence. When to do which, in what order, and how to undo it, is
 * ashlar's: written once, for every source.
 *
 *     addresses   [ reservation                                ]   space
 *     mapping     [ chunk A ][ chunk B ]                           mappings
 *     memory        chunk A    chunk B    chunk C (prepared)       chunks
 *
 * Rules, which `ashlar check-plugin NAME` tries a plug-in by:
 *   - A member from `block_usable` on is optional, but groups are whole or
 *     absent; ASHLAR_CAN_* says which group a member is of. There is none of
 *     graphs without that of fences.
 *   - Structs grow only at their end. ashlar copies as much of a plug-in's as
 *     both sides know, and never uses the plug-in's own. What ashlar hands to a
 *     plug-in has its size in it: nothing behind that is there to be read, or
 *     to be written.
 *   - A plug-in calls nothing of libashlar but struct ashlar_host.
 *   - Any function may be called from any thread at any time, unless it says
 *     otherwise. None may call back into ashlar, but through the host.
 *   - A function that fails has changed nothing, and has said why through
 *     host->fail(). Outputs are written only on success.
 *   - What was opened, made or reserved is all given back before close() is
 *     called; close() gives back the rest, and so the host has all its memory.
 *   - Addresses are numbers: memory need not be readable by the host. Sizes and
 *     addresses of space, chunks and mappings are multiples of the granule.
 *
 * A plug-in checks what it is given, as a driver does, since a mistake in there
 * costs memory that others use. The functions of ASHLAR_CAN_RANGES refuse with
 * ASHLAR_ERR_INVALID, or a status that says more:
 *   - a size of 0; a size or an address that is no multiple of the granule; an
 *     alignment that is no power of two, a hint that is no multiple of it;
 *   - to release anything but one whole reservation with nothing mapped in it;
 *   - to map a part of a chunk; to map over a mapping, where nothing is
 *     reserved, or beyond the end of a reservation, also into its neighbour;
 *   - to unmap a part of a mapping, or to set rights on a part of one;
 *   - to set rights where nothing is mapped, no rights at all, unknown rights,
 *     or those of a location that is not there.
 * Whatever else is wrong (a chunk that was never made or is destroyed, one that
 * is destroyed while it is mapped, to unmap where nothing is mapped) ashlar does
 * not do, and a plug-in may do with as it likes.
 */
#ifndef ASHLAR_PLUGIN_H
#define ASHLAR_PLUGIN_H

#include <ashlar/export.h>
#include <ashlar/spec.h>
#include <ashlar/status.h>

ASHLAR_BEGIN_DECLS

/** The major version: a change that older sides cannot bear. */
#define ASHLAR_PLUGIN_ABI 1u
/** The name of the constant that a plug-in exports. */
#define ASHLAR_PLUGIN_SYMBOL "ashlar_plugin_v1"

/* What a source can do; ashlar_source_info::can and the groups below. */
/** Blocks of host memory, ready to use. */
#define ASHLAR_CAN_BLOCKS (UINT64_C(1) << 0)
/** Space, chunks and mappings: growable ranges. */
#define ASHLAR_CAN_RANGES (UINT64_C(1) << 1)
/** Copies, ordered on a stream. */
#define ASHLAR_CAN_COPY (UINT64_C(1) << 2)
/** Scattering descriptors, ordered on a stream. */
#define ASHLAR_CAN_SCATTER (UINT64_C(1) << 3)
/** Fences. */
#define ASHLAR_CAN_FENCE (UINT64_C(1) << 4)
/** Encoding tensor maps. */
#define ASHLAR_CAN_ENCODE (UINT64_C(1) << 5)
/** Handing chunks to other processes. */
#define ASHLAR_CAN_EXPORT (UINT64_C(1) << 6)
/** The host may read and write the memory, as the home location may. */
#define ASHLAR_CAN_HOST_ACCESS (UINT64_C(1) << 7)
/** Fences on graphs, and on streams that are being captured into one. */
#define ASHLAR_CAN_GRAPH (UINT64_C(1) << 8)

/** What a location may do with memory. */
enum ashlar_rights {
    ASHLAR_RIGHTS_NONE = 0,
    ASHLAR_RIGHTS_READ = 1,
    ASHLAR_RIGHTS_READ_WRITE = 3
};

/** Rights of one location: a device, a NUMA node, this process. */
struct ashlar_access {
    /** A number of the source's: see its documentation. */
    uint32_t location;
    /** enum ashlar_rights. */
    uint32_t rights;
};

/** One "key=value" of ashlar_source_open(). */
struct ashlar_plugin_option {
    const char *key;
    const char *value;
};

/** The most rights that a source names for its ranges to start with. */
#define ASHLAR_PLUGIN_ACCESS_MOST 16

/** What a source tells of itself when it is opened. */
struct ashlar_plugin_info {
    /** sizeof(struct ashlar_plugin_info), set by ashlar. */
    size_t size;
    /** ASHLAR_CAN_HOST_ACCESS, and the groups that work here. */
    uint64_t can;
    /** Bytes; a power of two. What ranges are mapped in. */
    size_t granule;
    /** Bytes of memory that chunks can be made of; 0: unknown. */
    uint64_t memory_bytes;
    /** Locations are 0 to location_count - 1. */
    uint32_t location_count;
    /** The location that has access to a fresh mapping's memory by default. */
    uint32_t home_location;
    /** Sixteen bytes that name the device; the same in every process. */
    uint8_t identity[16];
    /** A few words, such as "NVIDIA H200". */
    char description[64];
    /** Rights beside home's that each range has unless its options differ. */
    struct ashlar_access access[ASHLAR_PLUGIN_ACCESS_MOST];
    /** How many of them there are. */
    uint32_t access_count;
    /** As ashlar_spec_check() takes it; 0: none, or not known. */
    uint32_t capability;
};

/** What ashlar offers a plug-in. Constant, for the life of the process. */
struct ashlar_host {
    /** ASHLAR_PLUGIN_ABI of the library. */
    uint32_t abi;
    /** sizeof(struct ashlar_host) of the library; it grows at its end. */
    uint32_t struct_size;
    /**
     * Set the thread's last error and return its status: a sentence with the
     * values, what would be right, and a driver's call, name and number.
     *
     * @param status  One of ASHLAR_ERR_*.
     * @param format  A constant of printf(3), with up to eight of the
     *                directives %s %c %p, and %d %u %x with no length or z, l,
     *                ll; and %%. Strings are copied.
     */
    enum ashlar_status (*fail)(enum ashlar_status status, const char *format,
                               ...) ASHLAR_FORMAT(2, 3);
    /** Say a line to the log callback. */
    void (*log)(enum ashlar_log_level level, const char *format, ...)
        ASHLAR_FORMAT(2, 3);
    /** Memory for the plug-in's records, zeroed; NULL: none left. */
    void *(*alloc)(size_t bytes);
    /** Give it back; NULL is ignored. */
    void (*free)(void *block);
};

/** What a chunk is made for. */
struct ashlar_chunk_request {
    /** sizeof(struct ashlar_chunk_request), set by ashlar. */
    size_t size;
    /** Bytes. */
    uint64_t bytes;
    /**
     * Not 0: chunk_export() may be asked of it. Chunks of one group go to the
     * same processes, and may share a descriptor; those of others must not.
     */
    uint64_t export_group;
};

/** A plug-in. See the rules above. */
struct ashlar_plugin {
    /** ASHLAR_PLUGIN_ABI; first for ever. */
    uint32_t abi;
    /** sizeof(struct ashlar_plugin) of whoever built it. */
    uint32_t struct_size;
    /** [a-z0-9_]+, as in the file's name. */
    const char *name;
    /** The plug-in's own version. */
    const char *version;

    /* --- required --------------------------------------------------------- */

    /**
     * Open a source. Unknown keys and bad values are ASHLAR_ERR_INVALID. May
     * be called again while others are open.
     *
     * @param host       Lives as long as the process.
     * @param options    Borrowed for the call.
     * @param info       Zeroed but for size; to be filled in.
     * @param state_out  Handed to every other function.
     */
    enum ashlar_status (*open)(const struct ashlar_host *host,
                               const struct ashlar_plugin_option *options,
                               size_t option_count,
                               struct ashlar_plugin_info *info,
                               void **state_out);
    /**
     * Close it; nothing of it is in use any more. May wait for the device's
     * work, as "cuda" does where it loaded a kernel: a driver that unloads one
     * waits for all work of its context.
     */
    void (*close)(void *state);

    /* --- ASHLAR_CAN_BLOCKS ------------------------------------------------- */

    /**
     * What block_alloc() can as well be asked for instead of so many bytes,
     * since it would give as much: that many or more. 0: it has no such block.
     */
    size_t (*block_usable)(void *state, size_t bytes, size_t alignment);
    /** Host memory at a multiple of alignment; NULL: none left, no error set. */
    void *(*block_alloc)(void *state, size_t bytes, size_t alignment);
    void (*block_free)(void *state, void *block, size_t bytes,
                       size_t alignment);
    /** Give whole pages of a block back; they read as zero then. */
    void (*block_purge)(void *state, void *address, size_t bytes);
    /** Ask for huge pages under a block; a wish. */
    void (*block_prefer_huge)(void *state, void *block, size_t bytes);

    /* --- ASHLAR_CAN_RANGES ------------------------------------------------- */

    /**
     * Reserve addresses.
     *
     * @param alignment    Bytes, a power of two, the granule at least.
     * @param hint         Where the caller would like them; 0: anywhere. A
     *                     hint that is not free may be refused with an error,
     *                     or granted elsewhere.
     * @param address_out  What was granted; written only on success.
     *
     * @return ASHLAR_ERR_NO_ADDRESS_SPACE when there are no such addresses.
     */
    enum ashlar_status (*reserve)(void *state, uint64_t bytes,
                                  uint64_t alignment, uint64_t hint,
                                  uint64_t *address_out);
    /** Release exactly one reservation, in which nothing is mapped. */
    enum ashlar_status (*release)(void *state, uint64_t address,
                                  uint64_t bytes);

    /**
     * Make a chunk of memory, mapped nowhere.
     *
     * @return ASHLAR_ERR_NO_DEVICE_MEMORY when there is no such memory.
     */
    enum ashlar_status (*chunk_create)(
        void *state, const struct ashlar_chunk_request *request,
        uint64_t *chunk_out);
    /** Destroy a chunk, which is mapped nowhere. */
    enum ashlar_status (*chunk_destroy)(void *state, uint64_t chunk,
                                        uint64_t bytes);

    /**
     * Map a whole chunk at reserved addresses where nothing is mapped. A chunk
     * may be mapped in several places, and shows the same bytes in each. Nobody
     * has access yet.
     */
    enum ashlar_status (*map)(void *state, uint64_t address, uint64_t chunk,
                              uint64_t bytes);
    /**
     * Unmap one or several whole neighbouring mappings, also of neighbouring
     * reservations. Waits for nothing. The chunks keep what they hold.
     */
    enum ashlar_status (*unmap)(void *state, uint64_t address, uint64_t bytes);
    /**
     * Set rights on one or several whole neighbouring mappings, also of
     * neighbouring reservations. Locations that are not named keep theirs.
     */
    enum ashlar_status (*allow)(void *state, uint64_t address, uint64_t bytes,
                                const struct ashlar_access *access,
                                size_t access_count);

    /* --- ASHLAR_CAN_COPY --------------------------------------------------- */

    /**
     * Copy bytes from one address to another, either of which may be the
     * host's, in the order of a stream's work.
     *
     * @param stream  The source's own; 0 for its default.
     */
    enum ashlar_status (*copy)(void *state, uint64_t to, uint64_t from,
                               uint64_t bytes, uint64_t stream);

    /* --- ASHLAR_CAN_SCATTER ------------------------------------------------ */

    /**
     * Load what scatter() needs, ahead of need. Once is enough, more often does
     * no harm. Disturbs no capture.
     *
     * @return ASHLAR_ERR_UNSUPPORTED when this machine cannot have it; copies do
     *         as well then.
     */
    enum ashlar_status (*scatter_load)(void *state);
    /**
     * Write n descriptors of ASHLAR_TENSOR_MAP_BYTES each from staging to
     * table + index * ASHLAR_TENSOR_MAP_BYTES, in the order of a stream's work.
     * What of it a stream captures is done at each replay, with what is in
     * staging then. Kernels that come later on the stream find the descriptors
     * by an acquire, such as PTX's fence.proxy.tensormap::generic.acquire.
     *
     * @param table    At a multiple of ASHLAR_TENSOR_MAP_BYTES.
     * @param staging  Where the descriptors are, side by side, at a multiple of
     *                 16; and
     * @param indices  where n uint32_t are, none of them twice. Both readable by
     *                 the device until the work is done.
     *
     * @return ASHLAR_ERR_CAPTURE when the stream is being captured, and what it
     *         takes is not loaded where it runs.
     */
    enum ashlar_status (*scatter)(void *state, uint64_t table, uint64_t staging,
                                  uint64_t indices, uint32_t count,
                                  uint64_t stream);

    /* --- ASHLAR_CAN_FENCE -------------------------------------------------- */

    /**
     * Make a fence that passes when the work queued on a stream so far is
     * done. Makes nothing else wait, and disturbs no capture.
     *
     * @return ASHLAR_ERR_CAPTURE when the stream is being captured.
     */
    enum ashlar_status (*fence_record)(void *state, uint64_t stream,
                                       uint64_t *fence_out);
    /**
     * A fence that passes when an event of the caller's has; the event stays
     * the caller's, who keeps it until then. No event has the number 0.
     */
    enum ashlar_status (*fence_event)(void *state, uint64_t event,
                                      uint64_t *fence_out);
    /**
     * Whether it has passed: ASHLAR_OK; ASHLAR_ERR_BUSY when not, and then no
     * error is set; ASHLAR_ERR_CONTEXT_FAILED when it never will.
     */
    enum ashlar_status (*fence_query)(void *state, uint64_t fence);
    /** Done with it, whether it has passed or not. */
    void (*fence_drop)(void *state, uint64_t fence);

    /* --- ASHLAR_CAN_ENCODE ------------------------------------------------- */

    /**
     * Encode one tensor map into ASHLAR_TENSOR_MAP_BYTES of host memory, at a
     * multiple of as many. Drivers write there before they refuse, so what is
     * there after a failure is of no meaning: here, and below.
     *
     * @param spec  Whole, with its size.
     *
     * @return ASHLAR_ERR_INVALID when the encoder refuses the spec, and for
     *         nothing else: the sentence is then ashlar's.
     */
    enum ashlar_status (*encode)(void *state, const struct ashlar_spec *spec,
                                 void *map_out);
    /**
     * Encode many, in order, until one is refused.
     *
     * @param specs     All of one size.
     * @param step      Bytes from one to the next.
     * @param maps      Where each is to be, as for encode(). Those behind the
     *                  one that is refused stay as they are.
     * @param n         How many, 1 or more.
     * @param done_out  Receives how many were encoded: n, or the index of what
     *                  was refused; written also on failure.
     *
     * @return As encode() of the one that is refused.
     */
    enum ashlar_status (*encode_many)(void *state,
                                      const struct ashlar_spec *specs,
                                      size_t step, void *const *maps, size_t n,
                                      size_t *done_out);
    /**
     * Give an encoded map another address: the same bytes as encoding anew. Of
     * specs that differ in no more than their addresses, encode() or
     * encode_many() see one, and the others' maps are copies of its, rebased. The
     * address is a multiple of 32 then, not 0, and below 2^57; where it is refused
     * as ASHLAR_ERR_INVALID, encode() is asked.
     */
    enum ashlar_status (*encode_rebase)(void *state, void *map,
                                        uint64_t address);

    /* --- ASHLAR_CAN_EXPORT ------------------------------------------------- */

    /**
     * A file descriptor that stands for a chunk in another process; the
     * caller's to close, and closed by exec. The chunk was made for export, and
     * not imported.
     *
     * @param offset_out  Where in it the chunk starts, for chunk_import().
     */
    enum ashlar_status (*chunk_export)(void *state, uint64_t chunk,
                                       uint64_t bytes, int *fd_out,
                                       uint64_t *offset_out);
    /** The chunk that a descriptor stands for; the caller keeps the latter. */
    enum ashlar_status (*chunk_import)(void *state, int fd, uint64_t offset,
                                       uint64_t bytes, uint64_t *chunk_out);

    /* --- ASHLAR_CAN_GRAPH, which needs ASHLAR_CAN_FENCE --------------------- */

    /**
     * A fence that passes when the graph that a stream is being captured into,
     * and every executable graph that is made of it, are gone; perhaps a little
     * later. It is queried and dropped like any other, and may be dropped, and
     * the source closed, while the graph is still there.
     *
     * @return ASHLAR_ERR_INVALID when the stream is not being captured;
     *         ASHLAR_ERR_CAPTURE when its capture was spoilt, and makes no
     *         graph.
     */
    enum ashlar_status (*fence_capture)(void *state, uint64_t stream,
                                        uint64_t *fence_out);
    /**
     * The same for a graph at hand, and the executable graphs that are made of
     * it from now on. No graph has the number 0.
     */
    enum ashlar_status (*fence_graph)(void *state, uint64_t graph,
                                      uint64_t *fence_out);
};

ASHLAR_END_DECLS

#endif
