/* What the engine does when a slice ends and when contexts change. Functions without state of their own, so that each
 * place where the engine runs has its own copy, compiled together with its driver:
 *
 *     driver_read(to, n)             counters 0 to n - 1
 *     driver_write(from, n)          the other way
 *     driver_select(code, n)         programs counters 0 to n - 1; they keep their values
 *     driver_start_clock(i, v)       counter i is v; when it passes 2^64 the slice ends
 *     driver_cycles(), driver_insns()                    of the context, counted always
 *     driver_set_cycles_and_insns(cycles, insns)
 */
#ifndef CYCLESCOPE_ENGINE_ENGINE_STEPS_H
#define CYCLESCOPE_ENGINE_ENGINE_STEPS_H

#include "engine/engine.h"

/* Less than n, each as likely as the others but for 2^-24. xorshift64. */
static inline uint32_t engine_draw(struct engine_context *x, uint32_t n)
{
    uint64_t r = x->random;
    r ^= r << 13;
    r ^= r >> 7;
    r ^= r << 17;
    x->random = r;
    return (uint32_t)(((r >> 32) * n) >> 32);
}

/* The group of the slot that comes, drawn from those that have not had their turn in this round. */
static inline uint32_t engine_next_group(const struct engine *e, struct engine_context *x)
{
    uint32_t slot = x->slot;
    if (!e->fixed_order) {
        uint32_t drawn = slot + engine_draw(x, e->slots - slot);
        uint8_t group = x->order[drawn];
        x->order[drawn] = x->order[slot];
        x->order[slot] = group;
    }
    return x->order[slot];
}

/* Returns what the slice's clock stands at: how much of the next slice it has counted already. */
static inline uint64_t engine_write_record(struct engine *e, struct engine_context *x)
{
    uint64_t *to = engine_room(e, e->current, 3 + e->counters);
    if (to == NULL) {
        x->lost++;
        return 0;
    }
    to[0] = ENGINE_HEADER(x->round, x->slot, x->group);
    to[1] = driver_cycles();
    to[2] = driver_insns();
    driver_read(to + 3, e->counters);
    return to[3 + e->group[x->group].clock];
}

/* The counters are the group's from here on; its clock has counted `elapsed` of its slice. */
static inline void engine_give_counters(const struct engine *e, uint32_t group, uint64_t elapsed)
{
    const struct engine_group *g = &e->group[group];
    driver_select(g->code, e->counters);
    driver_start_clock((unsigned)g->clock, elapsed - e->slice);
}

/* A slice is over. What made it late, interrupts being taken when the window is empty, is taken off the next. */
static inline void engine_end_slice(struct engine *e)
{
    struct engine_context *x = &e->context[e->current];
    uint64_t past = engine_write_record(e, x);
    if (++x->slot == e->slots) {
        x->slot = 0;
        x->round++;
    }
    x->group = engine_next_group(e, x);
    engine_give_counters(e, x->group, past < e->slice / 2 ? past : 0);
}

static inline void engine_begin_context(struct engine *e, struct engine_context *x)
{
    x->random = (e->seed + e->current + 1) * UINT64_C(0x9e3779b97f4a7c15) | 1;
    for (uint32_t i = 0; i < e->slots; i++)
        x->order[i] = e->slot_group[i];
    engine_draw(x, 1);
    x->group = engine_next_group(e, x);
    engine_give_counters(e, x->group, 0);
}

static inline void engine_start(struct engine *e)
{
    driver_set_cycles_and_insns(0, 0);
    engine_begin_context(e, &e->context[e->current]);
}

/* Counter state belongs to a context: that of the one that ran is put away, that of the next comes back. */
static inline void engine_switch(struct engine *e, uint32_t next)
{
    struct engine_context *x = &e->context[e->current];
    x->cycles = driver_cycles();
    x->insns = driver_insns();
    driver_read(x->counter, e->counters);
    e->current = next;
    x = &e->context[next];
    driver_set_cycles_and_insns(x->cycles, x->insns);
    driver_write(x->counter, e->counters);
    if (x->random == 0) {
        engine_begin_context(e, x);
    } else {
        const struct engine_group *g = &e->group[x->group];
        engine_give_counters(e, x->group, x->counter[g->clock] + e->slice);
    }
}

#endif
