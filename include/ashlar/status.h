/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * What a call says when it is refused: a status, and a sentence.
 *
 * A function that returns memory returns NULL on failure; every other function
 * that can fail returns an enum ashlar_status. In both cases the calling
 * thread's last error then holds the status and what was wrong, with the
 * values: ashlar_last_error() and ashlar_last_error_message(). A refused call
 * has changed nothing. Success does not clear the last error.
 *
 * The library never exits, aborts or prints. What it has to say beside a
 * status goes to the log callback, ashlar_set_log().
 */
#ifndef ASHLAR_STATUS_H
#define ASHLAR_STATUS_H

#include <ashlar/export.h>

ASHLAR_BEGIN_DECLS

/**
 * What happened. New values may be appended: keep a default in a switch.
 */
enum ashlar_status {
    /** Done. */
    ASHLAR_OK = 0,
    /** An argument is out of its documented bounds. */
    ASHLAR_ERR_INVALID = -1,
    /** An address or size is not aligned as it must be, or lies inside a slot. */
    ASHLAR_ERR_MISALIGNED = -2,
    /** A name is taken by a type of another size or a fixed alignment. */
    ASHLAR_ERR_CONFLICT = -3,
    /** The host has no memory left for it. */
    ASHLAR_ERR_NO_MEMORY = -4,
    /** The device has no memory left for it. */
    ASHLAR_ERR_NO_DEVICE_MEMORY = -5,
    /** No stretch of addresses of that length is left. */
    ASHLAR_ERR_NO_ADDRESS_SPACE = -6,
    /** A limit that the caller set (max_slots, a quota) is reached. */
    ASHLAR_ERR_LIMIT = -7,
    /** It cannot grow where it is, and may not move. */
    ASHLAR_ERR_NO_ROOM = -8,
    /** There is enough room, but not side by side. */
    ASHLAR_ERR_FRAGMENTED = -9,
    /** The pointer does not belong to this object. */
    ASHLAR_ERR_WRONG_OWNER = -10,
    /** The slot or run is not live: it was put already, or never handed out. */
    ASHLAR_ERR_NOT_LIVE = -11,
    /** Something is still in use. */
    ASHLAR_ERR_BUSY = -12,
    /** This object, source or build cannot do it. */
    ASHLAR_ERR_UNSUPPORTED = -13,
    /** Nothing of that name exists. */
    ASHLAR_ERR_NOT_FOUND = -14,
    /** No plug-in of that name could be loaded. */
    ASHLAR_ERR_NO_PLUGIN = -15,
    /** The driver's library is not there. */
    ASHLAR_ERR_NO_DRIVER = -16,
    /** The driver lacks an entry point that is needed. */
    ASHLAR_ERR_DRIVER_TOO_OLD = -17,
    /** A driver call failed; the sentence has its name and number. */
    ASHLAR_ERR_DRIVER = -18,
    /** The device context had failed before this call. */
    ASHLAR_ERR_CONTEXT_FAILED = -19,
    /** A stream capture forbids it. */
    ASHLAR_ERR_CAPTURE = -20,
    /** The object belongs to the parent process and cannot be used here. */
    ASHLAR_ERR_FORKED = -21,
    /** The handle's object was destroyed. */
    ASHLAR_ERR_STALE = -22
};

/**
 * The name of a status, such as "ASHLAR_ERR_BUSY".
 *
 * @param status  Any value, also one this library does not know.
 *
 * @return A constant string, never NULL, never freed.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API const char *ashlar_status_name(enum ashlar_status status)
    ASHLAR_CONST;

/**
 * The meaning of a status in a few words, such as "still in use".
 *
 * @param status  Any value, also one this library does not know.
 *
 * @return A constant string, never NULL, never freed.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API const char *ashlar_status_text(enum ashlar_status status)
    ASHLAR_CONST;

/**
 * The status of the last call on this thread that was refused.
 *
 * @return ASHLAR_OK when none was; success of a later call does not clear it.
 *
 * @par Threads  Any thread; each has its own.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status ashlar_last_error(void);

/**
 * A sentence about the last call on this thread that was refused: what was
 * wrong, with the values, and what would be right.
 *
 * The sentence is made here, not when the call is refused, so a refusal that
 * nobody asks about costs no formatting.
 *
 * @return A string owned by the thread, valid until its next call of this
 *         function or its end; "no error" when nothing was refused; never NULL.
 *
 * @par Threads  Any thread; each has its own.
 * @since 0.1
 */
ASHLAR_API const char *ashlar_last_error_message(void);

/**
 * Forget the thread's last error.
 *
 * @par Threads  Any thread; each has its own.
 * @since 0.1
 */
ASHLAR_API void ashlar_clear_error(void);

/** How much a log line matters. */
enum ashlar_log_level {
    /** Something went wrong that no return value could tell. */
    ASHLAR_LOG_ERROR = 1,
    /** Worth a look: a fallback was taken, a promise is weaker than asked. */
    ASHLAR_LOG_WARNING = 2,
    /** Growth, trims, plug-ins loaded. */
    ASHLAR_LOG_INFO = 3
};

/**
 * Receives what the library has to say.
 *
 * Called on the thread that caused the line, with no lock of the library held,
 * so it may call the library; a line caused inside the callback is dropped.
 *
 * @param level    How much the line matters.
 * @param message  One line without newline; valid during the call.
 * @param user     What was given to ashlar_set_log().
 */
typedef void ashlar_log_fn(enum ashlar_log_level level, const char *message,
                           void *user);

/**
 * Name the function that receives log lines, for the whole process.
 *
 * @param fn    NULL for none, which is how a process starts.
 * @param user  Handed to fn as it is; borrowed until the next call.
 *
 * @par Threads  Any thread; a line that is on its way on another thread may
 *               still reach the previous function shortly after.
 * @since 0.1
 */
ASHLAR_API void ashlar_set_log(ashlar_log_fn *fn, void *user);

ASHLAR_END_DECLS

#endif
