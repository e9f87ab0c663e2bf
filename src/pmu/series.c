#include "pmu/series.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "pmu/pmu.h"

struct series {
    struct pmu *pmu;
    uint64_t interval; /* requested length in instructions */
    size_t columns;
    uint64_t *reading; /* rows of `columns` values: one at the start of each interval, and one at the end */
    size_t rows, room; /* rows in use and allocated */
    uint64_t start;    /* the core's count of instructions when the first interval began */
    struct core *core; /* NULL when nothing is measured any more */
    const struct core_counts *live; /* the core's counts, which grow during the run */
    struct core_observer observer;
    struct simulation_sum sum;
};

/* ---- readings */

static bool make_room(struct series *s)
{
    uint64_t *reading = array_grow(s->reading, s->rows, &s->room, s->columns * sizeof *reading);
    if (reading)
        s->reading = reading;
    return reading != NULL;
}

/* Appends a row of readings, for which there is room. */
static void read_counters(struct series *s)
{
    uint64_t *row = &s->reading[s->rows++ * s->columns];
    row[SERIES_INSNS] = s->live->instructions - s->start;
    row[SERIES_CYCLES] = s->live->cycles;
    for (size_t i = SERIES_EVENTS; i < s->columns; i++)
        row[i] = pmu_value(s->pmu, i - SERIES_EVENTS);
}

/* Lets the core call on_reached at the end of the current interval. Makes room for the reading there now; without
 * memory the interval continues to the end of the run. */
static void cut_next(struct series *s)
{
    uint64_t now = s->live->instructions, left = s->interval - (now - s->start) % s->interval;
    bool cut = make_room(s) && left < UINT64_MAX - now;
    core_watch(s->core, 0, &s->live->instructions, cut ? now + left : UINT64_MAX);
}

/* ---- callbacks of the core */

static void on_begin(void *context, struct core *c, const struct core_counts *live)
{
    struct series *s = pmu_owner(context);
    pmu_attach(context, c, live);
    s->core = c;
    s->live = live;
    s->start = live->instructions;
    s->rows = 0;
    read_counters(s);
    cut_next(s);
}

static void on_reached(void *context, unsigned watch, uint64_t cycle)
{
    struct series *s = pmu_owner(context);
    (void)watch;
    (void)cycle;
    core_counts(s->core); /* brings the counts up to date */
    read_counters(s);
    cut_next(s);
}

/* ---- callbacks of the simulation */

static void on_forked(void *context)
{
    struct series *s = context;
    const struct simulation_sum *counters = pmu_sum(s->pmu);
    counters->forked(counters->context);
    if (s->core) /* the fork happened during measurement */
        core_watch(s->core, 0, NULL, UINT64_MAX);
    s->core = NULL;
}

static void on_mark(void *context, bool marked)
{
    struct series *s = context;
    const struct simulation_sum *counters = pmu_sum(s->pmu);
    counters->set_marked(counters->context, marked);
}

/* Replaces the last reading by one at the end if it lies behind the last instruction, so that the remaining cycles
 * belong to the interval of that instruction, or if there is no room for another row. */
static void on_end(void *context)
{
    struct series *s = context;
    const struct simulation_sum *counters = pmu_sum(s->pmu);
    counters->end(counters->context);
    if (s->core == NULL)
        return;
    s->core = NULL;
    const uint64_t *last = &s->reading[(s->rows - 1) * s->columns];
    if (s->rows > 1 && (s->rows == s->room || last[SERIES_INSNS] == s->live->instructions - s->start))
        s->rows--;
    read_counters(s);
}

/* ---- setup and results */

struct series *series_new(const struct event_specs *specs, uint64_t interval_insns, struct error *err)
{
    struct series *s = calloc(1, sizeof *s);
    if (s == NULL) {
        error_set(err, -ENOMEM, "out of memory for a series");
        return NULL;
    }
    s->interval = interval_insns;
    s->columns = SERIES_EVENTS + specs->count;
    s->pmu = pmu_new(specs, NULL, s, err);
    if (s->pmu == NULL || !make_room(s)) {
        if (s->pmu)
            error_set(err, -ENOMEM, "out of memory for a series");
        series_free(s);
        return NULL;
    }
    s->observer = *pmu_observer(s->pmu);
    s->observer.begin = on_begin;
    s->observer.reached = on_reached;
    s->sum = *pmu_sum(s->pmu);
    s->sum.forked = on_forked;
    s->sum.end = on_end;
    s->sum.set_counting = NULL;
    s->sum.set_marked = on_mark;
    s->sum.context = s;
    return s;
}

void series_free(struct series *s)
{
    if (s == NULL)
        return;
    pmu_free(s->pmu);
    free(s->reading);
    free(s);
}

const struct core_observer *series_observer(struct series *s)
{
    return &s->observer;
}

const struct simulation_sum *series_sum(struct series *s)
{
    return &s->sum;
}

size_t series_count(const struct series *s)
{
    return s->rows ? s->rows - 1 : 0;
}

size_t series_columns(const struct series *s)
{
    return s->columns;
}

uint64_t series_interval(const struct series *s)
{
    return s->interval;
}

uint64_t series_growth(const struct series *s, unsigned column, size_t from, size_t to)
{
    return s->reading[to * s->columns + column] - s->reading[from * s->columns + column];
}
