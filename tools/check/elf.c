/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "check/elf.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct file {
    const char *bytes;
    size_t size;
};

static bool file_map(const char *path, struct file *file_out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat facts;
    void *bytes = MAP_FAILED;

    if (fd < 0)
        return false;
    if (fstat(fd, &facts) == 0 && facts.st_size > 0)
        bytes =
            mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    (void)close(fd);
    if (bytes == MAP_FAILED)
        return false;
    file_out->bytes = bytes;
    file_out->size = (size_t)facts.st_size;
    return true;
}

/* A part of the file; NULL when it is not all there. */
static const void *part(const struct file *file, uint64_t offset,
                        uint64_t bytes)
{
    if (offset > file->size || bytes > file->size - offset)
        return NULL;
    return file->bytes + offset;
}

static const ElfW(Shdr) * section(const struct file *file, size_t i)
{
    const ElfW(Ehdr) *header = part(file, 0, sizeof(*header));

    if (header == NULL || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        i >= header->e_shnum)
        return NULL;
    return part(file, header->e_shoff + i * sizeof(ElfW(Shdr)),
                sizeof(ElfW(Shdr)));
}

/* The first symbol of a table that is wanted of libashlar; NULL for none. */
static const char *wanted(const struct file *file, const ElfW(Shdr) * table)
{
    const ElfW(Shdr) *strings = section(file, table->sh_link);
    const ElfW(Sym) *symbols = part(file, table->sh_offset, table->sh_size);
    const char *texts = NULL;
    size_t i;

    if (strings != NULL)
        texts = part(file, strings->sh_offset, strings->sh_size);
    if (texts == NULL || symbols == NULL || strings->sh_size == 0 ||
        texts[strings->sh_size - 1] != '\0')
        return NULL;
    for (i = 0; i < table->sh_size / sizeof(*symbols); i++)
        if (symbols[i].st_shndx == SHN_UNDEF &&
            symbols[i].st_name < strings->sh_size &&
            strncmp(texts + symbols[i].st_name, "ashlar_", 7) == 0)
            return texts + symbols[i].st_name;
    return NULL;
}

void elf_check_alone(struct check_report *report, const char *path)
{
    const char *symbol = NULL;
    const ElfW(Shdr) * table;
    bool found = false;
    struct file file;
    size_t i;

    if (!file_map(path, &file)) {
        check_not_tried(report, CHECK_ALONE, "the file cannot be read");
        return;
    }
    for (i = 0; (table = section(&file, i)) != NULL && symbol == NULL; i++) {
        if (table->sh_type != SHT_DYNSYM)
            continue;
        found = true;
        symbol = wanted(&file, table);
    }
    if (found)
        check_that(report, CHECK_ALONE, symbol == NULL,
                   "it calls %s, which is libashlar's; what a plug-in needs "
                   "comes in struct ashlar_host",
                   symbol == NULL ? "" : symbol);
    else
        check_not_tried(report, CHECK_ALONE,
                        "the file has no table of sections");
    (void)munmap((void *)(uintptr_t)file.bytes, file.size);
}
