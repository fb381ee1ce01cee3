/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * The other process of tests of sharing: the same program, started anew, which
 * imports ranges and does what it is told over a socket.
 *
 *     test  ── order, description, descriptors ──>  importer
 *           <── what came of it ──────────────────
 */
#ifndef ASHLAR_TESTS_UNIT_SHARE_IMPORTER_H
#define ASHLAR_TESTS_UNIT_SHARE_IMPORTER_H

#include <stdint.h>
#include <sys/types.h>

#include <ashlar.h>

#include "support/courier.h"

/* The argument by which the program knows that it is the importer. */
#define IMPORTER_ARGUMENT "--importer"

enum importer_verb {
    IMPORTER_IMPORT,  /* number: reserve_bytes */
    IMPORTER_MORE,    /* import_more into the range */
    IMPORTER_READ,    /* number: offset; gives the word there */
    IMPORTER_WRITE,   /* number: offset; writes ~offset */
    IMPORTER_FORBID,  /* try what an importer may not do; gives how much went */
    IMPORTER_DESTROY, /* the range */
    IMPORTER_COUNT    /* what of the process is open and given out */
};

struct importer_order {
    enum importer_verb verb;
    uint64_t number;
};

struct importer_answer {
    enum ashlar_status status;
    uint64_t base;
    uint64_t used_bytes;
    uint64_t reserved_bytes;
    uint64_t number;     /* what READ and FORBID give */
    uint64_t calls;      /* operations of the source that the order took */
    uint64_t files;      /* descriptors open in the process */
    uint64_t given_out;  /* reservations, chunks, mappings of the source */
    char sentence[1024]; /* of the last error */
};

struct importer {
    pid_t process;
    int socket;
};

/* Start one, on a source with these options. Fails the test case when it
 * cannot. */
struct importer importer_start(const char *options);

/* Give an order, with bytes and descriptors that stay the caller's. */
struct importer_answer importer_ask(const struct importer *importer,
                                    enum importer_verb verb, uint64_t number,
                                    const void *bytes, size_t length,
                                    const int *fds, size_t fd_count);

/* Let it end, and see that it closed its source with nothing left. */
void importer_end(struct importer *importer);

/* End it where it stands. */
void importer_kill(struct importer *importer);

/* How many descriptors are open in this process. */
uint64_t importer_count_files(void);

/* What main() does in the other process. */
int importer_main(int argc, char **argv);

#endif
