/* Counts over time: what a series (monitor/series.h) says of a run, as a page with graphs of text, as JSON, CSV and
 * SVG.
 *
 * A metric is the quotient of two columns of a series. Over several intervals it is the quotient of their sums, not the
 * mean of quotients, so the metrics of the run follow from those of the intervals by their counts. Where the divisor is
 * 0 a metric has no value: null in JSON, an empty field in CSV, a gap in graphs. */
#ifndef CYCLESCOPE_REPORT_SERIES_REPORT_H
#define CYCLESCOPE_REPORT_SERIES_REPORT_H

#include "monitor/series.h"
#include "report/run_report.h"

struct series_metric {
    const char *key;     /* in files */
    const char *label;   /* on pages */
    const char *unit;    /* behind the number, or "" */
    double factor;       /* of the quotient */
    unsigned count, per; /* columns of the series */
};

/* A stretch of the run that some other analysis found to be of one kind. */
struct series_phase {
    uint64_t from, insns; /* from the beginning of the program, or of what was restored */
    unsigned kind;
};

struct series_report {
    const struct run_report *run;
    const struct event_specs *specs; /* the columns behind instructions and cycles */
    const struct series *series;
    const struct series_metric *metric;
    size_t metrics;
    const struct series_phase *phase; /* in order, to be shown under the graphs; NULL: none */
    size_t phases;
};

/* The events that series_default_metrics need, as a user would write them. */
extern const char series_default_events[];
enum { SERIES_METRICS = 7 };
/* IPC, occupancy of the ROB, and rates of mispredictions and misses, of a series of exactly those events. */
extern const struct series_metric series_default_metrics[SERIES_METRICS];
/* A metric for each event: per 1000 instructions, in percent of cycles, or on average over cycles. `to` has room. */
void series_event_metrics(const struct event_specs *specs, struct series_metric *to);

/* The metric from one interval up to, without, another; NAN if it has no value. */
double series_metric_value(const struct series *s, const struct series_metric *m, size_t from, size_t to);
/* Fills in `count` columns of a picture, each of equally many intervals, give or take one; 1 to series_count of them.
 */
void series_metric_columns(const struct series *s, const struct series_metric *m, size_t count, double *to);
/* From where to where a picture of these values should reach, NANs being left out: from 0, unless all of them lie in
 * the upper half of that; to the largest, or to less where a few tower above all others. False if there is none. */
bool series_metric_range(const double *value, size_t count, double *low, double *high);
/* The kind of the phase that most of the intervals from one up to another lie in; -1: none. */
int series_phase_of(const struct series_report *r, size_t from, size_t to);

void series_report_print(const struct series_report *r, FILE *to, unsigned columns);
/* A line of names, and a line for each interval: where it begins, instructions, cycles, events, metrics. */
void series_report_csv(const struct series_report *r, FILE *to);
/* Adds `interval`, `metrics` and `intervals` to a document; false without memory, or if a text is not UTF-8. */
bool series_report_json(const struct series_report *r, json_t *root);
/* A graph for each metric, one below the other over one axis of instructions. */
void series_report_svg(const struct series_report *r, FILE *to);

#endif
