/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include <ashlar/status.h>

/* Every status with its meaning in a few words. The switches below have no
 * default, so the compiler names a value that is missing here. */
/* clang-format off */
#define STATUS_LIST(_each)                                                     \
    _each(ASHLAR_OK, "done")                                                   \
    _each(ASHLAR_ERR_INVALID, "argument out of bounds")                        \
    _each(ASHLAR_ERR_MISALIGNED, "not aligned as it must be")                  \
    _each(ASHLAR_ERR_CONFLICT, "conflicts with what is registered")            \
    _each(ASHLAR_ERR_NO_MEMORY, "out of host memory")                          \
    _each(ASHLAR_ERR_NO_DEVICE_MEMORY, "out of device memory")                 \
    _each(ASHLAR_ERR_NO_ADDRESS_SPACE, "out of address space")                 \
    _each(ASHLAR_ERR_LIMIT, "limit reached")                                   \
    _each(ASHLAR_ERR_NO_ROOM, "no room to grow without moving")                \
    _each(ASHLAR_ERR_FRAGMENTED, "enough room, but not side by side")          \
    _each(ASHLAR_ERR_WRONG_OWNER, "belongs to something else")                 \
    _each(ASHLAR_ERR_NOT_LIVE, "not live")                                     \
    _each(ASHLAR_ERR_BUSY, "still in use")                                     \
    _each(ASHLAR_ERR_UNSUPPORTED, "not supported")                             \
    _each(ASHLAR_ERR_NOT_FOUND, "not found")                                   \
    _each(ASHLAR_ERR_NO_PLUGIN, "no such plug-in")                             \
    _each(ASHLAR_ERR_NO_DRIVER, "no driver")                                   \
    _each(ASHLAR_ERR_DRIVER_TOO_OLD, "driver too old")                         \
    _each(ASHLAR_ERR_DRIVER, "a driver call failed")                           \
    _each(ASHLAR_ERR_CONTEXT_FAILED, "the device context had failed before")   \
    _each(ASHLAR_ERR_CAPTURE, "forbidden during a stream capture")             \
    _each(ASHLAR_ERR_FORKED, "not usable after fork")                          \
    _each(ASHLAR_ERR_STALE, "destroyed before")
/* clang-format on */

#define STATUS_NAME(_status, _text)                                            \
    case _status:                                                              \
        return #_status;

#define STATUS_TEXT(_status, _text)                                            \
    case _status:                                                              \
        return _text;

const char *ashlar_status_name(enum ashlar_status status)
{
    switch (status) {
        STATUS_LIST(STATUS_NAME)
    }
    return "unknown status";
}

const char *ashlar_status_text(enum ashlar_status status)
{
    switch (status) {
        STATUS_LIST(STATUS_TEXT)
    }
    return "unknown status";
}
