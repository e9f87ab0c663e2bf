/* The wheel of events (core_priv.h). */
#include "core/core_priv.h"

uint64_t wheel_next(const struct core *c)
{
    unsigned start = (c->now + 1) % WHEEL;
    uint64_t bits = c->wheel_map[start / 64] >> start % 64;
    if (bits)
        return c->now + 1 + (unsigned)__builtin_ctzll(bits);
    unsigned passed = 64 - start % 64; /* cycles checked so far */
    for (unsigned k = 1; k <= WHEEL / 64; k++, passed += 64) {
        bits = c->wheel_map[(start / 64 + k) % (WHEEL / 64)];
        if (bits)
            return c->now + 1 + passed + (unsigned)__builtin_ctzll(bits);
    }
    return NEVER;
}
