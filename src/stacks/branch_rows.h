/* The rows of a front-end miss event table, as far as mispredictions go: one per control transfer from fetch to commit.
 * Without a limit there are rows only where they make a difference.
 *
 * The penalty counter of a row grows in each open cycle (stacks_priv.h) from the dispatch of its branch until that is
 * resolved (or in each fed one only, as its table likes) and then, if it was mispredicted, in each fed cycle until new
 * instructions enter the ROB. It is charged when the branch commits, so wrong paths leave nothing behind; what a
 * counter still grows then is charged at its end. Counters are not counted up: a row keeps the tally at both ends.
 *
 * A branch that finds all rows taken has none, and its misprediction is not charged.
 *
 * The row freed last is taken first, so that the few that are in use at a time stay near. */
#ifndef CYCLESCOPE_STACKS_BRANCH_ROWS_H
#define CYCLESCOPE_STACKS_BRANCH_ROWS_H

#include "stacks/stacks_priv.h"

enum { BRANCH_ROWS = CORE_SLOTS, NO_ROW = BRANCH_ROWS };

struct branch_row {
    bool mispredicted;
    struct span resolving; /* of OPEN or FED */
    struct span refilling; /* of FED */
};

struct branch_rows {
    struct books *books;
    enum tally gauge;
    enum gauge_counter while_unresolved; /* OPEN or FED */
    unsigned limit, used;
    bool limited;    /* else only branches that retire are told of, and have a row if they are mispredicted */
    unsigned refill; /* row of the branch after which the ROB waits for new instructions, or one of the following */
    uint64_t retired_refill_from; /* with REFILL_RETIRED, of FED */
    uint16_t of_slot[CORE_SLOTS]; /* row of the branch that has this slot, or NO_ROW */
    uint16_t free[BRANCH_ROWS];   /* from `used` on: rows that are not taken */
    struct branch_row row[BRANCH_ROWS];
};

enum { REFILL_NONE = BRANCH_ROWS, REFILL_RETIRED };

void branch_rows_begin(struct branch_rows *r, struct books *b, enum tally gauge, enum gauge_counter while_unresolved);
unsigned branch_rows_take(struct branch_rows *r, unsigned slot); /* at fetch; its row, or NO_ROW */
void branch_rows_dispatch(struct branch_rows *r, unsigned slot);
unsigned branch_rows_mispredict(struct branch_rows *r, unsigned slot); /* its row, or NO_ROW */
bool branch_rows_free(struct branch_rows *r, unsigned slot);           /* at squash or commit; false if it had none */
void branch_rows_charge(struct branch_rows *r, unsigned row);          /* at commit, first */
void branch_rows_entered(struct branch_rows *r);

#endif
