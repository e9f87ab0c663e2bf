/* The columns of numbers that all tables of a profile share: percentage with its interval, count, samples.
 *
 * Percentages are shares of the event's total weight. If the event was sampled, the share comes with half of its 95 %
 * interval, from the normal approximation of the binomial distribution. If every occurrence was counted, it does not.
 */
#ifndef CYCLESCOPE_REPORT_PROFILE_COLUMNS_H
#define CYCLESCOPE_REPORT_PROFILE_COLUMNS_H

#include <stdio.h>

#include "profile/profile_rows.h"

struct profile_columns {
    const struct profile *profile;
    unsigned first, last; /* range of events that are shown, both included */
    bool inclusive;       /* print inclusive numbers (with callees) before those of the row itself */
    bool color;           /* highlight large shares with terminal colors */
};

double share_percent(const struct profile_counted *e, uint64_t weight);  /* 0 if the event has no weight */
double share_interval(const struct profile_counted *e, uint64_t weight); /* half of the 95 % interval, in percent */

/* Two lines of headings. The second line is left without a line break, so that the caller can add columns. */
void columns_head(const struct profile_columns *c, FILE *to);
/* The numbers of one row. `self` and `total` are indexed by event; `total` is NULL if the row has no inclusive numbers.
 */
void columns_row(const struct profile_columns *c, const struct profile_amount *self, const struct profile_amount *total,
                 FILE *to);
/* Whether the row has at least `percent` of any event that is shown. */
bool columns_reach(const struct profile_columns *c, const struct profile_amount *self,
                   const struct profile_amount *total, double percent);

#endif
