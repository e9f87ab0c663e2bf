/* Access to guest memory by the emulator. */
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "guest/memory_priv.h"

/* Returns the host address of a range that is mapped with `prot`, or NULL. The end of mapped files is not checked. */
static void *mapped_ptr(const struct guest_memory *m, uint64_t addr, uint64_t length, int prot)
{
    if (addr >= GUEST_SPACE || length > GUEST_SPACE - addr)
        return NULL;
    return areas_have(&m->areas, addr, addr + length, prot) ? m->base + addr : NULL;
}

uint64_t guest_permission_epoch(const struct guest_memory *m)
{
    return m->permission_epoch;
}

void guest_file_shrinks(struct guest_memory *m)
{
    m->permission_epoch++;
}

bool guest_may_access(const struct guest_memory *m, uint64_t addr, uint64_t length, int prot)
{
    return mapped_ptr(m, addr, length, prot) != NULL;
}

/* Lets the host's kernel touch the mapped range [start, end), for an access by `advice`: MADV_POPULATE_READ or
 * MADV_POPULATE_WRITE. A file or shared object may be shorter than its mapping, and an access to pages behind its end
 * would kill the emulator with SIGBUS. 0, -EFAULT if there is such a page, or -EINVAL: the kernel does not know these.
 */
static int touch_pages(const struct guest_memory *m, uint64_t start, uint64_t end, int advice)
{
    for (size_t i = areas_first_above(&m->areas, start); i < m->areas.count && m->areas.area[i].start < end; i++) {
        const struct guest_area *a = &m->areas.area[i];
        uint64_t low = a->start > start ? a->start : start & ~(uint64_t)(GUEST_PAGE - 1);
        uint64_t high = a->end < end ? a->end : page_round_up(end);
        if (area_may_be_short(a) && madvise(m->base + low, high - low, advice) != 0)
            return errno == EFAULT ? -EFAULT : -EINVAL;
    }
    return 0;
}

void *guest_ptr(const struct guest_memory *m, uint64_t addr, uint64_t length, int prot)
{
    void *p = mapped_ptr(m, addr, length, prot);
    if (p == NULL || touch_pages(m, addr, addr + length, MADV_POPULATE_READ) == -EFAULT)
        return NULL;
    if (prot & PROT_WRITE)
        guest_store_to_code(m, addr, length);
    return p;
}

/* The kernel returns an error where memcpy would kill the emulator with SIGBUS. */
static int copy_by_kernel(struct iovec here, struct iovec guest, bool in)
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
    int touched = touch_pages(m, from, from + length, MADV_POPULATE_READ);
    if (touched == -EINVAL)
        return copy_by_kernel((struct iovec){to, length}, (struct iovec){p, length}, true);
    if (touched == 0)
        memcpy(to, p, length);
    return touched;
}

int guest_copy_out(struct guest_memory *m, uint64_t to, const void *from, uint64_t length)
{
    void *p = mapped_ptr(m, to, length, PROT_WRITE);
    if (p == NULL)
        return -EFAULT;
    guest_store_to_code(m, to, length);
    int touched = touch_pages(m, to, to + length, MADV_POPULATE_WRITE);
    if (touched == -EINVAL)
        return copy_by_kernel((struct iovec){(void *)from, length}, (struct iovec){p, length}, false);
    if (touched == 0)
        memcpy(p, from, length);
    return touched;
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
