/* Evaluates nodes for all sets of real structures at once: lanes_priv.h says how. bench/core.py --methods graph
 * measures the result. */
#include "graph/bundles.h"
#include "graph/judges.h"
#include "graph/lanes_fetch.h"
#include "graph/lanes_memory.h"

/* ---- fetch and dispatch */

INLINE void begin_fetch(struct row *restrict f, const struct row *restrict group, const struct row *restrict room)
{
    ALL_LANES(i)
    f->lane[i] = later((int16_t)(f->lane[i] + group->lane[i]), room->lane[i]);
}

/* Fetch waits for what only some instructions have: a branch to resolve, a drained window, misses. */
INLINE void wait_in_fetch(struct lanes *restrict l, const struct graph_node *n, uint64_t insn)
{
    struct row *f = &l->fetched;
    if (l->after_mispredicted)
        ALL_LANES(i)
    f->lane[i] = later(f->lane[i], l->branch.lane[i] ? l->result.lane[i] : TIME_LEAST);
    if (l->after_mispredicted)
        lanes_end_wrong_path(l);
    if (l->after_serial)
        raise(f, committed_at(l, insn - 1));
    if (n->itlb_cycles[0] | n->itlb_cycles[1])
        add_predicted(l, f, &l->itlb, n->itlb_cycles);
    if (n->misfetch_cycles)
        add_masked(f, &l->branch, n->misfetch_cycles);
    if (n->fetch_prefetches | (n->fetch_distance | n->fetch_demand))
        lanes_read_lines(l, n);
    if (n->l1i_cycles[0] | n->l1i_cycles[1])
        add_predicted(l, f, &l->l1i, n->l1i_cycles);
    if (n->l2i_cycles[0] | n->l2i_cycles[1])
        add_beyond_second(l, f, n->l2i_cycles, n->second_alone);
    if (n->wrong_line[0].distance)
        lanes_await_wrong_path(l, n);
}

/* Instructions leave the front end, as many in a cycle as it is wide. */
INLINE void leave_front(struct row *restrict w, const struct row *restrict fetched, const struct row *restrict slots,
                        unsigned stages)
{
    ALL_LANES(i)
    w->lane[i] = later(after(fetched->lane[i], (int)stages), after(slots->lane[i], 1));
}

/* lanes_fetch, with the order of instructions as the evaluation of single ones has it. */
INLINE void fetch(struct lanes *restrict l, const struct graph_node *n, uint64_t insn)
{
    const struct graph_core *c = &l->core;
    bool filled = insn >= c->front_size && layout_has_limit(c->front_size);
    bool decoded = insn >= c->decode_width && layout_has_limit(c->decode_width);
    const struct row *room = filled ? dispatched_at(l, insn - c->front_size) : &l->never;
    const struct row *slots = decoded ? decoded_at(l, insn - c->decode_width) : &l->never;
    begin_fetch(&l->fetched, &l->new_group[n->new_group], room);
    wait_in_fetch(l, n, insn);
    leave_front(decoded_at(l, insn), &l->fetched, slots, c->front_stages);
    l->after_mispredicted = n->flags & NODE_MISPREDICTED;
    if (l->after_mispredicted)
        l->wrong_since[++l->wrong_paths % GRAPH_WRONG_PATHS] = l->fetched;
    l->after_serial = n->flags & NODE_SERIAL;
}

/* The rows that dispatch waits for. */
struct dispatch_edges {
    const struct row *decoded;       /* exit of the front end */
    const struct row *order, *width; /* dispatch, 1 and dispatch_width back */
    const struct row *room;          /* commit of the instruction that makes room */
};

INLINE void dispatch(struct row *restrict d, const struct dispatch_edges *e)
{
    const int16_t *restrict decoded = e->decoded->lane, *restrict order = e->order->lane;
    const int16_t *restrict width = e->width->lane, *restrict room = e->room->lane;
    ALL_LANES(i)
    d->lane[i] = later(later(decoded[i], order[i]), later(after(width[i], 1), room[i]));
}

/* ---- issue, execution and commit */

INLINE void await_operands(struct row *restrict t, const struct row *restrict d, const struct row *a,
                           const struct row *b, const struct row *c)
{
    const int16_t *x = a->lane, *y = b->lane, *z = c->lane;
    ALL_LANES(i)
    t->lane[i] = later(later(after(d->lane[i], 1), x[i]), later(y[i], z[i]));
}

/* Sets `t` to the time of issue, with the translation of the address. */
INLINE void become_ready(struct lanes *restrict l, const struct graph_node *n, const struct contention_need *need,
                         const struct row *d, struct row *t)
{
    const struct row *second = n->flags & NODE_LATE_DATA ? &l->never : &l->reg[n->source[1]];
    const struct row *stores = layout_keeps_order(&l->core) ? &l->known : &l->never;
    await_operands(t, d, &l->reg[n->source[0]], second, n->flags & NODE_LOAD ? stores : &l->reg[n->source[2]]);
    if (n->flags & NODE_AT_HEAD && layout_keeps_order(&l->core)) {
        raise(t, committed_before(l, 1));
        if (n->flags & NODE_STORE)
            ALL_LANES(i)
        t->lane[i] = later(t->lane[i], after(l->leave.lane[i], 1));
    }
    issue(l, need, t);
    if (n->walks | n->walk_distance[0] | n->walk_distance[1])
        lanes_await_translation(l, n, need, t);
}

/* Sets `x` to the time of completion. */
INLINE void execute(struct lanes *restrict l, const struct graph_node *n, const struct contention_need *need,
                    struct row *restrict t, struct row *restrict x)
{
    if (n->flags & NODE_LOAD) {
        lanes_load(l, n, need, t, x);
    } else if (!(n->flags & NODE_STORE)) {
        int16_t latency = (int16_t)l->core.timing[n->class].latency;
        ALL_LANES(i)
        x->lane[i] = (int16_t)(t->lane[i] + latency);
    }
    if (n->flags & NODE_STORE)
        lanes_store(l, n, t, x);
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
        lanes_drain(l, n, c);
}

/* ---- one instruction */

/* lanes_execute. */
INLINE void go_through(struct lanes *restrict l, const struct graph_node *n, struct row *d)
{
    const struct contention_need *need = &l->limits.need[n->class];
    struct row *t = issued_at(l, l->insns);
    if (l->limits.has_queues)
        enter_queues(l, need, d);
    become_ready(l, n, need, d, t);
    execute(l, n, need, t, &l->result);
    if (n->wrong_path.cycles)
        judges_occupy_unit(l, n, &l->result);
}

FOR_EACH_HOST void lanes_fetch(struct lanes *l, const struct graph_node *n, uint64_t insn)
{
    fetch(l, n, insn);
}

FOR_EACH_HOST void lanes_execute(struct lanes *l, const struct graph_node *n, struct row *d)
{
    go_through(l, n, d);
}

/* An instruction of a core without bundles. */
INLINE void evaluate(struct lanes *restrict l, const struct graph_node *n)
{
    struct row *d = dispatched_at(l, l->insns);
    fetch(l, n, l->insns);
    struct dispatch_edges e = {.decoded = decoded_at(l, l->insns),
                               .order = dispatched_before(l, 1),
                               .width = dispatched_before(l, l->core.dispatch_width),
                               .room = committed_before(l, n->room)};
    dispatch(d, &e);
    go_through(l, n, d);
    commit(l, n, &l->result);
    l->arrivals += node_arrivals(n);
    l->insns++;
}

/* ---- all instructions */

unsigned lanes_growth(const struct graph_core *c, const struct graph_node *n)
{
    enum { STEPS = 8 }; /* single cycles between the stages */
    unsigned fetch = c->front_stages + (n->fetch_prefetches || n->fetch_demand ? c->fetch_latency : 0);
    fetch += n->wrong_line[0].distance ? c->latency[LEVEL_L2] : 0;
    unsigned result = c->latency[LEVEL_L1] + c->forward_latency + c->timing[n->class].latency;
    return node_cycles(n) + fetch + result + STEPS;
}

/* Evaluates as many nodes as times can grow for. Returns their number. */
FOR_EACH_HOST static unsigned evaluate_some(struct lanes *l, const struct graph_node *n, unsigned count)
{
    unsigned i = 0;
    for (; i < count; i++) {
        unsigned by = lanes_growth(&l->core, &n[i]);
        if (l->slack + by > SLACK_MOST)
            break;
        l->slack += by;
        evaluate(l, &n[i]);
    }
    return i;
}

void lanes_evaluate(struct lanes *l, const struct graph_node *n, unsigned count)
{
    if (l->bundles) {
        bundles_evaluate(l, n, count);
        return;
    }
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

void lanes_flush(struct lanes *l)
{
    if (l->bundles)
        bundles_flush(l);
}

void lanes_serialize(struct lanes *l)
{
    raise(&l->fetched, committed_before(l, 1));
}

uint64_t lanes_known(const struct lanes *l)
{
    return l->bundles ? bundles_known(l) : l->insns;
}
