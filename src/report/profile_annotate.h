/* A function's instructions with counts beside them, and the source lines that they come from between them.
 *
 * Shares are of what the function has of the event. A function whose size is not known is shown around the instructions
 * that were sampled, and one whose file is gone by their addresses. */
#ifndef CYCLESCOPE_REPORT_PROFILE_ANNOTATE_H
#define CYCLESCOPE_REPORT_PROFILE_ANNOTATE_H

#include <stdio.h>

#include "report/profile_rows.h"
#include "report/source_text.h"

struct profile_annotate {
    const struct profile_names *names; /* made with lines */
    struct source_text *source;
    unsigned first, last; /* events that are shown, both included */
    const char *function; /* a name; NULL: the hottest by event `first` */
    bool all;             /* every function with at least the limit of any event */
    double limit_percent;
    bool colour;
};

/* 0, or a negative code with a sentence: there is no such function in the profile. */
int profile_annotate_print(const struct profile_annotate *a, FILE *to, struct error *err) MUST_CHECK;

#endif
