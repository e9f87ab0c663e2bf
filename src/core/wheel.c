/* What happens at a known cycle: lists by cycle, on a wheel. An entry beyond the wheel's horizon waits at the horizon
 * and is put on again. */
#include "core/core_priv.h"

void wheel_add(struct core *c, struct flight *f)
{
    uint64_t at = f->when - c->now < WHEEL ? f->when : c->now + WHEEL - 1;
    unsigned i = at % WHEEL, slot = slot_of(c, f), first = c->wheel[i];
    f->wheel_next = (uint16_t)first;
    f->wheel_previous = NO_SLOT;
    f->wheel_at = (uint16_t)i;
    f->flags |= IN_WHEEL;
    if (first != NO_SLOT)
        c->window[first].wheel_previous = (uint16_t)slot;
    c->wheel[i] = (uint16_t)slot;
    c->wheel_map[i / 64] |= UINT64_C(1) << i % 64;
}

void wheel_remove(struct core *c, struct flight *f)
{
    unsigned i = f->wheel_at;
    f->flags &= (uint8_t)~IN_WHEEL;
    if (f->wheel_next != NO_SLOT)
        c->window[f->wheel_next].wheel_previous = f->wheel_previous;
    if (f->wheel_previous != NO_SLOT)
        c->window[f->wheel_previous].wheel_next = f->wheel_next;
    else
        c->wheel[i] = f->wheel_next;
    if (c->wheel[i] == NO_SLOT)
        c->wheel_map[i / 64] &= ~(UINT64_C(1) << i % 64);
}

uint64_t wheel_next(const struct core *c)
{
    unsigned start = (c->now + 1) % WHEEL;
    uint64_t bits = c->wheel_map[start / 64] >> start % 64;
    if (bits)
        return c->now + 1 + (unsigned)__builtin_ctzll(bits);
    unsigned passed = 64 - start % 64; /* slots looked at */
    for (unsigned k = 1; k <= WHEEL / 64; k++, passed += 64) {
        bits = c->wheel_map[(start / 64 + k) % (WHEEL / 64)];
        if (bits)
            return c->now + 1 + passed + (unsigned)__builtin_ctzll(bits);
    }
    return NEVER;
}
