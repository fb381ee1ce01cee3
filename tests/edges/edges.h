/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Programs that try one situation, named by their argument, and end with 0 when
 * it went as it should.
 */
#ifndef ASHLAR_TESTS_EDGES_EDGES_H
#define ASHLAR_TESTS_EDGES_EDGES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Says what is not so and ends the process at once: 99, which no other way to
 * end it gives. */
#define HOLDS(_condition)                                                      \
    do {                                                                       \
        if (!(_condition)) {                                                   \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #_condition);   \
            _exit(99);                                                         \
        }                                                                      \
    } while (0)

struct situation {
    const char *name;
    int (*run)(void); /* what it returns is the exit status */
};

/* Run the one of that name; without a name, list them. */
static inline int situation_run(const struct situation *all, size_t n, int argc,
                                char **argv)
{
    size_t i;

    for (i = 0; i < n; i++) {
        if (argc < 2)
            printf("%s\n", all[i].name);
        else if (strcmp(all[i].name, argv[1]) == 0)
            return all[i].run();
    }
    return argc < 2 ? 0 : 98;
}

#endif
