/* CPI stacks as charts: bars of characters for a terminal or a log, and SVG for documents and print.
 *
 * A chart is plain data: groups (for example programs) of bars (for example methods) of components. Positive components
 * are stacked from the zero line up, in the order of component.def, and negative ones from the zero line down. The
 * drawn length of a bar is its total only if no component is negative. A component that is not a number, or exceeds
 * 1e12, is not drawn, and the total of its bar is shown as n/a.
 *
 * Names may contain any bytes: bytes that are not UTF-8 and characters that are not printable are replaced, and long
 * names end in an ellipsis. NULL is the empty name. If all names are empty, no space is reserved for them.
 *
 * Limits: on a terminal each character counts as one column, so wide characters break the alignment. Numbers are
 * formatted in the current locale, so SVG needs a locale with decimal points, such as C. */
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
    double hundred; /* in a normalized chart: the CPI that is 100 % */
};

struct stack_chart {
    const char *title;
    size_t count;
    const struct stack_group *group;
    bool normalized; /* show percent of each group's `hundred` instead of CPI */
};

/* Prints one line per bar with its total at the end; the longest bar fills `columns`. Components are letters, and with
 * `color` also cells with 24-bit terminal colors. If `columns` is too small for names, totals and bars of ten cells,
 * lines are longer than `columns`. */
void stack_bars_print(const struct stack_chart *chart, FILE *to, bool color, unsigned columns);

/* Writes a complete SVG document without external references. The caller checks `to` for write errors. */
void stack_svg_write(const struct stack_chart *chart, FILE *to);

/* ---- shared by both kinds of chart */

/* Length of a bar on either side of zero, and the sum of its components, in CPI or percent. */
struct stack_reach {
    double below, above; /* lengths, both >= 0 */
    double total;        /* not finite if a component cannot be drawn: shown as n/a */
};

/* A component in the unit of the chart, CPI or percent; 0 if it cannot be drawn. */
double stack_part(const struct stack_chart *chart, const struct stack_group *group, double cpi);
struct stack_reach stack_bar_reach(const struct stack_chart *chart, const struct stack_group *group,
                                   const struct stack_bar *bar);
/* The largest `below` and `above` of all bars. `total` is 0. */
struct stack_reach stack_chart_reach(const struct stack_chart *chart);
/* Whether any bar has a nonzero part of this component. */
bool stack_chart_has(const struct stack_chart *chart, enum component c);

enum { REPLACEMENT_CHARACTER = 0xfffd };

/* Decodes the next UTF-8 character and advances `*name` past it. REPLACEMENT_CHARACTER for a byte that is invalid or a
 * character that is not printable; 0 at the end. */
uint32_t stack_name_next(const char **name);
size_t stack_name_length(const char *name); /* in characters */

#endif
