/* Operations on rows, each a loop over all lanes or over those of a group. */
#ifndef CYCLESCOPE_GRAPH_LANES_ROWS_H
#define CYCLESCOPE_GRAPH_LANES_ROWS_H

#include "graph/lanes_priv.h"

/* Times become those of `with` where these are later. */
INLINE void raise(struct row *restrict to, const struct row *restrict with)
{
    ALL_LANES(i)
    to->lane[i] = later(to->lane[i], with->lane[i]);
}

/* Adds cycles in the lanes of a mask. */
INLINE void add_masked(struct row *restrict to, const struct row *restrict mask, unsigned cycles)
{
    lane_time c = (lane_time)cycles;
    ALL_LANES(i)
    to->lane[i] = (lane_time)(to->lane[i] + (mask->lane[i] & c));
}

/* Adds cycles that depend on prediction in the lanes of a mask. */
INLINE void add_predicted(const struct lanes *restrict l, struct row *restrict to, const struct row *restrict mask,
                          const uint16_t cycles[PREDICTIONS])
{
    for (unsigned g = 0; g < GROUPS; g++) {
        lane_time c = (lane_time)cycles[prediction_of(l, g)];
        for (unsigned i = g * GROUP_LANES; i < (g + 1) * GROUP_LANES; i++)
            to->lane[i] = (lane_time)(to->lane[i] + (mask->lane[i] & c));
    }
}

/* Adds stalls of fetch that depend on the variant, in lanes with a real L1I. */
INLINE void add_fetch_stall(const struct lanes *restrict l, struct row *restrict to,
                            const uint16_t cycles[FETCH_VARIANTS])
{
    for (unsigned g = 0; g < GROUPS; g++) {
        lane_time c = (lane_time)cycles[fetch_variant_of(l, g)];
        for (unsigned i = g * GROUP_LANES; i < (g + 1) * GROUP_LANES; i++)
            to->lane[i] = (lane_time)(to->lane[i] + (l->l1i.lane[i] & c));
    }
}

/* What instruction lines take beyond the L2 in a group, where the L2 is real. `alone`, as node.second_alone: the L2 has
 * them unless it also has data: then that is only in sets in which the data caches are real. */
INLINE lane_time beyond_second_in(const struct lanes *l, unsigned group, unsigned cycles, unsigned alone)
{
    bool has = alone >> fetch_variant_of(l, group) & 1 && caches_of(l, group) < DATA_CACHES - 1;
    return (lane_time)(has ? 0 : cycles);
}

INLINE void add_beyond_second(const struct lanes *restrict l, struct row *restrict to,
                              const uint16_t cycles[FETCH_VARIANTS], unsigned alone)
{
    for (unsigned g = 0; g < GROUPS; g++) {
        lane_time c = beyond_second_in(l, g, cycles[fetch_variant_of(l, g)], alone);
        for (unsigned i = g * GROUP_LANES; i < (g + 1) * GROUP_LANES; i++)
            to->lane[i] = (lane_time)(to->lane[i] + (l->l2i.lane[i] & c));
    }
}

INLINE void raise_group(struct row *restrict to, unsigned group, const struct row *restrict with)
{
    for (unsigned i = group * GROUP_LANES; i < (group + 1) * GROUP_LANES; i++)
        to->lane[i] = later(to->lane[i], with->lane[i]);
}

/* Data that the L2 has if no instructions are in it comes with the latency of the L2, in lanes of a group in which
 * instructions are not: `x` is when accesses at the times in `t` have it. */
INLINE void limit_to_second(const struct lanes *restrict l, struct row *restrict x, unsigned group,
                            const struct row *restrict t)
{
    lane_time second = (lane_time)l->core.latency[LEVEL_L2];
    for (unsigned i = group * GROUP_LANES; i < (group + 1) * GROUP_LANES; i++) {
        lane_time alone = after(t->lane[i], second), most = l->l2i.lane[i] ? INT16_MAX : alone;
        x->lane[i] = x->lane[i] < most ? x->lane[i] : most;
    }
}

/* The arrival at this distance; `never` if that is 0. */
INLINE const struct row *arrival_before(const struct lanes *l, unsigned distance)
{
    return distance ? &l->arrival[(l->arrivals + 1 - distance) % GRAPH_ARRIVALS] : &l->never;
}
/* The latency of a load that requests its line, by group. */
INLINE lane_time load_latency(const struct graph_core *c, unsigned cycles, unsigned data_caches)
{
    unsigned second = c->latency[LEVEL_L2], first = c->latency[LEVEL_L1];
    if (data_caches == 0 || cycles < first)
        return (lane_time)first;
    return (lane_time)(data_caches == 1 && cycles > second ? second : cycles);
}

#endif
