/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * A Check suite as a test program that prints TAP.
 *
 *     static Suite *status_suite(void) { ... }
 *
 *     int
 *     main(void)
 *     {
 *         return suite_run(status_suite());
 *     }
 */
#ifndef ASHLAR_TESTS_SUPPORT_SUITE_H
#define ASHLAR_TESTS_SUPPORT_SUITE_H

#include <check.h>

/* Run the suite and release it. Prints one TAP line per case and returns 0
 * whatever they say: the TAP driver counts them, and an exit status that
 * repeats them would be counted as one error more. CK_FORK=no is honoured. */
int suite_run(Suite *suite);

/* Say that this program tests nothing here, and why. Returns 0. Check itself
 * has no skip, so what may have to be skipped is a program of its own. */
int suite_skip(const char *reason);

#endif
