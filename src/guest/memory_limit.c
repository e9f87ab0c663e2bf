/* The limit of memory: which areas count, and the memory files (memfd) beside them. See memory.h. */
#include <errno.h>
#include <unistd.h>

#include "guest/memory_priv.h"

/* Returns the device of memfds, which is also that of shared anonymous memory; 0 if the host refuses. */
dev_t memory_device(void)
{
    struct stat st = {0};
    int fd = memfd_create("device", MFD_CLOEXEC);
    if (fd < 0)
        return 0;
    int result = fstat(fd, &st);
    close(fd);
    return result == 0 ? st.st_dev : 0;
}

/* Reading a page of shared memory allocates the page. */
bool memory_takes(const struct guest_memory *m, const struct guest_area *a)
{
    bool of_disk = a->inode != 0 && a->dev != m->memory_dev;
    return (a->prot & PROT_WRITE) || ((a->flags & MAP_SHARED) && !of_disk && a->prot != PROT_NONE);
}

uint64_t memory_charged_outside(const struct guest_memory *m, uint64_t start, uint64_t end)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < m->areas.count; i++) {
        const struct guest_area *a = &m->areas.area[i];
        if (!a->charged)
            continue;
        uint64_t low = a->start > start ? a->start : start, high = a->end < end ? a->end : end;
        sum += a->end - a->start - (low < high ? high - low : 0);
    }
    return sum;
}

/* The files are counted only when their upper bound does not fit. */
bool memory_fits_limit(struct guest_memory *m, uint64_t bytes)
{
    if (bytes > m->limit_bytes)
        return false;
    if (m->kept_most > m->limit_bytes - bytes && m->kept_bytes)
        m->kept_most = m->kept_bytes(m->kept_context);
    return m->kept_most <= m->limit_bytes - bytes;
}

void guest_limit_files(struct guest_memory *m, guest_kept_bytes *kept_bytes, void *context)
{
    m->kept_bytes = kept_bytes;
    m->kept_context = context;
}

bool guest_may_keep(struct guest_memory *m, uint64_t bytes)
{
    uint64_t mapped = memory_charged_outside(m, 0, 0);
    if (bytes > m->limit_bytes || !memory_fits_limit(m, mapped + bytes))
        return false;
    m->kept_most += bytes;
    return true;
}

void guest_keeps_unknown(struct guest_memory *m)
{
    m->kept_most = m->kept_bytes ? m->limit_bytes + 1 : 0;
}

uint64_t guest_memory_limit(const struct guest_memory *m)
{
    return m->limit_bytes;
}

uint64_t memory_new_charge(const struct guest_memory *m, uint64_t start, uint64_t end, int prot)
{
    uint64_t sum = 0;
    for (size_t i = areas_first_above(&m->areas, start); i < m->areas.count && m->areas.area[i].start < end; i++) {
        struct guest_area a = m->areas.area[i];
        a.prot = prot;
        if (!a.charged && memory_takes(m, &a))
            sum += (a.end < end ? a.end : end) - (a.start > start ? a.start : start);
    }
    return sum;
}

void memory_charge(struct guest_memory *m, uint64_t start, uint64_t end)
{
    for (uint64_t at = start; at < end;) {
        const struct guest_area *a = guest_area_at_or_above(m, at);
        uint64_t high = a->end < end ? a->end : end;
        if (!a->charged && memory_takes(m, a))
            areas_charge(&m->areas, at, high, true);
        at = high;
    }
}

void memory_uncharge(struct guest_memory *m, uint64_t start, uint64_t end)
{
    for (const struct guest_area *a; start < end && (a = guest_area_at_or_above(m, start)) && a->start < end;) {
        uint64_t low = a->start > start ? a->start : start, high = a->end < end ? a->end : end;
        if (a->charged && !(a->flags & MAP_SHARED) && !memory_takes(m, a))
            areas_charge(&m->areas, low, high, false);
        start = high;
    }
}
