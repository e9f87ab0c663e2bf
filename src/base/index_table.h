/* A hash table of places in an array that its owner keeps: from a key to the index of the element that has it.
 *
 * The table stores hashes and indices only, eight bytes each; the owner says whether an element has a key. Elements are
 * never removed. At most UINT32_MAX - 1 of them fit. */
#ifndef CYCLESCOPE_BASE_INDEX_TABLE_H
#define CYCLESCOPE_BASE_INDEX_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define INDEX_NONE UINT32_MAX

struct index_slot {
    uint32_t hash; /* the upper half of the hash that it was added with */
    uint32_t next; /* the index + 1; 0: the slot is free */
};

/* All zero is an empty table. */
struct index_table {
    struct index_slot *slot;
    size_t size; /* slots, a power of two; 0 before the first */
    size_t used;
};

/* Whether the element with this index has the key. */
typedef bool index_same(const void *owner, uint32_t index, const void *key);

/* The index of the element with the key, or INDEX_NONE. */
uint32_t index_table_find(const struct index_table *t, uint64_t hash, index_same *same, const void *owner,
                          const void *key);
/* Adds an element that is not there. 0 or -ENOMEM, without a sentence. */
int index_table_add(struct index_table *t, uint64_t hash, uint32_t index) MUST_CHECK;
void index_table_free(struct index_table *t);

/* Hashes: of a number, to be chained for several, and of text. */
static inline uint64_t hash_number(uint64_t seed, uint64_t n)
{
    uint64_t h = (seed ^ n) * 0x9e3779b97f4a7c15u;
    return (h ^ h >> 29) * 0xbf58476d1ce4e5b9u;
}
uint64_t hash_text(const char *text);

/* Makes room for one more element in an array that grows by doubling: the array, possibly elsewhere, or NULL when there
 * is no memory, which leaves the old one as it is. */
void *array_room(void *array, size_t count, size_t *room, size_t element_bytes) MUST_CHECK;

#endif
