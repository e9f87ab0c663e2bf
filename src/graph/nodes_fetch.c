/* The front end's part of a node: stalls for instruction lines and translations. */
#include "graph/nodes_priv.h"

/* ---- instruction lines */

/* The cycles that a line from this level takes beyond one from the L2. */
static uint16_t beyond_second(const struct graph_core *c, unsigned level)
{
    /* cppcheck-suppress arrayIndexOutOfBoundsCond ; no level is beyond LEVEL_MEMORY */
    return (uint16_t)(level > LEVEL_L2 ? c->latency[level] - c->latency[LEVEL_L2] : 0);
}

static unsigned less(unsigned cycles, unsigned by)
{
    return cycles > by ? cycles - by : 0;
}

/* How much of a stall a line has beyond the L2. What fetch still waits of a line that was requested before it needs the
 * line is, first of all, the end of that. `waits`: the stall without what the request waited for an MSHR. */
static unsigned beyond_second_of(const struct graph_core *c, const struct fetch_stalls *s, unsigned waits)
{
    unsigned most = waits;
    if (s->requested || !(s->line_cycles | s->cycles[FETCH_L2I]))
        return less(s->line_cycles, s->mshr_cycles);
    if (!s->cycles[FETCH_L2I])
        most = c->latency[LEVEL_L3] - c->latency[LEVEL_L2];
    return waits < most ? waits : most;
}

/* Fetch stalls. With perfect prediction a line that a wrong path brought in is missed by the right one, and the other
 * way around; a request finds other MSHRs free. */
static void set_fetch_stalls(const struct node_builder *b, const struct fetch_stalls *s, struct graph_node *n,
                             unsigned level)
{
    const struct graph_core *c = &b->core;
    unsigned waits = less(s->cycles[FETCH_L1I] + s->cycles[FETCH_L2I], s->mshr_cycles);
    unsigned beyond = beyond_second_of(c, s, waits);
    n->misfetch_cycles = s->cycles[FETCH_MISFETCH];
    for (unsigned v = 0; v < FETCH_VARIANTS; v++) {
        n->l2i_cycles[v] = (uint16_t)(beyond + (v == FETCH_PERFECT ? 0 : s->mshr_cycles));
        n->l1i_cycles[v] = (uint16_t)(waits - beyond);
    }
    if (s->requested && level == LEVEL_L1) {
        n->l1i_cycles[FETCH_PERFECT] = n->l2i_cycles[FETCH_PERFECT] = 0;
    } else if (level > LEVEL_L1 && !s->requested) {
        n->l1i_cycles[FETCH_PERFECT] = (uint16_t)(c->latency[LEVEL_L2] - c->latency[LEVEL_L1]);
        n->l2i_cycles[FETCH_PERFECT] = beyond_second(c, level);
    } else if (level > LEVEL_L1 && (level > LEVEL_L2) != (s->line_cycles > 0)) {
        n->l2i_cycles[FETCH_PERFECT] = beyond_second(c, level);
    }
}

/* The distance, in mispredictions, to the mispredicted instruction `insns` instructions back; 0: too far. */
static unsigned wrong_distance(const struct node_builder *b, uint32_t insns)
{
    unsigned most = b->wrong_paths < GRAPH_WRONG_PATHS ? b->wrong_paths : GRAPH_WRONG_PATHS;
    for (unsigned k = 1; k <= most; k++)
        if (b->wrong_path[(b->wrong_paths + 1 - k) % GRAPH_WRONG_PATHS] == b->insns - insns)
            return k;
    return 0;
}

/* From the request of an instruction line of the L2 until it arrives. */
static unsigned second_latency(const struct graph_core *c)
{
    return c->fetch_latency + c->latency[LEVEL_L2] - c->latency[LEVEL_L1];
}

/* A line that a wrong path requested and nobody else: in a set with real prediction it depends on the length of the
 * wrong path whether the line is there or on its way. */
static void set_wrong_path(const struct node_builder *b, const struct held_insn *h, struct graph_node *n)
{
    if (!h->stalls.wrong_use || h->stalls.requested)
        return;
    for (unsigned k = 0; k < WRONG_REQUESTS && h->wrong_line[k].distance; k++) {
        const struct wrong_request *r = &h->wrong_line[k];
        n->wrong_line[k] = (struct wrong_edge){.distance = (uint8_t)wrong_distance(b, r->distance),
                                               .number = r->number,
                                               .cycles = r->cycles,
                                               .lines = r->lines,
                                               .second_lines = r->second_lines,
                                               .walks = r->walks,
                                               .room = r->room};
        if (!n->wrong_line[k].distance)
            n->wrong_line[k] = (struct wrong_edge){.distance = 0};
    }
    if (!n->wrong_line[0].distance)
        return;
    unsigned latency = h->wrong_line[0].latency, second = second_latency(&b->core);
    n->wrong_beyond[FETCH_REAL] = (uint16_t)less(latency, second);
    n->wrong_beyond[FETCH_EARLY] = (uint16_t)less(latency - h->wrong_line[0].mshr_cycles, second);
}

/* Whether the graph keeps the MSHRs of the L1I. */
static bool has_few_mshrs(const struct node_builder *b)
{
    return b->core.fetch_mshrs <= FETCH_MSHRS_MOST;
}

/* ---- the L2 without data, by variant: results as in node.second_alone */

static uint8_t alone_in(bool perfect, bool early)
{
    return (uint8_t)(perfect << FETCH_PERFECT | early << FETCH_EARLY);
}

static uint8_t code_alone_use(struct node_builder *b, uint64_t addr)
{
    unsigned window = b->core.rob_size + b->core.front_size;
    bool alone = second_alone_use(&b->code_second, addr, b->insns, window);
    return alone_in(alone, has_few_mshrs(b) ? second_alone_use(&b->early_second, addr, b->insns, window) : alone);
}

static uint8_t code_alone_propose(struct node_builder *b, uint64_t addr)
{
    bool alone = second_alone_propose(&b->code_second, addr, b->insns);
    return alone_in(alone, has_few_mshrs(b) ? second_alone_propose(&b->early_second, addr, b->insns) : alone);
}

static void code_alone_confirm(struct node_builder *b, uint64_t addr)
{
    second_alone_confirm(&b->code_second, addr);
    if (has_few_mshrs(b))
        second_alone_confirm(&b->early_second, addr);
}

void nodes_set_wrong_requests(struct node_builder *b, const struct held_insn *h, struct graph_node *n)
{
    unsigned second = second_latency(&b->core);
    if (!has_few_mshrs(b))
        return;
    for (unsigned k = 0; k < WRONG_PATH_REQUESTS && h->wrong_made[k].request.distance; k++) {
        const struct wrong_request *r = &h->wrong_made[k].request;
        if ((unsigned)r->cycles + r->lines + r->second_lines + r->walks + r->room > b->core.edge_most)
            return;
        n->wrong_fetch[n->wrong_requests++] =
            (struct wrong_fetch){.cycles = r->cycles,
                                 .lines = r->lines,
                                 .second_lines = r->second_lines,
                                 .walks = r->walks,
                                 .room = r->room,
                                 .beyond = (uint16_t)less(r->latency - r->mshr_cycles, second),
                                 .second_alone = second_alone_use(&b->early_second, h->wrong_made[k].line, b->insns, 0),
                                 .prefetch = r->prefetch};
    }
}

/* Lines that come from beyond the L2 may be there if no data is. `level` as in set_fetch_stalls. */
static void set_second_alone(struct node_builder *b, const struct held_insn *h, struct graph_node *n, unsigned level)
{
    uint64_t end = h->pc + h->length - 1;
    if (level == LEVEL_L1 && !h->stalls.requested && !(n->l2i_cycles[0] | n->l2i_cycles[1]) &&
        !n->wrong_beyond[FETCH_REAL])
        return;
    n->second_alone = code_alone_use(b, h->pc);
    if (h->pc >> b->fetch_shift != end >> b->fetch_shift)
        n->second_alone &= code_alone_use(b, end);
}

/* With few MSHRs, the request of a line takes one: fetch needs the cycles of variant v apart from others. */
static void set_demand(struct graph_node *n, unsigned v)
{
    if (!(n->l1i_cycles[v] | n->l2i_cycles[v]))
        return;
    if (!n->fetch_requests) {
        n->fetch_demand = n->l1i_cycles[v];
        n->demand_second_alone = n->second_alone;
    }
    n->fetch_demand_second[v] = n->l2i_cycles[v];
    n->fetch_requests |= (uint8_t)(1 << v);
    n->l1i_cycles[v] = n->l2i_cycles[v] = 0;
}

/* The first use of a line that the prefetcher has proposed: whether fetch waits for the prefetch or requests the line
 * depends on MSHRs. */
static void set_fetch_use(struct node_builder *b, struct graph_node *n, struct line_entry *e, uint64_t addr)
{
    const struct graph_core *c = &b->core;
    if (!(n->l1i_cycles[FETCH_REAL] | n->l2i_cycles[FETCH_REAL]))
        code_alone_confirm(b, addr);
    e->prefetch_arrival = 0;
    if (!has_few_mshrs(b))
        return;
    n->fetch_uses = true;
    n->fetch_requests |= n->fetch_awaits;
    n->fetch_line = e->prefetch_line;
    n->fetch_demand = (uint16_t)(c->latency[LEVEL_L2] - c->latency[LEVEL_L1]);
    n->fetch_demand_second[FETCH_PERFECT] = n->fetch_demand_second[FETCH_EARLY] =
        (uint16_t)less(e->prefetch_cycles, c->latency[LEVEL_L2]);
    n->demand_second_alone = e->alone;
}

/* The lines that fetch makes the prefetcher propose come with one arrival. `demanded`: the level from which fetch
 * itself requests a line; from memory, that line has the bus first. With real prediction, lines that wrong paths have
 * brought are not proposed: then the run neither requested one nor lacked MSHRs. */
static void set_fetch_prefetches(struct node_builder *b, const struct fetch_stalls *s, struct graph_node *n,
                                 unsigned demanded)
{
    const struct graph_core *c = &b->core;
    unsigned from = nodes_add_prefetches(b, false, LEVEL_L1, b->fetch_shift, b->fetch_arrivals + 1, b->fetch_line);
    bool early = has_few_mshrs(b) && (s->prefetched || s->mshrs_taken);
    n->fetch_prefetches = from > LEVEL_L1;
    n->fetch_proposes = (uint8_t)(1 << FETCH_PERFECT | early << FETCH_EARLY);
    n->fetch_prefetch_cycles = beyond_second(c, from);
    if (from == LEVEL_MEMORY && demanded == LEVEL_MEMORY && !has_few_mshrs(b))
        n->fetch_prefetch_cycles = (uint16_t)(n->fetch_prefetch_cycles + c->bus_cycles);
    n->prefetch_second_alone = alone_in(true, true);
    for (unsigned i = 0; i < b->prefetches; i++) {
        const struct prefetched_line *p = &b->prefetched[i];
        if (p->data || p->into != LEVEL_L1)
            continue;
        uint8_t alone = code_alone_propose(b, p->addr);
        struct line_entry *e = entry_of(b->fetch_line, p->addr >> b->fetch_shift);
        e->alone = alone;
        e->arrival[PREDICTION_REAL] = early ? e->arrival[PREDICTION_PERFECT] : 0;
        n->prefetch_second_alone &= alone;
        n->fetch_prefetch_lines += n->fetch_prefetch_lines < PREFETCH_LINES;
    }
    b->fetch_arrivals += n->fetch_prefetches;
}

/* Where branches resolve early: a line that wrong paths have requested is not awaited here (set_wrong_path), and what
 * the run only waited for takes as long. */
static void set_early_demand(const struct fetch_stalls *s, struct graph_node *n)
{
    const unsigned v = FETCH_EARLY;
    if (n->wrong_line[0].distance || n->fetch_awaits >> v & 1 || !s->requested)
        return;
    n->l2i_cycles[v] = (uint16_t)less(n->l2i_cycles[v], s->mshr_cycles);
    set_demand(n, v);
}

/* With perfect prediction, a line that the prefetcher has requested comes when it arrives, and not a fixed time after
 * fetch needs it. Where real branches resolve early, this holds as well if the run prefetched the line for the right
 * path. With other real prediction the stall of the real run counts, since wrong paths bring lines as well. */
static void set_fetch_arrival(struct node_builder *b, const struct fetch_stalls *s, struct graph_node *n, uint64_t line,
                              unsigned level)
{
    struct line_entry *e = entry_of(b->fetch_line, line);
    if (level == LEVEL_L1)
        n->fetch_distance = distance_to(e->arrival[PREDICTION_PERFECT], b->fetch_arrivals, GRAPH_FETCH_ARRIVALS);
    bool early = has_few_mshrs(b) && e->arrival[PREDICTION_REAL] && !n->wrong_line[0].distance;
    if (n->fetch_distance)
        n->fetch_awaits = (uint8_t)(1 << FETCH_PERFECT | early << FETCH_EARLY);
    if (n->fetch_distance && e->prefetch_arrival)
        set_fetch_use(b, n, e, line << b->fetch_shift);
    for (unsigned v = FETCH_PERFECT; v <= FETCH_EARLY; v++)
        if (n->fetch_awaits >> v & 1)
            n->l1i_cycles[v] = n->l2i_cycles[v] = 0;
    if (has_few_mshrs(b)) {
        set_demand(n, FETCH_PERFECT);
        set_early_demand(s, n);
    }
    set_fetch_prefetches(b, s, n, level);
}

static bool has_stalls(const struct fetch_stalls *s)
{
    unsigned cycles = s->line_cycles | s->requested | s->wrong_use;
    for (unsigned k = FETCH_L1I; k <= FETCH_MISFETCH; k++)
        cycles |= s->cycles[k];
    return cycles != 0;
}

void nodes_set_fetch(struct node_builder *b, const struct held_insn *h, struct graph_node *n)
{
    uint64_t first = h->pc >> b->fetch_shift, last = (h->pc + h->length - 1) >> b->fetch_shift;
    b->prefetches = 0;
    if (first == b->fetched_line && last == first && !has_stalls(&h->stalls)) {
        nodes_fetch_level(b, h, first, last);
        fetch_groups_join(&b->groups, h, n);
        return;
    }
    uint64_t before = b->fetched_line;
    const struct memsys_counts *w = memsys_warm_counts(b->memory);
    uint64_t tlb[2] = {w->itlb_misses[0], w->itlb_walks[0]};
    unsigned level = nodes_fetch_level(b, h, first, last);
    unsigned translation = nodes_tlb_level(tlb, (uint64_t[2]){w->itlb_misses[0], w->itlb_walks[0]});
    n->itlb_cycles[PREDICTION_REAL] = h->stalls.cycles[FETCH_ITLB];
    n->itlb_cycles[PREDICTION_PERFECT] = (uint16_t)b->core.translation[translation];
    set_fetch_stalls(b, &h->stalls, n, level);
    set_wrong_path(b, h, n);
    set_second_alone(b, h, n, level);
    for (unsigned v = 0; v < PREDICTIONS; v++)
        n->fetch_waits |= (uint8_t)((n->l1i_cycles[v] | n->l2i_cycles[v] ? 1 : 0) << v);
    if (n->wrong_line[0].distance)
        for (unsigned v = FETCH_REAL; v <= FETCH_EARLY; v += FETCH_EARLY - FETCH_REAL)
            n->l1i_cycles[v] = n->l2i_cycles[v] = 0;
    fetch_groups_join(&b->groups, h, n);
    if (b->prefetcher && last != before)
        set_fetch_arrival(b, &h->stalls, n, last, level);
}
