/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* The vm source: its options, its opening, its table of operations. */
#include "config.h"

#include <string.h>
#include <unistd.h>

#include "base/align.h"
#include "source/source.h"
#include "source/vm.h"

#define DEFAULT_GRANULE ((uint64_t)2 << 20)

enum ashlar_status vm_no_records(struct vm *vm)
{
    return vm->host->fail(ASHLAR_ERR_NO_MEMORY,
                          "no host memory for the records of a vm source");
}

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

/* What was asked for must fit together; then ask what the kernel grants. */
static enum ashlar_status start_huge(struct vm *vm)
{
    if (!vm->huge)
        return ASHLAR_OK;
    vm_huge_ask(vm);
    if (vm->granule < vm->huge_page_bytes)
        return vm->host->fail(ASHLAR_ERR_INVALID,
                              "huge=yes needs a granule of %lu or more, which "
                              "is a huge page here; it is %lu",
                              (unsigned long)vm->huge_page_bytes,
                              (unsigned long)vm->granule);
    if (vm->huge_state == ASHLAR_VM_HUGE_DENIED)
        vm->host->log(ASHLAR_LOG_WARNING,
                      "huge=yes has no effect on \"vm\": the kernel denies "
                      "huge pages to shared memory; see "
                      "/sys/kernel/mm/transparent_hugepage/shmem_enabled");
    return ASHLAR_OK;
}

static const char *describe(const struct vm *vm)
{
    switch (vm->huge_state) {
    case ASHLAR_VM_HUGE_OFF:
        break;
    case ASHLAR_VM_HUGE_ALLOWED:
        return "host virtual memory, in huge pages where granted";
    case ASHLAR_VM_HUGE_DENIED:
        return "host virtual memory, huge pages denied by the kernel";
    case ASHLAR_VM_HUGE_UNKNOWN:
        return "host virtual memory, huge pages wished for";
    }
    return "host virtual memory";
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
    vm->memory_bytes =
        (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    lock_init(&vm->lock);
    for (i = 0; i < option_count && status == ASHLAR_OK; i++)
        status = read_option(vm, &options[i]);
    if (status == ASHLAR_OK)
        status = start_huge(vm);
    if (status != ASHLAR_OK) {
        host->free(vm);
        return status;
    }
    info->can = ASHLAR_CAN_RANGES | ASHLAR_CAN_COPY | ASHLAR_CAN_SCATTER |
                ASHLAR_CAN_FENCE | ASHLAR_CAN_EXPORT | ASHLAR_CAN_HOST_ACCESS |
                ASHLAR_CAN_GRAPH;
    info->granule = vm->granule;
    info->memory_bytes = vm->memory_bytes;
    info->location_count = ASHLAR_VM_LOCATIONS;
    memcpy(info->identity, "ashlar vm source", sizeof(info->identity));
    strncpy(info->description, describe(vm), sizeof(info->description) - 1);
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

static enum ashlar_status vm_copy(void *state, uint64_t to, uint64_t from,
                                  uint64_t bytes, uint64_t stream)
{
    (void)state, (void)stream;
    memmove((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
    return ASHLAR_OK;
}

static enum ashlar_status vm_scatter_load(void *state)
{
    (void)state;
    return ASHLAR_OK;
}

/* At once, as copies are. */
static enum ashlar_status vm_scatter(void *state, uint64_t table,
                                     uint64_t staging, uint64_t indices,
                                     uint32_t count, uint64_t stream)
{
    const uint32_t *index = (const uint32_t *)(uintptr_t)indices;
    uint32_t i;

    (void)state, (void)stream;
    for (i = 0; i < count; i++)
        memmove((char *)(uintptr_t)table + index[i] * ASHLAR_TENSOR_MAP_BYTES,
                (const char *)(uintptr_t)staging + i * ASHLAR_TENSOR_MAP_BYTES,
                ASHLAR_TENSOR_MAP_BYTES);
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
    .scatter_load = vm_scatter_load,
    .scatter = vm_scatter,
    .fence_record = vm_fence_record,
    .fence_event = vm_fence_record, /* an event is a stream's number */
    .fence_query = vm_fence_query,
    .fence_drop = vm_fence_drop,
    .chunk_export = vm_chunk_export,
    .chunk_import = vm_chunk_import,
    .fence_capture = vm_fence_record, /* a graph is a stream's number, too */
    .fence_graph = vm_fence_record,
};
