/* Evaluates nodes for all sets of real structures at once: lanes_priv.h says how. bench/core.py --methods graph
 * measures the result. */
#include "graph/lanes_priv.h"

/* ---- parts of an instruction, each a loop over all lanes */

INLINE void raise(struct row *restrict to, const struct row *restrict with)
{
    ALL_LANES(i)
    to->lane[i] = later(to->lane[i], with->lane[i]);
}

/* Adds cycles in the lanes of a mask. */
INLINE void add_masked(struct row *restrict to, const struct row *restrict mask, unsigned cycles)
{
    int16_t c = (int16_t)cycles;
    ALL_LANES(i)
    to->lane[i] = (int16_t)(to->lane[i] + (mask->lane[i] & c));
}

/* Adds cycles that depend on prediction in the lanes of a mask. */
INLINE void add_predicted(struct row *restrict to, const struct row *restrict mask, const uint16_t cycles[PREDICTIONS])
{
    for (unsigned g = 0; g < GROUPS; g++) {
        int16_t c = (int16_t)cycles[g / DATA_CACHES];
        for (unsigned i = g * GROUP_LANES; i < (g + 1) * GROUP_LANES; i++)
            to->lane[i] = (int16_t)(to->lane[i] + (mask->lane[i] & c));
    }
}

/* Adds what instruction lines take beyond the L2, in sets with a real one. `alone`: the L2 has them unless it also has
 * data: then that is only in sets in which the data caches are real. */
INLINE void add_beyond_second(const struct lanes *restrict l, struct row *restrict to,
                              const uint16_t cycles[PREDICTIONS], bool alone)
{
    for (unsigned g = 0; g < GROUPS; g++) {
        int16_t c = (int16_t)(alone && g % DATA_CACHES < DATA_CACHES - 1 ? 0 : cycles[g / DATA_CACHES]);
        for (unsigned i = g * GROUP_LANES; i < (g + 1) * GROUP_LANES; i++)
            to->lane[i] = (int16_t)(to->lane[i] + (l->l2i.lane[i] & c));
    }
}

INLINE void begin_fetch(struct row *restrict f, const struct row *restrict group, const struct row *restrict room)
{
    ALL_LANES(i)
    f->lane[i] = later((int16_t)(f->lane[i] + group->lane[i]), room->lane[i]);
}

/* Instruction lines that fetch makes the prefetcher request now will arrive. */
static void prefetch_lines(struct lanes *restrict l, const struct graph_node *n)
{
    struct row *a = &l->fetch_arrival[++l->fetch_arrivals % GRAPH_FETCH_ARRIVALS];
    *a = l->fetched;
    add_masked(a, &l->l1i, l->core.latency[LEVEL_L2] - l->core.latency[LEVEL_L1]);
    const uint16_t cycles[PREDICTIONS] = {n->fetch_prefetch_cycles, n->fetch_prefetch_cycles};
    add_beyond_second(l, a, cycles, n->prefetch_second_alone);
}

/* With perfect prediction, fetch waits for a line that the prefetcher has requested. `arrivals`: those before this
 * instruction. */
static void await_line(struct lanes *restrict l, const struct graph_node *n, uint32_t arrivals)
{
    const struct row *a = &l->fetch_arrival[(arrivals + 1 - n->fetch_distance) % GRAPH_FETCH_ARRIVALS];
    ALL_LANES(i)
    {
        int16_t mask = l->l1i.lane[i] & ~l->branch.lane[i];
        l->fetched.lane[i] = later(l->fetched.lane[i], mask ? a->lane[i] : TIME_LEAST);
    }
}

/* Fetch waits for what only some instructions have: a branch to resolve, a drained window, misses. */
INLINE void wait_in_fetch(struct lanes *restrict l, const struct graph_node *n)
{
    struct row *f = &l->fetched;
    uint32_t arrivals = l->fetch_arrivals;
    if (l->after_mispredicted)
        ALL_LANES(i)
    f->lane[i] = later(f->lane[i], l->branch.lane[i] ? l->result.lane[i] : TIME_LEAST);
    if (l->after_serial)
        raise(f, committed_before(l, 1));
    if (n->itlb_cycles[0] | n->itlb_cycles[1])
        add_predicted(f, &l->itlb, n->itlb_cycles);
    if (n->misfetch_cycles)
        add_masked(f, &l->branch, n->misfetch_cycles);
    if (n->fetch_prefetches)
        prefetch_lines(l, n);
    if (n->fetch_distance)
        await_line(l, n, arrivals);
    if (n->l1i_cycles[0] | n->l1i_cycles[1])
        add_predicted(f, &l->l1i, n->l1i_cycles);
    if (n->l2i_cycles[0] | n->l2i_cycles[1])
        add_beyond_second(l, f, n->l2i_cycles, n->second_alone);
}

/* The rows that dispatch waits for. */
struct dispatch_edges {
    const struct row *fetched;       /* of this instruction */
    const struct row *decode_width;  /* exit of the front end, decode_width back */
    const struct row *order, *width; /* dispatch, 1 and dispatch_width back */
    const struct row *room;          /* commit of the instruction that makes room */
};

INLINE void dispatch(struct row *restrict w, struct row *restrict d, const struct dispatch_edges *e, unsigned stages)
{
    const int16_t *restrict fetched = e->fetched->lane, *restrict slots = e->decode_width->lane;
    const int16_t *restrict order = e->order->lane, *restrict width = e->width->lane, *restrict room = e->room->lane;
    ALL_LANES(i)
    {
        int16_t leaves = later(after(fetched[i], (int)stages), after(slots[i], 1));
        w->lane[i] = leaves;
        d->lane[i] = later(later(leaves, order[i]), later(after(width[i], 1), room[i]));
    }
}

INLINE void await_operands(struct row *restrict t, const struct row *restrict d, const struct row *a,
                           const struct row *b, const struct row *c)
{
    const int16_t *x = a->lane, *y = b->lane, *z = c->lane;
    ALL_LANES(i)
    t->lane[i] = later(later(after(d->lane[i], 1), x[i]), later(y[i], z[i]));
}

/* Adds each judge's delay to the lanes that use it. */
INLINE void add_delays(struct lanes *l, struct row *restrict to, const struct verdict *v)
{
    l->slack += v->any;
    for (unsigned g = 0; g < GROUPS; g++) {
        int16_t early = (int16_t)v->of[2 * g], change = (int16_t)(v->of[2 * g + 1] ^ v->of[2 * g]);
        for (unsigned i = g * GROUP_LANES; i < (g + 1) * GROUP_LANES; i++)
            to->lane[i] = (int16_t)(to->lane[i] + (early ^ (change & l->late_front.lane[i])));
    }
}

/* Lanes wait for the issue of the instruction that their judge names by its distance. */
INLINE void await_issue(const struct lanes *l, struct row *restrict to, const struct verdict *v)
{
    for (unsigned g = 0; g < GROUPS; g++) {
        const struct row *early = issued_before(l, v->of[2 * g]);
        const struct row *late = issued_before(l, v->of[2 * g + 1]);
        for (unsigned i = g * GROUP_LANES; i < (g + 1) * GROUP_LANES; i++) {
            int16_t mask = l->late_front.lane[i];
            to->lane[i] = later(to->lane[i], (int16_t)((mask & late->lane[i]) | (~mask & early->lane[i])));
        }
    }
}

/* ---- contention */

/* Instructions dispatch at the times in `d`, or later if a queue is full. */
static __attribute__((noinline)) void enter_late(struct lanes *l, const struct contention_need *need, struct row *d)
{
    struct verdict v = {.any = 0};
    for (unsigned j = 0; j < JUDGES; j++) {
        uint64_t when = time_of(l, d, l->judge_lane[j]);
        v.of[j] = (uint16_t)contention_enter(&l->judge[j], need, when, l->insns);
        v.any |= v.of[j];
    }
    if (v.any)
        await_issue(l, d, &v);
}

/* Instructions enter their queues at the times in `d`, or later. Most find room in all sets that judge. */
INLINE void enter_queues(struct lanes *l, const struct contention_need *need, struct row *d)
{
    uint64_t unsure = 0;
    for (unsigned j = 0; j < JUDGES; j++) {
        const struct contention *c = &l->judge[j];
        uint64_t passed = time_of(l, d, l->judge_lane[j]) - c->now;
        unsure |= (c->queues & need->queue_full) | ((int64_t)passed > CONTENTION_LAG);
    }
    if (__builtin_expect(unsure != 0, 0)) {
        enter_late(l, need, d);
        return;
    }
    for (unsigned j = 0; j < JUDGES; j++)
        l->judge[j].queues += need->queue;
}

/* Instructions issue at the times in `t`, or later because some find no slot. `when`: times of the judges, `use`: the
 * slots at these times. */
static __attribute__((noinline)) void issue_late(struct lanes *l, const struct contention_need *need, struct row *t,
                                                 const uint64_t when[JUDGES], const uint64_t use[JUDGES])
{
    struct verdict v = {.any = 0};
    for (unsigned j = 0; j < JUDGES; j++) {
        v.of[j] = 0;
        if (!(use[j] & need->full) && need->interval <= 1) {
            l->judge[j].slot[when[j] % CONTENTION_CYCLES] = use[j] + need->issue;
            continue;
        }
        v.of[j] = (uint16_t)(contention_issue(&l->judge[j], &l->limits, need, when[j]) - when[j]);
        v.any |= v.of[j];
    }
    if (v.any)
        add_delays(l, t, &v);
}

/* Instructions issue, at the times in `t` or later. Most find a slot at once in all sets that judge: then there is one
 * branch for all of them. */
INLINE void issue(struct lanes *l, const struct contention_need *need, struct row *t)
{
    uint64_t when[JUDGES], use[JUDGES], full = 0;
    for (unsigned j = 0; j < JUDGES; j++) {
        when[j] = time_of(l, t, l->judge_lane[j]);
        use[j] = l->judge[j].slot[when[j] % CONTENTION_CYCLES];
    }
    for (unsigned j = 0; j < JUDGES; j++) {
        use[j] = contention_fresh(use[j], &l->limits, when[j] / CONTENTION_CYCLES << LAP_SHIFT);
        full |= use[j] & need->full;
    }
    if (__builtin_expect(full != 0 || need->interval > 1, 0)) {
        issue_late(l, need, t, when, use);
        return;
    }
    for (unsigned j = 0; j < JUDGES; j++)
        l->judge[j].slot[when[j] % CONTENTION_CYCLES] = use[j] + need->issue;
}

/* Instructions that have issued at the times in `t` issue again at the times in `again`, or later because some find no
 * slot. Those whose times are equal do not. */
static void issue_again(struct lanes *l, const struct contention_need *need, const struct row *t, struct row *again)
{
    struct verdict v = {.any = 0};
    for (unsigned j = 0; j < JUDGES; j++) {
        unsigned lane = l->judge_lane[j];
        v.of[j] = 0;
        if (again->lane[lane] > t->lane[lane]) {
            uint64_t when = time_of(l, again, lane);
            v.of[j] = (uint16_t)(contention_issue(&l->judge[j], &l->limits, need, when) - when);
            v.any |= v.of[j];
        }
    }
    if (!v.any)
        return;
    struct row held = *again;
    add_delays(l, &held, &v);
    ALL_LANES(i)
    again->lane[i] = again->lane[i] > t->lane[i] ? held.lane[i] : again->lane[i];
}

/* Instructions leave their queues at the times in `t`. */
INLINE void leave_queues(struct lanes *l, const struct contention_need *need, const struct row *t)
{
    for (unsigned j = 0; j < JUDGES; j++)
        contention_leave(&l->judge[j], need, time_of(l, t, l->judge_lane[j]), l->insns);
}

/* ---- memory */

/* The latency of a load that requests its line, by group. */
INLINE int16_t load_latency(const struct graph_core *c, unsigned cycles, unsigned data_caches)
{
    unsigned second = c->latency[LEVEL_L2], first = c->latency[LEVEL_L1];
    if (data_caches == 0 || cycles < first)
        return (int16_t)first;
    return (int16_t)(data_caches == 1 && cycles > second ? second : cycles);
}

/* The arrival at this distance; `never` if that is 0. */
INLINE const struct row *arrival_before(const struct lanes *l, unsigned distance)
{
    return distance ? &l->arrival[(l->arrivals + 1 - distance) % GRAPH_ARRIVALS] : &l->never;
}

INLINE void raise_group(struct row *restrict to, unsigned group, const struct row *restrict with)
{
    for (unsigned i = group * GROUP_LANES; i < (group + 1) * GROUP_LANES; i++)
        to->lane[i] = later(to->lane[i], with->lane[i]);
}

/* Loads from the caches: x is when the data can be used. */
INLINE void load(struct lanes *restrict l, const struct graph_node *n, const struct row *restrict t,
                 struct row *restrict x)
{
    int16_t first = (int16_t)l->core.latency[LEVEL_L1];
    ALL_LANES(i)
    x->lane[i] = (int16_t)(t->lane[i] + first);
    for (unsigned g = 0; g < GROUPS; g++) {
        unsigned v = g / DATA_CACHES, caches = g % DATA_CACHES;
        if (caches == 0)
            continue;
        if (n->load_cycles[v]) {
            int16_t cycles = load_latency(&l->core, n->load_cycles[v], caches);
            for (unsigned i = g * GROUP_LANES; i < (g + 1) * GROUP_LANES; i++)
                x->lane[i] = (int16_t)(t->lane[i] + cycles);
        }
        if (n->arrival_distance[v])
            raise_group(x, g, arrival_before(l, n->arrival_distance[v]));
        if (n->second_distance[v] && caches > 1)
            raise_group(x, g, arrival_before(l, n->second_distance[v]));
    }
}

/* In lanes in which the matching store has not left the store buffer when the load issues, the load takes its data from
 * the store (x), or waits until the store has left. Then it issues again. */
INLINE void forward(struct lanes *restrict l, const struct contention_need *need, const struct graph_node *n,
                    struct row *restrict t, struct row *restrict x)
{
    uint32_t store = (l->stores + 1 - n->match) & l->store_mask;
    const struct row *left = &l->left[store], *data = &l->data[store];
    bool whole = n->flags & NODE_WHOLE;
    int16_t latency = (int16_t)(whole ? l->core.forward_latency : l->core.latency[LEVEL_L1]);
    struct row again, in; /* when it issues again; mask of lanes in which the store is in the queue */
    ALL_LANES(i)
    {
        int16_t known = whole ? data->lane[i] : (int16_t)(left->lane[i] + 1);
        in.lane[i] = left->lane[i] >= t->lane[i] ? -1 : 0;
        again.lane[i] = later(t->lane[i], known);
    }
    ALL_LANES(i)
    again.lane[i] = in.lane[i] ? again.lane[i] : t->lane[i];
    issue_again(l, need, t, &again);
    ALL_LANES(i)
    {
        int16_t mask = in.lane[i];
        x->lane[i] = (int16_t)((mask & (again.lane[i] + latency)) | (~mask & x->lane[i]));
        t->lane[i] = (int16_t)((mask & again.lane[i]) | (~mask & t->lane[i]));
    }
}

/* Whether the access requests a line in the group, so that it takes an MSHR. */
INLINE bool takes_mshr(const struct graph_node *n, unsigned group)
{
    return group % DATA_CACHES && n->requests >> group / DATA_CACHES & 1;
}

/* A judge finds an MSHR for an access at the times in `t`. */
static struct contention_wait find_mshr(struct lanes *l, const struct graph_node *n, unsigned judge,
                                        const struct row *t)
{
    struct contention *c = &l->judge[judge];
    const struct contention_need *need = &l->limits.need[n->class];
    uint64_t when = time_of(l, t, l->judge_lane[judge]);
    if (!(n->flags & NODE_LOAD))
        return contention_await_mshr(c, l->core.mshrs, when, l->arrivals + 1);
    struct contention_wait w = contention_retry(c, &l->limits, need, l->core.mshrs, when, l->arrivals + 1);
    l->slack += w.delay;
    return w;
}

/* The time until which an access in a lane waits that waits like its judge. */
INLINE int16_t mshr_time(const struct lanes *l, const struct contention_wait *w, unsigned lane)
{
    return w->distance ? after(arrival_before(l, w->distance)->lane[lane], (int)w->delay) : TIME_LEAST;
}

/* Misses begin at the times in `t`, or later if all MSHRs are in use. */
static void await_mshr(struct lanes *l, const struct graph_node *n, struct row *t)
{
    for (unsigned g = 0; g < GROUPS; g++) {
        struct contention_wait waits[2];
        if (!takes_mshr(n, g))
            continue;
        for (unsigned k = 0; k < 2; k++)
            waits[k] = find_mshr(l, n, 2 * g + k, t);
        for (unsigned i = g * GROUP_LANES; i < (g + 1) * GROUP_LANES; i++)
            t->lane[i] = later(t->lane[i], mshr_time(l, &waits[l->late_front.lane[i] & 1], i));
    }
}

/* Misses begin at the times in `t` and end at the times in `x`. */
static void add_miss(struct lanes *l, const struct graph_node *n, const struct row *t, const struct row *x)
{
    for (unsigned j = 0; j < JUDGES; j++) {
        unsigned lane = l->judge_lane[j];
        if (takes_mshr(n, j / 2))
            contention_add_miss(&l->judge[j], l->core.mshrs, time_of(l, t, lane), time_of(l, x, lane), l->arrivals + 1);
    }
}

/* A store has computed its address at t + 1, and completes when its data is known, too. Loads wait until an atomic has
 * completed. */
INLINE void store_completes(struct lanes *restrict l, const struct graph_node *n, const struct row *restrict t,
                            struct row *restrict x)
{
    bool late = n->flags & NODE_LATE_DATA, loads = n->flags & NODE_LOAD;
    const struct row *source = late ? &l->reg[n->source[1]] : &l->never;
    struct row *data = &l->data[(l->stores + 1) & l->store_mask];
    ALL_LANES(i)
    {
        int16_t address = after(t->lane[i], 1), done = loads ? x->lane[i] : later(address, source->lane[i]);
        l->known.lane[i] = later(l->known.lane[i], loads ? done : address);
        data->lane[i] = late ? source->lane[i] : done;
        x->lane[i] = done;
    }
}

/* The store commits, as soon as the store buffer has room, and leaves through the store buffer. */
INLINE void drain(struct lanes *restrict l, const struct graph_node *n, struct row *restrict c)
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
        await_mshr(l, n, &l->access);
    for (unsigned g = 0; g < GROUPS; g++) {
        unsigned caches = g % DATA_CACHES, cycles = n->drain_cycles[g / DATA_CACHES],
                 second = l->core.latency[LEVEL_L2];
        cycles = caches == 0 ? 1 : caches == 1 && cycles > second ? second : cycles;
        bool waits = caches && !(n->flags & NODE_LOAD);
        const struct row *line = arrival_before(l, waits ? n->arrival_distance[g / DATA_CACHES] : 0);
        if (waits && caches > 1 && n->second_distance[g / DATA_CACHES])
            line = arrival_before(l, n->second_distance[g / DATA_CACHES]);
        for (unsigned i = g * GROUP_LANES; i < (g + 1) * GROUP_LANES; i++) {
            int16_t done = later(after(l->access.lane[i], (int)cycles), line->lane[i]);
            l->leave.lane[i] = later(l->leave.lane[i], done);
            left->lane[i] = l->leave.lane[i];
            if (misses)
                arrival->lane[i] = done;
        }
    }
    if (misses)
        add_miss(l, n, &l->access, arrival);
}

/* A load at the times in `t` uses a line that a prefetcher has proposed. If the prefetch is made and the load comes
 * before it, the load waits for the prefetch, or for an MSHR. In the lanes of a judge in which there was no MSHR for
 * the prefetch, the load requests the line, as soon as there is an MSHR. `x` is when the data can be used. */
static void use_proposed(struct lanes *l, const struct graph_node *n, struct row *t, struct row *x)
{
    const struct row *arrival = arrival_before(l, n->used_distance);
    const struct row *asked = arrival_before(l, n->used_distance + 1);
    uint16_t made = l->made[(l->arrivals + 1 - n->used_distance) % GRAPH_ARRIVALS][n->used_line];
    int16_t first = (int16_t)l->core.latency[LEVEL_L1];
    for (unsigned g = 0; g < GROUPS; g++) {
        struct contention_wait waits[2] = {{0}, {0}};
        int16_t cycles = load_latency(&l->core, n->load_cycles[g / DATA_CACHES], g % DATA_CACHES);
        if (g % DATA_CACHES == 0)
            continue;
        for (unsigned k = 0; k < 2; k++) {
            unsigned j = 2 * g + k;
            uint64_t when = time_of(l, t, l->judge_lane[j]);
            uint64_t prefetch = time_of(l, asked, l->judge_lane[j]);
            if (made >> j & 1 && (int64_t)(prefetch - when) > 0 &&
                contention_mshr_free(&l->judge[j], l->core.mshrs, when) < prefetch)
                made &= (uint16_t) ~(1 << j);
            if (!(made >> j & 1))
                waits[k] = find_mshr(l, n, j, t);
        }
        for (unsigned i = g * GROUP_LANES; i < (g + 1) * GROUP_LANES; i++) {
            unsigned k = l->late_front.lane[i] & 1;
            if (made >> (2 * g + k) & 1) {
                t->lane[i] = later(t->lane[i], asked->lane[i]);
                x->lane[i] = later(after(t->lane[i], first), arrival->lane[i]);
            } else {
                t->lane[i] = later(t->lane[i], mshr_time(l, &waits[k], i));
                x->lane[i] = after(t->lane[i], cycles);
            }
        }
        if (n->second_distance[g / DATA_CACHES] && g % DATA_CACHES > 1)
            raise_group(x, g, arrival_before(l, n->second_distance[g / DATA_CACHES]));
        for (unsigned j = 2 * g; j < 2 * g + 2; j++) {
            unsigned lane = l->judge_lane[j];
            if (!(made >> j & 1))
                contention_add_miss(&l->judge[j], l->core.mshrs, time_of(l, t, lane), time_of(l, x, lane),
                                    l->arrivals + 1);
        }
    }
}

/* Decides in which judges the lines that an access at the times in `t` proposes find MSHRs. They come with arrival
 * `number`. */
static void make_prefetches(struct lanes *l, const struct graph_node *n, const struct row *t, uint32_t number)
{
    const struct row *a = &l->arrival[number % GRAPH_ARRIVALS];
    uint16_t *made = l->made[number % GRAPH_ARRIVALS];
    for (unsigned k = 0; k < PREFETCH_LINES; k++)
        made[k] = 0;
    for (unsigned j = 0; j < JUDGES; j++) {
        unsigned lane = l->judge_lane[j], caches = j / 2 % DATA_CACHES;
        uint64_t begin = time_of(l, t, lane);
        uint64_t end = time_of(l, a, lane);
        for (unsigned k = 0; caches && k < n->prefetch_lines; k++) {
            if (contention_mshr_free(&l->judge[j], l->core.mshrs, begin) > begin)
                break;
            made[k] |= (uint16_t)(1 << j);
            contention_add_miss(&l->judge[j], l->core.mshrs, begin, end, number);
        }
    }
}

/* Lines that take these cycles with real data caches are requested at the times in `t`. */
static void arrive_after(const struct lanes *l, struct row *a, const struct row *t, unsigned cycles)
{
    for (unsigned g = 0; g < GROUPS; g++) {
        int16_t c = load_latency(&l->core, cycles, g % DATA_CACHES);
        for (unsigned i = g * GROUP_LANES; i < (g + 1) * GROUP_LANES; i++)
            a->lane[i] = (int16_t)(t->lane[i] + c);
    }
}

/* Lines that an access at the times in `t` makes prefetchers request will arrive. */
static void prefetch_data(struct lanes *l, const struct graph_node *n, const struct row *t)
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
        if (g % DATA_CACHES > 1)
            raise_group(a, g, &l->arrival[(number - n->prefetch_second_distance) % GRAPH_ARRIVALS]);
    make_prefetches(l, n, t, number);
}

/* ---- one instruction */

INLINE void fetch_and_dispatch(struct lanes *restrict l, const struct graph_node *n, const struct contention_need *need,
                               struct row *d)
{
    const struct graph_core *c = &l->core;
    begin_fetch(&l->fetched, &l->new_group[n->new_group], dispatched_before(l, c->front_size));
    wait_in_fetch(l, n);
    struct dispatch_edges e = {.fetched = &l->fetched,
                               .decode_width = decoded_before(l, c->decode_width),
                               .order = dispatched_before(l, 1),
                               .width = dispatched_before(l, c->dispatch_width),
                               .room = committed_before(l, n->room)};
    dispatch(&l->decoded[l->insns % DECODED], d, &e, c->front_stages);
    if (l->limits.has_queues)
        enter_queues(l, need, d);
}

/* Instructions that lack their translation at the times in `t` issue again when they have it. */
static void await_translation(struct lanes *l, const struct graph_node *n, const struct contention_need *need,
                              struct row *t)
{
    struct row again = *t;
    add_predicted(&again, &l->dtlb, n->dtlb_cycles);
    if (n->walks)
        l->walked[++l->walks % GRAPH_WALKS] = again;
    for (unsigned g = 0; g < GROUPS; g++) {
        unsigned distance = n->walk_distance[g / DATA_CACHES];
        const struct row *walked = &l->walked[(l->walks - n->walks + 1 - distance) % GRAPH_WALKS];
        for (unsigned i = g * GROUP_LANES; distance && i < (g + 1) * GROUP_LANES; i++)
            again.lane[i] = later(again.lane[i], l->dtlb.lane[i] ? walked->lane[i] : TIME_LEAST);
    }
    issue_again(l, need, t, &again);
    *t = again;
}

/* Sets `t` to the time of issue, with the translation of the address. */
INLINE void become_ready(struct lanes *restrict l, const struct graph_node *n, const struct contention_need *need,
                         const struct row *d, struct row *t)
{
    const struct row *second = n->flags & NODE_LATE_DATA ? &l->never : &l->reg[n->source[1]];
    await_operands(t, d, &l->reg[n->source[0]], second, n->flags & NODE_LOAD ? &l->known : &l->reg[n->source[2]]);
    if (n->flags & NODE_AT_HEAD) {
        raise(t, committed_before(l, 1));
        if (n->flags & NODE_STORE)
            ALL_LANES(i)
        t->lane[i] = later(t->lane[i], after(l->leave.lane[i], 1));
    }
    issue(l, need, t);
    if (n->walks | n->walk_distance[0] | n->walk_distance[1])
        await_translation(l, n, need, t);
}

/* Sets `x` to the time of completion. */
INLINE void execute(struct lanes *restrict l, const struct graph_node *n, const struct contention_need *need,
                    struct row *restrict t, struct row *restrict x)
{
    if (n->flags & NODE_LOAD) {
        bool misses = n->requests && !n->match;
        if (misses)
            await_mshr(l, n, t);
        load(l, n, t, x);
        if (misses)
            add_miss(l, n, t, x);
        if (n->used_distance && !n->match)
            use_proposed(l, n, t, x);
        if (n->match)
            forward(l, need, n, t, x);
        if (n->arrives)
            l->arrival[(l->arrivals + 1) % GRAPH_ARRIVALS] = *x;
        if (n->prefetch_cycles | n->second_prefetch_cycles)
            prefetch_data(l, n, t);
    } else if (!(n->flags & NODE_STORE)) {
        int16_t latency = (int16_t)l->core.timing[n->class].latency;
        ALL_LANES(i)
        x->lane[i] = (int16_t)(t->lane[i] + latency);
    }
    if (n->flags & NODE_STORE)
        store_completes(l, n, t, x);
    if (l->limits.has_queues)
        leave_queues(l, need, t);
    if (n->dest)
        l->reg[n->dest] = *x;
}

INLINE void commit(struct lanes *restrict l, const struct graph_node *n, const struct row *restrict x)
{
    struct row *restrict c = committed_at(l, l->insns);
    const struct row *order = committed_before(l, 1), *width = committed_before(l, l->core.commit_width);
    ALL_LANES(i)
    c->lane[i] = later(later(after(x->lane[i], 1), order->lane[i]), after(width->lane[i], 1));
    if (n->flags & NODE_STORE)
        drain(l, n, c);
    if ((n->prefetch_cycles | n->second_prefetch_cycles) && !(n->flags & NODE_LOAD))
        prefetch_data(l, n, &l->access);
}

/* With real prediction, the wrong path of a branch that resolves at the times in `x` keeps a unit busy. */
static void occupy_unit(struct lanes *l, const struct graph_node *n, const struct row *x)
{
    for (unsigned j = 0; j < JUDGES; j++)
        if (l->branch.lane[l->judge_lane[j]])
            contention_occupy(&l->judge[j], &l->limits, field_of_slot(n->wrong_path.pool, 1),
                              time_of(l, x, l->judge_lane[j]), n->wrong_path.cycles);
}

INLINE void evaluate(struct lanes *restrict l, const struct graph_node *n)
{
    const struct contention_need *need = &l->limits.need[n->class];
    struct row *d = dispatched_at(l, l->insns), *t = issued_at(l, l->insns);
    fetch_and_dispatch(l, n, need, d);
    become_ready(l, n, need, d, t);
    execute(l, n, need, t, &l->result);
    if (n->wrong_path.cycles)
        occupy_unit(l, n, &l->result);
    commit(l, n, &l->result);
    l->arrivals += node_arrivals(n);
    l->after_mispredicted = n->flags & NODE_MISPREDICTED;
    l->after_serial = n->flags & NODE_SERIAL;
    l->insns++;
}

/* ---- all instructions */

static unsigned most(const uint16_t cycles[PREDICTIONS])
{
    return cycles[0] > cycles[1] ? cycles[0] : cycles[1];
}

/* How much later than all times before it the times of this node may be, without contention. */
static unsigned growth(const struct graph_core *c, const struct graph_node *n)
{
    enum { STEPS = 8 }; /* single cycles between the stages */
    unsigned fetch =
        most(n->itlb_cycles) + n->misfetch_cycles + most(n->l1i_cycles) + most(n->l2i_cycles) + c->front_stages;
    unsigned result = most(n->dtlb_cycles) + most(n->load_cycles) + c->latency[LEVEL_L1] + c->forward_latency;
    fetch += n->fetch_prefetch_cycles;
    result += n->prefetch_cycles + n->second_prefetch_cycles;
    return fetch + result + c->timing[n->class].latency + most(n->drain_cycles) + STEPS;
}

/* Evaluates as many nodes as times can grow for. Returns their number. */
FOR_EACH_HOST static unsigned evaluate_some(struct lanes *l, const struct graph_node *n, unsigned count)
{
    unsigned i = 0;
    for (; i < count; i++) {
        unsigned by = growth(&l->core, &n[i]);
        if (l->slack + by > SLACK_MOST)
            break;
        l->slack += by;
        evaluate(l, &n[i]);
    }
    return i;
}

void lanes_evaluate(struct lanes *l, const struct graph_node *n, unsigned count)
{
    while (count) {
        unsigned done = evaluate_some(l, n, count);
        n += done;
        count -= done;
        if (count == 0)
            break;
        if (lanes_latest_time(l) >= TIME_MOST)
            lanes_move_bases(l);
        l->slack = 0;
    }
}
