#include "profile/maps.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void maps_begin(struct maps *m, const struct guest_memory *memory, struct profile_writer *to)
{
    *m = (struct maps){.memory = memory, .to = to};
}

static void forget(struct maps *m)
{
    for (size_t i = 0; i < m->count; i++)
        free((char *)m->known[i].name);
    m->count = 0;
}

void maps_end(struct maps *m)
{
    forget(m);
    free(m->known);
}

/* Index of the first known mapping that ends above the address. */
static size_t find(const struct maps *m, uint64_t address)
{
    size_t low = 0, high = m->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (m->known[middle].end > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static bool is_same(const struct known_map *k, const struct guest_area *a)
{
    return k->start == a->start && k->end == a->end && k->offset == a->offset &&
           (a->name ? k->name && strcmp(k->name, a->name) == 0 : k->name == NULL);
}

static void write_map(struct maps *m, const struct guest_area *a)
{
    profile_write(m->to, &(struct profile_record){.kind = PROFILE_MAP,
                                                  .map = {.start = a->start,
                                                          .length = a->end - a->start,
                                                          .offset = a->offset,
                                                          .path = a->name ? a->name : ""}});
}

static bool keep(struct maps *m, const struct guest_area *a)
{
    struct known_map *grown = array_grow(m->known, m->count, &m->room, sizeof *m->known);
    m->known = grown ? grown : m->known;
    char *name = a->name ? strdup(a->name) : NULL;
    if (grown == NULL || (a->name && name == NULL)) {
        free(name);
        return false;
    }
    m->known[m->count++] = (struct known_map){a->start, a->end, a->offset, name};
    return true;
}

/* Writes the mappings that are new or have changed, and replaces `known` by the current mappings. */
static void write_changes(struct maps *m)
{
    struct maps before = *m;
    m->known = NULL;
    m->count = m->room = 0;
    m->epoch = guest_permission_epoch(m->memory) + 1;
    for (const struct guest_area *a = guest_area_at_or_above(m->memory, 0); a;
         a = guest_area_at_or_above(m->memory, a->end)) {
        size_t i = find(&before, a->start);
        if (i == before.count || !is_same(&before.known[i], a))
            write_map(m, a);
        m->lost |= !keep(m, a);
    }
    maps_end(&before);
}

void maps_mention(struct maps *m, uint64_t address)
{
    size_t i = find(m, address);
    bool known = i < m->count && m->known[i].start <= address;
    if (!known || m->epoch != guest_permission_epoch(m->memory) + 1)
        if (known || guest_may_access(m->memory, address, 1, 0))
            write_changes(m);
}
