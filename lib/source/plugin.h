/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * From a file's name to the library's own checked copy of a plug-in's struct.
 *
 *     $ASHLAR_PLUGIN_PATH, beside the library, installed      plugin_folder()
 *         ashlar_NAME.so ─> dlopen ─> ashlar_plugin_v1        plugin_load()
 *             abi, size, name, groups ─> copy, completed      plugin_check()
 *
 * Invariants: every member of a copy can be called, those of a group that is
 * not there say "unsupported"; the plug-in's own struct is never used.
 */
#ifndef ASHLAR_SOURCE_PLUGIN_H
#define ASHLAR_SOURCE_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ashlar/plugin.h>

/** Room for a name, and for "/ashlar_NAME.so". */
#define SOURCE_NAME_BYTES 32
#define SOURCE_FILE_BYTES 64

/** Room for a plug-in's path: that of its folder, and its file. */
#define SOURCE_FOLDER_BYTES 4096
#define SOURCE_PATH_BYTES   (SOURCE_FOLDER_BYTES + SOURCE_FILE_BYTES)

/** Whether a text is a name for a plug-in: [a-z0-9_]+, not too long. */
bool plugin_name_is_good(const char *name);

/** All the groups that this library knows: ASHLAR_CAN_*. */
uint64_t plugin_groups(void);

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
                                const char *name, struct ashlar_plugin *own_out,
                                uint64_t *can_out);

/**
 * Find ashlar_NAME.so, load it, check it.
 *
 * @param path_out  Receives SOURCE_PATH_BYTES at most: the file's path, also
 *                  when it was refused.
 *
 * @return ASHLAR_OK; ASHLAR_ERR_NO_PLUGIN with the reason.
 */
enum ashlar_status plugin_load(const char *name, struct ashlar_plugin *own_out,
                               uint64_t *can_out, char *path_out);

/**
 * The i-th folder that plug-ins are looked for in.
 *
 * @param folder_out  Receives SOURCE_FOLDER_BYTES at most; "" when there is no
 *                    such folder.
 *
 * @return False behind the last.
 */
bool plugin_folder(unsigned i, char *folder_out);

/** Load one file, and say why if it is refused. */
enum ashlar_status plugin_load_file(const char *path, const char *name,
                                    struct ashlar_plugin *own_out,
                                    uint64_t *can_out);

#endif
