/* What every instruction asks the judges, of all of them at once, in vectors of four 64-bit words. Included by
 * judges.h.
 *
 * The judges of a group have lanes 3 and 11, the last ones of the two blocks of eight lanes: a shift by 48 bits leaves
 * their times in words of 64 bits, and the words of two groups make a quad. Order in a quad: two groups' first judges,
 * then their last ones. */
#ifndef CYCLESCOPE_GRAPH_JUDGES_WIDE_H
#define CYCLESCOPE_GRAPH_JUDGES_WIDE_H

#include "graph/lanes_rows.h"

typedef uint64_t quad __attribute__((vector_size(4 * sizeof(uint64_t)), may_alias));

enum { QUAD = 4, QUADS = JUDGES / QUAD, LANE_SHIFT = 48, SIGN = 0x8000 };
_Static_assert(JUDGES % QUAD == 0 && FRONT_SETS == 4 && GROUP_SETS == 12, "places of judges in their groups");

/* The judge of an element of an array of quads. */
INLINE unsigned judge_at(unsigned i)
{
    return i - i % QUAD + i % 2 * 2 + i % QUAD / 2;
}

/* The times of all judges: low 16 bits as in the row, added to what `base` has for 0x8000 less. */
INLINE void read_times(const struct row *r, const uint64_t base[JUDGES], quad when[QUADS])
{
    const quad *group = (const quad *)r->lane, *from = (const quad *)base;
    for (unsigned q = 0; q < QUADS; q++) {
        quad a = group[2 * q] >> LANE_SHIFT, b = group[2 * q + 1] >> LANE_SHIFT;
        when[q] = (__builtin_shufflevector(a, b, 0, 4, 2, 6) ^ SIGN) + from[q];
    }
}

/* Whether an element has one of these bits. */
INLINE bool any_bit(const quad *v, uint64_t bits)
{
    quad halves = *v | __builtin_shufflevector(*v, *v, 2, 3, 2, 3);
    return ((halves[0] | halves[1]) & bits) != 0;
}

INLINE bool any_bits(const quad v[QUADS], uint64_t bits)
{
    quad all = v[0];
    for (unsigned q = 1; q < QUADS; q++)
        all |= v[q];
    return any_bit(&all, bits);
}

/* Instructions enter their queues at the times in `d`, or later. Returns whether `d` may have changed. Most find room
 * in all judges. */
INLINE bool enter_queues(struct lanes *l, const struct contention_need *need, struct row *d)
{
    quad when[QUADS], late[QUADS];
    const quad *now = (const quad *)l->now;
    read_times(d, l->judge_base, when);
    for (unsigned q = 0; q < QUADS; q++)
        late[q] = now[q] + CONTENTION_LAG - when[q];
    bool lags = any_bits(late, UINT64_C(1) << 63);
    unsigned *room = &l->queue_room[need->queue_number];
    if (__builtin_expect(lags || *room == 0 || l->queue_room[QUEUES] == 0, 0))
        return judges_enter_late(l, need, d);
    --*room;
    l->queue_room[QUEUES]--;
    l->entered += need->queue;
    return false;
}

/* The slots of all judges at their times: their places in the tables, and what they have. */
INLINE void read_slots(const struct lanes *l, const quad when[QUADS], uint64_t index[JUDGES], quad use[QUADS])
{
    for (unsigned q = 0; q < QUADS; q++)
        *(quad *)&index[q * QUAD] = when[q] % CONTENTION_CYCLES;
    for (unsigned q = 0; q < QUADS; q++) {
        const unsigned i = q * QUAD;
        quad slot = {l->judge[judge_at(i)].slot[index[i]], l->judge[judge_at(i + 1)].slot[index[i + 1]],
                     l->judge[judge_at(i + 2)].slot[index[i + 2]], l->judge[judge_at(i + 3)].slot[index[i + 3]]};
        quad lap = when[q] / CONTENTION_CYCLES << LAP_SHIFT, empty = lap | l->limits.empty_slot;
        quad fresh = (quad)((slot ^ lap) >> LAP_SHIFT == 0);
        use[q] = (slot & fresh) | (empty & ~fresh);
    }
}

INLINE void write_slots(struct lanes *l, const uint64_t index[JUDGES], const quad use[QUADS])
{
    for (unsigned q = 0; q < QUADS; q++)
        for (unsigned k = 0; k < QUAD; k++)
            l->judge[judge_at(q * QUAD + k)].slot[index[q * QUAD + k]] = use[q][k];
}

/* Instructions issue, at the times in `t` or later. Most find a slot at once in all judges: then there is one branch
 * for all of them. */
INLINE void issue(struct lanes *l, const struct contention_need *need, struct row *t)
{
    _Alignas(sizeof(quad)) uint64_t index[JUDGES];
    quad when[QUADS], use[QUADS];
    read_times(t, l->judge_base, when);
    read_slots(l, when, index, use);
    if (__builtin_expect(any_bits(use, need->full) || need->interval > 1, 0)) {
        judges_issue_late(l, need, t, (const uint64_t *)when, (const uint64_t *)use);
        return;
    }
    for (unsigned q = 0; q < QUADS; q++)
        use[q] += need->issue;
    write_slots(l, index, use);
}

/* Instructions leave their queues at the times in `t`. */
INLINE void leave_queues(struct lanes *l, const struct contention_need *need, const struct row *t)
{
    _Alignas(sizeof(quad)) uint64_t index[JUDGES];
    quad when[QUADS];
    const quad *now = (const quad *)l->now;
    read_times(t, l->judge_base, when);
    for (unsigned q = 0; q < QUADS; q++) {
        quad last = now[q] + CONTENTION_CYCLES - 1, beyond = -((last - when[q]) >> 63);
        *(quad *)&index[q * QUAD] = ((last & beyond) | (when[q] & ~beyond)) % CONTENTION_CYCLES;
    }
    uint16_t insn = (uint16_t)l->insns;
    for (unsigned i = 0; i < JUDGES; i++) {
        struct contention_leavers *at = &l->judge[judge_at(i)].leavers[index[i]];
        at->freed += need->queue;
        at->last[need->queue_number] = insn;
        if (l->limits.has_total)
            at->last[QUEUES] = insn;
    }
}

#endif
