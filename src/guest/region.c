#include "guest/region.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest/host_maps.h"

#define GUARD_BYTES  (UINT64_C(1) << 16) /* inaccessible: an access that crosses GUEST_SPACE faults here */
#define REGION_BYTES (GUEST_SPACE + GUARD_BYTES)

static const int reserve_flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

bool region_create(struct guest_memory *m)
{
    void *base = mmap(NULL, REGION_BYTES, PROT_NONE, reserve_flags, -1, 0);
    if (base == MAP_FAILED)
        return false;
    m->base = base;
#ifdef CYCLESCOPE_SANITIZE
    fault_read_plan(&m->fault);
#endif
    return true;
}

void region_destroy(struct guest_memory *m)
{
    munmap(m->base, REGION_BYTES);
}

/* ---- after a failure */

/* Ends the process: the host has refused to restore the region. */
static _Noreturn void give_up(const char *call)
{
    fprintf(stderr, "cyclescope: the guest's memory cannot be restored: %s fails (%s); the guest is ended\n", call,
            strerror(errno));
    _exit(125);
}

static void must_reserve(struct guest_memory *m, uint64_t start, uint64_t end)
{
    if (mmap(m->base + start, end - start, PROT_NONE, reserve_flags | MAP_FIXED, -1, 0) == MAP_FAILED)
        give_up("mmap");
}

/* The pages do not hold what the table says they do. */
static void lose(struct guest_memory *m, uint64_t start, uint64_t end)
{
    must_reserve(m, start, end);
    memory_forget(m, start, end);
}

static bool is_reserved(const struct host_map *map)
{
    return map->prot == PROT_NONE && !map->shared && !map->of_file;
}

/* Whether the host's mapping, of which `offset` is the byte offset at guest address `at`, can be a part of the area. */
static bool is_part(const struct guest_area *a, uint64_t at, const struct host_map *map, uint64_t offset)
{
    bool of_file = area_has_file(a);
    return map->shared == ((a->flags & MAP_SHARED) && !a->detached) && map->of_file == of_file &&
           (!of_file || offset == a->offset + (at - a->start));
}

/* Makes the table and the pages [start, end), which are in one mapping of the host, agree. */
static void restore_mapped(struct guest_memory *m, uint64_t start, uint64_t end, const struct host_map *map)
{
    uint64_t base = (uint64_t)(uintptr_t)m->base;
    for (uint64_t at = start, next; at < end; at = next) {
        const struct guest_area *a = guest_area_at_or_above(m, at);
        bool mapped = a && a->start <= at;
        next = a == NULL ? end : mapped ? a->end : a->start;
        next = next < end ? next : end;
        if (!mapped && !is_reserved(map))
            must_reserve(m, at, next);
        else if (mapped && !is_part(a, at, map, map->offset + (base + at - map->start)))
            lose(m, at, next);
        else if (mapped && host_prot(a->prot) != map->prot &&
                 mprotect(m->base + at, next - at, host_prot(a->prot)) != 0)
            give_up("mprotect");
    }
}

void region_restore(struct guest_memory *m, uint64_t start, uint64_t end)
{
    uint64_t base = (uint64_t)(uintptr_t)m->base, at = start;
    struct host_maps maps;
    struct host_map map;
    if (!host_maps_open(&maps))
        give_up("opening /proc/self/maps");
    while (at < end && host_maps_next(&maps, &map)) {
        if (map.end <= base + at)
            continue;
        uint64_t low = map.start > base + at ? map.start - base : at;
        uint64_t high = map.end - base < end ? map.end - base : end;
        if (low > at)
            lose(m, at, low < end ? low : end);
        if (low < high)
            restore_mapped(m, low, high, &map);
        at = high;
    }
    if (at < end)
        lose(m, at, end);
    host_maps_close(&maps);
}

static int64_t failed(struct guest_memory *m, uint64_t start, uint64_t end)
{
    int code = errno;
    region_restore(m, start, end);
    return -code;
}

/* ---- calls on one range */

int64_t region_map(struct guest_memory *m, uint64_t start, uint64_t end, int prot, int flags, int fd, uint64_t offset)
{
    void *p = fault_mmap(&m->fault, m->base + start, end - start, host_prot(prot), flags | MAP_FIXED | MAP_NORESERVE,
                         fd, (off_t)offset);
    return p == MAP_FAILED ? failed(m, start, end) : 0;
}

int64_t region_reserve(struct guest_memory *m, uint64_t start, uint64_t end)
{
    return region_map(m, start, end, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int64_t region_protect(struct guest_memory *m, uint64_t start, uint64_t end, int prot)
{
    return fault_mprotect(&m->fault, m->base + start, end - start, host_prot(prot)) == 0 ? 0 : failed(m, start, end);
}

int64_t region_drop(struct guest_memory *m, uint64_t start, uint64_t end)
{
    return madvise(m->base + start, end - start, MADV_DONTNEED) == 0 ? 0 : -errno;
}

/* Passes only the last page as the old range: the pages before it may be in another mapping of the host. */
int64_t region_grow(struct guest_memory *m, uint64_t old_end, uint64_t new_end)
{
    uint64_t last = old_end - GUEST_PAGE;
    if (fault_munmap(&m->fault, m->base + old_end, new_end - old_end) != 0 ||
        fault_mremap(&m->fault, m->base + last, GUEST_PAGE, new_end - last, 0, NULL) == MAP_FAILED)
        return failed(m, last, new_end);
    return 0;
}

int64_t region_take(struct guest_memory *m, uint64_t start, uint64_t end, void *pages, int prot)
{
    size_t bytes = end - start;
    if (mprotect(pages, bytes, host_prot(prot)) == 0 &&
        fault_mremap(&m->fault, pages, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, m->base + start) != MAP_FAILED)
        return 0;
    return failed(m, start, end);
}

/* ---- moving */

/* Finds the first mapping of the host that ends above guest address `at`, and clips it to [at, end) in guest addresses.
 * False if there is none below `end`. */
static bool find_map(const struct guest_memory *m, uint64_t at, uint64_t end, struct host_map *map)
{
    uint64_t base = (uint64_t)(uintptr_t)m->base;
    struct host_maps maps;
    bool found = false;
    if (!host_maps_open(&maps))
        give_up("opening /proc/self/maps");
    while (!found && host_maps_next(&maps, map))
        found = map->end > base + at;
    host_maps_close(&maps);
    if (!found || map->start >= base + end)
        return false;
    map->start = map->start > base + at ? map->start - base : at;
    map->end = map->end < base + end ? map->end - base : end;
    return true;
}

/* Moves back what a failed move has moved: what is missing at [from, from_end) is at `to`, unless it is lost. */
static void undo_move(struct guest_memory *m, uint64_t from, uint64_t from_end, uint64_t to, bool accessible)
{
    for (uint64_t at = from; at < from_end;) {
        struct host_map here, there;
        uint64_t gap_end = find_map(m, at, from_end, &here) ? here.start : from_end;
        if (gap_end == at) {
            at = here.end;
            continue;
        }
        bool moved = find_map(m, to + (at - from), to + (gap_end - from), &there);
        uint64_t low = moved ? from + (there.start - to) : gap_end, high = moved ? from + (there.end - to) : gap_end;
        if (low > at)
            lose(m, at, low);
        if (moved && accessible && is_reserved(&there)) /* these pages have not been moved, but are gone */
            lose(m, low, high);
        else if (moved && mremap(m->base + there.start, high - low, high - low, MREMAP_MAYMOVE | MREMAP_FIXED,
                                 m->base + low) == MAP_FAILED)
            give_up("mremap");
        at = high;
    }
}

/* Moves the mappings of the host one by one. The last one is extended. Returns 0 or a negative errno. */
static int64_t move_pieces(struct guest_memory *m, uint64_t from, uint64_t from_end, uint64_t to, uint64_t to_end)
{
    for (uint64_t at = from; at < from_end;) {
        struct host_map map;
        if (!find_map(m, at, from_end, &map) || map.start != at)
            return -EFAULT;
        uint64_t place = to + (at - from), bytes = map.end - at;
        uint64_t new_bytes = map.end == from_end ? to_end - place : bytes;
        if (fault_mremap(&m->fault, m->base + at, bytes, new_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, m->base + place) ==
            MAP_FAILED)
            return -errno;
        at = map.end;
    }
    return 0;
}

int64_t region_move(struct guest_memory *m, uint64_t from, uint64_t from_end, uint64_t to, uint64_t to_end)
{
    bool accessible = host_prot(guest_area_at_or_above(m, from)->prot) != PROT_NONE;
    void *p = fault_mremap(&m->fault, m->base + from, from_end - from, to_end - to, MREMAP_MAYMOVE | MREMAP_FIXED,
                           m->base + to);
    int64_t result = p == MAP_FAILED ? -errno : 0;
    if (result == -EFAULT) {
        undo_move(m, from, from_end, to, accessible);
        region_restore(m, to, to_end);
        result = guest_may_access(m, from, from_end - from, PROT_NONE) ? move_pieces(m, from, from_end, to, to_end)
                                                                       : -EFAULT;
    }
    if (result < 0) {
        undo_move(m, from, from_end, to, accessible);
        region_restore(m, from, from_end);
        region_restore(m, to, to_end);
        return result;
    }
    must_reserve(m, from, from_end);
    return 0;
}
