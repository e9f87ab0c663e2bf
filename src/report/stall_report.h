/* The stall breakdown of a run as text, JSON, CSV and a chart. */
#ifndef CYCLESCOPE_REPORT_STALL_REPORT_H
#define CYCLESCOPE_REPORT_STALL_REPORT_H

#include "monitor/stalls_phases.h"
#include "report/run_report.h"

struct stall_report {
    struct run_report run;
    const struct stall_interval *total; /* if exact, forked processes included */
    const struct stall_series *series;  /* of the process itself */
    enum slice_clock clock;             /* of its intervals ... */
    uint64_t interval;                  /* ... and their length */
    bool exact;                         /* counted fully: without errors */
    uint64_t engine_cycles;             /* of the sampling engine, beside those of the program */
    struct stall_phase phase[PHASES_MOST];
    size_t phases;
};

/* To be called when everything else is filled in. */
void stall_report_find_phases(struct stall_report *r);

void stall_report_print(const struct stall_report *r, FILE *to, bool colour, unsigned columns);
json_t *stall_report_json(const struct stall_report *r); /* NULL if a name is not UTF-8 */
void stall_report_csv(const struct stall_report *r, FILE *to);
void stall_report_svg(const struct stall_report *r, FILE *to);

#endif
