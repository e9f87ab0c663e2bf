/* A slice: what was counted while one group of events had the counters.
 *
 * The slices of a context (an address space) follow each other without gaps: their cycles and instructions, which are
 * counted always, sum to those of the context. What the sampling engine itself executes is in none of them, unless
 * events of machine mode are asked for. The last slice of a run may be short; a round that it ends in is not whole. */
#ifndef CYCLESCOPE_MONITOR_SLICE_H
#define CYCLESCOPE_MONITOR_SLICE_H

#include <stdint.h>

enum { SLICE_COUNTS = 29, SLICE_IDLE = UINT32_MAX };

struct slice {
    uint32_t context;             /* address space, 0 for the first program */
    uint32_t group;               /* of the plan, or SLICE_IDLE */
    uint32_t round;               /* of the context, from 0 on */
    uint64_t cycles, insns;       /* of the context, in this slice */
    uint64_t count[SLICE_COUNTS]; /* of the group's events, in their places */
};

#endif
