/* Results of `cyclescope phases` as one drawing: the difference graph, the phases over time, the initialization and
 * period difference graphs, and the similarity matrix. Nothing is shown by color alone: each phase has its own row, and
 * the matrix is in shades of gray. */
#include <math.h>
#include <stdlib.h>

#include "report/phase_report.h"
#include "report/svg_parts.h"

/* Sizes in pixels, before the viewer scales them. */
enum { LEFT = 72, WIDTH = 720, LEGEND = 240, GRAPH = 150, HALF = 330, MATRIX = 420, LANE_MOST = 14, LANES_MOST = 420 };
enum { TITLE_MOST = 110, NAME_MOST = 28, SHADES = 24, TICKS = 3 };

/* Colors that color-blind readers can distinguish (Okabe and Ito). */
static const char *const colors[] = {"0072b2", "e69f00", "009e73", "cc79a7", "56b4e9", "d55e00", "7a6a00", "555555"};

struct drawing {
    FILE *to;
    const struct phase_report *r;
    uint64_t insns; /* instructions of the run */
    double lane;    /* height of the row of a phase */
    double y;       /* top of the next part */
};

/* A plot at the current position; `x` and `width` say where it is in its row. */
static struct svg_plot plot_at(const struct drawing *d, double x, double width, double height, double insns)
{
    return (struct svg_plot){.to = d->to,
                             .left = x,
                             .top = d->y + 2 * SVG_FONT,
                             .width = width,
                             .height = height,
                             .decimals = 2,
                             .insns = insns};
}

static void put_caption(const struct drawing *d, double x, const char *text)
{
    fprintf(d->to, "<text class=\"caption\" x=\"%.1f\" y=\"%.1f\" font-weight=\"bold\">%s</text>\n", x, d->y + SVG_FONT,
            text);
}

/* The x axis with its line. */
static void put_x_axis(const struct svg_plot *p, unsigned ticks)
{
    svg_x_axis(p, ticks);
    fprintf(p->to, "<path d=\"M%.2f %.2fh%.2f\" stroke=\"#222\"/>\n", p->left, p->top + p->height, p->width);
}

static double mean_of(const double *value, size_t first, size_t end)
{
    double sum = 0;
    for (size_t k = first; k < end; k++)
        sum += value[k];
    return end > first ? sum / (double)(end - first) : 0;
}

/* Draws one step per interval. If there are more intervals than pixels, a step shows the mean of several. */
static void put_graph(struct svg_plot *p, const double *value, size_t count, unsigned ticks)
{
    size_t steps = count < (size_t)p->width ? count : (size_t)p->width;
    double most = 0;
    for (size_t k = 0; k < steps; k++)
        most = fmax(most, mean_of(value, k * count / steps, (k + 1) * count / steps));
    p->y = svg_axis_fit(0, most > 0 ? most : 1, TICKS);
    svg_y_axis(p, "");
    fputs("<path class=\"graph\" fill=\"none\" stroke=\"#0072b2\" stroke-width=\"1.3\" d=\"", p->to);
    for (size_t k = 0; k < steps; k++) {
        double y = svg_y(p, mean_of(value, k * count / steps, (k + 1) * count / steps));
        if (k == 0)
            fprintf(p->to, "M%.2f %.2f", p->left, y);
        fprintf(p->to, "V%.2fH%.2f", y, p->left + p->width * (double)(k + 1) / (double)steps);
    }
    fputs("\"/>\n", p->to);
    put_x_axis(p, ticks);
}

static double longest_period(const struct phases *p)
{
    return p->structure.periods ? p->structure.period[p->structure.periods - 1].insns : 0;
}

/* A dashed vertical line at an instruction, with a word beside it. */
static void put_mark(const struct svg_plot *p, double insns, const char *word)
{
    double x = svg_x(p, insns);
    fprintf(p->to,
            "<path class=\"mark\" d=\"M%.2f %.2fv%.2f\" stroke=\"#000\" stroke-dasharray=\"5 3\"/>"
            "<text class=\"mark\" x=\"%.2f\" y=\"%.2f\">%s</text>\n",
            x, p->top - 4, p->height + 4, x + 4, p->top + SVG_FONT - 4, word);
}

static void put_difference(struct drawing *d)
{
    struct svg_plot plot = plot_at(d, LEFT, WIDTH, GRAPH, (double)d->insns);
    const struct phases *p = d->r->phases;
    put_caption(d, LEFT, "difference to the whole run");
    put_graph(&plot, p->difference, p->count, 8);
    if (p->structure.init.insns > 0)
        put_mark(&plot, p->structure.init.insns, "end of initialization");
    double from_insns = p->structure.init.insns, period = longest_period(p);
    if (period > 0 && from_insns + period <= (double)d->insns) {
        double from = svg_x(&plot, from_insns), end = svg_x(&plot, from_insns + period);
        fprintf(d->to,
                "<path class=\"period\" d=\"M%.2f %.2fv8m0 -4H%.2fm0 -4v8\" stroke=\"#000\" stroke-width=\"1.5\" "
                "fill=\"none\"><title>one period</title></path>\n",
                from, plot.top + 14, end);
    }
    d->y += GRAPH + 5 * SVG_FONT;
}

/* ---- phases over time */

static bool has_phase(const struct drawing *d, unsigned k, size_t first, size_t end)
{
    while (first < end && d->r->clusters->of[first] != k)
        first++;
    return first < end;
}

/* Path of the stretches in which phase `k` occurs, in columns of at least one pixel. */
static void put_runs(const struct drawing *d, const struct svg_plot *p, unsigned k)
{
    size_t count = d->r->set->count, columns = count < WIDTH ? count : WIDTH;
    for (size_t c = 0, end; c < columns; c = end + 1) {
        for (end = c; end < columns && has_phase(d, k, end * count / columns, (end + 1) * count / columns);)
            end++;
        double from = svg_x(p, (double)d->r->start[c * count / columns]);
        double width = svg_x(p, (double)d->r->start[end * count / columns]) - from;
        if (end > c)
            fprintf(d->to, "M%.2f %.2fh%.2fv%.2fh-%.2fz", from, p->top + k * d->lane, width, d->lane - 1, width);
    }
}

static void put_lane_label(const struct drawing *d, const struct svg_plot *p, unsigned k)
{
    const struct cluster_point *c = &d->r->clusters->point[k];
    double y = p->top + (k + 0.5) * d->lane + 0.35 * (SVG_FONT - 2);
    fprintf(d->to,
            "<text class=\"phase\" x=\"%.2f\" y=\"%.2f\" text-anchor=\"end\" font-size=\"%d\">%u</text>"
            "<text class=\"share\" x=\"%.2f\" y=\"%.2f\" font-size=\"%d\">%.1f %% ",
            p->left - 6, y, SVG_FONT - 2, k, p->left + p->width + 8, y, SVG_FONT - 2, 100 * c->weight);
    if (d->r->code && d->r->code[k].shares)
        svg_text(phase_function_at(d->r->functions, d->r->code[k].share[0].function).name, NAME_MOST, d->to);
    fputs("</text>\n", d->to);
}

/* One row per phase. A black triangle marks the interval that is the point of the phase. */
static void put_lanes(struct drawing *d)
{
    unsigned count = d->r->clusters->count;
    struct svg_plot plot = plot_at(d, LEFT, WIDTH, d->lane * count, (double)d->insns);
    put_caption(d, LEFT, "phases over time, with their share of the run; a triangle marks the point of a phase");
    for (unsigned k = 0; k < count; k++) {
        fprintf(d->to, "<path class=\"phase\" fill=\"#%s\" d=\"", colors[k % (sizeof colors / sizeof colors[0])]);
        put_runs(d, &plot, k);
        fprintf(d->to, "\"><title>phase %u: %.2f %%</title></path>\n", k, 100 * d->r->clusters->point[k].weight);
        size_t at = d->r->clusters->point[k].interval;
        fprintf(d->to, "<path class=\"point\" d=\"M%.2f %.2fl-3 -5h6z\" fill=\"#000\"/>\n",
                svg_x(&plot, (double)d->r->start[at]), plot.top + k * d->lane + 4);
        if (d->lane >= SVG_FONT - 2)
            put_lane_label(d, &plot, k);
    }
    put_x_axis(&plot, 8);
    d->y += plot.height + 5 * SVG_FONT;
}

/* ---- the other graphs */

static void put_analysis(struct drawing *d)
{
    const struct phases *p = d->r->phases;
    double interval = (double)d->r->set->interval;
    struct svg_plot left = plot_at(d, LEFT, HALF, GRAPH, interval * (double)p->initialization_count);
    struct svg_plot right = plot_at(d, LEFT + WIDTH - HALF, HALF, GRAPH, interval * (double)p->match_count);
    if (p->initialization_count == 0 || p->match_count == 0)
        return;
    put_caption(d, left.left, "initialization difference");
    put_graph(&left, p->initialization, p->initialization_count, 4);
    if (p->structure.init.insns > 0)
        put_mark(&left, p->structure.init.insns, "");
    put_caption(d, right.left, "period difference");
    put_graph(&right, p->match, p->match_count, 4);
    double period = longest_period(p);
    for (double at = period; period > 0 && at < interval * (double)p->match_count; at += period)
        fprintf(d->to, "<path class=\"match\" d=\"M%.2f %.2fv6\" stroke=\"#000\" stroke-width=\"1.5\"/>\n",
                svg_x(&right, at), right.top - 8);
    d->y += GRAPH + 5 * SVG_FONT;
}

static unsigned shade_of(float difference)
{
    return (unsigned)lround(difference / 2 * (SHADES - 1));
}

static void put_shade(const struct drawing *d, unsigned shade, double x, double y, double width, double height)
{
    unsigned gray = 255 * shade / (SHADES - 1);
    fprintf(d->to, "<path fill=\"#%02x%02x%02x\" d=\"M%.2f %.2fh%.2fv%.2fh-%.2fz\"/>\n", gray, gray, gray, x, y, width,
            height, width);
}

/* Neighboring cells of the same shade in a row become one rectangle. Each rectangle extends slightly below the next
 * row, so that no seam is visible. */
static void put_matrix(struct drawing *d)
{
    const struct similarity *m = &d->r->similarity;
    double x = LEFT, y = d->y + 2 * SVG_FONT, cell = (double)MATRIX / (double)m->count;
    put_caption(d, LEFT,
                "similarity: black where two parts of the run are the same, white where they have nothing in common");
    fprintf(d->to, "<g class=\"similarity\" shape-rendering=\"crispEdges\">\n");
    for (size_t row = 0; row < m->count; row++)
        for (size_t from = 0, end; from < m->count; from = end) {
            unsigned shade = shade_of(m->difference[row * m->count + from]);
            for (end = from + 1; end < m->count && shade_of(m->difference[row * m->count + end]) == shade;)
                end++;
            put_shade(d, shade, x + cell * (double)from, y + cell * (double)row, cell * (double)(end - from),
                      cell + (row + 1 < m->count ? 0.3 : 0));
        }
    fprintf(d->to, "</g>\n<rect x=\"%.2f\" y=\"%.2f\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#222\"/>\n", x,
            y, MATRIX, MATRIX);
    struct svg_plot plot = plot_at(d, x, MATRIX, MATRIX, (double)d->insns);
    put_x_axis(&plot, 5);
    double scale = x + MATRIX + 40;
    for (unsigned k = 0; k < SHADES; k++)
        put_shade(d, k, scale, y + k * 8, 20, 8.3);
    fprintf(d->to,
            "<rect x=\"%.2f\" y=\"%.2f\" width=\"20\" height=\"%d\" fill=\"none\" stroke=\"#222\"/>"
            "<text class=\"scale\" x=\"%.2f\" y=\"%.2f\">0, the same</text>"
            "<text class=\"scale\" x=\"%.2f\" y=\"%.2f\">2, nothing in common</text>\n",
            scale, y, 8 * SHADES, scale + 28, y + SVG_FONT, scale + 28, y + 8 * SHADES);
}

void phase_report_svg(const struct phase_report *r, const char *title, FILE *to)
{
    unsigned count = r->clusters->count;
    struct drawing d = {.to = to, .r = r, .insns = r->start[r->set->count], .y = SVG_MARGIN + 2.5 * SVG_TITLE};
    d.lane = fmin(LANE_MOST, (double)LANES_MOST / count);
    double graphs = r->phases->initialization_count && r->phases->match_count ? 2 : 1;
    svg_begin(LEFT + WIDTH + 2 * SVG_MARGIN + LEGEND,
              d.y + graphs * (GRAPH + 5 * SVG_FONT) + d.lane * count + 5 * SVG_FONT + MATRIX + 5 * SVG_FONT, title,
              TITLE_MOST, to);
    put_difference(&d);
    put_lanes(&d);
    put_analysis(&d);
    put_matrix(&d);
    svg_end(to);
}
