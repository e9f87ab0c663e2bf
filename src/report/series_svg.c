#include <math.h>
#include <stdlib.h>

#include "report/series_picture.h"
#include "report/svg_parts.h"

/* Sizes in pixels, before the viewer scales them. */
enum { PLOT_LEFT = 72, PLOT_WIDTH = 840, PLOT_HEIGHT = 90, GAP = 34, STRIP = 18 };
enum { COLUMNS = PLOT_WIDTH / 2, TITLE_MOST = 110, TICKS = 3, TICKS_OF_X = 8 };

struct drawing {
    const struct series_report *r;
    struct svg_plot plot; /* the current graph */
    size_t count;         /* columns */
    double *value;        /* of the current graph, by column */
};

static double x_of(const struct drawing *d, size_t column)
{
    return PLOT_LEFT + (double)PLOT_WIDTH * (double)column / (double)d->count;
}

static double graphs_top(void)
{
    return SVG_MARGIN + 3.5 * SVG_TITLE;
}

static double graphs_bottom(const struct series_report *r)
{
    return graphs_top() + (double)r->metrics * (PLOT_HEIGHT + GAP) - GAP;
}

static void put_head(const struct series_report *r, FILE *to)
{
    double height = graphs_bottom(r) + (r->phase ? STRIP + 4 : 0) + 4 * SVG_FONT + SVG_MARGIN;
    svg_begin(PLOT_LEFT + PLOT_WIDTH + 2 * SVG_MARGIN, height, r->run->program, TITLE_MOST, to);
}

/* The common x axis, with its line at `bottom`. */
static void put_axis(struct drawing *d, double bottom)
{
    d->plot.top = bottom - PLOT_HEIGHT;
    svg_x_axis(&d->plot, TICKS_OF_X);
    svg_x_label(&d->plot, "instructions");
}

/* Draws one step per column; a column without a value interrupts the line. */
static void put_line(const struct drawing *d, const char *label)
{
    bool open = false;
    fputs("<path class=\"line\" fill=\"none\" stroke=\"#0072b2\" stroke-width=\"1.3\" d=\"", d->plot.to);
    for (size_t c = 0; c < d->count; c++) {
        bool known = !isnan(d->value[c]);
        if (known && !open)
            fprintf(d->plot.to, "M%.2f %.2fH%.2f", x_of(d, c), svg_y(&d->plot, d->value[c]), x_of(d, c + 1));
        else if (known)
            fprintf(d->plot.to, "V%.2fH%.2f", svg_y(&d->plot, d->value[c]), x_of(d, c + 1));
        open = known;
    }
    fputs("\"><title>", d->plot.to);
    svg_text(label, SIZE_MAX, d->plot.to);
    fputs("</title></path>\n", d->plot.to);
}

/* Marks the columns that are higher than the graph. */
static void put_cuts(const struct drawing *d)
{
    char text[32];
    for (size_t c = 0; c < d->count; c++) {
        if (!(d->value[c] > 1.001 * d->plot.y.high)) /* NAN is not cut */
            continue;
        snprintf(text, sizeof text, "%.3g", d->value[c]);
        svg_cut(&d->plot, (x_of(d, c) + x_of(d, c + 1)) / 2, text);
    }
}

static void put_graph(struct drawing *d, const struct series_metric *m)
{
    double low, high;
    series_metric_columns(d->r->series, m, d->count, d->value);
    fprintf(d->plot.to, "<text class=\"metric\" x=\"%d\" y=\"%.2f\">", PLOT_LEFT, d->plot.top - 10);
    svg_text(m->label, TITLE_MOST, d->plot.to);
    fprintf(d->plot.to, "%s%s</text>\n<path d=\"M%d %.2fv%d\" stroke=\"#222\"/>\n", *m->unit ? ", " : "", m->unit,
            PLOT_LEFT, d->plot.top, PLOT_HEIGHT);
    if (!series_metric_range(d->value, d->count, &low, &high))
        return;
    d->plot.y = svg_axis_fit(low, high, TICKS);
    svg_y_axis(&d->plot, "");
    put_line(d, m->label);
    put_cuts(d);
}

/* Colors that color-blind readers can distinguish. Colors repeat after eight phases; letters tell those apart. */
static uint32_t phase_color(unsigned kind)
{
    static const uint32_t color[] = {0x56b4e9, 0xe69f00, 0x009e73, 0xf0e442, 0xcc79a7, 0xd55e00, 0x999933, 0xbbbbbb};
    return color[kind % (sizeof color / sizeof color[0])];
}

/* The strip of phases; neighboring columns of one kind become one rectangle. */
static void put_phases(const struct drawing *d, double top)
{
    size_t intervals = series_count(d->r->series);
    for (size_t c = 0, end; c < d->count; c = end) {
        int kind = series_phase_of(d->r, c * intervals / d->count, (c + 1) * intervals / d->count);
        for (end = c + 1; end < d->count; end++)
            if (series_phase_of(d->r, end * intervals / d->count, (end + 1) * intervals / d->count) != kind)
                break;
        if (kind < 0)
            continue;
        fprintf(d->plot.to, "<rect class=\"phase\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%d\" fill=\"#%06x\"/>",
                x_of(d, c), top, x_of(d, end) - x_of(d, c), STRIP, (unsigned)phase_color((unsigned)kind));
        fprintf(d->plot.to, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"middle\">%s</text>\n",
                (x_of(d, c) + x_of(d, end)) / 2, top + 0.75 * STRIP,
                x_of(d, end) - x_of(d, c) > SVG_FONT ? (char[]){series_phase_letter((unsigned)kind), 0} : "");
    }
}

void series_report_svg(const struct series_report *r, FILE *to)
{
    size_t intervals = series_count(r->series);
    struct drawing d = {.r = r, .count = intervals < COLUMNS ? intervals : COLUMNS};
    d.plot = (struct svg_plot){.to = to,
                               .left = PLOT_LEFT,
                               .top = graphs_top(),
                               .width = PLOT_WIDTH,
                               .height = PLOT_HEIGHT,
                               .insns = (double)series_growth(r->series, SERIES_INSNS, 0, intervals)};
    double bottom = graphs_bottom(r);
    put_head(r, to);
    d.value = calloc(d.count + 1, sizeof *d.value);
    if (d.value && d.plot.insns > 0) {
        for (size_t i = 0; i < r->metrics; i++, d.plot.top += PLOT_HEIGHT + GAP)
            put_graph(&d, &r->metric[i]);
        if (r->phase)
            put_phases(&d, bottom + 4);
        put_axis(&d, bottom + (r->phase ? STRIP + 4 : 0));
    }
    free(d.value);
    svg_end(to);
}
