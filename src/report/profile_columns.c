#include "report/profile_columns.h"

#include <math.h>
#include <string.h>

#include "report/run_report.h"

enum { PERCENT_WIDTH = 8, INTERVAL_WIDTH = 7, COUNT_WIDTH = 17, SAMPLES_WIDTH = 11 };

double share_percent(const struct profile_counted *e, uint64_t weight)
{
    return e->weight ? 100 * (double)weight / (double)e->weight : 0;
}

double share_interval(const struct profile_counted *e, uint64_t weight)
{
    double p = share_percent(e, weight) / 100;
    return e->period && e->samples ? 196 * sqrt(p * (1 - p) / (double)e->samples) : 0;
}

static int part_width(const struct profile_counted *e)
{
    return PERCENT_WIDTH + (e->period ? INTERVAL_WIDTH : 0) + COUNT_WIDTH;
}

static void head_part(const struct profile_counted *e, const char *percent, const char *count, FILE *to)
{
    fprintf(to, "%*s", PERCENT_WIDTH, percent);
    if (e->period)
        fprintf(to, "%*s", INTERVAL_WIDTH + 1, "±"); /* ± is two bytes, but one column */
    fprintf(to, "%*s", COUNT_WIDTH, count);
}

void columns_head(const struct profile_columns *c, FILE *to)
{
    for (unsigned i = c->first; i <= c->last; i++) {
        const struct profile_counted *e = &c->profile->event[i];
        int width = part_width(e) * (c->inclusive ? 2 : 1) + SAMPLES_WIDTH;
        fprintf(to, "%*.*s", width, width - 2, e->name);
    }
    fputc('\n', to);
    for (unsigned i = c->first; i <= c->last; i++) {
        const struct profile_counted *e = &c->profile->event[i];
        if (c->inclusive)
            head_part(e, "total %", "total", to);
        head_part(e, c->inclusive ? "self %" : "%", c->inclusive ? "self" : "count", to);
        fprintf(to, "%*s", SAMPLES_WIDTH, "samples");
    }
}

static void row_part(const struct profile_columns *c, const struct profile_counted *e, uint64_t weight, FILE *to)
{
    char text[GROUPED_SIZE];
    double percent = share_percent(e, weight);
    const char *color = !c->color ? NULL : percent >= 5 ? "\033[31m" : percent >= 0.5 ? "\033[32m" : NULL;
    fprintf(to, "%s%*.2f%s", color ? color : "", PERCENT_WIDTH, percent, color ? "\033[m" : "");
    if (e->period)
        fprintf(to, "%*.2f", INTERVAL_WIDTH, share_interval(e, weight));
    fprintf(to, "%*s", COUNT_WIDTH, grouped(weight, text));
}

void columns_row(const struct profile_columns *c, const struct profile_amount *self, const struct profile_amount *total,
                 FILE *to)
{
    char text[GROUPED_SIZE];
    for (unsigned i = c->first; i <= c->last; i++) {
        const struct profile_counted *e = &c->profile->event[i];
        if (c->inclusive && total)
            row_part(c, e, total[i].weight, to);
        else if (c->inclusive)
            fprintf(to, "%*s", part_width(e), "");
        row_part(c, e, self[i].weight, to);
        fprintf(to, "%*s", SAMPLES_WIDTH, grouped(self[i].samples, text));
    }
}

bool columns_reach(const struct profile_columns *c, const struct profile_amount *self,
                   const struct profile_amount *total, double percent)
{
    for (unsigned i = c->first; i <= c->last; i++) {
        const struct profile_counted *e = &c->profile->event[i];
        uint64_t most = total && total[i].weight > self[i].weight ? total[i].weight : self[i].weight;
        if (most && share_percent(e, most) >= percent)
            return true;
    }
    return false;
}
