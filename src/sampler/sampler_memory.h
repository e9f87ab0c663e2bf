/* The memory that the sampler shares with the tool. The sampler is software that provides many logical counters on a
 * few physical ones: groups of events take turns on the counters.
 *
 * The sampler runs where counters overflow, below the program that it observes: as firmware in machine mode on the
 * simulated core, or on the host above the counters of a kernel. So it uses no library, allocates nothing and touches
 * little memory. A driver (sampler_steps.h) hides the differences between these places.
 *
 * The tool writes the plan before the sampler starts. The sampler writes records into a ring for each context (one
 * context per program), and the tool takes them out. Both sides use the same layout: 64 bits, little-endian.
 *
 * A record has these 64-bit words, all as they stand at the end of the slice: SAMPLER_HEADER, the cycles and the
 * instructions of the context, then its n counters. Each context has its own values. Counters go on from slice to
 * slice, so the counts of a slice are the differences to the record before it; with `counts_itself` every slice begins
 * at 0, and the record has the counts themselves. A record is contiguous: if it does not fit before the end of the
 * ring, SAMPLER_PAD marks the rest of the ring as unused and the record is at the start. A record that finds no room is
 * lost, and `lost` counts it; the round and slot of the next record show that one is missing. */
#ifndef CYCLESCOPE_SAMPLER_SAMPLER_MEMORY_H
#define CYCLESCOPE_SAMPLER_SAMPLER_MEMORY_H

#include <stddef.h>
#include <stdint.h>

enum {
    SAMPLER_COUNTERS = 29,                      /* most physical counters, besides those of cycles and instructions */
    SAMPLER_GROUPS = 64,                        /* most groups, that of idle slots included */
    SAMPLER_SLOTS = 256,                        /* most slots of a round */
    SAMPLER_CONTEXTS = 16,                      /* most contexts */
    SAMPLER_RECORD_MOST = 3 + SAMPLER_COUNTERS, /* words of the longest record */
    SAMPLER_MAGIC = 0x43535345                  /* value of sampler_memory.magic */
};

/* The first word of a record. */
#define SAMPLER_HEADER(round, slot, group) ((uint64_t)(round) << 32 | (uint64_t)(slot) << 16 | (group))
#define SAMPLER_HEADER_ROUND(header)       ((uint32_t)((header) >> 32))
#define SAMPLER_HEADER_SLOT(header)        ((uint32_t)((header) >> 16 & 0xffff))
#define SAMPLER_HEADER_GROUP(header)       ((uint32_t)((header)&0xffff))
#define SAMPLER_PAD                        UINT64_MAX
/* Pseudo group of a record that the tool writes: the first slice of the context begins here, and earlier slices of the
 * context do not count. */
#define SAMPLER_BEGIN 0xffff

struct sampler_group {
    uint64_t clock;                  /* number of the counter that counts the slice clock */
    uint64_t code[SAMPLER_COUNTERS]; /* event selectors of counters 0 to n - 1, that of the clock included */
};

/* The sampler's state of one program. Fields that are used in every slice come first. */
struct sampler_context {
    uint64_t head, tail;          /* words written to and read from its ring since the start */
    uint64_t random;              /* state of the generator that draws the order of groups; 0: has not run yet */
    uint32_t round, slot;         /* position of the slice that is being counted */
    uint32_t group;               /* the group that is being counted */
    uint32_t lost;                /* records that found no room in the ring */
    uint64_t slice;               /* length of a slice in this round */
    uint8_t order[SAMPLER_SLOTS]; /* group of each slot: up to `slot` in the order of this round, then, unordered, the
                                     groups that are still to come */
    uint64_t cycles, insns;       /* values of the context while another one runs */
    uint64_t counter[SAMPLER_COUNTERS]; /* counter values of the context while another one runs */
};

struct sampler_memory {
    uint64_t magic;         /* SAMPLER_MAGIC */
    uint32_t counters;      /* physical counters in use: 0 to counters - 1 */
    uint32_t groups;        /* that of idle slots included, which is the last */
    uint32_t slots;         /* of a round */
    uint32_t contexts;      /* most contexts of this run */
    uint64_t slice;         /* length of a slice in ticks of the slice clock */
    uint64_t first_slice;   /* its length in the first round of a context; it doubles with each round */
    uint64_t ring;          /* words of a context's ring: a power of two, at least twice
                               SAMPLER_RECORD_MOST */
    uint64_t seed;          /* of the order of groups */
    uint32_t fixed_order;   /* 1: every round has the order of `slot_group` */
    uint32_t current;       /* the context that runs */
    uint64_t counts_itself; /* 1: some event is counted in machine mode, where the sampler runs */
    struct sampler_context context[SAMPLER_CONTEXTS];
    struct sampler_group group[SAMPLER_GROUPS];
    uint8_t slot_group[SAMPLER_SLOTS]; /* group of each slot before shuffling */
    uint64_t log[];                    /* the rings, one after the other */
};

static inline uint64_t sampler_memory_bytes(uint64_t contexts, uint64_t ring)
{
    return sizeof(struct sampler_memory) + contexts * ring * sizeof(uint64_t);
}

/* Allocates a record of n words at the head of the context's ring. NULL: the ring is full. */
static inline uint64_t *sampler_record_room(struct sampler_memory *m, uint32_t context, uint64_t n)
{
    struct sampler_context *x = &m->context[context];
    uint64_t *ring = m->log + context * m->ring;
    uint64_t at = x->head & (m->ring - 1), pad = at + n > m->ring ? m->ring - at : 0;
    if (m->ring - (x->head - x->tail) < pad + n)
        return NULL;
    if (pad) {
        ring[at] = SAMPLER_PAD;
        x->head += pad;
        at = 0;
    }
    x->head += n;
    return ring + at;
}

#endif
