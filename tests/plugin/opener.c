/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * opener NAME [OPTIONS]: opens a source, and prints a line for each of: the
 * status, the plug-in's file, the sentence, and whether the process has more
 * rights than its caller.
 */
#include <ashlar/source.h>
#include <ashlar/status.h>
#include <stdio.h>
#include <sys/auxv.h>

int main(int argc, char **argv)
{
    struct ashlar_source_info info = ASHLAR_SOURCE_INFO_INIT;
    struct ashlar_source *source = NULL;
    enum ashlar_status status;

    if (argc < 2)
        return 2;
    status = ashlar_source_open(argv[1], argc > 2 ? argv[2] : NULL, &source);
    if (status == ASHLAR_OK)
        (void)ashlar_source_query(source, &info);
    printf("status %s\npath %s\nsentence %s\nprivileged %d\n",
           ashlar_status_name(status), info.path == NULL ? "" : info.path,
           status == ASHLAR_OK ? "" : ashlar_last_error_message(),
           getauxval(AT_SECURE) != 0);
    return 0;
}
