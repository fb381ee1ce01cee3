/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * One program of four languages: each file registers CUtensorMap as its own
 * compiler sees it, and tells what that was.
 */
#ifndef ASHLAR_TESTS_UNIT_TEST_MIXED_H
#define ASHLAR_TESTS_UNIT_TEST_MIXED_H

#include <ashlar/type.h>

ASHLAR_BEGIN_DECLS

struct mixed {
    const char *language;
    size_t size;
    size_t alignment;
    enum ashlar_status status;
    const struct ashlar_type *type;
};

void mixed_c99(struct mixed *mixed);
void mixed_c11(struct mixed *mixed);
void mixed_cxx98(struct mixed *mixed);
void mixed_cxx17(struct mixed *mixed);

ASHLAR_END_DECLS

#define MIXED_REGISTER(_mixed, _language)                                      \
    do {                                                                       \
        (_mixed)->language = _language;                                        \
        (_mixed)->size = sizeof(CUtensorMap);                                  \
        (_mixed)->alignment = ASHLAR_ALIGNOF(CUtensorMap);                     \
        (_mixed)->type = NULL;                                                 \
        (_mixed)->status = ASHLAR_REGISTER(CUtensorMap, &(_mixed)->type);      \
    } while (0)

#endif
