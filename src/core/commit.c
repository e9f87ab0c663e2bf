/* Commit: in order, complete instructions leave the window. */
#include "core/core_priv.h"

static void count_branch(struct core *restrict c, const struct flight *f)
{
    const struct code *code = f->code;
    c->counts.branches++;
    c->counts.taken_branches += (f->flags & TAKEN) != 0;
    c->counts.conditional_branches += (code->flags & IS_CONDITIONAL) != 0;
    if (f->flags & MISPREDICTED) {
        c->counts.mispredictions++;
        if (code->flags & IS_CONDITIONAL)
            c->counts.conditional_mispredictions++;
        else if (code->control == BRANCH_RETURN)
            c->counts.return_mispredictions++;
        else
            c->counts.indirect_mispredictions++;
    }
    if (c->predictor)
        branch_retire(c->predictor, &c->branch[f->branch & c->branch_mask], f->flags & TAKEN, f->addr);
}

static void count_events(struct core *restrict c, unsigned events, bool store)
{
    c->counts.l1i_misses += (events & EVENT_L1I) != 0;
    c->counts.l2i_misses += (events & EVENT_L2I) != 0;
    c->counts.itlb_misses += (events & EVENT_ITLB) != 0;
    c->counts.l1d_misses += (events & EVENT_L1D) != 0;
    c->counts.l2d_misses += (events & EVENT_L2D) != 0;
    c->counts.dtlb_misses += (events & EVENT_DTLB) != 0;
    c->counts.dtlb_store_misses += (events & EVENT_DTLB) != 0 && store;
    c->counts.forwarded += (events & EVENT_FORWARD) != 0;
    c->counts.rejected += (events & EVENT_REJECT) != 0;
    c->counts.misfetched += (events & EVENT_MISFETCH) != 0;
}

/* What only some instructions leave behind. */
static void retire(struct core *restrict c, const struct flight *f)
{
    const struct code *code = f->code;
    if (code->flags & IS_CONTROL) {
        count_branch(c, f);
    } else if (code->flags & IS_STORE) {
        c->store_commit++;
        c->stores_used--;
        c->counts.stores += code->mem_size != 0;
        c->counts.loads += (code->flags & IS_LOAD) != 0;
        c->counts.atomics += (code->flags & IS_LOAD) != 0;
    } else if (code->flags & IS_LOAD) {
        c->loads_used--;
        c->counts.loads++;
    }
    c->counts.fp_instructions += (code->flags & IS_FP) != 0;
    c->counts.system_calls += (code->flags & IS_SYSTEM_CALL) != 0;
    if (UNLIKELY(f->events))
        count_events(c, f->events, code->flags & IS_STORE);
    if (UNLIKELY(c->scarce)) {
        c->fp_used -= code->dest >= REG_FP;
        c->int_used -= code->dest != 0 && code->dest < REG_FP;
    }
    if (UNLIKELY(((f->flags & OBSERVED) != 0) | c->captures))
        OBSERVE_IF(true, c, committed, f);
}

static bool store_buffer_full(const struct core *restrict c, unsigned stores)
{
    return c->store_commit - c->store_head + stores > c->store_buffer_size;
}

/* Whether that is why nothing was committed. */
static bool blocked_by_stores(uint64_t result)
{
    return result == stage_result(PLACE_COMMIT, 0, COMMIT_STORES);
}

/* The 64 bits of a map from this slot on, in ring order. */
static inline uint64_t bits_from(const struct core *restrict c, const uint64_t *map, unsigned slot)
{
    unsigned word = slot / 64, bit = slot % 64;
    uint64_t bits = map[word] >> bit;
    if (bit)
        bits |= map[(word + 1) & (c->words - 1)] << (64 - bit);
    return bits;
}

/* The first n instructions go. */
static inline void leave(struct core *restrict c, unsigned n)
{
    unsigned slot = (unsigned)(c->head & c->mask), word = slot / 64, bit = slot % 64;
    uint64_t gone = (UINT64_C(1) << n) - 1;
    c->done[word] &= ~(gone << bit);
    if (bit + n > 64)
        c->done[(word + 1) & (c->words - 1)] &= ~(gone >> (64 - bit));
    c->head += n;
    c->counts.instructions += n;
}

/* A whole bundle or nothing. */
static uint64_t commit_bundle(struct core *restrict c)
{
    const struct flight_more *first = &c->more[c->head & c->mask];
    unsigned size = first->bundle_size, stores = 0;
    if (first->bundle_left > 0)
        return stage_result(PLACE_COMMIT, 0, COMMIT_HEAD);
    for (unsigned i = 0; i < size; i++)
        stores += (flight_at(c, c->head + i)->code->flags & IS_STORE) != 0;
    if (stores && store_buffer_full(c, stores))
        return stage_result(PLACE_COMMIT, 0, COMMIT_STORES);
    for (unsigned i = 0; i < size; i++)
        retire(c, flight_at(c, c->head + i));
    c->rob_used -= c->bundle;
    leave(c, size);
    return stage_result(PLACE_COMMIT, size, COMMIT_WIDTH);
}

/* Plain instructions are only counted; the notable ones among them are looked at one by one. */
static uint64_t commit_singly(struct core *restrict c)
{
    unsigned slot = (unsigned)(c->head & c->mask), why = COMMIT_WIDTH;
    uint64_t undone = ~bits_from(c, c->done, slot);
    unsigned n = undone ? (unsigned)__builtin_ctzll(undone) : 64;
    if (n >= c->commit_width)
        n = c->commit_width;
    else
        why = c->head + n == c->dispatched ? COMMIT_EMPTY : COMMIT_HEAD;
    uint64_t notable = bits_from(c, c->notable, slot) & ((UINT64_C(1) << n) - 1);
    for (; notable; notable &= notable - 1) {
        unsigned i = (unsigned)__builtin_ctzll(notable);
        const struct flight *f = flight_at(c, c->head + i);
        if (f->code->flags & IS_STORE && UNLIKELY(store_buffer_full(c, 1))) {
            n = i;
            why = COMMIT_STORES;
            break;
        }
        retire(c, f);
    }
    leave(c, n);
    c->rob_used -= n;
    return stage_result(PLACE_COMMIT, n, why);
}

/* The oldest instruction that is not done: a bundle waits for it, and it may have to issue as the oldest. */
static struct flight *oldest_undone(struct core *restrict c)
{
    for (uint64_t p = c->head; p < c->dispatched; p++)
        if (flight_at(c, p)->state != DONE)
            return flight_at(c, p);
    return NULL;
}

static uint64_t commit_bundles(struct core *restrict c)
{
    struct flight *f = oldest_undone(c);
    bool waits = c->more[c->head & c->mask].bundle_left > 0;
    uint64_t result = commit_bundle(c);
    if (!waits)
        f = oldest_undone(c);
    if (f && f->state == BLOCKED)
        lsq_release_head(c, f);
    c->head_wait = waits ? f->wait : blocked_by_stores(result) ? lsq_room_wait(c) : HEAD_NOTHING;
    return result;
}

uint64_t core_commit(struct core *restrict c)
{
    if (c->head == c->dispatched) {
        c->head_wait = HEAD_NOTHING;
        c->wrong |= (uint64_t)c->cause << 48; /* its place in a record's second word */
        return stage_result(PLACE_COMMIT, 0, COMMIT_EMPTY);
    }
    if (UNLIKELY(c->bundle))
        return commit_bundles(c);
    struct flight *f = flight_at(c, c->head);
    bool waits = f->state != DONE;
    uint64_t result = stage_result(PLACE_COMMIT, 0, COMMIT_HEAD);
    if (!waits) {
        result = commit_singly(c);
        c->head_wait = UNLIKELY(blocked_by_stores(result)) ? lsq_room_wait(c) : HEAD_NOTHING;
        if (c->head == c->dispatched)
            return result;
        f = flight_at(c, c->head);
    }
    if (UNLIKELY(f->state == BLOCKED))
        lsq_release_head(c, f);
    if (waits)
        c->head_wait = f->wait;
    return result;
}
