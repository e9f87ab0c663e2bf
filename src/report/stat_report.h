/* The counts of a simulation as a page of text, and as JSON. */
#ifndef CYCLESCOPE_REPORT_STAT_REPORT_H
#define CYCLESCOPE_REPORT_STAT_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "core/simulate.h"

struct stat_report {
    const char *version;
    const char *program;
    int status; /* exit status */
    const struct simulation *simulation;
    const struct simulation_result *result;
    double seconds;      /* of the host, for what was measured */
    double cpu_seconds;  /* of its processor */
    double skip_seconds; /* and of the host, for what came before */
};

void stat_report_print(const struct stat_report *r, FILE *to);
/* NULL if a name is not UTF-8. */
json_t *stat_report_json(const struct stat_report *r);

#endif
