#include "report/series_picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/stall_picture.h"

enum { ROWS = 4, LABEL = 10, COLUMNS_MIN = 20 };

struct canvas {
    FILE *to;
    size_t count; /* columns */
    double *value;
    double low, high; /* ends of the y axis */
};

char series_phase_letter(unsigned kind)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    return letters[kind % (sizeof letters - 1)];
}

/* The character of a column in a row; row 0 is the bottom. A row resolves thirds. Row 0 always shows a dot, so that the
 * lowest value differs from a gap. */
static char cell(const struct canvas *k, size_t column, unsigned row)
{
    double height = ROWS * (k->value[column] - k->low) / (k->high - k->low) - row;
    if (isnan(height))
        return ' ';
    if (row == ROWS - 1 && k->value[column] > 1.001 * k->high)
        return '^';
    return height >= 5. / 6 ? '#' : height >= 0.5 ? ':' : height >= 1. / 6 || row == 0 ? '.' : ' ';
}

static void put_graph(const struct canvas *k, const struct series_metric *m)
{
    fprintf(k->to, "\n %s%s%s\n", m->label, *m->unit ? ", " : "", m->unit);
    for (unsigned row = ROWS; row-- > 0;) {
        size_t end = k->count;
        if (row == ROWS - 1 || row == 0)
            fprintf(k->to, "%*.3g |", LABEL - 2, row ? k->high : k->low);
        else
            fprintf(k->to, "%*s |", LABEL - 2, "");
        while (end > 0 && cell(k, end - 1, row) == ' ')
            end--;
        for (size_t c = 0; c < end; c++)
            fputc(cell(k, c, row), k->to);
        fputc('\n', k->to);
    }
}

static void put_axis(const struct canvas *k, uint64_t insns)
{
    char text[SHORT_NUMBER];
    fprintf(k->to, "%*s +", LABEL - 2, "");
    for (size_t c = 0; c < k->count; c++)
        fputc('-', k->to);
    const char *end = stall_short(insns, text);
    int gap = (int)k->count - 1 - (int)strlen(end);
    fprintf(k->to, "\n%*s0%*s%s\n", LABEL, "", gap > 1 ? gap : 1, "", end);
}

static void put_phases(const struct canvas *k, const struct series_report *r)
{
    size_t intervals = series_count(r->series);
    fprintf(k->to, "%*s  ", LABEL - 2, "phase");
    for (size_t c = 0; c < k->count; c++) {
        int kind = series_phase_of(r, c * intervals / k->count, (c + 1) * intervals / k->count);
        fputc(kind < 0 ? ' ' : series_phase_letter((unsigned)kind), k->to);
    }
    fputc('\n', k->to);
}

void series_picture_print(const struct series_report *r, FILE *to, unsigned columns)
{
    size_t intervals = series_count(r->series), room = columns > LABEL ? columns - LABEL : 0;
    struct canvas k = {.to = to, .count = intervals < room ? intervals : room};
    if (intervals < 2 || room < COLUMNS_MIN || (k.value = calloc(k.count, sizeof *k.value)) == NULL)
        return;
    for (size_t i = 0; i < r->metrics; i++) {
        series_metric_columns(r->series, &r->metric[i], k.count, k.value);
        if (series_metric_range(k.value, k.count, &k.low, &k.high) && k.low < k.high)
            put_graph(&k, &r->metric[i]);
        else
            fprintf(to, "\n %s: constant\n", r->metric[i].label);
    }
    put_axis(&k, series_growth(r->series, SERIES_INSNS, 0, intervals));
    if (r->phase)
        put_phases(&k, r);
    free(k.value);
}
