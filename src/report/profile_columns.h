/* The columns of amounts that all tables of a profile share: share in percent with its interval, count, samples.
 *
 * Shares are of the event's weight. Sampled shares come with half of a 95 % interval, by the binomial distribution;
 * events of which every one was counted have none. */
#ifndef CYCLESCOPE_REPORT_PROFILE_COLUMNS_H
#define CYCLESCOPE_REPORT_PROFILE_COLUMNS_H

#include <stdio.h>

#include "report/profile_rows.h"

struct profile_columns {
    const struct profile *profile;
    unsigned first, last; /* events that are shown, both included */
    bool inclusive;       /* in front of each event's columns, the same with callees */
    bool colour;          /* large shares are coloured */
};

double share_percent(const struct profile_counted *e, uint64_t weight);  /* 0 of an event without weight */
double share_interval(const struct profile_counted *e, uint64_t weight); /* half of it, in percent */

/* Two lines, of which the second one is not ended, so that other columns can follow. */
void columns_head(const struct profile_columns *c, FILE *to);
/* A row's amounts by event; `total` is NULL for rows that have no inclusive amounts. */
void columns_row(const struct profile_columns *c, const struct profile_amount *self, const struct profile_amount *total,
                 FILE *to);
/* Whether a row has a share of at least this much of any event that is shown. */
bool columns_reach(const struct profile_columns *c, const struct profile_amount *self,
                   const struct profile_amount *total, double percent);

#endif
