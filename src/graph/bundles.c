#include "graph/bundles.h"

#include <stdlib.h>
#include <string.h>

#include "graph/lanes_memory.h"
#include "graph/lanes_rows.h"

enum {
    NODES = 2 * BUNDLE_MOST /* those that have been fetched ahead, and those whose bundle may not have ended */
};

/* A node, with what its store needs when it commits. */
struct member {
    struct graph_node node;
    uint32_t store, arrivals;             /* number of its store; arrivals before it */
    struct contention_wait waits[JUDGES]; /* how long its store waits for an MSHR, as far as judges have committed it */
};

struct bundles {
    unsigned most, slots;           /* instructions in a bundle; bundles that the ROB holds */
    uint64_t known, fetched, nodes; /* how many nodes have committed in all lanes, been fetched, and come so far */
    struct member member[NODES];    /* by number of the node modulo NODES */
    struct row left, place;         /* of the bundle of the last instruction: how many are behind it, and before it */
    struct row dispatched;          /* of that bundle */
    struct row complete;            /* it can commit, as far as its instructions have completed */
    struct row committed;           /* the last bundle before it */
    struct row *freed;              /* commit of the last bundles, as many as the ROB holds, the first one first */
};

static struct member *member_at(struct bundles *b, uint64_t number)
{
    return &b->member[number % NODES];
}

INLINE bool any_lane(const struct row *r)
{
    lane_time any = 0;
    ALL_LANES(i)
    any |= r->lane[i];
    return any;
}

/* ---- dispatch */

/* In the lanes of the mask `open`, an instruction joins the bundle that dispatches at the times in `d` if it has passed
 * the front end by then, which may make the bundle wait for room. Then `behind` counts it. */
INLINE void join(struct row *restrict d, struct row *restrict open, struct row *restrict behind,
                 const struct row *restrict decoded, const struct row *restrict room)
{
    ALL_LANES(i)
    {
        lane_time joins = open->lane[i] & (decoded->lane[i] <= d->lane[i] ? -1 : 0);
        d->lane[i] = later(d->lane[i], joins ? room->lane[i] : TIME_LEAST);
        behind->lane[i] = (lane_time)(behind->lane[i] - joins);
        open->lane[i] = joins;
    }
}

/* The commit that node number `insn` waits for. */
INLINE const struct row *room_of(const struct lanes *l, const struct graph_node *n, uint64_t insn)
{
    return n->room ? committed_at(l, insn - n->room) : &l->never;
}

/* The next instruction begins a bundle in some lanes and continues one in the others. Sets `d` to its dispatch. */
INLINE void form(struct lanes *l, struct bundles *b, struct row *d)
{
    const struct graph_node *n = &member_at(b, l->insns)->node;
    const struct row *decoded = decoded_at(l, l->insns), *room = room_of(l, n, l->insns);
    struct row begins, open, behind = {{0}}, *rob = &b->freed[0];
    ALL_LANES(i)
    {
        begins.lane[i] = open.lane[i] = b->left.lane[i] ? 0 : -1;
        lane_time order = after(b->dispatched.lane[i], 1);
        d->lane[i] = later(later(decoded->lane[i], order), later(room->lane[i], rob->lane[i]));
    }
    for (uint64_t k = l->insns + 1; k < l->insns + b->most && k < b->fetched && any_lane(&open); k++) {
        const struct graph_node *next = &member_at(b, k)->node;
        if ((member_at(b, k - 1)->node.flags & NODE_ENDS_BUNDLE) || next->flags & NODE_AT_HEAD)
            break;
        join(d, &open, &behind, decoded_at(l, k), room_of(l, next, k));
    }
    ALL_LANES(i)
    {
        lane_time new = begins.lane[i];
        d->lane[i] = new ? d->lane[i] : b->dispatched.lane[i];
        b->left.lane[i] = new ? behind.lane[i] : (lane_time)(b->left.lane[i] - 1);
        b->place.lane[i] = new ? 0 : (lane_time)(b->place.lane[i] + 1);
    }
}

void bundles_share(const struct lanes *l, unsigned match, struct row *same)
{
    const struct bundles *b = l->bundles;
    unsigned distance = 1;
    while (distance < b->most && distance <= l->insns &&
           (!(b->member[(l->insns - distance) % NODES].node.flags & NODE_STORE) || --match))
        distance++;
    ALL_LANES(i)
    same->lane[i] = distance < b->most && b->place.lane[i] >= (lane_time)distance ? -1 : 0;
}

/* ---- commit */

/* Those rows that the store of `m` sets as it drains. Returns how many. */
static unsigned rows_of_store(struct lanes *l, const struct member *m, struct row *rows[8])
{
    unsigned count = 0;
    rows[count++] = &l->access;
    rows[count++] = &l->leave;
    rows[count++] = &l->left[m->store & l->store_mask];
    for (unsigned k = 1; !(m->node.flags & NODE_LOAD) && k <= node_arrivals(&m->node); k++)
        rows[count++] = &l->arrival[(m->arrivals + k) % GRAPH_ARRIVALS];
    return count;
}

INLINE void keep_others(struct row *restrict to, const struct row *restrict from, const struct row *restrict mask)
{
    ALL_LANES(i)
    to->lane[i] = mask->lane[i] ? to->lane[i] : from->lane[i];
}

/* The store of a node whose bundle has committed at the times in `committed`, in the lanes of a mask, leaves through
 * the store buffer. */
FOR_EACH_HOST static void drain(struct lanes *l, struct member *m, const struct row *committed, const struct row *mask)
{
    struct row *rows[8], before[8], c = *committed;
    uint32_t stores = l->stores, arrivals = l->arrivals;
    unsigned count = rows_of_store(l, m, rows);
    for (unsigned k = 0; k < count; k++)
        before[k] = *rows[k];
    l->stores = m->store - 1;
    l->arrivals = m->arrivals;
    l->waits = m->waits;
    for (unsigned j = 0; j < JUDGES; j++)
        if (!mask->lane[l->judge_lane[j]])
            l->judging &= (uint16_t) ~(1 << j);
    lanes_drain(l, &m->node, &c);
    for (unsigned k = 0; k < count; k++)
        keep_others(rows[k], &before[k], mask);
    l->judging = ALL_JUDGES;
    l->waits = NULL;
    l->stores = stores;
    l->arrivals = arrivals;
}

INLINE void choose(struct row *restrict to, const struct row *restrict from, const struct row *restrict mask)
{
    ALL_LANES(i)
    to->lane[i] = (lane_time)((to->lane[i] & ~mask->lane[i]) | (from->lane[i] & mask->lane[i]));
}

/* Bundles that end with this instruction will free the ROB when those before them have. */
INLINE void free_rob(struct bundles *b, const struct row *ends)
{
    for (unsigned k = 0; k + 1 < b->slots; k++)
        choose(&b->freed[k], &b->freed[k + 1], ends);
    choose(&b->freed[b->slots - 1], &b->committed, ends);
}

/* Sets `mask` to the lanes in which a bundle ends that has the instruction `distance` back. */
INLINE void mask_members(struct row *restrict mask, const struct row *restrict ends, const struct row *restrict place,
                         lane_time distance)
{
    ALL_LANES(i)
    mask->lane[i] = ends->lane[i] & (lane_time)(place->lane[i] >= distance ? -1 : 0);
}

/* An instruction of a bundle completes at the times in `x`. Sets `ends` to the lanes in which the bundle ends with it,
 * and `last` to its commit there. */
INLINE void complete_bundle(struct bundles *restrict b, const struct row *restrict x, struct row *restrict last,
                            struct row *restrict ends)
{
    ALL_LANES(i)
    {
        lane_time end = b->left.lane[i] ? 0 : -1, before = b->place.lane[i] ? b->complete.lane[i] : TIME_LEAST;
        lane_time order = after(b->committed.lane[i], 1), complete = later(after(x->lane[i], 1), before);
        complete = later(complete, end ? order : TIME_LEAST);
        ends->lane[i] = end;
        b->complete.lane[i] = last->lane[i] = complete;
        b->committed.lane[i] = end ? complete : b->committed.lane[i];
    }
}

/* An instruction has completed: bundles that end with it commit. `before`: most instructions of these before it. */
INLINE void commit_bundle(struct lanes *l, struct bundles *b, const struct row *x, unsigned before)
{
    struct row ends, *last = committed_at(l, l->insns);
    complete_bundle(b, x, last, &ends);
    if (!any_lane(&ends))
        return;
    for (unsigned k = 1; k <= before; k++) {
        struct row mask;
        mask_members(&mask, &ends, &b->place, (lane_time)k);
        choose(committed_at(l, l->insns - k), last, &mask);
    }
    free_rob(b, &ends);
    for (unsigned k = before + 1; k-- > 0;) {
        struct row mask;
        struct member *m = member_at(b, l->insns - k);
        if (!(m->node.flags & NODE_STORE))
            continue;
        mask_members(&mask, &ends, &b->place, (lane_time)k);
        if (any_lane(&mask))
            drain(l, m, last, &mask);
    }
}

/* ---- one instruction */

/* The store has a number, and those of its arrivals, which are unknown until its bundle commits. Sets `x` to when the
 * store buffer has room. */
INLINE void number_store(struct lanes *l, struct member *m, struct row *x)
{
    uint32_t size = l->core.store_buffer_size;
    m->store = ++l->stores;
    if (m->store > size)
        raise(x, &l->left[(m->store - size) & l->store_mask]);
    memset(m->waits, 0, sizeof m->waits);
    for (unsigned k = 1; !(m->node.flags & NODE_LOAD) && k <= node_arrivals(&m->node); k++) {
        l->arrival[(l->arrivals + k) % GRAPH_ARRIVALS] = l->never;
        memset(l->made[(l->arrivals + k) % GRAPH_ARRIVALS], 0, sizeof *l->made);
    }
}

FOR_EACH_HOST static void execute_next(struct lanes *l, struct bundles *b)
{
    struct member *m = member_at(b, l->insns);
    struct row *d = dispatched_at(l, l->insns);
    form(l, b, d);
    lanes_execute(l, &m->node, d);
    b->dispatched = *d;
    struct row complete = l->result;
    m->arrivals = l->arrivals;
    if (m->node.flags & NODE_STORE)
        number_store(l, m, &complete);
    l->arrivals += node_arrivals(&m->node);
    commit_bundle(l, b, &complete, (unsigned)(l->insns - b->known));
    l->insns++;
    b->known = !any_lane(&b->left) ? l->insns : b->known + b->most > l->insns ? b->known : l->insns - b->most + 1;
}

static bool ends_bundle(struct bundles *b, uint64_t number)
{
    return member_at(b, number)->node.flags & NODE_ENDS_BUNDLE;
}

/* Fetches ahead and executes, as far as it is known which instructions may form bundles. `all`: no more will come. */
static void go_on(struct lanes *l, struct bundles *b, bool all)
{
    for (;;) {
        while (b->fetched < b->nodes && b->fetched < l->insns + b->most &&
               (b->fetched == l->insns || !ends_bundle(b, b->fetched - 1))) {
            lanes_fetch(l, &member_at(b, b->fetched)->node, b->fetched);
            b->fetched++;
        }
        if (b->fetched == l->insns)
            return;
        if (!all && b->fetched < l->insns + b->most && !ends_bundle(b, b->fetched - 1))
            return;
        execute_next(l, b);
    }
}

/* ---- all instructions */

/* Whether times have room for the growth that is due, and for so much more. */
static bool have_room(const struct lanes *l, unsigned by)
{
    return lanes_latest_time(l) + (int)(l->slack + by) <= TIME_MOST + SLACK_MOST;
}

/* Makes room for times that grow by so much. Instructions that have come before may still grow. If even new bases leave
 * no room, the bundle in progress ends. */
static void limit_times(struct lanes *l, struct bundles *b, unsigned by)
{
    if (l->slack + by <= SLACK_MOST)
        return;
    l->slack = 0;
    for (uint64_t k = l->insns < b->most ? 0 : l->insns - b->most; k < b->nodes; k++)
        l->slack += lanes_growth(&l->core, &member_at(b, k)->node);
    if (lanes_latest_time(l) >= TIME_MOST || !have_room(l, by))
        lanes_move_bases(l);
    if (have_room(l, by))
        return;
    bundles_flush(l);
    lanes_move_bases(l);
    l->slack = 0;
}

void bundles_evaluate(struct lanes *l, const struct graph_node *n, unsigned count)
{
    struct bundles *b = l->bundles;
    for (unsigned i = 0; i < count; i++) {
        unsigned by = lanes_growth(&l->core, &n[i]);
        limit_times(l, b, by);
        l->slack += by;
        member_at(b, b->nodes++)->node = n[i];
        go_on(l, b, false);
    }
}

void bundles_flush(struct lanes *l)
{
    go_on(l, l->bundles, true);
    l->bundles->known = l->insns;
}

uint64_t bundles_known(const struct lanes *l)
{
    return l->bundles->known;
}

/* ---- setup */

struct bundles *bundles_new(const struct graph_core *c)
{
    struct bundles *b = aligned_alloc(64, (sizeof *b + 63) / 64 * 64);
    if (b == NULL)
        return NULL;
    memset(b, 0, sizeof *b);
    b->most = c->bundle;
    b->slots = c->rob_size / c->bundle;
    b->freed = aligned_alloc(64, (b->slots * sizeof *b->freed + 63) / 64 * 64);
    if (b->freed == NULL) {
        bundles_free(b);
        return NULL;
    }
    for (unsigned k = 0; k < bundles_rows(b); k++)
        ALL_LANES(i)
    bundles_row(b, k)->lane[i] = TIME_LEAST;
    return b;
}

void bundles_free(struct bundles *b)
{
    if (b == NULL)
        return;
    free(b->freed);
    free(b);
}

unsigned bundles_rows(const struct bundles *b)
{
    return 3 + b->slots;
}

struct row *bundles_row(struct bundles *b, unsigned number)
{
    struct row *own[] = {&b->dispatched, &b->complete, &b->committed};
    return number < 3 ? own[number] : &b->freed[number - 3];
}
