/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * The options of sources: of vm, or, when the first byte is a line's end, of
 * the heap.
 */
#include "config.h"

#include "fuzz/fuzz.h"

#include <ashlar.h>

#include <string.h>

/* Open means usable, within what was asked for. */
static void check_open(struct ashlar_source *source)
{
    struct ashlar_source_info info = ASHLAR_SOURCE_INFO_INIT;

    HOLDS(ashlar_source_query(source, &info) == ASHLAR_OK);
    HOLDS((info.granule & (info.granule - 1)) == 0);
    HOLDS((info.can & ASHLAR_CAN_RANGES) == 0 || info.granule != 0);
    HOLDS(ashlar_source_close(source) == ASHLAR_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    const char *name = n != 0 && bytes[0] == '\n' ? "heap" : "vm";
    struct ashlar_source *source = NULL;
    char *options = malloc(n + 1);
    enum ashlar_status status;

    HOLDS(options != NULL);
    memcpy(options, bytes, n);
    options[n] = '\0';
    ashlar_clear_error();
    status = ashlar_source_open(name, options + (n != 0 && bytes[0] == '\n'),
                                &source);
    free(options);
    if (status == ASHLAR_OK) {
        check_open(source);
        return 0;
    }
    HOLDS(source == NULL);
    HOLDS(status == ASHLAR_ERR_INVALID || status == ASHLAR_ERR_NO_MEMORY);
    HOLDS(ashlar_last_error() == status);
    HOLDS(strlen(ashlar_last_error_message()) > 10);
    return 0;
}
