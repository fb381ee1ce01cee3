/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "check/subject.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <ashlar/status.h>

#include "check/elf.h"
#include "check/host.h"

/* A hang is a call that takes longer. */
#define SECONDS_MOST 60

typedef void (*any_function)(void);

struct group {
    const char *name;
    uint64_t can;
    size_t from;
    size_t to;
};

#define GROUP(_name, _can, _first, _last)                                      \
    {                                                                          \
        _name, _can, offsetof(struct ashlar_plugin, _first),                   \
            offsetof(struct ashlar_plugin, _last) + sizeof(any_function)       \
    }

static const struct group groups[] = {
    GROUP("blocks", ASHLAR_CAN_BLOCKS, block_usable, block_prefer_huge),
    GROUP("ranges", ASHLAR_CAN_RANGES, reserve, allow),
    GROUP("copy", ASHLAR_CAN_COPY, copy, copy),
    GROUP("scatter", ASHLAR_CAN_SCATTER, scatter_load, scatter),
    GROUP("fence", ASHLAR_CAN_FENCE, fence_record, fence_drop),
    GROUP("graph", ASHLAR_CAN_GRAPH, fence_capture, fence_graph),
    GROUP("encode", ASHLAR_CAN_ENCODE, encode, encode_rebase),
    GROUP("export", ASHLAR_CAN_EXPORT, chunk_export, chunk_import),
};

#define GROUP_COUNT (sizeof(groups) / sizeof(groups[0]))

/* --- the file ------------------------------------------------------------- */

static bool check_origin(const struct subject *subject, void *handle,
                         const void *symbol)
{
    struct link_map *wanted = NULL, *found = NULL;
    Dl_info info;
    bool own = dlinfo(handle, RTLD_DI_LINKMAP, &wanted) == 0 &&
               dladdr1(symbol, &info, (void **)&found, RTLD_DL_LINKMAP) != 0 &&
               wanted == found;

    return check_that(subject->report, CHECK_SYMBOL, own,
                      "the file has no " ASHLAR_PLUGIN_SYMBOL
                      " of its own; a library that it is linked to has");
}

static const struct ashlar_plugin *load_file(const struct subject *subject,
                                             const char *path)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    const struct ashlar_plugin *given;

    if (!check_that(subject->report, CHECK_SYMBOL, handle != NULL,
                    "it cannot be loaded: %s", handle == NULL ? dlerror() : ""))
        return NULL;
    given = dlsym(handle, ASHLAR_PLUGIN_SYMBOL);
    if (!check_that(subject->report, CHECK_SYMBOL, given != NULL,
                    "the file does not export " ASHLAR_PLUGIN_SYMBOL) ||
        !check_origin(subject, handle, given))
        return NULL;
    return given;
}

/* --- the struct ----------------------------------------------------------- */

static bool check_struct(const struct subject *subject, const char *name)
{
    const struct ashlar_plugin *ops = &subject->ops;
    struct check_report *report = subject->report;
    bool good = ops->name != NULL && strcmp(ops->name, name) == 0;

    good = check_that(report, CHECK_STRUCT, good,
                      "it calls itself \"%s\", but its file is for \"%s\"",
                      ops->name == NULL ? "(NULL)" : ops->name, name);
    good &= check_that(report, CHECK_STRUCT, ops->version != NULL,
                       "it has no version");
    good &= check_that(
        report, CHECK_STRUCT, ops->open != NULL && ops->close != NULL,
        "it has no %s function", ops->open == NULL ? "open" : "close");
    return good;
}

static void check_groups(struct subject *subject)
{
    const any_function *members;
    const struct group *group;
    size_t all, count, i, k;

    for (i = 0; i < GROUP_COUNT; i++) {
        group = &groups[i];
        members =
            (const any_function *)(const void *)((const char *)&subject->ops +
                                                 group->from);
        all = (group->to - group->from) / sizeof(any_function);
        for (count = 0, k = 0; k < all; k++)
            count += members[k] != NULL;
        check_that(subject->report, CHECK_GROUPS, count == 0 || count == all,
                   "it has %zu of the %zu functions of the group \"%s\"", count,
                   all, group->name);
        if (count == all)
            subject->groups |= group->can;
    }
}

bool subject_load(struct subject *subject, const char *path, const char *name)
{
    struct check_report *report = subject->report;
    const struct ashlar_plugin *given = load_file(subject, path);
    size_t required = offsetof(struct ashlar_plugin, block_usable);
    size_t bytes = sizeof(subject->ops);

    if (given == NULL)
        return false;
    elf_check_alone(report, path);
    if (!check_that(report, CHECK_STRUCT, given->abi == ASHLAR_PLUGIN_ABI,
                    "its ABI is %u, and this program's %u", given->abi,
                    ASHLAR_PLUGIN_ABI) ||
        !check_that(report, CHECK_STRUCT, given->struct_size >= required,
                    "its struct has %u bytes; the required part alone has %zu",
                    given->struct_size, required))
        return false;
    if (given->struct_size < bytes)
        bytes =
            given->struct_size / sizeof(any_function) * sizeof(any_function);
    memcpy(&subject->ops, given, bytes);
    if (!check_struct(subject, name))
        return false;
    snprintf(report->name, sizeof(report->name), "%s", subject->ops.name);
    snprintf(report->version, sizeof(report->version), "%s",
             subject->ops.version);
    check_groups(subject);
    return check_all_kept(report);
}

/* --- open and close ------------------------------------------------------- */

/* The rights that ranges are to start with. */
static bool check_access(const struct subject *subject)
{
    const struct ashlar_plugin_info *info = &subject->info;
    bool good;
    uint32_t i;

    good = check_that(subject->report, CHECK_OPEN,
                      info->access_count <= ASHLAR_PLUGIN_ACCESS_MOST,
                      "it names the rights of %u locations; %d is the most",
                      info->access_count, ASHLAR_PLUGIN_ACCESS_MOST);
    for (i = 0; good && i < info->access_count; i++)
        good = check_that(subject->report, CHECK_OPEN,
                          info->access[i].location < info->location_count,
                          "it names the rights of location %u of %u",
                          info->access[i].location, info->location_count);
    return good;
}

static bool check_ranges(const struct subject *subject)
{
    const struct ashlar_plugin_info *info = &subject->info;
    bool good =
        info->granule != 0 && (info->granule & (info->granule - 1)) == 0;

    good = check_that(subject->report, CHECK_OPEN, good,
                      "its granule is %zu; it must be a power of two",
                      info->granule);
    good &= check_that(subject->report, CHECK_OPEN,
                       info->home_location < info->location_count,
                       "its home is location %u of %u", info->home_location,
                       info->location_count);
    return good && check_access(subject);
}

static bool check_info(const struct subject *subject)
{
    const struct ashlar_plugin_info *info = &subject->info;
    uint64_t known = ASHLAR_CAN_HOST_ACCESS;
    bool good;
    size_t i;

    for (i = 0; i < GROUP_COUNT; i++)
        known |= groups[i].can;
    good = check_that(
        subject->report, CHECK_OPEN,
        (info->can & known & ~subject->groups & ~ASHLAR_CAN_HOST_ACCESS) == 0,
        "it says that it can do 0x%lx, but has the functions "
        "for 0x%lx alone",
        (unsigned long)info->can, (unsigned long)subject->groups);
    good &= check_that(
        subject->report, CHECK_OPEN,
        memchr(info->description, '\0', sizeof(info->description)) != NULL,
        "its description does not end");
    good &= check_that(subject->report, CHECK_OPEN, info->size == sizeof(*info),
                       "it changed the size of struct ashlar_plugin_info");
    if (subject_can(subject, ASHLAR_CAN_RANGES))
        good &= check_ranges(subject);
    return good;
}

bool subject_open(struct subject *subject)
{
    enum ashlar_status status;

    memset(&subject->info, 0, sizeof(subject->info));
    subject->info.size = sizeof(subject->info);
    subject->state = NULL;
    subject_begin(subject, "open");
    status = subject->ops.open(subject->host, subject->options,
                               subject->option_count, &subject->info,
                               &subject->state);
    (void)subject_end(subject, "open", status);
    if (!check_that(subject->report, CHECK_OPEN, status == ASHLAR_OK,
                    "it does not open: %s; give --options if it needs any",
                    host_sentence()))
        return false;
    if (check_info(subject)) {
        subject->report->info = subject->info;
        return true;
    }
    subject_close(subject);
    return false;
}

void subject_close(struct subject *subject)
{
    subject_begin(subject, "close");
    subject->ops.close(subject->state);
    subject->state = NULL;
}

void subject_open_wrongly(const struct subject *subject)
{
    static const struct ashlar_plugin_option wrong = {"there_is_no_such_option",
                                                      "1"};
    struct ashlar_plugin_info info;
    enum ashlar_status status;
    void *state = NULL;

    memset(&info, 0, sizeof(info));
    info.size = sizeof(info);
    subject_begin(subject, "open");
    status = subject->ops.open(subject->host, &wrong, 1, &info, &state);
    (void)subject_end(subject, "open", status);
    check_that(subject->report, CHECK_OPTIONS, status == ASHLAR_ERR_INVALID,
               "the option %s was answered with %s, not ASHLAR_ERR_INVALID",
               wrong.key, ashlar_status_name(status));
    if (status == ASHLAR_OK)
        subject->ops.close(state);
}

/* --- calls ---------------------------------------------------------------- */

void subject_begin(const struct subject *subject, const char *operation)
{
    struct check_report *report = subject->report;

    __atomic_store_n(&report->operation, operation, __ATOMIC_RELAXED);
    /* Every so often: a system call costs what many an operation does. */
    if (__atomic_fetch_add(&report->calls, 1, __ATOMIC_RELAXED) % 16 == 0)
        (void)alarm(SECONDS_MOST);
    host_forget();
}

enum ashlar_status subject_end(const struct subject *subject,
                               const char *operation, enum ashlar_status status)
{
    if (status == ASHLAR_OK)
        return status;
    check_that(subject->report, CHECK_REASONS, status < ASHLAR_OK,
               "%s() returned %d, which is no status", operation, (int)status);
    check_that(subject->report, CHECK_REASONS,
               host_status() == status && *host_sentence() != '\0',
               "%s() returned %s, but told host->fail() %s", operation,
               ashlar_status_name(status),
               host_status() == ASHLAR_OK ? "nothing" : "of another status");
    return status;
}
