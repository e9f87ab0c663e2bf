/* Commit: complete instructions retire in order and leave the window. */
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

static uint64_t wrong_path_misses(const struct cache_counts *n)
{
    return n->misses[1] + n->prefetch_misses[1];
}

/* Calls `retired`. */
static void report_retired(struct core *restrict c, const struct flight *f)
{
    const struct flight_cold *cold = &c->cold[slot_of(c, f)];
    const struct memsys_counts *n = memsys_counts(c->memsys);
    struct retired_insn r = {.code = f->code,
                             .pc = f->pc,
                             .addr = f->addr,
                             .slot = (uint16_t)slot_of(c, f),
                             .taken = f->flags & TAKEN,
                             .mispredicted = f->flags & MISPREDICTED,
                             .no_access = f->flags & NO_ACCESS,
                             .wrong_code = wrong_path_misses(&n->l2i) > wrong_path_misses(&n->l2d),
                             .store = f->store,
                             .stalls = cold->stalls,
                             .access = cold->access,
                             .unit_wait = cold->unit_wait,
                             .mshr_wait = cold->mshr_wait};
    if (f->flags & MISPREDICTED) {
        r.wrong_path = cold->wrong_path;
        r.wrong_made = wrong_lines_made(&c->wrong_lines, cold->wrong_number);
    }
    if (cold->stalls.wrong_use)
        r.wrong_lines = wrong_lines_used(&c->wrong_lines, cold->stalls.wrong_use);
    c->observer.retired(c->observer.context, &r, c->now);
}

/* Calls the callbacks of observers for an instruction that retires. */
static void report_commit(struct core *restrict c, const struct flight *f)
{
    if (c->notes_details)
        report_retired(c, f);
    OBSERVE_IF(f->flags & OBSERVED || c->wants_notable_commits, c, committed, f);
}

/* Retires a notable instruction: counts it by kind and events, frees its queue entry and registers, trains the
 * predictor, and calls `committed` if it is observed. */
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
    if (UNLIKELY(c->limits_by_class)) {
        c->fp_used -= code->dest >= REG_FP;
        c->int_used -= code->dest != 0 && code->dest < REG_FP;
    }
    if (UNLIKELY(((f->flags & OBSERVED) != 0) | c->wants_notable_commits | c->notes_details))
        report_commit(c, f);
}

/* Whether the store buffer has no room for `stores` more stores. */
static bool store_buffer_full(const struct core *restrict c, unsigned stores)
{
    return c->store_commit - c->store_head + stores > c->store_buffer_size;
}

/* Whether nothing retired because the store buffer is full. */
static bool blocked_by_stores(uint64_t result)
{
    return result == stage_result(STAGE_COMMIT, 0, COMMIT_STORES);
}

/* Returns the 64 bits of a map from this slot on, in ring order. */
static inline uint64_t bits_from(const struct core *restrict c, const uint64_t *map, unsigned slot)
{
    unsigned word = slot / 64, bit = slot % 64;
    uint64_t bits = map[word] >> bit;
    if (bit)
        bits |= map[(word + 1) & (c->words - 1)] << (64 - bit);
    return bits;
}

/* Removes the n oldest instructions from the window. */
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

/* Retires the oldest bundle as a whole, or nothing. */
static uint64_t commit_bundle(struct core *restrict c)
{
    const struct flight_cold *first = &c->cold[c->head & c->mask];
    unsigned size = first->bundle_size, stores = 0;
    if (first->bundle_left > 0)
        return stage_result(STAGE_COMMIT, 0, COMMIT_HEAD);
    for (unsigned i = 0; i < size; i++)
        stores += (flight_at(c, c->head + i)->code->flags & IS_STORE) != 0;
    if (stores && store_buffer_full(c, stores))
        return stage_result(STAGE_COMMIT, 0, COMMIT_STORES);
    for (unsigned i = 0; i < size; i++)
        retire(c, flight_at(c, c->head + i));
    c->rob_used -= c->bundle;
    leave(c, size);
    return stage_result(STAGE_COMMIT, size, COMMIT_WIDTH);
}

/* Retires up to commit_width instructions. Plain ones are only counted; notable ones are retired one by one. */
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
    return stage_result(STAGE_COMMIT, n, why);
}

/* Returns the oldest instruction that is not done, or NULL. The first bundle waits for this instruction, which may be
 * one that issues only as the oldest. */
static struct flight *oldest_undone(struct core *restrict c)
{
    for (uint64_t p = c->head; p < c->dispatched; p++)
        if (flight_at(c, p)->state != DONE)
            return flight_at(c, p);
    return NULL;
}

/* core_commit for cores with bundles. */
static uint64_t commit_bundles(struct core *restrict c)
{
    struct flight *f = oldest_undone(c);
    bool waits = c->cold[c->head & c->mask].bundle_left > 0;
    uint64_t result = commit_bundle(c);
    if (!waits)
        f = oldest_undone(c);
    if (f && f->state == WAITS_FOR_EVENT)
        lsq_release_head(c, f);
    c->head_wait = waits ? f->wait : blocked_by_stores(result) ? lsq_room_wait(c) : HEAD_NOTHING;
    return result;
}

uint64_t core_commit(struct core *restrict c)
{
    if (c->head == c->dispatched) {
        c->head_wait = HEAD_NOTHING;
        record_set_cause(&c->record, c->cause);
        return stage_result(STAGE_COMMIT, 0, COMMIT_EMPTY);
    }
    if (UNLIKELY(c->bundle))
        return commit_bundles(c);
    struct flight *f = flight_at(c, c->head);
    bool waits = f->state != DONE;
    uint64_t result = stage_result(STAGE_COMMIT, 0, COMMIT_HEAD);
    if (!waits) {
        result = commit_singly(c);
        c->head_wait = UNLIKELY(blocked_by_stores(result)) ? lsq_room_wait(c) : HEAD_NOTHING;
        if (c->head == c->dispatched)
            return result;
        f = flight_at(c, c->head);
    }
    if (UNLIKELY(f->state == WAITS_FOR_EVENT))
        lsq_release_head(c, f);
    if (waits)
        c->head_wait = f->wait;
    return result;
}
