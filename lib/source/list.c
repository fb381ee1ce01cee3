/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* What there is to open: the sources built in, then the files of each folder. */
#include "config.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "source/source.h"

#define PREFIX "ashlar_"
#define SUFFIX ".so"

/* A name that was told already, and where it is. */
struct told {
    struct told *next;
    char name[SOURCE_NAME_BYTES];
    char path[];
};

struct walk {
    ashlar_source_candidate_fn *fn;
    void *user;
    struct told *told;
    bool over; /* fn wants no more */
};

static void tell(struct walk *walk, struct ashlar_source_candidate *candidate)
{
    candidate->size = sizeof(*candidate);
    walk->over = walk->fn(candidate, walk->user) != 0;
}

static enum ashlar_status note(struct walk *walk, const char *name,
                               const char *path)
{
    struct told *told = memory_zalloc(sizeof(*told) + strlen(path) + 1);

    if (told == NULL)
        return error_set(ASHLAR_ERR_NO_MEMORY,
                         "no host memory for the list of sources");
    strncpy(told->name, name, sizeof(told->name) - 1);
    strcpy(told->path, path);
    told->next = walk->told;
    walk->told = told;
    return ASHLAR_OK;
}

static const struct told *find_told(const struct walk *walk, const char *name)
{
    const struct told *told = walk->told;

    while (told != NULL && strcmp(told->name, name) != 0)
        told = told->next;
    return told;
}

static enum ashlar_status tell_built_in(struct walk *walk,
                                        const struct ashlar_plugin *plugin)
{
    struct ashlar_source_candidate candidate = {.name = plugin->name,
                                                .version = plugin->version,
                                                .path = "",
                                                .reason = ""};
    struct ashlar_plugin own;

    (void)plugin_check(plugin, plugin->name, &own, &candidate.groups);
    tell(walk, &candidate);
    return note(walk, plugin->name, "");
}

/* A file that no name leads to, since another comes first. */
static void tell_hidden(struct walk *walk, const struct told *told,
                        struct ashlar_source_candidate *candidate)
{
    char reason[ERROR_MESSAGE_BYTES + SOURCE_PATH_BYTES];

    if (*told->path == '\0')
        (void)snprintf(reason, sizeof(reason),
                       "it is not looked at: \"%s\" is built in", told->name);
    else
        (void)snprintf(reason, sizeof(reason),
                       "it is not looked at: \"%s\" comes first", told->path);
    candidate->status = ASHLAR_ERR_CONFLICT;
    candidate->reason = reason;
    tell(walk, candidate);
}

static enum ashlar_status tell_file(struct walk *walk, const char *name,
                                    const char *path)
{
    struct ashlar_source_candidate candidate = {
        .name = name, .version = "", .path = path, .reason = ""};
    const struct told *told = find_told(walk, name);
    char reason[ERROR_MESSAGE_BYTES];
    struct ashlar_plugin own;
    struct error before;
    struct error error;

    if (told != NULL && strcmp(told->path, path) != 0)
        tell_hidden(walk, told, &candidate);
    if (told != NULL)
        return ASHLAR_OK;
    error_copy(&before);
    candidate.status = plugin_load_file(path, name, &own, &candidate.groups);
    if (candidate.status != ASHLAR_OK) {
        error_copy(&error);
        error_restore(&before);
        (void)error_format(&error, reason, sizeof(reason));
        candidate.reason = reason;
    } else if (own.version != NULL) {
        candidate.version = own.version;
    }
    tell(walk, &candidate);
    return note(walk, name, path);
}

/* The name that a file is for; false when it is for none. */
static bool name_of_file(const char *file, char *name_out)
{
    size_t length = strlen(file);
    size_t around = strlen(PREFIX) + strlen(SUFFIX);

    if (length <= around || length - around >= SOURCE_NAME_BYTES ||
        strncmp(file, PREFIX, strlen(PREFIX)) != 0 ||
        strcmp(file + length - strlen(SUFFIX), SUFFIX) != 0)
        return false;
    memcpy(name_out, file + strlen(PREFIX), length - around);
    name_out[length - around] = '\0';
    return plugin_name_is_good(name_out);
}

static int is_plugin(const struct dirent *entry)
{
    char name[SOURCE_NAME_BYTES];

    return name_of_file(entry->d_name, name);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static enum ashlar_status walk_folder(struct walk *walk, const char *folder)
{
    enum ashlar_status status = ASHLAR_OK;
    char path[SOURCE_PATH_BYTES];
    char name[SOURCE_NAME_BYTES];
    struct dirent **entries;
    int count = scandir(folder, &entries, is_plugin, by_name);
    int i;

    for (i = 0; i < count; i++) {
        (void)snprintf(path, sizeof(path), "%s/%.*s", folder,
                       SOURCE_FILE_BYTES - 2, entries[i]->d_name);
        if (status == ASHLAR_OK && !walk->over &&
            name_of_file(entries[i]->d_name, name))
            status = tell_file(walk, name, path);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return status;
}

static enum ashlar_status walk_all(struct walk *walk)
{
    enum ashlar_status status = tell_built_in(walk, &heap_plugin);
    char folder[SOURCE_FOLDER_BYTES];
    unsigned i;

    if (status == ASHLAR_OK && !walk->over)
        status = tell_built_in(walk, &vm_plugin);
    for (i = 0; status == ASHLAR_OK && !walk->over && plugin_folder(i, folder);
         i++)
        if (*folder != '\0')
            status = walk_folder(walk, folder);
    return status;
}

enum ashlar_status ashlar_source_list(ashlar_source_candidate_fn *fn,
                                      void *user)
{
    struct walk walk = {fn, user, NULL, false};
    enum ashlar_status status;
    struct told *told;

    if (fn == NULL)
        return error_set(ASHLAR_ERR_INVALID,
                         "ashlar_source_list() was given NULL for fn");
    status = walk_all(&walk);
    while (walk.told != NULL) {
        told = walk.told;
        walk.told = told->next;
        memory_free(told);
    }
    return status;
}
