/* The rows of a front-end miss event table, as far as mispredictions go: one per control transfer from fetch to commit.
 *
 * The penalty counter of a row grows in each open cycle (stacks_priv.h) from the dispatch of its branch until that is
 * resolved (or in each fed one only, as its table likes) and then, if it was mispredicted, in each fed cycle until new
 * instructions enter the ROB. It is charged when the branch commits, so wrong paths leave nothing behind; what a
 * counter still grows then is charged at its end. Counters are not counted up: a row keeps the tally at both ends.
 *
 * A branch that finds all rows taken has none, and its misprediction is not charged. */
#ifndef CYCLESCOPE_STACKS_BRANCH_ROWS_H
#define CYCLESCOPE_STACKS_BRANCH_ROWS_H

#include "stacks/stacks_priv.h"

struct branch_row {
    bool taken, mispredicted;
    struct span resolving; /* of OPEN or FED */
    struct span refilling; /* of FED */
};

struct branch_rows {
    struct books *books;
    enum tally gauge;
    enum gauge_counter while_unresolved; /* OPEN or FED */
    unsigned limit, used;
    unsigned refill; /* slot of the branch after which the ROB waits for new instructions, or one of the following */
    uint64_t retired_refill_from; /* with REFILL_RETIRED, of FED */
    struct branch_row row[CORE_SLOTS];
};

enum { REFILL_NONE = CORE_SLOTS, REFILL_RETIRED };

void branch_rows_begin(struct branch_rows *r, struct books *b, enum tally gauge, enum gauge_counter while_unresolved);
bool branch_rows_take(struct branch_rows *r, unsigned slot); /* at fetch; false if there is none */
void branch_rows_dispatch(struct branch_rows *r, unsigned slot);
void branch_rows_mispredict(struct branch_rows *r, unsigned slot);
bool branch_rows_free(struct branch_rows *r, unsigned slot);   /* at squash or commit; false if it had none */
void branch_rows_charge(struct branch_rows *r, unsigned slot); /* at commit, first */
void branch_rows_entered(struct branch_rows *r);

#endif
