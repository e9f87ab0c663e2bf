/* The state of an accounting (account.c), and its intervals (account_intervals.c). */
#ifndef CYCLESCOPE_STACKS_ACCOUNT_PRIV_H
#define CYCLESCOPE_STACKS_ACCOUNT_PRIV_H

#include "stacks/stacks_priv.h"

/* All counters as they were when an interval began. */
struct snapshot {
    uint64_t tally[TALLIES]; /* sums included */
    uint64_t instructions, overlap_cycles;
    struct simulation_counts counts; /* not set before the core has called `begin` */
    bool in_total;                   /* the total of the run includes this interval */
};

/* The methods in use that implement one callback of struct stack_method. */
struct subscribers {
    unsigned count;
    void *state[STACK_KINDS]; /* argument of the callback */
    const struct stack_method *method[STACK_KINDS];
};

struct accounting {
    uint64_t tally[TALLIES];
    uint64_t instructions;   /* retired so far */
    uint64_t overlap_cycles; /* see struct stack_interval */
    uint64_t interval_insns; /* 0: the whole run is one interval */
    uint64_t next_cut;       /* value of `instructions` at which the current interval ends; UINT64_MAX: at the end */
    bool refilling;          /* a misprediction has been resolved, and no instruction has entered the ROB since */
    bool awaits_entry;       /* the next instruction that enters the ROB causes a call of `entered` */
    bool unresolved;         /* a mispredicted branch of the right path is in the ROB and not resolved */
    bool needs_every_record; /* a method in use needs tally_extra for each cycle record */
    struct subscribers fetched, dispatched, mispredicted, squashed, committed, entered, cycles, close;
    struct subscribers attached, warmed, retired, drained, restarted, finished;
    void *state[STACK_KINDS]; /* state of each method, which begins with a struct ledger; NULL: not in use */
    /* The core's own counters and those of its memory hierarchy, which grow during the run; NULL before `begin`. */
    const struct core_counts *core_counts;
    const struct memsys_counts *memory_counts;
    struct core_config core;
    struct core_observer observer, warmup_observer;
    bool warming_up; /* the observed warm-up is not over */
    struct simulation_sum sum;
    struct stack_interval total;   /* complete after on_end */
    struct stack_interval *series; /* the intervals in order; the last one is the current one */
    struct snapshot *starts;       /* parallel to `series`: the counters when the interval began */
    size_t count, capacity;        /* of `series` and `starts` */
    bool in_total;                 /* the total includes intervals that begin now */
};

/* Makes room for one more interval. Returns false if there is no memory; then the series is as before. The arrays may
 * have moved in either case, so the ledgers are directed to the current interval again. */
bool intervals_reserve(struct accounting *a);
/* Appends an interval to the series and makes it the current one. intervals_reserve has made room for it. */
void intervals_begin(struct accounting *a);
/* The core's counters are known from here on: completes the snapshot of the first interval. */
void intervals_know_counts(struct accounting *a);
/* Fills in the current interval and lets methods charge what follows from the growth of the counters during it. The
 * base is computed only at the end of the run, since later charges may still go to this interval. */
void intervals_end(struct accounting *a);
/* Ends the current interval and begins the next one. If there is no memory for it, the current interval continues to
 * the end of the run. */
void intervals_cut(struct accounting *a);
/* After the last interval has ended: computes the base of every stack, and adds the intervals up. */
void intervals_complete(struct accounting *a);

#endif
