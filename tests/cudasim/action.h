/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * What a device does: moving bytes, with its rights checked.
 */
#ifndef CUDASIM_ACTION_H
#define CUDASIM_ACTION_H

#include "stream.h"

/* Do it on a device, as work `moment`. An error is the context's failure. May give
 * the lock back to call a function of the user's. */
CUresult action_run(const struct action *action, int device,
                    struct moment moment);

/* Whether doing it calls a function of the user's. */
bool action_calls(const struct action *action);

/* Whether it lasts until a test finishes it. */
bool action_lasts(const struct action *action);

/* Free what it owns. */
void action_release(struct action *action);

#endif
