/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include <ashlar/build.h>

#include <stddef.h>
#include <string.h>

#include <ashlar/status.h>
#include <ashlar/version.h>

#include "base/error.h"
#include "source/je.h"

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER ""
#endif

#ifdef ASHLAR_JE_PRIVATE
#define JE_KIND "private"
#else
#define JE_KIND "system"
#endif

#ifdef HAVE_VALGRIND
#define VALGRIND_KNOWN "yes"
#else
#define VALGRIND_KNOWN "no"
#endif

#ifdef ASHLAR_DEBUG
#define DEBUG_ON "yes"
#else
#define DEBUG_ON "no"
#endif

static const struct {
    const char *key;
    const char *value; /* NULL: has to be asked for */
} facts[] = {
    {"version", ASHLAR_VERSION_STRING},
    {"compiler", COMPILER},
    {"jemalloc.version", NULL},
    {"jemalloc.kind", JE_KIND},
    {"jemalloc.prefix", ASHLAR_JE_PREFIX},
    {"jemalloc.settings_variable", ASHLAR_JE_CONF_VARIABLE},
    {"sanitizers", ASHLAR_SANITIZER_LIST},
    {"valgrind", VALGRIND_KNOWN},
    {"debug", DEBUG_ON},
};

static const char *ask_jemalloc_version(void)
{
    const char *version = je_version();

    return version == NULL ? "" : version;
}

const char *ashlar_build_info(const char *key)
{
    size_t i;

    if (key == NULL)
        return error_null(ASHLAR_ERR_INVALID, "key is NULL");
    for (i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        if (strcmp(key, facts[i].key) != 0)
            continue;
        return facts[i].value != NULL ? facts[i].value : ask_jemalloc_version();
    }
    return error_null(ASHLAR_ERR_NOT_FOUND,
                      "nothing is known under \"%s\"; <ashlar/build.h> has the "
                      "list of keys",
                      key);
}
