#include "base/index_table.h"

#include <errno.h>
#include <stdlib.h>

enum { FIRST_SIZE = 64 };

/* FNV-1a, then a mixing step, because the table uses the upper half of the hash. */
uint64_t hash_text(const char *text)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    return hash_number(0, h);
}

uint32_t index_table_find(const struct index_table *t, uint64_t hash, index_same *same, const void *owner,
                          const void *key)
{
    uint32_t upper = (uint32_t)(hash >> 32);
    if (t->size == 0)
        return INDEX_NONE;
    for (size_t i = upper & (t->size - 1); t->slot[i].index_plus_1; i = (i + 1) & (t->size - 1))
        if (t->slot[i].hash == upper && same(owner, t->slot[i].index_plus_1 - 1, key))
            return t->slot[i].index_plus_1 - 1;
    return INDEX_NONE;
}

static void put(struct index_slot *slot, size_t size, struct index_slot new)
{
    size_t i = new.hash &(size - 1);
    while (slot[i].index_plus_1)
        i = (i + 1) & (size - 1);
    slot[i] = new;
}

static int grow(struct index_table *t)
{
    size_t size = t->size ? 2 * t->size : FIRST_SIZE;
    struct index_slot *slot = calloc(size, sizeof *slot);
    if (slot == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < t->size; i++)
        if (t->slot[i].index_plus_1)
            put(slot, size, t->slot[i]);
    free(t->slot);
    t->slot = slot;
    t->size = size;
    return 0;
}

int index_table_add(struct index_table *t, uint64_t hash, uint32_t index)
{
    /* The table grows when three quarters of its slots are in use. */
    if (index == INDEX_NONE || (4 * (t->used + 1) > 3 * t->size && grow(t) != 0))
        return -ENOMEM;
    put(t->slot, t->size, (struct index_slot){(uint32_t)(hash >> 32), index + 1});
    t->used++;
    return 0;
}

void index_table_free(struct index_table *t)
{
    free(t->slot);
    *t = (struct index_table){0};
}
