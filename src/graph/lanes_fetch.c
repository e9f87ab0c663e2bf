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

/* With perfect prediction and a real L1I, in the lanes of a mask, fetch requests its line, as soon as there is an MSHR,
 * and waits for it. */
INLINE void request_line(struct lanes *restrict l, const struct graph_node *n, const struct row *restrict mask)
{
    const uint16_t second[PREDICTIONS] = {n->fetch_demand_second, n->fetch_demand_second};
    struct row done, until;
    ALL_LANES(i)
    done.lane[i] = after(later(l->fetched.lane[i], l->fetch_mshr[0].lane[i]), n->fetch_demand);
    add_beyond_second(l, &done, second, n->demand_second_alone);
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
    const uint16_t cycles[PREDICTIONS] = {n->fetch_prefetch_cycles, n->fetch_prefetch_cycles};
    *a = *start;
    add_masked(a, &l->l1i, l->core.latency[LEVEL_L2] - l->core.latency[LEVEL_L1]);
    add_beyond_second(l, a, cycles, n->prefetch_second_alone);
    if (l->core.fetch_mshrs > FETCH_MSHRS_MOST)
        return;
    ALL_LANES(i)
    {
        until.lane[i] = after(a->lane[i], (int)l->core.fetch_latency);
        made->lane[i] = 0;
    }
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

FOR_EACH_HOST void lanes_read_lines(struct lanes *l, const struct graph_node *n)
{
    struct row start = l->fetched, mask, requests;
    unsigned number = (l->fetch_arrivals + 1 - n->fetch_distance) % GRAPH_FETCH_ARRIVALS;
    ALL_LANES(i)
    requests.lane[i] = mask.lane[i] = l->l1i.lane[i] & ~l->branch.lane[i];
    if (n->fetch_distance) {
        struct row waits;
        ALL_LANES(i)
        {
            bool made = !n->fetch_uses || l->fetch_made[number].lane[i] > n->fetch_line;
            waits.lane[i] = made ? mask.lane[i] : 0;
            requests.lane[i] = made ? 0 : mask.lane[i];
        }
        await_line(l, &l->fetch_arrival[number], &waits);
    }
    if (n->fetch_demand)
        request_line(l, n, &requests);
    if (n->fetch_prefetches)
        propose_lines(l, n, &start, &mask);
}

/* ---- lines that wrong paths have requested */

FOR_EACH_HOST void lanes_end_wrong_path(struct lanes *l)
{
    unsigned number = l->wrong_paths % GRAPH_WRONG_PATHS;
    const struct row *since = &l->wrong_since[number];
    ALL_LANES(i)
    {
        int length = l->result.lane[i] - since->lane[i];
        l->wrong_length[number].lane[i] = (lane_time)(length < INT16_MAX ? length : INT16_MAX);
    }
}

/* Sets `request` to when a wrong path requests a line, and `late` in the lanes in which it resolves before. */
INLINE void find_request(const struct lanes *l, const struct wrong_edge *w, struct row *restrict request,
                         struct row *restrict late)
{
    unsigned number = (l->wrong_paths + 1 - w->distance) % GRAPH_WRONG_PATHS;
    const struct row *since = &l->wrong_since[number], *length = &l->wrong_length[number];
    for (unsigned g = 0; g < GROUPS; g++) {
        lane_time cycles = (lane_time)(w->cycles + (caches_of(l, g) > 1 ? w->room : 0));
        for (unsigned i = g * GROUP_LANES; i < (g + 1) * GROUP_LANES; i++)
            request->lane[i] = cycles;
    }
    add_masked(request, &l->l1i, w->lines);
    add_masked(request, &l->l2i, w->second_lines);
    add_masked(request, &l->itlb, w->walks);
    ALL_LANES(i)
    {
        late->lane[i] = request->lane[i] < length->lane[i] ? 0 : -1;
        request->lane[i] = after(request->lane[i], since->lane[i]);
    }
}

FOR_EACH_HOST void lanes_await_wrong_path(struct lanes *l, const struct graph_node *n)
{
    const uint16_t beyond[PREDICTIONS] = {n->wrong_beyond, n->wrong_beyond};
    struct row request, late, latency = {.lane = {0}}, *f = &l->fetched;
    find_request(l, &n->wrong_line[0], &request, &late);
    if (n->wrong_line[1].distance) {
        struct row other, other_late;
        find_request(l, &n->wrong_line[1], &other, &other_late);
        ALL_LANES(i)
        {
            request.lane[i] = late.lane[i] ? other.lane[i] : request.lane[i];
            late.lane[i] &= other_late.lane[i];
        }
    }
    add_masked(&latency, &l->l1i, l->core.latency[LEVEL_L2] - l->core.latency[LEVEL_L1]);
    add_beyond_second(l, &latency, beyond, n->second_alone);
    ALL_LANES(i)
    {
        lane_time mask = l->l1i.lane[i] & l->branch.lane[i];
        lane_time own = after(f->lane[i], latency.lane[i]), arrival = after(request.lane[i], latency.lane[i]);
        lane_time done = late.lane[i] ? own : later(f->lane[i], arrival);
        f->lane[i] = mask ? done : f->lane[i];
    }
}
