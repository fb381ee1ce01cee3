/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * A table on a terminal: columns as wide as they need, cut to the screen.
 *
 *     KERNEL         TENSORS   BYTES        titles
 *     qkv                  3   384 B        rows
 *     ------------------------------        grid_rule()
 *     1 kernel             3   384 B
 */
#ifndef ASHLAR_TOOLS_GRID_H
#define ASHLAR_TOOLS_GRID_H

#include <stdbool.h>
#include <stdio.h>

#include "look.h"

struct grid;

enum grid_side { GRID_LEFT, GRID_RIGHT };

struct grid *grid_create(void);
void grid_destroy(struct grid *grid);

/** Add a column, before the first cell. The title is borrowed. */
void grid_column(struct grid *grid, enum grid_side side, const char *title);

/** Add the next cell; a row is full when it has a cell for each column. */
void grid_cell(struct grid *grid, const char *text);

/** A line before the next row. */
void grid_rule(struct grid *grid);

/** A line, and under it a row of one text that looks like a title. */
void grid_heading(struct grid *grid, const char *text);

/**
 * Print it. What does not fit in look->columns is taken from the first
 * column, whose texts are cut.
 */
void grid_print(const struct grid *grid, FILE *stream, const struct look *look);

#endif
