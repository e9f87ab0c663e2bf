/* Analysis: histories of sampled instructions (mode profileme): cycles per stage, how often an instruction retired,
 * missed and was mispredicted, and, from pairs, the issue slots wasted near it. */
#ifndef CYCLESCOPE_PROFILE_PROFILE_HISTORY_H
#define CYCLESCOPE_PROFILE_PROFILE_HISTORY_H

#include <jansson.h>

#include "profile/profile.h"

/* Histories of a range of events, summed by instruction. */
struct history_table {
    struct profile_history *of; /* in order of address; `event` is not used */
    size_t count;
    struct profile_history all; /* sum over all instructions; what is 0 here is 0 for all */
};

/* Includes the events from `first` to `last`, both included. */
int history_table_make(struct history_table *t, const struct profile *p, unsigned first, unsigned last,
                       struct error *err) MUST_CHECK;
void history_table_free(struct history_table *t);
const struct profile_history *history_table_find(const struct history_table *t, uint64_t pc); /* NULL: none */

/* A history as a JSON object. */
json_t *history_json(const struct profile_history *h);

#endif
