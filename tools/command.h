/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The commands of the program ashlar, one a file, and how they end.
 */
#ifndef ASHLAR_TOOLS_COMMAND_H
#define ASHLAR_TOOLS_COMMAND_H

#include <stdint.h>
#include <stdio.h>

#include <argp.h>

/** Something is wrong with what was asked for, or with the machine. */
#define EXIT_WRONG 1
/** The command line is wrong; 128 and more are signals (stop.h). */
#define EXIT_USAGE 2

/**
 * Each takes its own part of the command line, argv[0] being "ashlar NAME",
 * and returns the program's exit status.
 */
int command_prepare(int argc, char **argv);
int command_types(int argc, char **argv);
int command_doctor(int argc, char **argv);
int command_sources(int argc, char **argv);
int command_range(int argc, char **argv);
int command_check_plugin(int argc, char **argv);
int command_check_spec(int argc, char **argv);

/** A whole number out of bounds, or no number, ends the program by usage. */
uint64_t command_number(const struct argp_state *state, const char *option,
                        const char *text, uint64_t min, uint64_t max);

/** "2M" in bytes; what is no size, or 0, ends the program by usage. */
uint64_t command_bytes(const struct argp_state *state, const char *option,
                       const char *text);

/** End output: status, or EXIT_WRONG when it could not all be written. */
int command_finish(FILE *stream, int status);

/** Hand what the library has to say to standard error. */
void command_log(void);

#endif
