/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "line.h"

#include <stdio.h>
#include <string.h>

void line_read(const char *path, char *line, size_t bytes)
{
    FILE *stream = fopen(path, "re");

    line[0] = '\0';
    if (stream == NULL)
        return;
    if (fgets(line, (int)bytes, stream) != NULL)
        line[strcspn(line, "\n")] = '\0';
    fclose(stream);
}
