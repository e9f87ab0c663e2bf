#include <math.h>
#include <stdlib.h>

#include "report/stall_picture.h"
#include "report/svg_parts.h"

/* Sizes in pixels, before the viewer scales them. */
enum { PLOT_LEFT = 72, PLOT_WIDTH = 800, PLOT_HEIGHT = 320, LEGEND_WIDTH = 190 };
enum { COLUMNS = 400, TITLE_MOST = 110, TICKS = 8 };

struct drawing {
    struct svg_plot plot;
    struct stall_column column[COLUMNS];
};

static const char *pattern_id(unsigned layer, char id[SVG_ID_SIZE])
{
    snprintf(id, SVG_ID_SIZE, "layer-%u", layer);
    return id;
}

static void put_head(const struct drawing *d, const char *title)
{
    const struct svg_plot *p = &d->plot;
    char id[SVG_ID_SIZE];
    svg_begin(p->left + p->width + 2 * SVG_MARGIN + LEGEND_WIDTH, p->top + p->height + 4 * SVG_FONT + SVG_MARGIN, title,
              TITLE_MOST, p->to);
    fputs("<defs>\n", p->to);
    for (unsigned l = 0; l < STALL_LAYERS; l++)
        svg_pattern(pattern_id(l, id), stall_layers[l].style->color, stall_layers[l].style->hatch,
                    stall_layers[l].style->stroke, p->to);
    fputs("</defs>\n", p->to);
}

static void put_axes(const struct svg_plot *p)
{
    svg_y_axis(p, "");
    svg_x_axis(p, TICKS);
    svg_y_label(p, SVG_MARGIN + SVG_FONT, "CPI");
    svg_x_label(p, "instructions");
}

/* Height of a column up to the bottom of `layer`, in CPI. */
static double level(const struct drawing *d, unsigned column, unsigned layer)
{
    double sum = 0;
    for (unsigned l = 0; l < layer; l++)
        sum += d->column[column].cpi[l];
    return sum;
}

/* Draws steps along the bottom of `layer`, forwards or backwards. Points at which the height does not change are left
 * out. */
static void put_edge(const struct drawing *d, unsigned layer, bool forwards)
{
    double width = (double)PLOT_WIDTH / COLUMNS, last = NAN;
    for (unsigned i = 0; i < COLUMNS; i++) {
        unsigned c = forwards ? i : COLUMNS - 1 - i;
        double y = svg_y(&d->plot, level(d, c, layer)), x = PLOT_LEFT + width * (forwards ? c : c + 1);
        if (y == last)
            continue;
        if (i == 0)
            fprintf(d->plot.to, "%c%.1f %.2f", forwards ? 'M' : 'L', x, y);
        else
            fprintf(d->plot.to, "H%.1fV%.2f", x, y);
        last = y;
    }
    fprintf(d->plot.to, "H%d", forwards ? PLOT_LEFT + PLOT_WIDTH : PLOT_LEFT);
}

static void put_areas(const struct drawing *d)
{
    for (unsigned l = 0; l < STALL_LAYERS; l++) {
        double sum = 0;
        for (unsigned c = 0; c < COLUMNS; c++)
            sum += d->column[c].cpi[l];
        if (sum <= 0)
            continue;
        fprintf(d->plot.to, "<path class=\"area\" fill=\"url(#layer-%u)\" stroke=\"#222\" stroke-width=\".4\" d=\"", l);
        put_edge(d, l + 1, true);
        put_edge(d, l, false);
        fprintf(d->plot.to, "Z\"><title>%s: %.3f CPI</title></path>\n", stall_layer_label(l), sum / COLUMNS);
    }
}

/* Dashed lines between the phases, and their numbers above the plot. */
static void put_phases(const struct drawing *d, const struct stall_phase *phase, size_t phases)
{
    for (size_t i = 0; phases > 1 && i < phases; i++) {
        double from = svg_x(&d->plot, (double)(phase[i].sum.first_insn - phase[0].sum.first_insn));
        double end = from + PLOT_WIDTH * (double)phase[i].sum.insns / d->plot.insns;
        if (i > 0)
            fprintf(d->plot.to,
                    "<path d=\"M%.2f %.2fv%d\" stroke=\"#000\" stroke-width=\"1.5\" stroke-dasharray=\"6 4\"/>", from,
                    d->plot.top - SVG_FONT, PLOT_HEIGHT + SVG_FONT);
        fprintf(d->plot.to, "<text class=\"phase\" x=\"%.2f\" y=\"%.2f\" text-anchor=\"middle\">%zu</text>\n",
                (from + end) / 2, d->plot.top - 4, i + 1);
    }
}

/* Marks the columns that are higher than the plot. */
static void put_cuts(const struct drawing *d)
{
    for (unsigned c = 0; c < COLUMNS; c++) {
        double height = level(d, c, STALL_LAYERS);
        char text[32];
        if (height <= 1.001 * d->plot.y.high)
            continue;
        snprintf(text, sizeof text, "%.2f CPI", height);
        svg_cut(&d->plot, PLOT_LEFT + (c + 0.5) * PLOT_WIDTH / COLUMNS, text);
    }
}

static void put_legend(const struct svg_plot *p)
{
    char id[SVG_ID_SIZE];
    double y = p->top;
    for (unsigned l = STALL_LAYERS; l-- > 0; y += SVG_LEGEND_PITCH)
        svg_legend_row(p, p->left + p->width + 2 * SVG_MARGIN, y, pattern_id(l, id), stall_layer_label(l));
}

void stall_svg_write(const struct stall_series *s, const struct stall_phase *phase, size_t phases, const char *title,
                     FILE *to)
{
    struct drawing *d = calloc(1, sizeof *d);
    if (d == NULL)
        return;
    stall_columns(s, COLUMNS, d->column);
    double most = stall_scale(d->column, COLUMNS);
    d->plot = (struct svg_plot){.to = to,
                                .left = PLOT_LEFT,
                                .top = SVG_MARGIN + 3.5 * SVG_TITLE,
                                .width = PLOT_WIDTH,
                                .height = PLOT_HEIGHT,
                                .y = svg_axis_fit(0, most > 0 ? most : 1, TICKS),
                                .insns = (double)stall_series_insns(s)};
    put_head(d, title);
    if (d->plot.insns > 0) {
        put_axes(&d->plot);
        put_areas(d);
        put_phases(d, phase, phases);
        put_cuts(d);
    }
    put_legend(&d->plot);
    svg_end(to);
    free(d);
}
