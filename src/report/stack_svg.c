#include "report/stack_chart.h"

#include <math.h>
#include <string.h>

/* Hatches over the colour of a component, on a tile of 8 by 8: in grey, and to readers who see no colours, they are
 * what tells components apart. So dark lines go with colours that are light in grey as well, and white ones with dark
 * colours, but for the first-level caches, whose colours are the same grey. */
struct hatch {
    const char *path;
    const char *style;
};

#define DIAGONAL_UP   "M-2 2L2-2M-2 10L10-2M6 10L10 6"
#define DIAGONAL_DOWN "M-2 6L2 10M-2-2L10 10M6-2L10 2"
#define DARK          "stroke=\"#000\" stroke-opacity=\".6\" stroke-width=\"1\""
#define LIGHT         "stroke=\"#fff\" stroke-opacity=\".85\" stroke-width=\"1.3\""

static const struct hatch hatches[COMPONENTS] = {
    [COMPONENT_base] = {"", ""},
    [COMPONENT_fu] = {"M0 2H8M0 6H8", DARK},
    [COMPONENT_l1i] = {DIAGONAL_UP, LIGHT},
    [COMPONENT_l2i] = {DIAGONAL_UP, LIGHT},
    [COMPONENT_itlb] = {"M2 0V8M6 0V8", LIGHT},
    [COMPONENT_branch] = {"M2 2h.01M6 6h.01", "stroke=\"#000\" stroke-width=\"2.2\" stroke-linecap=\"round\""},
    [COMPONENT_l1d] = {DIAGONAL_DOWN, "stroke=\"#000\" stroke-opacity=\".6\" stroke-width=\"1.6\""},
    [COMPONENT_l2d] = {DIAGONAL_UP DIAGONAL_DOWN, LIGHT},
    [COMPONENT_dtlb] = {"M0 4H8M4 0V8", DARK},
};

/* Sizes in pixels, before the viewer scales them. */
enum {
    MARGIN = 16,
    TITLE_FONT = 16,
    FONT = 12,    /* of all other text */
    BAR_MIN = 16, /* its name fits beside the next one; also the gap between groups */
    BAR_MAX = 44,
    BARS_GOAL = 640, /* what all bars share, within these limits */
    PLOT_WIDTH_MIN = 240,
    PLOT_HEIGHT_MIN = 320,
    PLOT_HEIGHT_MAX = 600,
    GROUP_WIDTH = 96, /* names of groups that are wider than this and than their bars are turned */
    LEGEND_SWATCH = 20,
    LEGEND_GAP = 8,
    LEGEND_PITCH = 24,
};
enum { NAME_MAX_LENGTH = 32, TITLE_MAX_LENGTH = 120 }; /* characters; tooltips have all */

#define SUM_LABEL "sum of the bar"

struct layout {
    const struct stack_chart *chart;
    FILE *to;
    double bar;                      /* room of a bar; it is drawn a little narrower */
    double spread;                   /* added to each group, to fill a plot of the least width */
    bool turned;                     /* names of groups */
    double left, top, width, height; /* of the plot */
    double bar_names, group_names;   /* heights below the plot */
    double legend;                   /* width */
    double step;                     /* from tick to tick of the y axis, in CPI or percent */
    double low, high;                /* its ends, in steps */
    bool sums;                       /* some bars reach below zero: their sums are marked */
};

/* ---- layout */

/* In em, in the widest of the usual sans-serif fonts: which one the viewer takes is not known here. */
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
    return text_width(name, NAME_MAX_LENGTH, FONT);
}

static double group_bars_width(const struct layout *l, const struct stack_group *group)
{
    return l->bar * (double)group->count;
}

static double group_width(const struct layout *l, const struct stack_group *group)
{
    double name = l->turned ? FONT : name_width(group->name);
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
        l->group_names = fmax(l->group_names, l->turned || name == 0 ? name : FONT);
        l->width += group_width(l, &chart->group[g]);
    }
    l->spread = chart->count ? fmax(0, PLOT_WIDTH_MIN - l->width) / (double)chart->count : 0;
    l->width = fmax(PLOT_WIDTH_MIN, l->width);
    l->height = fmin(PLOT_HEIGHT_MAX, fmax(PLOT_HEIGHT_MIN, l->width / 4));
}

/* Ticks at 1, 2 or 5 times a power of ten, from the one below the lowest bar to the one above the highest. */
static void lay_out_axis(struct layout *l)
{
    struct stack_reach reach = stack_chart_reach(l->chart);
    double range = reach.below + reach.above;
    if (range < 1e-12)
        range = reach.above = l->chart->normalized ? 100 : 1;
    double raw = range / 8, power = pow(10, floor(log10(raw)));
    l->step = power * (raw <= power ? 1 : raw <= 2 * power ? 2 : raw <= 5 * power ? 5 : 10);
    /* A bar that ends on a tick, but for rounding, needs no other. */
    l->low = -ceil(reach.below / l->step - 1e-6);
    l->high = ceil(reach.above / l->step - 1e-6) + 0.0; /* not -0 */
    l->sums = reach.below > 1e-6 * range;
}

static int tick_decimals(const struct layout *l)
{
    int decimals = (int)-floor(log10(l->step) + 1e-9);
    return decimals > 0 ? decimals : 0;
}

static void format_tick(const struct layout *l, double tick, char text[32])
{
    snprintf(text, 32, "%.*f%s", tick_decimals(l), tick * l->step, l->chart->normalized ? " %" : "");
}

static double axis_width(const struct layout *l)
{
    char text[32];
    format_tick(l, l->low, text);
    double low = text_width(text, sizeof text, FONT);
    format_tick(l, l->high, text);
    return fmax(low, text_width(text, sizeof text, FONT));
}

static double legend_width(const char *label)
{
    return LEGEND_SWATCH + LEGEND_GAP + name_width(label);
}

static struct layout lay_out(const struct stack_chart *chart, FILE *to)
{
    struct layout l = {.chart = chart, .to = to};
    lay_out_groups(&l);
    lay_out_axis(&l);
    l.left = MARGIN + 2 * FONT + axis_width(&l);
    l.top = MARGIN + (stack_name_length(chart->title) ? 2.5 * TITLE_FONT : 0);
    for (unsigned c = 0; c < COMPONENTS; c++)
        if (stack_chart_has(chart, c))
            l.legend = fmax(l.legend, legend_width(component_rows[c].label));
    if (l.sums)
        l.legend = fmax(l.legend, legend_width(SUM_LABEL));
    return l;
}

static double y_of(const struct layout *l, double value)
{
    return l->top + l->height * (l->high - value / l->step) / (l->high - l->low);
}

static double bar_names_top(const struct layout *l)
{
    return l->top + l->height + 0.6 * FONT;
}

static double group_names_top(const struct layout *l)
{
    return bar_names_top(l) + l->bar_names + (l->bar_names > 0 ? 0.8 * FONT : 0);
}

/* ---- text */

static void put_character(uint32_t c, const char *bytes, size_t count, FILE *to)
{
    switch (c) {
    case '&': fputs("&amp;", to); break;
    case '<': fputs("&lt;", to); break;
    case '>': fputs("&gt;", to); break;
    case '"': fputs("&quot;", to); break;
    case REPLACEMENT_CHARACTER: fputs("&#xfffd;", to); break;
    default: fwrite(bytes, 1, count, to);
    }
}

static void put_text(const char *text, size_t most, FILE *to)
{
    bool cut = stack_name_length(text) > most;
    size_t left = cut ? most - 1 : most;
    const char *from = text;
    for (uint32_t c; left > 0 && (c = stack_name_next(&text)) != 0; left--, from = text)
        put_character(c, from, (size_t)(text - from), to);
    if (cut)
        fputs("&#x2026;", to);
}

static void put_tooltip(const char *name, FILE *to)
{
    fputs("<title>", to);
    put_text(name, SIZE_MAX, to);
    fputs("</title>", to);
}

/* A name whose top is at y and whose middle is at x; turned, it reads upwards. Cut ones have a tooltip. */
static void put_name(const struct layout *l, double x, double y, bool turned, const char *class, const char *name)
{
    if (turned)
        fprintf(l->to, "<text class=\"%s\" transform=\"translate(%.2f %.2f) rotate(-90)\" text-anchor=\"end\">", class,
                x + 0.35 * FONT, y);
    else
        fprintf(l->to, "<text class=\"%s\" x=\"%.2f\" y=\"%.2f\" text-anchor=\"middle\">", class, x, y + 0.8 * FONT);
    if (stack_name_length(name) > NAME_MAX_LENGTH)
        put_tooltip(name, l->to);
    put_text(name, NAME_MAX_LENGTH, l->to);
    fputs("</text>\n", l->to);
}

/* ---- the parts of the picture, from behind */

static void put_head(const struct layout *l)
{
    double title = 1.15 * text_width(l->chart->title, TITLE_MAX_LENGTH, TITLE_FONT); /* bold */
    double width = fmax(l->left + l->width + 2 * MARGIN + l->legend, MARGIN + title) + MARGIN;
    double height = group_names_top(l) + l->group_names + MARGIN;
    fprintf(l->to,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
            "role=\"img\" font-family=\"sans-serif\" font-size=\"%d\" fill=\"#222\">\n",
            width, height, width, height, FONT);
    put_tooltip(l->chart->title, l->to);
    fputs("\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n", l->to);
    if (title == 0)
        return;
    fprintf(l->to, "<text class=\"chart\" x=\"%d\" y=\"%d\" font-size=\"%d\" font-weight=\"bold\">", MARGIN,
            MARGIN + TITLE_FONT, TITLE_FONT);
    put_text(l->chart->title, TITLE_MAX_LENGTH, l->to);
    fputs("</text>\n", l->to);
}

static void put_patterns(const struct layout *l)
{
    fputs("<defs>\n", l->to);
    for (unsigned c = 0; c < COMPONENTS; c++) {
        if (!stack_chart_has(l->chart, c))
            continue;
        fprintf(l->to,
                "<pattern id=\"component-%s\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\">"
                "<rect width=\"8\" height=\"8\" fill=\"#%06x\"/><path d=\"%s\" fill=\"none\" %s/></pattern>\n",
                component_rows[c].key, (unsigned)component_rows[c].colour, hatches[c].path, hatches[c].style);
    }
    fputs("</defs>\n", l->to);
}

static void put_grid(const struct layout *l)
{
    for (double tick = l->low; tick <= l->high; tick++) {
        char text[32];
        double y = y_of(l, tick * l->step);
        format_tick(l, tick, text);
        fprintf(l->to, "<path d=\"M%.2f %.2fh%.2f\" stroke=\"#ccc\"/>", l->left, y, l->width);
        fprintf(l->to, "<text class=\"tick\" x=\"%.2f\" y=\"%.2f\" text-anchor=\"end\">%s</text>\n", l->left - 6,
                y + 0.35 * FONT, text);
    }
    fprintf(l->to,
            "<text class=\"axis\" transform=\"translate(%.2f %.2f) rotate(-90)\" text-anchor=\"middle\">%s</text>\n",
            MARGIN + 0.8 * FONT, l->top + l->height / 2, l->chart->normalized ? "% of CPI" : "CPI");
}

static void put_tooltip_of_part(const struct layout *l, const struct stack_group *group, const struct stack_bar *bar,
                                enum component c)
{
    fputs("<title>", l->to);
    if (stack_name_length(bar->name)) {
        put_text(bar->name, SIZE_MAX, l->to);
        fputs(": ", l->to);
    }
    fprintf(l->to, "%s ", component_rows[c].label);
    if (l->chart->normalized)
        fprintf(l->to, "%.1f %%, ", stack_part(l->chart, group, bar->cpi[c]));
    fprintf(l->to, "%.3f CPI</title>", bar->cpi[c]);
}

/* A border would make parts look larger that are hardly there. */
static const char *border(double height)
{
    return height < 2 ? "" : " stroke=\"#222\" stroke-width=\".7\"";
}

/* Where the components sum to, in a bar that is longer than that. */
static void put_sum(const struct layout *l, double x, double y, double width)
{
    fprintf(l->to, "<path class=\"sum\" d=\"M%.2f %.2fh%.2f\" stroke=\"#fff\" stroke-width=\"4\"/>", x, y, width);
    fprintf(l->to, "<path d=\"M%.2f %.2fh%.2f\" stroke=\"#000\" stroke-width=\"2\"/>\n", x - 2, y, width + 4);
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
        double from = y_of(l, *end), to = y_of(l, *end += part);
        fprintf(l->to, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.3f\" fill=\"url(#component-%s)\"%s>", x,
                fmin(from, to), width, fabs(to - from), component_rows[c].key, border(fabs(to - from)));
        put_tooltip_of_part(l, group, bar, c);
        fputs("</rect>\n", l->to);
    }
    if (l->sums && below < 0)
        put_sum(l, x, y_of(l, above + below), width);
    if (!isfinite(stack_bar_reach(l->chart, group, bar).total))
        fprintf(l->to, "<text transform=\"translate(%.2f %.2f) rotate(-90)\">n/a</text>\n", x + width / 2 + 0.35 * FONT,
                y_of(l, above) - 4);
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
    double x = l->left;
    for (size_t g = 0; g < l->chart->count; g++) {
        put_group(l, &l->chart->group[g], x);
        x += group_width(l, &l->chart->group[g]);
    }
    fprintf(l->to, "<path d=\"M%.2f %.2fh%.2f\" stroke=\"#222\"/>\n", l->left, y_of(l, 0), l->width);
}

/* From the top down as the components are stacked. */
static void put_legend(const struct layout *l)
{
    double x = l->left + l->width + 2 * MARGIN, y = l->top;
    for (unsigned c = COMPONENTS; c-- > 0;) {
        if (!stack_chart_has(l->chart, c))
            continue;
        fprintf(l->to,
                "<rect x=\"%.2f\" y=\"%.2f\" width=\"%d\" height=\"16\" fill=\"url(#component-%s)\" stroke=\"#222\" "
                "stroke-width=\".7\"/>",
                x, y, LEGEND_SWATCH, component_rows[c].key);
        fprintf(l->to, "<text class=\"legend\" x=\"%.2f\" y=\"%.2f\">%s</text>\n", x + LEGEND_SWATCH + LEGEND_GAP,
                y + FONT, component_rows[c].label);
        y += LEGEND_PITCH;
    }
    if (l->sums) {
        fprintf(l->to, "<path d=\"M%.2f %.2fh%d\" stroke=\"#000\" stroke-width=\"2\"/>", x, y + 8, LEGEND_SWATCH);
        fprintf(l->to, "<text class=\"legend\" x=\"%.2f\" y=\"%.2f\">" SUM_LABEL "</text>\n",
                x + LEGEND_SWATCH + LEGEND_GAP, y + FONT);
    }
}

void stack_svg_write(const struct stack_chart *chart, FILE *to)
{
    struct layout l = lay_out(chart, to);
    put_head(&l);
    put_patterns(&l);
    put_grid(&l);
    put_groups(&l);
    put_legend(&l);
    fputs("</svg>\n", to);
}
