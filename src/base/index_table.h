/* A hash table that maps a key to the index of an element in an array. The caller owns the array.
 *
 * The table stores only hashes and indices, eight bytes per slot. A callback of the owner compares an element with a
 * key. Collisions are resolved by linear probing. Elements are never removed. The table holds at most UINT32_MAX - 1
 * elements. */
#ifndef CYCLESCOPE_BASE_INDEX_TABLE_H
#define CYCLESCOPE_BASE_INDEX_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define INDEX_NONE UINT32_MAX

struct index_slot {
    uint32_t hash;         /* upper half of the element's hash */
    uint32_t index_plus_1; /* 0: the slot is free */
};

/* A zero-initialized table is empty. */
struct index_table {
    struct index_slot *slot;
    size_t size; /* number of slots, a power of two; 0 until the first element is added */
    size_t used; /* number of elements */
};

/* Returns true if the element at `index` of the owner's array has the key. */
typedef bool index_same(const void *owner, uint32_t index, const void *key);

/* Returns the index of the element with the key, or INDEX_NONE. */
uint32_t index_table_find(const struct index_table *t, uint64_t hash, index_same *same, const void *owner,
                          const void *key);
/* Adds an element. Its key must not be in the table yet. Returns 0, or -ENOMEM without setting a message. */
int index_table_add(struct index_table *t, uint64_t hash, uint32_t index) MUST_CHECK;
void index_table_free(struct index_table *t);

/* Returns the hash of a number. To hash several numbers, pass the previous hash as `seed`. */
static inline uint64_t hash_number(uint64_t seed, uint64_t n)
{
    uint64_t h = (seed ^ n) * 0x9e3779b97f4a7c15u;
    return (h ^ h >> 29) * 0xbf58476d1ce4e5b9u;
}
uint64_t hash_text(const char *text); /* returns the hash of a string */

#endif
