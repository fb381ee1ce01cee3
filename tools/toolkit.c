/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "toolkit.h"

#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "must.h"

#define HEADER_MOST ((size_t)16 << 20)

/* A file's text, to be freed; NULL when it cannot be read. */
static char *read_text(FILE *stream)
{
    struct stat status;
    char *text;
    size_t bytes;

    if (fstat(fileno(stream), &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_size < 0 || (size_t)status.st_size > HEADER_MOST)
        return NULL;
    text = must_alloc((size_t)status.st_size + 1, 1);
    bytes = fread(text, 1, (size_t)status.st_size, stream);
    text[bytes] = '\0';
    return text;
}

/* The number behind a word, in a text that ends somewhere behind it. */
static unsigned number_after(const char *text, const char *end,
                             const char *word)
{
    const char *at = strstr(text, word);

    if (at == NULL || at >= end)
        return 0;
    return (unsigned)strtoul(at + strlen(word), NULL, 10);
}

/* The body of "struct CUtensorMap_st { ... }"; NULL when there is none. */
static const char *map_body(const char *text)
{
    static const char name[] = "struct CUtensorMap_st";
    const char *at = text;

    while ((at = strstr(at, name)) != NULL) {
        at += strlen(name);
        while (isspace((unsigned char)*at))
            at++;
        if (*at == '{')
            return at;
    }
    return NULL;
}

static void read_facts(const char *text, struct toolkit *toolkit)
{
    const char *end = text + strlen(text);
    const char *body = map_body(text);

    toolkit->version = number_after(text, end, "#define CUDA_VERSION");
    toolkit->has_map = body != NULL;
    if (body == NULL)
        return;
    if (strchr(body, '}') != NULL)
        end = strchr(body, '}');
    toolkit->alignment = number_after(body, end, "_Alignas(");
    if (toolkit->alignment == 0)
        toolkit->alignment = number_after(body, end, "alignas(");
}

static bool is_known(const struct toolkits *toolkits, const struct stat *status)
{
    size_t i;

    for (i = 0; i < toolkits->count; i++)
        if (toolkits->list[i].device == status->st_dev &&
            toolkits->list[i].inode == status->st_ino)
            return true;
    return false;
}

/* Add a header, unless it is none of CUDA's or known already. */
static bool add_header(struct toolkits *toolkits, const char *path)
{
    struct toolkit toolkit;
    struct stat status;
    FILE *stream = fopen(path, "re");
    char *text;

    if (stream == NULL)
        return false;
    memset(&toolkit, 0, sizeof(toolkit));
    text = read_text(stream);
    if (text != NULL)
        read_facts(text, &toolkit);
    free(text);
    if (fstat(fileno(stream), &status) != 0)
        toolkit.version = 0;
    fclose(stream);
    if (toolkit.version == 0)
        return false;
    if (is_known(toolkits, &status))
        return true;
    toolkit.header = must_copy(path);
    toolkit.device = status.st_dev;
    toolkit.inode = status.st_ino;
    toolkits->list = must_grow(toolkits->list, toolkits->count + 1,
                               sizeof(toolkits->list[0]));
    toolkits->list[toolkits->count++] = toolkit;
    return true;
}

static bool add_pattern(struct toolkits *toolkits, const char *pattern)
{
    bool found = false;
    glob_t matches;
    size_t i;

    if (glob(pattern, 0, NULL, &matches) != 0)
        return false;
    for (i = 0; i < matches.gl_pathc; i++)
        found |= add_header(toolkits, matches.gl_pathv[i]);
    globfree(&matches);
    return found;
}

/* A folder's name as it is, even if it has a character that glob(3) knows. */
static char *quoted(const char *folder)
{
    char *text = must_alloc(2 * strlen(folder) + 1, 1);
    size_t at = 0;

    for (; *folder != '\0'; folder++) {
        if (strchr("*?[\\", *folder) != NULL)
            text[at++] = '\\';
        text[at++] = *folder;
    }
    return text;
}

bool toolkits_look_in(struct toolkits *toolkits, const char *folder)
{
    static const char *const places[] = {"include/cuda.h",
                                         "targets/*/include/cuda.h", "cuda.h"};
    char *literal = quoted(folder);
    bool found = false;
    size_t i;

    for (i = 0; i < sizeof(places) / sizeof(places[0]) && !found; i++) {
        char *pattern = must_format("%s/%s", literal, places[i]);

        found = add_pattern(toolkits, pattern);
        free(pattern);
    }
    free(literal);
    return found;
}

/* The toolkit that nvcc belongs to, for each folder of PATH. */
static void look_along_path(struct toolkits *toolkits)
{
    const char *path = getenv("PATH");

    while (path != NULL && *path != '\0') {
        size_t length = strcspn(path, ":");
        char *folder = must_format("%.*s/..", (int)length, path);
        char *nvcc = must_format("%.*s/nvcc", (int)length, path);
        struct stat status;

        if (stat(nvcc, &status) == 0)
            toolkits_look_in(toolkits, folder);
        free(nvcc);
        free(folder);
        path += length;
        path += *path == ':';
    }
}

void toolkits_look_around(struct toolkits *toolkits)
{
    static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH",
                                            "CONDA_PREFIX"};
    static const char *const patterns[] = {
        "/usr/local/cuda/include/cuda.h",
        "/usr/local/cuda-*/include/cuda.h",
        "/opt/cuda*/include/cuda.h",
        "/opt/nvidia/hpc_sdk/*/*/cuda/*/include/cuda.h",
        "/usr/lib/cuda/include/cuda.h",
        "/usr/include/cuda.h",
    };
    size_t i;

    for (i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        const char *folder = getenv(variables[i]);

        if (folder != NULL && folder[0] != '\0')
            toolkits_look_in(toolkits, folder);
    }
    for (i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
        add_pattern(toolkits, patterns[i]);
    look_along_path(toolkits);
}

void toolkits_clear(struct toolkits *toolkits)
{
    size_t i;

    for (i = 0; i < toolkits->count; i++)
        free(toolkits->list[i].header);
    free(toolkits->list);
    memset(toolkits, 0, sizeof(*toolkits));
}
