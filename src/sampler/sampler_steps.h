/* What the sampler does when a slice ends and when contexts change.
 *
 * These functions have no state besides struct sampler_memory. Each place where the sampler runs compiles its own copy,
 * together with a driver that defines these functions before it includes this header:
 *
 *     driver_read(to, n)             reads counters 0 to n - 1
 *     driver_write(from, n)          writes counters 0 to n - 1
 *     driver_select(code, n)         selects the events of counters 0 to n - 1; the counters keep their values
 *     driver_exchange(to, code, n)   for one counter after the other: reads it, selects its event, sets it to 0; adds
 *                                    what it would have counted in between
 *     driver_start_clock(i, v)       sets counter i to v; the slice ends when the counter wraps at 2^64
 *     driver_cycles()                cycles of the running context, counted always
 *     driver_insns()                 instructions of the running context, counted always
 *     driver_set_cycles_and_insns(cycles, insns)         sets both
 */
#ifndef CYCLESCOPE_SAMPLER_SAMPLER_STEPS_H
#define CYCLESCOPE_SAMPLER_SAMPLER_STEPS_H

#include "sampler/sampler_memory.h"

/* A random number below n (xorshift64): uniform within 2^-24, as n is at most SAMPLER_SLOTS. */
static inline uint32_t sampler_draw(struct sampler_context *x, uint32_t n)
{
    uint64_t r = x->random;
    r ^= r << 13;
    r ^= r >> 7;
    r ^= r << 17;
    x->random = r;
    return (uint32_t)(((r >> 32) * n) >> 32);
}

/* The group of slot x->slot, drawn from those that have not had their turn in this round: one step of a Fisher-Yates
 * shuffle of x->order. */
static inline uint32_t sampler_next_group(const struct sampler_memory *m, struct sampler_context *x)
{
    uint32_t slot = x->slot;
    if (!m->fixed_order) {
        uint32_t drawn = slot + sampler_draw(x, m->slots - slot);
        uint8_t group = x->order[drawn];
        x->order[drawn] = x->order[slot];
        x->order[slot] = group;
    }
    return x->order[slot];
}

/* Starts the slice clock: `elapsed` ticks of the slice have passed already. */
static inline void sampler_start_clock(const struct sampler_memory *m, const struct sampler_context *x,
                                       uint64_t elapsed)
{
    driver_start_clock((unsigned)m->group[x->group].clock, elapsed - x->slice);
}

/* The slice clock has overflowed: writes the record of the slice and gives the counters to the next group. The core
 * takes the interrupt after its window has drained, so the slice was too long; the next slice is shorter by the same
 * number of ticks.
 *
 * Counters that do not count in machine mode are read together and then selected together. Counters that count the
 * sampler itself are exchanged one by one: events of the sampler between the reading of a counter and the selection of
 * its next event would count for the next group. */
static inline void sampler_end_slice(struct sampler_memory *m)
{
    struct sampler_context *x = &m->context[m->current];
    uint32_t ended = x->group;
    uint64_t *to = sampler_record_room(m, m->current, 3 + m->counters), unrecorded[SAMPLER_COUNTERS];
    if (to) {
        to[0] = SAMPLER_HEADER(x->round, x->slot, ended);
        to[1] = driver_cycles();
        to[2] = driver_insns();
    } else {
        x->lost++;
    }
    if (++x->slot == m->slots) {
        x->slot = 0;
        x->round++;
        if (x->slice < m->slice)
            x->slice = 2 * x->slice < m->slice ? 2 * x->slice : m->slice;
    }
    x->group = sampler_next_group(m, x);
    uint64_t *counts = to ? to + 3 : unrecorded;
    if (m->counts_itself) {
        driver_exchange(counts, m->group[x->group].code, m->counters);
    } else {
        driver_read(counts, m->counters);
        driver_select(m->group[x->group].code, m->counters);
    }
    uint64_t past = counts[m->group[ended].clock]; /* ticks since the clock overflowed */
    sampler_start_clock(m, x, past < x->slice / 2 ? past : 0);
}

/* Starts the first round of a context. */
static inline void sampler_begin_context(struct sampler_memory *m, struct sampler_context *x)
{
    x->random = (m->seed + m->current + 1) * UINT64_C(0x9e3779b97f4a7c15) | 1;
    for (uint32_t i = 0; i < m->slots; i++)
        x->order[i] = m->slot_group[i];
    x->slice = m->first_slice;
    sampler_draw(x, 1);
    x->group = sampler_next_group(m, x);
    driver_select(m->group[x->group].code, m->counters);
    driver_write(x->counter, m->counters);
    sampler_start_clock(m, x, 0);
}

/* Starts the first context, m->current. */
static inline void sampler_start(struct sampler_memory *m)
{
    driver_set_cycles_and_insns(0, 0);
    sampler_begin_context(m, &m->context[m->current]);
}

/* Context `next` runs from here on. Saves the counters of the context that ran and restores those of `next`. Events are
 * selected before values are written: a counter that counts the sampler itself would otherwise add events of the
 * previous context to the restored values. */
static inline void sampler_switch(struct sampler_memory *m, uint32_t next)
{
    struct sampler_context *x = &m->context[m->current];
    x->cycles = driver_cycles();
    x->insns = driver_insns();
    driver_read(x->counter, m->counters);
    m->current = next;
    x = &m->context[next];
    driver_set_cycles_and_insns(x->cycles, x->insns);
    if (x->random == 0) {
        sampler_begin_context(m, x);
    } else {
        driver_select(m->group[x->group].code, m->counters);
        driver_write(x->counter, m->counters);
        sampler_start_clock(m, x, x->counter[m->group[x->group].clock] + x->slice);
    }
}

#endif
