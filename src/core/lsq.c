/* Loads, stores and the store buffer.
 *
 * A load waits until the addresses of all older stores are known. Then it takes its data from the youngest older store
 * that overlaps it, if that store covers the whole load, or from the cache. If the store covers only part of the load,
 * the load is sent back until the store has reached the cache. A store leaves the store queue when it retires and waits
 * in the store buffer, in order, for the cache. */
#include "core/core_priv.h"

static struct store *store_at(struct core *restrict c, uint32_t position)
{
    return &c->store[position & c->store_mask];
}

/* ---- filter: number of stores by hash of the 8-byte granules that they touch */

static unsigned granule_hash(uint64_t addr)
{
    uint64_t g = addr / 8;
    return (unsigned)(g ^ g >> 8) % FILTER;
}

/* Adds (sign 1) or removes (sign -1) a store. */
static void filter_add(struct core *restrict c, const struct store *s, int sign)
{
    if (s->size == 0)
        return;
    c->filter[granule_hash(s->addr)] += (uint16_t)sign;
    for (uint64_t at = s->addr + 8; at + 8 < s->addr + s->size; at += 8) /* of cbo.zero */
        c->filter[granule_hash(at)] += (uint16_t)sign;
    c->filter[granule_hash(s->addr + s->size - 1)] += (uint16_t)sign;
}

/* False: certainly no store in the queue overlaps the access. */
static bool may_overlap_store(const struct core *restrict c, uint64_t addr, unsigned size)
{
    return c->filter[granule_hash(addr)] | c->filter[granule_hash(addr + size - 1)];
}

/* ---- loads that wait for stores */

static void set_bit(uint64_t *map, unsigned slot)
{
    map[slot / 64] |= UINT64_C(1) << slot % 64;
}

/* Returns whether the bit was set. */
static bool clear_bit(uint64_t *map, unsigned slot)
{
    bool was = map[slot / 64] >> slot % 64 & 1;
    map[slot / 64] &= ~(UINT64_C(1) << slot % 64);
    return was;
}

void lsq_block(struct core *restrict c, struct flight *f)
{
    f->state = WAITS_FOR_EVENT;
    set_bit(c->blocked, slot_of(c, f));
    c->blocked_count++;
}

/* Makes loads ready that now know the addresses of all older stores. */
static void release_blocked(struct core *restrict c)
{
    for (unsigned w = 0; w < c->words && c->blocked_count; w++) {
        for (uint64_t bits = c->blocked[w]; bits; bits &= bits - 1) {
            unsigned slot = w * 64 + (unsigned)__builtin_ctzll(bits);
            struct flight *f = &c->window[slot];
            if ((int32_t)(c->store_known - f->store) < 0)
                continue;
            clear_bit(c->blocked, slot);
            c->blocked_count--;
            core_make_ready(c, f);
        }
    }
}

/* In-order issue: an instruction that is sent back is the next to issue again, so nothing younger passes it. */
static void hold_issue_order(struct core *restrict c, struct flight *f)
{
    if (UNLIKELY(c->order == ISSUE_IN_ORDER))
        c->issue_next = position_of(c, f);
}

/* Sends a load back until `store` has its data, or after a partial overlap (HEAD_REJECT) until it has reached the
 * cache. */
static void hold(struct core *restrict c, struct flight *f, uint32_t store, enum head_wait wait)
{
    unsigned slot = slot_of(c, f);
    f->state = WAITS_FOR_EVENT;
    f->wait = (uint8_t)wait;
    c->cold[slot].held_by = store;
    c->cold[slot].held_for_data = wait != HEAD_REJECT;
    set_bit(c->held, slot);
    c->held_count++;
    hold_issue_order(c, f);
}

/* Makes loads ready that wait for this store. `left`: the store has reached the cache; false: its data has become
 * known. */
static void release_held(struct core *restrict c, uint32_t store, bool left)
{
    for (unsigned w = 0; w < c->words && c->held_count; w++) {
        for (uint64_t bits = c->held[w]; bits; bits &= bits - 1) {
            unsigned slot = w * 64 + (unsigned)__builtin_ctzll(bits);
            if (c->cold[slot].held_by != store || (!left && !c->cold[slot].held_for_data))
                continue;
            clear_bit(c->held, slot);
            c->held_count--;
            core_make_ready(c, &c->window[slot]);
        }
    }
}

/* ---- dispatch and squash */

void lsq_dispatch(struct core *restrict c, struct flight *f)
{
    if (!(f->code->flags & IS_STORE)) {
        c->loads_used++;
        return;
    }
    bool none = f->flags & NO_ACCESS || f->code->op == INSN_lr_w || f->code->op == INSN_lr_d;
    struct store *s = store_at(c, c->store_tail++);
    *s = (struct store){.addr = f->addr,
                        .pc = f->pc,
                        .size = none ? 0 : f->code->mem_size,
                        .slot = (uint16_t)slot_of(c, f),
                        .wait = HEAD_STORES};
    filter_add(c, s, 1);
    c->stores_used++;
}

void lsq_squash(struct core *restrict c, struct flight *f)
{
    unsigned slot = slot_of(c, f);
    c->blocked_count -= clear_bit(c->blocked, slot);
    c->held_count -= clear_bit(c->held, slot);
    if (!(f->code->flags & IS_STORE)) {
        c->loads_used--;
        return;
    }
    filter_add(c, store_at(c, --c->store_tail), -1);
    c->stores_used--;
    if ((int32_t)(c->store_known - c->store_tail) > 0)
        c->store_known = c->store_tail;
}

/* ---- stores */

void lsq_address_known(struct core *restrict c, struct flight *f)
{
    struct store *s = store_at(c, f->store);
    s->addr_known = true;
    if (f->code->flags & IS_AT_HEAD)
        s->data_known = true;
    uint32_t before = c->store_known;
    while (c->store_known != c->store_tail && store_at(c, c->store_known)->addr_known)
        c->store_known++;
    if (c->store_known != before && c->blocked_count)
        release_blocked(c);
    if (s->data_known) {
        core_finish(c, f);
    } else {
        f->state = STORE_DATA;
        f->wait = HEAD_ISSUE;
    }
}

void lsq_data_ready(struct core *restrict c, struct flight *f)
{
    store_at(c, f->store)->data_known = true;
    if (c->held_count)
        release_held(c, f->store, false);
    if (f->state == STORE_DATA)
        core_finish(c, f);
}

void lsq_release_head(struct core *restrict c, struct flight *f)
{
    if (!(f->code->flags & IS_AT_HEAD) && c->order != ISSUE_IN_ORDER_SERIAL)
        return;
    if (f->code->flags & IS_AT_HEAD && f->code->flags & IS_STORE && c->store_head != f->store) {
        f->wait = HEAD_STORES;
        return;
    }
    if (f->flags & IN_WHEEL || c->held[slot_of(c, f) / 64] >> slot_of(c, f) % 64 & 1)
        return; /* it was sent back and waits for its cycle or for a store */
    f->wait = HEAD_ISSUE;
    core_make_ready(c, f);
}

/* ---- for observers */

static uint16_t saturated(uint64_t cycles)
{
    return (uint16_t)(cycles < UINT16_MAX ? cycles : UINT16_MAX);
}

/* Notes how the cache answered, keeping what is known about the translation. */
static void note_access(struct core *restrict c, struct data_access *to, const struct mem_answer *a)
{
    to->cycles = saturated(a->ready - c->now);
    to->level = a->level;
    to->merged = a->merged;
    for (unsigned k = 0; k < 2; k++) {
        uint64_t ready = c->prefetch_ready[k];
        to->prefetch_cycles[k] = saturated(ready > c->now ? ready - c->now : 0);
        c->prefetch_ready[k] = 0;
    }
}

static void report_drained(struct core *restrict c, const struct mem_answer *a)
{
    struct data_access access = {0};
    note_access(c, &access, a);
    c->observer.drained(c->observer.context, c->store_drain, &access, c->now);
}

/* ---- issue */

/* Sends the instruction back: it issues again in cycle `when`. */
static void try_again(struct core *restrict c, struct flight *f, uint64_t when, enum head_wait wait)
{
    hold_issue_order(c, f);
    f->state = WAITS_FOR_EVENT;
    f->when = when;
    f->wait = (uint8_t)wait;
    f->events |= EVENT_REJECT;
    wheel_add(c, f);
}

/* The access finishes in cycle `when`. `wait`: enum head_wait to report while this is the oldest instruction. */
static void finish_at(struct core *restrict c, struct flight *f, uint64_t when, enum head_wait wait)
{
    core_leave_queue(c, f);
    f->state = ISSUED;
    f->wait = (uint8_t)wait;
    if (when == c->now + 1) {
        finish_soon(c, f);
        return;
    }
    f->when = when;
    wheel_add(c, f);
}

/* Translates the address. Returns false if the access was sent back to wait for its translation. */
static bool translated(struct core *restrict c, struct flight *f)
{
    if (f->flags & (TRANSLATED | NO_ACCESS))
        return true;
    bool wrong = f->flags & WRONG_PATH;
    uint64_t last = f->addr + f->code->mem_size - 1;
    struct tlb_answer t = memsys_translate_data(c->memsys, core_place(c->space, f->addr), c->now, wrong);
    if (UNLIKELY((f->addr ^ last) >= c->memsys_config.page_bytes)) {
        struct tlb_answer second = memsys_translate_data(c->memsys, core_place(c->space, last), c->now, wrong);
        if (second.ready > t.ready)
            t = second;
    }
    f->flags |= TRANSLATED;
    if (LIKELY(t.ready <= c->now))
        return true;
    if (t.level == TLB_WALK) {
        f->events |= EVENT_DTLB;
        c->counts.dtlb_misses_spec++;
    }
    c->counts.rejects_tlb++;
    if (UNLIKELY(c->notes_details))
        c->cold[slot_of(c, f)].access.translation_cycles = saturated(t.ready - c->now);
    try_again(c, f, t.ready, HEAD_DTLB);
    return false;
}

/* Whether the store is in the same bundle as the load. */
static bool same_bundle(const struct core *restrict c, const struct flight *f, uint32_t store)
{
    return c->bundle && c->cold[c->store[store & c->store_mask].slot].bundle == c->cold[slot_of(c, f)].bundle &&
           (int32_t)(store - c->store_commit) >= 0;
}

/* Looks for the youngest older store that overlaps the load. Returns whether there is one; that store then forwards its
 * data, or the load waits for it. */
static bool store_decides(struct core *restrict c, struct flight *f)
{
    uint64_t addr = f->addr, end = addr + f->code->mem_size;
    for (uint32_t p = f->store; p != c->store_head;) {
        const struct store *s = store_at(c, --p);
        if (s->size == 0 || s->addr >= end || addr >= s->addr + s->size)
            continue;
        bool whole = s->addr <= addr && end <= s->addr + s->size;
        if (!whole && same_bundle(c, f, p)) {
            /* The store cannot leave before the load, so the load cannot wait for it: the store's part is forwarded and
             * then the rest is read from the cache. */
            if (s->data_known)
                finish_at(c, f, c->now + c->forward_latency + c->load_latency, HEAD_L1D_HIT);
            else
                hold(c, f, p, HEAD_L1D_HIT);
        } else if (!whole) {
            c->counts.rejects_overlap++;
            f->events |= EVENT_REJECT;
            hold(c, f, p, HEAD_REJECT);
        } else if (!s->data_known) {
            hold(c, f, p, HEAD_L1D_HIT);
        } else {
            c->counts.forwards++;
            f->events |= EVENT_FORWARD;
            finish_at(c, f, c->now + c->forward_latency, HEAD_L1D_HIT);
        }
        return true;
    }
    return false;
}

/* Loads and stores so far that have missed the L1D and take MSHRs, if details are noted; else 0. */
static uint64_t noted_misses(const struct core *restrict c)
{
    return UNLIKELY(c->notes_details) ? memsys_counts(c->memsys)->primary_d.l1[0] : 0;
}

/* Notes that the load has an MSHR until cycle `until`, if it has one, and how long it waited for MSHRs that younger
 * loads had. */
static void note_accepted(struct core *restrict c, const struct flight *f, bool misses, uint64_t until)
{
    struct flight_cold *cold = &c->cold[slot_of(c, f)];
    if (cold->mshr_since)
        cold->mshr_wait.cycles = saturated(c->now - cold->mshr_since);
    if (!misses)
        return;
    c->miss[c->misses++ % NOTED_MISSES] = (struct holder){c->now, until, position_of(c, f), f->flags & WRONG_PATH};
    c->miss_latest = until > c->miss_latest ? until : c->miss_latest;
}

/* Notes whether younger loads have MSHRs that the load lacks. */
static void note_rejected(struct core *restrict c, const struct flight *f)
{
    struct flight_cold *cold = &c->cold[slot_of(c, f)];
    for (unsigned k = 0; k < NOTED_MISSES; k++) {
        const struct holder *h = &c->miss[k];
        if (h->until <= c->now || h->position <= position_of(c, f))
            continue;
        cold->mshr_since = cold->mshr_since ? cold->mshr_since : c->now;
        cold->mshr_wait.wrong_path |= h->wrong_path;
    }
}

/* Loads from the data cache. Without a free MSHR the load is sent back. */
static void access_cache(struct core *restrict c, struct flight *f)
{
    static const uint16_t events[] = {0, EVENT_L1D, EVENT_L1D, EVENT_L1D | EVENT_L2D};
    static const uint8_t waits[] = {HEAD_L1D_HIT, HEAD_L1D, HEAD_L1D, HEAD_L2D};
    uint64_t misses = noted_misses(c);
    struct mem_answer a =
        memsys_load(c->memsys, core_place(c->space, f->addr), f->code->mem_size, f->pc, c->now, f->flags & WRONG_PATH);
    if (UNLIKELY(a.rejected)) {
        c->counts.rejects_mshr++;
        if (UNLIKELY(c->notes_details))
            note_rejected(c, f);
        try_again(c, f, a.ready, HEAD_REJECT);
        return;
    }
    if (UNLIKELY(c->notes_details)) {
        note_access(c, &c->cold[slot_of(c, f)].access, &a);
        note_accepted(c, f, noted_misses(c) != misses, a.ready);
    }
    f->events |= events[a.level];
    c->counts.l1d_misses_spec += a.level > LEVEL_L1;
    c->counts.l2d_misses_spec += a.level == LEVEL_MEMORY;
    enum head_wait wait = waits[a.level];
    finish_at(c, f, a.ready, wait == HEAD_L1D && f->events & EVENT_DTLB ? HEAD_WALKED : wait);
}

void lsq_issue(struct core *restrict c, struct flight *f)
{
    unsigned flags = f->code->flags;
    if (f->code->mem_size && !translated(c, f))
        return;
    if (!(flags & IS_LOAD)) { /* a store computes its address in one cycle; fences and prefetches also take one */
        c->counts.stores_spec += f->code->mem_size != 0;
        if (flags & IS_PREFETCH && !(f->flags & NO_ACCESS)) {
            memsys_load(c->memsys, core_place(c->space, f->addr), 1, f->pc, c->now, f->flags & WRONG_PATH);
            c->prefetch_ready[0] = c->prefetch_ready[1] = 0;
        }
        finish_at(c, f, c->now + 1, HEAD_ALU);
        return;
    }
    if (f->flags & NO_ACCESS) {
        finish_at(c, f, c->now + c->load_latency, HEAD_L1D_HIT);
    } else if (!may_overlap_store(c, f->addr, f->code->mem_size) || !store_decides(c, f)) {
        access_cache(c, f);
    }
    c->counts.loads_spec += f->state == ISSUED;
    c->counts.stores_spec += f->state == ISSUED && flags & IS_STORE;
}

/* ---- the store buffer */

/* Removes stores from the buffer that the cache has taken. */
static void leave_store_buffer(struct core *restrict c)
{
    while (c->store_head != c->store_drain && store_at(c, c->store_head)->done <= c->now) {
        filter_add(c, store_at(c, c->store_head), -1);
        if (c->held_count)
            release_held(c, c->store_head, true);
        c->store_head++;
        c->active = true;
    }
}

void core_drain_stores(struct core *restrict c)
{
    leave_store_buffer(c);
    while (c->store_drain != c->store_commit && c->drain_resume <= c->now) {
        struct store *s = store_at(c, c->store_drain);
        struct mem_answer a = {.ready = c->now + 1};
        if (s->size) {
            if (!memsys_data_port_free(c->memsys, c->now))
                break;
            a = memsys_store(c->memsys, core_place(c->space, s->addr), s->size, s->pc, c->now);
            if (a.rejected) {
                c->drain_resume = a.ready;
                break;
            }
            s->wait = a.level == LEVEL_L1 ? HEAD_STORES : a.level == LEVEL_MEMORY ? HEAD_L2D : HEAD_L1D;
        }
        s->done = a.ready;
        if (UNLIKELY(c->observer.drained != NULL))
            report_drained(c, &a);
        c->store_drain++;
        c->active = true;
    }
}

enum head_wait lsq_room_wait(const struct core *c)
{
    return c->store_head == c->store_drain ? HEAD_STORES : (enum head_wait)c->store[c->store_head & c->store_mask].wait;
}

uint64_t lsq_next(const struct core *c)
{
    uint64_t next = NEVER;
    if (c->store_head != c->store_drain)
        next = c->store[c->store_head & c->store_mask].done;
    if (c->store_drain != c->store_commit && c->drain_resume < next)
        next = c->drain_resume;
    return next;
}
