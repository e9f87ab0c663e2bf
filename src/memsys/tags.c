#include "memsys/tags.h"

#include <stdlib.h>

#include "memsys/memsys.h"

enum { HOST_LINE = 64 }; /* arrays start at lines of the host's caches */

static size_t round_up(size_t bytes)
{
    return (bytes + HOST_LINE - 1) & ~(size_t)(HOST_LINE - 1);
}

/* One zeroed block: host pages of a large cache that is never filled cost nothing. */
bool tags_init(struct tags *t, uint64_t sets, unsigned ways, unsigned unit_bytes,
               const struct cache_replacement *policy, uint64_t seed)
{
    size_t entries = sets * ways;
    unsigned set_bytes = policy->set_bytes(ways);
    size_t words = round_up(entries * sizeof(uint64_t)), notes = round_up(entries),
           policy_state = round_up(sets * set_bytes);
    size_t bytes = HOST_LINE + 2 * words + notes + policy_state;
    uint8_t *block = calloc(1, bytes);
    if (!block)
        return false;
    uint8_t *at = block + (HOST_LINE - (uintptr_t)block % HOST_LINE) % HOST_LINE;
    *t = (struct tags){
        .tag = (uint64_t *)at,
        .arrival = (uint64_t *)(at + words),
        .policy_state = at + 2 * words,
        .note = at + 2 * words + policy_state,
        .set_mask = sets - 1,
        .shift = (unsigned)__builtin_ctz(unit_bytes),
        .ways = ways,
        .policy = policy,
        .set_bytes = set_bytes,
        .block = block,
        .block_bytes = bytes,
    };
    t->stamp = policy->touch ? NULL : (uint64_t *)t->policy_state;
    random_seed(&t->random, seed);
    return true;
}

void tags_free(struct tags *t)
{
    free(t->block);
    t->block = NULL;
}

/* Visits the arrays without their offset in the block, which depends on the host address and differs in another
 * process. */
void tags_visit_state(struct tags *t, state_visitor *visit, void *context)
{
    if (!t->block)
        return;
    visit(context, &t->clock, sizeof t->clock);
    visit(context, &t->random, sizeof t->random);
    visit(context, t->tag, t->block_bytes - HOST_LINE);
}

bool tags_notes_below(const struct tags *t, unsigned limit)
{
    size_t entries = t->block ? (t->set_mask + 1) * t->ways : 0, i = 0;
    while (i < entries && t->note[i] < limit)
        i++;
    return i == entries;
}

ptrdiff_t tags_find_any(const struct tags *t, uint64_t addr)
{
    uint64_t unit = addr >> t->shift, tag = unit | TAG_VALID;
    size_t first = (unit & t->set_mask) * t->ways;
    unsigned w = 0;
    for (; w + 8 <= t->ways; w += 8) {
        size_t i = first + w + tags_way8(t->tag + first + w, tag);
        if (t->tag[i] == tag)
            return (ptrdiff_t)i;
    }
    for (; w < t->ways; w++)
        if (t->tag[first + w] == tag)
            return (ptrdiff_t)(first + w);
    return -1;
}

/* With stamps the policy finds empty entries itself: their stamps are the smallest. */
size_t tags_victim(struct tags *t, uint64_t addr)
{
    size_t set = addr >> t->shift & t->set_mask, first = set * t->ways;
    if (t->stamp && t->ways == 1)
        return first;
    for (unsigned w = 0; w < t->ways && !t->stamp; w++)
        if (!t->tag[first + w])
            return first + w;
    return first + t->policy->victim(t->policy_state + set * t->set_bytes, t->ways, &t->random);
}

/* The set is taken from the tag, which is cheaper than dividing i by the number of ways. */
void tags_touch_by_policy(struct tags *t, size_t i)
{
    size_t set = t->tag[i] & t->set_mask;
    t->policy->touch(t->policy_state + set * t->set_bytes, t->ways, (unsigned)(i - set * t->ways));
}
