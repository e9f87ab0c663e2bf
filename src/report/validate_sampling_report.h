/* Results of `validate counters`, `validate stalls` and `validate overhead`, as text, JSON and CSV; those of `validate
 * counters` also as SVG. */
#ifndef CYCLESCOPE_REPORT_VALIDATE_SAMPLING_REPORT_H
#define CYCLESCOPE_REPORT_VALIDATE_SAMPLING_REPORT_H

#include "sampler/counter_check.h"
#include "sampler/stalls.h"
#include "report/run_report.h"

/* ---- counters: multiplexed counts compared with full counts */

/* Results for one event and one estimator over all group orders that were replayed. */
struct replayed {
    double distance; /* mean distance from the true series; NAN if the event is rare */
    double error;    /* mean relative error of the total; NAN if the true count is 0 */
    uint64_t held;   /* orders in which the interval contained the true count */
};

/* Results for another length of slices or rounds. */
struct sweep_point {
    uint64_t slice;                                      /* cycles of a slice */
    uint32_t ratio;                                      /* slots of a round */
    size_t rounds;                                       /* whole rounds; distances need at least two */
    double distance[PLAN_EVENTS_MOST][CHECK_ESTIMATORS]; /* mean over the orders that were replayed */
};

struct counters_report {
    struct run_report run;
    const struct event_specs *specs;
    const struct plan *plan;
    size_t rounds;   /* whole rounds */
    uint64_t cycles; /* cycles of the program in user mode */
    const struct counter_checked *event;
    const struct checked_column (*column)[CHECK_COLUMNS]; /* by event: its rounds */
    size_t columns;                                       /* length of each */
    const struct replayed (*replayed)[CHECK_ESTIMATORS];  /* by event; NULL: no order was replayed */
    uint64_t seeds;                                       /* orders that were replayed */
    const struct sweep_point *sweep;
    size_t points;  /* length of `sweep`; 0: no sweep */
    unsigned draws; /* orders that were replayed for each point of the sweep */
};

void counters_report_print(const struct counters_report *r, FILE *to, unsigned columns);
json_t *counters_report_json(const struct counters_report *r); /* owned by the caller; NULL if a name is not UTF-8 */
void counters_report_csv(const struct counters_report *r, FILE *to);
/* Draws estimates and true counts over time (validate_counters_svg.c). */
void counters_report_svg(const struct counters_report *r, FILE *to);

/* ---- stalls: the same program on cores with less and less overlap of instructions */

enum { STALL_RUN_REAL, STALL_RUN_SINGLE, STALL_RUN_INORDER, STALL_RUNS };

struct stalls_check_report {
    struct run_report run; /* the run on the core as configured */
    uint64_t interval;     /* instructions of an interval */
    size_t intervals;      /* intervals that all runs have, the length of the compared series */
    struct stall_interval total[STALL_RUNS];
    double distance[STALL_SOURCES][STALL_RUNS]; /* distance of the series from that of the real run; NAN: rare */
    double seconds;                             /* host time of all runs */
};

void stalls_check_print(const struct stalls_check_report *r, FILE *to);
json_t *stalls_check_json(const struct stalls_check_report *r);
void stalls_check_csv(const struct stalls_check_report *r, FILE *to);

/* ---- overhead: cycles that the sampler costs */

struct overhead_row {
    uint64_t khz;    /* slices per millisecond of the program's time */
    uint64_t slice;  /* cycles of a slice */
    uint64_t cycles; /* cycles of the run with the sampler */
    uint64_t slices; /* slices that ended */
    double paper;    /* overhead in the paper, in percent */
};

struct overhead_report {
    struct run_report run; /* the run without the sampler */
    size_t groups;         /* groups of events that the sampler multiplexes */
    const struct overhead_row *row;
    size_t rows;
    double seconds; /* host time of all runs */
};

double overhead_of(const struct overhead_report *r, size_t row); /* relative to the run alone: 0.01 is 1 % */

void overhead_report_print(const struct overhead_report *r, FILE *to);
json_t *overhead_report_json(const struct overhead_report *r);
void overhead_report_csv(const struct overhead_report *r, FILE *to);

#endif
