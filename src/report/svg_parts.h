/* The layer that all SVG drawings share: document head, text, axes, hatches and legends.
 *
 * A drawing decides where its parts are and calls this layer to write them. Coordinates are pixels, before the viewer
 * scales them. Numbers are formatted in the current locale, which must have decimal points, such as C. The caller
 * checks files for write errors. */
#ifndef CYCLESCOPE_REPORT_SVG_PARTS_H
#define CYCLESCOPE_REPORT_SVG_PARTS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    SVG_MARGIN = 16,
    SVG_TITLE = 16,        /* font size of the title */
    SVG_FONT = 12,         /* font size of all other text */
    SVG_SWATCH = 20,       /* width of a colored rectangle of the legend */
    SVG_LEGEND_GAP = 8,    /* between that rectangle and its label */
    SVG_LEGEND_PITCH = 24, /* from row to row of the legend */
};

/* ---- the document */

/* Writes everything up to the title, on a white background. A drawing without a title has no line for it. The title on
 * the drawing has at most `title_most` characters; the one that viewers show is complete. */
void svg_begin(double width, double height, const char *title, size_t title_most, FILE *to);
void svg_end(FILE *to);

/* Writes `text` with markup escaped; NULL is the empty text. Bytes that are not UTF-8 and characters that are not
 * printable are replaced. Text of more than `most` characters ends in an ellipsis. */
void svg_text(const char *text, size_t most, FILE *to);

/* ---- plots and their axes */

/* A vertical axis. Both ends are multiples of `step`, which is 1, 2 or 5 times a power of ten. */
struct svg_axis {
    double low, high;
    double step; /* from tick to tick */
};

/* An axis for values from `low` to `high` with about `ticks` ticks, and at least one step long. */
struct svg_axis svg_axis_fit(double low, double high, unsigned ticks);

enum { SVG_TICK_SIZE = 32 };
/* The label of a tick: the number with as many decimals as the step needs, and `unit`. Returns `text`. */
const char *svg_tick_text(const struct svg_axis *a, double tick, const char *unit, char text[SVG_TICK_SIZE]);

/* The rectangle between the axes. */
struct svg_plot {
    FILE *to;
    double left, top, width, height;
    int decimals;      /* of the coordinates of the rectangle and its legend: 0 if they are whole pixels */
    struct svg_axis y; /* the vertical axis */
    double insns;      /* the horizontal axis: instructions, or what else it counts, at its right end */
};

double svg_x(const struct svg_plot *p, double insn);
double svg_y(const struct svg_plot *p, double value); /* the upper edge for values above the axis */

/* The ticks of the vertical axis, with horizontal lines through the plot. */
void svg_y_axis(const struct svg_plot *p, const char *unit);
/* The label of the vertical axis, turned by 90 degrees, with its baseline at `x`. */
void svg_y_label(const struct svg_plot *p, double x, const char *text);
/* The ticks of the horizontal axis below the plot, at most `ticks` of them after 0. `insns` must be set. */
void svg_x_axis(const struct svg_plot *p, unsigned ticks);
/* The label of the horizontal axis. */
void svg_x_label(const struct svg_plot *p, const char *text);
/* A triangle with its middle at `x` above the plot, where a value is higher than the axis; `value` is its tooltip. */
void svg_cut(const struct svg_plot *p, double x, const char *value);

/* ---- hatches and legends */

enum { SVG_ID_SIZE = 64 };

/* Writes a fill pattern: a color (0xrrggbb) with a hatch over it, which is a path on a tile of 8 by 8 and its stroke
 * attributes. Hatches distinguish areas in gray prints and for color-blind readers. Call it between <defs> and
 * </defs>. */
void svg_pattern(const char *id, uint32_t color, const char *hatch, const char *stroke, FILE *to);
/* A row of a legend: a rectangle filled with the pattern `id`, and its label. */
void svg_legend_row(const struct svg_plot *p, double x, double y, const char *id, const char *label);

#endif
