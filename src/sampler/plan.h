/* A plan of multiplexing: which events are counted together, and how the groups take turns on the counters.
 *
 * Time is divided into rounds, and a round into slots of one slice each. In every round a group has `share` slots. The
 * order of groups is random in each round, or fixed on request. Slots without a group are idle. A slice is a given
 * number of cycles or retired instructions of the program: one counter of each group, the slice clock, counts these and
 * overflows at the end of the slice.
 *
 * The start of a program is short and unlike the rest of the program. A gradual plan begins with short slices, so that
 * every group counts some of the start: the length of slices doubles from round to round.
 *
 * Cycles and instructions of user mode are counted always, by their own counters.
 *
 * A plan has the fewest groups that the core's counters allow: there are pmu.counters of them, section [events] says
 * which events each can count, and one counter of each group is the slice clock. Among plans with as few groups, it has
 * few slots, then groups of similar size. Events in braces are in one group, which other events may join. The same list
 * of events and the same core give the same plan. */
#ifndef CYCLESCOPE_SAMPLER_PLAN_H
#define CYCLESCOPE_SAMPLER_PLAN_H

#include "core/config.h"
#include "pmu/event_spec.h"

enum slice_clock { CLOCK_CYCLES, CLOCK_INSNS };

enum { PLAN_ALWAYS = UINT32_MAX }; /* plan_event.group of events that are counted always */

enum {
    PLAN_SLICE = 200000,     /* default length of a slice, in cycles or instructions */
    PLAN_SLICE_LEAST = 2000, /* shortest slice; changing groups would dominate shorter ones */
    PLAN_SLOTS_MOST = 256,   /* most slots of a round */
    PLAN_GROUPS_MOST = 63,   /* most groups, without that of idle slots */
    PLAN_EVENTS_MOST = 256   /* most events */
};

struct plan_event {
    uint64_t code;    /* its mhpmevent value (pmu/machine_pmu.h) */
    uint32_t group;   /* index of plan.group, or PLAN_ALWAYS */
    uint32_t place;   /* index of its count in a slice of its group; with PLAN_ALWAYS: enum slice_clock */
    uint32_t counter; /* its counter, 0 being mhpmcounter3; with PLAN_ALWAYS: UINT32_MAX */
};

struct plan_group {
    uint32_t share;  /* slots in each round */
    uint32_t counts; /* number of its events */
    uint32_t clock;  /* the counter that is the slice clock, 0 being mhpmcounter3 */
};

struct plan {
    struct plan_event *event; /* in the order of the specifications */
    size_t event_count;
    struct plan_group *group;
    size_t group_count;
    uint32_t slots;       /* slots of a round: the sum of shares, or more if some are idle */
    uint64_t slice;       /* length of a slot, in ticks of `clock` */
    uint64_t first_slice; /* length of a slot in the first round; it doubles with each round up to `slice`. 0: all
                             rounds have slots of length `slice` */
    enum slice_clock clock;
    bool fixed_order; /* the same order in all rounds */
    uint64_t seed;    /* seed of the random order */
    bool least;       /* no plan has fewer groups; false if the search was given up */
};

struct plan_options {
    enum slice_clock clock; /* unit of slices: cycles or instructions of user mode, in any `mode` */
    uint64_t round, slice;  /* lengths in ticks of the clock; 0: default */
    bool fixed_order;       /* the same order of groups in all rounds */
    uint64_t seed;          /* of the random order */
    enum privilege mode;    /* of events that name no mode; 0: PRIVILEGE_USER */
    bool idle;              /* slots beyond the sum of shares stay idle, instead of going to the groups in proportion */
    bool gradual;           /* rounds begin short, with slices of PLAN_SLICE_LEAST */
    bool all_in_turns;      /* cycles and instructions of user mode are multiplexed too if the list names them */
};

/* Makes a plan for these events. A round has round / slice slots, rounded down; if no round is given, as many as the
 * sum of shares. The share of a group is the largest share of its events. Slots beyond the sum of shares go to the
 * groups in proportion to their shares, by largest remainder and among equal ones to the first group; with `idle` they
 * stay idle.
 *
 * -EINVAL with a message if an event cannot be multiplexed or a round has too few slots. The caller frees the plan. */
int plan_make(const struct event_specs *specs, const struct core_config *core, const struct plan_options *options,
              struct plan *plan, struct error *err) MUST_CHECK;
void plan_free(struct plan *plan);

/* The length of a slice in a round of a context, counted from 0. */
static inline uint64_t plan_slice_in_round(const struct plan *p, uint32_t round)
{
    bool grown = p->first_slice == 0 || round >= 63 || p->first_slice > p->slice >> round;
    return grown ? p->slice : p->first_slice << round;
}

/* The mhpmevent value of the slice clock. */
uint64_t plan_clock_code(enum slice_clock clock);

#endif
