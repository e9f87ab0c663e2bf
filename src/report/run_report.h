/* What the reports of all simulated runs share: which run it was, and how it went. */
#ifndef CYCLESCOPE_REPORT_RUN_REPORT_H
#define CYCLESCOPE_REPORT_RUN_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "core/simulate.h"

struct sampled_run;

struct run_report {
    const char *version;
    const char *program;
    int status;                /* exit status */
    unsigned number, programs; /* which of how many programs that share the core; 0, 0: it is alone */
    const struct simulation *simulation;
    struct simulation_result result;
    double seconds;                    /* of the host, for what was measured */
    double cpu_seconds;                /* of its processor */
    double skip_seconds;               /* and of the host, for what came before */
    const struct sampled_run *sampled; /* the windows that the counts were estimated from; NULL: all was simulated */
};

double run_report_cpi(const struct run_report *r); /* 0 without instructions */
double run_report_mips(const struct run_report *r);

/* The first line: which program, on which core. */
void run_report_print_begin(const struct run_report *r, FILE *to);
/* What was skipped, or cut short, and the time that it took. */
void run_report_print_end(const struct run_report *r, FILE *to);
/* The keys that all commands have. NULL if a name is not UTF-8. */
json_t *run_report_json(const struct run_report *r, const char *command);

/* The document of the first program takes up those of the others, in `with`. `number`: which comes; the first alone has
 * no `with`. NULL if one is missing. */
json_t *run_report_join(json_t *first, unsigned number, json_t *program);

enum { GROUPED_SIZE = 32 };
const char *grouped(uint64_t n, char text[GROUPED_SIZE]); /* 1234567 as 1,234,567, whatever the locale */

#endif
