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
    f->lane[i] = later((lane_time)(f->lane[i] + group->lane[i]), room->lane[i]);
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
    if (n->fetch_prefetches | n->fetch_awaits | n->fetch_requests)
        lanes_read_lines(l, n);
    if (n->l1i_cycles[0] | n->l1i_cycles[1] | n->l1i_cycles[2])
        add_fetch_stall(l, f, n->l1i_cycles);
    if (n->l2i_cycles[0] | n->l2i_cycles[1] | n->l2i_cycles[2])
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

/* The rows of other instructions that one waits for in the front end. */
struct front_edges {
    const struct row *group, *room, *slots;
};

INLINE struct front_edges find_front_edges(struct lanes *l, const struct graph_node *n, uint64_t insn)
{
    const struct graph_core *c = &l->core;
    bool filled = insn >= c->front_size && layout_has_limit(c->front_size);
    bool decoded = insn >= c->decode_width && layout_has_limit(c->decode_width);
    return (struct front_edges){.group = &l->new_group[n->new_group],
                                .room = filled ? dispatched_at(l, insn - c->front_size) : &l->never,
                                .slots = decoded ? decoded_at(l, insn - c->decode_width) : &l->never};
}

/* Notes what the next instruction has to know of this one, which has been fetched. */
INLINE void end_fetch(struct lanes *restrict l, const struct graph_node *n)
{
    l->after_mispredicted = n->flags & NODE_MISPREDICTED;
    if (l->after_mispredicted) {
        l->wrong_since[++l->wrong_paths % GRAPH_WRONG_PATHS] = l->fetched;
        l->wrong_requests = n->wrong_requests;
        if (n->wrong_requests)
            memcpy(l->wrong_fetch, n->wrong_fetch, n->wrong_requests * sizeof *n->wrong_fetch);
    }
    l->after_serial = n->flags & NODE_SERIAL;
}

/* lanes_fetch, with the order of instructions as the evaluation of single ones has it. */
INLINE void fetch(struct lanes *restrict l, const struct graph_node *n, uint64_t insn)
{
    struct front_edges e = find_front_edges(l, n, insn);
    begin_fetch(&l->fetched, e.group, e.room);
    wait_in_fetch(l, n, insn);
    leave_front(decoded_at(l, insn), &l->fetched, e.slots, l->core.front_stages);
    end_fetch(l, n);
}

/* Whether fetch of the instruction waits for what only some instructions have. */
INLINE bool waits_in_fetch(const struct lanes *l, const struct graph_node *n)
{
    uint64_t edges = n->rare[0] | n->rare[1] | n->rare[2] | n->fetch_awaits | n->fetch_requests | n->fetch_prefetches |
                     n->wrong_line[0].distance;
    return edges || l->after_mispredicted || l->after_serial;
}

/* The rows of other instructions that one waits for until it is ready to issue. */
struct edges {
    struct front_edges front;
    const lane_time *order, *width, *room; /* dispatch, 1 and dispatch_width back; commit that makes room */
    const lane_time *operand[SOURCES];
};

/* All stages up to issue of an instruction that does not wait in fetch, in one loop: rows stay in the host's
 * registers. */
INLINE void pass_front(struct row *restrict fetched, struct row *restrict decoded, struct row *restrict dispatched,
                       struct row *restrict t, const struct edges *e, int stages)
{
    const lane_time *group = e->front.group->lane, *front_room = e->front.room->lane, *slots = e->front.slots->lane;
    const lane_time *order = e->order, *width = e->width, *room = e->room, *x = e->operand[0], *y = e->operand[1],
                    *z = e->operand[2];
    ALL_LANES(i)
    {
        lane_time f = later((lane_time)(fetched->lane[i] + group[i]), front_room[i]);
        lane_time w = later(after(f, stages), after(slots[i], 1));
        lane_time d = later(later(w, order[i]), later(after(width[i], 1), room[i]));
        fetched->lane[i] = f;
        decoded->lane[i] = w;
        dispatched->lane[i] = d;
        t->lane[i] = later(later(after(d, 1), x[i]), later(y[i], z[i]));
    }
}

/* The same of one that waits in fetch. */
INLINE void dispatch(struct row *restrict d, const struct row *restrict decoded, const struct edges *e)
{
    const lane_time *order = e->order, *width = e->width, *room = e->room;
    ALL_LANES(i)
    d->lane[i] = later(later(decoded->lane[i], order[i]), later(after(width[i], 1), room[i]));
}

/* ---- issue, execution and commit */

INLINE void await_operands(struct row *restrict t, const struct row *restrict d, const struct edges *e)
{
    const lane_time *x = e->operand[0], *y = e->operand[1], *z = e->operand[2];
    ALL_LANES(i)
    t->lane[i] = later(later(after(d->lane[i], 1), x[i]), later(y[i], z[i]));
}

INLINE void find_operands(const struct lanes *l, const struct graph_node *n, struct edges *e)
{
    const struct row *stores = layout_keeps_order(&l->core) ? &l->known : &l->never;
    e->operand[0] = l->reg[n->source[0]].lane;
    e->operand[1] = (n->flags & NODE_LATE_DATA ? &l->never : &l->reg[n->source[1]])->lane;
    e->operand[2] = (n->flags & NODE_LOAD ? stores : &l->reg[n->source[2]])->lane;
}

/* Older instructions wait for units that younger ones have taken. */
INLINE void await_unit(struct lanes *restrict l, const struct younger_wait *wait, struct row *restrict t)
{
    l->slack += wait->cycles;
    if (wait->wrong_path) {
        add_masked(t, &l->branch, wait->cycles);
        return;
    }
    ALL_LANES(i)
    t->lane[i] = after(t->lane[i], (int)wait->cycles);
}

/* Sets `t`, when operands are known, to the time of issue, with the translation of the address. */
INLINE void issue_when_ready(struct lanes *restrict l, const struct graph_node *n, const struct contention_need *need,
                             struct row *t)
{
    if (n->flags & NODE_AT_HEAD && layout_keeps_order(&l->core)) {
        raise(t, committed_before(l, 1));
        if (n->flags & NODE_STORE)
            ALL_LANES(i)
        t->lane[i] = later(t->lane[i], after(l->leave.lane[i], 1));
    }
    if (n->unit_wait.cycles)
        await_unit(l, &n->unit_wait, t);
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
        lane_time latency = (lane_time)l->core.timing[n->class].latency;
        ALL_LANES(i)
        x->lane[i] = (lane_time)(t->lane[i] + latency);
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

/* Execution and commit of an instruction that accesses no data, in one loop. */
INLINE void pass_back(struct row *restrict result, struct row *restrict reg, struct row *restrict c,
                      const struct row *restrict t, const struct row *order, const struct row *width, int latency)
{
    const lane_time *before = order->lane, *others = width->lane;
    ALL_LANES(i)
    {
        lane_time x = after(t->lane[i], latency);
        result->lane[i] = reg->lane[i] = x;
        c->lane[i] = later(later(after(x, 1), before[i]), after(others[i], 1));
    }
}

/* ---- one instruction */

/* From issue to completion: l->result. */
INLINE void complete(struct lanes *restrict l, const struct graph_node *n, const struct contention_need *need,
                     struct row *t)
{
    issue_when_ready(l, n, need, t);
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
    const struct contention_need *need = &l->limits.need[n->class];
    struct row *t = issued_at(l, l->insns);
    struct edges e;
    if (l->limits.has_queues)
        enter_queues(l, need, d);
    find_operands(l, n, &e);
    await_operands(t, d, &e);
    complete(l, n, need, t);
}

/* All stages of an instruction up to operands: `t`. */
INLINE void evaluate_front(struct lanes *restrict l, const struct graph_node *n, const struct contention_need *need,
                           struct row *restrict t)
{
    struct row *d = dispatched_at(l, l->insns);
    struct edges e = {.order = dispatched_before(l, 1)->lane,
                      .width = dispatched_before(l, l->core.dispatch_width)->lane,
                      .room = committed_before(l, n->room)->lane};
    find_operands(l, n, &e);
    if (waits_in_fetch(l, n)) {
        fetch(l, n, l->insns);
        dispatch(d, decoded_at(l, l->insns), &e);
        await_operands(t, d, &e);
    } else {
        e.front = find_front_edges(l, n, l->insns);
        pass_front(&l->fetched, decoded_at(l, l->insns), d, t, &e, (int)l->core.front_stages);
        end_fetch(l, n);
    }
    if (l->limits.has_queues && enter_queues(l, need, d))
        ALL_LANES(i)
    t->lane[i] = later(t->lane[i], after(d->lane[i], 1));
}

/* An instruction of a core without bundles. */
INLINE void evaluate(struct lanes *restrict l, const struct graph_node *n)
{
    const struct contention_need *need = &l->limits.need[n->class];
    struct row *t = issued_at(l, l->insns);
    evaluate_front(l, n, need, t);
    if (n->flags & (NODE_LOAD | NODE_STORE) || n->wrong_path.cycles) {
        complete(l, n, need, t);
        commit(l, n, &l->result);
    } else {
        issue_when_ready(l, n, need, t);
        pass_back(&l->result, n->dest ? &l->reg[n->dest] : &l->unused, committed_at(l, l->insns), t,
                  committed_before(l, 1), committed_before(l, l->core.commit_width),
                  (int)l->core.timing[n->class].latency);
        if (l->limits.has_queues)
            leave_queues(l, need, t);
    }
    l->arrivals += node_arrivals(n);
    l->insns++;
}

/* ---- all instructions */

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
