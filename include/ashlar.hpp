/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * All of ashlar in C++17 and later: classes over the C functions, header only.
 *
 *     ashlar::pool<CUtensorMap> maps;          registers the type, makes a pool
 *     auto map = maps.get();                   a slot, which puts itself back
 *     cuTensorMapEncodeTiled(map.get(), ...);
 *
 * A class holds the C handle and nothing that the C call does not need, so it
 * costs what the C call costs. What a function does, what it refuses and from
 * which threads it may be called is what the C function does that its comment
 * names; the comment says the rest.
 *
 * Failure has two forms, side by side:
 *   - plain: throws ashlar::error, with the status and the sentence;
 *   - with std::nothrow as the first argument: what makes an object makes an
 *     empty one, which is false in a condition, and what does something
 *     returns the status; ashlar_last_error_message() has the sentence.
 * Without exceptions (-fno-exceptions, or ASHLAR_NO_EXCEPTIONS defined) only
 * the second form is there. Destructors and moves never throw.
 */
#ifndef ASHLAR_HPP
#define ASHLAR_HPP

#include <ashlar.h>

#include <ashlar/allocator.hpp>
#include <ashlar/arena.hpp>
#include <ashlar/cache.hpp>
#include <ashlar/error.hpp>
#include <ashlar/finding.hpp>
#include <ashlar/pool.hpp>
#include <ashlar/range.hpp>
#include <ashlar/slot.hpp>
#include <ashlar/source.hpp>
#include <ashlar/spec.hpp>
#include <ashlar/tensormap.hpp>
#include <ashlar/tensormap_cache.hpp>
#include <ashlar/tensormap_table.hpp>
#include <ashlar/type.hpp>

#endif
