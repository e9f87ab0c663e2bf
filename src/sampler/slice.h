/* A slice: the counts of one group of events, while the group had the counters.
 *
 * The slices of a context (an address space) follow each other without gaps: their cycles and instructions, which are
 * counted always, sum to those of the context. What the sampler itself executes is not in any slice, except in the
 * counts of events of machine mode. The last slice of a run may be short, and its round may be incomplete. */
#ifndef CYCLESCOPE_SAMPLER_SLICE_H
#define CYCLESCOPE_SAMPLER_SLICE_H

#include <stdint.h>

enum {
    SLICE_COUNTS = 29,      /* most events of a group */
    SLICE_IDLE = UINT32_MAX /* group of a slice in which no events were counted, or the counts were lost */
};

struct slice {
    uint32_t context;             /* address space; 0 is the first program */
    uint32_t group;               /* index of plan.group, or SLICE_IDLE */
    uint32_t round;               /* number of the round in its context, from 0 on */
    uint64_t cycles, insns;       /* length of the slice */
    uint64_t count[SLICE_COUNTS]; /* counts of the group's events, indexed by plan_event.place */
};

#endif
