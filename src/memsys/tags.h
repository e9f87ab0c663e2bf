/* A set-associative array of tags with arrival cycles: the common part of a cache and a TLB.
 *
 * An entry stands for one unit of address space (a line or a page). A unit takes its entry when it is requested;
 * `arrival` is the cycle in which it arrives. The bit ARRIVAL_PREFETCHED marks a prefetched line that has not been used
 * yet. It makes the arrival greater than every cycle, so the single comparison `arrival <= now` tells that an entry has
 * arrived and needs no further handling.
 *
 * Entries are looked up far more often than placed: arrays are flat, the tags of a set are adjacent, and the valid bit
 * is part of the tag. For the common associativities a lookup compares all ways without a branch. */
#ifndef CYCLESCOPE_MEMSYS_TAGS_H
#define CYCLESCOPE_MEMSYS_TAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/random.h"
#include "base/state_visitor.h"

struct cache_replacement;

#define TAG_VALID          (UINT64_C(1) << 63) /* units have at least 8 bytes, so their numbers leave this bit free */
#define ARRIVAL_PREFETCHED (UINT64_C(1) << 63)

struct tags {
    uint64_t *tag;     /* number of the unit | TAG_VALID; 0: empty */
    uint64_t *arrival; /* cycle of arrival | ARRIVAL_PREFETCHED */
    uint64_t *stamp;   /* `clock` at the last touch, 0 for empty entries; NULL: the policy keeps its own state */
    uint8_t *note;     /* one byte per entry for the owner */
    uint64_t clock;    /* number of touches */
    uint64_t set_mask; /* number of sets - 1 */
    unsigned shift;    /* log2 of a unit's bytes */
    unsigned ways;
    const struct cache_replacement *policy;
    uint8_t *policy_state; /* state of the replacement policy, set by set */
    unsigned set_bytes;    /* bytes of policy_state per set */
    struct random random;
    void *block;        /* one allocation that holds all arrays */
    size_t block_bytes; /* size of `block` */
};

/* Allocates the arrays. The caller has checked the geometry. Returns false if out of memory. */
bool tags_init(struct tags *t, uint64_t sets, unsigned ways, unsigned unit_bytes,
               const struct cache_replacement *policy, uint64_t seed);
void tags_free(struct tags *t);
void tags_visit_state(struct tags *t, state_visitor *visit, void *context);
bool tags_notes_below(const struct tags *t, unsigned limit); /* whether all notes are less than `limit` */

/* Returns the entry to replace by `addr`: an empty one if its set has one. */
size_t tags_victim(struct tags *t, uint64_t addr);
void tags_touch_by_policy(struct tags *t, size_t i);

/* tags_find for any number of ways. */
ptrdiff_t tags_find_any(const struct tags *t, uint64_t addr);

/* Return the one of four or eight ways that may have the tag. The index is computed from comparison bits instead of
 * branches, so the host's time does not depend on which way hits. Without a match the result is 0. */
static inline unsigned tags_way4(const uint64_t *set, uint64_t tag)
{
    unsigned one = set[1] == tag, two = set[2] == tag, three = set[3] == tag;
    return (one | three) | (two | three) << 1;
}

static inline unsigned tags_way8(const uint64_t *set, uint64_t tag)
{
    unsigned four = set[4] == tag, five = set[5] == tag, six = set[6] == tag, seven = set[7] == tag;
    return tags_way4(set, tag) | (five | seven) | (six | seven) << 1 | (four | five | six | seven) << 2;
}

/* Returns the entry of `addr`, or -1. */
static inline ptrdiff_t tags_find(const struct tags *t, uint64_t addr)
{
    uint64_t unit = addr >> t->shift, tag = unit | TAG_VALID;
    size_t i = unit & t->set_mask;
    switch (t->ways) {
    case 1: break;
    case 2:
        i *= 2;
        i += t->tag[i + 1] == tag;
        break;
    case 4:
        i *= 4;
        i += tags_way4(t->tag + i, tag);
        break;
    case 8:
        i *= 8;
        i += tags_way8(t->tag + i, tag);
        break;
    default: return tags_find_any(t, addr);
    }
    return t->tag[i] == tag ? (ptrdiff_t)i : -1;
}

/* The entry was used or placed: updates the replacement state. */
static inline void tags_touch(struct tags *t, size_t i)
{
    if (__builtin_expect(t->stamp != NULL, 1))
        t->stamp[i] = ++t->clock;
    else
        tags_touch_by_policy(t, i);
}

/* Places `addr` at entry i. */
static inline void tags_place(struct tags *t, size_t i, uint64_t addr, uint64_t arrival, uint8_t note)
{
    t->tag[i] = addr >> t->shift | TAG_VALID;
    t->arrival[i] = arrival;
    t->note[i] = note;
    tags_touch(t, i);
}

/* Returns the first address of the unit at entry i, which is valid. */
static inline uint64_t tags_address(const struct tags *t, size_t i)
{
    return t->tag[i] << t->shift; /* shifts TAG_VALID out */
}

#endif
