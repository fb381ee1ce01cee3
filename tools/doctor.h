/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * What the doctor looks at, a file each; all add what they find.
 */
#ifndef ASHLAR_TOOLS_DOCTOR_H
#define ASHLAR_TOOLS_DOCTOR_H

#include <stdbool.h>

#include "findings.h"

/**
 * The library that is running: version, build, jemalloc, static TLS.
 */
void doctor_library(struct findings *findings);

/**
 * The alignment that slots of CUtensorMap really have: the largest power of
 * two that divides all addresses looked at; 0 when there is no slot.
 */
unsigned doctor_slots(struct findings *findings);

/**
 * Toolkit headers, and what they declare against what is served.
 *
 * @param folder  Look here too; NULL for nowhere else.
 * @param served  From doctor_slots().
 */
void doctor_toolkit(struct findings *findings, const char *folder,
                    unsigned served);

/** The driver's library. Returns whether it is there. */
bool doctor_driver(struct findings *findings);

/**
 * Sources found and refused, and whether ranges on vm, and on cuda where there
 * is a driver, grow. Other plug-ins are loaded, not opened.
 *
 * @param driver  From doctor_driver().
 */
void doctor_sources(struct findings *findings, bool driver);

/** What the system allows a process. */
void doctor_limits(struct findings *findings);

#endif
