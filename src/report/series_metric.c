#include <math.h>
#include <stdlib.h>

#include "report/series_report.h"

/* Columns of a series of series_default_events, in that order. */
enum {
    ROB_OCCUPANCY = SERIES_EVENTS,
    BRANCHES,
    MISPREDICTIONS,
    L1I_ACCESSES,
    L1I_MISSES,
    L1D_ACCESSES,
    L1D_MISSES,
    LOADS,
    ADDRESS_MISPREDICTIONS,
    VALUE_MISPREDICTIONS
};

const char series_default_events[] = "rob_occupancy,branches,mispredictions,l1i_accesses,l1i_access_misses,"
                                     "l1d_accesses,l1d_access_misses,loads,load_address_mispredictions,"
                                     "load_value_mispredictions";

const struct series_metric series_default_metrics[SERIES_METRICS] = {
    {"ipc", "IPC", "", 1, SERIES_INSNS, SERIES_CYCLES},
    {"rob_occupancy_mean", "ROB occupancy", "", 1, ROB_OCCUPANCY, SERIES_CYCLES},
    {"branch_misprediction_percent", "branches mispredicted", "%", 100, MISPREDICTIONS, BRANCHES},
    {"l1i_miss_percent", "L1I misses", "%", 100, L1I_MISSES, L1I_ACCESSES},
    {"l1d_miss_percent", "L1D misses", "%", 100, L1D_MISSES, L1D_ACCESSES},
    {"load_address_misprediction_percent", "load addresses off stride", "%", 100, ADDRESS_MISPREDICTIONS, LOADS},
    {"load_value_misprediction_percent", "load values off stride", "%", 100, VALUE_MISPREDICTIONS, LOADS},
};

void series_event_metrics(const struct event_specs *specs, struct series_metric *to)
{
    static const struct series_metric by_unit[] = {
        [UNIT_OCCURRENCES] = {.unit = "per 1000 instructions", .factor = 1000, .per = SERIES_INSNS},
        [UNIT_CYCLES] = {.unit = "% of cycles", .factor = 100, .per = SERIES_CYCLES},
        [UNIT_VALUE] = {.unit = "on average", .factor = 1, .per = SERIES_CYCLES},
    };
    for (size_t i = 0; i < specs->count; i++) {
        to[i] = by_unit[event_spec_unit(&specs->of[i])];
        to[i].key = to[i].label = specs->of[i].text;
        to[i].count = (unsigned)(SERIES_EVENTS + i);
    }
}

double series_metric_value(const struct series *s, const struct series_metric *m, size_t from, size_t to)
{
    uint64_t per = series_growth(s, m->per, from, to);
    return per ? m->factor * (double)series_growth(s, m->count, from, to) / (double)per : (double)NAN;
}

void series_metric_columns(const struct series *s, const struct series_metric *m, size_t count, double *to)
{
    size_t intervals = series_count(s);
    for (size_t c = 0; c < count; c++)
        to[c] = series_metric_value(s, m, c * intervals / count, (c + 1) * intervals / count);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The largest value; or, if at most 5 % of the values are more than twice as high as all others, the largest of those
 * others. */
static double usual_high(const double *value, size_t count, double most)
{
    size_t known = 0;
    double *sorted = calloc(count + 1, sizeof *sorted);
    if (sorted == NULL)
        return most;
    for (size_t i = 0; i < count; i++)
        if (!isnan(value[i]))
            sorted[known++] = value[i];
    qsort(sorted, known, sizeof *sorted, by_value);
    double usual = known ? sorted[known - 1 - known / 20] : 0;
    free(sorted);
    return usual > 0 && most > 2 * usual ? usual : most;
}

bool series_metric_range(const double *value, size_t count, double *low, double *high)
{
    *low = (double)INFINITY;
    *high = 0;
    for (size_t c = 0; c < count; c++) {
        if (isnan(value[c]))
            continue;
        *low = fmin(*low, value[c]);
        *high = fmax(*high, value[c]);
    }
    bool any = *low <= *high;
    double usual = usual_high(value, count, *high);
    if (*low < usual / 2 || *low >= usual)
        *low = 0;
    *high = usual < *high ? usual + (usual - *low) / 4 : *high;
    return any;
}

/* Instructions of the stretch that lie between instructions `from` and `to` of the run. */
static uint64_t overlap(const struct series_phase *p, uint64_t from, uint64_t to)
{
    uint64_t begin = p->from > from ? p->from : from, end = p->from + p->insns < to ? p->from + p->insns : to;
    return begin < end ? end - begin : 0;
}

int series_phase_of(const struct series_report *r, size_t from, size_t to)
{
    const struct simulation *s = r->run->simulation;
    uint64_t before = r->run->result.skipped_insns + s->warmup_insns, most = 0;
    uint64_t begin = before + series_growth(r->series, SERIES_INSNS, 0, from);
    uint64_t end = before + series_growth(r->series, SERIES_INSNS, 0, to);
    int kind = -1;
    for (size_t i = 0; i < r->phases; i++) {
        uint64_t insns = 0;
        if (overlap(&r->phase[i], begin, end) == 0)
            continue;
        for (size_t j = i; j < r->phases && r->phase[j].from < end; j++)
            insns += r->phase[j].kind == r->phase[i].kind ? overlap(&r->phase[j], begin, end) : 0;
        if (insns > most) {
            most = insns;
            kind = (int)r->phase[i].kind;
        }
    }
    return kind;
}
