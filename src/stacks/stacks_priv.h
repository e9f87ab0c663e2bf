/* What accounting and its methods share.
 *
 * The run is tallied once for all methods: each cycle adds to a few counters that never go back. A method that wants to
 * know how many cycles of a kind passed between two moments keeps the counter's value at the first and subtracts; so no
 * method looks at single cycles, and penalty counters of table rows need not be counted up. */
#ifndef CYCLESCOPE_STACKS_STACKS_PRIV_H
#define CYCLESCOPE_STACKS_STACKS_PRIV_H

#include "stacks/stacks.h"

/* What starves the front end, in the order of enum fetch_stop: instruction misses, and misfetches. */
enum { FRONT_MISSES = FETCH_MISFETCH - FETCH_L1I + 1 };

/* A gauge divides cycles into those in which the back end is blocked and the others, which are open. */
enum gauge_counter {
    FED,                 /* open, and not starved */
    STARVED = FETCH_L1I, /* open, without a new instruction, by kind of miss: at the places of enum fetch_stop */
    STARVED_BACK = STARVED + FRONT_MISSES, /* what is the back end's of starved ones */
    BLOCKED,                               /* by what the head of the ROB waits for (enum head_wait) */
    OPEN = BLOCKED + HEAD_WAITS,           /* all open ones; a sum, up to date in a mark only */
    GAUGE_COUNTERS
};

enum tally {
    TALLY_CYCLES,                              /* a sum, up to date in a mark only */
    TALLY_EMPTY,                               /* nothing commits, the ROB is empty and stays so */
    TALLY_ROB,                                 /* a gauge: blocked is a full ROB */
    TALLY_WINDOW = TALLY_ROB + GAUGE_COUNTERS, /* a gauge: blocked is a dispatch stopped for want of any room; in
                                                * parts of a cycle (window_parts), as are the following */
    /* Of its open cycles, what belongs to the wait of the ROB's head (enum head_wait) ... */
    TALLY_UNDER_BRANCH = TALLY_WINDOW + GAUGE_COUNTERS, /* ... if a mispredicted branch is unresolved ... */
    TALLY_UNDER_MISS = TALLY_UNDER_BRANCH + HEAD_WAITS, /* ... if they are starved: STARVED_BACK, by wait */
    TALLIES = TALLY_UNDER_MISS + HEAD_WAITS
};

/* Of a cycle: halves of the places for instructions that enter the front end's stages in it. */
static inline uint64_t window_parts(const struct core_config *core)
{
    return 2 * core->decode_width;
}

static inline uint64_t open_cycles(const uint64_t *gauge)
{
    uint64_t sum = gauge[FED] + gauge[STARVED_BACK];
    for (unsigned i = 0; i < FRONT_MISSES; i++)
        sum += gauge[STARVED + i];
    return sum;
}

/* A part of the run as one counter saw it. */
struct span {
    uint64_t from, to;
};

/* A method's part of an accounting. */
struct books {
    const uint64_t *tally; /* TALLIES counters, so far, but for sums */
    const struct core_config *core;
    struct accounting *accounting;
    enum stack_kind kind;
    const uint64_t *begin; /* the tally when the interval began ... */
    struct stack *now;     /* ... and its stack */
};

struct stack_method {
    size_t state_bytes;         /* of a state that starts as zeros; its first member is a struct books */
    void (*begin)(void *state); /* what zeros do not say */
    /* Instructions as with OBSERVE_MISSES or, if the number of rows is limited, OBSERVE_CONTROL (core.h). */
    void (*fetched)(void *state, const struct insn_view *v);
    void (*dispatched)(void *state, const struct insn_view *v);
    void (*mispredicted)(void *state, const struct insn_view *v); /* resolved as such, before what is squashed */
    void (*squashed)(void *state, const struct insn_view *v);
    void (*committed)(void *state, const struct insn_view *v);
    /* The first instruction enters the ROB after a misprediction, or after cycles with an empty ROB. */
    void (*entered)(void *state);
    void (*cycles)(void *state, const struct cycle_record *r, uint64_t n); /* for those that must look at all of them */
    /* Adds what follows from counts that grew by so much in an interval. */
    void (*close)(const void *state, const uint64_t tally[TALLIES], const struct core_counts *counts, struct stack *s);
    uint64_t (*parts)(const struct core_config *core); /* of a cycle, that it counts; NULL: 1 */
};

extern const struct stack_method *const stack_methods[STACK_KINDS];

/* Cycles of one counter were lost to a component, possibly in earlier intervals. */
void charge_earlier(struct books *b, enum component c, enum tally counter, struct span s, int sign);

static inline void charge(struct books *b, enum component c, enum tally counter, struct span s)
{
    if (__builtin_expect(s.from >= b->begin[counter], 1))
        b->now->parts[c] += (int64_t)(s.to - s.from);
    else
        charge_earlier(b, c, counter, s, 1);
}

/* They were not, though others that include them will be, or have been, said to be. */
static inline void discharge(struct books *b, enum component c, enum tally counter, struct span s)
{
    charge_earlier(b, c, counter, s, -1);
}

/* So many parts of the cycles that pass now were. */
static inline void charge_now(struct books *b, enum component c, uint64_t parts)
{
    b->now->parts[c] += (int64_t)parts;
}

/* Which component a wait of the ROB's head is; COMPONENT_base for what is no miss and no long latency. */
enum component component_of_wait(enum head_wait w);

/* The same of a front-end miss. What a BTB would have known is lost to branch prediction. */
static inline enum component component_of_miss(unsigned front_miss)
{
    static const uint8_t component[FRONT_MISSES] = {COMPONENT_l1i, COMPONENT_l2i, COMPONENT_itlb, COMPONENT_branch};
    return (enum component)component[front_miss];
}

#endif
