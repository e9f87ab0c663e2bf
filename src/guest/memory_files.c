#include "guest/memory_files.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "guest/files.h"
#include "guest/memory_priv.h"

enum { COPY_MOST = 1 << 20 }; /* bytes that one call copies to a memory file */

static bool is_memory_file(const struct process *p, int fd, struct stat *st)
{
    return p->memory->memory_dev != 0 && fstat(fd, st) == 0 && S_ISREG(st->st_mode) &&
           st->st_dev == p->memory->memory_dev;
}

/* Returns the resident pages of the range, in bytes; 0 if the host does not say. */
static uint64_t resident_bytes(const struct guest_memory *m, uint64_t start, uint64_t end)
{
    unsigned char resident[4096];
    uint64_t sum = 0;
    for (uint64_t at = start, step; at < end; at += step) {
        step = end - at < sizeof resident * GUEST_PAGE ? end - at : sizeof resident * GUEST_PAGE;
        if (mincore(m->base + at, step, resident) != 0)
            return 0;
        for (uint64_t i = 0; i < step / GUEST_PAGE; i++)
            sum += resident[i] & 1 ? GUEST_PAGE : 0;
    }
    return sum;
}

/* Returns the bytes of the file that the charged areas contain: the limit counts these areas whole. */
static uint64_t mapped_bytes(const struct guest_memory *m, const struct stat *st)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < m->areas.count; i++) {
        const struct guest_area *a = &m->areas.area[i];
        if (a->charged && (a->flags & MAP_SHARED) && !a->detached && a->dev == st->st_dev && a->inode == st->st_ino)
            sum += resident_bytes(m, a->start, a->end);
    }
    return sum;
}

/* Two mappings of the same pages would be subtracted twice: the sum is never below 0. */
static uint64_t count_bytes(void *context)
{
    struct process *p = context;
    ino_t seen[FD_PRIVATE] = {0};
    size_t count = 0;
    uint64_t sum = 0;
    for (int fd = 0; fd < FD_PRIVATE; fd++) {
        struct stat st;
        if (!is_memory_file(p, fd, &st))
            continue;
        size_t i = 0;
        while (i < count && seen[i] != st.st_ino)
            i++;
        if (i < count)
            continue;
        seen[count++] = st.st_ino;
        uint64_t bytes = (uint64_t)st.st_blocks * 512, mapped = mapped_bytes(p->memory, &st);
        sum += bytes > mapped ? bytes - mapped : 0;
    }
    return sum;
}

void memory_files_limit(struct process *p)
{
    guest_limit_files(p->memory, count_bytes, p);
}

/* In a copied process files are memory files that stand for files of the disk, which do not count. */
int memory_files_may_write(struct process *p, int fd, uint64_t bytes)
{
    struct stat st;
    if (bytes == 0 || p->copy || !is_memory_file(p, fd, &st))
        return 0;
    return guest_may_keep(p->memory, page_round_up(bytes) + GUEST_PAGE) ? 0 : -ENOSPC;
}

int memory_files_may_copy(struct process *p, int fd, uint64_t *bytes)
{
    struct stat st;
    if (*bytes > COPY_MOST && !p->copy && is_memory_file(p, fd, &st))
        *bytes = COPY_MOST;
    return memory_files_may_write(p, fd, *bytes);
}
