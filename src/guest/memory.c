#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "guest/memory_priv.h"

#define GUARD_BYTES (UINT64_C(1) << 16)   /* catches accesses that begin below GUEST_SPACE and end above it */
#define STACK_GAP   (UINT64_C(128) << 20) /* at least this much between the mappings and the top of the stack */

static const int reserve_flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

struct guest_memory *guest_memory_new(uint64_t limit_bytes, struct error *err)
{
    struct guest_memory *m = calloc(1, sizeof *m);
    if (m == NULL || !areas_init(&m->areas)) {
        error_set(err, -ENOMEM, "out of memory");
        free(m);
        return NULL;
    }
    void *base = mmap(NULL, GUEST_SPACE + GUARD_BYTES, PROT_NONE, reserve_flags, -1, 0);
    if (base == MAP_FAILED) {
        error_set(err, -ENOMEM, "cannot reserve 256 GB of addresses for the guest (%s): is `ulimit -v` set?",
                  strerror(errno));
        areas_free(&m->areas);
        free(m);
        return NULL;
    }
    m->base = base;
    m->limit_bytes = limit_bytes;
    m->mmap_top = GUEST_STACK_TOP - STACK_GAP;
    return m;
}

void guest_memory_free(struct guest_memory *m)
{
    if (m == NULL)
        return;
    areas_free(&m->areas);
    munmap(m->base, GUEST_SPACE + GUARD_BYTES);
    free(m);
}

uint8_t *guest_memory_base(const struct guest_memory *m)
{
    return m->base;
}

void guest_watch_code(struct guest_memory *m, guest_code_watcher *changed, void *context)
{
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

/* Tells the watcher of code in the range that will not be what it was. */
static void code_goes_away(struct guest_memory *m, uint64_t start, uint64_t end)
{
    const struct areas *t = &m->areas;
    for (size_t i = areas_first_above(t, start); i < t->count && t->area[i].start < end; i++)
        if (t->area[i].prot & PROT_EXEC)
            guest_code_changed(m, t->area[i].start > start ? t->area[i].start : start,
                               t->area[i].end < end ? t->area[i].end : end);
}

static void forget_range(struct guest_memory *m, uint64_t start, uint64_t end)
{
    m->losses++;
    code_goes_away(m, start, end);
    areas_remove(&m->areas, start, end);
}

static void add_area(struct guest_memory *m, const struct guest_area *area)
{
    m->losses++; /* it may replace another */
    code_goes_away(m, area->start, area->end);
    areas_add(&m->areas, area);
}

/* ---- accounting */

static uint64_t charge(const struct guest_area *a)
{
    return a->prot & PROT_WRITE ? a->end - a->start : 0;
}

static uint64_t charged_outside(const struct guest_memory *m, uint64_t start, uint64_t end)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < m->areas.count; i++) {
        const struct guest_area *a = &m->areas.area[i];
        if (!(a->prot & PROT_WRITE))
            continue;
        uint64_t low = a->start > start ? a->start : start, high = a->end < end ? a->end : end;
        sum += charge(a) - (low < high ? high - low : 0);
    }
    return sum;
}

static bool fits_limit(const struct guest_memory *m, uint64_t start, uint64_t end, int prot)
{
    return !(prot & PROT_WRITE) || charged_outside(m, start, end) + (end - start) <= m->limit_bytes;
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

static uint64_t round_up(uint64_t n)
{
    return (n + GUEST_PAGE - 1) & ~(uint64_t)(GUEST_PAGE - 1);
}

/* Rounds the length to pages; false if the range is empty, unaligned or not within the guest's space. */
static bool page_range(uint64_t addr, uint64_t length, uint64_t *end)
{
    if (addr % GUEST_PAGE != 0 || length == 0 || length > GUEST_SPACE || addr > GUEST_SPACE)
        return false;
    *end = addr + round_up(length);
    return *end <= GUEST_SPACE;
}

static bool reserve(struct guest_memory *m, uint64_t start, uint64_t end)
{
    return mmap(m->base + start, end - start, PROT_NONE, reserve_flags | MAP_FIXED, -1, 0) != MAP_FAILED;
}

static void reserve_again(struct guest_memory *m, uint64_t start, uint64_t end)
{
    if (!reserve(m, start, end))
        abort();
}

/* After a mapping over [start, end) has failed: older hosts have by then unmapped what was there. Nothing of the host's
 * own may come to lie in the gap. */
static void close_gap(struct guest_memory *m, uint64_t start, uint64_t end)
{
    void *p = mmap(m->base + start, end - start, PROT_NONE, reserve_flags | MAP_FIXED_NOREPLACE, -1, 0);
    if (p != MAP_FAILED)
        forget_range(m, start, end);
}

/* The highest free range of `length` bytes below mmap_top, or 0. */
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

/* Where a mapping goes: at `addr` if it is fixed or free there, else where choose_address says. */
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

int64_t guest_mmap(struct guest_memory *m, uint64_t addr, uint64_t length, int prot, int flags, int fd, uint64_t offset,
                   const char *name)
{
    int type = flags & MAP_TYPE;
    if (length == 0 || offset % GUEST_PAGE != 0 ||
        (type != MAP_PRIVATE && type != MAP_SHARED && type != MAP_SHARED_VALIDATE))
        return -EINVAL;
    if (length > GUEST_SPACE || (flags & MAP_HUGETLB))
        return -ENOMEM;
    length = round_up(length);
    int64_t at = place(m, addr, length, flags);
    if (at < 0)
        return at;
    uint64_t start = (uint64_t)at, end = start + length;
    if (!fits_limit(m, start, end, prot))
        return -ENOMEM;

    struct stat file = {0};
    bool anonymous = flags & MAP_ANONYMOUS;
    if (!anonymous && fstat(fd, &file) != 0)
        return -errno;
    int host_flags =
        (type == MAP_PRIVATE ? MAP_PRIVATE : MAP_SHARED) | MAP_FIXED | MAP_NORESERVE | (anonymous ? MAP_ANONYMOUS : 0);
    void *p = mmap(m->base + start, length, host_prot(prot), host_flags, anonymous ? -1 : fd, (off_t)offset);
    if (p == MAP_FAILED) {
        int code = errno;
        close_gap(m, start, end);
        return -code;
    }
    struct guest_area area = {.start = start,
                              .end = end,
                              .prot = prot & (PROT_READ | PROT_WRITE | PROT_EXEC),
                              .flags = type == MAP_PRIVATE ? MAP_PRIVATE : MAP_SHARED,
                              .offset = anonymous ? 0 : offset,
                              .name = name ? strdup(name) : NULL,
                              .dev = file.st_dev,
                              .inode = file.st_ino};
    add_area(m, &area);
    return at;
}

int64_t guest_munmap(struct guest_memory *m, uint64_t addr, uint64_t length)
{
    uint64_t end;
    if (!page_range(addr, length, &end))
        return -EINVAL;
    if (!reserve(m, addr, end))
        return -ENOMEM; /* too many mappings to split another one */
    forget_range(m, addr, end);
    return 0;
}

int64_t guest_mprotect(struct guest_memory *m, uint64_t addr, uint64_t length, int prot)
{
    uint64_t end;
    m->losses++;
    if (addr % GUEST_PAGE != 0 || (prot & ~(PROT_READ | PROT_WRITE | PROT_EXEC)) != 0)
        return -EINVAL;
    if (length == 0)
        return 0;
    if (!page_range(addr, length, &end) || !areas_have(&m->areas, addr, end, PROT_NONE) ||
        !fits_limit(m, addr, end, prot))
        return -ENOMEM;
    if (mprotect(m->base + addr, end - addr, host_prot(prot)) != 0)
        return -errno;
    code_goes_away(m, addr, end);
    areas_protect(&m->areas, addr, end, prot);
    return 0;
}

/* Moves the pages of one area to `to`, whose old contents are gone. */
static int64_t move_pages(struct guest_memory *m, struct guest_area area, uint64_t old_end, uint64_t to,
                          uint64_t new_length)
{
    uint64_t old_length = old_end - area.start;
    void *p = mremap(m->base + area.start, old_length, new_length, MREMAP_MAYMOVE | MREMAP_FIXED, m->base + to);
    if (p == MAP_FAILED) {
        int code = errno;
        close_gap(m, to, to + new_length);
        return -code;
    }
    forget_range(m, area.start, old_end);
    reserve_again(m, area.start, old_end);
    area.start = to;
    area.end = to + new_length;
    add_area(m, &area);
    return (int64_t)to;
}

/* Extends an area into the free pages behind it. */
static int64_t grow_in_place(struct guest_memory *m, struct guest_area area, uint64_t old_end, uint64_t new_length)
{
    uint64_t old_length = old_end - area.start, end = area.start + new_length;
    munmap(m->base + old_end, end - old_end);
    if (mremap(m->base + area.start, old_length, new_length, 0) == MAP_FAILED) {
        int code = errno;
        reserve_again(m, old_end, end);
        return -code;
    }
    area.end = end;
    add_area(m, &area);
    return (int64_t)area.start;
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
    new_length = round_up(new_length);
    size_t i = areas_first_above(&m->areas, addr);
    if (i == m->areas.count || m->areas.area[i].start > addr || m->areas.area[i].end < old_end)
        return -EFAULT;
    struct guest_area area = m->areas.area[i];
    area.offset += addr - area.start;
    area.start = addr;

    if (flags & MREMAP_FIXED) {
        if (!page_range(new_addr, new_length, &new_end) || new_addr < LOWEST_ADDRESS ||
            (new_addr < old_end && addr < new_end))
            return -EINVAL;
    } else if (new_length <= old_end - addr) {
        int64_t cut = new_length < old_end - addr ? guest_munmap(m, addr + new_length, old_end - addr - new_length) : 0;
        return cut < 0 ? cut : (int64_t)addr;
    }
    if (new_length > old_end - addr && !fits_limit(m, addr, addr + (new_length - (old_end - addr)), area.prot))
        return -ENOMEM;
    area.name = area.name ? strdup(area.name) : NULL;
    int64_t result;
    if (!(flags & MREMAP_FIXED) && page_range(addr, new_length, &new_end) &&
        areas_are_free(&m->areas, old_end, new_end)) {
        result = grow_in_place(m, area, old_end, new_length);
    } else if (flags & MREMAP_MAYMOVE) {
        uint64_t to = flags & MREMAP_FIXED ? new_addr : choose_address(m, new_length);
        result = to ? move_pages(m, area, old_end, to, new_length) : -ENOMEM;
    } else {
        result = -ENOMEM;
    }
    if (result < 0)
        free(area.name);
    return result;
}

/* Drops the pages of [start, end) that are mapped; -ENOMEM if not all are, as on Linux. */
static int64_t drop_pages(struct guest_memory *m, uint64_t start, uint64_t end)
{
    bool whole = areas_have(&m->areas, start, end, PROT_NONE);
    for (size_t i = areas_first_above(&m->areas, start); i < m->areas.count && m->areas.area[i].start < end; i++) {
        uint64_t from = m->areas.area[i].start > start ? m->areas.area[i].start : start;
        uint64_t to = m->areas.area[i].end < end ? m->areas.area[i].end : end;
        if (madvise(m->base + from, to - from, MADV_DONTNEED) != 0)
            return -errno;
        if (m->areas.area[i].prot & PROT_EXEC)
            guest_code_changed(m, from, to);
    }
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
    m->brk_start = m->brk = round_up(start);
}

int64_t guest_brk(struct guest_memory *m, uint64_t addr)
{
    uint64_t old_end = round_up(m->brk), new_end = round_up(addr);
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
    uint64_t gap = round_up(size) + (UINT64_C(1) << 20);
    m->mmap_top = top - (gap > STACK_GAP ? gap : STACK_GAP);
    int64_t at = guest_mmap(m, top - round_up(size), size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0, "[stack]");
    return at < 0 ? at : 0;
}

void guest_memory_clear(struct guest_memory *m)
{
    forget_range(m, 0, GUEST_SPACE);
    reserve_again(m, 0, GUEST_SPACE);
    m->mmap_top = GUEST_STACK_TOP - STACK_GAP;
    m->brk_start = m->brk = 0;
}

/* ---- access by the emulator */

/* Host address of a range that is mapped with `prot`, or NULL. */
static void *mapped_ptr(const struct guest_memory *m, uint64_t addr, uint64_t length, int prot)
{
    if (addr >= GUEST_SPACE || length > GUEST_SPACE - addr)
        return NULL;
    return areas_have(&m->areas, addr, addr + length, prot) ? m->base + addr : NULL;
}

uint64_t guest_losses(const struct guest_memory *m)
{
    return m->losses;
}

void guest_file_shrinks(struct guest_memory *m)
{
    m->losses++;
}

bool guest_may_access(const struct guest_memory *m, uint64_t addr, uint64_t length, int prot)
{
    return mapped_ptr(m, addr, length, prot) != NULL;
}

/* Whether [start, end), which is mapped, can be touched: a mapped file may have become shorter than its mapping, and
 * touching the pages behind its end would kill us. Hosts that cannot tell say EINVAL. */
static bool files_reach(const struct guest_memory *m, uint64_t start, uint64_t end)
{
    for (size_t i = areas_first_above(&m->areas, start); i < m->areas.count && m->areas.area[i].start < end; i++) {
        const struct guest_area *a = &m->areas.area[i];
        uint64_t low = a->start > start ? a->start : start & ~(uint64_t)(GUEST_PAGE - 1);
        uint64_t high = a->end < end ? a->end : round_up(end);
        if (a->inode != 0 && madvise(m->base + low, high - low, MADV_POPULATE_READ) != 0 && errno == EFAULT)
            return false;
    }
    return true;
}

void *guest_ptr(const struct guest_memory *m, uint64_t addr, uint64_t length, int prot)
{
    void *p = mapped_ptr(m, addr, length, prot);
    return p && files_reach(m, addr, addr + length) ? p : NULL;
}

/* Where a file may end before its mapping does, the kernel copies, which fails instead of killing us. */
static bool may_lie_behind_a_file(const struct guest_memory *m, uint64_t addr, uint64_t length)
{
    for (size_t i = areas_first_above(&m->areas, addr); i < m->areas.count && m->areas.area[i].start < addr + length;
         i++)
        if (m->areas.area[i].inode != 0)
            return true;
    return false;
}

static int kernel_copies(struct iovec here, struct iovec guest, bool in)
{
    ssize_t n =
        in ? process_vm_readv(getpid(), &here, 1, &guest, 1, 0) : process_vm_writev(getpid(), &here, 1, &guest, 1, 0);
    return n == (ssize_t)here.iov_len ? 0 : -EFAULT;
}

int guest_copy_in(const struct guest_memory *m, void *to, uint64_t from, uint64_t length)
{
    void *p = mapped_ptr(m, from, length, PROT_READ);
    if (p == NULL)
        return -EFAULT;
    if (may_lie_behind_a_file(m, from, length))
        return kernel_copies((struct iovec){to, length}, (struct iovec){p, length}, true);
    memcpy(to, p, length);
    return 0;
}

int guest_copy_out(struct guest_memory *m, uint64_t to, const void *from, uint64_t length)
{
    void *p = mapped_ptr(m, to, length, PROT_WRITE);
    if (p == NULL)
        return -EFAULT;
    if (may_lie_behind_a_file(m, to, length))
        return kernel_copies((struct iovec){(void *)from, length}, (struct iovec){p, length}, false);
    memcpy(p, from, length);
    return 0;
}

int64_t guest_copy_string(const struct guest_memory *m, char *to, size_t size, uint64_t from)
{
    size_t used = 0;
    while (used < size) {
        uint64_t chunk = GUEST_PAGE - (from + used) % GUEST_PAGE;
        if (chunk > size - used)
            chunk = size - used;
        if (guest_copy_in(m, to + used, from + used, chunk) < 0)
            return -EFAULT;
        const char *zero = memchr(to + used, 0, chunk);
        if (zero)
            return zero - to;
        used += chunk;
    }
    return -ENAMETOOLONG;
}
