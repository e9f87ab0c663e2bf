#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest/fork.h"

/* What the child sends through the pipe: pages of the stack, then the end. */
struct page_header {
    uint64_t addr; /* of the page that follows, or PAGES_END, which nothing follows */
};
#define PAGES_END UINT64_MAX

/* Bits of an entry of /proc/self/pagemap, see the kernel's pagemap.rst. A page that was shared since the fork and is
 * now mapped only here was written to. */
#define PAGEMAP_PRESENT   (UINT64_C(1) << 63)
#define PAGEMAP_EXCLUSIVE (UINT64_C(1) << 56)

int vfork_prepare(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    for (int i = 0; i < 2; i++) {
        int moved = files_make_private(ends[i]);
        if (moved < 0) {
            close(ends[0]);
            close(ends[1]);
            return moved;
        }
        ends[i] = moved;
    }
    return 0;
}

static bool write_all(int fd, const void *from, size_t length)
{
    const char *bytes = from;
    while (length > 0) {
        ssize_t n = write(fd, bytes, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes += n;
        length -= (size_t)n;
    }
    return true;
}

static bool read_all(int fd, void *to, size_t length)
{
    char *bytes = to;
    while (length > 0) {
        ssize_t n = read(fd, bytes, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes += n;
        length -= (size_t)n;
    }
    return true;
}

/* Sends the pages that were written since the fork of the area that the parent's stack pointer was in. Other areas stay
 * out: other threads of the parent may have written to them meanwhile. */
static void send_stack(struct process *p)
{
    const struct guest_area *area = guest_area_at_or_above(p->memory, p->vfork_sp);
    if (!area || area->start > p->vfork_sp || !(area->prot & PROT_WRITE) || area->flags & MAP_SHARED)
        return;
    int map = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (map < 0)
        return;
    const uint8_t *base = guest_memory_base(p->memory);
    for (uint64_t addr = area->start; addr < area->end; addr += GUEST_PAGE) {
        uint64_t entry;
        off_t at = (off_t)((uintptr_t)(base + addr) / GUEST_PAGE * sizeof entry);
        if (pread(map, &entry, sizeof entry, at) != sizeof entry)
            break;
        if ((entry & PAGEMAP_PRESENT) && (entry & PAGEMAP_EXCLUSIVE)) {
            struct page_header header = {addr};
            if (!write_all(p->vfork_done_fd, &header, sizeof header) ||
                !write_all(p->vfork_done_fd, base + addr, GUEST_PAGE))
                break;
        }
    }
    close(map);
}

void vfork_release_parent(struct process *p, bool with_stack)
{
    struct page_header end = {PAGES_END};
    if (p->vfork_done_fd < 0)
        return;
    if (with_stack)
        send_stack(p);
    write_all(p->vfork_done_fd, &end, sizeof end);
    close(p->vfork_done_fd);
    p->vfork_done_fd = -1;
}

static void receive_stack(struct thread *t)
{
    struct page_header header;
    uint8_t page[GUEST_PAGE];
    while (read_all(t->vfork_fd, &header, sizeof header) && header.addr != PAGES_END) {
        if (!read_all(t->vfork_fd, page, sizeof page))
            break;
        (void)!guest_copy_out(t->process->memory, header.addr, page, sizeof page);
    }
}

int64_t vfork_wait(struct thread *t)
{
    struct pollfd child = {t->vfork_fd, POLLIN, 0};
    t->call.deaf = true; /* signals wait until the child is done */
    int64_t ready = thread_poll(t, &child, 1, -1);
    if (ready == SYSCALL_RETRY)
        return ready;
    receive_stack(t);
    close(t->vfork_fd);
    t->vfork_fd = -1;
    return t->vfork_pid;
}
