/* The literal evaluation of fetch: instruction lines, translations and mispredicted branches. */
#include "graph/literal_priv.h"

static enum fetch_variant fetch_variant(const struct evaluation *e)
{
    bool data = (e->real & (GRAPH_L1D | GRAPH_L2D)) == (GRAPH_L1D | GRAPH_L2D);
    return !(e->real & GRAPH_BRANCH) ? FETCH_PERFECT : data ? FETCH_REAL : FETCH_EARLY;
}

/* What instruction lines take beyond the L2. `alone`: it has them if it has no data. */
static unsigned beyond_second(const struct evaluation *e, unsigned cycles, unsigned alone)
{
    bool data = (e->real & (GRAPH_L1D | GRAPH_L2D)) == (GRAPH_L1D | GRAPH_L2D);
    return e->real & GRAPH_L2I && (data || !(alone >> fetch_variant(e) & 1)) ? cycles : 0;
}

/* Takes the MSHR for instruction lines that is free first. */
static void take_fetch_mshr(struct evaluation *e, int64_t until)
{
    unsigned k = 0;
    for (; k + 1 < e->core->fetch_mshrs && e->fetch_mshr[k + 1] < until; k++)
        e->fetch_mshr[k] = e->fetch_mshr[k + 1];
    e->fetch_mshr[k] = until;
}

/* When a line comes that takes these cycles beyond the L2: from memory, lines come one after the other. */
static int64_t await_bus(struct evaluation *e, int64_t arrival, unsigned cycles, unsigned alone)
{
    const struct graph_core *c = e->core;
    if (!c->bus_cycles || beyond_second(e, cycles, alone) + c->latency[LEVEL_L2] < c->latency[LEVEL_MEMORY])
        return arrival;
    return e->fetch_bus = later(arrival, e->fetch_bus + c->bus_cycles);
}

/* Fetch requests a line at time f, or as soon as it has an MSHR. Returns when the line is there. */
static int64_t request_line(struct evaluation *e, int64_t f, unsigned first, unsigned second, unsigned alone)
{
    f = later(f, e->fetch_mshr[0]) + first + beyond_second(e, second, alone);
    f = await_bus(e, f, second, alone);
    take_fetch_mshr(e, f + e->core->fetch_latency);
    return f;
}

/* Instruction lines that fetch waits for or requests at time f. */
static int64_t read_line(struct evaluation *e, const struct graph_node *n, int64_t f)
{
    unsigned v = fetch_variant(e);
    uint64_t number = e->fetch_arrivals + 1 - n->fetch_distance;
    if (n->fetch_awaits >> v & 1 && (!n->fetch_uses || e->fetch_made[number] > n->fetch_line))
        return later(f, e->fetch_arrival[number]);
    if (!(n->fetch_requests >> v & 1))
        return f;
    return request_line(e, f, n->fetch_demand, n->fetch_demand_second[v], n->demand_second_alone);
}

/* Instruction lines that fetch makes the prefetcher propose at time f. */
static void propose_lines(struct evaluation *e, const struct graph_node *n, int64_t f)
{
    uint64_t number = ++e->fetch_arrivals;
    unsigned v = fetch_variant(e);
    int64_t arrival = f + (e->real & GRAPH_L1I ? e->core->latency[LEVEL_L2] - e->core->latency[LEVEL_L1] : 0) +
                      beyond_second(e, n->fetch_prefetch_cycles, n->prefetch_second_alone);
    e->fetch_made[number] = 0;
    if (e->core->fetch_mshrs <= FETCH_MSHRS_MOST && e->real & GRAPH_L1I && n->fetch_proposes >> v & 1 &&
        e->fetch_mshr[0] <= f) {
        arrival = await_bus(e, arrival, n->fetch_prefetch_cycles, n->prefetch_second_alone);
        for (unsigned k = 0; k < n->fetch_prefetch_lines && e->fetch_mshr[0] <= f; k++) {
            e->fetch_made[number]++;
            take_fetch_mshr(e, arrival + e->core->fetch_latency);
        }
    }
    e->fetch_arrival[number] = arrival;
}

/* When a wrong path gets somewhere, in cycles from the fetch of its branch. */
static int64_t wrong_way(const struct evaluation *e, unsigned cycles, unsigned room, unsigned lines,
                         unsigned second_lines, unsigned walks)
{
    bool data = (e->real & (GRAPH_L1D | GRAPH_L2D)) == (GRAPH_L1D | GRAPH_L2D);
    return (int64_t)cycles + (data ? room : 0) + (e->real & GRAPH_L1I ? lines : 0) +
           (e->real & GRAPH_L2I ? second_lines : 0) + (e->real & GRAPH_ITLB ? walks : 0);
}

/* The requests of the wrong path behind instruction i, which is mispredicted and has resolved. */
static void end_wrong_path(struct evaluation *e, uint64_t i)
{
    const struct graph_node *n = &e->nodes[i];
    const struct literal_times *t = &e->times[i];
    struct wrong_arrivals *a = &e->wrong_arrivals[i];
    int64_t behind = 0, second = e->core->latency[LEVEL_L2] - e->core->latency[LEVEL_L1];
    a->kept = 0;
    if (fetch_variant(e) != FETCH_EARLY || !(e->real & GRAPH_L1I))
        return;
    for (unsigned k = 0; k < n->wrong_requests; k++) {
        const struct wrong_fetch *m = &n->wrong_fetch[k];
        int64_t way = wrong_way(e, m->cycles, m->room, m->lines, m->second_lines, m->walks) + behind;
        int64_t time = t->fetched + way, begin = later(time, e->fetch_mshr[0]);
        if (way >= t->completed - t->fetched || begin - time > (m->prefetch ? 0 : WRONG_WAIT_MOST))
            continue;
        unsigned alone = (unsigned)m->second_alone << FETCH_EARLY;
        int64_t arrival = await_bus(e, begin + second + beyond_second(e, m->beyond, alone), m->beyond, alone);
        take_fetch_mshr(e, arrival + e->core->fetch_latency);
        a->kept |= (uint8_t)(1 << k);
        a->of[k] = arrival;
        behind += begin - time;
    }
}

/* A line that wrong paths request, if one of them is long enough. */
static int64_t await_wrong_path(struct evaluation *e, const struct graph_node *n, int64_t f)
{
    unsigned v = fetch_variant(e), second = e->core->latency[LEVEL_L2] - e->core->latency[LEVEL_L1];
    bool keeps = e->core->fetch_mshrs <= FETCH_MSHRS_MOST && v == FETCH_EARLY;
    int64_t latency = second + beyond_second(e, n->wrong_beyond[v], n->second_alone);
    for (unsigned k = 0; k < WRONG_REQUESTS && n->wrong_line[k].distance; k++) {
        const struct wrong_edge *w = &n->wrong_line[k];
        uint64_t number = e->wrong_path[e->wrong_paths + 1 - w->distance];
        const struct literal_times *branch = &e->times[number];
        const struct wrong_arrivals *a = &e->wrong_arrivals[number];
        int64_t request = wrong_way(e, w->cycles, w->room, w->lines, w->second_lines, w->walks);
        if (keeps && w->number) {
            if (a->kept >> (w->number - 1) & 1)
                return later(f, a->of[w->number - 1]);
        } else if (request < branch->completed - branch->fetched) {
            return later(f, branch->fetched + request + latency);
        }
    }
    return keeps ? request_line(e, f, second, n->wrong_beyond[v], n->second_alone) : f + latency;
}

/* Instruction lines that fetch waits for at time f. */
static int64_t read_lines(struct evaluation *e, const struct graph_node *n, int64_t f)
{
    unsigned v = fetch_variant(e);
    int64_t start = f;
    if (e->real & GRAPH_L1I)
        f = read_line(e, n, f);
    if (n->fetch_prefetches)
        propose_lines(e, n, start);
    f += e->real & GRAPH_L1I ? n->l1i_cycles[v] : 0;
    f += beyond_second(e, n->l2i_cycles[v], n->second_alone);
    return n->wrong_line[0].distance && e->real & GRAPH_L1I && e->real & GRAPH_BRANCH ? await_wrong_path(e, n, f) : f;
}

int64_t literal_fetch(struct evaluation *e, const struct graph_node *n, uint64_t i)
{
    const struct literal_times *t = e->times;
    int64_t f = (i ? t[i - 1].fetched : 0) + (n->new_group >> group_variant(e->real) & 1);
    if (i >= e->core->front_size)
        f = later(f, t[i - e->core->front_size].dispatched);
    if (i && e->nodes[i - 1].flags & NODE_MISPREDICTED && e->real & GRAPH_BRANCH)
        f = later(f, t[i - 1].completed);
    if (i && e->nodes[i - 1].flags & NODE_MISPREDICTED)
        end_wrong_path(e, i - 1);
    if (i && e->nodes[i - 1].flags & NODE_SERIAL)
        f = later(f, t[i - 1].committed);
    f += e->real & GRAPH_ITLB ? n->itlb_cycles[prediction(e)] : 0;
    f += e->real & GRAPH_BRANCH ? n->misfetch_cycles : 0;
    f = read_lines(e, n, f);
    if (n->flags & NODE_MISPREDICTED)
        e->wrong_path[++e->wrong_paths] = i;
    return f;
}
