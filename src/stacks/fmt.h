/* The front-end miss event table, over any gauge of a blocked back end. */
#ifndef CYCLESCOPE_STACKS_FMT_H
#define CYCLESCOPE_STACKS_FMT_H

#include "stacks/branch_rows.h"

struct fmt {
    struct books books;
    struct branch_rows rows;
    uint64_t open_from[FRONT_MISSES]; /* STARVED when the row at the fetch pointer was last zeroed */
    bool open;                        /* there is a row at the fetch pointer */
    struct {
        bool any;
        struct span of[FRONT_MISSES];
    } missed[BRANCH_ROWS]; /* local I-cache and I-TLB counters, by row */
};

void fmt_begin(struct fmt *f, enum tally gauge);
void fmt_fetched(void *state, const struct insn_view *v);
void fmt_dispatched(void *state, const struct insn_view *v);
void fmt_mispredicted(void *state, const struct insn_view *v);
void fmt_squashed(void *state, const struct insn_view *v);
void fmt_committed(void *state, const struct insn_view *v);
void fmt_entered(void *state);

/* What blocked the back end, by this gauge. */
void charge_blocked(const uint64_t tally[TALLIES], enum tally gauge, struct stack *s);

#endif
