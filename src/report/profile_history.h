/* What sampled histories say about an instruction: cycles per stage, how often it retired, missed and was mispredicted,
 * and from pairs the issue slots that were wasted near it. */
#ifndef CYCLESCOPE_REPORT_PROFILE_HISTORY_H
#define CYCLESCOPE_REPORT_PROFILE_HISTORY_H

#include <jansson.h>
#include <stdio.h>

#include "monitor/profile.h"

/* Histories of some events, added up by instruction. */
struct history_table {
    struct profile_history *of; /* in order of address; `event` means nothing */
    size_t count;
    struct profile_history all; /* the sum: what does not occur in it has no column */
};

/* Events from `first` to `last`, both included. */
int history_table_make(struct history_table *t, const struct profile *p, unsigned first, unsigned last,
                       struct error *err) MUST_CHECK;
void history_table_free(struct history_table *t);
const struct profile_history *history_table_find(const struct history_table *t, uint64_t pc); /* NULL: none */

/* Columns of a text table, which begin with a space; none if there is no history. `h` may be NULL. */
void history_head(const struct history_table *t, FILE *to);
void history_row(const struct history_table *t, const struct profile_history *h, FILE *to);

/* The same by name. */
json_t *history_json(const struct profile_history *h);

#endif
