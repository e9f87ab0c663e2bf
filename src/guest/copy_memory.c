/* Memory of a copied process: what it shares with files and other processes becomes its own. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "guest/files_priv.h"
#include "guest/memory_priv.h"
#include "guest/process_copy_priv.h"

/* Whether pages of [place, place + bytes) can be made writable: tries it with the first page of each host mapping. The
 * kernel refuses for a file that was not opened for writing. Leaves the pages readable. */
static bool can_be_written(uint8_t *place, size_t bytes)
{
    char line[512];
    uintptr_t from = (uintptr_t)place, to = from + bytes, low, high;
    FILE *maps = fopen("/proc/self/maps", "re");
    bool found = maps == NULL;
    while (!found && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &low, &high) != 2 || high <= from || low >= to)
            continue;
        found = mprotect((void *)(low > from ? low : from), GUEST_PAGE, PROT_READ | PROT_WRITE) == 0;
    }
    if (maps)
        fclose(maps);
    mprotect(place, bytes, PROT_READ);
    return found;
}

/* Reads a page of this process. False for one that has no memory: it lies behind the end of a mapped file. */
static bool read_page(void *to, const uint8_t *from)
{
    struct iovec local = {to, GUEST_PAGE}, remote = {(void *)(uintptr_t)from, GUEST_PAGE};
    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == GUEST_PAGE;
}

/* Copies the pages of an area to a memory file, at the same offset as in the original. 0 or a negative errno. */
static int save_pages(const struct guest_memory *m, const struct guest_area *area, int file)
{
    for (uint64_t at = area->start; at < area->end; at += GUEST_PAGE) {
        uint8_t page[GUEST_PAGE];
        if (read_page(page, m->base + at) &&
            pwrite(file, page, sizeof page, (off_t)(area->offset + (at - area->start))) != sizeof page)
            return -errno;
    }
    return 0;
}

/* Makes a memory file of all areas of a file that no descriptor has open for writing. NULL if it fails. */
static const struct replaced_file *replace_mapped_file(struct process *p, const struct guest_area *first)
{
    const struct guest_memory *m = p->memory;
    int file = memfd_create("copy", MFD_CLOEXEC), code = file < 0 ? -errno : 0;
    for (size_t i = 0; i < m->areas.count && code == 0; i++) {
        const struct guest_area *a = &m->areas.area[i];
        if (!(a->flags & MAP_SHARED) || a->dev != first->dev || a->inode != first->inode)
            continue;
        mprotect(m->base + a->start, a->end - a->start, PROT_READ);
        code = save_pages(m, a, file);
    }
    if (code == 0)
        return copy_add_replaced(p->copy, first->dev, first->inode, file, -1);
    if (file >= 0)
        close(file);
    return NULL;
}

/* Gives an area without a file memory that only processes of the copy share. */
static int unshare_anonymous(struct guest_memory *m, struct guest_area *area)
{
    size_t bytes = area->end - area->start;
    uint8_t *place = m->base + area->start;
    uint8_t *own = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (own == MAP_FAILED)
        return -errno;
    for (size_t done = 0; done < bytes; done += GUEST_PAGE) {
        uint8_t page[GUEST_PAGE];
        static const uint8_t zeros[GUEST_PAGE];
        if (read_page(page, place + done) && memcmp(page, zeros, sizeof page) != 0)
            memcpy(own + done, page, sizeof page);
    }
    if (mremap(own, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place) == MAP_FAILED ||
        mprotect(place, bytes, host_prot(area->prot)) != 0)
        return -errno;
    area->object = m->next_object++;
    area->offset = 0;
    return 0;
}

static int unshare_area(struct process *p, struct guest_area *area)
{
    struct guest_memory *m = p->memory;
    size_t bytes = area->end - area->start;
    uint8_t *place = m->base + area->start;
    const struct replaced_file *file = area->inode ? copy_find_replaced(p->copy, area->dev, area->inode) : NULL;
    if (file == NULL && !can_be_written(place, bytes))
        return mprotect(place, bytes, host_prot(area->prot)) == 0 ? 0 : -errno;
    if (area->inode == 0)
        return unshare_anonymous(m, area);
    if (file == NULL && (file = replace_mapped_file(p, area)) == NULL)
        return -ENOMEM;
    if (mmap(place, bytes, host_prot(area->prot), MAP_SHARED | MAP_FIXED, file->memory, (off_t)area->offset) ==
        MAP_FAILED)
        return -errno;
    return 0;
}

int copy_unshare_memory(struct process *p, struct error *err)
{
    int code = 0;
    for (size_t i = 0; i < p->memory->areas.count && code == 0; i++)
        if (p->memory->areas.area[i].flags & MAP_SHARED)
            code = unshare_area(p, &p->memory->areas.area[i]);
    return code == 0 ? 0 : error_set(err, code, "cannot copy the program's shared memory: %s", strerror(-code));
}
