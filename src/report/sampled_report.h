/* Confidence intervals of a sampled run, for the reports of all commands.
 *
 * In a sampled run only windows are simulated, and counts of the whole run are estimates. An interval is given by half
 * of its width, at 95 % confidence. All functions require r->sampled. */
#ifndef CYCLESCOPE_REPORT_SAMPLED_REPORT_H
#define CYCLESCOPE_REPORT_SAMPLED_REPORT_H

#include "phases/combine.h"
#include "report/counts.h"
#include "report/run_report.h"

/* Half interval of a number of the run from sampling alone. `number` is an index into struct simulation_counts, taken
 * as an array of uint64_t, followed by the numbers of simulation.sum. */
double sampled_half(const struct run_report *r, size_t number);
/* The same for the difference of two numbers, `number` - `minus`. */
double sampled_difference_half(const struct run_report *r, size_t number, size_t minus);
/* Adds the error of functional warming to the half interval of `value`. Infinite if that error is unknown
 * (TRUST_NONE). */
double sampled_add_warm_error(const struct run_report *r, double half, double value, enum warm_trust trust);
/* Half interval in cycles of a number that counts `parts` of a cycle, the error of warming included. */
double sampled_cycles_half(const struct run_report *r, size_t number, uint64_t parts);
/* Half interval of the CPI of the run, the error of warming included. */
double sampled_cpi_half(const struct run_report *r);
/* Half interval of a count, the error of warming included. */
double sampled_count_half(const struct run_report *r, const struct count_row *row);

/* What a report of several sampled runs says about each. */
struct sample_summary {
    bool whole, systematic;          /* `whole`: the run was so short that it was simulated whole; the rest is 0 then */
    size_t windows, failed, strayed; /* measured windows; windows that were not simulated; see struct measured */
    uint64_t window_insns, head;     /* instructions of a window, and of the head, which was measured whole */
    uint64_t measured;               /* instructions of all windows and the head */
    double cpi_half;                 /* half interval of the CPI */
};
struct sample_summary sampled_summary(const struct run_report *r); /* r->sampled may be NULL */

/* The rest of a line that says that the run was interrupted: what was measured, and what that means. */
void sampled_print_interruption(const struct run_report *r, FILE *to);
void sampled_print(const struct run_report *r, FILE *to); /* which windows were simulated, and which failed */
json_t *sampled_json(const struct run_report *r);
json_t *counts_intervals_json(const struct run_report *r); /* intervals of all count_rows, by name */
json_t *interval_json(double value, double half);          /* [low, high]; null for a bound that is infinite */

#endif
