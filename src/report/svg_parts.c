#include "report/svg_parts.h"

#include <math.h>

#include "report/stack_chart.h"
#include "report/stall_picture.h"

/* ---- the document */

void svg_begin(double width, double height, const char *title, size_t title_most, FILE *to)
{
    fprintf(to,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
            "role=\"img\" font-family=\"sans-serif\" font-size=\"%d\" fill=\"#222\">\n<title>",
            width, height, width, height, SVG_FONT);
    svg_text(title, SIZE_MAX, to);
    fputs("</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n", to);
    if (stack_name_length(title) == 0)
        return;
    fprintf(to, "<text class=\"chart\" x=\"%d\" y=\"%d\" font-size=\"%d\" font-weight=\"bold\">", SVG_MARGIN,
            SVG_MARGIN + SVG_TITLE, SVG_TITLE);
    svg_text(title, title_most, to);
    fputs("</text>\n", to);
}

void svg_end(FILE *to)
{
    fputs("</svg>\n", to);
}

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

void svg_text(const char *text, size_t most, FILE *to)
{
    bool cut = stack_name_length(text) > most;
    size_t left = cut ? most - 1 : most;
    const char *from = text;
    for (uint32_t c; left > 0 && (c = stack_name_next(&text)) != 0; left--, from = text)
        put_character(c, from, (size_t)(text - from), to);
    if (cut)
        fputs("&#x2026;", to);
}

/* ---- plots and their axes */

/* 1, 2 or 5 times a power of ten, so that `range`, which is greater than 0, has at most `ticks` of them. */
static double tick_step(double range, unsigned ticks)
{
    double raw = range / ticks, power = pow(10, floor(log10(raw)));
    return power * (raw <= power ? 1 : raw <= 2 * power ? 2 : raw <= 5 * power ? 5 : 10);
}

/* A value that is a multiple of the step up to rounding errors needs no further tick. */
struct svg_axis svg_axis_fit(double low, double high, unsigned ticks)
{
    double step = tick_step(high > low ? high - low : 1, ticks);
    double first = floor(low / step + 1e-6);
    double last = fmax(ceil(high / step - 1e-6), first + 1) + 0.0; /* turns -0 into 0 */
    return (struct svg_axis){.low = step * first, .high = step * last, .step = step};
}

const char *svg_tick_text(const struct svg_axis *a, double tick, const char *unit, char text[SVG_TICK_SIZE])
{
    int decimals = (int)fmax(0, -floor(log10(a->step) + 1e-9));
    snprintf(text, SVG_TICK_SIZE, "%.*f%s", decimals, tick, unit);
    return text;
}

double svg_x(const struct svg_plot *p, double insn)
{
    return p->left + (p->insns > 0 ? insn / p->insns : 0) * p->width;
}

double svg_y(const struct svg_plot *p, double value)
{
    return p->top + p->height * (1 - fmin(1, (value - p->y.low) / (p->y.high - p->y.low)));
}

void svg_y_axis(const struct svg_plot *p, const char *unit)
{
    char text[SVG_TICK_SIZE];
    long last = lround(p->y.high / p->y.step);
    for (long i = lround(p->y.low / p->y.step); i <= last; i++) {
        double tick = (double)i * p->y.step, y = svg_y(p, tick);
        fprintf(p->to,
                "<path d=\"M%.*f %.2fh%.*f\" stroke=\"#ccc\"/><text class=\"tick\" x=\"%.*f\" y=\"%.2f\" "
                "text-anchor=\"end\">%s</text>\n",
                p->decimals, p->left, y, p->decimals, p->width, p->decimals, p->left - 6, y + 0.35 * SVG_FONT,
                svg_tick_text(&p->y, tick, unit, text));
    }
}

void svg_y_label(const struct svg_plot *p, double x, const char *text)
{
    fprintf(p->to,
            "<text class=\"axis\" transform=\"translate(%.*f %.2f) rotate(-90)\" text-anchor=\"middle\">%s</text>\n",
            p->decimals, x, p->top + p->height / 2, text);
}

void svg_x_axis(const struct svg_plot *p, unsigned ticks)
{
    char text[SHORT_NUMBER];
    double step = tick_step(p->insns > 0 ? p->insns : 1, ticks), bottom = p->top + p->height;
    for (double tick = 0; tick <= p->insns * (1 + 1e-9); tick += step)
        fprintf(p->to,
                "<path d=\"M%.2f %.2fv5\" stroke=\"#222\"/><text class=\"tick\" x=\"%.2f\" y=\"%.2f\" "
                "text-anchor=\"middle\">%s</text>\n",
                svg_x(p, tick), bottom, svg_x(p, tick), bottom + 5 + SVG_FONT, stall_short((uint64_t)tick, text));
}

void svg_x_label(const struct svg_plot *p, const char *text)
{
    fprintf(p->to, "<text class=\"axis\" x=\"%.*f\" y=\"%.2f\" text-anchor=\"middle\">%s</text>\n", p->decimals,
            p->left + p->width / 2, p->top + p->height + 5 + 2.5 * SVG_FONT, text);
}

void svg_cut(const struct svg_plot *p, double x, const char *value)
{
    fprintf(p->to, "<path class=\"cut\" d=\"M%.1f %.1fl4 -8l4 8z\" fill=\"#000\"><title>cut off: %s</title></path>\n",
            x - 4, p->top, value);
}

/* ---- hatches and legends */

void svg_pattern(const char *id, uint32_t color, const char *hatch, const char *stroke, FILE *to)
{
    fprintf(to,
            "<pattern id=\"%s\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\">"
            "<rect width=\"8\" height=\"8\" fill=\"#%06x\"/><path d=\"%s\" fill=\"none\" %s/></pattern>\n",
            id, (unsigned)color, hatch, stroke);
}

void svg_legend_row(const struct svg_plot *p, double x, double y, const char *id, const char *label)
{
    fprintf(p->to,
            "<rect x=\"%.*f\" y=\"%.*f\" width=\"%d\" height=\"16\" fill=\"url(#%s)\" stroke=\"#222\" "
            "stroke-width=\".7\"/><text class=\"legend\" x=\"%.*f\" y=\"%.*f\">%s</text>\n",
            p->decimals, x, p->decimals, y, SVG_SWATCH, id, p->decimals, x + SVG_SWATCH + SVG_LEGEND_GAP, p->decimals,
            y + SVG_FONT, label);
}
