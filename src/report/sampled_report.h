/* How far figures of a run of which only windows were simulated may be off, for the reports of all commands. */
#ifndef CYCLESCOPE_REPORT_SAMPLED_REPORT_H
#define CYCLESCOPE_REPORT_SAMPLED_REPORT_H

#include "points/combine.h"
#include "report/counts.h"
#include "report/run_report.h"

/* Half of the 95 % interval of a number of struct simulation_counts, or behind them of simulation.sum, by its index.
 * For a report that is sampled. */
double sampled_half(const struct run_report *r, size_t number);
double sampled_difference_half(const struct run_report *r, size_t number, size_t less); /* of one minus another */
/* The same of a number that is of cycles, `parts` of one: with what warming leaves in doubt. */
double sampled_cycles_half(const struct run_report *r, size_t number, uint64_t parts);
double sampled_cpi_half(const struct run_report *r);

void sampled_print(const struct run_report *r, FILE *to); /* what was simulated, and what could not be */
json_t *sampled_json(const struct run_report *r);
/* The half interval of a count, with what warming leaves in doubt; infinite if that is not known. */
double sampled_doubt(const struct run_report *r, double half, double value, enum warm_trust trust);
double sampled_count_half(const struct run_report *r, const struct count_row *row);
json_t *counts_intervals_json(const struct run_report *r); /* of all counts, by name */
json_t *interval_json(double value, double half);          /* [low, high], of null where there is no bound */

#endif
