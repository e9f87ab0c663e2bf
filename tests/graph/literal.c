#include <stdlib.h>

#include "graph/literal_priv.h"

/* The set that judges contention for a set: D-TLB and I-TLB are real, the instruction caches are both real or both
 * perfect.
 */
static unsigned judge_of(unsigned real)
{
    unsigned caches = real & GRAPH_L1I ? GRAPH_L1I | GRAPH_L2I : 0;
    return real | caches | GRAPH_ITLB | GRAPH_DTLB;
}

/* ---- contention, judged or taken from the judge */

static int64_t issue(struct evaluation *e, const struct graph_node *n, int64_t when, uint16_t *delay)
{
    if (e->judges) {
        uint64_t at = contention_issue(&e->contention, &e->limits, &e->limits.need[n->class], (uint64_t)when);
        *delay = (uint16_t)(at - (uint64_t)when);
    }
    return when + *delay;
}

static int64_t enter(struct evaluation *e, const struct graph_node *n, uint64_t i, int64_t when)
{
    struct verdict *v = &e->verdict[i];
    if (e->judges)
        v->room = (uint16_t)contention_enter(&e->contention, &e->limits.need[n->class], (uint64_t)when, i);
    return v->room && v->room <= i ? later(when, e->times[i - v->room].issued) : when;
}

/* An access that misses begins at `when`, or as soon as there is a free MSHR. */
static int64_t await_mshr(struct evaluation *e, uint64_t i, int64_t when, bool requests)
{
    struct verdict *v = &e->verdict[i];
    uint32_t number = (uint32_t)e->arrivals + 1;
    const struct graph_node *n = &e->nodes[i];
    bool load = n->flags & NODE_LOAD;
    if (!(e->real & GRAPH_L1D) || !requests)
        return when;
    if (e->judges)
        v->committed_at = e->end - 1;
    if (!load && v->committed_at > e->end - 1)
        return when; /* the bundle of the judge commits later */
    if (e->judges)
        v->mshr = load ? contention_retry(&e->contention, &e->limits, &e->limits.need[n->class], e->core->mshrs,
                                          (uint64_t)when, number)
                       : contention_await_mshr(&e->contention, e->core->mshrs, (uint64_t)when, number);
    return v->mshr.distance ? later(when, e->arrival[number - v->mshr.distance] + v->mshr.delay) : when;
}

static void add_miss(struct evaluation *e, int64_t begin, int64_t end, bool requests)
{
    if (e->judges && e->real & GRAPH_L1D && requests)
        contention_add_miss(&e->contention, e->core->mshrs, (uint64_t)begin, (uint64_t)end, (uint32_t)e->arrivals + 1);
}

/* ---- stages */

static int64_t decode(const struct evaluation *e, uint64_t i, int64_t fetched)
{
    unsigned width = e->core->decode_width;
    return later(fetched + e->core->front_stages, i >= width ? e->times[i - width].decoded + 1 : LONG_AGO);
}

static int64_t dispatch(struct evaluation *e, const struct graph_node *n, uint64_t i, int64_t decoded)
{
    const struct literal_times *t = e->times;
    unsigned width = e->core->dispatch_width;
    int64_t d = decoded;
    if (i)
        d = later(d, t[i - 1].dispatched);
    if (i >= width)
        d = later(d, t[i - width].dispatched + 1);
    if (n->room)
        d = later(d, t[i - n->room].committed);
    return enter(e, n, i, d);
}

/* An instruction that lacks its translation at time t issues again when it has it. Returns when it last issues. */
static int64_t translate(struct evaluation *e, const struct graph_node *n, uint64_t i, int64_t t)
{
    unsigned v = prediction(e);
    uint64_t before = e->walks;
    int64_t again = t + (e->real & GRAPH_DTLB ? n->dtlb_cycles[v] : 0);
    if (n->walks)
        e->walked[++e->walks] = again;
    if (n->walk_distance[v] && e->real & GRAPH_DTLB)
        again = later(again, e->walked[before + 1 - n->walk_distance[v]]);
    return again > t ? issue(e, n, again, &e->verdict[i].retry) : t;
}

static int64_t first_issue(struct evaluation *e, const struct graph_node *n, uint64_t i, int64_t dispatched)
{
    int64_t t = later(dispatched + 1, e->reg[n->source[0]]);
    if (!(n->flags & NODE_LATE_DATA))
        t = later(t, e->reg[n->source[1]]);
    t = later(t, n->flags & NODE_LOAD ? (e->core->any_order ? LONG_AGO : e->known) : e->reg[n->source[2]]);
    if (n->flags & NODE_AT_HEAD && !e->core->any_order) {
        t = later(t, i ? e->times[i - 1].committed : LONG_AGO);
        if (n->flags & NODE_STORE)
            t = later(t, e->leave + 1);
    }
    t += n->unit_wait.wrong_path && !(e->real & GRAPH_BRANCH) ? 0 : n->unit_wait.cycles;
    t = issue(e, n, t, &e->verdict[i].issue);
    return translate(e, n, i, t);
}

/* The latency of a line that takes these cycles if both data caches are real. The L1D is. */
static unsigned data_latency(const struct evaluation *e, unsigned cycles)
{
    unsigned first = e->core->latency[LEVEL_L1], second = e->core->latency[LEVEL_L2];
    return cycles < first ? first : cycles > second && !(e->real & GRAPH_L2D) ? second : cycles;
}

/* Whether data comes from the L2 that comes from beyond it if both data caches are real. */
static bool second_has_data(const struct evaluation *e, const struct graph_node *n)
{
    return !(e->real & GRAPH_L2D) || (n->data_alone && !(e->real & GRAPH_L2I));
}

/* When a load has its data from the caches. */
static int64_t from_cache(const struct evaluation *e, const struct graph_node *n, int64_t t)
{
    unsigned v = prediction(e), first = e->core->latency[LEVEL_L1], second = e->core->latency[LEVEL_L2];
    unsigned cycles = n->load_cycles[v];
    if (!(e->real & GRAPH_L1D))
        return t + first;
    if (n->late_distance && !(e->real & GRAPH_L2D))
        return later(t + first, e->arrival[e->arrivals + 1 - n->late_distance]);
    if (cycles > second && second_has_data(e, n))
        cycles = second;
    int64_t x = t + (n->load_cycles[v] && cycles > first ? cycles : first);
    if (n->arrival_distance[v])
        x = later(x, e->arrival[e->arrivals + 1 - n->arrival_distance[v]]);
    if (n->second_distance[v] && e->real & GRAPH_L2D)
        x = later(x, e->arrival[e->arrivals + 1 - n->second_distance[v]]);
    return x;
}

/* A load that uses a line that a prefetcher has proposed. Like `load`. */
static int64_t use_proposed(struct evaluation *e, const struct graph_node *n, uint64_t i, int64_t *t)
{
    unsigned first = e->core->latency[LEVEL_L1];
    unsigned cycles = data_latency(e, n->load_cycles[prediction(e)]);
    int64_t arrival = e->arrival[e->arrivals + 1 - n->used_distance];
    int64_t prefetch = e->arrival[e->arrivals - n->used_distance];
    unsigned distance = n->second_distance[prediction(e)];
    int64_t second = distance && e->real & GRAPH_L2D ? e->arrival[e->arrivals + 1 - distance] : LONG_AGO;
    struct verdict *v = &e->verdict[i];
    if (n->used_really == USED_THERE && prediction(e) == PREDICTION_REAL && e->real & GRAPH_L2D)
        return *t + first;
    if (e->judges) {
        v->merges = e->made[e->arrivals + 1 - n->used_distance] >> n->used_line & 1;
        v->merges &=
            prefetch <= *t || (int64_t)contention_mshr_free(&e->contention, e->core->mshrs, (uint64_t)*t) >= prefetch;
        if (e->real & GRAPH_L2D && n->used_really != USED_UNKNOWN)
            v->merges = n->used_really != USED_REQUESTED;
    }
    if (v->merges) {
        *t = later(*t, prefetch);
        return later(later(*t + first, arrival), second);
    }
    *t = await_mshr(e, i, *t, true);
    int64_t x = later(*t + cycles, second);
    add_miss(e, *t, x, true);
    return x;
}

/* How long a load that requests its line waits for MSHRs that younger ones have. */
static int64_t wait_for_younger(const struct evaluation *e, const struct graph_node *n)
{
    unsigned real = GRAPH_L1D | GRAPH_L2D;
    if (n->mshr_wait.wrong_path)
        real |= GRAPH_BRANCH;
    if (n->mshr_translated)
        real |= GRAPH_DTLB;
    return (e->real & real) == real ? n->mshr_wait.cycles : 0;
}

/* A load: sets *t to its last issue and returns when it has its data. */
static int64_t load(struct evaluation *e, const struct graph_node *n, uint64_t i, int64_t *t)
{
    uint64_t store = e->stores + 1 - n->match;
    if (!n->match && n->used_distance && e->real & GRAPH_L1D)
        return use_proposed(e, n, i, t);
    if (!n->match) {
        bool requests = n->requests >> prediction(e) & 1;
        *t += requests ? wait_for_younger(e, n) : 0;
        *t = await_mshr(e, i, *t, requests);
        int64_t x = from_cache(e, n, *t);
        add_miss(e, *t, x, requests);
        return x;
    }
    bool same_bundle = e->core->bundle && e->store_insn[store] >= e->first;
    if (!same_bundle && e->left[store] < *t)
        return from_cache(e, n, *t);
    bool whole = n->flags & NODE_WHOLE;
    int64_t again = later(*t, whole || same_bundle ? e->data[store] : e->left[store] + 1);
    if (again > *t)
        again = issue(e, n, again, &e->verdict[i].again);
    *t = again;
    if (!whole && same_bundle)
        return again + e->core->forward_latency + e->core->latency[LEVEL_L1];
    return whole ? again + e->core->forward_latency : from_cache(e, n, again);
}

static int64_t store(struct evaluation *e, const struct graph_node *n, int64_t t, int64_t loaded)
{
    bool late = n->flags & NODE_LATE_DATA;
    int64_t source = late ? e->reg[n->source[1]] : LONG_AGO;
    int64_t done = n->flags & NODE_LOAD ? loaded : later(t + 1, source);
    e->known = later(e->known, n->flags & NODE_LOAD ? loaded : t + 1);
    e->data[e->stores + 1] = late ? source : done;
    return done;
}

/* Decides which of the lines that an access at time t proposes find MSHRs. */
static void make_prefetches(struct evaluation *e, const struct graph_node *n, int64_t t, uint64_t number)
{
    if (!e->judges || !(e->real & GRAPH_L1D))
        return;
    e->made[number] = 0;
    for (unsigned k = 0; k < n->prefetch_lines; k++) {
        if (contention_mshr_free(&e->contention, e->core->mshrs, (uint64_t)t) > (uint64_t)t)
            break;
        e->made[number] |= (uint8_t)(1 << k);
        contention_add_miss(&e->contention, e->core->mshrs, (uint64_t)t, (uint64_t)e->arrival[number],
                            (uint32_t)number);
    }
}

/* Lines that an access at time t makes prefetchers request. */
static void prefetch_data(struct evaluation *e, const struct graph_node *n, int64_t t)
{
    uint64_t number = e->arrivals + n->arrives;
    unsigned first = e->core->latency[LEVEL_L1];
    if (n->second_prefetch_cycles)
        e->arrival[++number] = t + (e->real & GRAPH_L1D ? data_latency(e, n->second_prefetch_cycles) : first);
    if (!n->prefetch_cycles)
        return;
    e->arrival[++number] = t;
    e->arrival[++number] = t + (e->real & GRAPH_L1D ? data_latency(e, n->prefetch_cycles) : first);
    if (n->prefetch_second_distance && e->real & GRAPH_L2D)
        e->arrival[number] = later(e->arrival[number], e->arrival[number - n->prefetch_second_distance]);
    make_prefetches(e, n, t, number);
}

static int64_t execute(struct evaluation *e, const struct graph_node *n, uint64_t i, int64_t *t)
{
    int64_t x = *t + e->core->timing[n->class].latency;
    if (n->flags & NODE_LOAD) {
        x = load(e, n, i, t);
        if (n->arrives)
            e->arrival[e->arrivals + 1] = x;
        prefetch_data(e, n, *t);
    }
    if (n->flags & NODE_STORE)
        x = store(e, n, *t, x);
    if (e->judges)
        contention_leave(&e->contention, &e->limits.need[n->class], (uint64_t)*t, i);
    if (e->judges && e->real & GRAPH_BRANCH)
        contention_occupy(&e->contention, &e->limits, field_of_slot(n->wrong_path.pool, 1), (uint64_t)x,
                          n->wrong_path.cycles);
    if (n->dest)
        e->reg[n->dest] = x;
    return x;
}

/* When the line of a store arrives that another access brings. */
static int64_t line_of_store(const struct evaluation *e, const struct graph_node *n)
{
    unsigned distance = n->arrival_distance[prediction(e)], second = n->second_distance[prediction(e)];
    if (n->flags & NODE_LOAD || !(e->real & GRAPH_L1D))
        return LONG_AGO;
    if (n->late_distance && !(e->real & GRAPH_L2D))
        return e->arrival[e->arrivals + 1 - n->late_distance];
    if (second && e->real & GRAPH_L2D)
        distance = second;
    return distance ? e->arrival[e->arrivals + 1 - distance] : LONG_AGO;
}

/* When the store buffer has room for store `number`. */
static int64_t room_for_store(const struct evaluation *e, uint64_t number)
{
    return number > e->core->store_buffer_size ? e->left[number - e->core->store_buffer_size] + 1 : LONG_AGO;
}

/* Store `number` commits at time c and leaves through the store buffer. */
static void drain(struct evaluation *e, const struct graph_node *n, uint64_t i, uint64_t number, int64_t c)
{
    unsigned second = e->core->latency[LEVEL_L2];
    unsigned cycles = e->real & GRAPH_L1D ? n->drain_cycles[prediction(e)] : 1;
    if (n->late_distance && !(n->flags & NODE_LOAD) && !(e->real & GRAPH_L2D))
        cycles = 1;
    if (cycles > second && second_has_data(e, n))
        cycles = second;
    e->access = later(e->access, c);
    bool requests = n->requests >> prediction(e) & 1;
    if (!(n->flags & NODE_LOAD))
        e->access = await_mshr(e, i, e->access, requests);
    int64_t done = later(e->access + cycles, line_of_store(e, n));
    e->leave = e->left[number] = later(e->leave, done);
    if (n->requests && !(n->flags & NODE_LOAD)) {
        e->arrival[e->arrivals + 1] = done;
        add_miss(e, e->access, done, requests);
    }
    if (!(n->flags & NODE_LOAD))
        prefetch_data(e, n, e->access);
}

static int64_t commit(struct evaluation *e, const struct graph_node *n, uint64_t i, int64_t completed)
{
    const struct literal_times *t = e->times;
    unsigned width = e->core->commit_width;
    int64_t c = completed + 1;
    if (i)
        c = later(c, t[i - 1].committed);
    if (i >= width)
        c = later(c, t[i - width].committed + 1);
    if (!(n->flags & NODE_STORE))
        return c;
    e->stores++;
    c = later(c, room_for_store(e, e->stores));
    drain(e, n, i, e->stores, c);
    return c;
}

/* ---- bundles */

static void fetch_next(struct evaluation *e)
{
    uint64_t i = e->fetched++;
    e->times[i].fetched = literal_fetch(e, &e->nodes[i], i);
    e->times[i].decoded = decode(e, i, e->times[i].fetched);
}

/* Finds which instructions are in the bundle that begins with e->first; e->end is behind the last. Returns its
 * dispatch. */
static int64_t form_bundle(struct evaluation *e, uint64_t count)
{
    const struct literal_times *t = e->times;
    uint64_t i = e->first, slots = e->core->rob_size / e->core->bundle;
    if (e->fetched == i)
        fetch_next(e);
    int64_t d = t[i].decoded;
    if (i)
        d = later(d, t[i - 1].dispatched + 1);
    if (e->bundles >= slots)
        d = later(d, e->freed[e->bundles - slots]);
    if (e->nodes[i].room)
        d = later(d, t[i - e->nodes[i].room].committed);
    for (i++; i < count && i < e->first + e->core->bundle; i++) {
        if (e->nodes[i - 1].flags & NODE_ENDS_BUNDLE || e->nodes[i].flags & NODE_AT_HEAD)
            break;
        if (e->fetched == i)
            fetch_next(e);
        if (t[i].decoded > d)
            break;
        if (e->nodes[i].room)
            d = later(d, t[i - e->nodes[i].room].committed);
    }
    e->end = i;
    return d;
}

/* All instructions of the bundle commit, and its stores leave. */
static void commit_bundle(struct evaluation *e)
{
    int64_t c = e->bundles ? e->freed[e->bundles - 1] + 1 : LONG_AGO;
    uint64_t arrivals = e->arrivals, number = e->stores;
    for (uint64_t i = e->first; i < e->end; i++) {
        c = later(c, e->times[i].completed + 1);
        if (e->nodes[i].flags & NODE_STORE)
            c = later(c, room_for_store(e, ++number));
    }
    e->freed[e->bundles++] = c;
    for (uint64_t i = e->first; i < e->end; i++) {
        e->times[i].committed = c;
        e->arrivals = e->arrivals_at[i];
        if (e->nodes[i].flags & NODE_STORE)
            drain(e, &e->nodes[i], i, ++e->stores, c);
    }
    e->arrivals = arrivals;
}

static void evaluate_bundles(struct evaluation *e, uint64_t count)
{
    for (e->first = 0; e->first < count; e->first = e->end) {
        int64_t d = form_bundle(e, count);
        uint64_t stores = e->stores;
        for (uint64_t i = e->first; i < e->end; i++) {
            const struct graph_node *n = &e->nodes[i];
            struct literal_times *t = &e->times[i];
            t->dispatched = d = enter(e, n, i, d);
            t->issued = first_issue(e, n, i, t->dispatched);
            e->arrivals_at[i] = e->arrivals;
            t->completed = execute(e, n, i, &t->issued);
            e->arrivals += node_arrivals(n);
            if (n->flags & NODE_STORE)
                e->store_insn[++e->stores] = i;
        }
        e->stores = stores;
        commit_bundle(e);
    }
}

static void evaluate(struct evaluation *e, uint64_t count)
{
    for (unsigned r = 0; r < 64; r++)
        e->reg[r] = LONG_AGO;
    e->known = e->access = e->leave = LONG_AGO;
    e->stores = e->arrivals = e->fetch_arrivals = e->walks = 0;
    e->fetched = e->bundles = e->wrong_paths = 0;
    for (unsigned k = 0; k < FETCH_MSHRS_MOST; k++)
        e->fetch_mshr[k] = LONG_AGO;
    e->fetch_bus = LONG_AGO;
    for (uint64_t i = 0; i <= 4 * count; i++)
        e->arrival[i] = LONG_AGO;
    if (e->core->bundle) {
        evaluate_bundles(e, count);
        return;
    }
    for (uint64_t i = 0; i < count; i++) {
        const struct graph_node *n = &e->nodes[i];
        struct literal_times *t = &e->times[i];
        t->fetched = literal_fetch(e, n, i);
        t->decoded = decode(e, i, t->fetched);
        t->dispatched = dispatch(e, n, i, t->decoded);
        t->issued = first_issue(e, n, i, t->dispatched);
        t->completed = execute(e, n, i, &t->issued);
        t->committed = commit(e, n, i, t->completed);
        e->arrivals += node_arrivals(n);
    }
}

static void *allocate(uint64_t count, size_t size)
{
    void *p = calloc(count + 2, size);
    if (p == NULL)
        abort();
    return p;
}

/* Evaluates a set after the set that judges contention for it. */
static uint64_t evaluate_judged(const struct graph_core *c, const struct graph_node *nodes, uint64_t count,
                                unsigned real, unsigned judge, struct literal_times *times)
{
    struct evaluation e = {.core = c, .nodes = nodes, .real = judge, .judges = true, .times = times};
    e.verdict = allocate(count, sizeof *e.verdict);
    e.data = allocate(count, sizeof *e.data);
    e.left = allocate(count, sizeof *e.left);
    e.arrival = allocate(4 * count, sizeof *e.arrival);
    e.fetch_arrival = allocate(count, sizeof *e.fetch_arrival);
    e.fetch_made = allocate(count, sizeof *e.fetch_made);
    e.walked = allocate(count, sizeof *e.walked);
    e.wrong_path = allocate(count, sizeof *e.wrong_path);
    e.wrong_arrivals = allocate(count, sizeof *e.wrong_arrivals);
    e.made = allocate(4 * count, sizeof *e.made);
    e.freed = allocate(count, sizeof *e.freed);
    e.store_insn = allocate(count, sizeof *e.store_insn);
    e.arrivals_at = allocate(count, sizeof *e.arrivals_at);
    contention_limits_init(&e.limits, c);
    contention_init(&e.contention, &e.limits);
    evaluate(&e, count);
    e.judges = false;
    if (real != e.real) {
        e.real = real;
        evaluate(&e, count);
    }
    free(e.verdict);
    free(e.data);
    free(e.left);
    free(e.arrival);
    free(e.fetch_arrival);
    free(e.fetch_made);
    free(e.walked);
    free(e.wrong_path);
    free(e.wrong_arrivals);
    free(e.made);
    free(e.freed);
    free(e.store_insn);
    free(e.arrivals_at);
    return count ? (uint64_t)times[count - 1].committed : 0;
}

uint64_t literal_evaluate(const struct graph_core *c, const struct graph_node *nodes, uint64_t count, unsigned real,
                          struct literal_times *times)
{
    return evaluate_judged(c, nodes, count, real, judge_of(real), times);
}

uint64_t literal_evaluate_alone(const struct graph_core *c, const struct graph_node *nodes, uint64_t count,
                                unsigned real, struct literal_times *times)
{
    return evaluate_judged(c, nodes, count, real, real, times);
}
