/* A plan of multiplexing: which events are counted together, and how the groups take turns on the counters.
 *
 * Time is cut into rounds, rounds into slots of one slice each. In every round a group has `share` slots, in an order
 * that is drawn anew (or always the same, if asked for); slots that no group has are idle. A slice lasts so many cycles
 * or retired instructions of the program; one counter of each group counts them and overflows at its end.
 *
 * Cycles and instructions as such are counted always, by counters of their own.
 *
 * A plan has the fewest groups that the counters allow: pmu.counters of them, the rules of section [events], one
 * counter of each group being the clock's. Among those with as few groups it seeks few slots, then groups of even size.
 * Events in braces are in one group, which others may join. The same list and core make the same plan. */
#ifndef CYCLESCOPE_MONITOR_PLAN_H
#define CYCLESCOPE_MONITOR_PLAN_H

#include "core/config.h"
#include "pmu/event_spec.h"

enum slice_clock { CLOCK_CYCLES, CLOCK_INSNS };

enum { PLAN_ALWAYS = UINT32_MAX }; /* the group of what is counted always */

enum {
    PLAN_SLICE = 200000,     /* cycles or instructions of a slice, unless said */
    PLAN_SLICE_LEAST = 2000, /* below, changing groups would take much of the time */
    PLAN_SLOTS_MOST = 256,   /* of a round */
    PLAN_GROUPS_MOST = 63,   /* besides that of idle slots */
    PLAN_EVENTS_MOST = 256
};

struct plan_event {
    uint64_t code;    /* mhpmevent of it (pmu/machine_pmu.h) */
    uint32_t group;   /* or PLAN_ALWAYS */
    uint32_t place;   /* which of its group's counts is its; of PLAN_ALWAYS: enum slice_clock */
    uint32_t counter; /* number of its counter: 0 is mhpmcounter3; of PLAN_ALWAYS: UINT32_MAX */
};

struct plan_group {
    uint32_t share;  /* slots of each round */
    uint32_t counts; /* events that it has */
    uint32_t clock;  /* number of the counter that is the slice's clock */
};

struct plan {
    struct plan_event *event; /* in the order of the specifications */
    size_t event_count;
    struct plan_group *group;
    size_t group_count;
    uint32_t slots;         /* of a round: the sum of shares, or more */
    uint64_t slice;         /* cycles or instructions of a slot */
    enum slice_clock clock; /* which */
    bool fixed_order;       /* the same order in all rounds */
    uint64_t seed;          /* of the order */
    bool least;             /* there is no plan of fewer groups; false if looking for one took too long */
};

struct plan_options {
    enum slice_clock clock; /* what slices are measured in: that of user mode, whatever is counted */
    uint64_t round, slice;  /* 0: not given */
    bool fixed_order;
    uint64_t seed;
    enum privilege mode; /* of events that name none; 0 is PRIVILEGE_USER */
    bool idle;           /* slots beyond the shares stay idle, instead of being dealt out in proportion to them */
    bool all_in_turns;   /* cycles and instructions of user mode are events as others are, if they are named */
};

/* A plan for these events. A round has round / slice slots, rounded down; without a round, as many as the shares ask
 * for. A group's share is the largest of its events'. Slots beyond the sum of shares are dealt out in proportion to the
 * shares, the largest remainders and then the first groups being served first, or stay idle.
 *
 * -EINVAL with a sentence if an event cannot be counted in turns, or if a round has too few slots. */
int plan_make(const struct event_specs *specs, const struct core_config *core, const struct plan_options *options,
              struct plan *plan, struct error *err) MUST_CHECK;
void plan_free(struct plan *plan);

/* The mhpmevent of the event that is the clock. */
uint64_t plan_clock_code(enum slice_clock clock);

#endif
