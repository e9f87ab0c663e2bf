/* Counts over time: a series (pmu/series.h) as a text page with graphs, as JSON, CSV and SVG.
 *
 * A metric is the quotient of two columns of a series. Over several intervals it is the quotient of the sums, not the
 * mean of the quotients, so that the metric of the run follows from the counts of its intervals. If the divisor is 0, a
 * metric has no value: null in JSON, an empty field in CSV, a gap in graphs. */
#ifndef CYCLESCOPE_REPORT_SERIES_REPORT_H
#define CYCLESCOPE_REPORT_SERIES_REPORT_H

#include "pmu/series.h"
#include "report/run_report.h"

struct series_metric {
    const char *key;     /* name in JSON and CSV */
    const char *label;   /* name on pages and in graphs */
    const char *unit;    /* printed after the number, or "" */
    double factor;       /* multiplies the quotient: 100 for percent */
    unsigned count, per; /* columns of the series: dividend and divisor */
};

/* A stretch of the run that another analysis assigned to a phase. */
struct series_phase {
    uint64_t from, insns; /* first instruction and length; counted from the start of the program or of its checkpoint */
    unsigned kind;        /* number of the phase; a phase may have several stretches */
};

struct series_report {
    const struct run_report *run;
    const struct event_specs *specs; /* events of the columns from SERIES_EVENTS on */
    const struct series *series;
    const struct series_metric *metric;
    size_t metrics;
    const struct series_phase *phase; /* stretches in the order of the run, shown below the graphs; NULL: none */
    size_t phases;
};

/* The events that series_default_metrics needs, in the syntax of -e. */
extern const char series_default_events[];
enum { SERIES_METRICS = 7 };
/* IPC, occupancy of the ROB, and rates of mispredictions and misses. They require a series of exactly
 * series_default_events. */
extern const struct series_metric series_default_metrics[SERIES_METRICS];
/* Fills in one metric per event: per 1000 instructions, in percent of cycles, or mean per cycle, depending on the unit
 * of the event. `to` must have room for specs->count metrics. */
void series_event_metrics(const struct event_specs *specs, struct series_metric *to);

/* The metric over intervals `from` to `to`, `to` not included; NAN if it has no value. */
double series_metric_value(const struct series *s, const struct series_metric *m, size_t from, size_t to);
/* Fills in `count` columns of a graph, from 1 to series_count of them. Columns have the same number of intervals, or
 * one more. */
void series_metric_columns(const struct series *s, const struct series_metric *m, size_t count, double *to);
/* Chooses the range of a graph's axis; NANs are ignored. `low` is 0, or the smallest value if all values are in the
 * upper half of the graph. `high` is the largest value, or less if a few values are more than twice as high as all
 * others. False if no value is known. */
bool series_metric_range(const double *value, size_t count, double *low, double *high);
/* The kind of phase that has most instructions of intervals `from` to `to`, `to` not included; -1: none. */
int series_phase_of(const struct series_report *r, size_t from, size_t to);

void series_report_print(const struct series_report *r, FILE *to, unsigned columns);
/* A line of headings, then one line per interval: first instruction, instructions, cycles, events, metrics, phase. */
void series_report_csv(const struct series_report *r, FILE *to);
/* Adds the keys interval, metrics and intervals to `root`. False if memory ran out or a text is not UTF-8. */
bool series_report_json(const struct series_report *r, json_t *root);
/* One graph per metric, one below the other over a common axis of instructions. */
void series_report_svg(const struct series_report *r, FILE *to);

#endif
