/* What `validate counters`, `validate stalls` and `validate overhead` found, as text, JSON and CSV. */
#ifndef CYCLESCOPE_REPORT_VALIDATE_SAMPLING_REPORT_H
#define CYCLESCOPE_REPORT_VALIDATE_SAMPLING_REPORT_H

#include "monitor/counter_check.h"
#include "monitor/stalls.h"
#include "report/run_report.h"

/* ---- counters: multiplexed counts against full ones */

/* Of an event and an estimator, over all orders that were replayed. */
struct replayed {
    double distance; /* mean; NAN if it is rare */
    double error;    /* mean of the total's; NAN if nothing is true */
    uint64_t held;   /* orders whose interval had the truth in it */
};

/* Another length of slices or of rounds. */
struct sweep_point {
    uint64_t slice;
    uint32_t ratio;
    size_t rounds;                                       /* below two there is nothing to compare */
    double distance[PLAN_EVENTS_MOST][CHECK_ESTIMATORS]; /* mean over the orders that were replayed */
};

struct counters_report {
    struct run_report run;
    const struct event_specs *specs;
    const struct plan *plan;
    size_t rounds;   /* whole ones */
    uint64_t cycles; /* of the program, in user mode */
    const struct counter_checked *event;
    const struct replayed (*replayed)[CHECK_ESTIMATORS]; /* by event; NULL: none */
    uint64_t seeds;                                      /* orders that were replayed */
    const struct sweep_point *sweep;
    size_t points;
    unsigned draws; /* orders of each point */
};

void counters_report_print(const struct counters_report *r, FILE *to);
json_t *counters_report_json(const struct counters_report *r); /* NULL if a name is not UTF-8 */
void counters_report_csv(const struct counters_report *r, FILE *to);

/* ---- stalls: the same program on cores that overlap less and less */

enum { STALL_RUN_REAL, STALL_RUN_SINGLE, STALL_RUN_INORDER, STALL_RUNS };

struct stalls_check_report {
    struct run_report run; /* the real one */
    uint64_t interval;     /* instructions */
    size_t intervals;      /* that all runs have */
    struct stall_interval total[STALL_RUNS];
    double distance[STALL_SOURCES][STALL_RUNS]; /* from the real run; NAN: rare */
    double seconds;
};

void stalls_check_print(const struct stalls_check_report *r, FILE *to);
json_t *stalls_check_json(const struct stalls_check_report *r);
void stalls_check_csv(const struct stalls_check_report *r, FILE *to);

/* ---- overhead: what the engine costs */

struct overhead_row {
    uint64_t khz, slice; /* how often a slice ends, and cycles of one */
    uint64_t cycles;     /* of the program with the engine */
    uint64_t slices;
    double paper; /* percent */
};

struct overhead_report {
    struct run_report run; /* without the engine */
    size_t groups;         /* of events that take turns */
    const struct overhead_row *row;
    size_t rows;
    double seconds;
};

double overhead_of(const struct overhead_report *r, size_t row); /* 0.01 is one percent */

void overhead_report_print(const struct overhead_report *r, FILE *to);
json_t *overhead_report_json(const struct overhead_report *r);
void overhead_report_csv(const struct overhead_report *r, FILE *to);

#endif
