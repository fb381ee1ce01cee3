/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * What the rules of captures and their entries share.
 */
#ifndef CUDASIM_CAPTURE_STATE_H
#define CUDASIM_CAPTURE_STATE_H

#include "capture.h"

extern struct capture *captures;
extern _Thread_local CUstreamCaptureMode capture_thread_mode;

/* The streams of a capture leave it, and it is freed; its graph stays. */
void capture_end(struct capture *capture);

#endif
