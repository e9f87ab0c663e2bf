/* What-ifs of the dependence graph (graph/what_if.h) as text, JSON and CSV: alone, and beside simulations of the
 * changed cores. */
#ifndef CYCLESCOPE_REPORT_WHAT_IF_REPORT_H
#define CYCLESCOPE_REPORT_WHAT_IF_REPORT_H

#include "report/run_report.h"
#include "stacks/stacks.h"

/* ---- of `stack`: predictions. `core` is the core that ran */

void what_if_report_print(const struct stack_interval *total, const struct core_config *core, const struct what_ifs *w,
                          FILE *to);
json_t *what_if_report_json(const struct stack_interval *total, const struct core_config *core,
                            const struct what_ifs *w);
/* Rows of the CSV of `stack`, with empty cells for components. */
void what_if_report_csv(const struct stack_interval *total, const struct what_ifs *w, FILE *to);

/* ---- of `validate what-if`: predictions beside simulations */

/* A changed core that was simulated. */
struct what_if_run {
    uint64_t instructions, cycles; /* cycles 0: the run failed */
    const char *why;               /* why it failed, or NULL */
};

struct what_if_validation {
    struct run_report run;              /* the run of the core as it is */
    const struct stack_interval *total; /* of that run, by the method graph */
    const struct what_ifs *what_ifs;
    const struct what_if_run *runs; /* by what-if */
    double seconds;                 /* host time of all runs together */
};

void what_if_validation_print(const struct what_if_validation *v, FILE *to);
json_t *what_if_validation_json(const struct what_if_validation *v); /* owned by the caller; NULL: no memory */
void what_if_validation_csv(const struct what_if_validation *v, FILE *to);

#endif
