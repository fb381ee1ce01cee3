/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * A forked child that judges itself.
 */
#ifndef ASHLAR_TESTS_SUPPORT_CHILD_H
#define ASHLAR_TESTS_SUPPORT_CHILD_H

/* Fork, call judge in the child, and return what it returned: 0 for good, 1 to
 * 125 for what is wrong, or 126 when the child died, hung for five minutes or
 * could not be forked. To be called by any thread.
 *
 * A good child ends as true(1). What its parent's other threads held is lost to
 * it, which is no leak, and so no leak checker is to look at its end. */
int child_verdict(int (*judge)(void *argument), void *argument);

#endif
