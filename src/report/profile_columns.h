/* The columns of numbers that all tables of a profile share: percentage with its interval, count, samples; with
 * inclusive numbers: percentage with its interval and count of both.
 *
 * Percentages are shares of the event's total weight. If the event was sampled, the share comes with half the width of
 * its 95 % interval, from the normal approximation of the binomial distribution. If every occurrence was counted, it
 * does not.
 */
#ifndef CYCLESCOPE_REPORT_PROFILE_COLUMNS_H
#define CYCLESCOPE_REPORT_PROFILE_COLUMNS_H

#include "profile/profile_history.h"
#include "profile/profile_rows.h"
#include "report/text_table.h"

struct profile_columns {
    const struct profile *profile;
    unsigned first, last; /* range of events that are shown, both included */
    bool inclusive;       /* print inclusive numbers (with callees) before those of the row itself */
    bool color;           /* highlight large shares with terminal colors */
};

double share_percent(const struct profile_counted *e, uint64_t weight); /* 0 if the event has no weight */
double share_interval(const struct profile_counted *e,
                      uint64_t weight); /* half the width of the 95 % interval, in percent */

/* Makes the columns, behind the name. */
void columns_head(const struct profile_columns *c, struct text_table *t);
/* The numbers of one row. `self` and `total` are indexed by event; `total` is NULL if the row has no inclusive numbers.
 */
void columns_row(const struct profile_columns *c, const struct profile_amount *self, const struct profile_amount *total,
                 struct text_table *t);

/* The columns of sampled instructions in detail; none if there is no history. `of` may be NULL: no history of this row.
 */
void columns_history_head(const struct history_table *h, struct text_table *t);
void columns_history_row(const struct history_table *t, const struct profile_history *of, struct text_table *to);

/* Whether the row has at least `percent` of any event that is shown. */
bool columns_reach(const struct profile_columns *c, const struct profile_amount *self,
                   const struct profile_amount *total, double percent);

#endif
