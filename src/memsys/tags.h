/* A set-associative array of tags with dates: what a cache and a TLB have in common.
 *
 * An entry names one unit of address space (a line, a page). It takes its place when it is asked for; its date is the
 * cycle at which it arrives. DATE_PREFETCHED in a date marks a line that nobody has used yet: such a date lies behind
 * every cycle, so that the one comparison `date <= now` says that an entry is here and needs no attention.
 *
 * Entries are looked up far more often than placed: arrays are flat, a set's tags lie together, and the valid bit is
 * part of the tag. For the common associativities a lookup compares all ways without a branch. */
#ifndef CYCLESCOPE_MEMSYS_TAGS_H
#define CYCLESCOPE_MEMSYS_TAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/random.h"
#include "base/state.h"

struct cache_replacement;

#define TAG_VALID       (UINT64_C(1) << 63) /* units have 8 bytes or more: their numbers leave this bit free */
#define DATE_PREFETCHED (UINT64_C(1) << 63)

struct tags {
    uint64_t *tag;     /* number of the unit | TAG_VALID; 0: empty */
    uint64_t *date;    /* arrival, and DATE_PREFETCHED */
    uint64_t *stamp;   /* time of the last touch, 0 of empty entries; NULL if the policy keeps books of its own */
    uint8_t *note;     /* a byte per entry for the owner */
    uint64_t clock;    /* counts touches */
    uint64_t set_mask; /* sets - 1 */
    unsigned shift;    /* log2 of a unit's bytes */
    unsigned ways;
    const struct cache_replacement *policy;
    uint8_t *books;     /* the policy's, of all sets */
    unsigned set_bytes; /* of books per set */
    struct random random;
    void *block;        /* all arrays ... */
    size_t block_bytes; /* ... and how long it is */
};

/* The caller has checked the geometry. False: no memory. */
bool tags_init(struct tags *t, uint64_t sets, unsigned ways, unsigned unit_bytes,
               const struct cache_replacement *policy, uint64_t seed);
void tags_free(struct tags *t);
void tags_visit_state(struct tags *t, state_visitor *visit, void *context);
bool tags_notes_below(const struct tags *t, unsigned limit); /* all of them */

/* The entry that is to make place for `addr`: an empty one if there is one. */
size_t tags_victim(struct tags *t, uint64_t addr);
void tags_touch_by_policy(struct tags *t, size_t i);

/* tags_find for any number of ways. */
ptrdiff_t tags_find_any(const struct tags *t, uint64_t addr);

/* Of four tags the one that may be equal, and of eight: put together from bits instead of asked for, so that nothing
 * depends on which way hits. Where none is equal, the answer is 0. */
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

/* The entry of `addr`, or -1. */
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

/* The entry was used or placed. */
static inline void tags_touch(struct tags *t, size_t i)
{
    if (__builtin_expect(t->stamp != NULL, 1))
        t->stamp[i] = ++t->clock;
    else
        tags_touch_by_policy(t, i);
}

/* Places `addr` at entry i. */
static inline void tags_place(struct tags *t, size_t i, uint64_t addr, uint64_t date, uint8_t note)
{
    t->tag[i] = addr >> t->shift | TAG_VALID;
    t->date[i] = date;
    t->note[i] = note;
    tags_touch(t, i);
}

/* First address of the unit at entry i, which is valid. */
static inline uint64_t tags_address(const struct tags *t, size_t i)
{
    return t->tag[i] << t->shift; /* shifts TAG_VALID out */
}

#endif
