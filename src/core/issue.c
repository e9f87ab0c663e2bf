/* Issue and completion: what has its operands and a unit goes, oldest first; what finishes wakes those that wait. */
#include "core/core_priv.h"

void core_make_ready(struct core *c, struct flight *f)
{
    unsigned slot = slot_of(c, f);
    f->state = READY;
    c->ready[f->pool][slot / 64] |= UINT64_C(1) << slot % 64;
    c->ready_count[f->pool]++;
    c->ready_total++;
}

static void no_longer_ready(struct core *c, struct flight *f)
{
    unsigned slot = slot_of(c, f);
    c->ready[f->pool][slot / 64] &= ~(UINT64_C(1) << slot % 64);
    c->ready_count[f->pool]--;
    c->ready_total--;
}

void core_operands_ready(struct core *c, struct flight *f)
{
    unsigned flags = f->code->flags;
    if (UNLIKELY(flags & IS_AT_HEAD || c->order == ISSUE_IN_ORDER_SERIAL))
        f->state = BLOCKED;
    else if (!(flags & IS_LOAD) || lsq_may_issue(c, f))
        core_make_ready(c, f);
}

/* ---- completion */

static void resolve(struct core *c, struct flight *f)
{
    const struct branch_record *r = &c->branch[f->branch & c->branch_mask];
    OBSERVE(c, resolved, f);
    if (!(f->flags & MISPREDICTED))
        return;
    uint64_t position = c->head + ((slot_of(c, f) - c->head) & c->mask);
    c->counts.mispredictions_spec++;
    core_squash(c, position + 1);
    path_return(&c->paths, f->level);
    branch_recover(c->predictor, r, f->flags & TAKEN, f->addr);
    c->line[0] = c->line[1] = NEVER;
    c->fetch_lost = false;
    c->fetch_events = 0;
    c->fetch_resume = c->now;
}

void core_finish(struct core *c, struct flight *f)
{
    f->state = DONE;
    OBSERVE(c, completed, f);
    for (unsigned link = f->consumers; link != NO_SLOT;) {
        struct flight *g = &c->window[link / 4];
        unsigned operand = link % 4;
        link = g->next[operand];
        g->producer[operand] = NO_SLOT;
        if (operand == 1 && (g->code->flags & (IS_STORE | IS_AT_HEAD)) == IS_STORE)
            lsq_data_ready(c, g);
        else if (--g->waits == 0)
            core_operands_ready(c, g);
    }
    f->consumers = NO_SLOT;
    if (UNLIKELY(c->bundle))
        c->window[f->bundle].bundle_left--;
    if (f->code->flags & IS_CONTROL)
        resolve(c, f);
}

/* Entries are taken off one by one, since a misprediction removes younger ones from the same list. */
void core_complete(struct core *c)
{
    unsigned i = c->now % WHEEL;
    while (c->wheel[i] != NO_SLOT) {
        struct flight *f = &c->window[c->wheel[i]];
        wheel_remove(c, f);
        if (UNLIKELY(f->when > c->now)) {
            wheel_add(c, f);
            continue;
        }
        c->active = true;
        if (f->state == BLOCKED)
            core_make_ready(c, f);
        else if (f->code->flags & IS_STORE)
            lsq_address_known(c, f);
        else
            core_finish(c, f);
    }
}

/* ---- issue */

static void occupy_unit(struct core *c, unsigned pool, uint64_t until)
{
    for (unsigned u = 0; u < c->units[pool]; u++) {
        if (c->busy_until[pool][u] <= c->now) {
            c->busy_until[pool][u] = until;
            break;
        }
    }
    if (c->pool_busy[pool] < until)
        c->pool_busy[pool] = until;
}

static unsigned free_units(const struct core *c, unsigned pool)
{
    unsigned n = c->units[pool];
    if (c->pool_busy[pool] > c->now)
        for (unsigned u = 0; u < c->units[pool]; u++)
            n -= c->busy_until[pool][u] > c->now;
    return n;
}

void core_leave_queue(struct core *c, struct flight *f)
{
    if (f->flags & IN_IQ) {
        f->flags &= (uint8_t)~IN_IQ;
        c->iq_used--;
        c->queue_used[f->queue]--;
    }
}

static void issue_one(struct core *c, struct flight *f)
{
    unsigned class = f->code->class;
    no_longer_ready(c, f);
    c->counts.issued++;
    OBSERVE(c, issued, f);
    if (f->code->flags & (IS_MEM | IS_PREFETCH)) {
        lsq_issue(c, f);
        return;
    }
    core_leave_queue(c, f);
    f->state = ISSUED;
    f->when = c->now + c->latency[class];
    f->wait = c->latency[class] > 1 ? HEAD_UNIT : HEAD_ALU;
    if (c->interval[class] > 1)
        occupy_unit(c, f->pool, c->now + c->interval[class]);
    wheel_add(c, f);
}

/* One cycle's choice of instructions. */
struct selection {
    unsigned left;        /* of the width */
    unsigned open;        /* pools that have something ready and a unit free, one bit each */
    unsigned free[POOLS]; /* units */
    bool refused;         /* something was ready and found no unit or port */
};

/* Whether f may go; else what it lacks is noted. */
static bool admit(struct core *c, struct selection *s, struct flight *f)
{
    if (s->free[f->pool] == 0) {
        s->open &= ~(1u << f->pool);
        s->refused = true;
        return false;
    }
    if (f->code->flags & (IS_LOAD | IS_PREFETCH) && !memsys_data_port_free(c->memsys, c->now)) {
        s->refused = true;
        return false;
    }
    s->free[f->pool]--;
    return true;
}

static uint64_t ready_in_word(const struct core *c, unsigned open, unsigned word)
{
    uint64_t bits = 0;
    for (; open; open &= open - 1)
        bits |= c->ready[__builtin_ctz(open)][word];
    return bits;
}

/* The ready ones among the slots of one word; false when the selection is over. */
static bool select_in_word(struct core *c, struct selection *s, unsigned word, uint64_t mask)
{
    uint64_t bits = ready_in_word(c, s->open, word) & mask;
    while (bits) {
        struct flight *f = &c->window[word * 64 + (unsigned)__builtin_ctzll(bits)];
        bits &= bits - 1;
        if (UNLIKELY(c->order == ISSUE_IN_ORDER)) {
            uint64_t position = c->head + ((slot_of(c, f) - c->head) & c->mask);
            if (position > c->issue_next)
                return false;
            if (!admit(c, s, f))
                return false;
            if (position == c->issue_next)
                c->issue_next++;
        } else if (!admit(c, s, f)) {
            bits &= ready_in_word(c, s->open, word);
            continue;
        }
        issue_one(c, f);
        if (--s->left == 0)
            return false;
    }
    return true;
}

void core_issue(struct core *c)
{
    if (c->ready_total == 0) {
        c->record.issue_stop = c->iq_used ? ISSUE_OPERANDS : ISSUE_EMPTY;
        return;
    }
    struct selection s = {.left = c->issue_width};
    for (unsigned p = 0; p < POOLS; p++) {
        if (c->ready_count[p] == 0)
            continue;
        s.free[p] = free_units(c, p);
        if (s.free[p])
            s.open |= 1u << p;
        else
            s.refused = true;
    }
    /* Words in ring order: the head's from its slot on, those behind it, and the head's once more up to its slot. */
    unsigned first = (unsigned)(c->head & c->mask), word = first / 64;
    uint64_t behind = ~UINT64_C(0) << first % 64;
    bool more = s.open && select_in_word(c, &s, word, behind);
    for (unsigned k = 1; more && k < c->words; k++)
        more = select_in_word(c, &s, (word + k) & (c->words - 1), ~UINT64_C(0));
    if (more && ~behind)
        select_in_word(c, &s, word, ~behind);
    unsigned n = c->issue_width - s.left;
    c->record.issued = (uint8_t)n;
    c->record.issue_stop = s.left == 0  ? ISSUE_WIDTH
                           : s.refused  ? ISSUE_UNITS
                           : c->iq_used ? ISSUE_OPERANDS
                                        : ISSUE_EMPTY;
    c->active |= n > 0;
}
