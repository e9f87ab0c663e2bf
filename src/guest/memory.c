#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "guest/region.h"

#define STACK_GAP (UINT64_C(128) << 20) /* minimum distance from the top of the stack to the highest other mapping */

struct guest_memory *guest_memory_new(uint64_t limit_bytes, struct error *err)
{
    struct guest_memory *m = calloc(1, sizeof *m);
    if (m == NULL || !areas_init(&m->areas)) {
        error_set(err, -ENOMEM, "out of memory");
        free(m);
        return NULL;
    }
    if (!region_create(m)) {
        error_set(err, -ENOMEM, "cannot reserve 256 GB of addresses for the guest (%s): is `ulimit -v` set?",
                  strerror(errno));
        areas_free(&m->areas);
        free(m);
        return NULL;
    }
    m->limit_bytes = limit_bytes;
    m->mmap_top = GUEST_STACK_TOP - STACK_GAP;
    m->next_object = 1;
    m->memory_dev = memory_device();
    return m;
}

void guest_memory_free(struct guest_memory *m)
{
    if (m == NULL)
        return;
    areas_free(&m->areas);
    code_marks_free(m);
    region_destroy(m);
    free(m);
}

uint8_t *guest_memory_base(const struct guest_memory *m)
{
    return m->base;
}

void guest_watch_code(struct guest_memory *m, guest_code_watcher *changed, void *context)
{
    if (changed != m->code_watcher || context != m->code_watcher_context)
        guest_unmark_code(m, 0, GUEST_SPACE);
    m->code_watcher = changed;
    m->code_watcher_context = context;
}

void guest_code_changed(struct guest_memory *m, uint64_t start, uint64_t end)
{
    if (m->code_watcher)
        m->code_watcher(m->code_watcher_context, start, end);
}

/* ---- the table of areas */

const struct guest_area *guest_area_at_or_above(const struct guest_memory *m, uint64_t addr)
{
    size_t i = areas_first_above(&m->areas, addr);
    return i < m->areas.count ? &m->areas.area[i] : NULL;
}

/* Calls the code watcher for the executable parts of the range, which is about to change. */
static void report_code_loss(struct guest_memory *m, uint64_t start, uint64_t end)
{
    const struct areas *t = &m->areas;
    for (size_t i = areas_first_above(t, start); i < t->count && t->area[i].start < end; i++)
        if (t->area[i].prot & PROT_EXEC)
            guest_code_changed(m, t->area[i].start > start ? t->area[i].start : start,
                               t->area[i].end < end ? t->area[i].end : end);
}

void memory_forget(struct guest_memory *m, uint64_t start, uint64_t end)
{
    m->permission_epoch++;
    report_code_loss(m, start, end);
    areas_remove(&m->areas, start, end);
}

static void add_area(struct guest_memory *m, const struct guest_area *area)
{
    m->permission_epoch++; /* the area may replace another one */
    report_code_loss(m, area->start, area->end);
    areas_add(&m->areas, area);
}

uint64_t guest_resident_bytes(const struct guest_memory *m)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < m->areas.count; i++)
        if (m->areas.area[i].prot != PROT_NONE)
            sum += m->areas.area[i].end - m->areas.area[i].start;
    return sum;
}

/* ---- system calls */

/* Sets `*end` to the page-aligned end of the range. False if the range is empty, unaligned or beyond GUEST_SPACE. */
static bool page_range(uint64_t addr, uint64_t length, uint64_t *end)
{
    if (addr % GUEST_PAGE != 0 || length == 0 || length > GUEST_SPACE || addr > GUEST_SPACE)
        return false;
    *end = addr + page_round_up(length);
    return *end <= GUEST_SPACE;
}

/* Returns the start of the highest free range of `length` bytes below mmap_top, or 0 if there is none. */
static uint64_t choose_address(const struct guest_memory *m, uint64_t length)
{
    uint64_t top = m->mmap_top;
    for (size_t i = areas_first_above(&m->areas, top);; i--) {
        if (i < m->areas.count && m->areas.area[i].start < top)
            top = m->areas.area[i].start;
        uint64_t below = i > 0 ? m->areas.area[i - 1].end : LOWEST_ADDRESS;
        if (below < LOWEST_ADDRESS)
            below = LOWEST_ADDRESS;
        if (top >= below && top - below >= length)
            return top - length;
        if (i == 0)
            return 0;
    }
}

/* Returns the address of a new mapping: `addr` if MAP_FIXED or if the range at `addr` is free, else the result of
 * choose_address. A negative errno if there is no such address. */
static int64_t place(const struct guest_memory *m, uint64_t addr, uint64_t length, int flags)
{
    if (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) {
        uint64_t end;
        if (addr % GUEST_PAGE != 0)
            return -EINVAL;
        if (!page_range(addr, length, &end))
            return -ENOMEM;
        if (addr < LOWEST_ADDRESS)
            return -EPERM;
        if ((flags & MAP_FIXED_NOREPLACE) && !areas_are_free(&m->areas, addr, end))
            return -EEXIST;
        return (int64_t)addr;
    }
    addr &= ~(uint64_t)(GUEST_PAGE - 1);
    if (addr >= LOWEST_ADDRESS && addr <= m->mmap_top && length <= m->mmap_top - addr &&
        areas_are_free(&m->areas, addr, addr + length))
        return (int64_t)addr;
    addr = choose_address(m, length);
    return addr ? (int64_t)addr : -ENOMEM;
}

static int64_t map(struct guest_memory *m, uint64_t addr, uint64_t length, int prot, int flags, int fd, uint64_t offset,
                   const char *name)
{
    int type = flags & MAP_TYPE;
    if (length == 0 || offset % GUEST_PAGE != 0 ||
        (type != MAP_PRIVATE && type != MAP_SHARED && type != MAP_SHARED_VALIDATE))
        return -EINVAL;
    if (length > GUEST_SPACE || (flags & MAP_HUGETLB))
        return -ENOMEM;
    length = page_round_up(length);
    int64_t at = place(m, addr, length, flags);
    if (at < 0)
        return at;
    struct stat file = {0};
    bool anonymous = flags & MAP_ANONYMOUS, shared = type != MAP_PRIVATE;
    if (!anonymous && fstat(fd, &file) != 0)
        return -errno;
    struct guest_area area = {.start = (uint64_t)at,
                              .end = (uint64_t)at + length,
                              .prot = prot & (PROT_READ | PROT_WRITE | PROT_EXEC),
                              .flags = shared ? MAP_SHARED : MAP_PRIVATE,
                              .object = anonymous && shared ? m->next_object++ : 0,
                              .offset = anonymous ? 0 : offset,
                              .dev = file.st_dev,
                              .inode = file.st_ino};
    area.charged = memory_takes(m, &area);
    if (area.charged && !memory_fits_limit(m, memory_charged_outside(m, area.start, area.end) + length))
        return -ENOMEM;
    guest_unmark_code(m, area.start, area.end);
    int64_t result = region_map(m, area.start, area.end, area.prot, area.flags | (anonymous ? MAP_ANONYMOUS : 0),
                                anonymous ? -1 : fd, area.offset);
    if (result < 0)
        return result;
    area.name = name ? strdup(name) : NULL;
    add_area(m, &area);
    return at;
}

int64_t guest_mmap(struct guest_memory *m, uint64_t addr, uint64_t length, int prot, int flags, int fd, uint64_t offset,
                   const char *name)
{
    int64_t at = map(m, addr, length, prot, flags, fd, offset, name);
    guest_memory_assert(m);
    return at;
}

int64_t guest_munmap(struct guest_memory *m, uint64_t addr, uint64_t length)
{
    uint64_t end;
    if (!page_range(addr, length, &end))
        return -EINVAL;
    guest_unmark_code(m, addr, end);
    int64_t result = region_reserve(m, addr, end);
    if (result == 0)
        memory_forget(m, addr, end);
    guest_memory_assert(m);
    return result == 0 ? 0 : -ENOMEM; /* the host cannot split a mapping because the process has too many */
}

int64_t guest_mprotect(struct guest_memory *m, uint64_t addr, uint64_t length, int prot)
{
    uint64_t end;
    m->permission_epoch++;
    if (addr % GUEST_PAGE != 0 || (prot & ~(PROT_READ | PROT_WRITE | PROT_EXEC)) != 0)
        return -EINVAL;
    if (length == 0)
        return 0;
    if (!page_range(addr, length, &end) || !areas_have(&m->areas, addr, end, PROT_NONE))
        return -ENOMEM;
    uint64_t more = memory_new_charge(m, addr, end, prot);
    if (more > 0 && !memory_fits_limit(m, memory_charged_outside(m, 0, 0) + more))
        return -ENOMEM;
    guest_unmark_code(m, addr, end);
    int64_t result = region_protect(m, addr, end, prot);
    if (result == 0) {
        report_code_loss(m, addr, end);
        areas_protect(&m->areas, addr, end, prot);
        memory_charge(m, addr, end);
    }
    guest_memory_assert(m);
    return result;
}

/* ---- mremap */

/* Extends the area, which ends at `old_end`, into the free pages behind it. Private anonymous memory is mapped: that
 * leaves no hole in the region even for a moment. Takes over `area.name` if it succeeds. */
static int64_t grow_in_place(struct guest_memory *m, struct guest_area area, uint64_t old_end, uint64_t new_end)
{
    guest_unmark_code(m, area.start, old_end);
    int64_t result = area_has_file(&area)
                         ? region_grow(m, old_end, new_end)
                         : region_map(m, old_end, new_end, area.prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (result < 0)
        return result;
    area.end = new_end;
    add_area(m, &area);
    return (int64_t)area.start;
}

/* Moves the area to `to`, where all pages are free. Takes over `area.name` if it succeeds. */
static int64_t move_pages(struct guest_memory *m, struct guest_area area, uint64_t to, uint64_t new_length)
{
    guest_unmark_code(m, area.start, area.end);
    int64_t result = region_move(m, area.start, area.end, to, to + new_length);
    if (result < 0)
        return result;
    memory_forget(m, area.start, area.end);
    area.start = to;
    area.end = to + new_length;
    add_area(m, &area);
    return (int64_t)to;
}

/* Makes room for MREMAP_FIXED: unmaps the target, and the end of the source if that becomes shorter. */
static int64_t clear_for_move(struct guest_memory *m, const struct guest_area *area, uint64_t to, uint64_t new_length)
{
    uint64_t old_length = area->end - area->start;
    int64_t result = areas_are_free(&m->areas, to, to + new_length) ? 0 : guest_munmap(m, to, new_length);
    if (result == 0 && new_length < old_length)
        result = guest_munmap(m, area->start + new_length, old_length - new_length);
    return result;
}

/* `area` is the part of an area that is remapped. Takes over `area.name` if it succeeds. */
static int64_t remap(struct guest_memory *m, struct guest_area area, uint64_t new_length, int flags, uint64_t new_addr)
{
    uint64_t old_length = area.end - area.start, new_end;
    bool fixed = flags & MREMAP_FIXED, in_place = !fixed && page_range(area.start, new_length, &new_end) &&
                                                  areas_are_free(&m->areas, area.end, new_end);
    if (area.charged && new_length > old_length) {
        uint64_t replaced_end = fixed ? new_addr + new_length : 0;
        if (!memory_fits_limit(m,
                               memory_charged_outside(m, fixed ? new_addr : 0, replaced_end) + new_length - old_length))
            return -ENOMEM;
    }
    if (in_place)
        return grow_in_place(m, area, area.end, new_end);
    if (!(flags & MREMAP_MAYMOVE))
        return -ENOMEM;
    if (fixed) {
        int64_t cleared = clear_for_move(m, &area, new_addr, new_length);
        if (cleared < 0)
            return cleared;
        if (new_length < old_length)
            area.end = area.start + new_length;
    }
    uint64_t to = fixed ? new_addr : choose_address(m, new_length);
    return to ? move_pages(m, area, to, new_length) : -ENOMEM;
}

int64_t guest_mremap(struct guest_memory *m, uint64_t addr, uint64_t old_length, uint64_t new_length, int flags,
                     uint64_t new_addr)
{
    uint64_t old_end, new_end;
    if ((flags & ~(MREMAP_MAYMOVE | MREMAP_FIXED)) != 0 || ((flags & MREMAP_FIXED) && !(flags & MREMAP_MAYMOVE)))
        return -EINVAL;
    if (!page_range(addr, old_length, &old_end) || new_length == 0)
        return -EINVAL;
    if (new_length > GUEST_SPACE)
        return -ENOMEM;
    new_length = page_round_up(new_length);
    if ((flags & MREMAP_FIXED) && (!page_range(new_addr, new_length, &new_end) || new_addr < LOWEST_ADDRESS ||
                                   (new_addr < old_end && addr < new_end)))
        return -EINVAL;
    size_t i = areas_first_above(&m->areas, addr);
    if (i == m->areas.count || m->areas.area[i].start > addr || m->areas.area[i].end < old_end)
        return -EFAULT;
    if (!(flags & MREMAP_FIXED) && new_length <= old_end - addr) {
        int64_t cut = new_length < old_end - addr ? guest_munmap(m, addr + new_length, old_end - addr - new_length) : 0;
        return cut < 0 ? cut : (int64_t)addr;
    }
    struct guest_area area = m->areas.area[i];
    area.offset += area_has_offset(&area) ? addr - area.start : 0;
    area.start = addr;
    area.end = old_end;
    area.name = area.name ? strdup(area.name) : NULL;
    int64_t result = remap(m, area, new_length, flags, new_addr);
    if (result < 0)
        free(area.name);
    guest_memory_assert(m);
    return result;
}

/* MADV_DONTNEED: drops the mapped pages of [start, end). -ENOMEM if not all pages are mapped, as in Linux. */
static int64_t drop_pages(struct guest_memory *m, uint64_t start, uint64_t end)
{
    bool whole = areas_have(&m->areas, start, end, PROT_NONE);
    for (size_t i = areas_first_above(&m->areas, start); i < m->areas.count && m->areas.area[i].start < end; i++) {
        uint64_t from = m->areas.area[i].start > start ? m->areas.area[i].start : start;
        uint64_t to = m->areas.area[i].end < end ? m->areas.area[i].end : end;
        int64_t result = region_drop(m, from, to);
        if (result < 0)
            return result;
        if (m->areas.area[i].prot & PROT_EXEC)
            guest_code_changed(m, from, to);
    }
    memory_uncharge(m, start, end);
    return whole ? 0 : -ENOMEM;
}

int64_t guest_madvise(struct guest_memory *m, uint64_t addr, uint64_t length, int advice)
{
    uint64_t end;
    if (addr % GUEST_PAGE != 0)
        return -EINVAL;
    if (length == 0)
        return 0;
    if (!page_range(addr, length, &end))
        return -EINVAL;
    switch (advice) {
    case MADV_DONTNEED: return drop_pages(m, addr, end);
    case MADV_NORMAL:
    case MADV_RANDOM:
    case MADV_SEQUENTIAL:
    case MADV_WILLNEED:
    case MADV_FREE:
    case MADV_DONTFORK:
    case MADV_DOFORK:
    case MADV_HUGEPAGE:
    case MADV_NOHUGEPAGE:
    case MADV_DONTDUMP:
    case MADV_DODUMP:
    case MADV_COLD:
    case MADV_PAGEOUT:
    case MADV_POPULATE_READ:
    case MADV_POPULATE_WRITE: return areas_have(&m->areas, addr, end, PROT_NONE) ? 0 : -ENOMEM;
    default: return -EINVAL;
    }
}

int64_t guest_msync(struct guest_memory *m, uint64_t addr, uint64_t length, int flags)
{
    uint64_t end;
    if (addr % GUEST_PAGE != 0)
        return -EINVAL;
    if (length == 0)
        return 0;
    if (!page_range(addr, length, &end) || !areas_have(&m->areas, addr, end, PROT_NONE))
        return -ENOMEM;
    return msync(m->base + addr, end - addr, flags) == 0 ? 0 : -errno;
}

void guest_set_brk(struct guest_memory *m, uint64_t start)
{
    m->brk_start = m->brk = page_round_up(start);
}

int64_t guest_brk(struct guest_memory *m, uint64_t addr)
{
    uint64_t old_end = page_round_up(m->brk), new_end = page_round_up(addr);
    if (addr < m->brk_start || addr >= GUEST_SPACE)
        return (int64_t)m->brk;
    if (new_end > old_end) {
        if (!areas_are_free(&m->areas, old_end, new_end) ||
            guest_mmap(m, old_end, new_end - old_end, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
                       -1, 0, "[heap]") < 0)
            return (int64_t)m->brk;
    } else if (new_end < old_end && guest_munmap(m, new_end, old_end - new_end) < 0) {
        return (int64_t)m->brk;
    }
    m->brk = addr;
    return (int64_t)addr;
}

int64_t guest_map_stack(struct guest_memory *m, uint64_t top, uint64_t size)
{
    uint64_t gap = page_round_up(size) + (UINT64_C(1) << 20);
    m->mmap_top = top - (gap > STACK_GAP ? gap : STACK_GAP);
    int64_t at = guest_mmap(m, top - page_round_up(size), size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0, "[stack]");
    return at < 0 ? at : 0;
}

void guest_memory_clear(struct guest_memory *m)
{
    guest_unmark_code(m, 0, GUEST_SPACE);
    memory_forget(m, 0, GUEST_SPACE);
    (void)!region_reserve(m, 0, GUEST_SPACE); /* if it fails, it restores: with an empty table all pages are reserved */
    m->mmap_top = GUEST_STACK_TOP - STACK_GAP;
    m->brk_start = m->brk = 0;
}
