/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * From a plug-in's struct to the library's own checked copy.
 */
#ifndef ASHLAR_SOURCE_CHECK_H
#define ASHLAR_SOURCE_CHECK_H

#include <ashlar/plugin.h>

/**
 * Copy what both sides know of a plug-in, check it, and complete it.
 *
 * @param given     As the plug-in exports it.
 * @param name      The name it was asked for by; NULL: any.
 * @param own_out   Receives the copy: every member callable.
 * @param can_out   Receives the groups that are there: ASHLAR_CAN_*.
 *
 * @return ASHLAR_OK; ASHLAR_ERR_NO_PLUGIN with the reason.
 */
enum ashlar_status plugin_check(const struct ashlar_plugin *given,
                                const char *name,
                                struct ashlar_plugin *own_out,
                                uint64_t *can_out);

/** Whether a text is a name for a plug-in: [a-z0-9_]+, not too long. */
/** Room for "/ashlar_NAME.so". */
#define SOURCE_FILE_BYTES 64

int plugin_name_is_good(const char *name);

/**
 * Find ashlar_NAME.so, load it, check it.
 *
 * @param path_out  Receives the file's path, cut to `bytes`.
 */
enum ashlar_status plugin_load(const char *name, struct ashlar_plugin *own_out,
                               uint64_t *can_out, char *path_out, size_t bytes);

/** The i-th folder that plug-ins are looked for in; NULL behind the last. */
const char *plugin_folder(unsigned i, char *buffer, size_t bytes);

/** Load one file, and say why if it is refused. */
enum ashlar_status plugin_load_file(const char *path, const char *name,
                                    struct ashlar_plugin *own_out,
                                    uint64_t *can_out);

#endif
