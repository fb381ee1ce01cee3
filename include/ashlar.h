/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * All of ashlar. What only plug-in authors need is in ashlar/plugin.h, of which
 * ranges use the small structs.
 */
#ifndef ASHLAR_H
#define ASHLAR_H

#include <ashlar/arena.h>
#include <ashlar/build.h>
#include <ashlar/cache.h>
#include <ashlar/export.h>
#include <ashlar/pool.h>
#include <ashlar/range.h>
#include <ashlar/share.h>
#include <ashlar/source.h>
#include <ashlar/spec.h>
#include <ashlar/stats.h>
#include <ashlar/status.h>
#include <ashlar/tensormap.h>
#include <ashlar/tensormap_cache.h>
#include <ashlar/tensormap_table.h>
#include <ashlar/type.h>
#include <ashlar/version.h>
#include <ashlar/vm.h>

#endif
