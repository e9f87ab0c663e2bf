/* The front-end miss event table (fmt.c) for any gauge (stacks_priv.h). fmt uses it as it is, fmt2 with more counters;
 * sfmt uses only fmt_close. */
#ifndef CYCLESCOPE_STACKS_FMT_H
#define CYCLESCOPE_STACKS_FMT_H

#include "stacks/branch_rows.h"

/* A local counter of a row in addition to those of instruction misses, kept and charged in the same way. */
struct local_counter {
    enum tally source; /* the counter of the tally that it follows */
    enum component charged_to;
};

enum { EXTRA_COUNTERS = 3, LOCAL_COUNTERS = FRONT_MISSES + EXTRA_COUNTERS }; /* at most, per row */

struct fmt {
    struct ledger ledger;
    struct branch_rows rows;
    const struct local_counter *extra;
    unsigned locals;                    /* local counters in use: FRONT_MISSES, then those of `extra` */
    uint64_t open_from[LOCAL_COUNTERS]; /* tally when the local counters of the open row were last cleared */
    bool open;                          /* there is an open row: the one at the fetch pointer */
    struct {
        bool any;                         /* some local counter is not 0 */
        struct span held[LOCAL_COUNTERS]; /* local counters; their values are the lengths of the spans */
    } missed[BRANCH_ROWS];                /* by row of a branch */
};

/* Initializes the table, with `count` local counters in addition to those of instruction misses. */
void fmt_begin(struct fmt *f, enum tally gauge, const struct local_counter *extra, unsigned count);

/* Callbacks of struct stack_method; the state begins with a struct fmt. */
void fmt_fetched(void *state, const struct insn_view *v);
void fmt_dispatched(void *state, const struct insn_view *v);
void fmt_mispredicted(void *state, const struct insn_view *v);
void fmt_squashed(void *state, const struct insn_view *v);
void fmt_committed(void *state, const struct insn_view *v);
void fmt_entered(void *state);

/* `close` of fmt and sfmt: charges the blocked cycles of TALLY_ROB. */
void fmt_close(const void *state, const uint64_t tally[TALLIES], const struct simulation_counts *counts,
               struct stack *s);
/* Charges the blocked cycles of a gauge to what the ROB's head waited for. */
void charge_blocked(const uint64_t tally[TALLIES], enum tally gauge, struct stack *s);

#endif
