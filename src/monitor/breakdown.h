/* Stall breakdowns in the form of the public header, and the latest of them as the program itself reads it. */
#ifndef CYCLESCOPE_MONITOR_BREAKDOWN_H
#define CYCLESCOPE_MONITOR_BREAKDOWN_H

#include <cyclescope/cyclescope.h>

#include "guest/process.h"
#include "monitor/stalls.h"

/* What a monitor has told the guest so far. Stays where it is, as `report` points to it. */
struct breakdown_report {
    struct cyclescope_breakdown latest; /* its number is 0 before there is one */
    struct guest_report report;         /* for process_config */
    int host_pid;                       /* of the process that it is about: those that it forks have none */
};

void breakdown_report_init(struct breakdown_report *r);
/* The next interval is over. */
void breakdown_report_add(struct breakdown_report *r, const struct stall_interval *i);

#endif
