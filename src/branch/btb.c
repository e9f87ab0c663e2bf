#include "branch/btb.h"

#include <stdlib.h>

bool btb_init(struct btb *b, unsigned entries, unsigned ways)
{
    *b = (struct btb){0};
    if (entries == 0)
        return true;
    b->ways = ways;
    b->set_mask = entries / ways - 1;
    b->entries = calloc(entries, sizeof *b->entries);
    return b->entries != NULL;
}

void btb_free(struct btb *b)
{
    free(b->entries);
}

static struct btb_entry *set_of(const struct btb *b, uint64_t pc)
{
    return &b->entries[(pc >> 1 & b->set_mask) * b->ways];
}

bool btb_find(const struct btb *b, uint64_t pc, uint64_t *target)
{
    if (!b->entries)
        return false;
    const struct btb_entry *set = set_of(b, pc);
    for (unsigned way = 0; way < b->ways; way++)
        if (set[way].tag == pc + 1) {
            *target = set[way].target;
            return true;
        }
    return false;
}

void btb_learn_slow(struct btb *b, uint64_t pc, uint64_t target)
{
    struct btb_entry *set = set_of(b, pc);
    unsigned way = 0;
    while (way < b->ways - 1 && set[way].tag != pc + 1)
        way++;
    /* `way` is the branch's own entry or else the oldest one: both are overwritten. */
    for (; way > 0; way--)
        set[way] = set[way - 1];
    set[0] = (struct btb_entry){.tag = pc + 1, .target = target};
}
