/* The latest stall breakdown in the form of the public header, as the guest reads it from /dev/cyclescope. */
#ifndef CYCLESCOPE_SAMPLER_BREAKDOWN_H
#define CYCLESCOPE_SAMPLER_BREAKDOWN_H

#include <cyclescope/cyclescope.h>

#include "guest/process.h"
#include "sampler/stalls.h"

/* Must not move after breakdown_report_init, since `report` points to it. */
struct breakdown_report {
    struct cyclescope_breakdown latest; /* the last interval that has ended; number 0: none has */
    struct guest_report report;         /* for process_config.report */
    int host_pid;                       /* process that is monitored; processes that it forks read nothing */
};

void breakdown_report_init(struct breakdown_report *r);
/* Makes interval `i` the latest one. */
void breakdown_report_add(struct breakdown_report *r, const struct stall_interval *i);

#endif
