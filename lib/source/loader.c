/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * Finding and loading plug-ins: by name, on demand, one file.
 *
 *     1. the folders of $ASHLAR_PLUGIN_PATH, unless the process is privileged
 *     2. <folder of the running library>/ashlar/plugins
 *     3. the folder of the installation
 *
 * The first folder that has ashlar_NAME.so decides: a file that is refused
 * there is the answer, and none further down is tried.
 */
#include "config.h"

#include "source/plugin.h"

#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"

#define PATH_VARIABLE "ASHLAR_PLUGIN_PATH"

/* The i-th folder of a list with colons, i going down to 0; false behind it. */
static bool list_entry(const char *list, unsigned *i, char *folder_out)
{
    size_t length;

    while (list != NULL && *list != '\0') {
        length = strcspn(list, ":");
        if (length != 0 && length < SOURCE_FOLDER_BYTES && (*i)-- == 0) {
            memcpy(folder_out, list, length);
            folder_out[length] = '\0';
            return true;
        }
        list += length + (list[length] == ':');
    }
    return false;
}

/* The file of the running library, or of the program that it is part of. */
static bool own_file(char *file_out)
{
    struct link_map *map = NULL;
    Dl_info info;

    if (dladdr1((const void *)&plugin_check, &info, (void **)&map,
                RTLD_DL_LINKMAP) == 0 ||
        map == NULL || map->l_name == NULL)
        return false;
    /* A program's name is what its caller made up. */
    return realpath(*map->l_name == '\0' ? "/proc/self/exe" : map->l_name,
                    file_out) != NULL;
}

bool plugin_folder(unsigned i, char *folder_out)
{
    char file[PATH_MAX];
    int length = 0;

    if (list_entry(secure_getenv(PATH_VARIABLE), &i, folder_out))
        return true;
    if (i > 1)
        return false;
    if (i == 1)
        length =
            snprintf(folder_out, SOURCE_FOLDER_BYTES, "%s", ASHLAR_PLUGIN_DIR);
    else if (own_file(file))
        length = snprintf(folder_out, SOURCE_FOLDER_BYTES, "%s/ashlar/plugins",
                          dirname(file));
    if (length <= 0 || length >= SOURCE_FOLDER_BYTES)
        *folder_out = '\0';
    return true;
}

static bool anybody_may_write(const char *path)
{
    struct stat facts;

    return stat(path, &facts) != 0 || (facts.st_mode & S_IWOTH) != 0;
}

/* A privileged process loads nothing that anybody may have put there. */
static enum ashlar_status check_privileged(const char *path)
{
    char folder[SOURCE_PATH_BYTES];

    if (getauxval(AT_SECURE) == 0)
        return ASHLAR_OK;
    (void)snprintf(folder, sizeof(folder), "%s", path);
    if (!anybody_may_write(path) && !anybody_may_write(dirname(folder)))
        return ASHLAR_OK;
    return error_set(ASHLAR_ERR_NO_PLUGIN,
                     "\"%s\" or its folder may be written by anybody, and this "
                     "process has more rights than its caller; take that "
                     "permission away",
                     path);
}

/* Whether the symbol is of this very file, not of a library it pulls in. */
static enum ashlar_status check_origin(void *handle, const void *symbol,
                                       const char *path)
{
    struct link_map *wanted = NULL;
    struct link_map *found = NULL;
    Dl_info info;

    if (dlinfo(handle, RTLD_DI_LINKMAP, &wanted) == 0 &&
        dladdr1(symbol, &info, (void **)&found, RTLD_DL_LINKMAP) != 0 &&
        wanted == found)
        return ASHLAR_OK;
    return error_set(ASHLAR_ERR_NO_PLUGIN,
                     "\"%s\" has no symbol %s of its own, but is linked to a "
                     "library that has",
                     path, ASHLAR_PLUGIN_SYMBOL);
}

/* What dlopen() has to say, without the file's name, which is said anyway. */
static const char *reason_of(const char *path)
{
    const char *reason = dlerror();
    size_t length = strlen(path);

    if (reason == NULL)
        return "dlopen() does not say why";
    if (strncmp(reason, path, length) == 0 && reason[length] == ':')
        reason += length + 1;
    return reason + strspn(reason, " ");
}

enum ashlar_status plugin_load_file(const char *path, const char *name,
                                    struct ashlar_plugin *own_out,
                                    uint64_t *can_out)
{
    enum ashlar_status status = check_privileged(path);
    const struct ashlar_plugin *given;
    void *handle;

    if (status != ASHLAR_OK)
        return status;
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == NULL)
        return error_set(ASHLAR_ERR_NO_PLUGIN, "cannot load \"%s\": %s", path,
                         reason_of(path));
    given = dlsym(handle, ASHLAR_PLUGIN_SYMBOL);
    if (given == NULL)
        status = error_set(ASHLAR_ERR_NO_PLUGIN,
                           "\"%s\" does not export %s; it is no plug-in of "
                           "ashlar, or one of another major version",
                           path, ASHLAR_PLUGIN_SYMBOL);
    if (status == ASHLAR_OK)
        status = check_origin(handle, given, path);
    if (status == ASHLAR_OK)
        status = plugin_check(given, name, own_out, can_out);
    if (status != ASHLAR_OK)
        (void)dlclose(handle);
    return status;
}

enum ashlar_status plugin_load(const char *name, struct ashlar_plugin *own_out,
                               uint64_t *can_out, char *path_out)
{
    char folder[SOURCE_FOLDER_BYTES];
    enum ashlar_status status;
    unsigned i;

    for (i = 0; plugin_folder(i, folder); i++) {
        (void)snprintf(path_out, SOURCE_PATH_BYTES, "%s/ashlar_%s.so", folder,
                       name);
        if (*folder == '\0' || access(path_out, F_OK) != 0)
            continue;
        status = plugin_load_file(path_out, name, own_out, can_out);
        if (status == ASHLAR_OK)
            log_line(ASHLAR_LOG_INFO, "plug-in \"%s\" %s loaded from %s", name,
                     own_out->version == NULL ? "" : own_out->version,
                     path_out);
        return status;
    }
    *path_out = '\0';
    return error_set(ASHLAR_ERR_NO_PLUGIN,
                     "no source is called \"%s\": built in are \"heap\" and "
                     "\"vm\", and no ashlar_%s.so is in the folders of $%s, in "
                     "ashlar/plugins beside the library, or in %s",
                     name, name, PATH_VARIABLE, ASHLAR_PLUGIN_DIR);
}
