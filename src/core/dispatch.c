/* Dispatch: instructions that have passed the front end enter the ROB in order, with their registers renamed. Also
 * squash, which undoes dispatch after a misprediction. */
#include "core/core_priv.h"

/* ---- limits */

/* Resources that instructions need to dispatch. */
struct need {
    unsigned rob, iq, queue[QUEUES], loads, stores, int_regs, fp_regs;
};

static void add_need(const struct core *restrict c, struct need *n, const struct code *code)
{
    n->rob++;
    n->iq++;
    n->queue[c->timing[code->class].queue]++;
    n->stores += (code->flags & IS_STORE) != 0;
    n->loads += (code->flags & IS_MEM) == IS_LOAD;
    n->fp_regs += code->dest >= REG_FP;
    n->int_regs += code->dest != 0 && code->dest < REG_FP;
}

/* Returns the first resource that is short, or DISPATCH_WIDTH if all are available. */
static enum dispatch_stop lacking(const struct core *restrict c, const struct need *n)
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

/* The same as lacking() for one instruction that is known to have room in the ROB and the issue queue: the hot case. */
static inline enum dispatch_stop lacking_one(const struct core *restrict c, const struct code *code)
{
    if (code->flags & IS_MEM) {
        bool store = code->flags & IS_STORE;
        if (c->loads_used + c->stores_used >= c->lsq_size ||
            (store ? c->stores_used >= c->lsq_stores : c->loads_used >= c->lsq_loads))
            return DISPATCH_LSQ;
    }
    if (UNLIKELY(c->limits_by_class)) {
        struct need n = {0};
        add_need(c, &n, code);
        return lacking(c, &n);
    }
    return DISPATCH_WIDTH;
}

/* ---- entering the ROB */

/* Adds one operand of f to its producer's list of consumers. Returns 1 if the operand has to wait for the producer, 0
 * if its value is available. The code has no branches because the host cannot predict which operands are available: an
 * operand that does not wait is added to a dummy list that nothing reads, in the place of `f->renamed`, which is set
 * later. */
static inline unsigned await(struct core *restrict c, struct flight *f, unsigned slot, unsigned operand)
{
    uint64_t position = c->map[f->code->source[operand]];
    unsigned producer = (unsigned)position & c->mask;
    struct flight *p = &c->window[producer];
    unsigned waits = (position >= c->head) & (p->state != DONE);
    uintptr_t theirs = (uintptr_t)&p->consumers, own = (uintptr_t)&f->renamed;
    uint16_t *list = (uint16_t *)(own ^ ((own ^ theirs) & -(uintptr_t)waits));
    f->producer[operand] = (uint16_t)(slot ^ ((slot ^ producer) & -waits));
    f->next[operand] = *list;
    *list = (uint16_t)(slot * 4 + operand);
    return waits;
}

/* Looks up the producers of the operands. Returns how many operands the instruction lacks for issue. */
static inline unsigned rename_sources(struct core *restrict c, struct flight *f, unsigned slot)
{
    const struct code *code = f->code;
    unsigned waits = await(c, f, slot, 0);
    unsigned second = await(c, f, slot, 1);
    if (UNLIKELY((code->flags & (IS_STORE | IS_AT_HEAD)) == IS_STORE))
        c->store[f->store & c->store_mask].data_known = !second; /* a store issues without its data */
    else
        waits += second;
    f->producer[2] = (uint16_t)slot;
    if (UNLIKELY(code->source[2]))
        waits += await(c, f, slot, 2);
    f->missing_operands = (uint8_t)waits;
    return waits;
}

/* Makes the instruction the youngest producer of its destination register. */
static inline void rename_dest(struct core *restrict c, struct flight *f, unsigned dest)
{
    uint64_t before = c->map[dest];
    f->renamed = (uint16_t)((before & c->mask) | (before < c->head ? NO_SLOT : 0));
    c->map[dest] = c->dispatched;
    if (UNLIKELY(c->limits_by_class)) {
        c->fp_used += dest >= REG_FP;
        c->int_used += dest < REG_FP;
    }
}

/* Whether the observer wants `dispatched` for an observed instruction. With OBSERVE_MISSES, instructions of the wrong
 * path are reported only if they enter an empty ROB. */
static inline bool reports_dispatch(const struct core *restrict c, const struct flight *f)
{
    return !c->misses_observed || !(f->flags & WRONG_PATH) || c->head + 1 == c->dispatched;
}

/* Moves the instruction at `dispatched` from the front end into the ROB and the issue queue. The caller has checked
 * that there is room, and counts the ROB entry. */
static inline void enter(struct core *restrict c, struct flight *f)
{
    const struct code *code = f->code;
    unsigned slot = (unsigned)(c->dispatched & c->mask), flags = code->flags;
    uint64_t notable = (uint64_t)((flags & IS_NOTABLE) != 0) | (f->events != 0) | c->all_notable |
                       (uint64_t)((f->flags & OBSERVED) != 0);
    c->notable[slot / 64] = (c->notable[slot / 64] & ~(UINT64_C(1) << slot % 64)) | notable << slot % 64;
    c->iq_used++;
    if (UNLIKELY(c->limits_by_class))
        c->queue_used[c->timing[code->class].queue]++;
    f->store = c->store_tail;
    if (flags & IS_MEM)
        lsq_dispatch(c, f);
    unsigned waits = rename_sources(c, f, slot);
    if (code->dest)
        rename_dest(c, f, code->dest);
    c->dispatched++;
    c->refill.empty = false;
    if (UNLIKELY(f->flags & OBSERVED))
        OBSERVE_IF(reports_dispatch(c, f), c, dispatched, f);
    if (UNLIKELY(flags & (IS_LOAD | c->at_head))) {
        if (waits == 0)
            core_operands_ready(c, f);
        return;
    }
    uint64_t ready = waits == 0;
    unsigned pool = c->timing[code->class].pool;
    f->state = (uint8_t)(WAITING + (READY - WAITING) * ready);
    c->ready_words |= ready << slot / 64;
    c->ready_any[slot / 64] |= ready << slot % 64;
    c->ready[pool][slot / 64] |= ready << slot % 64;
}

/* Returns how many instructions that have passed the front end form the next bundle. A control transfer ends a bundle;
 * an instruction that issues only as the oldest is a bundle of its own. */
static unsigned bundle_length(struct core *restrict c)
{
    unsigned n = 0;
    while (n < c->bundle && c->dispatched + n < c->tail) {
        const struct flight *f = flight_at(c, c->dispatched + n);
        if (f->when > c->now)
            break;
        if (f->code->flags & IS_AT_HEAD && n > 0)
            break;
        n++;
        if (f->code->flags & (IS_CONTROL | IS_AT_HEAD))
            break;
    }
    return n;
}

/* Dispatches one bundle as a whole, or nothing. A bundle takes the room of a full one in the ROB. */
static uint64_t dispatch_bundle(struct core *restrict c)
{
    unsigned n = bundle_length(c);
    struct need need = {0};
    for (unsigned i = 0; i < n; i++)
        add_need(c, &need, flight_at(c, c->dispatched + i)->code);
    need.rob = c->bundle;
    enum dispatch_stop why = n ? lacking(c, &need) : DISPATCH_EMPTY;
    if (why != DISPATCH_WIDTH)
        return stage_result(STAGE_DISPATCH, 0, why);
    unsigned first = (unsigned)(c->dispatched & c->mask);
    c->cold[first].bundle_left = c->cold[first].bundle_size = (uint8_t)n;
    c->rob_used += c->bundle;
    unsigned wrong = 0;
    for (unsigned i = 0; i < n; i++) {
        struct flight *f = flight_at(c, c->dispatched);
        c->cold[c->dispatched & c->mask].bundle = (uint16_t)first;
        wrong += (f->flags & WRONG_PATH) != 0;
        enter(c, f);
    }
    record_add_wrong_dispatched(&c->record, wrong);
    c->counts.dispatched += n;
    return stage_result(STAGE_DISPATCH, n, n < c->bundle ? DISPATCH_BUNDLE : DISPATCH_WIDTH);
}

uint64_t core_dispatch(struct core *restrict c)
{
    unsigned n = 0, most = c->dispatch_width, why = DISPATCH_WIDTH, wrong = 0;
    if (UNLIKELY(c->bundle))
        return dispatch_bundle(c);
    if (c->tail - c->dispatched < most) {
        most = (unsigned)(c->tail - c->dispatched);
        why = DISPATCH_EMPTY;
    }
    if (c->rob_size - c->rob_used < most) {
        most = c->rob_size - c->rob_used;
        why = DISPATCH_ROB;
    }
    if (c->iq_size - c->iq_used < most) {
        most = c->iq_size - c->iq_used;
        why = DISPATCH_IQ;
    }
    for (; n < most; n++) {
        struct flight *f = flight_at(c, c->dispatched);
        if (f->when > c->now) {
            why = DISPATCH_EMPTY;
            break;
        }
        enum dispatch_stop lacks = lacking_one(c, f->code);
        if (UNLIKELY(lacks != DISPATCH_WIDTH)) {
            why = lacks;
            break;
        }
        wrong += (f->flags & WRONG_PATH) != 0;
        enter(c, f);
    }
    record_add_wrong_dispatched(&c->record, wrong);
    c->rob_used += n;
    c->counts.dispatched += n;
    return stage_result(STAGE_DISPATCH, n, why);
}

/* ---- squash */

/* Removes f from its producers' lists. Consumers enter these lists in program order and squash goes from the youngest
 * on, so f is at the front of each. */
static void forget_producers(struct core *restrict c, struct flight *f)
{
    for (unsigned i = SOURCES; i-- > 0;)
        c->window[f->producer[i]].consumers = f->next[i];
}

/* Maps the destination register back to its previous producer, or to the architectural register if that producer has
 * retired. */
static void restore_map(struct core *restrict c, struct flight *f, uint64_t position)
{
    unsigned dest = f->code->dest, distance = (f->renamed - (unsigned)c->head) & c->mask;
    bool in_rob = f->renamed != NO_SLOT && distance < position - c->head;
    c->map[dest] = in_rob ? c->head + distance : 0;
    if (UNLIKELY(c->limits_by_class)) {
        c->fp_used -= dest >= REG_FP;
        c->int_used -= dest < REG_FP;
    }
}

/* Frees everything that a dispatched instruction holds. */
static void leave_window(struct core *restrict c, struct flight *f, uint64_t position)
{
    if (f->flags & IN_WHEEL)
        wheel_remove(c, f);
    if (f->state == READY)
        core_unready(c, f);
    else if (f->state == DONE)
        c->done[slot_of(c, f) / 64] &= ~(UINT64_C(1) << slot_of(c, f) % 64);
    if (f->state == WAITING || f->state == WAITS_FOR_EVENT || f->state == READY)
        core_leave_queue(c, f);
    f->state = GONE;
    forget_producers(c, f);
    if (f->code->dest)
        restore_map(c, f, position);
    if (f->code->flags & IS_MEM)
        lsq_squash(c, f);
    if (!c->bundle)
        c->rob_used--;
    else if (c->cold[slot_of(c, f)].bundle == slot_of(c, f))
        c->rob_used -= c->bundle;
}

void core_squash(struct core *restrict c, uint64_t from)
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
