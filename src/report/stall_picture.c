#include "report/stall_picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/terminal_color.h"

/* Sources that no component of CPI stacks stands for. */
static const struct component_row integer_style = {.color = 0x009e73,
                                                   .hatch = "M-2 6L2 10M-2-2L10 10M6-2L10 2",
                                                   .stroke =
                                                       "stroke=\"#fff\" stroke-opacity=\".85\" stroke-width=\"1.3\""};
static const struct component_row other_style = {.color = 0xf4f4f4,
                                                 .hatch = "M2 6h.01M6 2h.01",
                                                 .stroke =
                                                     "stroke=\"#000\" stroke-width=\"1.2\" stroke-linecap=\"round\""};

const struct stall_layer stall_layers[STALL_LAYERS] = {
    [LAYER_COMPLETION] = {'.', &component_rows[COMPONENT_base]},
    [LAYER_FIRST_STALL + STALL_ICACHE] = {'i', &component_rows[COMPONENT_l1i]},
    [LAYER_FIRST_STALL + STALL_BRANCH] = {'b', &component_rows[COMPONENT_branch]},
    [LAYER_FIRST_STALL + STALL_DCACHE] = {'d', &component_rows[COMPONENT_l2d]},
    [LAYER_FIRST_STALL + STALL_TRANSLATION] = {'t', &component_rows[COMPONENT_dtlb]},
    [LAYER_FIRST_STALL + STALL_REJECT] = {'r', &component_rows[COMPONENT_itlb]},
    [LAYER_FIRST_STALL + STALL_FPU] = {'f', &component_rows[COMPONENT_fu]},
    [LAYER_FIRST_STALL + STALL_INTEGER] = {'u', &integer_style},
    [LAYER_FIRST_STALL + STALL_OTHER] = {'o', &other_style},
};

const char *stall_layer_label(unsigned layer)
{
    return layer == LAYER_COMPLETION ? stall_completion_row.label : stall_rows[layer - LAYER_FIRST_STALL].label;
}

uint64_t stall_layer_cycles(const struct stall_interval *i, unsigned layer)
{
    return layer == LAYER_COMPLETION ? i->completion : i->stalls[layer - LAYER_FIRST_STALL];
}

const char *stall_short(uint64_t n, char text[SHORT_NUMBER])
{
    static const char *const suffix[] = {"", "K", "M", "G", "T"};
    double x = (double)n;
    unsigned i = 0;
    for (; x >= 999.5 && i < 4; i++)
        x /= 1000;
    snprintf(text, SHORT_NUMBER, i && x < 99.95 ? "%.1f%s" : "%.0f%s", x, suffix[i]);
    return text;
}

/* ---- columns */

uint64_t stall_series_insns(const struct stall_series *s)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < s->count; i++)
        sum += s->of[i].insns;
    return sum;
}

static void add_share(struct stall_column *to, const struct stall_interval *i, double share)
{
    for (unsigned l = 0; l < STALL_LAYERS; l++)
        to->cpi[l] += share * (double)stall_layer_cycles(i, l);
}

/* Distributes an interval that spans columns `from` to `end`, which have fractions, in proportion to the overlap. */
static void spread(struct stall_column *to, size_t count, const struct stall_interval *i, double from, double end)
{
    size_t first = from < (double)count ? (size_t)from : count - 1;
    if (end <= from) { /* no instruction retired in the interval */
        add_share(&to[first], i, 1);
        return;
    }
    for (size_t c = first; c < count && (double)c < end; c++) {
        double a = fmax(from, (double)c), b = c + 1 == count ? end : fmin(end, (double)c + 1);
        add_share(&to[c], i, (b - a) / (end - from));
    }
}

void stall_columns(const struct stall_series *s, size_t count, struct stall_column *to)
{
    uint64_t insns = stall_series_insns(s), at = 0;
    memset(to, 0, count * sizeof *to);
    if (insns == 0)
        return;
    double per_column = (double)insns / (double)count;
    for (size_t i = 0; i < s->count; i++) {
        double from = (double)at / per_column;
        at += s->of[i].insns;
        spread(to, count, &s->of[i], from, (double)at / per_column);
    }
    for (size_t c = 0; c < count; c++)
        for (unsigned l = 0; l < STALL_LAYERS; l++)
            to[c].cpi[l] /= per_column;
}

static double height_of(const struct stall_column *c)
{
    double sum = 0;
    for (unsigned l = 0; l < STALL_LAYERS; l++)
        sum += c->cpi[l];
    return sum;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double stall_scale(const struct stall_column *column, size_t count)
{
    double *height = calloc(count + 1, sizeof *height), most = 0;
    if (height == NULL)
        return 0;
    for (size_t c = 0; c < count; c++)
        height[c] = height_of(&column[c]);
    qsort(height, count, sizeof *height, by_value);
    most = count ? height[count - 1] : 0;
    double usual = count ? height[count - 1 - count / 20] : 0; /* 95th percentile */
    free(height);
    return most > 2 * usual && usual > 0 ? 1.25 * usual : most;
}

/* ---- text */

enum { LABEL = 8, COLUMNS_MIN = 20, MARK_EVERY = 6 };

struct canvas {
    unsigned rows, columns;
    bool color;
    double scale; /* CPI at the top of the graph */
    const struct stall_column *column;
    uint8_t *cell; /* [column * rows + row], row 0 at the bottom: layer + 1, or 0 for an empty cell */
    FILE *to;
};

/* Fills in the cells of a column. A cell shows the layer that covers most of it. */
static void fill_column(const struct canvas *k, unsigned c)
{
    const double *cpi = k->column[c].cpi;
    double per_cell = k->scale / k->rows, height = per_cell > 0 ? round(height_of(&k->column[c]) / per_cell) : 0;
    for (unsigned row = 0; row < k->rows && row < height; row++) {
        double from = row * per_cell, end = from + per_cell, at = 0, most = 0;
        for (unsigned l = 0; l < STALL_LAYERS; at += cpi[l++]) {
            double covered = fmin(end, at + cpi[l]) - fmax(from, at);
            if (covered > most) {
                most = covered;
                k->cell[c * k->rows + row] = (uint8_t)(l + 1);
            }
        }
    }
}

static void put_color(const struct canvas *k, unsigned layer)
{
    if (k->color)
        terminal_background(stall_layers[layer].style->color, k->to);
}

static void put_row(const struct canvas *k, unsigned row)
{
    unsigned last = 0;         /* layer + 1 of the current terminal color; 0: no color */
    unsigned end = k->columns; /* columns without the empty ones at the right */
    while (end > 0 && k->cell[(end - 1) * k->rows + row] == 0)
        end--;
    for (unsigned c = 0; c < end; c++) {
        unsigned cell = k->cell[c * k->rows + row];
        bool cut = row + 1 == k->rows && height_of(&k->column[c]) > 1.001 * k->scale;
        if (k->color && cell != last)
            fputs(TERMINAL_PLAIN, k->to);
        if (cell && cell != last)
            put_color(k, cell - 1);
        bool marked = !k->color || c % MARK_EVERY == 0;
        fputc(cell == 0 ? ' ' : cut ? '^' : marked ? stall_layers[cell - 1].mark : ' ', k->to);
        last = cell;
    }
    fputs(k->color ? TERMINAL_PLAIN "\n" : "\n", k->to);
}

static void put_rows(const struct canvas *k)
{
    for (unsigned row = k->rows; row-- > 0;) {
        if (row + 1 == k->rows || (row + 1 == k->rows / 2 && k->rows >= 6))
            fprintf(k->to, "%*.*f |", LABEL - 2, k->scale < 10 ? 2 : 1, k->scale * (row + 1) / k->rows);
        else
            fprintf(k->to, "%*s |", LABEL - 2, "");
        put_row(k, row);
    }
}

static void put_axis(const struct canvas *k, uint64_t insns)
{
    char text[SHORT_NUMBER];
    fprintf(k->to, "%*s +", LABEL - 2, "0");
    for (unsigned c = 0; c < k->columns; c++)
        fputc('-', k->to);
    const char *end = stall_short(insns, text);
    int gap = (int)k->columns - 1 - (int)strlen(end);
    fprintf(k->to, "\n%*s0%*s%s\n", LABEL, "", gap > 0 ? gap : 0, "", end);
}

static bool has_layer(const struct canvas *k, unsigned layer)
{
    for (unsigned c = 0; c < k->columns; c++)
        if (k->column[c].cpi[layer] > 0)
            return true;
    return false;
}

static void put_legend(const struct canvas *k)
{
    unsigned at = LABEL;
    fprintf(k->to, "%-*s", LABEL, "CPI:");
    for (unsigned l = 0; l < STALL_LAYERS; l++) {
        unsigned width = (unsigned)strlen(stall_layer_label(l)) + 4;
        if (!has_layer(k, l))
            continue;
        if (at > LABEL && at + width > LABEL + k->columns) {
            fprintf(k->to, "\n%*s", LABEL, "");
            at = LABEL;
        } else if (at > LABEL) {
            fputs("  ", k->to);
        }
        put_color(k, l);
        fputc(stall_layers[l].mark, k->to);
        fprintf(k->to, "%s %s", k->color ? TERMINAL_PLAIN : "", stall_layer_label(l));
        at += width;
    }
    fputc('\n', k->to);
}

void stall_picture_print(const struct stall_series *s, unsigned rows, unsigned columns, bool color, FILE *to)
{
    uint64_t insns = stall_series_insns(s);
    if (columns < LABEL + COLUMNS_MIN || rows == 0 || insns == 0)
        return;
    struct canvas k = {.rows = rows, .columns = columns - LABEL, .color = color, .to = to};
    struct stall_column *column = calloc(k.columns, sizeof *column);
    k.cell = calloc((size_t)k.columns * rows, 1);
    if (column && k.cell) {
        stall_columns(s, k.columns, column);
        k.column = column;
        k.scale = stall_scale(column, k.columns);
        for (unsigned c = 0; c < k.columns; c++)
            fill_column(&k, c);
        put_rows(&k);
        put_axis(&k, insns);
        put_legend(&k);
    }
    free(column);
    free(k.cell);
}
