/* Estimates of multiplexed counts and true counts over time, an SVG graph for each event: figure 5 of Azimi et al. */
#include <math.h>

#include "report/svg_parts.h"
#include "report/validate_sampling_report.h"

/* Sizes in pixels, before the viewer scales them. */
enum { PLOT_LEFT = 72, PLOT_WIDTH = 840, PLOT_HEIGHT = 110, GAP = 36, KEY_WIDTH = 28, KEY_PITCH = 230 };
enum { TITLE_MOST = 110, TICKS = 3, TICKS_OF_X = 8 };

/* The lines of a graph, in the order in which they are drawn. */
enum line { LINE_LINEAR, LINE_DEFAULT, LINE_TRUTH, LINES };

static const struct {
    const char *class, *color;
    double width;
} looks[LINES] = {
    [LINE_LINEAR] = {"linear", "#e69f00", 0.9},
    [LINE_DEFAULT] = {"estimate", "#0072b2", 1.3},
    [LINE_TRUTH] = {"true", "#000000", 1.3},
};

struct drawing {
    const struct counters_report *r;
    struct svg_plot plot;                /* the current graph */
    const struct checked_column *column; /* of the current graph */
    double scale;                        /* of counts per round: 1000 / cycles of a round */
};

static double value_of(const struct drawing *d, size_t column, enum line line)
{
    const struct checked_column *c = &d->column[column];
    return d->scale * (line == LINE_TRUTH     ? c->truth
                       : line == LINE_DEFAULT ? c->value[CHECK_DEFAULT]
                                              : c->value[CHECK_LINEAR]);
}

static double x_of(const struct drawing *d, size_t column)
{
    return PLOT_LEFT + (double)PLOT_WIDTH * (double)column / (double)d->r->columns;
}

/* Steps at these heights, by column, from left to right or back. */
static void put_steps(const struct drawing *d, const double *height, bool forwards)
{
    for (size_t i = 0; i < d->r->columns; i++) {
        size_t c = forwards ? i : d->r->columns - 1 - i;
        fprintf(d->plot.to, "%c%.2f %.2fH%.2f", i == 0 && forwards ? 'M' : 'L', x_of(d, forwards ? c : c + 1),
                svg_y(&d->plot, height[c]), x_of(d, forwards ? c + 1 : c));
    }
}

static void put_line(const struct drawing *d, enum line line)
{
    double height[CHECK_COLUMNS];
    for (size_t c = 0; c < d->r->columns; c++)
        height[c] = value_of(d, c, line);
    fprintf(d->plot.to, "<path class=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"%.1f\" d=\"", looks[line].class,
            looks[line].color, looks[line].width);
    put_steps(d, height, true);
    fputs("\"/>\n", d->plot.to);
}

/* The 95 % intervals of the default estimator, as far as they are within the graph. */
static void put_band(const struct drawing *d)
{
    double low[CHECK_COLUMNS], high[CHECK_COLUMNS];
    for (size_t c = 0; c < d->r->columns; c++) {
        double value = value_of(d, c, LINE_DEFAULT), half = d->scale * d->column[c].half;
        low[c] = fmax(0, value - half);
        high[c] = fmin(d->plot.y.high, value + half);
    }
    fputs("<path class=\"band\" fill=\"#0072b2\" fill-opacity=\".2\" d=\"", d->plot.to);
    put_steps(d, high, true);
    put_steps(d, low, false);
    fputs("Z\"/>\n", d->plot.to);
}

/* The axis has room for the truth and the default estimator. What `linear` has above it lies on its upper edge. */
static double highest(const struct drawing *d)
{
    double most = 0;
    for (size_t c = 0; c < d->r->columns; c++)
        most = fmax(most, fmax(value_of(d, c, LINE_TRUTH), value_of(d, c, LINE_DEFAULT)));
    return most > 0 ? most : 1;
}

static void put_graph(struct drawing *d, size_t event)
{
    d->column = d->r->column[event];
    fprintf(d->plot.to, "<text class=\"metric\" x=\"%d\" y=\"%.2f\">", PLOT_LEFT, d->plot.top - 10);
    svg_text(d->r->specs->of[event].text, TITLE_MOST, d->plot.to);
    fprintf(d->plot.to, ", per 1000 cycles</text>\n<path d=\"M%d %.2fv%d\" stroke=\"#222\"/>\n", PLOT_LEFT, d->plot.top,
            PLOT_HEIGHT);
    d->plot.y = svg_axis_fit(0, highest(d), TICKS);
    svg_y_axis(&d->plot, "");
    put_band(d);
    for (enum line line = 0; line < LINES; line++)
        put_line(d, line);
}

/* The key of the lines, below the title. */
static void put_key(const struct drawing *d, double y)
{
    const char *name[LINES] = {[LINE_LINEAR] = check_estimator(CHECK_LINEAR)->name,
                               [LINE_DEFAULT] = check_estimator(CHECK_DEFAULT)->name,
                               [LINE_TRUTH] = "full counts"};
    for (unsigned i = 0; i < LINES; i++) {
        enum line line = (enum line)(LINES - 1 - i);
        int x = PLOT_LEFT + (int)i * KEY_PITCH;
        fprintf(d->plot.to,
                "<path d=\"M%d %.2fh%d\" stroke=\"%s\" stroke-width=\"2\"/><text class=\"legend\" x=\"%d\" "
                "y=\"%.2f\">%s%s</text>\n",
                x, y - 4, KEY_WIDTH, looks[line].color, x + KEY_WIDTH + SVG_LEGEND_GAP, y, name[line],
                line == LINE_DEFAULT ? ", 95 % intervals" : "");
    }
}

void counters_report_svg(const struct counters_report *r, FILE *to)
{
    const struct plan *p = r->plan;
    uint64_t round = p->slice * p->slots;
    double first = SVG_MARGIN + 5.5 * SVG_TITLE, bottom = first + (double)r->specs->count * (PLOT_HEIGHT + GAP) - GAP;
    struct drawing d = {.r = r, .scale = 1000 / (double)round};
    d.plot = (struct svg_plot){.to = to,
                               .left = PLOT_LEFT,
                               .top = first,
                               .width = PLOT_WIDTH,
                               .height = PLOT_HEIGHT,
                               .insns = (double)r->rounds};
    char label[64], text[GROUPED_SIZE];
    svg_begin(PLOT_LEFT + PLOT_WIDTH + 2 * SVG_MARGIN, bottom + 4 * SVG_FONT + SVG_MARGIN, r->run.program, TITLE_MOST,
              to);
    put_key(&d, SVG_MARGIN + 3 * SVG_TITLE);
    if (r->columns > 0) {
        for (size_t i = 0; i < r->specs->count; i++, d.plot.top += PLOT_HEIGHT + GAP)
            put_graph(&d, i);
        d.plot.top = bottom - PLOT_HEIGHT;
        snprintf(label, sizeof label, "rounds of %s cycles", grouped(round, text));
        svg_x_axis(&d.plot, TICKS_OF_X);
        svg_x_label(&d.plot, label);
    }
    svg_end(to);
}
