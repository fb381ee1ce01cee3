/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "grid.h"

#include <stdlib.h>

#include "human.h"
#include "must.h"

#define COLUMNS_MOST 12
#define GAP          2
#define FIRST_LEAST  12 /* the first column is not cut to less */

struct rule {
    size_t cell;  /* the line is before the row of this one */
    bool heading; /* and the row is a heading */
};

struct grid {
    size_t columns;
    enum grid_side sides[COLUMNS_MOST];
    const char *titles[COLUMNS_MOST];
    size_t cells;
    char **texts; /* row by row */
    size_t rules;
    struct rule *list;
};

struct grid *grid_create(void)
{
    return must_alloc(1, sizeof(struct grid));
}

void grid_destroy(struct grid *grid)
{
    size_t i;

    for (i = 0; i < grid->cells; i++)
        free(grid->texts[i]);
    free(grid->texts);
    free(grid->list);
    free(grid);
}

void grid_column(struct grid *grid, enum grid_side side, const char *title)
{
    grid->sides[grid->columns] = side;
    grid->titles[grid->columns] = title;
    grid->columns++;
}

void grid_cell(struct grid *grid, const char *text)
{
    size_t n = grid->cells;

    if ((n & (n - 1)) == 0)
        grid->texts =
            must_grow(grid->texts, n == 0 ? 1 : 2 * n, sizeof(grid->texts[0]));
    grid->texts[n] = must_copy(text);
    grid->cells++;
}

static void add_rule(struct grid *grid, bool heading)
{
    struct rule rule = {grid->cells, heading};

    grid->list = must_grow(grid->list, grid->rules + 1, sizeof(grid->list[0]));
    grid->list[grid->rules++] = rule;
}

void grid_rule(struct grid *grid)
{
    add_rule(grid, false);
}

void grid_heading(struct grid *grid, const char *text)
{
    size_t i;

    add_rule(grid, true);
    grid_cell(grid, text);
    for (i = 1; i < grid->columns; i++)
        grid_cell(grid, "");
}

/* The width of each column; returns the width of all. */
static size_t measure(const struct grid *grid, size_t *widths)
{
    size_t i, total = GAP * (grid->columns - 1);

    for (i = 0; i < grid->columns; i++)
        widths[i] = human_columns(grid->titles[i]);
    for (i = 0; i < grid->cells; i++) {
        size_t width = human_columns(grid->texts[i]);

        if (width > widths[i % grid->columns])
            widths[i % grid->columns] = width;
    }
    for (i = 0; i < grid->columns; i++)
        total += widths[i];
    return total;
}

/* Take from the first column what the screen has not. */
static size_t fit(size_t *widths, size_t total, size_t screen)
{
    size_t excess = total > screen ? total - screen : 0;
    size_t spare = widths[0] > FIRST_LEAST ? widths[0] - FIRST_LEAST : 0;

    if (excess > spare)
        excess = spare;
    widths[0] -= excess;
    return total - excess;
}

static void print_cell(const struct grid *grid, size_t column, const char *text,
                       size_t width, FILE *stream, const struct look *look)
{
    char *shown = human_printable(text, width, look_ellipsis(look));
    int pad = (int)(width - human_columns(shown));

    if (grid->sides[column] == GRID_RIGHT)
        fprintf(stream, "%*s%s", pad, "", shown);
    else if (column + 1 < grid->columns)
        fprintf(stream, "%s%*s", shown, pad, "");
    else
        fputs(shown, stream);
    fprintf(stream, "%*s", column + 1 < grid->columns ? GAP : 0, "");
    free(shown);
}

static void print_rule(size_t width, FILE *stream, const struct look *look)
{
    fputs(look_colour(look, LOOK_FAINT), stream);
    while (width-- != 0)
        fputs(look->utf8 ? "\xe2\x94\x80" : "-", stream);
    fprintf(stream, "%s\n", look_colour(look, LOOK_PLAIN));
}

static void print_titles(const struct grid *grid, const size_t *widths,
                         FILE *stream, const struct look *look)
{
    size_t i;

    fputs(look_colour(look, LOOK_BOLD), stream);
    for (i = 0; i < grid->columns; i++)
        print_cell(grid, i, grid->titles[i], widths[i], stream, look);
    fprintf(stream, "%s\n", look_colour(look, LOOK_PLAIN));
}

static void print_row(const struct grid *grid, size_t cell,
                      const size_t *widths, FILE *stream,
                      const struct look *look)
{
    size_t i;

    for (i = 0; i < grid->columns; i++)
        print_cell(grid, i, grid->texts[cell + i], widths[i], stream, look);
    fputc('\n', stream);
}

void grid_print(const struct grid *grid, FILE *stream, const struct look *look)
{
    size_t widths[COLUMNS_MOST];
    size_t width = fit(widths, measure(grid, widths), look->columns);
    size_t cell, rule = 0;

    print_titles(grid, widths, stream, look);
    for (cell = 0; cell < grid->cells; cell += grid->columns) {
        bool ruled = rule < grid->rules && grid->list[rule].cell == cell;
        bool heading = ruled && grid->list[rule].heading;

        if (ruled) {
            print_rule(width, stream, look);
            rule++;
        }
        if (heading)
            fprintf(stream, "%s%s%s\n", look_colour(look, LOOK_BOLD),
                    grid->texts[cell], look_colour(look, LOOK_PLAIN));
        else
            print_row(grid, cell, widths, stream, look);
    }
}
