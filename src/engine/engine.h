/* The sampling engine: logical counters from few physical ones, by turns.
 *
 * It runs where counters overflow, below the program that it watches: as firmware in machine mode on the simulated
 * core, or on the host above a kernel's counters. So it needs no library, allocates nothing and takes little memory in
 * the cache. What differs below it is a driver (engine_steps.h).
 *
 * This is its memory, which it shares with the tool: the tool writes the plan before the engine starts, the engine
 * writes records to a ring for each context, and the tool takes them out. The same layout on both sides: 64 bits,
 * little-endian.
 *
 * A record, in words: ENGINE_HEADER, then cycles and instructions of the context, then counters 0 to n - 1 as they
 * stand at the end of the slice. What a slice counted is the difference to the record before, as the counters go on
 * over slices and contexts have values of their own. A record lies in one piece; where it does not fit before the end
 * of the ring there is ENGINE_PAD, and it follows at the beginning. A record that finds no room is lost and counted;
 * the next one tells by its round and slot. */
#ifndef CYCLESCOPE_ENGINE_ENGINE_H
#define CYCLESCOPE_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ENGINE_COUNTERS = 29,
    ENGINE_GROUPS = 64,
    ENGINE_SLOTS = 256,
    ENGINE_CONTEXTS = 16,
    ENGINE_RECORD_MOST = 3 + ENGINE_COUNTERS, /* words */
    ENGINE_MAGIC = 0x43535345
};

/* The first word of a record. */
#define ENGINE_HEADER(round, slot, group) ((uint64_t)(round) << 32 | (uint64_t)(slot) << 16 | (group))
#define ENGINE_HEADER_ROUND(header)       ((uint32_t)((header) >> 32))
#define ENGINE_HEADER_SLOT(header)        ((uint32_t)((header) >> 16 & 0xffff))
#define ENGINE_HEADER_GROUP(header)       ((uint32_t)((header)&0xffff))
#define ENGINE_PAD                        UINT64_MAX
#define ENGINE_BEGIN                      0xffff /* a group, by the tool: what was before does not count */

struct engine_group {
    uint64_t clock;                 /* number of the counter that is the clock */
    uint64_t code[ENGINE_COUNTERS]; /* what counters 0 to n - 1 count, that of the clock included */
};

/* What is used in every slice comes first. */
struct engine_context {
    uint64_t head, tail;               /* words written and read */
    uint64_t random;                   /* state of the order's numbers; 0: the context has not run yet */
    uint32_t round, slot;              /* of the slice that is being counted */
    uint32_t group;                    /* that has the counters */
    uint32_t lost;                     /* records without room */
    uint8_t order[ENGINE_SLOTS];       /* groups by slot: up to `slot` in their order, behind it those that are left */
    uint64_t cycles, insns;            /* of the context, while another runs */
    uint64_t counter[ENGINE_COUNTERS]; /* likewise */
};

struct engine {
    uint64_t magic;
    uint32_t counters; /* that are read and programmed: 0 to counters - 1 */
    uint32_t groups;
    uint32_t slots;       /* of a round */
    uint32_t contexts;    /* that there may be */
    uint64_t slice;       /* of the clock */
    uint64_t ring;        /* words of a context's ring, a power of two and at least twice ENGINE_RECORD_MOST */
    uint64_t seed;        /* of the order */
    uint32_t fixed_order; /* slots in the order of `slot_group`, always */
    uint32_t current;     /* context */
    struct engine_context context[ENGINE_CONTEXTS];
    struct engine_group group[ENGINE_GROUPS];
    uint8_t slot_group[ENGINE_SLOTS]; /* as many slots of each group as it has shares */
    uint64_t log[];                   /* the rings, one behind the other */
};

static inline uint64_t engine_bytes(uint64_t contexts, uint64_t ring)
{
    return sizeof(struct engine) + contexts * ring * sizeof(uint64_t);
}

/* Where a record of n words goes, behind what is written already; NULL: there is no room. */
static inline uint64_t *engine_room(struct engine *e, uint32_t context, uint64_t n)
{
    struct engine_context *x = &e->context[context];
    uint64_t *ring = e->log + context * e->ring;
    uint64_t at = x->head & (e->ring - 1), pad = at + n > e->ring ? e->ring - at : 0;
    if (e->ring - (x->head - x->tail) < pad + n)
        return NULL;
    if (pad) {
        ring[at] = ENGINE_PAD;
        x->head += pad;
        at = 0;
    }
    x->head += n;
    return ring + at;
}

#endif
