/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "modules.h"

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "must.h"

struct search {
    uintptr_t address; /* or 0 */
    const char *word;  /* or NULL */
    struct module found;
};

static bool holds(const struct dl_phdr_info *info, uintptr_t address)
{
    int i;

    for (i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + header->p_vaddr;

        if (header->p_type == PT_LOAD && address >= start &&
            address - start < header->p_memsz)
            return true;
    }
    return false;
}

static bool is_wanted(const struct dl_phdr_info *info,
                      const struct search *search)
{
    const char *slash = strrchr(info->dlpi_name, '/');

    if (search->word == NULL)
        return holds(info, search->address);
    return strstr(slash != NULL ? slash + 1 : info->dlpi_name, search->word) !=
           NULL;
}

static bool has_static_tls(const ElfW(Dyn) * entry)
{
    for (; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_FLAGS)
            return (entry->d_un.d_val & DF_STATIC_TLS) != 0;
    return false;
}

static int look(struct dl_phdr_info *info, size_t size, void *user)
{
    struct search *search = user;
    struct module *found = &search->found;
    int i;

    (void)size;
    if (!is_wanted(info, search))
        return 0;
    found->path = must_copy(info->dlpi_name);
    found->program = info->dlpi_name[0] == '\0';
    for (i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        const void *start = (const void *)(info->dlpi_addr + header->p_vaddr);

        if (header->p_type == PT_TLS)
            found->tls_bytes = header->p_memsz;
        else if (header->p_type == PT_DYNAMIC)
            found->static_tls = has_static_tls(start);
    }
    return 1;
}

struct module module_of(const void *address)
{
    struct search search = {(uintptr_t)address, NULL, {NULL, false, false, 0}};

    dl_iterate_phdr(look, &search);
    return search.found;
}

bool module_named(const char *word, struct module *module_out)
{
    struct search search = {0, word, {NULL, false, false, 0}};

    if (dl_iterate_phdr(look, &search) == 0)
        return false;
    *module_out = search.found;
    return true;
}

void module_clear(struct module *module)
{
    free(module->path);
    module->path = NULL;
}
