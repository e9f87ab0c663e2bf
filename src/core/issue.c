/* Issue and completion. Issue starts the oldest instructions that have their operands and a free unit. Completion makes
 * results available and wakes the instructions that wait for them. */
#include <string.h>

#include "core/core_priv.h"

/* ---- completion */

/* Remembers the mispredicted branch, to blame it for the cycles in which the window refills (core_blame). */
static void note_refill(struct core *restrict c, const struct flight *f)
{
    c->refill.pc = f->pc;
    c->refill.tag = c->cold[slot_of(c, f)].tag;
    c->refill.empty = true;
}

/* Notes which unit the wrong path of f, which is squashed, keeps busy longest. A unit that stays busy beyond the next
 * misprediction counts only once. */
static void note_busy_unit(struct core *restrict c, const struct flight *f)
{
    struct unit_use *use = &c->cold[slot_of(c, f)].wrong_path;
    bool *longest = NULL;
    *use = (struct unit_use){0};
    for (unsigned p = 0; c->busy_latest > c->now && p < POOLS; p++) {
        for (unsigned u = 0; u < c->units[p]; u++) {
            if (!c->busy_wrong[p][u] || c->busy_until[p][u] <= c->now + use->cycles)
                continue;
            *use = (struct unit_use){.pool = (uint8_t)p, .cycles = (uint16_t)(c->busy_until[p][u] - c->now)};
            longest = &c->busy_wrong[p][u];
        }
    }
    if (longest)
        *longest = false;
}

static void note_squash(struct holder *h, uint64_t position)
{
    if (h->position > position)
        h->position = position;
}

/* The wrong path of f is squashed. Others of its instructions take their positions. */
static void note_squashed_holders(struct core *restrict c, const struct flight *f)
{
    uint64_t position = position_of(c, f);
    for (unsigned p = 0; p < POOLS && c->busy_latest > c->now; p++)
        for (unsigned u = 0; u < c->units[p]; u++)
            note_squash(&c->holder[p][u], position);
    for (unsigned k = 0; k < NOTED_MISSES && c->miss_latest > c->now; k++)
        note_squash(&c->miss[k], position);
}

/* Notes how long f, which issues, has waited for younger instructions that keep units of its pool busy. */
static void note_unit_wait(struct core *restrict c, const struct flight *f, unsigned pool)
{
    struct younger_wait *wait = &c->cold[slot_of(c, f)].unit_wait;
    for (unsigned u = 0; u < c->units[pool]; u++) {
        const struct holder *h = &c->holder[pool][u];
        uint64_t from = h->since > f->when ? h->since : f->when, until = h->until < c->now ? h->until : c->now;
        if (h->position <= position_of(c, f) || until <= from)
            continue;
        uint64_t cycles = until - from < UINT16_MAX ? until - from : UINT16_MAX;
        wait->cycles = cycles > wait->cycles ? (uint16_t)cycles : wait->cycles;
        wait->wrong_path |= h->wrong_path;
    }
}

/* Resolves a control transfer. After a misprediction: squashes everything younger, and fetch continues on the path of
 * the branch in this cycle. */
static void resolve(struct core *restrict c, struct flight *f)
{
    if (LIKELY(!(f->flags & MISPREDICTED)))
        return;
    OBSERVE_IF(f->flags & OBSERVED || c->misses_observed, c, mispredicted, f);
    if (f->level == 0)
        note_refill(c, f);
    if (UNLIKELY(c->notes_details) && f->level == 0) {
        note_busy_unit(c, f);
        note_squashed_holders(c, f);
    }
    c->counts.mispredictions_spec++;
    c->cause = CAUSE_BRANCH;
    core_squash(c, position_of(c, f) + 1);
    path_return(&c->paths, f->level);
    core_mark_path(c);
    branch_recover(c->predictor, &c->branch[f->branch & c->branch_mask], f->flags & TAKEN, f->addr);
    c->line_start = c->line_before = NEVER;
    c->fetch_lost = false;
    c->fetch_events = 0;
    c->stalls = (struct fetch_stalls){0};
    c->fetch_resume = c->now;
}

/* Gives the result of f to all operands that wait for it. */
static inline void wake(struct core *restrict c, struct flight *f)
{
    for (unsigned link = f->consumers; link != NO_SLOT;) {
        struct flight *g = &c->window[link / 4];
        unsigned operand = link % 4;
        link = g->next[operand];
        g->producer[operand] = (uint16_t)slot_of(c, g);
        if (UNLIKELY(operand == 1 && (g->code->flags & (IS_STORE | IS_AT_HEAD)) == IS_STORE))
            lsq_data_ready(c, g);
        else if (--g->missing_operands == 0)
            core_operands_ready(c, g);
    }
    f->consumers = NO_SLOT;
}

void core_finish(struct core *restrict c, struct flight *f)
{
    unsigned slot = slot_of(c, f);
    f->state = DONE;
    c->done[slot / 64] |= UINT64_C(1) << slot % 64;
    OBSERVE(c, completed, f);
    if (f->consumers != NO_SLOT)
        wake(c, f);
    if (UNLIKELY(c->bundle))
        c->cold[c->cold[slot].bundle].bundle_left--;
    if (f->code->flags & IS_CONTROL)
        resolve(c, f);
}

/* The event of f in the wheel is due: f tries to issue again, its store address becomes known, or its result comes. An
 * event that was beyond the horizon goes back into the wheel. */
static void process_due_event(struct core *restrict c, struct flight *f)
{
    f->flags &= (uint8_t) ~(IN_WHEEL | AT_HORIZON);
    if (UNLIKELY(f->when > c->now)) {
        wheel_add(c, f);
        return;
    }
    c->active = true;
    if (f->state == WAITS_FOR_EVENT)
        core_make_ready(c, f);
    else if (f->code->flags & IS_STORE)
        lsq_address_known(c, f);
    else
        core_finish(c, f);
}

/* Processes the events of one word of the row. The row is read again after each event, because a misprediction removes
 * younger instructions from it. */
static void process_due_in_word(struct core *restrict c, uint64_t *row, unsigned word, uint64_t mask)
{
    while (row[word] & mask) {
        unsigned bit = (unsigned)__builtin_ctzll(row[word] & mask);
        row[word] &= ~(UINT64_C(1) << bit);
        process_due_event(c, &c->window[word * 64 + bit]);
    }
}

/* Processes all events of this cycle's row, oldest instruction first: of two mispredicted branches the older one
 * decides. */
static void process_due_row(struct core *restrict c)
{
    unsigned i = c->now % WHEEL, first = (unsigned)(c->head & c->mask), word = first / 64;
    uint64_t *row = wheel_row(c, c->now), behind = ~UINT64_C(0) << first % 64;
    c->wheel_map[i / 64] &= ~(UINT64_C(1) << i % 64);
    process_due_in_word(c, row, word, behind);
    for (unsigned k = 1; k < c->words; k++)
        process_due_in_word(c, row, (word + k) & (c->words - 1), ~UINT64_C(0));
    process_due_in_word(c, row, word, ~behind);
}

void core_complete(struct core *restrict c)
{
    unsigned i = c->now % WHEEL, soon = c->soon_count;
    c->soon_count = 0;
    for (unsigned k = 0; k < soon; k++) {
        struct flight *f = &c->window[c->soon[k]];
        if (UNLIKELY(f->state != ISSUED)) /* an older branch squashed it */
            continue;
        if (f->code->flags & IS_STORE)
            lsq_address_known(c, f);
        else
            core_finish(c, f);
    }
    c->active |= soon > 0;
    if (c->wheel_map[i / 64] >> i % 64 & 1)
        process_due_row(c);
}

/* ---- issue */

/* A unit that is not pipelined is busy with f until cycle `until`. */
static void occupy_unit(struct core *restrict c, const struct flight *f, unsigned pool, uint64_t until)
{
    bool wrong = f->flags & WRONG_PATH;
    for (unsigned u = 0; u < c->units[pool]; u++) {
        if (c->busy_until[pool][u] <= c->now) {
            c->busy_until[pool][u] = until;
            c->busy_wrong[pool][u] = wrong;
            c->holder[pool][u] = (struct holder){c->now, until, position_of(c, f), wrong};
            break;
        }
    }
    if (c->busy_latest < until)
        c->busy_latest = until;
}

/* State of one cycle's selection of instructions to issue. */
struct selection {
    unsigned left;   /* issue slots left in this cycle */
    unsigned closed; /* bit per pool: no unit left */
    uint8_t free[8]; /* free units by pool */
    bool refused;    /* a ready instruction found no unit or port */
};

/* Removes units that are still busy from the free ones. Only these pools may have units that are not pipelined. */
static void without_busy_units(const struct core *restrict c, struct selection *s)
{
    static const uint8_t may_be_busy[] = {POOL_MULDIV, POOL_FPU, POOL_FPMULDIV};
    for (unsigned i = 0; i < sizeof may_be_busy; i++)
        for (unsigned p = may_be_busy[i], u = 0; u < c->units[p]; u++)
            s->free[p] -= c->busy_until[p][u] > c->now;
}

/* Starts execution: decides in which cycle the result comes. */
static inline void issue_one(struct core *restrict c, struct flight *f)
{
    const struct code *code = f->code;
    const struct class_timing *t = &c->timing[code->class];
    core_unready(c, f);
    record_add_wrong_issued(&c->record, (f->flags & WRONG_PATH) != 0);
    OBSERVE(c, issued, f);
    if (code->flags & (IS_MEM | IS_PREFETCH)) {
        lsq_issue(c, f);
        OBSERVE_IF(f->flags & OBSERVED && f->state == ISSUED, c, executed, f);
        return;
    }
    core_leave_queue(c, f);
    f->state = ISSUED;
    OBSERVE(c, executed, f);
    if (UNLIKELY(c->busy_latest > f->when) && c->notes_details)
        note_unit_wait(c, f, t->pool);
    if (LIKELY(t->latency == 1)) {
        f->wait = HEAD_ALU;
        finish_soon(c, f);
        return;
    }
    f->when = c->now + t->latency;
    f->wait = code->class >= CLASS_FPADD                                ? HEAD_FPU
              : code->class == CLASS_ALU || code->class == CLASS_BRANCH ? HEAD_ALU
                                                                        : HEAD_UNIT;
    if (t->interval > 1)
        occupy_unit(c, f, t->pool, c->now + t->interval);
    wheel_add(c, f);
}

/* In-order issue: whether all older instructions have issued. */
static bool in_turn(struct core *restrict c, struct flight *f)
{
    uint64_t position = position_of(c, f);
    return position <= c->issue_next;
}

/* Returns the ready instructions in one word, without those of pools that have no unit left. */
static uint64_t open_in_word(const struct core *restrict c, const struct selection *s, unsigned word)
{
    uint64_t bits = c->ready_any[word];
    for (unsigned closed = s->closed; closed; closed &= closed - 1)
        bits &= ~c->ready[__builtin_ctz(closed)][word];
    return bits;
}

/* Issues ready instructions among the slots of one word that `mask` selects. Returns false when the selection is
 * over. */
static bool select_in_word(struct core *restrict c, struct selection *s, unsigned word, uint64_t mask)
{
    uint64_t bits = open_in_word(c, s, word) & mask;
    while (bits) {
        struct flight *f = &c->window[word * 64 + (unsigned)__builtin_ctzll(bits)];
        unsigned pool = c->timing[f->code->class].pool;
        bits &= bits - 1;
        if (UNLIKELY(c->order == ISSUE_IN_ORDER) && !in_turn(c, f))
            return false;
        if (UNLIKELY(s->free[pool] == 0)) {
            s->closed |= 1u << pool;
            s->refused = true;
            bits &= ~c->ready[pool][word];
            if (c->order == ISSUE_IN_ORDER)
                return false;
            continue;
        }
        if (f->code->flags & (IS_LOAD | IS_PREFETCH) && UNLIKELY(!memsys_data_port_free(c->memsys, c->now))) {
            s->refused = true;
            if (c->order == ISSUE_IN_ORDER)
                return false;
            continue;
        }
        s->free[pool]--;
        if (UNLIKELY(c->order == ISSUE_IN_ORDER) && position_of(c, f) == c->issue_next)
            c->issue_next++;
        issue_one(c, f);
        if (--s->left == 0)
            return false;
    }
    if (c->ready_any[word] == 0)
        c->ready_words &= ~(UINT64_C(1) << word);
    return true;
}

uint64_t core_issue(struct core *restrict c)
{
    if (c->ready_words == 0)
        return stage_result(STAGE_ISSUE, 0, c->iq_used ? ISSUE_OPERANDS : ISSUE_EMPTY);
    struct selection s = {.left = c->issue_width};
    memcpy(s.free, c->units, sizeof s.free);
    if (UNLIKELY(c->busy_latest > c->now))
        without_busy_units(c, &s);
    /* Words in ring order: the head's word from its slot on, the words after it, and the head's word again up to its
     * slot. */
    unsigned first = (unsigned)(c->head & c->mask), word = first / 64;
    uint64_t behind = ~UINT64_C(0) << first % 64;
    bool more = !(c->ready_words >> word & 1) || select_in_word(c, &s, word, behind);
    for (uint64_t later = c->ready_words & ~((UINT64_C(2) << word) - 1); more && later; later &= later - 1)
        more = select_in_word(c, &s, (unsigned)__builtin_ctzll(later), ~UINT64_C(0));
    for (uint64_t earlier = c->ready_words & ((UINT64_C(1) << word) - 1); more && earlier; earlier &= earlier - 1)
        more = select_in_word(c, &s, (unsigned)__builtin_ctzll(earlier), ~UINT64_C(0));
    if (more && ~behind)
        select_in_word(c, &s, word, ~behind);
    unsigned n = c->issue_width - s.left;
    c->counts.issued += n;
    return stage_result(STAGE_ISSUE, n,
                        s.left == 0  ? ISSUE_WIDTH
                        : s.refused  ? ISSUE_UNITS
                        : c->iq_used ? ISSUE_OPERANDS
                                     : ISSUE_EMPTY);
}
