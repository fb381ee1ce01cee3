/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "doctor.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ashlar/build.h>
#include <ashlar/pool.h>
#include <ashlar/status.h>
#include <ashlar/type.h>
#include <ashlar/version.h>

#include "human.h"
#include "modules.h"
#include "must.h"

#define SLOTS_LOOKED_AT 1000
/* What glibc keeps free for modules loaded late, unless told otherwise. */
#define LATE_TLS_BYTES 512

/* An older library may not know it. */
static const char *fact(const char *key)
{
    const char *value = ashlar_build_info(key);

    return value == NULL ? "" : value;
}

static bool is(const char *key, const char *value)
{
    return strcmp(fact(key), value) == 0;
}

static void tell_version(struct findings *findings, const struct module *module)
{
    bool same = ashlar_version() == ASHLAR_VERSION;

    findings_add(findings, same ? FINDING_OK : FINDING_NOTE, "library",
                 "libashlar %s, %s", ashlar_version_string(),
                 module->program ? "linked into this program" : module->path);
    if (!same)
        findings_advise(findings,
                        "this program came with version %s; install "
                        "both from one release",
                        ASHLAR_VERSION_STRING);
}

static void tell_build(struct findings *findings)
{
    const char *sanitizers = fact("sanitizers");
    bool slow = sanitizers[0] != '\0' || is("debug", "yes");

    findings_add(findings, slow ? FINDING_NOTE : FINDING_OK, "build",
                 "%s%s%s%s, Valgrind requests: %s", fact("compiler"),
                 sanitizers[0] != '\0' ? ", sanitizers " : "", sanitizers,
                 is("debug", "yes") ? ", internal checks" : "",
                 fact("valgrind"));
    if (slow)
        findings_advise(findings, "good for finding mistakes; build without "
                                  "them for speed");
}

/* "5.3.0-0-g54ea..." as "5.3.0". */
static char *short_version(void)
{
    const char *version = fact("jemalloc.version");

    return must_format("%.*s", (int)strcspn(version, "-"), version);
}

static void tell_jemalloc(struct findings *findings)
{
    const char *prefix = fact("jemalloc.prefix");
    char *version = short_version();

    if (is("jemalloc.kind", "private")) {
        findings_add(findings, FINDING_OK, "jemalloc",
                     "%s, private to libashlar, prefix %s", version, prefix);
    } else {
        findings_add(findings, FINDING_NOTE, "jemalloc",
                     "%s, the system's%s%s: it replaces malloc in every "
                     "program that links libashlar",
                     version, prefix[0] != '\0' ? ", prefix " : "", prefix);
        findings_advise(findings, "./bootstrap makes a private build, which "
                                  "leaves malloc alone");
    }
    free(version);
}

static void tell_variable(struct findings *findings)
{
    const char *name = fact("jemalloc.settings_variable");
    const char *value = getenv(name);

    if (value == NULL) {
        findings_add(findings, FINDING_OK, "settings",
                     "jemalloc reads %s, which is not set", name);
    } else if (strstr(value, "junk:true") != NULL ||
               strstr(value, "zero:true") != NULL) {
        findings_add(findings, FINDING_NOTE, "settings", "%s is \"%s\"", name,
                     value);
        findings_advise(findings, "junk and zero write to memory when it is "
                                  "made: good for finding mistakes, slow "
                                  "otherwise");
    } else {
        findings_add(findings, FINDING_OK, "settings", "%s is \"%s\"", name,
                     value);
    }
    if (strcmp(name, "MALLOC_CONF") == 0 || getenv("MALLOC_CONF") == NULL)
        return;
    findings_add(findings, FINDING_NOTE, "settings",
                 "MALLOC_CONF is \"%s\", and libashlar's jemalloc does not "
                 "read it",
                 getenv("MALLOC_CONF"));
    findings_advise(findings, "for ashlar, set %s", name);
}

/* jemalloc also takes its settings from the name a symbolic link has. */
static void tell_link(struct findings *findings)
{
    char *path = must_format("/etc/%smalloc.conf", fact("jemalloc.prefix"));
    char target[PATH_MAX + 1];
    ssize_t bytes = readlink(path, target, PATH_MAX);

    if (bytes > 0) {
        target[bytes] = '\0';
        findings_add(findings, FINDING_NOTE, "settings", "%s is \"%s\"", path,
                     target);
        findings_advise(findings, "these hold for every user and program");
    }
    free(path);
}

static void advise_tls(struct findings *findings, const struct module *module)
{
    if (is("jemalloc.kind", "private"))
        findings_advise(findings,
                        "this should not be so in a build with the private "
                        "jemalloc, and is worth a report; LD_PRELOAD=%s helps",
                        module->path);
    else
        findings_advise(findings,
                        "build with the private jemalloc (./bootstrap), or "
                        "start the program with LD_PRELOAD=%s",
                        module->path);
}

static void tell_tls(struct findings *findings, const struct module *module,
                     const char *name)
{
    size_t bytes = module->static_tls ? module->tls_bytes : 0;
    enum finding_level bad =
        is("jemalloc.kind", "private") ? FINDING_PROBLEM : FINDING_NOTE;

    if (module->program) {
        findings_add(findings, FINDING_OK, "static TLS",
                     "%s is linked into this program: nothing is loaded late",
                     name);
    } else if (bytes <= LATE_TLS_BYTES) {
        findings_add(findings, FINDING_OK, "static TLS",
                     "%s takes %s bytes, which every program has room for",
                     name, human_count(bytes).s);
    } else {
        findings_add(findings, bad, "static TLS",
                     "%s takes %s bytes: libashlar cannot be loaded late, by "
                     "Python for one",
                     name, human_count(bytes).s);
        advise_tls(findings, module);
    }
}

void doctor_library(struct findings *findings)
{
    struct module ours, theirs;

    ours = module_of(ashlar_version_string());
    tell_version(findings, &ours);
    tell_build(findings);
    tell_jemalloc(findings);
    tell_variable(findings);
    tell_link(findings);
    tell_tls(findings, &ours, "libashlar");
    if (is("jemalloc.kind", "system") && module_named("jemalloc", &theirs)) {
        tell_tls(findings, &theirs, "the system's jemalloc");
        module_clear(&theirs);
    }
    module_clear(&ours);
}

/* The bits of all addresses: the lowest says how well all are aligned. */
static uintptr_t address_bits(struct ashlar_pool *pool)
{
    void *slots[SLOTS_LOOKED_AT];
    uintptr_t bits = 0;
    size_t i;

    if (ashlar_pool_get_bulk(pool, slots, SLOTS_LOOKED_AT) != ASHLAR_OK)
        return 0;
    for (i = 0; i < SLOTS_LOOKED_AT; i++)
        bits |= (uintptr_t)slots[i];
    (void)ashlar_pool_put_bulk(pool, slots, SLOTS_LOOKED_AT, NULL);
    return bits;
}

unsigned doctor_slots(struct findings *findings)
{
    const struct ashlar_type *type = ashlar_type_find("CUtensorMap");
    struct ashlar_type_info info = ASHLAR_TYPE_INFO_INIT;
    struct ashlar_pool *pool;
    uintptr_t bits, served;

    if (type == NULL || ashlar_type_query(type, &info) != ASHLAR_OK ||
        ashlar_pool_create(type, NULL, &pool) != ASHLAR_OK) {
        findings_add(findings, FINDING_PROBLEM, "slots", "%s",
                     ashlar_last_error_message());
        return 0;
    }
    bits = address_bits(pool);
    served = bits & -bits;
    if (bits == 0)
        findings_add(findings, FINDING_PROBLEM, "slots", "%s",
                     ashlar_last_error_message());
    else if (served < info.alignment)
        findings_add(findings, FINDING_PROBLEM, "slots",
                     "CUtensorMap at multiples of %lu, not of %zu",
                     (unsigned long)served, info.alignment);
    else
        findings_add(findings, FINDING_OK, "slots",
                     "CUtensorMap at multiples of %lu, in %s slots looked at",
                     (unsigned long)served, human_count(SLOTS_LOOKED_AT).s);
    (void)ashlar_pool_destroy(pool, ASHLAR_POOL_FORCE);
    return (unsigned)served;
}
