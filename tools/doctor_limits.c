/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "doctor.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "human.h"
#include "line.h"

#define FILES_LEAST 1024

static void tell_address_space(struct findings *findings)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_AS, &limit) != 0)
        return;
    if (limit.rlim_cur == RLIM_INFINITY) {
        findings_add(findings, FINDING_OK, "addresses",
                     "no limit on a process's address space");
        return;
    }
    findings_add(findings, FINDING_NOTE, "addresses",
                 "a process may have %s of address space",
                 human_bytes(limit.rlim_cur).s);
    findings_advise(findings, "pools that grow reserve more than they use; "
                              "raise it with ulimit -v unlimited");
}

static void tell_files(struct findings *findings)
{
    struct rlimit limit;
    bool few;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    few = limit.rlim_cur < FILES_LEAST;
    findings_add(findings, few ? FINDING_NOTE : FINDING_OK, "open files",
                 "%s at most", human_count(limit.rlim_cur).s);
    if (few)
        findings_advise(findings,
                        "memory shared with other processes takes open files; "
                        "raise it with ulimit -n %d",
                        FILES_LEAST);
}

static void tell_overcommit(struct findings *findings)
{
    char mode[16];

    line_read("/proc/sys/vm/overcommit_memory", mode, sizeof(mode));
    if (mode[0] == '2') {
        findings_add(findings, FINDING_NOTE, "overcommit",
                     "never (2): memory counts when it is asked for, used or "
                     "not");
        findings_advise(findings,
                        "pools may be refused while memory is free; see "
                        "CommitLimit in /proc/meminfo, and "
                        "vm.overcommit_memory in proc(5)");
    } else if (mode[0] != '\0') {
        findings_add(findings, FINDING_OK, "overcommit", "%s (%s)",
                     mode[0] == '1' ? "always" : "within reason", mode);
    }
}

/* The word in brackets: "always [madvise] never". */
static void tell_huge_pages(struct findings *findings)
{
    char line[64];
    char *word, *end;

    line_read("/sys/kernel/mm/transparent_hugepage/enabled", line,
              sizeof(line));
    word = strchr(line, '[');
    end = strchr(line, ']');
    if (word == NULL || end == NULL || end < word) {
        findings_add(findings, FINDING_OK, "huge pages",
                     "this kernel does not say");
        return;
    }
    *end = '\0';
    word++;
    if (strcmp(word, "never") != 0) {
        findings_add(findings, FINDING_OK, "huge pages", "%s", word);
        return;
    }
    findings_add(findings, FINDING_NOTE, "huge pages", "never");
    findings_advise(findings,
                    "ASHLAR_POOL_HUGE_PAGES has no effect; allow it with echo "
                    "madvise >/sys/kernel/mm/transparent_hugepage/enabled");
}

void doctor_limits(struct findings *findings)
{
    tell_address_space(findings);
    tell_files(findings);
    tell_overcommit(findings);
    tell_huge_pages(findings);
    findings_add(findings, FINDING_OK, "pages", "%s each",
                 human_bytes((uint64_t)sysconf(_SC_PAGESIZE)).s);
}
