/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * All of ashlar but the header for plug-in authors.
 */
#ifndef ASHLAR_H
#define ASHLAR_H

#include <ashlar/build.h>
#include <ashlar/cache.h>
#include <ashlar/export.h>
#include <ashlar/pool.h>
#include <ashlar/source.h>
#include <ashlar/stats.h>
#include <ashlar/status.h>
#include <ashlar/type.h>
#include <ashlar/version.h>

#endif
