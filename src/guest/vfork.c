#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "guest/fork.h"

/* The child sends a header and a page for each page of the stack that it wrote, then a header with PAGES_END. */
struct page_header {
    uint64_t addr; /* guest address of the page that follows; PAGES_END: no page follows */
};
#define PAGES_END UINT64_MAX

/* Bits of an entry of /proc/self/pagemap, see the kernel's pagemap.rst. Since the fork, parent and child share all
 * pages that neither has written. So a page that is mapped only in the child has been written by one of them. */
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

/* Sends the pages that were written since the fork, of the area that contains the parent's stack pointer. Other areas
 * are not sent: other threads of the parent may have written to them since the fork. */
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
        uint64_t at = (uintptr_t)(base + addr) / GUEST_PAGE * sizeof entry;
        if (!io_pread_exactly(map, &entry, sizeof entry, at))
            break;
        if ((entry & PAGEMAP_PRESENT) && (entry & PAGEMAP_EXCLUSIVE)) {
            struct page_header header = {addr};
            if (io_write(p->vfork_done_fd, &header, sizeof header) != 0 ||
                io_write(p->vfork_done_fd, base + addr, GUEST_PAGE) != 0)
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
    (void)!io_write(p->vfork_done_fd, &end, sizeof end); /* if it fails, the parent sees the end of the pipe */
    close(p->vfork_done_fd);
    p->vfork_done_fd = -1;
}

static void receive_stack(struct thread *t)
{
    struct page_header header;
    uint8_t page[GUEST_PAGE];
    while (io_read_exactly(t->vfork_fd, &header, sizeof header) && header.addr != PAGES_END) {
        if (!io_read_exactly(t->vfork_fd, page, sizeof page))
            break;
        (void)!guest_copy_out(t->process->memory, header.addr, page, sizeof page);
    }
}

int64_t vfork_wait(struct thread *t)
{
    struct pollfd child = {t->vfork_fd, POLLIN, 0};
    t->call.uninterruptible = true; /* signals are delivered when the child is done */
    int64_t ready = thread_poll(t, &child, 1, -1);
    if (ready == SYSCALL_RETRY)
        return ready;
    receive_stack(t);
    close(t->vfork_fd);
    t->vfork_fd = -1;
    return t->vfork_pid;
}
