/* Instruction lines in all lanes: what fetch waits for, requests and makes the prefetcher request. */
#include "graph/lanes_fetch.h"

#include "graph/lanes_rows.h"

/* In the lanes of a mask, the MSHR that is free first is taken until a time. */
INLINE void take_mshr(struct lanes *restrict l, const struct row *restrict mask, const struct row *restrict until)
{
    struct row *m = l->fetch_mshr, held = *until;
    unsigned count = l->core.fetch_mshrs;
    for (unsigned k = 0; k < count; k++) {
        const struct row *next = k + 1 < count ? &m[k + 1] : NULL;
        ALL_LANES(i)
        {
            lane_time after_it = next ? next->lane[i] : INT16_MAX;
            lane_time first = held.lane[i] < after_it ? held.lane[i] : after_it;
            held.lane[i] = later(held.lane[i], after_it);
            m[k].lane[i] = mask->lane[i] ? first : m[k].lane[i];
        }
    }
}

/* Lines come from memory that requests in the lanes of a mask have made: each waits until the bus has carried the one
 * before. `cycles`: what they take beyond the L2. */
INLINE void take_bus(struct lanes *restrict l, const struct row *restrict mask, struct row *restrict arrival,
                     const uint16_t cycles[FETCH_VARIANTS], unsigned alone)
{
    const struct graph_core *c = &l->core;
    unsigned memory = c->latency[LEVEL_MEMORY] - c->latency[LEVEL_L2];
    if (!c->bus_cycles || (cycles[FETCH_PERFECT] < memory && cycles[FETCH_EARLY] < memory))
        return;
    for (unsigned g = 0; g < GROUPS; g++) {
        unsigned beyond_cycles = cycles[fetch_variant_of(l, g)];
        lane_time beyond = beyond_cycles >= memory && beyond_second_in(l, g, beyond_cycles, alone) ? -1 : 0;
        for (unsigned i = g * GROUP_LANES; i < (g + 1) * GROUP_LANES; i++) {
            lane_time uses = mask->lane[i] & l->l2i.lane[i] & beyond;
            lane_time time = later(arrival->lane[i], after(l->fetch_bus.lane[i], (int)c->bus_cycles));
            arrival->lane[i] = uses ? time : arrival->lane[i];
            l->fetch_bus.lane[i] = uses ? time : l->fetch_bus.lane[i];
        }
    }
}

/* In the lanes of a mask, fetch requests a line, as soon as there is an MSHR, and waits for it. */
INLINE void request_line(struct lanes *restrict l, const struct row *restrict mask, unsigned first,
                         const uint16_t second[FETCH_VARIANTS], unsigned alone)
{
    struct row done, until;
    ALL_LANES(i)
    done.lane[i] = after(later(l->fetched.lane[i], l->fetch_mshr[0].lane[i]), (int)first);
    add_beyond_second(l, &done, second, alone);
    take_bus(l, mask, &done, second, alone);
    ALL_LANES(i)
    {
        until.lane[i] = after(done.lane[i], (int)l->core.fetch_latency);
        l->fetched.lane[i] = mask->lane[i] ? done.lane[i] : l->fetched.lane[i];
    }
    take_mshr(l, mask, &until);
}

/* Fetch at the times in `start` makes the prefetcher propose lines, which arrive together. In the lanes of a mask, as
 * many come as there are free MSHRs. */
INLINE void propose_lines(struct lanes *restrict l, const struct graph_node *n, const struct row *restrict start,
                          const struct row *restrict mask)
{
    struct row *a = &l->fetch_arrival[++l->fetch_arrivals % GRAPH_FETCH_ARRIVALS];
    struct row *made = &l->fetch_made[l->fetch_arrivals % GRAPH_FETCH_ARRIVALS], open = *mask, until;
    const uint16_t beyond = n->fetch_prefetch_cycles, cycles[FETCH_VARIANTS] = {beyond, beyond, beyond};
    *a = *start;
    add_masked(a, &l->l1i, l->core.latency[LEVEL_L2] - l->core.latency[LEVEL_L1]);
    add_beyond_second(l, a, cycles, n->prefetch_second_alone);
    if (l->core.fetch_mshrs > FETCH_MSHRS_MOST)
        return;
    ALL_LANES(i)
    {
        open.lane[i] &= l->fetch_mshr[0].lane[i] <= start->lane[i] ? -1 : 0;
        made->lane[i] = 0;
    }
    take_bus(l, &open, a, cycles, n->prefetch_second_alone);
    ALL_LANES(i)
    until.lane[i] = after(a->lane[i], (int)l->core.fetch_latency);
    for (unsigned k = 0; k < n->fetch_prefetch_lines; k++) {
        ALL_LANES(i)
        {
            open.lane[i] &= l->fetch_mshr[0].lane[i] <= start->lane[i] ? -1 : 0;
            made->lane[i] = (lane_time)(made->lane[i] - open.lane[i]);
        }
        take_mshr(l, &open, &until);
    }
}

/* In the lanes of a mask, fetch waits for the arrival of a line that the prefetcher has requested. */
INLINE void await_line(struct lanes *restrict l, const struct row *restrict a, const struct row *restrict mask)
{
    ALL_LANES(i)
    l->fetched.lane[i] = later(l->fetched.lane[i], mask->lane[i] ? a->lane[i] : TIME_LEAST);
}

/* Sets `mask` to the lanes of the variants in `which` that keep MSHRs. */
INLINE void lanes_of_variants(const struct lanes *restrict l, unsigned which, struct row *restrict mask)
{
    lane_time perfect = which >> FETCH_PERFECT & 1 ? -1 : 0, early = which >> FETCH_EARLY & 1 ? -1 : 0;
    ALL_LANES(i)
    mask->lane[i] =
        (lane_time)((l->keeps_mshrs[FETCH_PERFECT].lane[i] & perfect) | (l->keeps_mshrs[FETCH_EARLY].lane[i] & early));
}

FOR_EACH_HOST void lanes_read_lines(struct lanes *l, const struct graph_node *n)
{
    struct row start = l->fetched, mask;
    unsigned number = (l->fetch_arrivals + 1 - n->fetch_distance) % GRAPH_FETCH_ARRIVALS;
    if (n->fetch_requests & ~n->fetch_awaits) {
        lanes_of_variants(l, n->fetch_requests & ~n->fetch_awaits, &mask);
        request_line(l, &mask, n->fetch_demand, n->fetch_demand_second, n->demand_second_alone);
    }
    if (n->fetch_awaits) {
        struct row requests;
        lanes_of_variants(l, n->fetch_awaits, &mask);
        ALL_LANES(i)
        {
            bool made = !n->fetch_uses || l->fetch_made[number].lane[i] > n->fetch_line;
            requests.lane[i] = made ? 0 : mask.lane[i];
            mask.lane[i] = made ? mask.lane[i] : 0;
        }
        await_line(l, &l->fetch_arrival[number], &mask);
        if (n->fetch_uses)
            request_line(l, &requests, n->fetch_demand, n->fetch_demand_second, n->demand_second_alone);
    }
    if (n->fetch_prefetches) {
        lanes_of_variants(l, n->fetch_proposes, &mask);
        propose_lines(l, n, &start, &mask);
    }
}

/* ---- lines that wrong paths have requested */

/* When a wrong path gets somewhere, in cycles from the fetch of its branch. `room`: in sets with real data caches. */
INLINE void find_way(const struct lanes *restrict l, struct row *restrict way, unsigned cycles, unsigned room,
                     unsigned lines, unsigned second_lines, unsigned walks)
{
    for (unsigned g = 0; g < GROUPS; g++) {
        lane_time common = (lane_time)(cycles + (caches_of(l, g) > 1 ? room : 0));
        for (unsigned i = g * GROUP_LANES; i < (g + 1) * GROUP_LANES; i++)
            way->lane[i] = common;
    }
    add_masked(way, &l->l1i, lines);
    add_masked(way, &l->l2i, second_lines);
    add_masked(way, &l->itlb, walks);
}

/* A wrong path has ended: its request k occupies an MSHR in sets in which the path was long enough for it. `behind`:
 * how much later than in the run it gets there, because of MSHRs. */
INLINE void request_wrongly(struct lanes *restrict l, unsigned k, struct row *restrict behind)
{
    const struct graph_core *c = &l->core;
    const struct wrong_fetch *m = &l->wrong_fetch[k];
    unsigned number = l->wrong_paths % GRAPH_WRONG_PATHS;
    struct row *arrival = &l->wrong_arrival[number][k], *kept = &l->wrong_kept[number];
    const struct row *since = &l->wrong_since[number], *length = &l->wrong_length[number];
    const uint16_t beyond[FETCH_VARIANTS] = {m->beyond, m->beyond, m->beyond};
    struct row mask, begin, until;
    find_way(l, &begin, m->cycles, m->room, m->lines, m->second_lines, m->walks);
    ALL_LANES(i)
    {
        lane_time way = after(begin.lane[i], behind->lane[i]), time = after(way, since->lane[i]);
        lane_time free = l->fetch_mshr[0].lane[i], wait = (lane_time)(free > time ? free - time : 0);
        bool made = way < length->lane[i] && wait <= (m->prefetch ? 0 : WRONG_WAIT_MOST);
        mask.lane[i] = made ? l->keeps_mshrs[FETCH_EARLY].lane[i] : 0;
        begin.lane[i] = after(time, wait);
        behind->lane[i] = (lane_time)(behind->lane[i] + (mask.lane[i] ? wait : 0));
        kept->lane[i] |= (lane_time)((mask.lane[i] & 1) << k);
        arrival->lane[i] = after(begin.lane[i], (int)(c->latency[LEVEL_L2] - c->latency[LEVEL_L1]));
    }
    add_beyond_second(l, arrival, beyond, (unsigned)m->second_alone << FETCH_EARLY);
    take_bus(l, &mask, arrival, beyond, (unsigned)m->second_alone << FETCH_EARLY);
    ALL_LANES(i)
    until.lane[i] = after(arrival->lane[i], (int)c->fetch_latency);
    take_mshr(l, &mask, &until);
}

FOR_EACH_HOST void lanes_end_wrong_path(struct lanes *l)
{
    unsigned number = l->wrong_paths % GRAPH_WRONG_PATHS;
    const struct row *since = &l->wrong_since[number];
    struct row behind = {.lane = {0}};
    ALL_LANES(i)
    {
        int length = l->result.lane[i] - since->lane[i];
        l->wrong_length[number].lane[i] = (lane_time)(length < INT16_MAX ? length : INT16_MAX);
        l->wrong_kept[number].lane[i] = 0;
    }
    for (unsigned k = 0; k < l->wrong_requests; k++)
        request_wrongly(l, k, &behind);
}

/* Sets `request` to when a wrong path requests a line, and `late` in the lanes in which it resolves before. */
INLINE void find_request(const struct lanes *l, const struct wrong_edge *w, struct row *restrict request,
                         struct row *restrict late)
{
    unsigned number = (l->wrong_paths + 1 - w->distance) % GRAPH_WRONG_PATHS;
    const struct row *since = &l->wrong_since[number], *length = &l->wrong_length[number];
    find_way(l, request, w->cycles, w->room, w->lines, w->second_lines, w->walks);
    ALL_LANES(i)
    {
        late->lane[i] = request->lane[i] < length->lane[i] ? 0 : -1;
        request->lane[i] = after(request->lane[i], since->lane[i]);
    }
}

/* With few MSHRs, where branches resolve early: whether the wrong path requests the line, and when that arrives, is
 * known since it has ended. */
INLINE void find_kept_request(const struct lanes *restrict l, const struct wrong_edge *w, struct row *restrict arrival,
                              struct row *restrict late)
{
    unsigned number = (l->wrong_paths + 1 - w->distance) % GRAPH_WRONG_PATHS, k = w->number - 1u;
    const struct row *kept = &l->wrong_kept[number], *known = &l->wrong_arrival[number][k];
    ALL_LANES(i)
    {
        lane_time keeps = l->keeps_mshrs[FETCH_EARLY].lane[i], made = kept->lane[i] >> k & 1 ? -1 : 0;
        late->lane[i] = keeps ? (lane_time)~made : late->lane[i];
        arrival->lane[i] = keeps ? known->lane[i] : arrival->lane[i];
    }
}

FOR_EACH_HOST void lanes_await_wrong_path(struct lanes *l, const struct graph_node *n)
{
    const struct graph_core *c = &l->core;
    unsigned second = c->latency[LEVEL_L2] - c->latency[LEVEL_L1];
    bool few = c->fetch_mshrs <= FETCH_MSHRS_MOST;
    struct row arrival, late, latency = {.lane = {0}}, *f = &l->fetched;
    add_masked(&latency, &l->l1i, second);
    add_beyond_second(l, &latency, n->wrong_beyond, n->second_alone);
    find_request(l, &n->wrong_line[0], &arrival, &late);
    ALL_LANES(i)
    arrival.lane[i] = after(arrival.lane[i], latency.lane[i]);
    if (few && n->wrong_line[0].number)
        find_kept_request(l, &n->wrong_line[0], &arrival, &late);
    if (n->wrong_line[1].distance) {
        struct row other, other_late;
        find_request(l, &n->wrong_line[1], &other, &other_late);
        ALL_LANES(i)
        {
            arrival.lane[i] = late.lane[i] ? after(other.lane[i], latency.lane[i]) : arrival.lane[i];
            late.lane[i] &= other_late.lane[i];
        }
    }
    ALL_LANES(i)
    {
        lane_time mask = l->l1i.lane[i] & l->branch.lane[i];
        lane_time requests = few ? l->keeps_mshrs[FETCH_EARLY].lane[i] & late.lane[i] : 0;
        lane_time own = after(f->lane[i], requests ? 0 : latency.lane[i]);
        lane_time done = late.lane[i] ? own : later(f->lane[i], arrival.lane[i]);
        f->lane[i] = mask ? done : f->lane[i];
        late.lane[i] = requests;
    }
    if (few)
        request_line(l, &late, second, n->wrong_beyond, n->second_alone);
}
