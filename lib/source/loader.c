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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

#define PATH_VARIABLE "ASHLAR_PLUGIN_PATH"

/* The i-th entry of a list with colons; NULL behind the last. */
static const char *list_entry(const char *list, unsigned *i, char *buffer,
                              size_t bytes)
{
    size_t length;

    while (list != NULL && *list != '\0') {
        length = strcspn(list, ":");
        if (length != 0 && (*i)-- == 0) {
            (void)snprintf(buffer, bytes, "%.*s", (int)length, list);
            return buffer;
        }
        list += length + (list[length] == ':');
    }
    return NULL;
}

/* The folder of plug-ins beside the running library. */
static const char *folder_beside(char *buffer, size_t bytes)
{
    Dl_info info;
    char file[PATH_MAX];

    if (dladdr((const void *)&plugin_check, &info) == 0 ||
        info.dli_fname == NULL || realpath(info.dli_fname, file) == NULL)
        return NULL;
    (void)snprintf(buffer, bytes, "%s/ashlar/plugins", dirname(file));
    return buffer;
}

const char *plugin_folder(unsigned i, char *buffer, size_t bytes)
{
    const char *folder =
        list_entry(secure_getenv(PATH_VARIABLE), &i, buffer, bytes);

    if (folder != NULL)
        return folder;
    if (i == 0)
        return folder_beside(buffer, bytes) != NULL ? buffer : "";
    if (i > 1)
        return NULL;
    (void)snprintf(buffer, bytes, "%s", ASHLAR_PLUGIN_DIR);
    return buffer;
}

/* A privileged process loads nothing that anybody may have put there. */
static enum ashlar_status check_privileged(const char *path)
{
    char folder[PATH_MAX];
    struct stat facts;

    if (getauxval(AT_SECURE) == 0)
        return ASHLAR_OK;
    (void)snprintf(folder, sizeof(folder), "%s", path);
    if ((stat(path, &facts) == 0 && (facts.st_mode & S_IWOTH) == 0) &&
        (stat(dirname(folder), &facts) == 0 && (facts.st_mode & S_IWOTH) == 0))
        return ASHLAR_OK;
    return error_set(ASHLAR_ERR_NO_PLUGIN,
                     "\"%s\" or its folder may be written by anybody, and this "
                     "process has more rights than its caller",
                     path);
}

/* Whether the symbol is of this very file, not of a library it pulls in. */
static enum ashlar_status check_origin(const void *symbol, const char *path)
{
    char wanted[PATH_MAX];
    char found[PATH_MAX];
    Dl_info info;

    if (dladdr(symbol, &info) != 0 && info.dli_fname != NULL &&
        realpath(info.dli_fname, found) != NULL &&
        realpath(path, wanted) != NULL && strcmp(wanted, found) == 0)
        return ASHLAR_OK;
    return error_set(ASHLAR_ERR_NO_PLUGIN,
                     "\"%s\" has no symbol %s of its own", path,
                     ASHLAR_PLUGIN_SYMBOL);
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
                         dlerror());
    given = dlsym(handle, ASHLAR_PLUGIN_SYMBOL);
    if (given == NULL)
        status = error_set(ASHLAR_ERR_NO_PLUGIN,
                           "\"%s\" does not export %s; it is no plug-in of "
                           "ashlar, or of another major version",
                           path, ASHLAR_PLUGIN_SYMBOL);
    if (status == ASHLAR_OK)
        status = check_origin(given, path);
    if (status == ASHLAR_OK)
        status = plugin_check(given, name, own_out, can_out);
    if (status != ASHLAR_OK)
        (void)dlclose(handle);
    return status;
}

enum ashlar_status plugin_load(const char *name, struct ashlar_plugin *own_out,
                               uint64_t *can_out, char *path_out, size_t bytes)
{
    char folder[PATH_MAX];
    char path[PATH_MAX + SOURCE_FILE_BYTES];
    const char *at;
    unsigned i;

    for (i = 0; (at = plugin_folder(i, folder, sizeof(folder))) != NULL; i++) {
        (void)snprintf(path, sizeof(path), "%s/ashlar_%s.so", at, name);
        if (*at == '\0' || access(path, F_OK) != 0)
            continue;
        (void)snprintf(path_out, bytes, "%s", path);
        return plugin_load_file(path, name, own_out, can_out);
    }
    return error_set(ASHLAR_ERR_NO_PLUGIN,
                     "no source is called \"%s\": built in are \"heap\" and "
                     "\"vm\", and no ashlar_%s.so is in the folders of $%s, "
                     "beside the library or in %s",
                     name, name, PATH_VARIABLE, ASHLAR_PLUGIN_DIR);
}
