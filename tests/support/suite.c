/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 */
#include "config.h"

#include "support/suite.h"

#include <stdio.h>

/*
 * ThreadSanitizer does not see the atomics of jemalloc, which is not compiled
 * with it, and takes its try-locks for mistakes. Its files go by src/NAME.c or by
 * their whole path. ThreadSanitizer's run-time reads this; nobody else does.
 */
const char *__tsan_default_suppressions(void);

const char *__tsan_default_suppressions(void)
{
    return "mutex:include/jemalloc/internal/\n"
           "deadlock:include/jemalloc/internal/\n"
           "race:include/jemalloc/internal/\n"
           "race:^src/*.c\n"
           "race:/jemalloc/src/*.c\n";
}

int suite_run(Suite *suite)
{
    SRunner *runner = srunner_create(suite);

    srunner_set_tap(runner, "-");
    srunner_run_all(runner, CK_SILENT);
    srunner_free(runner);
    return 0;
}

int suite_skip(const char *reason)
{
    printf("1..0 # SKIP %s\n", reason);
    return 0;
}
