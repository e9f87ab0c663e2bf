#include "phases/bbv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

int bbv_add_entered(struct bbv_set *s, uint32_t block, uint64_t insns, uint64_t entries)
{
    struct bbv_entry *entry = array_grow(s->entry, s->entry_count, &s->entry_room, sizeof *entry);
    if (entry == NULL)
        return -ENOMEM;
    s->entry = entry;
    s->entry[s->entry_count++] = (struct bbv_entry){block, (float)entries, insns};
    if (block >= s->blocks)
        s->blocks = block + 1;
    return 0;
}

int bbv_add(struct bbv_set *s, uint32_t block, uint64_t insns)
{
    return bbv_add_entered(s, block, insns, insns);
}

/* Index of the first entry of the vector that is being built. */
static size_t first_new_entry(const struct bbv_set *s)
{
    return s->count ? s->vector[s->count - 1].first + s->vector[s->count - 1].count : 0;
}

int bbv_end(struct bbv_set *s)
{
    struct bbv *vector = array_grow(s->vector, s->count, &s->room, sizeof *vector);
    if (vector == NULL)
        return -ENOMEM;
    s->vector = vector;
    struct bbv made = {.first = first_new_entry(s)};
    made.count = s->entry_count - made.first;
    for (size_t k = made.first; k < s->entry_count; k++) {
        made.insns += s->entry[k].insns;
        made.entries += s->entry[k].entries;
    }
    for (size_t k = made.first; made.entries == 0 && k < s->entry_count; k++)
        s->entry[k].entries = 1; /* no block begins here */
    if (made.entries == 0)
        made.entries = (double)made.count;
    s->vector[s->count++] = made;
    return 0;
}

void bbv_free(struct bbv_set *s)
{
    for (size_t k = 0; k < s->map_count; k++)
        free(s->map[k].path);
    free(s->map);
    free(s->block);
    free(s->entry);
    free(s->vector);
    *s = (struct bbv_set){0};
}
