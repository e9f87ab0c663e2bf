#include <math.h>
#include <stdlib.h>

#include "report/stall_picture.h"
#include "report/svg_parts.h"

/* Sizes in pixels, before the viewer scales them. */
enum { MARGIN = 16, TITLE = 16, FONT = 12, PLOT_LEFT = 72, PLOT_WIDTH = 800, PLOT_HEIGHT = 320, LEGEND_WIDTH = 190 };
enum { COLUMNS = 400, TITLE_MOST = 110, TICKS = 8 };

struct plot {
    FILE *to;
    struct stall_column column[COLUMNS];
    double top, step, high; /* of the y axis: where it begins, CPI from tick to tick, and at its end */
    uint64_t insns;
};

static double x_of(const struct plot *p, double insn)
{
    return PLOT_LEFT + (p->insns ? insn / (double)p->insns : 0) * PLOT_WIDTH;
}

static double y_of(const struct plot *p, double cpi)
{
    return p->top + PLOT_HEIGHT * (1 - fmin(1, cpi / p->high));
}

static void put_head(const struct plot *p, const char *title)
{
    int width = PLOT_LEFT + PLOT_WIDTH + 2 * MARGIN + LEGEND_WIDTH;
    int height = (int)p->top + PLOT_HEIGHT + 4 * FONT + MARGIN;
    fprintf(p->to,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\" "
            "font-family=\"sans-serif\" font-size=\"%d\" fill=\"#222\">\n<title>",
            width, height, width, height, FONT);
    svg_text(title, SIZE_MAX, p->to);
    fprintf(p->to,
            "</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
            "<text class=\"chart\" x=\"%d\" y=\"%d\" font-size=\"%d\" font-weight=\"bold\">",
            MARGIN, MARGIN + TITLE, TITLE);
    svg_text(title, TITLE_MOST, p->to);
    fputs("</text>\n<defs>\n", p->to);
    for (unsigned l = 0; l < STALL_LAYERS; l++)
        fprintf(p->to,
                "<pattern id=\"layer-%u\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\">"
                "<rect width=\"8\" height=\"8\" fill=\"#%06x\"/><path d=\"%s\" fill=\"none\" %s/></pattern>\n",
                l, (unsigned)stall_layers[l].colour, stall_layers[l].hatch, stall_layers[l].line);
    fputs("</defs>\n", p->to);
}

static void put_axes(const struct plot *p)
{
    char text[SHORT_NUMBER];
    int decimals = svg_decimals(p->step);
    for (double tick = 0; tick <= p->high + p->step / 2; tick += p->step)
        fprintf(p->to,
                "<path d=\"M%d %.2fh%d\" stroke=\"#ccc\"/><text class=\"tick\" x=\"%d\" y=\"%.2f\" "
                "text-anchor=\"end\">%.*f</text>\n",
                PLOT_LEFT, y_of(p, tick), PLOT_WIDTH, PLOT_LEFT - 6, y_of(p, tick) + 0.35 * FONT, decimals, tick);
    double step = svg_tick_step((double)p->insns, TICKS), bottom = p->top + PLOT_HEIGHT;
    for (double tick = 0; tick <= (double)p->insns * (1 + 1e-9); tick += step)
        fprintf(p->to,
                "<path d=\"M%.2f %.2fv5\" stroke=\"#222\"/><text class=\"tick\" x=\"%.2f\" y=\"%.2f\" "
                "text-anchor=\"middle\">%s</text>\n",
                x_of(p, tick), bottom, x_of(p, tick), bottom + 5 + FONT, stall_short((uint64_t)tick, text));
    fprintf(p->to,
            "<text class=\"axis\" transform=\"translate(%d %.2f) rotate(-90)\" text-anchor=\"middle\">CPI</text>\n"
            "<text class=\"axis\" x=\"%d\" y=\"%.2f\" text-anchor=\"middle\">instructions</text>\n",
            MARGIN + FONT, p->top + PLOT_HEIGHT / 2.0, PLOT_LEFT + PLOT_WIDTH / 2, bottom + 5 + 2.5 * FONT);
}

/* The sum of the layers below one, in a column. */
static double level(const struct plot *p, unsigned column, unsigned layer)
{
    double sum = 0;
    for (unsigned l = 0; l < layer; l++)
        sum += p->column[column].cpi[l];
    return sum;
}

/* Steps along the top of the layers below `layer`, forwards or backwards; points where nothing changes are left out. */
static void put_edge(const struct plot *p, unsigned layer, bool forwards)
{
    double width = (double)PLOT_WIDTH / COLUMNS, last = NAN;
    for (unsigned i = 0; i < COLUMNS; i++) {
        unsigned c = forwards ? i : COLUMNS - 1 - i;
        double y = y_of(p, level(p, c, layer)), x = PLOT_LEFT + width * (forwards ? c : c + 1);
        if (y == last)
            continue;
        if (i == 0)
            fprintf(p->to, "%c%.1f %.2f", forwards ? 'M' : 'L', x, y);
        else
            fprintf(p->to, "H%.1fV%.2f", x, y);
        last = y;
    }
    fprintf(p->to, "H%d", forwards ? PLOT_LEFT + PLOT_WIDTH : PLOT_LEFT);
}

static void put_areas(const struct plot *p)
{
    for (unsigned l = 0; l < STALL_LAYERS; l++) {
        double sum = 0;
        for (unsigned c = 0; c < COLUMNS; c++)
            sum += p->column[c].cpi[l];
        if (sum <= 0)
            continue;
        fprintf(p->to, "<path class=\"area\" fill=\"url(#layer-%u)\" stroke=\"#222\" stroke-width=\".4\" d=\"", l);
        put_edge(p, l + 1, true);
        put_edge(p, l, false);
        fprintf(p->to, "Z\"><title>%s: %.3f CPI</title></path>\n", stall_layer_label(l), sum / COLUMNS);
    }
}

static void put_phases(const struct plot *p, const struct stall_phase *phase, size_t phases)
{
    for (size_t i = 0; phases > 1 && i < phases; i++) {
        double from = x_of(p, (double)(phase[i].sum.first_insn - phase[0].sum.first_insn));
        double end = from + PLOT_WIDTH * (double)phase[i].sum.insns / (double)p->insns;
        if (i > 0)
            fprintf(p->to, "<path d=\"M%.2f %.2fv%d\" stroke=\"#000\" stroke-width=\"1.5\" stroke-dasharray=\"6 4\"/>",
                    from, p->top - FONT, PLOT_HEIGHT + FONT);
        fprintf(p->to, "<text class=\"phase\" x=\"%.2f\" y=\"%.2f\" text-anchor=\"middle\">%zu</text>\n",
                (from + end) / 2, p->top - 4, i + 1);
    }
}

/* Where columns are higher than the plot. */
static void put_cuts(const struct plot *p)
{
    for (unsigned c = 0; c < COLUMNS; c++) {
        double height = level(p, c, STALL_LAYERS);
        if (height <= 1.001 * p->high)
            continue;
        fprintf(
            p->to,
            "<path class=\"cut\" d=\"M%.1f %.1fl4 -8l4 8z\" fill=\"#000\"><title>cut off: %.2f CPI</title></path>\n",
            PLOT_LEFT + (c + 0.5) * PLOT_WIDTH / COLUMNS - 4, p->top, height);
    }
}

static void put_legend(const struct plot *p)
{
    double x = PLOT_LEFT + PLOT_WIDTH + 2 * MARGIN, y = p->top;
    for (unsigned l = STALL_LAYERS; l-- > 0; y += 24)
        fprintf(p->to,
                "<rect x=\"%.0f\" y=\"%.0f\" width=\"20\" height=\"16\" fill=\"url(#layer-%u)\" stroke=\"#222\" "
                "stroke-width=\".7\"/><text class=\"legend\" x=\"%.0f\" y=\"%.0f\">%s</text>\n",
                x, y, l, x + 28, y + FONT, stall_layer_label(l));
}

void stall_svg_write(const struct stall_series *s, const struct stall_phase *phase, size_t phases, const char *title,
                     FILE *to)
{
    struct plot *p = calloc(1, sizeof *p);
    if (p == NULL)
        return;
    p->to = to;
    p->top = MARGIN + 3.5 * TITLE;
    p->insns = stall_series_insns(s);
    stall_columns(s, COLUMNS, p->column);
    double most = stall_scale(p->column, COLUMNS);
    p->step = svg_tick_step(most > 0 ? most : 1, TICKS);
    p->high = p->step * ceil((most > 0 ? most : 1) / p->step - 1e-6);
    put_head(p, title);
    if (p->insns) {
        put_axes(p);
        put_areas(p);
        put_phases(p, phase, phases);
        put_cuts(p);
    }
    put_legend(p);
    fputs("</svg>\n", to);
    free(p);
}
