#include <math.h>
#include <stdlib.h>

#include "report/series_picture.h"
#include "report/stall_picture.h"
#include "report/svg_parts.h"

/* Sizes in pixels, before the viewer scales them. */
enum { MARGIN = 16, TITLE = 16, FONT = 12, PLOT_LEFT = 72, PLOT_WIDTH = 840, PLOT_HEIGHT = 90, GAP = 34, STRIP = 18 };
enum { COLUMNS = PLOT_WIDTH / 2, TITLE_MOST = 110, TICKS = 3, TICKS_OF_X = 8 };

struct graph {
    FILE *to;
    const struct series_report *r;
    double top; /* of the graph that is drawn */
    double low, high, step;
    size_t count; /* columns */
    double *value;
};

static double x_of(const struct graph *g, size_t column)
{
    return PLOT_LEFT + (double)PLOT_WIDTH * (double)column / (double)g->count;
}

static double y_of(const struct graph *g, double value)
{
    return g->top + PLOT_HEIGHT * (1 - fmin(1, (value - g->low) / (g->high - g->low)));
}

static double graphs_top(void)
{
    return MARGIN + 3.5 * TITLE;
}

static double graphs_bottom(const struct series_report *r)
{
    return graphs_top() + (double)r->metrics * (PLOT_HEIGHT + GAP) - GAP;
}

static void put_head(const struct series_report *r, FILE *to)
{
    int width = PLOT_LEFT + PLOT_WIDTH + 2 * MARGIN;
    int height = (int)graphs_bottom(r) + (r->phase ? STRIP + 4 : 0) + 4 * FONT + MARGIN;
    fprintf(to,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\" "
            "font-family=\"sans-serif\" font-size=\"%d\" fill=\"#222\">\n<title>",
            width, height, width, height, FONT);
    svg_text(r->run->program, SIZE_MAX, to);
    fprintf(to,
            "</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
            "<text class=\"chart\" x=\"%d\" y=\"%d\" font-size=\"%d\" font-weight=\"bold\">",
            MARGIN, MARGIN + TITLE, TITLE);
    svg_text(r->run->program, TITLE_MOST, to);
    fputs("</text>\n", to);
}

/* Over instructions; below the strip of phases, if there is one. */
static void put_axis(const struct series_report *r, double bottom, FILE *to)
{
    char text[SHORT_NUMBER];
    double insns = (double)series_growth(r->series, SERIES_INSNS, 0, series_count(r->series));
    double step = svg_tick_step(insns, TICKS_OF_X);
    for (double tick = 0; tick <= insns * (1 + 1e-9); tick += step)
        fprintf(to,
                "<path d=\"M%.2f %.2fv5\" stroke=\"#222\"/><text class=\"tick\" x=\"%.2f\" y=\"%.2f\" "
                "text-anchor=\"middle\">%s</text>\n",
                PLOT_LEFT + PLOT_WIDTH * tick / insns, bottom, PLOT_LEFT + PLOT_WIDTH * tick / insns, bottom + 5 + FONT,
                stall_short((uint64_t)tick, text));
    fprintf(to, "<text class=\"axis\" x=\"%d\" y=\"%.2f\" text-anchor=\"middle\">instructions</text>\n",
            PLOT_LEFT + PLOT_WIDTH / 2, bottom + 5 + 2.5 * FONT);
}

static void put_ticks(const struct graph *g)
{
    int decimals = svg_decimals(g->step);
    for (double tick = g->low; tick <= g->high + g->step / 2; tick += g->step)
        fprintf(g->to,
                "<path d=\"M%d %.2fh%d\" stroke=\"#ccc\"/><text class=\"tick\" x=\"%d\" y=\"%.2f\" "
                "text-anchor=\"end\">%.*f</text>\n",
                PLOT_LEFT, y_of(g, tick), PLOT_WIDTH, PLOT_LEFT - 6, y_of(g, tick) + 0.35 * FONT, decimals, tick);
}

/* Steps from column to column; a gap ends the line. */
static void put_line(const struct graph *g, const char *label)
{
    bool open = false;
    fputs("<path class=\"line\" fill=\"none\" stroke=\"#0072b2\" stroke-width=\"1.3\" d=\"", g->to);
    for (size_t c = 0; c < g->count; c++) {
        bool known = !isnan(g->value[c]);
        if (known && !open)
            fprintf(g->to, "M%.2f %.2fH%.2f", x_of(g, c), y_of(g, g->value[c]), x_of(g, c + 1));
        else if (known)
            fprintf(g->to, "V%.2fH%.2f", y_of(g, g->value[c]), x_of(g, c + 1));
        open = known;
    }
    fputs("\"><title>", g->to);
    svg_text(label, SIZE_MAX, g->to);
    fputs("</title></path>\n", g->to);
}

/* Where values are higher than the graph. */
static void put_cuts(const struct graph *g)
{
    for (size_t c = 0; c < g->count; c++)
        if (g->value[c] > 1.001 * g->high) /* no NAN is */
            fprintf(
                g->to,
                "<path class=\"cut\" d=\"M%.1f %.1fl4 -8l4 8z\" fill=\"#000\"><title>cut off: %.3g</title></path>\n",
                (x_of(g, c) + x_of(g, c + 1)) / 2 - 4, g->top, g->value[c]);
}

static void put_graph(struct graph *g, const struct series_metric *m)
{
    series_metric_columns(g->r->series, m, g->count, g->value);
    fprintf(g->to, "<text class=\"metric\" x=\"%d\" y=\"%.2f\">", PLOT_LEFT, g->top - 10);
    svg_text(m->label, TITLE_MOST, g->to);
    fprintf(g->to, "%s%s</text>\n<path d=\"M%d %.2fv%d\" stroke=\"#222\"/>\n", *m->unit ? ", " : "", m->unit, PLOT_LEFT,
            g->top, PLOT_HEIGHT);
    if (!series_metric_range(g->value, g->count, &g->low, &g->high))
        return;
    double range = g->high > g->low ? g->high - g->low : 1;
    g->step = svg_tick_step(range, TICKS);
    g->low = g->step * floor(g->low / g->step + 1e-6);
    g->high = g->step * fmax(ceil(g->high / g->step - 1e-6), g->low / g->step + 1);
    put_ticks(g);
    put_line(g, m->label);
    put_cuts(g);
}

/* Colours that colour-blind eyes tell apart; what has the same colour has another letter. */
static uint32_t phase_colour(unsigned kind)
{
    static const uint32_t colour[] = {0x56b4e9, 0xe69f00, 0x009e73, 0xf0e442, 0xcc79a7, 0xd55e00, 0x999933, 0xbbbbbb};
    return colour[kind % (sizeof colour / sizeof colour[0])];
}

/* Neighbours of one kind are one field. */
static void put_phases(const struct graph *g, double top)
{
    size_t intervals = series_count(g->r->series);
    for (size_t c = 0, end; c < g->count; c = end) {
        int kind = series_phase_of(g->r, c * intervals / g->count, (c + 1) * intervals / g->count);
        for (end = c + 1; end < g->count; end++)
            if (series_phase_of(g->r, end * intervals / g->count, (end + 1) * intervals / g->count) != kind)
                break;
        if (kind < 0)
            continue;
        fprintf(g->to, "<rect class=\"phase\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%d\" fill=\"#%06x\"/>",
                x_of(g, c), top, x_of(g, end) - x_of(g, c), STRIP, (unsigned)phase_colour((unsigned)kind));
        fprintf(g->to, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"middle\">%s</text>\n",
                (x_of(g, c) + x_of(g, end)) / 2, top + 0.75 * STRIP,
                x_of(g, end) - x_of(g, c) > FONT ? (char[]){series_phase_letter((unsigned)kind), 0} : "");
    }
}

void series_report_svg(const struct series_report *r, FILE *to)
{
    size_t intervals = series_count(r->series);
    struct graph g = {.to = to, .r = r, .top = graphs_top(), .count = intervals < COLUMNS ? intervals : COLUMNS};
    double bottom = graphs_bottom(r);
    put_head(r, to);
    g.value = calloc(g.count + 1, sizeof *g.value);
    if (g.value && series_growth(r->series, SERIES_INSNS, 0, intervals)) {
        for (size_t i = 0; i < r->metrics; i++, g.top += PLOT_HEIGHT + GAP)
            put_graph(&g, &r->metric[i]);
        if (r->phase)
            put_phases(&g, bottom + 4);
        put_axis(r, bottom + (r->phase ? STRIP + 4 : 0), to);
    }
    free(g.value);
    fputs("</svg>\n", to);
}
