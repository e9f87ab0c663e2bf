#include "report/stack_chart.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "report/terminal_color.h"

/* ---- shared by both kinds of chart */

static double scaled(const struct stack_chart *chart, const struct stack_group *group, double cpi)
{
    return chart->normalized ? 100 * cpi / group->hundred : cpi;
}

static bool drawable(double value)
{
    return fabs(value) < 1e12;
}

double stack_part(const struct stack_chart *chart, const struct stack_group *group, double cpi)
{
    double value = scaled(chart, group, cpi);
    return drawable(value) ? value : 0;
}

struct stack_reach stack_bar_reach(const struct stack_chart *chart, const struct stack_group *group,
                                   const struct stack_bar *bar)
{
    struct stack_reach reach = {0};
    for (unsigned c = 0; c < COMPONENTS; c++) {
        double part = stack_part(chart, group, bar->cpi[c]);
        *(part < 0 ? &reach.below : &reach.above) += fabs(part);
        reach.total += drawable(scaled(chart, group, bar->cpi[c])) ? part : NAN;
    }
    return reach;
}

struct stack_reach stack_chart_reach(const struct stack_chart *chart)
{
    struct stack_reach most = {0};
    for (size_t g = 0; g < chart->count; g++)
        for (size_t b = 0; b < chart->group[g].count; b++) {
            struct stack_reach reach = stack_bar_reach(chart, &chart->group[g], &chart->group[g].bar[b]);
            most.below = fmax(most.below, reach.below);
            most.above = fmax(most.above, reach.above);
        }
    return most;
}

bool stack_chart_has(const struct stack_chart *chart, enum component c)
{
    for (size_t g = 0; g < chart->count; g++)
        for (size_t b = 0; b < chart->group[g].count; b++)
            if (stack_part(chart, &chart->group[g], chart->group[g].bar[b].cpi[c]) != 0)
                return true;
    return false;
}

static bool printable(uint32_t c)
{
    bool control = c < 0x20 || (c >= 0x7f && c < 0xa0);
    bool surrogate = c >= 0xd800 && c < 0xe000;
    bool noncharacter = (c & 0xfffe) == 0xfffe;
    return !control && !surrogate && !noncharacter && c <= 0x10ffff;
}

uint32_t stack_name_next(const char **name)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000}; /* by length; lower values would be overlong encodings */
    const unsigned char *s = (const unsigned char *)(*name ? *name : "");
    if (*s == '\0')
        return 0;
    ++*name; /* an invalid byte counts as one character, so that valid characters after it are not lost */
    if (*s >= 0xf8 || (*s & 0xc0) == 0x80)
        return REPLACEMENT_CHARACTER;
    unsigned more = *s < 0x80 ? 0 : *s < 0xe0 ? 1 : *s < 0xf0 ? 2 : 3;
    uint32_t c = more == 0 ? *s : *s & (0x3fu >> more);
    for (unsigned i = 1; i <= more; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return REPLACEMENT_CHARACTER;
        c = c << 6 | (s[i] & 0x3f);
    }
    if (c < least[more] || !printable(c))
        return REPLACEMENT_CHARACTER;
    *name += more;
    return c;
}

size_t stack_name_length(const char *name)
{
    size_t length = 0;
    while (stack_name_next(&name))
        length++;
    return length;
}

/* ---- bars of characters */

enum { CELLS_MIN = 10, NAME_MIN = 8, ELLIPSIS = 3, NUMBER = 32 };

/* A line consists of group name, bar name, cells below zero, the zero line, cells above zero, total. */
struct line_layout {
    const struct stack_chart *chart;
    FILE *to;
    bool color;
    unsigned columns;
    unsigned group_name, bar_name; /* columns of the names, without the space that follows them */
    unsigned below, above;         /* cells on either side of zero */
    double cells_per_unit;         /* cells per CPI or percent */
};

static const char *format_total(const struct stack_chart *chart, double total, char text[NUMBER])
{
    if (isfinite(total))
        snprintf(text, NUMBER, chart->normalized ? "%.1f %%" : "%.3f", total);
    else
        strcpy(text, "n/a");
    return text;
}

static unsigned widest_name(unsigned so_far, const char *name)
{
    size_t length = stack_name_length(name);
    return length > so_far ? (unsigned)length : so_far;
}

static struct line_layout lay_out(const struct stack_chart *chart, FILE *to, bool color, unsigned columns)
{
    struct line_layout l = {.chart = chart, .to = to, .color = color, .columns = columns};
    unsigned total = 0;
    for (size_t g = 0; g < chart->count; g++) {
        const struct stack_group *group = &chart->group[g];
        l.group_name = widest_name(l.group_name, group->name);
        for (size_t b = 0; b < group->count; b++) {
            char text[NUMBER];
            l.bar_name = widest_name(l.bar_name, group->bar[b].name);
            total = widest_name(total, format_total(chart, stack_bar_reach(chart, group, &group->bar[b]).total, text));
        }
    }
    unsigned most = columns / 4 > NAME_MIN ? columns / 4 : NAME_MIN;
    l.group_name = l.group_name < most ? l.group_name : most;
    l.bar_name = l.bar_name < most ? l.bar_name : most;
    unsigned others = l.group_name + (l.group_name > 0) + l.bar_name + (l.bar_name > 0) + 1 + 1 + total;
    unsigned cells = columns > others + CELLS_MIN ? columns - others : CELLS_MIN;

    struct stack_reach reach = stack_chart_reach(chart);
    double range = reach.below + reach.above;
    l.cells_per_unit = range > 1e-12 ? cells / range : 0;
    l.below = (unsigned)lround(reach.below * l.cells_per_unit);
    l.above = cells - l.below;
    return l;
}

/* Distributes cells among the parts that have the given sign; other parts get none. Each part gets its exact share
 * rounded up or down; the largest remainders are rounded up. Returns the sum of the cells, at most `room`. */
static unsigned share_cells(const double part[COMPONENTS], double sign, double per_unit, unsigned room,
                            unsigned cells[COMPONENTS])
{
    double sum = 0, remainder[COMPONENTS];
    for (unsigned c = 0; c < COMPONENTS; c++)
        sum += fmax(0, sign * part[c]);
    long rounded = lround(sum * per_unit);
    unsigned all = rounded > (long)room ? room : (unsigned)rounded, left = all;
    for (unsigned c = 0; c < COMPONENTS; c++) {
        double exact = sum > 0 ? all * (fmax(0, sign * part[c]) / sum) : 0;
        cells[c] = exact < left ? (unsigned)exact : left;
        remainder[c] = exact - cells[c];
        left -= cells[c];
    }
    for (; left > 0; left--) {
        unsigned largest = 0;
        for (unsigned c = 1; c < COMPONENTS; c++)
            if (remainder[c] > remainder[largest])
                largest = c;
        cells[largest]++;
        remainder[largest] = 0;
    }
    return all;
}

/* Prints at most `most` characters; returns how many were printed. */
static unsigned print_characters(const char *name, unsigned most, FILE *to)
{
    unsigned count = 0;
    for (const char *from = name; count < most; count++, from = name) {
        uint32_t c = stack_name_next(&name);
        if (c == 0)
            break;
        if (c == REPLACEMENT_CHARACTER)
            fputc('?', to);
        else
            fwrite(from, 1, (size_t)(name - from), to);
    }
    return count;
}

/* Prints a name in a column of `width` characters, followed by a space; nothing if `width` is 0. */
static void print_name(const char *name, unsigned width, FILE *to)
{
    if (width == 0)
        return;
    bool cut = stack_name_length(name) > width;
    unsigned column = print_characters(name, cut ? width - ELLIPSIS : width, to);
    fputs(cut ? "..." : "", to);
    fprintf(to, "%*s", (int)(cut ? 1 : width + 1 - column), "");
}

/* With colors, only the first cell has the component's letter, for readers who cannot distinguish the colors. */
static void print_cells(const struct line_layout *l, enum component c, unsigned cells)
{
    if (cells == 0)
        return;
    if (l->color)
        terminal_background(component_rows[c].color, l->to);
    for (unsigned i = 0; i < cells; i++)
        fputc(l->color && i > 0 ? ' ' : component_rows[c].mark, l->to);
    if (l->color)
        fputs(TERMINAL_PLAIN, l->to);
}

static void print_bar(const struct line_layout *l, const struct stack_group *group, const struct stack_bar *bar)
{
    double part[COMPONENTS];
    unsigned cells[COMPONENTS];
    char text[NUMBER];
    for (unsigned c = 0; c < COMPONENTS; c++)
        part[c] = stack_part(l->chart, group, bar->cpi[c]);
    unsigned below = share_cells(part, -1, l->cells_per_unit, l->below, cells);
    fprintf(l->to, "%*s", (int)(l->below - below), "");
    for (unsigned c = COMPONENTS; c-- > 0;)
        print_cells(l, c, cells[c]);
    fputc('|', l->to);
    share_cells(part, 1, l->cells_per_unit, l->above, cells);
    for (unsigned c = 0; c < COMPONENTS; c++)
        print_cells(l, c, cells[c]);
    fprintf(l->to, " %s\n", format_total(l->chart, stack_bar_reach(l->chart, group, bar).total, text));
}

static void print_group(const struct line_layout *l, const struct stack_group *group)
{
    for (size_t b = 0; b < group->count; b++) {
        print_name(b == 0 ? group->name : "", l->group_name, l->to);
        print_name(group->bar[b].name, l->bar_name, l->to);
        print_bar(l, group, &group->bar[b]);
    }
}

static void print_legend(const struct line_layout *l)
{
    const char *unit = l->chart->normalized ? "% of CPI:" : "CPI:";
    unsigned indent = (unsigned)strlen(unit), at = indent;
    fputs(unit, l->to);
    for (unsigned c = 0; c < COMPONENTS; c++) {
        if (!stack_chart_has(l->chart, c))
            continue;
        unsigned width = (unsigned)strlen(component_rows[c].label) + 4;
        if (at > indent && at + width > l->columns) {
            fprintf(l->to, "\n%*s", (int)indent, "");
            at = indent;
        }
        fputs("  ", l->to);
        print_cells(l, c, 1);
        fprintf(l->to, " %s", component_rows[c].label);
        at += width;
    }
    fputc('\n', l->to);
}

void stack_bars_print(const struct stack_chart *chart, FILE *to, bool color, unsigned columns)
{
    struct line_layout l = lay_out(chart, to, color, columns);
    bool apart = false; /* separate groups by empty lines */
    for (size_t g = 0; g < chart->count; g++)
        apart |= chart->group[g].count > 1;
    if (stack_name_length(chart->title)) {
        print_characters(chart->title, UINT_MAX, to);
        fputc('\n', to);
    }
    for (size_t g = 0; g < chart->count; g++) {
        if (g > 0 && apart)
            fputc('\n', to);
        print_group(&l, &chart->group[g]);
    }
    print_legend(&l);
}
