/* The front-end miss event table, over any gauge of a blocked back end. */
#ifndef CYCLESCOPE_STACKS_FMT_H
#define CYCLESCOPE_STACKS_FMT_H

#include "stacks/branch_rows.h"

/* A local counter beside those of instruction misses, kept and charged as these are. */
struct local_counter {
    enum tally counts;
    enum component charged_to;
};

enum { MORE_COUNTERS = 3, LOCAL_COUNTERS = FRONT_MISSES + MORE_COUNTERS };

struct fmt {
    struct books books;
    struct branch_rows rows;
    const struct local_counter *more;
    unsigned locals;                    /* misses, and how many there are besides */
    uint64_t open_from[LOCAL_COUNTERS]; /* what they count when the row at the fetch pointer was last zeroed */
    bool open;                          /* there is a row at the fetch pointer */
    struct {
        bool any;
        struct span held[LOCAL_COUNTERS];
    } missed[BRANCH_ROWS]; /* by row */
};

void fmt_begin(struct fmt *f, enum tally gauge, const struct local_counter *more, unsigned count);
void fmt_fetched(void *state, const struct insn_view *v);
void fmt_dispatched(void *state, const struct insn_view *v);
void fmt_mispredicted(void *state, const struct insn_view *v);
void fmt_squashed(void *state, const struct insn_view *v);
void fmt_committed(void *state, const struct insn_view *v);
void fmt_entered(void *state);

/* What blocked the back end, by this gauge. */
void charge_blocked(const uint64_t tally[TALLIES], enum tally gauge, struct stack *s);

#endif
