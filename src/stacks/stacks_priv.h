/* Shared by the accounting of a run (account.c) and the methods that build CPI stacks.
 *
 * account.c tallies each cycle once for all methods, in a few counters that only grow. A method that needs the number
 * of cycles of some kind between two moments stores the counter's value at the first moment and subtracts it at the
 * second. Methods therefore need not look at single cycles, and the penalty counters of table rows need not be
 * incremented in every cycle. */
#ifndef CYCLESCOPE_STACKS_STACKS_PRIV_H
#define CYCLESCOPE_STACKS_STACKS_PRIV_H

#include "stacks/stacks.h"

/* What starves the front end, in the order of enum fetch_stop: three kinds of instruction misses, and misfetches. */
enum { FRONT_MISSES = FETCH_MISFETCH - FETCH_L1I + 1 };

/* A gauge is a block of counters that sorts cycles: the back end is blocked, or else the cycle is open. An open cycle
 * is starved if an instruction miss or a misfetch kept all instructions from entering the front end. */
enum gauge_counter {
    GAUGE_NOT_STARVED,         /* open cycles that are not starved */
    GAUGE_STARVED = FETCH_L1I, /* starved cycles, FRONT_MISSES counters: kind m of enum fetch_stop is counter m */
    GAUGE_STARVED_BACK_END = GAUGE_STARVED + FRONT_MISSES, /* the share of starved cycles charged to the back end */
    GAUGE_BLOCKED,                           /* blocked cycles, HEAD_WAITS counters: by what the ROB's head waits for */
    GAUGE_OPEN = GAUGE_BLOCKED + HEAD_WAITS, /* sum of all open cycles; updated only where intervals begin and end */
    GAUGE_COUNTERS
};

/* The counters that all methods share. */
enum tally {
    TALLY_CYCLES, /* sum of all cycles; updated only where intervals begin and end */
    TALLY_EMPTY,  /* nothing commits, the ROB is empty and stays empty */
    TALLY_ROB,    /* gauge in cycles: blocked by a full ROB or load/store queue */

    /* The counters from here on are for fmt2, in parts of a cycle (window_parts). */
    TALLY_WINDOW = TALLY_ROB + GAUGE_COUNTERS, /* gauge: blocked because dispatch lacks room in any structure */
    /* HEAD_WAITS counters, by what the ROB's head waits for: the share of open cycles that this wait is charged with
     * if a mispredicted branch is unresolved. */
    TALLY_UNDER_BRANCH = TALLY_WINDOW + GAUGE_COUNTERS,
    /* HEAD_WAITS counters, by wait: the share of starved cycles that this wait is charged with. They sum to
     * GAUGE_STARVED_BACK_END. */
    TALLY_UNDER_MISS = TALLY_UNDER_BRANCH + HEAD_WAITS,
    TALLIES = TALLY_UNDER_MISS + HEAD_WAITS
};

/* Parts per cycle in TALLY_WINDOW: two for each decode slot, so that half cycles and single slots are whole numbers. */
static inline uint64_t window_parts(const struct core_config *core)
{
    return 2 * core->decode_width;
}

/* Open cycles of a gauge at any time, when GAUGE_OPEN may be out of date. */
static inline uint64_t open_cycles(const uint64_t *gauge)
{
    uint64_t sum = gauge[GAUGE_NOT_STARVED] + gauge[GAUGE_STARVED_BACK_END];
    for (unsigned i = 0; i < FRONT_MISSES; i++)
        sum += gauge[GAUGE_STARVED + i];
    return sum;
}

/* Two values of one counter of the tally: its growth between two moments, `to` not included. */
struct span {
    uint64_t from, to;
};

/* Connects a method to the accounting of the run: what it reads, and where it charges cycles. */
struct ledger {
    const uint64_t *tally; /* the TALLIES counters, current except for sums */
    const struct core_config *core;
    struct accounting *accounting;
    enum stack_kind kind;
    const uint64_t *start_tally; /* the tally when the current interval began, sums included */
    struct stack *stack;         /* this method's stack of the current interval */
};

/* An accounting method. Callbacks may be NULL, and get a pointer to the method's state. */
struct stack_method {
    size_t state_bytes;         /* size of the state, which begins with a struct ledger; the rest starts as zeros */
    void (*begin)(void *state); /* initializes the state; its ledger has no interval yet */
    /* Allocates what the state points to, before `begin`; `destroy` frees it, also after a failure. */
    int (*create)(void *state, struct error *err);
    void (*destroy)(void *state);
    void (*attached)(void *state, struct core *c); /* the core begins to run, with a warm-up if it is observed */
    void (*warmed)(void *state);                   /* the warm-up is over, and nothing is in flight: the run begins */
    /* Every instruction that retires, and every store that reaches the cache: callbacks of struct core_observer. */
    void (*retired)(void *state, const struct retired_insn *r);
    void (*drained)(void *state, uint32_t store, const struct data_access *a);
    /* Instructions, as selected by OBSERVE_MISSES or, if the number of rows is limited, by OBSERVE_CONTROL (core.h). */
    void (*fetched)(void *state, const struct insn_view *v);
    void (*dispatched)(void *state, const struct insn_view *v);
    void (*mispredicted)(void *state,
                         const struct insn_view *v);          /* resolved; called before younger ones are squashed */
    void (*squashed)(void *state, const struct insn_view *v); /* only called if the number of rows is limited */
    void (*committed)(void *state, const struct insn_view *v);
    /* The first instruction enters the ROB after a misprediction, or after cycles with an empty ROB. */
    void (*entered)(void *state);
    /* n cycles with this record. For methods that must examine every cycle. */
    void (*cycles)(void *state, const struct cycle_record *r, uint64_t n);
    /* An interval ends: adds to its stack what follows from the growth of the tally and of the core's counts in it. */
    void (*close)(const void *state, const uint64_t tally[TALLIES], const struct simulation_counts *counts,
                  struct stack *s);
    void (*restarted)(void *state); /* the guest forked: all intervals so far are dropped, before a new one begins */
    void (*finished)(void *state);  /* the run is over, and all intervals have been closed */
    uint64_t (*parts)(const struct core_config *core); /* parts per cycle in this method's stacks; NULL: 1 */
};

extern const struct stack_method *const stack_methods[STACK_KINDS];

/* The method graph, with this state, evaluates what-ifs as well. */
int graph_method_add_what_ifs(void *state, const struct what_ifs *w, struct error *err) MUST_CHECK;
/* It splits the base as well. */
int graph_method_split_base(void *state, struct error *err) MUST_CHECK;

/* Instructions whose cycles have been tallied, and interval i of the run, for methods that learn late what an interval
 * is charged with. */
uint64_t accounting_tallied(const struct accounting *a);
bool accounting_is_warming_up(const struct accounting *a); /* what retires now is not counted */
struct stack_interval *accounting_interval(struct accounting *a, size_t i);

/* Adds the span of a counter, times `sign`, to a component. Each interval gets the part of the span that lies in it. */
void charge_across_intervals(struct ledger *l, enum component c, enum tally counter, struct span s, int sign);

/* Charges the span of a counter to a component, in the intervals that the span lies in: mostly the current one. */
static inline void charge(struct ledger *l, enum component c, enum tally counter, struct span s)
{
    if (__builtin_expect(s.from >= l->start_tally[counter], 1))
        l->stack->parts[c] += (int64_t)(s.to - s.from);
    else
        charge_across_intervals(l, c, counter, s, 1);
}

/* Undoes part of an enclosing charge, which may come before or after. */
static inline void discharge(struct ledger *l, enum component c, enum tally counter, struct span s)
{
    charge_across_intervals(l, c, counter, s, -1);
}

/* Charges `parts` of the current cycles to a component. */
static inline void charge_now(struct ledger *l, enum component c, uint64_t parts)
{
    l->stack->parts[c] += (int64_t)parts;
}

/* The component that a wait of the ROB's head is charged to: COMPONENT_base unless it is a miss or a long latency. */
enum component component_of_wait(enum head_wait w);

/* Width of the narrowest stage: dispatch, issue or commit. */
uint64_t stage_narrowest(const struct core_config *core);

/* The component that a front-end miss is charged to; front_miss 0 is FETCH_L1I. A misfetch, which a BTB entry would
 * have avoided, is charged to branch prediction. */
static inline enum component component_of_miss(unsigned front_miss)
{
    static const uint8_t component[FRONT_MISSES] = {COMPONENT_l1i, COMPONENT_l2i, COMPONENT_itlb, COMPONENT_branch};
    return (enum component)component[front_miss];
}

#endif
