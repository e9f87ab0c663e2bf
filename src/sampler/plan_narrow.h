/* Pruning of the search for groups (plan_groups.c). A narrow place is a set of counters together with the events that
 * no other counter can count. In one group there is room for as many of these events as the set has counters, less one
 * if the clock needs one of them. Parties bring several such events at once, so their sizes limit how much of the room
 * can be filled: with parties of two, six events where there is room for seven.
 *
 * narrow_allows returns false if the remaining parties and events certainly cannot all find room; true proves nothing.
 */
#ifndef CYCLESCOPE_SAMPLER_PLAN_NARROW_H
#define CYCLESCOPE_SAMPLER_PLAN_NARROW_H

#include "sampler/plan_groups.h"

enum { NARROW_MOST = 64 }; /* most narrow places that are looked at */

struct narrow_place {
    uint32_t counters; /* bit mask */
    uint32_t room;     /* most events of this place in a group */
    uint8_t *size;     /* by party: its events that need these counters */
    uint64_t *sums;    /* by party: bit i is set if some subset of this party, later ones and single events has i
                          events that need these counters */
    uint32_t *rest;    /* by party: events that need these counters, of this party, later ones and single events */
    uint8_t *taken;    /* by group: events that need these counters, of the parties in the group */
};

struct narrow {
    struct narrow_place place[NARROW_MOST];
    uint32_t places;
    uint32_t parties; /* parties of more than one event, in the order of the search */
    uint32_t groups;  /* most groups of the search */
    void *memory;     /* one allocation for the arrays of all places */
};

/* `party` lists the parties of more than one event in the order of the search. False: out of memory; narrow_free is due
 * in any case. */
bool narrow_new(struct narrow *n, const struct grouping *g, const uint32_t *party, uint32_t parties, uint32_t groups)
    __attribute__((warn_unused_result));
void narrow_restart(struct narrow *n);                                /* all groups are empty */
void narrow_put(struct narrow *n, uint32_t party, uint32_t group);    /* the search puts a party into a group */
void narrow_remove(struct narrow *n, uint32_t party, uint32_t group); /* the search takes it out again */
/* Whether the parties from `party` on may find room in `groups` groups. */
bool narrow_allows(const struct narrow *n, uint32_t party, uint32_t groups);
void narrow_free(struct narrow *n);

#endif
