/* How sets of real structures are laid out in lanes.
 *
 * All sets at once: lanes form groups, in which prediction and the data caches are real or perfect in the same way; the
 * lanes of a group differ in the instruction caches and the TLBs. So latencies of loads are the same in all lanes of a
 * group. In each group two lanes judge contention (contention.h), one with perfect and one with real instruction
 * caches, and the other lanes use what they find.
 *
 * One set, that of struct graph_core (ONE_LANE, see one_lane.c): its lane is a group of its own, and its own judge. */
#ifndef CYCLESCOPE_GRAPH_LANES_LAYOUT_H
#define CYCLESCOPE_GRAPH_LANES_LAYOUT_H

#include "graph/graph_priv.h"

enum { DATA_CACHES = 3 }; /* perfect; first real; both real */

#ifdef ONE_LANE
enum { GROUP_LANES = 1, GROUPS = 1, GROUP_JUDGES = 1, ROW_ALIGNMENT = 4 };
typedef int32_t lane_time;
#define LANE_TIME_LEAST (INT32_MIN / 2)
#else
enum {
    GROUP_LANES = 16,
    GROUP_SETS = 12, /* lanes of a group that are in use: instruction caches (3) × I-TLB (2) × D-TLB (2) */
    FRONT_SETS = 4,  /* the first lanes of a group: with perfect instruction caches */
    GROUPS = 6,      /* prediction (2) × data caches (3) */
    GROUP_JUDGES = 2,
    ROW_ALIGNMENT = 64
};
typedef int16_t lane_time;
#define LANE_TIME_LEAST INT16_MIN
#endif

enum { LANES = GROUPS * GROUP_LANES, JUDGES = GROUPS * GROUP_JUDGES, ALL_JUDGES = (1 << JUDGES) - 1 };

/* The judges of a group have consecutive numbers; the last one has real instruction caches if there are two. */
static inline unsigned first_judge(unsigned group)
{
    return group * GROUP_JUDGES;
}

static inline unsigned last_judge(unsigned group)
{
    return group * GROUP_JUDGES + GROUP_JUDGES - 1;
}

#ifdef ONE_LANE

static inline unsigned layout_prediction(const struct graph_core *c, unsigned group)
{
    (void)group;
    return c->real & GRAPH_BRANCH ? PREDICTION_REAL : PREDICTION_PERFECT;
}

/* How many data caches are real. */
static inline unsigned layout_caches(const struct graph_core *c, unsigned group)
{
    (void)group;
    return c->real & GRAPH_L2D ? 2 : c->real & GRAPH_L1D ? 1 : 0;
}

static inline unsigned layout_set(const struct graph_core *c, unsigned lane)
{
    (void)lane;
    return c->real;
}

/* The lane of a judge. */
static inline unsigned layout_judge(unsigned judge)
{
    (void)judge;
    return 0;
}

/* Whether a lane uses the last judge of its group. */
static inline bool layout_is_late(unsigned lane)
{
    (void)lane;
    return false;
}

static inline bool layout_has_limit(unsigned limit)
{
    return limit != NO_LIMIT;
}

/* Whether accesses wait for older ones. */
static inline bool layout_keeps_order(const struct graph_core *c)
{
    return !c->any_order;
}

#else

static inline unsigned layout_prediction(const struct graph_core *c, unsigned group)
{
    (void)c;
    return group / DATA_CACHES;
}

static inline unsigned layout_caches(const struct graph_core *c, unsigned group)
{
    (void)c;
    return group % DATA_CACHES;
}

/* Lanes that are not in use have the set of the last one in their group. */
static inline unsigned layout_set(const struct graph_core *c, unsigned lane)
{
    static const uint8_t data[DATA_CACHES] = {0, GRAPH_L1D, GRAPH_L1D | GRAPH_L2D};
    static const uint8_t instructions[] = {0, GRAPH_L1I, GRAPH_L1I | GRAPH_L2I};
    unsigned g = lane / GROUP_LANES, i = lane % GROUP_LANES;
    i = i < GROUP_SETS ? i : GROUP_SETS - 1;
    return (layout_prediction(c, g) == PREDICTION_REAL ? GRAPH_BRANCH : 0) | data[layout_caches(c, g)] |
           instructions[i / FRONT_SETS] | (i & 2 ? GRAPH_ITLB : 0) | (i & 1 ? GRAPH_DTLB : 0);
}

static inline unsigned layout_judge(unsigned judge)
{
    return judge / GROUP_JUDGES * GROUP_LANES + (judge % GROUP_JUDGES ? GROUP_SETS : FRONT_SETS) - 1;
}

static inline bool layout_is_late(unsigned lane)
{
    return lane % GROUP_LANES >= FRONT_SETS;
}

static inline bool layout_has_limit(unsigned limit)
{
    (void)limit;
    return true;
}

static inline bool layout_keeps_order(const struct graph_core *c)
{
    (void)c;
    return true;
}

#endif
#endif
