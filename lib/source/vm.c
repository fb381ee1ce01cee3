/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * The vm source: POSIX virtual memory, by the rules of a device driver.
 *
 *     reserve  mmap PROT_NONE           release  munmap
 *     chunk    extent of a memfd        map      mmap MAP_FIXED MAP_SHARED
 *     allow    mprotect (location 0)    unmap    mmap PROT_NONE over it
 *
 * Shared, so that a chunk can be mapped twice; not inherited by fork, since a
 * child would share the memory. The records (libc's trees, by address) let it
 * refuse what a driver refuses: to release what is not one reservation, or has
 * something mapped; to map over a mapping; to unmap or allow half of one.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ashlar/vm.h>

#include "base/align.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/memory.h"
#include "base/options.h"
#include "source/source.h"
#include "source/vm_file.h"

#define DEFAULT_GRANULE ((uint64_t)2 << 20)

struct vm_chunk {
    struct vm_file *file;
    uint64_t offset;
    uint64_t bytes;
    uint64_t mappings;
};

/* A stretch of addresses: what the trees are ordered by. First in a record. */
struct vm_span {
    uint64_t address;
    uint64_t bytes;
};

struct vm_space {
    struct vm_span span;
    uint64_t mappings;
};

struct vm_mapping {
    struct vm_span span;
    struct vm_chunk *chunk;
    struct vm_space *space;
    uint8_t rights[ASHLAR_VM_LOCATIONS];
};

struct vm_stream {
    struct vm_stream *next;
    uint64_t stream;
    uint64_t queued;   /* pieces of work queued so far */
    uint64_t finished; /* of those */
};

struct vm_fence {
    struct vm_stream *stream; /* NULL: has passed */
    uint64_t target;
};

struct vm {
    const struct ashlar_host *host;
    struct lock lock; /* all below */
    uint64_t granule;
    uint64_t memory_bytes;
    bool huge;
    struct vm_file *files;
    void *spaces;
    void *mappings;
    struct vm_stream *streams;
    struct ashlar_vm_account account;
};

/* Spans that overlap are equal: a tree holds none that do. */
static int span_compare(const void *a, const void *b)
{
    const struct vm_span *one = a;
    const struct vm_span *other = b;

    if (one->address + one->bytes <= other->address)
        return -1;
    return one->address >= other->address + other->bytes;
}

/* The record that an address lies in; NULL for none. */
static void *span_find(void *const *tree, uint64_t address, uint64_t bytes)
{
    struct vm_span span = {address, bytes};
    void *const *node = tfind(&span, tree, span_compare);

    return node == NULL ? NULL : *node;
}

/* --- options -------------------------------------------------------------- */

/* "2M" as bytes; 0 when it is no such number. */
static uint64_t parse_bytes(const char *text)
{
    static const char units[] = "KMGT";
    const char *unit;
    uint64_t number = 0;
    unsigned shift = 0;

    if (*text < '0' || *text > '9')
        return 0;
    for (; *text >= '0' && *text <= '9'; text++)
        if (__builtin_mul_overflow(number, (uint64_t)10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(*text - '0'), &number))
            return 0;
    if (*text != '\0') {
        unit = strchr(units, *text);
        if (unit == NULL || text[1] != '\0')
            return 0;
        shift = (unsigned)(unit - units + 1) * 10;
    }
    return number > UINT64_MAX >> shift ? 0 : number << shift;
}

static enum ashlar_status read_option(struct vm *vm,
                                      const struct ashlar_plugin_option *option)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint64_t bytes = parse_bytes(option->value);

    if (strcmp(option->key, "granule") == 0) {
        vm->granule = bytes;
        if (bytes >= page && is_power_of_two(bytes) &&
            bytes <= UINT64_C(1) << 40)
            return ASHLAR_OK;
        return vm->host->fail(ASHLAR_ERR_INVALID,
                              "granule is \"%s\"; it must be a power of two "
                              "from %zu, such as 64K or 2M",
                              option->value, page);
    }
    if (strcmp(option->key, "memory") == 0) {
        vm->memory_bytes = bytes;
        if (bytes != 0)
            return ASHLAR_OK;
        return vm->host->fail(ASHLAR_ERR_INVALID,
                              "memory is \"%s\"; it must be bytes, such as "
                              "512M or 4G",
                              option->value);
    }
    if (strcmp(option->key, "huge") == 0) {
        vm->huge = strcmp(option->value, "yes") == 0;
        if (vm->huge || strcmp(option->value, "no") == 0)
            return ASHLAR_OK;
        return vm->host->fail(ASHLAR_ERR_INVALID,
                              "huge is \"%s\"; it must be yes or no",
                              option->value);
    }
    return vm->host->fail(ASHLAR_ERR_INVALID,
                          "the source \"vm\" has no option \"%s\"; it has "
                          "granule, memory and huge",
                          option->key);
}

static enum ashlar_status vm_open(const struct ashlar_host *host,
                                  const struct ashlar_plugin_option *options,
                                  size_t option_count,
                                  struct ashlar_plugin_info *info,
                                  void **state_out)
{
    enum ashlar_status status = ASHLAR_OK;
    struct vm *vm = host->alloc(sizeof(*vm));
    size_t i;

    if (vm == NULL)
        return host->fail(ASHLAR_ERR_NO_MEMORY,
                          "no host memory for a vm source");
    vm->host = host;
    vm->granule = DEFAULT_GRANULE;
    vm->memory_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) *
                       (uint64_t)sysconf(_SC_PAGESIZE);
    lock_init(&vm->lock);
    for (i = 0; i < option_count && status == ASHLAR_OK; i++)
        status = read_option(vm, &options[i]);
    if (status != ASHLAR_OK) {
        host->free(vm);
        return status;
    }
    info->can = ASHLAR_CAN_RANGES | ASHLAR_CAN_COPY | ASHLAR_CAN_FENCE |
                ASHLAR_CAN_EXPORT | ASHLAR_CAN_HOST_ACCESS;
    info->granule = vm->granule;
    info->memory_bytes = vm->memory_bytes;
    info->location_count = ASHLAR_VM_LOCATIONS;
    memcpy(info->identity, "ashlar vm source", sizeof(info->identity));
    strncpy(info->description, "host virtual memory",
            sizeof(info->description) - 1);
    *state_out = vm;
    return ASHLAR_OK;
}

static void vm_close(void *state)
{
    struct vm *vm = state;
    struct vm_stream *stream;

    while (vm->streams != NULL) {
        stream = vm->streams;
        vm->streams = stream->next;
        vm->host->free(stream);
    }
    vm_file_close_all(&vm->files);
    vm->host->free(vm);
}

/* --- space ---------------------------------------------------------------- */

static enum ashlar_status no_records(struct vm *vm)
{
    return vm->host->fail(ASHLAR_ERR_NO_MEMORY,
                          "no host memory for the records of a vm source");
}

/* Reserved addresses, at a multiple of alignment; 0 and errno for none. */
static uint64_t map_nothing(uint64_t bytes, uint64_t alignment, uint64_t hint)
{
    uint64_t more = bytes + alignment - (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t begin;
    uint64_t base;
    void *block;

    if (hint != 0) {
        block = mmap((void *)(uintptr_t)hint, bytes, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
                         MAP_FIXED_NOREPLACE,
                     -1, 0);
        if (block == (void *)(uintptr_t)hint)
            return hint;
        if (block != MAP_FAILED)
            (void)munmap(block, bytes);
    }
    block = mmap(NULL, more, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block == MAP_FAILED)
        return 0;
    begin = (uint64_t)(uintptr_t)block;
    base = align_up(begin, alignment);
    if (base != begin)
        (void)munmap(block, base - begin);
    if (begin + more != base + bytes)
        (void)munmap((void *)(uintptr_t)(base + bytes),
                     begin + more - (base + bytes));
    return base;
}

static enum ashlar_status vm_reserve(void *state, uint64_t bytes,
                                     uint64_t alignment, uint64_t hint,
                                     uint64_t *address_out)
{
    struct vm *vm = state;
    struct vm_space *space;
    uint64_t address = 0;

    if (bytes == 0 || bytes % vm->granule != 0 || !is_power_of_two(alignment) ||
        hint % alignment != 0)
        return vm->host->fail(ASHLAR_ERR_INVALID,
                              "a reservation of %lu bytes at a multiple of %lu "
                              "does not fit the granule of %lu",
                              (unsigned long)bytes, (unsigned long)alignment,
                              (unsigned long)vm->granule);
    space = vm->host->alloc(sizeof(*space));
    if (space == NULL)
        return no_records(vm);
    if (bytes < UINT64_C(1) << 48)
        address = map_nothing(bytes, max_size(alignment, vm->granule), hint);
    if (address == 0) {
        vm->host->free(space);
        return vm->host->fail(ASHLAR_ERR_NO_ADDRESS_SPACE,
                              "mmap() found no %lu bytes of addresses",
                              (unsigned long)bytes);
    }
    space->span = (struct vm_span){address, bytes};
    lock_take(&vm->lock);
    if (tsearch(space, &vm->spaces, span_compare) == NULL) {
        lock_give(&vm->lock);
        (void)munmap((void *)(uintptr_t)address, bytes);
        vm->host->free(space);
        return no_records(vm);
    }
    vm->account.reservations++;
    vm->account.reserved_bytes += bytes;
    lock_give(&vm->lock);
    *address_out = address;
    return ASHLAR_OK;
}

static enum ashlar_status vm_release(void *state, uint64_t address,
                                     uint64_t bytes)
{
    struct vm *vm = state;
    struct vm_space *space;
    bool good;

    lock_take(&vm->lock);
    space = span_find(&vm->spaces, address, 1);
    good = space != NULL && space->span.address == address &&
           space->span.bytes == bytes && space->mappings == 0 &&
           munmap((void *)(uintptr_t)address, bytes) == 0;
    if (good) {
        (void)tdelete(space, &vm->spaces, span_compare);
        vm->account.reservations--;
        vm->account.reserved_bytes -= bytes;
    }
    lock_give(&vm->lock);
    if (!good)
        return vm->host->fail(ASHLAR_ERR_INVALID,
                              "%lu bytes at 0x%lx are not one reservation in "
                              "which nothing is mapped",
                              (unsigned long)bytes, (unsigned long)address);
    vm->host->free(space);
    return ASHLAR_OK;
}

/* --- chunks --------------------------------------------------------------- */

static enum ashlar_status refuse_memory(struct vm *vm, uint64_t bytes, int err)
{
    if (err == EMFILE || err == ENFILE)
        return vm->host->fail(ASHLAR_ERR_LIMIT,
                              "no file descriptor is left for a chunk of %lu "
                              "bytes; raise RLIMIT_NOFILE",
                              (unsigned long)bytes);
    return vm->host->fail(ASHLAR_ERR_NO_DEVICE_MEMORY,
                          "the vm source has no %lu bytes left of its %lu (%s)",
                          (unsigned long)bytes,
                          (unsigned long)vm->memory_bytes,
                          err == 0 ? "option memory" : strerror(err));
}

static enum ashlar_status
vm_chunk_create(void *state, const struct ashlar_chunk_request *request,
                uint64_t *chunk_out)
{
    struct vm *vm = state;
    uint64_t bytes = request->bytes;
    struct vm_chunk *chunk;
    int err = 0;
    bool full;

    if (bytes == 0 || bytes % vm->granule != 0)
        return vm->host->fail(ASHLAR_ERR_INVALID,
                              "a chunk of %lu bytes does not fit the granule "
                              "of %lu",
                              (unsigned long)bytes, (unsigned long)vm->granule);
    chunk = vm->host->alloc(sizeof(*chunk));
    if (chunk == NULL)
        return no_records(vm);
    chunk->bytes = bytes;
    lock_take(&vm->lock);
    full = bytes > vm->memory_bytes - vm->account.chunk_bytes;
    if (!full)
        err = vm_file_take(&vm->files, request->export_group, bytes,
                           &chunk->file, &chunk->offset);
    if (!full && err == 0) {
        vm->account.chunks++;
        vm->account.chunk_bytes += bytes;
    }
    lock_give(&vm->lock);
    if (full || err != 0) {
        vm->host->free(chunk);
        return refuse_memory(vm, bytes, err);
    }
    *chunk_out = (uint64_t)(uintptr_t)chunk;
    return ASHLAR_OK;
}

static enum ashlar_status vm_chunk_destroy(void *state, uint64_t handle,
                                           uint64_t bytes)
{
    struct vm *vm = state;
    struct vm_chunk *chunk = (struct vm_chunk *)(uintptr_t)handle;
    bool good;

    lock_take(&vm->lock);
    good = chunk->bytes == bytes && chunk->mappings == 0 &&
           vm_file_give(&vm->files, chunk->file, chunk->offset, bytes) == 0;
    if (good) {
        vm->account.chunks--;
        vm->account.chunk_bytes -= bytes;
    }
    lock_give(&vm->lock);
    if (!good)
        return vm->host->fail(ASHLAR_ERR_INVALID,
                              "a chunk of %lu bytes cannot be destroyed while "
                              "it is mapped",
                              (unsigned long)bytes);
    vm->host->free(chunk);
    return ASHLAR_OK;
}

/* --- mappings ------------------------------------------------------------- */

/* With the lock held: whether nothing is mapped there, in one reservation. */
static struct vm_space *space_for(struct vm *vm, uint64_t address,
                                  uint64_t bytes)
{
    struct vm_space *space = span_find(&vm->spaces, address, 1);

    if (space == NULL ||
        address + bytes > space->span.address + space->span.bytes ||
        span_find(&vm->mappings, address, bytes) != NULL)
        return NULL;
    return space;
}

static bool map_pages(const struct vm *vm, uint64_t address,
                      const struct vm_chunk *chunk)
{
    void *at = (void *)(uintptr_t)address;

    if (mmap(at, chunk->bytes, PROT_NONE, MAP_SHARED | MAP_FIXED,
             chunk->file->fd, (off_t)chunk->offset) == MAP_FAILED)
        return false;
    (void)madvise(at, chunk->bytes, MADV_DONTFORK);
    if (vm->huge)
        (void)madvise(at, chunk->bytes, MADV_HUGEPAGE);
    return true;
}

static enum ashlar_status vm_map(void *state, uint64_t address, uint64_t handle,
                                 uint64_t bytes)
{
    struct vm *vm = state;
    struct vm_chunk *chunk = (struct vm_chunk *)(uintptr_t)handle;
    struct vm_mapping *mapping = vm->host->alloc(sizeof(*mapping));
    enum ashlar_status status = ASHLAR_OK;
    struct vm_space *space;

    if (mapping == NULL)
        return no_records(vm);
    mapping->span = (struct vm_span){address, bytes};
    mapping->chunk = chunk;
    lock_take(&vm->lock);
    space = space_for(vm, address, bytes);
    mapping->space = space;
    if (space == NULL || chunk->bytes != bytes || address % vm->granule != 0)
        status = ASHLAR_ERR_INVALID;
    else if (tsearch(mapping, &vm->mappings, span_compare) == NULL)
        status = ASHLAR_ERR_NO_MEMORY;
    else if (!map_pages(vm, address, chunk)) {
        (void)tdelete(mapping, &vm->mappings, span_compare);
        status = ASHLAR_ERR_NO_MEMORY;
    } else {
        space->mappings++;
        chunk->mappings++;
        vm->account.mappings++;
        vm->account.mapped_bytes += bytes;
    }
    lock_give(&vm->lock);
    if (status == ASHLAR_OK)
        return status;
    vm->host->free(mapping);
    if (status == ASHLAR_ERR_NO_MEMORY)
        return vm->host->fail(status,
                              "the kernel cannot map %lu bytes more; see "
                              "vm.max_map_count",
                              (unsigned long)bytes);
    return vm->host->fail(status,
                          "a chunk cannot be mapped at 0x%lx: it must be whole "
                          "(%lu bytes), inside one reservation, and over "
                          "nothing else",
                          (unsigned long)address, (unsigned long)chunk->bytes);
}

/*
 * With the lock held: whether a stretch is made of whole mappings, each behind
 * the other.
 */
static bool is_whole(struct vm *vm, uint64_t address, uint64_t bytes)
{
    uint64_t end = address + bytes;
    struct vm_mapping *mapping;

    while (address < end) {
        mapping = span_find(&vm->mappings, address, 1);
        if (mapping == NULL || mapping->span.address != address ||
            address + mapping->span.bytes > end)
            return false;
        address += mapping->span.bytes;
    }
    return bytes != 0;
}

static void forget_mapping(struct vm *vm, struct vm_mapping *mapping)
{
    (void)tdelete(mapping, &vm->mappings, span_compare);
    mapping->space->mappings--;
    mapping->chunk->mappings--;
    vm->account.mappings--;
    vm->account.mapped_bytes -= mapping->span.bytes;
    vm->host->free(mapping);
}

static enum ashlar_status vm_unmap(void *state, uint64_t address,
                                   uint64_t bytes)
{
    struct vm *vm = state;
    struct vm_mapping *mapping;
    uint64_t at;
    bool good;

    lock_take(&vm->lock);
    good = is_whole(vm, address, bytes) &&
           mmap((void *)(uintptr_t)address, bytes, PROT_NONE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
                0) != MAP_FAILED;
    for (at = address; good && at < address + bytes;) {
        mapping = span_find(&vm->mappings, at, 1);
        at += mapping->span.bytes;
        forget_mapping(vm, mapping);
    }
    lock_give(&vm->lock);
    if (good)
        return ASHLAR_OK;
    return vm->host->fail(ASHLAR_ERR_INVALID,
                          "%lu bytes at 0x%lx are not whole mappings",
                          (unsigned long)bytes, (unsigned long)address);
}

static int protection_of(uint32_t rights)
{
    switch (rights) {
    case ASHLAR_RIGHTS_READ:
        return PROT_READ;
    case ASHLAR_RIGHTS_READ_WRITE:
        return PROT_READ | PROT_WRITE;
    default:
        return PROT_NONE;
    }
}

/* With the lock held: set rights of one location, pages included. */
static bool allow_one(struct vm *vm, uint64_t address, uint64_t bytes,
                      const struct ashlar_access *access)
{
    struct vm_mapping *mapping;
    uint64_t at;

    if (access->location == 0 &&
        mprotect((void *)(uintptr_t)address, bytes,
                 protection_of(access->rights)) != 0)
        return false;
    for (at = address; at < address + bytes; at += mapping->span.bytes) {
        mapping = span_find(&vm->mappings, at, 1);
        mapping->rights[access->location] = (uint8_t)access->rights;
    }
    return true;
}

static bool access_is_good(const struct ashlar_access *access, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++)
        if (access[i].location >= ASHLAR_VM_LOCATIONS ||
            (access[i].rights != ASHLAR_RIGHTS_NONE &&
             access[i].rights != ASHLAR_RIGHTS_READ &&
             access[i].rights != ASHLAR_RIGHTS_READ_WRITE))
            return false;
    return count != 0;
}

static enum ashlar_status vm_allow(void *state, uint64_t address,
                                   uint64_t bytes,
                                   const struct ashlar_access *access,
                                   size_t access_count)
{
    struct vm *vm = state;
    bool good = access_is_good(access, access_count);
    size_t i;

    lock_take(&vm->lock);
    good = good && is_whole(vm, address, bytes);
    for (i = 0; good && i < access_count; i++)
        good = allow_one(vm, address, bytes, &access[i]);
    lock_give(&vm->lock);
    if (good)
        return ASHLAR_OK;
    return vm->host->fail(ASHLAR_ERR_INVALID,
                          "rights of %zu location(s) cannot be set on %lu "
                          "bytes at 0x%lx: they must be whole mappings, and "
                          "locations below %u",
                          access_count, (unsigned long)bytes,
                          (unsigned long)address, ASHLAR_VM_LOCATIONS);
}

/* --- copy ----------------------------------------------------------------- */

static enum ashlar_status vm_copy(void *state, uint64_t to, uint64_t from,
                                  uint64_t bytes, uint64_t stream)
{
    (void)state, (void)stream;
    memmove((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
    return ASHLAR_OK;
}

/* --- streams and fences --------------------------------------------------- */

/* With the lock held: a stream's record, made when `make` says so. */
static struct vm_stream *stream_of(struct vm *vm, uint64_t number, bool make)
{
    struct vm_stream *stream = vm->streams;

    while (stream != NULL && stream->stream != number)
        stream = stream->next;
    if (stream != NULL || !make)
        return stream;
    stream = vm->host->alloc(sizeof(*stream));
    if (stream != NULL) {
        stream->stream = number;
        stream->next = vm->streams;
        vm->streams = stream;
    }
    return stream;
}

static enum ashlar_status vm_fence_record(void *state, uint64_t number,
                                          uint64_t *fence_out)
{
    struct vm *vm = state;
    struct vm_fence *fence = vm->host->alloc(sizeof(*fence));
    struct vm_stream *stream;

    if (fence == NULL)
        return no_records(vm);
    lock_take(&vm->lock);
    stream = stream_of(vm, number, false);
    if (stream != NULL && stream->finished != stream->queued) {
        fence->stream = stream;
        fence->target = stream->queued;
    }
    vm->account.fences++;
    lock_give(&vm->lock);
    *fence_out = (uint64_t)(uintptr_t)fence;
    return ASHLAR_OK;
}

static enum ashlar_status vm_fence_query(void *state, uint64_t handle)
{
    struct vm *vm = state;
    struct vm_fence *fence = (struct vm_fence *)(uintptr_t)handle;
    bool passed;

    lock_take(&vm->lock);
    passed = fence->stream == NULL || fence->stream->finished >= fence->target;
    lock_give(&vm->lock);
    return passed ? ASHLAR_OK : ASHLAR_ERR_BUSY;
}

static void vm_fence_drop(void *state, uint64_t handle)
{
    struct vm *vm = state;

    lock_take(&vm->lock);
    vm->account.fences--;
    lock_give(&vm->lock);
    vm->host->free((void *)(uintptr_t)handle);
}

/* --- export --------------------------------------------------------------- */

static enum ashlar_status vm_chunk_export(void *state, uint64_t handle,
                                          uint64_t bytes, int *fd_out,
                                          uint64_t *offset_out)
{
    struct vm *vm = state;
    const struct vm_chunk *chunk = (const struct vm_chunk *)(uintptr_t)handle;
    int fd;

    (void)bytes;
    if (chunk->file->group == 0)
        return vm->host->fail(ASHLAR_ERR_UNSUPPORTED,
                              "the chunk was not made for export");
    fd = fcntl(chunk->file->fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return vm->host->fail(ASHLAR_ERR_LIMIT,
                              "no file descriptor is left to export a chunk; "
                              "raise RLIMIT_NOFILE");
    *fd_out = fd;
    *offset_out = chunk->offset;
    return ASHLAR_OK;
}

static enum ashlar_status vm_chunk_import(void *state, int fd, uint64_t offset,
                                          uint64_t bytes, uint64_t *chunk_out)
{
    struct vm *vm = state;
    struct vm_chunk *chunk;
    struct stat facts;
    int err;

    if (fstat(fd, &facts) != 0 || offset % vm->granule != 0 ||
        bytes % vm->granule != 0 || bytes == 0 ||
        offset > (uint64_t)facts.st_size ||
        bytes > (uint64_t)facts.st_size - offset)
        return vm->host->fail(ASHLAR_ERR_INVALID,
                              "file descriptor %d is no vm file with %lu bytes "
                              "at %lu",
                              fd, (unsigned long)bytes, (unsigned long)offset);
    chunk = vm->host->alloc(sizeof(*chunk));
    if (chunk == NULL)
        return no_records(vm);
    chunk->offset = offset;
    chunk->bytes = bytes;
    lock_take(&vm->lock);
    err = vm_file_adopt(&vm->files, fd, &chunk->file);
    if (err == 0) {
        vm->account.chunks++;
        vm->account.chunk_bytes += bytes;
    }
    lock_give(&vm->lock);
    if (err != 0) {
        vm->host->free(chunk);
        return refuse_memory(vm, bytes, err);
    }
    *chunk_out = (uint64_t)(uintptr_t)chunk;
    return ASHLAR_OK;
}

const struct ashlar_plugin vm_plugin = {
    .abi = ASHLAR_PLUGIN_ABI,
    .struct_size = sizeof(struct ashlar_plugin),
    .name = "vm",
    .version = PACKAGE_VERSION,
    .open = vm_open,
    .close = vm_close,
    .reserve = vm_reserve,
    .release = vm_release,
    .chunk_create = vm_chunk_create,
    .chunk_destroy = vm_chunk_destroy,
    .map = vm_map,
    .unmap = vm_unmap,
    .allow = vm_allow,
    .copy = vm_copy,
    .fence_record = vm_fence_record,
    .fence_event = vm_fence_record, /* an event is a stream's number */
    .fence_query = vm_fence_query,
    .fence_drop = vm_fence_drop,
    .chunk_export = vm_chunk_export,
    .chunk_import = vm_chunk_import,
};
