/* Dispatch: instructions that have come through the front end enter the window, in order, with renaming; and what a
 * misprediction undoes. */
#include "core/core_priv.h"

/* ---- is there room? */

/* What instructions need to enter. */
struct need {
    unsigned rob, iq, queue[QUEUES], loads, stores, int_regs, fp_regs;
};

static void add_need(const struct core *c, struct need *n, const struct code *code)
{
    n->rob++;
    n->iq++;
    n->queue[c->timing[code->class].queue]++;
    n->stores += (code->flags & IS_STORE) != 0;
    n->loads += (code->flags & IS_MEM) == IS_LOAD;
    n->fp_regs += code->dest >= REG_FP;
    n->int_regs += code->dest != 0 && code->dest < REG_FP;
}

static enum dispatch_stop lacking(const struct core *c, const struct need *n)
{
    if (c->rob_used + n->rob > c->rob_size)
        return DISPATCH_ROB;
    if (c->iq_used + n->iq > c->iq_size)
        return DISPATCH_IQ;
    for (unsigned q = 0; q < QUEUES; q++)
        if (c->queue_used[q] + n->queue[q] > c->queue_size[q])
            return DISPATCH_IQ;
    if (c->loads_used + c->stores_used + n->loads + n->stores > c->lsq_size ||
        c->loads_used + n->loads > c->lsq_loads || c->stores_used + n->stores > c->lsq_stores)
        return DISPATCH_LSQ;
    if (c->int_used + n->int_regs > c->int_regs || c->fp_used + n->fp_regs > c->fp_regs)
        return DISPATCH_REGS;
    return DISPATCH_WIDTH;
}

/* The same for one instruction, the hot case. */
static inline enum dispatch_stop lacking_one(const struct core *c, const struct code *code)
{
    if (c->rob_used >= c->rob_size)
        return DISPATCH_ROB;
    if (c->iq_used >= c->iq_size)
        return DISPATCH_IQ;
    if (code->flags & IS_MEM) {
        bool store = code->flags & IS_STORE;
        if (c->loads_used + c->stores_used >= c->lsq_size ||
            (store ? c->stores_used >= c->lsq_stores : c->loads_used >= c->lsq_loads))
            return DISPATCH_LSQ;
    }
    if (UNLIKELY(c->scarce)) {
        struct need n = {0};
        add_need(c, &n, code);
        return lacking(c, &n);
    }
    return DISPATCH_WIDTH;
}

/* ---- entering */

/* Joins the list of the source's producer, if that is not done; true if it has to wait. */
static inline bool await(struct core *c, struct flight *f, unsigned operand)
{
    unsigned producer = c->map[f->code->source[operand]];
    if (producer == NO_SLOT)
        return false;
    struct flight *p = &c->window[producer];
    if (p->state == DONE)
        return false;
    f->producer[operand] = (uint16_t)producer;
    f->next[operand] = p->consumers;
    p->consumers = (uint16_t)(slot_of(c, f) * 4 + operand);
    return true;
}

static inline void rename_sources(struct core *c, struct flight *f)
{
    const struct code *code = f->code;
    unsigned waits = await(c, f, 0);
    bool second = await(c, f, 1);
    if (UNLIKELY((code->flags & (IS_STORE | IS_AT_HEAD)) == IS_STORE))
        c->store[f->store & c->store_mask].data_known = !second; /* data may come later than the address */
    else
        waits += second;
    if (UNLIKELY(code->source[2]))
        waits += await(c, f, 2);
    f->waits = (uint8_t)waits;
}

static inline void enter(struct core *c, struct flight *f)
{
    const struct code *code = f->code;
    f->state = WAITING;
    f->flags |= IN_IQ;
    f->wait = HEAD_ISSUE;
    c->iq_used++;
    c->queue_used[c->timing[code->class].queue]++;
    f->store = c->store_tail;
    if (code->flags & IS_MEM)
        lsq_dispatch(c, f);
    rename_sources(c, f);
    if (code->dest) {
        f->renamed = c->map[code->dest];
        c->map[code->dest] = (uint16_t)slot_of(c, f);
        if (code->dest >= REG_FP)
            c->fp_used++;
        else
            c->int_used++;
    }
    c->dispatched++;
    OBSERVE(c, dispatched, f);
    if (f->waits == 0)
        core_operands_ready(c, f);
}

/* How many of the instructions that are ready form the next bundle. */
static unsigned bundle_length(struct core *c)
{
    unsigned n = 0;
    while (n < c->bundle && c->dispatched + n < c->tail) {
        const struct flight *f = flight_at(c, c->dispatched + n);
        if (f->when > c->now)
            break;
        n++;
        if (f->code->flags & IS_CONTROL)
            break;
    }
    return n;
}

static uint32_t dispatch_bundle(struct core *c)
{
    unsigned n = bundle_length(c);
    struct need need = {0};
    for (unsigned i = 0; i < n; i++)
        add_need(c, &need, flight_at(c, c->dispatched + i)->code);
    need.rob = c->bundle;
    enum dispatch_stop why = n ? lacking(c, &need) : DISPATCH_EMPTY;
    if (why != DISPATCH_WIDTH)
        return stage_result(0, why);
    unsigned first = (unsigned)(c->dispatched & c->mask);
    c->more[first].bundle_left = c->more[first].bundle_size = (uint8_t)n;
    c->rob_used += c->bundle;
    for (unsigned i = 0; i < n; i++) {
        c->more[c->dispatched & c->mask].bundle = (uint16_t)first;
        enter(c, flight_at(c, c->dispatched));
    }
    c->counts.dispatched += n;
    return stage_result(n, n < c->bundle ? DISPATCH_BUNDLE : DISPATCH_WIDTH);
}

uint32_t core_dispatch(struct core *c)
{
    unsigned n = 0, why = DISPATCH_WIDTH;
    if (UNLIKELY(c->bundle))
        return dispatch_bundle(c);
    for (; n < c->dispatch_width; n++) {
        struct flight *f = flight_at(c, c->dispatched);
        if (c->dispatched == c->tail || f->when > c->now) {
            why = DISPATCH_EMPTY;
            break;
        }
        why = lacking_one(c, f->code);
        if (why != DISPATCH_WIDTH)
            break;
        c->rob_used++;
        enter(c, f);
    }
    c->counts.dispatched += n;
    return stage_result(n, why);
}

/* ---- undoing */

/* Consumers enter their producers' lists in program order, so the youngest stands at the front of each. */
static void forget_producers(struct core *c, struct flight *f)
{
    for (unsigned i = SOURCES; i-- > 0;)
        if (f->producer[i] != NO_SLOT)
            c->window[f->producer[i]].consumers = f->next[i];
}

/* The register is again that of the instruction before, unless that has committed. */
static void restore_map(struct core *c, struct flight *f, uint64_t position)
{
    unsigned dest = f->code->dest;
    bool in_rob = f->renamed != NO_SLOT && ((f->renamed - c->head) & c->mask) < position - c->head;
    c->map[dest] = in_rob ? f->renamed : NO_SLOT;
    if (dest >= REG_FP)
        c->fp_used--;
    else
        c->int_used--;
}

static void leave_window(struct core *c, struct flight *f, uint64_t position)
{
    if (f->flags & IN_WHEEL)
        wheel_remove(c, f);
    if (f->state == READY)
        core_unready(c, f);
    core_leave_queue(c, f);
    forget_producers(c, f);
    if (f->code->dest)
        restore_map(c, f, position);
    if (f->code->flags & IS_MEM)
        lsq_squash(c, f);
    if (!c->bundle)
        c->rob_used--;
    else if (c->more[slot_of(c, f)].bundle == slot_of(c, f))
        c->rob_used -= c->bundle;
}

void core_squash(struct core *c, uint64_t from)
{
    for (uint64_t position = c->tail; position-- > from;) {
        struct flight *f = flight_at(c, position);
        OBSERVE(c, squashed, f);
        if (position < c->dispatched)
            leave_window(c, f, position);
        if (f->code->flags & IS_CONTROL)
            c->branch_tail--;
    }
    c->counts.squashed += c->tail - from;
    c->tail = from;
    if (c->dispatched > from)
        c->dispatched = from;
    if (c->issue_next > from)
        c->issue_next = from;
    c->decode_cycle = 0;
}
