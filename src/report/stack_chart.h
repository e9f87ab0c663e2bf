/* CPI stacks as pictures: bars of text for a terminal or a log, and SVG for pages and print.
 *
 * A chart is plain data: groups (programs, say) of bars (methods, say) of components. Components above zero are stacked
 * from the zero line up, in the order of component.def, and those below zero from it down, so what is drawn of a bar is
 * as long as its total only where nothing is negative. A value that is not a number, or beyond 1e12, takes no room, and
 * the total of its bar is given as n/a.
 *
 * Names may be anything: what is not UTF-8 or not printable is replaced, what is too long is cut and ends in an
 * ellipsis. NULL is the empty name; names that are all empty take no room. On a terminal each character counts as one
 * column, so wide ones break the alignment.
 *
 * Numbers are written as the locale has them, so SVG needs one with decimal points, as C's. */
#ifndef CYCLESCOPE_REPORT_STACK_CHART_H
#define CYCLESCOPE_REPORT_STACK_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "stacks/stacks.h"

struct stack_bar {
    const char *name;
    const double *cpi; /* COMPONENTS values, by enum component */
};

/* Bars side by side. */
struct stack_group {
    const char *name;
    size_t count;
    const struct stack_bar *bar;
    double hundred; /* the CPI that is 100 %, in a normalized chart */
};

struct stack_chart {
    const char *title;
    size_t count;
    const struct stack_group *group;
    bool normalized; /* in percent of each group's `hundred`, not in CPI */
};

/* One line per bar, with its total at the end; the longest one fills the columns. Components are letters; in colour
 * also cells of 24-bit colours. Fewer columns than names, totals and a bar of ten cells need are taken as that many. */
void stack_bars_print(const struct stack_chart *chart, FILE *to, bool colour, unsigned columns);

/* A complete SVG document without references to others. Errors of the file are the caller's to find. */
void stack_svg_write(const struct stack_chart *chart, FILE *to);

/* ---- what both draw by */

/* How far a bar reaches on either side of zero, in CPI or percent, and what its components sum to. */
struct stack_reach {
    double below, above; /* neither is negative */
    double total;        /* not finite: n/a */
};

/* A component's CPI or percent; 0 if it cannot be drawn. */
double stack_part(const struct stack_chart *chart, const struct stack_group *group, double cpi);
struct stack_reach stack_bar_reach(const struct stack_chart *chart, const struct stack_group *group,
                                   const struct stack_bar *bar);
/* The largest of all bars on either side; of the totals, none. */
struct stack_reach stack_chart_reach(const struct stack_chart *chart);
/* Is the component nonzero somewhere? */
bool stack_chart_has(const struct stack_chart *chart, enum component c);

enum { REPLACEMENT_CHARACTER = 0xfffd };

/* The next character of a name, which is left behind; REPLACEMENT_CHARACTER for what is invalid or not printable, 0 at
 * the end. */
uint32_t stack_name_next(const char **name);
size_t stack_name_length(const char *name);

#endif
