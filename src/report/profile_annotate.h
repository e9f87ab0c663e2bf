/* Disassembly of a function with counts beside the instructions and source lines between them.
 *
 * Percentages are shares of the function's own count of the event. If the size of the function is unknown, only sampled
 * instructions and a few that follow them are shown. If the file of the function cannot be read, sampled instructions
 * are shown by address only. */
#ifndef CYCLESCOPE_REPORT_PROFILE_ANNOTATE_H
#define CYCLESCOPE_REPORT_PROFILE_ANNOTATE_H

#include <stdio.h>

#include "profile/profile_rows.h"
#include "report/source_text.h"

struct profile_annotate {
    const struct profile_names *names; /* created with source lines */
    struct source_text *source;
    unsigned first, last; /* range of events that are shown, both included */
    const char *function; /* name of the function to show; NULL: the one with the largest count of event `first` */
    bool all;             /* if `function` is NULL: show every function that has at least `limit_percent` of an event */
    double limit_percent;
    bool color;       /* use terminal escape sequences */
    unsigned columns; /* width of the page */
};

/* 0, -ENOENT with a message if the profile has no samples in such a function, or another negative code with a message.
 */
int profile_annotate_print(const struct profile_annotate *a, FILE *to, struct error *err) MUST_CHECK;

#endif
