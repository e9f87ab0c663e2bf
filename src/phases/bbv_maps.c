/* The mappings that contain basic blocks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "guest/areas.h"
#include "phases/bbv.h"

/* Whether the set knows this area. Of mappings that overlap it, the latest decides. */
static bool is_noted(const struct bbv_set *s, const struct guest_area *a)
{
    for (size_t k = s->map_count; k-- > 0;) {
        const struct bbv_map *m = &s->map[k];
        if (a->start < m->start + m->length && m->start < a->end)
            return m->start == a->start && m->length == a->end - a->start && m->offset == a->offset &&
                   strcmp(m->path, a->name ? a->name : "") == 0;
    }
    return false;
}

static int note_map(struct bbv_set *s, const struct guest_area *a)
{
    struct bbv_map *map = array_grow(s->map, s->map_count, &s->map_room, sizeof *map);
    if (map == NULL)
        return -ENOMEM;
    s->map = map;
    char *path = strdup(a->name ? a->name : "");
    if (path == NULL)
        return -ENOMEM;
    s->map[s->map_count++] = (struct bbv_map){a->start, a->end - a->start, a->offset, path};
    return 0;
}

int bbv_note_block(struct bbv_set *s, const struct guest_memory *m, uint32_t number, const struct basic_block *block)
{
    struct basic_block *noted = array_grow(s->block, number, &s->block_room, sizeof *noted);
    if (noted == NULL)
        return -ENOMEM;
    s->block = noted;
    s->block[number] = *block;
    const struct guest_area *a = guest_area_at_or_above(m, block->pc);
    return a && a->start <= block->pc && !is_noted(s, a) ? note_map(s, a) : 0;
}
