/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * What the machine has given out and not got back.
 */
#ifndef CUDASIM_ACCOUNT_H
#define CUDASIM_ACCOUNT_H

#include "cudasim.h"
#include "machine.h"

void account_take(struct cudasim_account *account);

/* What is left, a line each, as snprintf() would; 0: nothing. */
int account_report(char *buffer, size_t bytes);

#endif
