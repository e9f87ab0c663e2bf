/* The stall breakdown of a run as text, JSON, CSV and SVG. */
#ifndef CYCLESCOPE_REPORT_STALL_REPORT_H
#define CYCLESCOPE_REPORT_STALL_REPORT_H

#include "sampler/stalls_phases.h"
#include "report/run_report.h"

struct stall_report {
    struct run_report run;
    const struct stall_interval *total;    /* of the whole run; includes forked processes only if `exact` */
    const struct stall_series *series;     /* intervals of the process itself, without those that it forked */
    enum slice_clock clock;                /* unit of `interval`: cycles or instructions */
    uint64_t interval;                     /* length of an interval */
    bool exact;                            /* stalls were counted in full, not multiplexed: they have no errors */
    uint64_t sampler_cycles;               /* cycles that the sampler took, in addition to those of the program */
    struct stall_phase phase[PHASES_MOST]; /* set by stall_report_find_phases */
    size_t phases;
};

/* Fills in `phase` and `phases`. Call it when all other fields are set, before the functions below. */
void stall_report_find_phases(struct stall_report *r);

void stall_report_print(const struct stall_report *r, FILE *to, bool color, unsigned columns);
json_t *stall_report_json(const struct stall_report *r); /* owned by the caller; NULL if a name is not UTF-8 */
void stall_report_csv(const struct stall_report *r, FILE *to);
void stall_report_svg(const struct stall_report *r, FILE *to);

#endif
