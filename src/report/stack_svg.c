#include "report/stack_chart.h"

#include <math.h>
#include <string.h>

#include "report/svg_parts.h"

/* Sizes in pixels, before the viewer scales them. */
enum {
    BAR_MIN = 16,    /* least width of a bar, so that its vertical name fits; also the gap between groups */
    BAR_MAX = 44,    /* largest width of a bar */
    BARS_GOAL = 640, /* width that all bars share, within these limits */
    PLOT_WIDTH_MIN = 240,
    PLOT_HEIGHT_MIN = 320,
    PLOT_HEIGHT_MAX = 600,
    GROUP_WIDTH = 96, /* if a group name is wider than this and than its bars, group names are turned */
};
enum { TICKS = 8 };
enum { NAME_MAX_LENGTH = 32, TITLE_MAX_LENGTH = 120 }; /* characters; tooltips show the whole text */

#define SUM_LABEL "sum of the bar"

struct layout {
    const struct stack_chart *chart;
    struct svg_plot plot;
    double bar;                    /* width reserved for a bar; it is drawn slightly narrower */
    double spread;                 /* width added to each group, to fill a plot of the least width */
    bool turned;                   /* names of groups are vertical */
    double bar_names, group_names; /* heights of the names below the plot */
    double legend;                 /* width of the legend */
    bool sums;                     /* some bars reach below zero: mark the sum of each such bar */
};

/* ---- layout */

/* Width in em, in the widest of the usual sans-serif fonts, since the viewer's font is unknown. */
static double character_width(uint32_t c)
{
    if (c >= 0x80)
        return c < 0x2e80 ? 0.8 : 1;
    if (strchr("mwMW@%", (int)c))
        return 0.95;
    if (strchr("fijlrt.,:;'|!()[] -", (int)c))
        return 0.4;
    return c >= 'A' && c <= 'Z' ? 0.75 : 0.62;
}

static double text_width(const char *text, size_t most, double font)
{
    double em = 0;
    for (uint32_t c; most > 0 && (c = stack_name_next(&text)) != 0; most--)
        em += character_width(c);
    return em * font;
}

static double name_width(const char *name)
{
    return text_width(name, NAME_MAX_LENGTH, SVG_FONT);
}

static double group_bars_width(const struct layout *l, const struct stack_group *group)
{
    return l->bar * (double)group->count;
}

static double group_width(const struct layout *l, const struct stack_group *group)
{
    double name = l->turned ? SVG_FONT : name_width(group->name);
    return fmax(group_bars_width(l, group), name) + BAR_MIN + l->spread;
}

static void lay_out_groups(struct layout *l)
{
    const struct stack_chart *chart = l->chart;
    size_t bars = 0;
    for (size_t g = 0; g < chart->count; g++)
        bars += chart->group[g].count;
    l->bar = fmin(BAR_MAX, fmax(BAR_MIN, BARS_GOAL / fmax(1, (double)bars)));
    for (size_t g = 0; g < chart->count; g++) {
        const struct stack_group *group = &chart->group[g];
        double name = name_width(group->name);
        l->turned |= name > GROUP_WIDTH && name > group_bars_width(l, group) + BAR_MIN;
        for (size_t b = 0; b < group->count; b++)
            l->bar_names = fmax(l->bar_names, name_width(group->bar[b].name));
    }
    for (size_t g = 0; g < chart->count; g++) {
        double name = name_width(chart->group[g].name);
        l->group_names = fmax(l->group_names, l->turned || name == 0 ? name : SVG_FONT);
        l->plot.width += group_width(l, &chart->group[g]);
    }
    l->spread = chart->count ? fmax(0, PLOT_WIDTH_MIN - l->plot.width) / (double)chart->count : 0;
    l->plot.width = fmax(PLOT_WIDTH_MIN, l->plot.width);
    l->plot.height = fmin(PLOT_HEIGHT_MAX, fmax(PLOT_HEIGHT_MIN, l->plot.width / 4));
}

/* The y axis reaches from the tick below the lowest bar to the tick above the highest. */
static void lay_out_axis(struct layout *l)
{
    struct stack_reach reach = stack_chart_reach(l->chart);
    if (reach.below + reach.above < 1e-12)
        reach.above = l->chart->normalized ? 100 : 1;
    l->plot.y = svg_axis_fit(-reach.below, reach.above, TICKS);
    l->sums = reach.below > 1e-6 * (reach.below + reach.above);
}

static const char *unit_of(const struct layout *l)
{
    return l->chart->normalized ? " %" : "";
}

static double axis_width(const struct layout *l)
{
    char text[SVG_TICK_SIZE];
    const struct svg_axis *y = &l->plot.y;
    double low = text_width(svg_tick_text(y, y->low, unit_of(l), text), sizeof text, SVG_FONT);
    return fmax(low, text_width(svg_tick_text(y, y->high, unit_of(l), text), sizeof text, SVG_FONT));
}

static double legend_width(const char *label)
{
    return SVG_SWATCH + SVG_LEGEND_GAP + name_width(label);
}

static struct layout lay_out(const struct stack_chart *chart, FILE *to)
{
    struct layout l = {.chart = chart, .plot = {.to = to, .decimals = 2}};
    lay_out_groups(&l);
    lay_out_axis(&l);
    l.plot.left = SVG_MARGIN + 2 * SVG_FONT + axis_width(&l);
    l.plot.top = SVG_MARGIN + (stack_name_length(chart->title) ? 2.5 * SVG_TITLE : 0);
    for (unsigned c = 0; c < COMPONENTS; c++)
        if (stack_chart_has(chart, c))
            l.legend = fmax(l.legend, legend_width(component_rows[c].label));
    if (l.sums)
        l.legend = fmax(l.legend, legend_width(SUM_LABEL));
    return l;
}

static double bar_names_top(const struct layout *l)
{
    return l->plot.top + l->plot.height + 0.6 * SVG_FONT;
}

static double group_names_top(const struct layout *l)
{
    return bar_names_top(l) + l->bar_names + (l->bar_names > 0 ? 0.8 * SVG_FONT : 0);
}

/* ---- text */

static void put_tooltip(const char *name, FILE *to)
{
    fputs("<title>", to);
    svg_text(name, SIZE_MAX, to);
    fputs("</title>", to);
}

/* Writes a name centered at `x` with its top at `y`; a turned name reads upwards. Shortened names have a tooltip. */
static void put_name(const struct layout *l, double x, double y, bool turned, const char *class, const char *name)
{
    if (turned)
        fprintf(l->plot.to, "<text class=\"%s\" transform=\"translate(%.2f %.2f) rotate(-90)\" text-anchor=\"end\">",
                class, x + 0.35 * SVG_FONT, y);
    else
        fprintf(l->plot.to, "<text class=\"%s\" x=\"%.2f\" y=\"%.2f\" text-anchor=\"middle\">", class, x,
                y + 0.8 * SVG_FONT);
    if (stack_name_length(name) > NAME_MAX_LENGTH)
        put_tooltip(name, l->plot.to);
    svg_text(name, NAME_MAX_LENGTH, l->plot.to);
    fputs("</text>\n", l->plot.to);
}

/* ---- the parts of the drawing, from back to front */

static void put_head(const struct layout *l)
{
    const struct svg_plot *p = &l->plot;
    double title = 1.15 * text_width(l->chart->title, TITLE_MAX_LENGTH, SVG_TITLE); /* bold is wider */
    double width = fmax(p->left + p->width + 2 * SVG_MARGIN + l->legend, SVG_MARGIN + title) + SVG_MARGIN;
    svg_begin(width, group_names_top(l) + l->group_names + SVG_MARGIN, l->chart->title, TITLE_MAX_LENGTH, p->to);
}

static const char *pattern_id(unsigned c, char id[SVG_ID_SIZE])
{
    snprintf(id, SVG_ID_SIZE, "component-%s", component_rows[c].key);
    return id;
}

static void put_patterns(const struct layout *l)
{
    char id[SVG_ID_SIZE];
    fputs("<defs>\n", l->plot.to);
    for (unsigned c = 0; c < COMPONENTS; c++)
        if (stack_chart_has(l->chart, c))
            svg_pattern(pattern_id(c, id), component_rows[c].color, component_rows[c].hatch, component_rows[c].stroke,
                        l->plot.to);
    fputs("</defs>\n", l->plot.to);
}

static void put_axis(const struct layout *l)
{
    svg_y_axis(&l->plot, unit_of(l));
    svg_y_label(&l->plot, SVG_MARGIN + 0.8 * SVG_FONT, l->chart->normalized ? "% of CPI" : "CPI");
}

static void put_tooltip_of_part(const struct layout *l, const struct stack_group *group, const struct stack_bar *bar,
                                enum component c)
{
    fputs("<title>", l->plot.to);
    if (stack_name_length(bar->name)) {
        svg_text(bar->name, SIZE_MAX, l->plot.to);
        fputs(": ", l->plot.to);
    }
    fprintf(l->plot.to, "%s ", component_rows[c].label);
    if (l->chart->normalized)
        fprintf(l->plot.to, "%.1f %%, ", stack_part(l->chart, group, bar->cpi[c]));
    fprintf(l->plot.to, "%.3f CPI</title>", bar->cpi[c]);
}

/* Very small parts have no border, which would make them look larger. */
static const char *border(double height)
{
    return height < 2 ? "" : " stroke=\"#222\" stroke-width=\".7\"";
}

/* Marks the sum of the components in a bar that also reaches below zero, where the sum is not the top of the bar. */
static void put_sum(const struct layout *l, double x, double y, double width)
{
    fprintf(l->plot.to, "<path class=\"sum\" d=\"M%.2f %.2fh%.2f\" stroke=\"#fff\" stroke-width=\"4\"/>", x, y, width);
    fprintf(l->plot.to, "<path d=\"M%.2f %.2fh%.2f\" stroke=\"#000\" stroke-width=\"2\"/>\n", x - 2, y, width + 4);
}

static void put_bar(const struct layout *l, const struct stack_group *group, const struct stack_bar *bar, double x)
{
    double width = 0.84 * l->bar, above = 0, below = 0;
    x += 0.08 * l->bar;
    for (unsigned c = 0; c < COMPONENTS; c++) {
        double part = stack_part(l->chart, group, bar->cpi[c]);
        if (part == 0)
            continue;
        double *end = part < 0 ? &below : &above;
        double from = svg_y(&l->plot, *end), to = svg_y(&l->plot, *end += part);
        fprintf(l->plot.to, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.3f\" fill=\"url(#component-%s)\"%s>",
                x, fmin(from, to), width, fabs(to - from), component_rows[c].key, border(fabs(to - from)));
        put_tooltip_of_part(l, group, bar, c);
        fputs("</rect>\n", l->plot.to);
    }
    if (l->sums && below < 0)
        put_sum(l, x, svg_y(&l->plot, above + below), width);
    if (!isfinite(stack_bar_reach(l->chart, group, bar).total))
        fprintf(l->plot.to, "<text transform=\"translate(%.2f %.2f) rotate(-90)\">n/a</text>\n",
                x + width / 2 + 0.35 * SVG_FONT, svg_y(&l->plot, above) - 4);
}

static void put_group(const struct layout *l, const struct stack_group *group, double x)
{
    double middle = x + group_width(l, group) / 2;
    double at = middle - group_bars_width(l, group) / 2;
    for (size_t b = 0; b < group->count; b++, at += l->bar) {
        put_bar(l, group, &group->bar[b], at);
        if (stack_name_length(group->bar[b].name))
            put_name(l, at + l->bar / 2, bar_names_top(l), true, "bar", group->bar[b].name);
    }
    if (stack_name_length(group->name))
        put_name(l, middle, group_names_top(l), l->turned, "group", group->name);
}

static void put_groups(const struct layout *l)
{
    double x = l->plot.left;
    for (size_t g = 0; g < l->chart->count; g++) {
        put_group(l, &l->chart->group[g], x);
        x += group_width(l, &l->chart->group[g]);
    }
    fprintf(l->plot.to, "<path d=\"M%.2f %.2fh%.2f\" stroke=\"#222\"/>\n", l->plot.left, svg_y(&l->plot, 0),
            l->plot.width);
}

/* Components from top to bottom, in the order in which they are stacked. */
static void put_legend(const struct layout *l)
{
    const struct svg_plot *p = &l->plot;
    double x = p->left + p->width + 2 * SVG_MARGIN, y = p->top;
    char id[SVG_ID_SIZE];
    for (unsigned c = COMPONENTS; c-- > 0;) {
        if (!stack_chart_has(l->chart, c))
            continue;
        svg_legend_row(p, x, y, pattern_id(c, id), component_rows[c].label);
        y += SVG_LEGEND_PITCH;
    }
    if (l->sums) {
        fprintf(l->plot.to, "<path d=\"M%.2f %.2fh%d\" stroke=\"#000\" stroke-width=\"2\"/>", x, y + 8, SVG_SWATCH);
        fprintf(l->plot.to, "<text class=\"legend\" x=\"%.2f\" y=\"%.2f\">" SUM_LABEL "</text>\n",
                x + SVG_SWATCH + SVG_LEGEND_GAP, y + SVG_FONT);
    }
}

void stack_svg_write(const struct stack_chart *chart, FILE *to)
{
    struct layout l = lay_out(chart, to);
    put_head(&l);
    put_patterns(&l);
    put_axis(&l);
    put_groups(&l);
    put_legend(&l);
    svg_end(to);
}
