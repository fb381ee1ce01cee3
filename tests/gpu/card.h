/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * A real card, for the tests in this folder: its context, and kernels that
 * write, count, and spin.
 *
 * Words are 32 bits: word i of a stretch stamped with s is s + i.
 */
#ifndef ASHLAR_TESTS_GPU_CARD_H
#define ASHLAR_TESTS_GPU_CARD_H

#include <stdbool.h>
#include <stdint.h>

#include <ashlar.h>

#include "support/cu.h"
#include "support/suite.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

/* As CU(), of the library's calls. */
#define OK(_call)                                                              \
    do {                                                                       \
        enum ashlar_status ok_status = (_call);                                \
        ck_assert_msg(ok_status == ASHLAR_OK, "%s: %s: %s", #_call,            \
                      ashlar_status_name(ok_status),                           \
                      ashlar_last_error_message());                            \
    } while (0)

/*
 * Why there is no card to test on; NULL when there is one. Starts no driver in
 * this process, so that a test may fork before it does.
 */
const char *card_missing(void);

/* How many cards there are; asked in a process of its own. */
int card_count(void);

/* Start the driver, make the card's primary context current, load kernels. */
void card_start(void);

/* Free bytes of the card. */
uint64_t card_free_bytes(void);

/* A stream that the default one does not wait for. */
CUstream card_stream(void);

/* Stamp words from an address on. */
void card_fill(CUstream stream, uint64_t address, uint64_t bytes,
               uint32_t stamp);

/* How many words are not as stamped, as a kernel sees them. Waits. */
uint32_t card_count_wrong(uint64_t address, uint64_t bytes, uint32_t stamp);

/* Start a kernel that writes there over and over, until it is told to stop. */
void card_spin(CUstream stream, uint64_t address, uint64_t bytes);
void card_stop(void);

/*
 * The main function of a program that prints times: one test, with a card;
 * skipped without. rounds is how many unless an argument says otherwise.
 */
int card_speed_main(int argc, char **argv, const char *name, const TTest *test,
                    unsigned *rounds, unsigned rounds_most);

/* A clock that only goes forward. */
double card_now_us(void);

/* Of 1 or more values, which are put in order. */
double card_median(double *values, unsigned count);

/* From the issue of some work on a stream until it is done, in microseconds: of
 * each of up to three kinds, which take turns, the median of many times.
 * `prepare` and `clear`, which may be NULL, are not timed. */
struct card_work {
    void (*prepare)(void *user);
    void (*issue)(void *user);
    void (*clear)(void *user);
    void *user;
};
void card_times_us(CUstream stream, const struct card_work *works,
                   double *times_out, size_t count);

#endif
