/* Loads, stores, translations and prefetches of data, in all lanes. */
#include "graph/bundles.h"
#include "graph/lanes_memory.h"

/* ---- prefetches */

/* Decides in which judges the lines that an access at the times in `t` proposes find MSHRs. They come with arrival
 * `number`. */
INLINE void make_prefetches(struct lanes *l, const struct graph_node *n, const struct row *t, uint32_t number)
{
    const struct row *a = &l->arrival[number % GRAPH_ARRIVALS];
    uint16_t *made = l->made[number % GRAPH_ARRIVALS];
    for (unsigned k = 0; k < PREFETCH_LINES; k++)
        made[k] &= (uint16_t)~l->judging;
    for (unsigned j = 0; j < JUDGES; j++) {
        unsigned lane = l->judge_lane[j], caches = caches_of(l, j / GROUP_JUDGES);
        uint64_t begin = time_of(l, t, lane);
        uint64_t end = time_of(l, a, lane);
        for (unsigned k = 0; caches && l->judging >> j & 1 && k < n->prefetch_lines; k++) {
            if (contention_mshr_free(&l->judge[j], l->core.mshrs, begin) > begin)
                break;
            made[k] |= (uint16_t)(1 << j);
            contention_add_miss(&l->judge[j], l->core.mshrs, begin, end, number);
        }
    }
}

/* Lines that take these cycles with real data caches are requested at the times in `t`. */
INLINE void arrive_after(const struct lanes *l, struct row *a, const struct row *t, unsigned cycles)
{
    for (unsigned g = 0; g < GROUPS; g++) {
        lane_time c = load_latency(&l->core, cycles, caches_of(l, g));
        for (unsigned i = g * GROUP_LANES; i < (g + 1) * GROUP_LANES; i++)
            a->lane[i] = (lane_time)(t->lane[i] + c);
    }
}

/* Lines that an access at the times in `t` makes prefetchers request will arrive. */
INLINE void prefetch_data(struct lanes *l, const struct graph_node *n, const struct row *t)
{
    uint32_t number = l->arrivals + n->arrives;
    if (n->second_prefetch_cycles)
        arrive_after(l, &l->arrival[++number % GRAPH_ARRIVALS], t, n->second_prefetch_cycles);
    if (!n->prefetch_cycles)
        return;
    l->arrival[++number % GRAPH_ARRIVALS] = *t;
    struct row *a = &l->arrival[++number % GRAPH_ARRIVALS];
    arrive_after(l, a, t, n->prefetch_cycles);
    for (unsigned g = 0; n->prefetch_second_distance && g < GROUPS; g++)
        if (caches_of(l, g) > 1)
            raise_group(a, g, &l->arrival[(number - n->prefetch_second_distance) % GRAPH_ARRIVALS]);
    make_prefetches(l, n, t, number);
}

/* ---- loads */

/* Loads from the caches: x is when the data can be used. */
INLINE void load(struct lanes *restrict l, const struct graph_node *n, const struct row *restrict t,
                 struct row *restrict x)
{
    lane_time first = (lane_time)l->core.latency[LEVEL_L1];
    ALL_LANES(i)
    x->lane[i] = (lane_time)(t->lane[i] + first);
    for (unsigned g = 0; g < GROUPS; g++) {
        unsigned v = prediction_of(l, g), caches = caches_of(l, g);
        if (caches == 0)
            continue;
        if (n->late_distance && caches == 1) {
            raise_group(x, g, arrival_before(l, n->late_distance));
            continue;
        }
        if (n->load_cycles[v]) {
            lane_time cycles = load_latency(&l->core, n->load_cycles[v], caches);
            for (unsigned i = g * GROUP_LANES; i < (g + 1) * GROUP_LANES; i++)
                x->lane[i] = (lane_time)(t->lane[i] + cycles);
            if (n->data_alone && caches > 1)
                limit_to_second(l, x, g, t);
        }
        if (n->arrival_distance[v])
            raise_group(x, g, arrival_before(l, n->arrival_distance[v]));
        if (n->second_distance[v] && caches > 1)
            raise_group(x, g, arrival_before(l, n->second_distance[v]));
    }
}

/* In lanes in which the matching store has not left the store buffer when the load issues, the load takes its data from
 * the store (x), or waits until the store has left. Then it issues again, and finds in the cache what the store has
 * left there. */
INLINE void forward(struct lanes *restrict l, const struct contention_need *need, const struct graph_node *n,
                    struct row *restrict t, struct row *restrict x)
{
    uint32_t store = (l->stores + 1 - n->match) & l->store_mask;
    const struct row *left = &l->left[store], *data = &l->data[store];
    bool whole = n->flags & NODE_WHOLE;
    int forwarded = (int)l->core.forward_latency,
        same_latency = forwarded + (whole ? 0 : (int)l->core.latency[LEVEL_L1]);
    struct row again, in;            /* when it issues again; mask of lanes in which the store is in the queue */
    struct row from_cache;           /* when it has its data then, if not from the store */
    struct row same = {.lane = {0}}; /* mask: the store is in its bundle, and forwards what it has */
    if (l->bundles)
        bundles_share(l, n->match, &same);
    ALL_LANES(i)
    {
        lane_time known = whole || same.lane[i] ? data->lane[i] : (lane_time)(left->lane[i] + 1);
        in.lane[i] = same.lane[i] || left->lane[i] >= t->lane[i] ? -1 : 0;
        again.lane[i] = later(t->lane[i], known);
    }
    ALL_LANES(i)
    again.lane[i] = in.lane[i] ? again.lane[i] : t->lane[i];
    judges_issue_again(l, need, t, &again);
    if (!whole)
        load(l, n, &again, &from_cache);
    ALL_LANES(i)
    {
        lane_time mask = in.lane[i];
        lane_time done = whole || same.lane[i] ? after(again.lane[i], same_latency) : from_cache.lane[i];
        x->lane[i] = (lane_time)((mask & done) | (~mask & x->lane[i]));
        t->lane[i] = (lane_time)((mask & again.lane[i]) | (~mask & t->lane[i]));
    }
}

/* The line was there in the real run, which a wrong path may have seen to: so it is in sets with the same caches and
 * the same wrong paths. */
INLINE bool line_is_there(const struct lanes *l, const struct graph_node *n, unsigned group)
{
    return n->used_really == USED_THERE && prediction_of(l, group) == PREDICTION_REAL &&
           caches_of(l, group) == DATA_CACHES - 1;
}

/* A load at the times in `t` uses a line that a prefetcher has proposed. If the prefetch is made and the load comes
 * before it, the load waits for the prefetch, or for an MSHR. In the lanes of a judge in which there was no MSHR for
 * the prefetch, the load requests the line, as soon as there is an MSHR. `x` is when the data can be used. */
INLINE void use_proposed(struct lanes *l, const struct graph_node *n, struct row *t, struct row *x)
{
    const struct row *arrival = arrival_before(l, n->used_distance);
    const struct row *asked = arrival_before(l, n->used_distance + 1);
    uint16_t made = l->made[(l->arrivals + 1 - n->used_distance) % GRAPH_ARRIVALS][n->used_line];
    lane_time first = (lane_time)l->core.latency[LEVEL_L1];
    for (unsigned g = 0; g < GROUPS; g++) {
        struct contention_wait waits[GROUP_JUDGES] = {{0}};
        lane_time cycles = load_latency(&l->core, n->load_cycles[prediction_of(l, g)], caches_of(l, g));
        if (caches_of(l, g) == 0 || line_is_there(l, n, g)) {
            for (unsigned i = g * GROUP_LANES; i < (g + 1) * GROUP_LANES; i++)
                x->lane[i] = after(t->lane[i], first);
            continue;
        }
        for (unsigned k = 0; k < GROUP_JUDGES; k++) {
            unsigned j = first_judge(g) + k;
            uint64_t when = time_of(l, t, l->judge_lane[j]);
            uint64_t prefetch = time_of(l, asked, l->judge_lane[j]);
            if (caches_of(l, g) > 1 && n->used_really != USED_UNKNOWN)
                made = (uint16_t)((made & ~(1 << j)) | (n->used_really != USED_REQUESTED) << j);
            else if (made >> j & 1 && (int64_t)(prefetch - when) > 0 &&
                     contention_mshr_free(&l->judge[j], l->core.mshrs, when) < prefetch)
                made &= (uint16_t) ~(1 << j);
            if (!(made >> j & 1))
                waits[k] = judges_find_mshr(l, n, j, t);
        }
        for (unsigned i = g * GROUP_LANES; i < (g + 1) * GROUP_LANES; i++) {
            unsigned k = l->late_front.lane[i] & 1;
            if (made >> (first_judge(g) + k) & 1) {
                t->lane[i] = later(t->lane[i], asked->lane[i]);
                x->lane[i] = later(after(t->lane[i], first), arrival->lane[i]);
            } else {
                t->lane[i] = later(t->lane[i], mshr_time(l, &waits[k], i));
                x->lane[i] = after(t->lane[i], cycles);
            }
        }
        if (n->second_distance[prediction_of(l, g)] && caches_of(l, g) > 1)
            raise_group(x, g, arrival_before(l, n->second_distance[prediction_of(l, g)]));
        for (unsigned j = first_judge(g); j < first_judge(g + 1); j++) {
            unsigned lane = l->judge_lane[j];
            if (!(made >> j & 1))
                contention_add_miss(&l->judge[j], l->core.mshrs, time_of(l, t, lane), time_of(l, x, lane),
                                    l->arrivals + 1);
        }
    }
}

/* A load that requests its line at the times in `t` waits for MSHRs that younger loads have. */
INLINE void await_younger(struct lanes *restrict l, const struct graph_node *n, struct row *restrict t)
{
    lane_time cycles = (lane_time)n->mshr_wait.cycles;
    l->slack += n->mshr_wait.cycles;
    for (unsigned g = 0; g < GROUPS; g++) {
        bool happens = !n->mshr_wait.wrong_path || prediction_of(l, g) == PREDICTION_REAL;
        if (!happens || !takes_mshr(l, n, g) || caches_of(l, g) < DATA_CACHES - 1)
            continue;
        for (unsigned i = g * GROUP_LANES; i < (g + 1) * GROUP_LANES; i++)
            t->lane[i] = after(t->lane[i], n->mshr_translated ? cycles & l->dtlb.lane[i] : cycles);
    }
}

FOR_EACH_HOST void lanes_load(struct lanes *l, const struct graph_node *n, const struct contention_need *need,
                              struct row *restrict t, struct row *restrict x)
{
    bool misses = n->requests && !n->match;
    if (misses && n->mshr_wait.cycles)
        await_younger(l, n, t);
    if (misses)
        judges_await_mshr(l, n, t);
    load(l, n, t, x);
    if (misses)
        judges_add_miss(l, n, t, x);
    if (n->used_distance && !n->match)
        use_proposed(l, n, t, x);
    if (n->match)
        forward(l, need, n, t, x);
    if (n->arrives)
        l->arrival[(l->arrivals + 1) % GRAPH_ARRIVALS] = *x;
    if (n->prefetch_cycles | n->second_prefetch_cycles)
        prefetch_data(l, n, t);
}

/* ---- stores */

/* A store has computed its address at t + 1, and completes when its data is known, too. Loads wait until an atomic has
 * completed. */
FOR_EACH_HOST void lanes_store(struct lanes *l, const struct graph_node *n, const struct row *restrict t,
                               struct row *restrict x)
{
    bool late = n->flags & NODE_LATE_DATA, loads = n->flags & NODE_LOAD;
    const struct row *source = late ? &l->reg[n->source[1]] : &l->never;
    struct row *data = &l->data[(l->stores + 1) & l->store_mask];
    ALL_LANES(i)
    {
        lane_time address = after(t->lane[i], 1), done = loads ? x->lane[i] : later(address, source->lane[i]);
        l->known.lane[i] = later(l->known.lane[i], loads ? done : address);
        data->lane[i] = late ? source->lane[i] : done;
        x->lane[i] = done;
    }
}

/* The store commits, as soon as the store buffer has room, and leaves through the store buffer. */
FOR_EACH_HOST void lanes_drain(struct lanes *l, const struct graph_node *n, struct row *restrict c)
{
    uint32_t number = ++l->stores, size = l->core.store_buffer_size;
    struct row *left = &l->left[number & l->store_mask], *arrival = &l->arrival[(l->arrivals + 1) % GRAPH_ARRIVALS];
    const struct row *room = number > size ? &l->left[(number - size) & l->store_mask] : &l->never;
    ALL_LANES(i)
    {
        c->lane[i] = later(c->lane[i], after(room->lane[i], 1));
        l->access.lane[i] = later(l->access.lane[i], c->lane[i]);
    }
    bool misses = n->requests && !(n->flags & NODE_LOAD);
    if (misses)
        judges_await_mshr(l, n, &l->access);
    for (unsigned g = 0; g < GROUPS; g++) {
        unsigned caches = caches_of(l, g), cycles = n->drain_cycles[prediction_of(l, g)],
                 second = l->core.latency[LEVEL_L2];
        cycles = caches == 0 ? 1 : caches == 1 && cycles > second ? second : cycles;
        bool waits = caches && !(n->flags & NODE_LOAD), late = waits && caches == 1 && n->late_distance;
        const struct row *line = arrival_before(l, waits ? n->arrival_distance[prediction_of(l, g)] : 0);
        if (waits && caches > 1 && n->second_distance[prediction_of(l, g)])
            line = arrival_before(l, n->second_distance[prediction_of(l, g)]);
        if (late) {
            line = arrival_before(l, n->late_distance);
            cycles = 1;
        }
        struct row in_cache;
        for (unsigned i = g * GROUP_LANES; i < (g + 1) * GROUP_LANES; i++)
            in_cache.lane[i] = after(l->access.lane[i], (int)cycles);
        if (n->data_alone && caches > 1)
            limit_to_second(l, &in_cache, g, &l->access);
        for (unsigned i = g * GROUP_LANES; i < (g + 1) * GROUP_LANES; i++) {
            lane_time done = later(in_cache.lane[i], line->lane[i]);
            l->leave.lane[i] = later(l->leave.lane[i], done);
            left->lane[i] = l->leave.lane[i];
            if (misses)
                arrival->lane[i] = done;
        }
    }
    if (misses)
        judges_add_miss(l, n, &l->access, arrival);
    if ((n->prefetch_cycles | n->second_prefetch_cycles) && !(n->flags & NODE_LOAD))
        prefetch_data(l, n, &l->access);
}

/* ---- translations */

/* Instructions that lack their translation at the times in `t` issue again when they have it. */
FOR_EACH_HOST void lanes_await_translation(struct lanes *l, const struct graph_node *n,
                                           const struct contention_need *need, struct row *t)
{
    struct row again = *t;
    add_predicted(l, &again, &l->dtlb, n->dtlb_cycles);
    if (n->walks)
        l->walked[++l->walks % GRAPH_WALKS] = again;
    for (unsigned g = 0; g < GROUPS; g++) {
        unsigned distance = n->walk_distance[prediction_of(l, g)];
        const struct row *walked = &l->walked[(l->walks - n->walks + 1 - distance) % GRAPH_WALKS];
        for (unsigned i = g * GROUP_LANES; distance && i < (g + 1) * GROUP_LANES; i++)
            again.lane[i] = later(again.lane[i], l->dtlb.lane[i] ? walked->lane[i] : TIME_LEAST);
    }
    judges_issue_again(l, need, t, &again);
    *t = again;
}
