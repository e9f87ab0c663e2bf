/* Replacement policies, which choose the line of a full set to evict: least recently used, a tree of bits that
 * approximates it, or random. */
#include "memsys/memsys.h"

/* ---- lru: the cache stamps lines as it uses them; the line with the smallest stamp is evicted. Empty ways have stamp
 * 0. */

static unsigned lru_set_bytes(unsigned ways)
{
    return ways * (unsigned)sizeof(uint64_t);
}

static unsigned lru_victim(uint8_t *set, unsigned ways, struct random *random)
{
    (void)random;
    const uint64_t *stamp = (const uint64_t *)set;
    uint64_t least = stamp[0];
    unsigned oldest = 0;
    for (unsigned w = 1; w < ways; w++) {
        oldest = stamp[w] < least ? w : oldest;
        least = stamp[w] < least ? stamp[w] : least;
    }
    return oldest;
}

/* ---- plru: a binary tree over the ways. The bits point away from the ways used last; a set bit points to the upper
 * half. Nodes are numbered as in a heap from 1, so one word has the bits for 64 ways. Halves are uneven where the
 * number of ways is not a power of two. Every node has ways on both sides, so the root alone protects the last way
 * used. */

static unsigned plru_set_bytes(unsigned ways)
{
    (void)ways;
    return sizeof(uint64_t);
}

static void plru_touch(uint8_t *set, unsigned ways, unsigned way)
{
    uint64_t *bits = (uint64_t *)set;
    unsigned low = 0, high = ways, node = 1;
    while (high - low > 1) {
        unsigned middle = low + (high - low) / 2;
        if (way < middle) {
            *bits |= UINT64_C(1) << node;
            high = middle;
            node = 2 * node;
        } else {
            *bits &= ~(UINT64_C(1) << node);
            low = middle;
            node = 2 * node + 1;
        }
    }
}

static unsigned plru_victim(uint8_t *set, unsigned ways, struct random *random)
{
    (void)random;
    uint64_t bits = *(const uint64_t *)set;
    unsigned low = 0, high = ways, node = 1;
    while (high - low > 1) {
        unsigned middle = low + (high - low) / 2;
        bool upper = bits >> node & 1;
        *(upper ? &low : &high) = middle;
        node = 2 * node + upper;
    }
    return low;
}

/* ---- random */

static unsigned random_set_bytes(unsigned ways)
{
    (void)ways;
    return 0;
}

static void random_touch(uint8_t *set, unsigned ways, unsigned way)
{
    (void)set, (void)ways, (void)way;
}

static unsigned random_victim(uint8_t *set, unsigned ways, struct random *random)
{
    (void)set;
    return (unsigned)(random_u64(random) % ways);
}

static const struct cache_replacement lru = {"lru", lru_set_bytes, NULL, lru_victim};
static const struct cache_replacement plru = {"plru", plru_set_bytes, plru_touch, plru_victim};
static const struct cache_replacement any = {"random", random_set_bytes, random_touch, random_victim};

const struct cache_replacement *const cache_replacements[] = {&lru, &plru, &any, NULL};

const char *cache_replacement_name(unsigned i)
{
    return i < sizeof cache_replacements / sizeof *cache_replacements && cache_replacements[i]
               ? cache_replacements[i]->name
               : NULL;
}
