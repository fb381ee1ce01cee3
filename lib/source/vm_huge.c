/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * Huge pages of the vm source: whether the kernel's settings allow them to the
 * memory of files without a name, and how many it has really granted.
 *
 * A wish (MADV_HUGEPAGE) succeeds whether it is granted or not, so that is asked
 * of the kernel afterwards: /proc/self/smaps counts, for each mapping, the bytes
 * that page tables reach by a huge page.
 */
#include "config.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/align.h"
#include "source/vm.h"

#define SETTINGS   "/sys/kernel/mm/transparent_hugepage/"
#define LINE_BYTES 256

/* A small file's text; "" when it cannot be read. */
static void read_text(const char *path, char text[LINE_BYTES])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t bytes = fd < 0 ? 0 : read(fd, text, LINE_BYTES - 1);

    text[bytes > 0 ? bytes : 0] = '\0';
    if (fd >= 0)
        (void)close(fd);
}

/* Whether a word is the one in brackets: "always [advise] never". */
static bool is_set(const char *setting, const char *word)
{
    const char *begin = strchr(setting, '[');
    size_t length = strlen(word);

    return begin != NULL && strncmp(begin + 1, word, length) == 0 &&
           begin[1 + length] == ']';
}

enum ashlar_vm_huge vm_huge_allowed(const char *all, const char *own)
{
    bool inherits = is_set(own, "inherit") || strchr(own, '[') == NULL;

    if (strchr(all, '[') == NULL)
        return ASHLAR_VM_HUGE_UNKNOWN;
    if (is_set(all, "deny") || is_set(inherits ? all : own, "never"))
        return ASHLAR_VM_HUGE_DENIED;
    return ASHLAR_VM_HUGE_ALLOWED;
}

void vm_huge_ask(struct vm *vm)
{
    char path[sizeof(SETTINGS) + 64];
    char all[LINE_BYTES];
    char own[LINE_BYTES];

    read_text(SETTINGS "hpage_pmd_size", own);
    vm->huge_page_bytes = strtoull(own, NULL, 10);
    (void)snprintf(path, sizeof(path), SETTINGS "hugepages-%lukB/shmem_enabled",
                   (unsigned long)vm->huge_page_bytes >> 10);
    read_text(SETTINGS "shmem_enabled", all);
    read_text(path, own);
    vm->huge_state = vm_huge_allowed(all, own);
    /* More than 1: disabled, but for what is advised, as vm's mappings are. */
    if (prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) == 1)
        vm->huge_state = ASHLAR_VM_HUGE_DENIED;
}

/* Whether a line of smaps starts a mapping of this source. */
static bool is_ours(struct vm *vm, const char *line)
{
    uint64_t begin = strtoull(line, NULL, 16);
    bool ours;

    lock_take(&vm->lock);
    ours = vm_is_mapped(vm, begin);
    lock_give(&vm->lock);
    return ours;
}

uint64_t vm_huge_sum(struct vm *vm, FILE *smaps)
{
    static const char counter[] = "ShmemPmdMapped:";
    char line[LINE_BYTES];
    bool at_begin = true;
    bool ours = false;
    uint64_t bytes = 0;

    while (fgets(line, sizeof(line), smaps) != NULL) {
        /* Mappings start with an address, counters with a capital letter. */
        if (at_begin && (line[0] < 'A' || line[0] > 'Z'))
            ours = is_ours(vm, line);
        else if (at_begin && ours &&
                 strncmp(line, counter, sizeof(counter) - 1) == 0)
            bytes += strtoull(line + sizeof(counter) - 1, NULL, 10) << 10;
        at_begin = strchr(line, '\n') != NULL;
    }
    return bytes;
}

bool vm_huge_count(struct vm *vm, uint64_t *bytes_out)
{
    FILE *smaps = fopen("/proc/self/smaps", "re");

    if (smaps == NULL)
        return false;
    *bytes_out = vm_huge_sum(vm, smaps);
    (void)fclose(smaps);
    return true;
}
