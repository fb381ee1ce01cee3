/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * What a shared object wants from others, from its table of dynamic symbols.
 */
#ifndef ASHLAR_TOOLS_CHECK_ELF_H
#define ASHLAR_TOOLS_CHECK_ELF_H

#include "check/report.h"

/**
 * Try CHECK_ALONE: no undefined symbol begins with "ashlar_". Loading cannot
 * tell, since this program has libashlar loaded.
 */
void elf_check_alone(struct check_report *report, const char *path);

#endif
