/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "doctor.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ashlar/range.h>
#include <ashlar/source.h>
#include <ashlar/status.h>

#include "human.h"
#include "line.h"
#include "sources.h"

#define MAPS_LEAST 65530

/* --- what there is -------------------------------------------------------- */

static void tell_source(struct findings *findings, const struct found *found)
{
    const char *where = found->path[0] == '\0' ? "built in" : found->path;

    switch (found->state) {
    case FOUND_GOOD:
    case FOUND_OPENED:
        findings_add(findings, FINDING_OK, "source", "%s, %s", found->name,
                     where);
        return;
    case FOUND_HIDDEN:
        findings_add(findings, FINDING_NOTE, "source", "%s is hidden", where);
        findings_advise(findings, "%s", found->reason);
        return;
    case FOUND_CLOSED:
    case FOUND_REFUSED:
        break;
    }
    findings_add(findings, FINDING_PROBLEM, "source", "%s was refused", where);
    findings_advise(findings, "%s", found->reason);
}

/* Files alone: opening a plug-in may start a driver. */
static void tell_sources(struct findings *findings)
{
    struct sources sources;
    size_t i;

    if (!sources_find(&sources, false)) {
        findings_add(findings, FINDING_PROBLEM, "sources", "%s",
                     ashlar_last_error_message());
        return;
    }
    for (i = 0; i < sources.count; i++)
        tell_source(findings, &sources.list[i]);
    sources_clear(&sources);
}

/* --- what ranges do ------------------------------------------------------- */

/* Grow a range by a granule, and write to it if the host can. */
static bool try_range(struct ashlar_source *source,
                      const struct ashlar_source_info *info)
{
    struct ashlar_range_result result = ASHLAR_RANGE_RESULT_INIT;
    struct ashlar_range *range;
    bool good;

    if (ashlar_range_create(source, NULL, &range) != ASHLAR_OK)
        return false;
    good = ashlar_range_grow_to(range, info->granule, &result) == ASHLAR_OK;
    if (good && (info->can & ASHLAR_CAN_HOST_ACCESS) != 0)
        *(volatile char *)(uintptr_t)result.base = 1;
    (void)ashlar_range_destroy(range, ASHLAR_QUIET, 1);
    return good;
}

static void tell_vm(struct findings *findings)
{
    struct ashlar_source_info info = ASHLAR_SOURCE_INFO_INIT;
    struct ashlar_source *source;
    bool good = ashlar_source_open("vm", NULL, &source) == ASHLAR_OK;

    if (good && ashlar_source_query(source, &info) == ASHLAR_OK &&
        try_range(source, &info)) {
        findings_add(findings, FINDING_OK, "vm",
                     "ranges grow by granules of %s, up to %s",
                     human_bytes(info.granule).s,
                     human_bytes(info.memory_bytes).s);
    } else {
        findings_add(findings, FINDING_PROBLEM, "vm",
                     "a range on host memory cannot grow");
        findings_advise(findings, "%s", ashlar_last_error_message());
    }
    if (good)
        (void)ashlar_source_close(source);
}

/* A device's driver is started for it, but no context is. */
static void tell_cuda(struct findings *findings)
{
    struct ashlar_source_info info = ASHLAR_SOURCE_INFO_INIT;
    struct ashlar_source *source;
    enum ashlar_status status = ashlar_source_open("cuda", NULL, &source);

    if (status == ASHLAR_ERR_NO_PLUGIN) {
        findings_add(findings, FINDING_NOTE, "cuda", "there is no plug-in");
        findings_advise(findings, "it is built where the toolkit's cuda.h and "
                                  "cudaTypedefs.h are found");
        return;
    }
    if (status == ASHLAR_OK &&
        ashlar_source_query(source, &info) == ASHLAR_OK &&
        try_range(source, &info)) {
        findings_add(findings, FINDING_OK, "cuda",
                     "%s: ranges grow by granules of %s, up to %s",
                     info.description, human_bytes(info.granule).s,
                     human_bytes(info.memory_bytes).s);
    } else {
        findings_add(findings, FINDING_PROBLEM, "cuda",
                     "a range on device 0 cannot grow");
        findings_advise(findings, "%s", ashlar_last_error_message());
    }
    if (status == ASHLAR_OK)
        (void)ashlar_source_close(source);
}

static void tell_memfd(struct findings *findings)
{
    int fd = memfd_create("ashlar-doctor", MFD_CLOEXEC);

    if (fd >= 0) {
        (void)close(fd);
        findings_add(findings, FINDING_OK, "memfd", "works");
        return;
    }
    findings_add(findings, FINDING_PROBLEM, "memfd", "memfd_create(): %s",
                 strerror(errno));
    findings_advise(findings, "the vm source needs it; does a sandbox forbid "
                              "it?");
}

/* --- what the kernel allows it -------------------------------------------- */

static void tell_maps(struct findings *findings)
{
    char line[32];
    unsigned long most;

    line_read("/proc/sys/vm/max_map_count", line, sizeof(line));
    if (line[0] == '\0')
        return;
    most = strtoul(line, NULL, 10);
    findings_add(findings, most < MAPS_LEAST ? FINDING_NOTE : FINDING_OK,
                 "mappings", "%s at most for a process", human_count(most).s);
    if (most < MAPS_LEAST)
        findings_advise(findings,
                        "each chunk of a range on vm is a mapping; raise "
                        "vm.max_map_count to %d",
                        MAPS_LEAST);
}

/* The word in brackets: "always within_size advise [never] deny force". */
static void tell_shared_huge_pages(struct findings *findings)
{
    char line[96];
    char *word, *end;
    bool granted;

    line_read("/sys/kernel/mm/transparent_hugepage/shmem_enabled", line,
              sizeof(line));
    word = strchr(line, '[');
    end = strchr(line, ']');
    if (word == NULL || end == NULL || end < word)
        return;
    *end = '\0';
    word++;
    granted = strcmp(word, "never") != 0 && strcmp(word, "deny") != 0;
    findings_add(findings, FINDING_OK, "shared huge", "%s%s", word,
                 granted ? "" : ": the option huge=yes of vm has no effect");
}

void doctor_sources(struct findings *findings, bool driver)
{
    tell_sources(findings);
    tell_memfd(findings);
    tell_vm(findings);
    if (driver)
        tell_cuda(findings);
    tell_maps(findings);
    tell_shared_huge_pages(findings);
}
