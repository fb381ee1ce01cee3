/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * What is in a plug-in's memory, and who may touch it: by the host where it
 * can, by copies where it cannot.
 */
#ifndef ASHLAR_TOOLS_CHECK_CONTENT_H
#define ASHLAR_TOOLS_CHECK_CONTENT_H

#include "check/model.h"

/** Whether memory can be read and written here at all. */
bool content_is_reachable(const struct subject *subject);

/** Bytes of memory with home's rights, into a buffer or from one. */
bool content_read(struct model *model, uint64_t address, void *buffer,
                  size_t bytes);
bool content_write(struct model *model, uint64_t address, const void *buffer,
                   size_t bytes);

/** Write new stamps into a mapping that home may write. */
void content_stamp(struct model *model, uint32_t mapping);

/** Hold a mapping's stamps against the model, if home may read it. */
void content_check(struct model *model, uint32_t mapping);

/** Whether the host has the rights in a mapping that home was given. */
void content_check_rights(struct model *model, uint32_t mapping);

/** Wait until the work queued on stream 0 is done. */
bool content_wait(struct model *model);

/** Copy a granule from one mapping to another by the plug-in. */
void content_copy(struct model *model, uint32_t to, uint32_t from);

#endif
