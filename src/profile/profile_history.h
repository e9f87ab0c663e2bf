/* Analysis: histories of sampled instructions (mode profileme): cycles per stage, how often an instruction retired,
 * missed and was mispredicted, and, from pairs, the issue slots wasted near it. */
#ifndef CYCLESCOPE_PROFILE_PROFILE_HISTORY_H
#define CYCLESCOPE_PROFILE_PROFILE_HISTORY_H

#include <jansson.h>
#include <stdio.h>

#include "profile/profile.h"

/* Histories of a range of events, summed by instruction. */
struct history_table {
    struct profile_history *of; /* in order of address; `event` is not used */
    size_t count;
    struct profile_history all; /* sum over all instructions; columns that are 0 here are not printed */
};

/* Includes the events from `first` to `last`, both included. */
int history_table_make(struct history_table *t, const struct profile *p, unsigned first, unsigned last,
                       struct error *err) MUST_CHECK;
void history_table_free(struct history_table *t);
const struct profile_history *history_table_find(const struct history_table *t, uint64_t pc); /* NULL: none */

/* Print the columns of a text table, each with a leading space; nothing if there is no history. `h` may be NULL. */
void history_head(const struct history_table *t, FILE *to);
void history_row(const struct history_table *t, const struct profile_history *h, FILE *to);

/* A history as a JSON object. */
json_t *history_json(const struct profile_history *h);

#endif
