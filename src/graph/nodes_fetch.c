/* The front end's part of a node: fetch groups, stalls for instruction lines and translations. */
#include "graph/nodes_priv.h"

/* ---- fetch groups */

/* Whether a misprediction or a misfetch before this instruction ends the fetch group in this variant. */
static bool is_redirected(const struct node_builder *b, const struct graph_node *n, unsigned variant)
{
    return variant & 2 && (b->after_mispredicted || n->misfetch_cycles);
}

/* condition ? yes : no, without a branch: conditions follow the guest's behavior, which the host cannot predict. */
static inline unsigned choose(bool condition, unsigned yes, unsigned no)
{
    return no ^ ((no ^ yes) & -(unsigned)condition);
}

/* Puts the instruction into the fetch group of one variant, or begins a new one. */
static inline void join_group(struct node_builder *b, const struct held_insn *h, struct graph_node *n, unsigned variant,
                              uint64_t first, uint64_t last)
{
    const struct graph_core *c = &b->core;
    struct group *g = &b->group[variant];
    unsigned v = variant & 2 ? PREDICTION_REAL : PREDICTION_PERFECT;
    bool waits = variant & 1 && (n->l1i_cycles[v] | n->l2i_cycles[v]);
    bool reads_first = (first != g->line) | (variant & 2 && b->after_mispredicted);
    unsigned reads = reads_first + (last != first);
    bool ends = (b->insns == 0) | b->after_serial | is_redirected(b, n, variant) | (g->insns >= c->fetch_width) |
                (g->branches_left == 0) | (reads > g->lines_left);
    /* A new group whose first instruction needs no other line reads the line that fetch is in again. */
    unsigned lines = c->fetch_lines - (reads == 0);
    lines = choose(ends, choose(lines < reads, reads, lines), g->lines_left) - reads;
    bool control = h->flags & IS_CONTROL;
    n->new_group |= (uint8_t)(ends << variant);
    g->lines_left = choose(waits, c->fetch_lines - 1, lines);
    g->insns = choose(ends | waits, 0, g->insns) + 1;
    g->branches_left = choose(ends | waits, c->fetch_branches, g->branches_left) - control;
    g->line = last | -(uint64_t)(control & h->taken);
}

static bool groups_are_equal(const struct group *a, const struct group *b)
{
    return a->insns == b->insns && a->lines_left == b->lines_left && a->branches_left == b->branches_left &&
           a->line == b->line;
}

/* Puts the instruction into the fetch groups of both variants of a prediction: with a perfect and with a real L1I. They
 * are mostly the same. */
static void join_groups(struct node_builder *b, const struct held_insn *h, struct graph_node *n, unsigned v,
                        uint64_t first, uint64_t last)
{
    const unsigned perfect = v == PREDICTION_REAL ? 2 : 0, real = perfect + 1;
    bool waits = n->l1i_cycles[v] | n->l2i_cycles[v];
    join_group(b, h, n, perfect, first, last);
    if (b->same_groups[v] && !waits) {
        b->group[real] = b->group[perfect];
        n->new_group |= (uint8_t)((n->new_group >> perfect & 1) << real);
    } else {
        join_group(b, h, n, real, first, last);
        b->same_groups[v] = groups_are_equal(&b->group[perfect], &b->group[real]);
    }
}

/* ---- instruction lines */

/* The cycles that a line from this level takes beyond one from the L2. */
static uint16_t beyond_second(const struct graph_core *c, unsigned level)
{
    /* cppcheck-suppress arrayIndexOutOfBoundsCond ; no level is beyond LEVEL_MEMORY */
    return (uint16_t)(level > LEVEL_L2 ? c->latency[level] - c->latency[LEVEL_L2] : 0);
}

/* How much of a stall a line has beyond the L2. What fetch still waits of a line that was requested before it needs the
 * line is, first of all, the end of that. */
static unsigned beyond_second_of(const struct graph_core *c, const struct fetch_stalls *s, unsigned waits)
{
    unsigned most = waits;
    if (s->requested || !(s->line_cycles | s->cycles[FETCH_L2I]))
        return s->line_cycles;
    if (!s->cycles[FETCH_L2I])
        most = c->latency[LEVEL_L3] - c->latency[LEVEL_L2];
    return waits < most ? waits : most;
}

/* Fetch stalls. With perfect prediction a line that a wrong path brought in is missed by the right one, and the other
 * way around. */
static void set_fetch_stalls(const struct node_builder *b, const struct fetch_stalls *s, struct graph_node *n,
                             unsigned level)
{
    const struct graph_core *c = &b->core;
    unsigned waits = s->cycles[FETCH_L1I] + s->cycles[FETCH_L2I];
    unsigned beyond = beyond_second_of(c, s, waits);
    n->misfetch_cycles = s->cycles[FETCH_MISFETCH];
    for (unsigned v = 0; v < PREDICTIONS; v++) {
        n->l2i_cycles[v] = (uint16_t)beyond;
        n->l1i_cycles[v] = (uint16_t)(waits - beyond);
    }
    if (s->requested && level == LEVEL_L1) {
        n->l1i_cycles[PREDICTION_PERFECT] = n->l2i_cycles[PREDICTION_PERFECT] = 0;
    } else if (level > LEVEL_L1 && !s->requested) {
        n->l1i_cycles[PREDICTION_PERFECT] = (uint16_t)(c->latency[LEVEL_L2] - c->latency[LEVEL_L1]);
        n->l2i_cycles[PREDICTION_PERFECT] = beyond_second(c, level);
    } else if (level > LEVEL_L1 && (level > LEVEL_L2) != (s->line_cycles > 0)) {
        n->l2i_cycles[PREDICTION_PERFECT] = beyond_second(c, level);
    }
}

static bool uses_code_second(struct node_builder *b, uint64_t addr)
{
    return second_alone_use(&b->code_second, addr, b->insns, b->core.rob_size + b->core.front_size);
}

/* Lines that come from beyond the L2 may be there if no data is. `level` as in set_fetch_stalls. */
static void set_second_alone(struct node_builder *b, const struct held_insn *h, struct graph_node *n, unsigned level)
{
    uint64_t end = h->pc + h->length - 1;
    if (level == LEVEL_L1 && !h->stalls.requested && !(n->l2i_cycles[0] | n->l2i_cycles[1]))
        return;
    n->second_alone = uses_code_second(b, h->pc);
    if (h->pc >> b->fetch_shift != end >> b->fetch_shift)
        n->second_alone &= uses_code_second(b, end);
}

/* With perfect prediction and few MSHRs, the request of a line takes one: fetch needs its cycles apart from others. */
static void set_demand(struct graph_node *n)
{
    const unsigned v = PREDICTION_PERFECT;
    n->fetch_demand = n->l1i_cycles[v];
    n->fetch_demand_second = n->l2i_cycles[v];
    n->demand_second_alone = n->second_alone;
    n->l1i_cycles[v] = n->l2i_cycles[v] = 0;
}

/* The first use of a line that the prefetcher has proposed: whether fetch waits for the prefetch or requests the line
 * depends on MSHRs. */
static void set_fetch_use(struct node_builder *b, struct graph_node *n, struct line_entry *e, uint64_t addr)
{
    const struct graph_core *c = &b->core;
    if (!(n->l1i_cycles[PREDICTION_REAL] | n->l2i_cycles[PREDICTION_REAL]))
        second_alone_confirm(&b->code_second, addr);
    e->prefetch_arrival = 0;
    if (c->fetch_mshrs > FETCH_MSHRS_MOST)
        return;
    n->fetch_uses = true;
    n->fetch_line = e->prefetch_line;
    n->fetch_demand = (uint16_t)(c->latency[LEVEL_L2] - c->latency[LEVEL_L1]);
    n->fetch_demand_second =
        (uint16_t)(e->prefetch_cycles > c->latency[LEVEL_L2] ? e->prefetch_cycles - c->latency[LEVEL_L2] : 0);
    n->demand_second_alone = e->alone;
}

/* The lines that fetch makes the prefetcher propose come with one arrival. */
static void set_fetch_prefetches(struct node_builder *b, struct graph_node *n)
{
    const struct graph_core *c = &b->core;
    unsigned from = nodes_add_prefetches(b, false, LEVEL_L1, b->fetch_shift, b->fetch_arrivals + 1, b->fetch_line);
    n->fetch_prefetches = from > LEVEL_L1;
    n->fetch_prefetch_cycles = beyond_second(c, from);
    n->prefetch_second_alone = true;
    for (unsigned i = 0; i < b->prefetches; i++) {
        const struct prefetched_line *p = &b->prefetched[i];
        if (p->data || p->into != LEVEL_L1)
            continue;
        bool alone = second_alone_propose(&b->code_second, p->addr, b->insns);
        entry_of(b->fetch_line, p->addr >> b->fetch_shift)->alone = alone;
        n->prefetch_second_alone &= alone;
        n->fetch_prefetch_lines += n->fetch_prefetch_lines < PREFETCH_LINES;
    }
    b->fetch_arrivals += n->fetch_prefetches;
}

/* With perfect prediction, a line that the prefetcher has requested comes when it arrives, and not a fixed time after
 * fetch needs it. With real prediction the stall of the real run counts, since wrong paths bring lines as well. */
static void set_fetch_arrival(struct node_builder *b, struct graph_node *n, uint64_t line, unsigned level)
{
    struct line_entry *e = entry_of(b->fetch_line, line);
    const unsigned v = PREDICTION_PERFECT;
    if (level == LEVEL_L1)
        n->fetch_distance = distance_to(e->arrival[v], b->fetch_arrivals, GRAPH_FETCH_ARRIVALS);
    if (n->fetch_distance)
        n->l1i_cycles[v] = n->l2i_cycles[v] = 0;
    if (n->fetch_distance && e->prefetch_arrival)
        set_fetch_use(b, n, e, line << b->fetch_shift);
    else if (b->core.fetch_mshrs <= FETCH_MSHRS_MOST)
        set_demand(n);
    set_fetch_prefetches(b, n);
}

void nodes_set_fetch(struct node_builder *b, const struct held_insn *h, struct graph_node *n)
{
    uint64_t first = h->pc >> b->fetch_shift, last = (h->pc + h->length - 1) >> b->fetch_shift;
    b->prefetches = 0;
    uint64_t before = b->fetched_line;
    const struct memsys_counts *w = memsys_warm_counts(b->memory);
    uint64_t tlb[2] = {w->itlb_misses[0], w->itlb_walks[0]};
    unsigned level = nodes_fetch_level(b, h, first, last);
    unsigned translation = nodes_tlb_level(tlb, (uint64_t[2]){w->itlb_misses[0], w->itlb_walks[0]});
    n->itlb_cycles[PREDICTION_REAL] = h->stalls.cycles[FETCH_ITLB];
    n->itlb_cycles[PREDICTION_PERFECT] = (uint16_t)b->core.translation[translation];
    set_fetch_stalls(b, &h->stalls, n, level);
    set_second_alone(b, h, n, level);
    join_groups(b, h, n, PREDICTION_PERFECT, first, last);
    join_groups(b, h, n, PREDICTION_REAL, first, last);
    if (b->prefetcher && last != before)
        set_fetch_arrival(b, n, last, level);
}
