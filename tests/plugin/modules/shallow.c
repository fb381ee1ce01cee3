/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 */
/* No plug-in, but linked to a library that is one. */

int giver_number(void);
int shallow_number(void);

int shallow_number(void)
{
    return giver_number() + 1;
}
