/* What `phases` found as one drawing: the difference graph, the phases over time, the two graphs that initialization
 * and period are read from, and the similarity matrix. Nothing is told by colour alone: every phase has a row of its
 * own, and the matrix is in shades of grey. */
#include <math.h>
#include <stdlib.h>

#include "report/phase_report.h"
#include "report/stall_picture.h"
#include "report/svg_parts.h"

/* Sizes in pixels, before the viewer scales them. */
enum { MARGIN = 16, TITLE = 16, FONT = 12, LEFT = 72, WIDTH = 720, LEGEND = 240, GRAPH = 150, HALF = 330 };
enum { MATRIX = 420, LANE_MOST = 14, LANES_MOST = 420, TITLE_MOST = 110, NAME_MOST = 28, SHADES = 24 };

/* Told apart in any kind of sight (Okabe and Ito). */
static const char *const colours[] = {"0072b2", "e69f00", "009e73", "cc79a7", "56b4e9", "d55e00", "7a6a00", "555555"};

struct drawing {
    FILE *to;
    const struct phase_report *r;
    uint64_t insns; /* of all vectors */
    double lane;    /* height of a phase's row */
    double y;       /* where the next part begins */
};

/* A graph's place. */
struct frame {
    double x, y, width, height;
    double top;     /* value at its upper edge */
    double insns;   /* at its right edge */
    unsigned ticks; /* of the x axis, about */
};

static void put_head(const struct drawing *d, const char *title, double height)
{
    int width = LEFT + WIDTH + 2 * MARGIN + LEGEND;
    fprintf(
        d->to,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d %.0f\" role=\"img\" "
        "font-family=\"sans-serif\" font-size=\"%d\" fill=\"#222\">\n<title>",
        width, height, width, height, FONT);
    svg_text(title, SIZE_MAX, d->to);
    fprintf(d->to,
            "</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
            "<text class=\"chart\" x=\"%d\" y=\"%d\" font-size=\"%d\" font-weight=\"bold\">",
            MARGIN, MARGIN + TITLE, TITLE);
    svg_text(title, TITLE_MOST, d->to);
    fputs("</text>\n", d->to);
}

static void put_caption(const struct drawing *d, double x, const char *text)
{
    fprintf(d->to, "<text class=\"caption\" x=\"%.1f\" y=\"%.1f\" font-weight=\"bold\">%s</text>\n", x, d->y + FONT,
            text);
}

static double x_of(const struct frame *f, double insn)
{
    return f->x + (f->insns > 0 ? insn / f->insns : 0) * f->width;
}

/* Ticks below, in instructions. */
static void put_x_axis(const struct drawing *d, const struct frame *f)
{
    char text[SHORT_NUMBER];
    double step = svg_tick_step(f->insns > 0 ? f->insns : 1, f->ticks), bottom = f->y + f->height;
    for (double tick = 0; tick <= f->insns * (1 + 1e-9); tick += step)
        fprintf(d->to,
                "<path d=\"M%.2f %.2fv5\" stroke=\"#222\"/><text class=\"tick\" x=\"%.2f\" y=\"%.2f\" "
                "text-anchor=\"middle\">%s</text>\n",
                x_of(f, tick), bottom, x_of(f, tick), bottom + 5 + FONT, stall_short((uint64_t)tick, text));
    fprintf(d->to, "<path d=\"M%.2f %.2fh%.2f\" stroke=\"#222\"/>\n", f->x, bottom, f->width);
}

static void put_y_axis(const struct drawing *d, struct frame *f, double most)
{
    double step = svg_tick_step(most > 0 ? most : 1, 3);
    f->top = step * ceil((most > 0 ? most : 1) / step - 1e-6);
    for (double tick = 0; tick <= f->top + step / 2; tick += step) {
        double y = f->y + f->height * (1 - tick / f->top);
        fprintf(d->to,
                "<path d=\"M%.2f %.2fh%.2f\" stroke=\"#ccc\"/><text class=\"tick\" x=\"%.2f\" y=\"%.2f\" "
                "text-anchor=\"end\">%.*f</text>\n",
                f->x, y, f->width, f->x - 6, y + 0.35 * FONT, svg_decimals(step), tick);
    }
}

static double mean_of(const double *value, size_t first, size_t end)
{
    double sum = 0;
    for (size_t k = first; k < end; k++)
        sum += value[k];
    return end > first ? sum / (double)(end - first) : 0;
}

/* A value for each interval, as steps; several share a step where there are more than pixels. */
static void put_graph(const struct drawing *d, struct frame *f, const double *value, size_t count)
{
    size_t steps = count < (size_t)f->width ? count : (size_t)f->width;
    double most = 0;
    for (size_t k = 0; k < steps; k++)
        most = fmax(most, mean_of(value, k * count / steps, (k + 1) * count / steps));
    put_y_axis(d, f, most);
    fputs("<path class=\"graph\" fill=\"none\" stroke=\"#0072b2\" stroke-width=\"1.3\" d=\"", d->to);
    for (size_t k = 0; k < steps; k++) {
        double y = f->y + f->height * (1 - mean_of(value, k * count / steps, (k + 1) * count / steps) / f->top);
        if (k == 0)
            fprintf(d->to, "M%.2f %.2f", f->x, y);
        fprintf(d->to, "V%.2fH%.2f", y, f->x + f->width * (double)(k + 1) / (double)steps);
    }
    fputs("\"/>\n", d->to);
    put_x_axis(d, f);
}

/* A dashed line at an interval, with a word beside it. */
static void put_mark(const struct drawing *d, const struct frame *f, size_t interval, const char *word)
{
    double x = x_of(f, (double)d->r->start[interval]);
    fprintf(d->to,
            "<path class=\"mark\" d=\"M%.2f %.2fv%.2f\" stroke=\"#000\" stroke-dasharray=\"5 3\"/>"
            "<text class=\"mark\" x=\"%.2f\" y=\"%.2f\">%s</text>\n",
            x, f->y - 4, f->height + 4, x + 4, f->y + FONT - 4, word);
}

static void put_difference(struct drawing *d)
{
    struct frame f = {LEFT, d->y + 2 * FONT, WIDTH, GRAPH, 0, (double)d->insns, 8};
    const struct phases *p = d->r->phases;
    put_caption(d, LEFT, "difference to the whole run");
    put_graph(d, &f, p->difference, p->count);
    if (p->init_end)
        put_mark(d, &f, p->init_end, "end of initialization");
    if (p->period && p->init_end + p->period <= p->count) {
        double from = x_of(&f, (double)d->r->start[p->init_end]);
        double end = x_of(&f, (double)d->r->start[p->init_end + p->period]);
        fprintf(d->to,
                "<path class=\"period\" d=\"M%.2f %.2fv8m0 -4H%.2fm0 -4v8\" stroke=\"#000\" stroke-width=\"1.5\" "
                "fill=\"none\"><title>one period</title></path>\n",
                from, f.y + 14, end);
    }
    d->y += GRAPH + 5 * FONT;
}

/* ---- phases over time */

static bool has_phase(const struct drawing *d, unsigned k, size_t first, size_t end)
{
    while (first < end && d->r->clusters->of[first] != k)
        first++;
    return first < end;
}

/* Where the phase is, in columns of at least a pixel. */
static void put_runs(const struct drawing *d, const struct frame *f, unsigned k)
{
    size_t count = d->r->set->count, columns = count < WIDTH ? count : WIDTH;
    for (size_t c = 0, end; c < columns; c = end + 1) {
        for (end = c; end < columns && has_phase(d, k, end * count / columns, (end + 1) * count / columns);)
            end++;
        double from = x_of(f, (double)d->r->start[c * count / columns]);
        double width = x_of(f, (double)d->r->start[end * count / columns]) - from;
        if (end > c)
            fprintf(d->to, "M%.2f %.2fh%.2fv%.2fh-%.2fz", from, f->y + k * d->lane, width, d->lane - 1, width);
    }
}

static void put_lane_label(const struct drawing *d, const struct frame *f, unsigned k)
{
    const struct cluster_point *c = &d->r->clusters->point[k];
    double y = f->y + (k + 0.5) * d->lane + 0.35 * (FONT - 2);
    fprintf(d->to,
            "<text class=\"phase\" x=\"%.2f\" y=\"%.2f\" text-anchor=\"end\" font-size=\"%d\">%u</text>"
            "<text class=\"share\" x=\"%.2f\" y=\"%.2f\" font-size=\"%d\">%.1f %% ",
            f->x - 6, y, FONT - 2, k, f->x + f->width + 8, y, FONT - 2, 100 * c->weight);
    if (d->r->code && d->r->code[k].shares)
        svg_text(phase_function_at(d->r->functions, d->r->code[k].share[0].function).name, NAME_MOST, d->to);
    fputs("</text>\n", d->to);
}

/* The interval that stands for the phase has a black edge. */
static void put_lanes(struct drawing *d)
{
    unsigned count = d->r->clusters->count;
    struct frame f = {LEFT, d->y + 2 * FONT, WIDTH, d->lane * count, 0, (double)d->insns, 8};
    put_caption(d, LEFT, "phases over time, with the share of the run; the point of each is marked");
    for (unsigned k = 0; k < count; k++) {
        fprintf(d->to, "<path class=\"phase\" fill=\"#%s\" d=\"", colours[k % (sizeof colours / sizeof colours[0])]);
        put_runs(d, &f, k);
        fprintf(d->to, "\"><title>phase %u: %.2f %%</title></path>\n", k, 100 * d->r->clusters->point[k].weight);
        size_t at = d->r->clusters->point[k].interval;
        fprintf(d->to, "<path class=\"point\" d=\"M%.2f %.2fl-3 -5h6z\" fill=\"#000\"/>\n",
                x_of(&f, (double)d->r->start[at]), f.y + k * d->lane + 4);
        if (d->lane >= FONT - 2)
            put_lane_label(d, &f, k);
    }
    put_x_axis(d, &f);
    d->y += f.height + 5 * FONT;
}

/* ---- the others */

static void put_analysis(struct drawing *d)
{
    const struct phases *p = d->r->phases;
    double interval = (double)d->r->set->interval;
    struct frame left = {LEFT, d->y + 2 * FONT, HALF, GRAPH, 0, interval * (double)p->initialization_count, 4};
    struct frame right = left;
    right.x = LEFT + WIDTH - HALF;
    right.insns = interval * (double)p->match_count;
    if (p->initialization_count == 0 || p->match_count == 0)
        return;
    put_caption(d, left.x, "initialization difference");
    put_graph(d, &left, p->initialization, p->initialization_count);
    if (p->init_end)
        put_mark(d, &left, p->init_end, "");
    put_caption(d, right.x, "period difference");
    put_graph(d, &right, p->match, p->match_count);
    for (size_t k = p->period; p->period && k < p->match_count; k += p->period)
        fprintf(d->to, "<path class=\"match\" d=\"M%.2f %.2fv6\" stroke=\"#000\" stroke-width=\"1.5\"/>\n",
                x_of(&right, (double)k * interval), right.y - 8);
    d->y += GRAPH + 5 * FONT;
}

static unsigned shade_of(float difference)
{
    return (unsigned)lround(difference / 2 * (SHADES - 1));
}

static void put_shade(const struct drawing *d, unsigned shade, double x, double y, double width, double height)
{
    unsigned grey = 255 * shade / (SHADES - 1);
    fprintf(d->to, "<path fill=\"#%02x%02x%02x\" d=\"M%.2f %.2fh%.2fv%.2fh-%.2fz\"/>\n", grey, grey, grey, x, y, width,
            height, width);
}

/* Cells of one shade in a row are one; each reaches a little below the next row, so that no seam shows. */
static void put_matrix(struct drawing *d)
{
    const struct similarity *m = &d->r->similarity;
    double x = LEFT, y = d->y + 2 * FONT, cell = (double)MATRIX / (double)m->count;
    put_caption(d, LEFT,
                "similarity: black where two times of the run are the same, white where they have nothing in common");
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
    struct frame f = {x, y, MATRIX, MATRIX, 0, (double)d->insns, 5};
    put_x_axis(d, &f);
    double scale = x + MATRIX + 40;
    for (unsigned k = 0; k < SHADES; k++)
        put_shade(d, k, scale, y + k * 8, 20, 8.3);
    fprintf(d->to,
            "<rect x=\"%.2f\" y=\"%.2f\" width=\"20\" height=\"%d\" fill=\"none\" stroke=\"#222\"/>"
            "<text class=\"scale\" x=\"%.2f\" y=\"%.2f\">0, the same</text>"
            "<text class=\"scale\" x=\"%.2f\" y=\"%.2f\">2, nothing in common</text>\n",
            scale, y, 8 * SHADES, scale + 28, y + FONT, scale + 28, y + 8 * SHADES);
}

void phase_report_svg(const struct phase_report *r, const char *title, FILE *to)
{
    unsigned count = r->clusters->count;
    struct drawing d = {.to = to, .r = r, .insns = r->start[r->set->count], .y = MARGIN + 2.5 * TITLE};
    d.lane = fmin(LANE_MOST, (double)LANES_MOST / count);
    double graphs = r->phases->initialization_count && r->phases->match_count ? 2 : 1;
    put_head(&d, title, d.y + graphs * (GRAPH + 5 * FONT) + d.lane * count + 5 * FONT + MATRIX + 5 * FONT);
    put_difference(&d);
    put_lanes(&d);
    put_analysis(&d);
    put_matrix(&d);
    fputs("</svg>\n", to);
}
