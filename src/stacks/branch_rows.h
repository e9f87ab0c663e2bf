/* The misprediction part of a front-end miss event table: one row per control transfer, from its fetch to its commit.
 * If the number of rows is unlimited, only mispredicted branches of the right path have rows, since no other branch has
 * a penalty.
 *
 * The penalty counter of a row grows in two phases. While its branch is dispatched and unresolved, it grows in each
 * open cycle (stacks_priv.h). If the branch was mispredicted, the counter then grows in each open cycle that is not
 * starved, until new instructions enter the ROB. The penalty is charged when the branch commits, so wrong paths leave
 * no trace. If the second phase has not ended when the branch commits, its cycles are charged when it ends. No counter
 * is incremented: a row stores the tally at both ends of each phase.
 *
 * A branch that is fetched while all rows are taken has no row, and its misprediction is not charged.
 *
 * The row freed last is taken first, so that the few rows in use at a time share cache lines. */
#ifndef CYCLESCOPE_STACKS_BRANCH_ROWS_H
#define CYCLESCOPE_STACKS_BRANCH_ROWS_H

#include "stacks/stacks_priv.h"

enum { BRANCH_ROWS = CORE_SLOTS, NO_ROW = BRANCH_ROWS };

struct branch_row {
    bool mispredicted;
    struct span resolving; /* while the branch is unresolved: span of GAUGE_OPEN */
    struct span refilling; /* from its resolution until instructions enter the ROB: span of GAUGE_NOT_STARVED */
};

struct branch_rows {
    struct ledger *ledger;
    enum tally gauge;             /* the gauge that rows count by: TALLY_ROB or TALLY_WINDOW */
    unsigned limit, used;         /* rows */
    bool limited;                 /* false: the core reports only branches that retire; those mispredicted take a row */
    unsigned refill;              /* row of the mispredicted branch after which the ROB refills, or a REFILL_ value */
    uint64_t retired_refill_from; /* with REFILL_RETIRED: GAUGE_NOT_STARVED when the refill began */
    uint16_t of_slot[CORE_SLOTS]; /* row of the branch in this slot of the window, or NO_ROW */
    uint16_t free[BRANCH_ROWS];   /* from index `used` on: the rows that are not taken */
    struct branch_row row[BRANCH_ROWS];
};

enum {
    REFILL_NONE = BRANCH_ROWS, /* no refill, or its branch has no row */
    REFILL_RETIRED             /* the branch has committed and its row is free; the refill goes on */
};

void branch_rows_begin(struct branch_rows *r, struct ledger *l, enum tally gauge);
/* At fetch of a branch. Returns its row, or NO_ROW if all are taken. */
unsigned branch_rows_take(struct branch_rows *r, unsigned slot);
/* At dispatch: the first phase begins. */
void branch_rows_dispatch(struct branch_rows *r, unsigned slot);
/* When the branch is resolved as mispredicted: the second phase begins. Returns its row, or NO_ROW. */
unsigned branch_rows_mispredict(struct branch_rows *r, unsigned slot);
/* At commit, before branch_rows_free: charges the penalty of a mispredicted branch. */
void branch_rows_charge(struct branch_rows *r, unsigned row);
/* At squash or commit. Returns false if the branch had no row. */
bool branch_rows_free(struct branch_rows *r, unsigned slot);
/* When new instructions enter the ROB: the second phase ends. */
void branch_rows_entered(struct branch_rows *r);

#endif
