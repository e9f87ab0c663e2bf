#include "branch/indirect.h"

#include <stdlib.h>

enum { TRUST_MAX = 3 };

/* Odd multipliers make each product a permutation; its upper bits depend on all bits of the operand. */
static uint64_t hash(uint64_t pc, uint64_t path)
{
    uint64_t h = (path + (pc >> 1) * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xd6e8feb86659fd93);
    h ^= h >> 32;
    return h ? h * UINT64_C(0xd6e8feb86659fd93) : 1;
}

bool indirect_init(struct indirect *t, unsigned bits)
{
    *t = (struct indirect){0};
    if (bits == 0)
        return true;
    t->shift = 64 - bits;
    t->entries = calloc((size_t)1 << bits, sizeof *t->entries);
    return t->entries != NULL;
}

void indirect_free(struct indirect *t)
{
    free(t->entries);
}

bool indirect_find(const struct indirect *t, uint64_t pc, uint64_t path, uint32_t *index, uint64_t *target)
{
    *index = UINT32_MAX;
    if (!t->entries)
        return false;
    uint64_t tag = hash(pc, path);
    *index = (uint32_t)(tag >> t->shift);
    const struct indirect_entry *e = &t->entries[*index];
    *target = e->target;
    return e->tag == tag;
}

void indirect_learn(struct indirect *t, uint32_t index, uint64_t pc, uint64_t path, uint64_t target, bool mispredicted)
{
    uint64_t tag = hash(pc, path);
    struct indirect_entry *e = &t->entries[index];
    if (e->tag == tag && e->target == target)
        e->trust = (uint8_t)(e->trust + (e->trust < TRUST_MAX));
    else if (e->tag != tag && !mispredicted)
        return;
    else if (e->trust > 0)
        e->trust--;
    else
        *e = (struct indirect_entry){.tag = tag, .target = target};
}
