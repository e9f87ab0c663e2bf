/* Narrow places: sets of counters, with the events that can be counted nowhere else. A group has room for as many of
 * these as the set has counters, less one if the clock needs one of them. Parties bring several at once, so that sizes
 * decide what a group can hold of them at most: of pairs, six where there is room for seven.
 *
 * For a state of the search this says that the parties and events that are left cannot all find room, or nothing. */
#ifndef CYCLESCOPE_MONITOR_PLAN_NARROW_H
#define CYCLESCOPE_MONITOR_PLAN_NARROW_H

#include "monitor/plan_groups.h"

enum { NARROW_MOST = 64 };

struct narrow_place {
    uint32_t counters; /* a bit for each */
    uint32_t room;     /* of a group */
    uint8_t *size;     /* of each party: events that need these counters */
    uint64_t *sums;    /* of each party: bit i is set if some parties from it on and single events have i of these */
    uint32_t *rest;    /* of each party: events that need them, from it on, those of single events included */
    uint8_t *taken;    /* of each group: the room that parties have which were put there */
};

struct narrow {
    struct narrow_place place[NARROW_MOST];
    uint32_t places;
    uint32_t parties; /* larger ones, in the order of the search */
    uint32_t groups;  /* most of them */
    void *memory;     /* of the arrays */
};

/* The parties in the order in which the search decides for them; all others have one event. False: out of memory. */
bool narrow_new(struct narrow *n, const struct grouping *g, const uint32_t *party, uint32_t parties, uint32_t groups)
    __attribute__((warn_unused_result));
void narrow_restart(struct narrow *n);
void narrow_put(struct narrow *n, uint32_t party, uint32_t group);
void narrow_take(struct narrow *n, uint32_t party, uint32_t group);
/* Whether the parties from `party` on may find room in so many groups. */
bool narrow_allows(const struct narrow *n, uint32_t party, uint32_t groups);
void narrow_free(struct narrow *n);

#endif
