/* Compares the table of areas with the mappings of the host: see region.h for what must hold. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "guest/host_maps.h"
#include "guest/region.h"

/* Says what is wrong at guest address `at`. */
static int differ(struct error *err, uint64_t at, const char *what)
{
    return error_set(err, -EIO, "the guest's memory at 0x%" PRIx64 " %s", at, what);
}

/* Whether the pages are writable for the guest, and read-only on the host since they hold code (guest_mark_code). */
static bool is_protected_code(const struct guest_memory *m, const struct guest_area *a, uint64_t start, uint64_t end,
                              const struct host_map *map)
{
    if (!m->code_protected || !(a->prot & PROT_WRITE) || map->prot != PROT_READ)
        return false;
    for (uint64_t at = start; at < end; at += GUEST_PAGE)
        if (!guest_holds_code(m, at))
            return false;
    return true;
}

/* Checks the pages [start, end), which are in one mapping of the host. */
static int check_mapped(const struct guest_memory *m, uint64_t start, uint64_t end, const struct host_map *map,
                        struct error *err)
{
    for (uint64_t at = start, next; at < end; at = next) {
        const struct guest_area *a = guest_area_at_or_above(m, at);
        bool mapped = a && a->start <= at;
        next = a == NULL ? end : mapped ? a->end : a->start;
        next = next < end ? next : end;
        uint64_t offset = map->offset + ((uint64_t)(uintptr_t)m->base + at - map->start);
        if (!mapped && (map->prot != PROT_NONE || map->shared || map->of_file))
            return differ(err, at, "is in no area, and not reserved");
        if (!mapped)
            continue;
        if (map->prot != host_prot(a->prot) && !is_protected_code(m, a, at, next, map))
            return differ(err, at, "has another protection than its area");
        if (map->shared != ((a->flags & MAP_SHARED) && !a->detached) || map->of_file != area_has_file(a))
            return differ(err, at, "is of another kind than its area");
        if (area_has_file(a) && offset != a->offset + (at - a->start))
            return differ(err, at, "has another offset than its area");
    }
    return 0;
}

static int check_table(const struct guest_memory *m, struct error *err)
{
    const struct areas *t = &m->areas;
    for (size_t i = 0; i < t->count; i++) {
        const struct guest_area *a = &t->area[i];
        if (a->start >= a->end || a->start % GUEST_PAGE != 0 || a->end % GUEST_PAGE != 0 || a->end > GUEST_SPACE ||
            (i > 0 && a[-1].end > a->start))
            return differ(err, a->start, "is in a malformed area");
        if (memory_takes(m, a) && !a->charged)
            return differ(err, a->start, "is not counted against the limit");
    }
    return 0;
}

int guest_memory_check(const struct guest_memory *m, struct error *err)
{
    uint64_t base = (uint64_t)(uintptr_t)m->base, at = 0;
    struct host_maps maps;
    struct host_map map;
    int code = check_table(m, err);
    if (code < 0)
        return code;
    if (!host_maps_open(&maps))
        return error_set(err, -EIO, "/proc/self/maps cannot be opened");
    while (code == 0 && at < GUEST_SPACE && host_maps_next(&maps, &map)) {
        if (map.end <= base + at)
            continue;
        if (map.start > base + at)
            break;
        uint64_t end = map.end - base < GUEST_SPACE ? map.end - base : GUEST_SPACE;
        code = check_mapped(m, at, end, &map, err);
        at = end;
    }
    host_maps_close(&maps);
    return code == 0 && at < GUEST_SPACE ? differ(err, at, "is a hole: the host may use it") : code;
}

#ifdef CYCLESCOPE_SANITIZE
enum { CHECKED_ALWAYS = 128 }; /* tables with more areas are checked less often */

void guest_memory_assert(struct guest_memory *m)
{
    struct error err;
    m->checked_epoch = m->permission_epoch;
    if (m->areas.count > CHECKED_ALWAYS && m->checks++ % (m->areas.count / 16) != 0)
        return;
    if (guest_memory_check(m, &err) == 0)
        return;
    fprintf(stderr, "cyclescope: %s\n", err.text);
    abort();
}

void guest_memory_assert_changed(struct guest_memory *m)
{
    if (m->checked_epoch != m->permission_epoch)
        guest_memory_assert(m);
}
#endif
