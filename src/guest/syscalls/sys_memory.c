/* System calls on memory: they check arguments and call the functions of memory.h. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "guest/file_view.h"
#include "guest/files_priv.h"
#include "guest/syscalls/syscall.h"

/* Whether `more` bytes of address space exceed RLIMIT_AS. The whole stack counts, since it is mapped at once. */
static bool exceeds_space(const struct process *p, uint64_t more)
{
    uint64_t limit = p->limits[RLIMIT_AS].rlim_cur, sum = 0;
    if (limit == RLIM_INFINITY)
        return false;
    for (const struct guest_area *a = guest_area_at_or_above(p->memory, 0); a;
         a = guest_area_at_or_above(p->memory, a->end))
        sum += a->end - a->start;
    return more > limit || sum > limit - more;
}

int64_t sys_brk(struct thread *t, const uint64_t a[6])
{
    uint64_t old = (uint64_t)guest_brk(t->process->memory, 0);
    if (a[0] > old && exceeds_space(t->process, a[0] - old))
        return (int64_t)old;
    return guest_brk(t->process->memory, a[0]);
}

int64_t sys_mmap(struct thread *t, const uint64_t a[6])
{
    struct process *p = t->process;
    int prot = (int)a[2], flags = (int)a[3], fd = (int)a[4];
    if (exceeds_space(p, a[1]))
        return -ENOMEM;
    if (flags & MAP_ANONYMOUS)
        return guest_mmap(p->memory, a[0], a[1], prot, flags, -1, 0, NULL);
    char name[PATH_MAX];
    if (!files_is_guest(fd))
        return -EBADF;
    if (p->files->standard[fd])
        return p->files->standard[fd] == 1 ? -ENODEV : -EACCES;
    if ((flags & MAP_SHARED) && (prot & PROT_WRITE) && (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR)
        file_written(p, fd);
    bool named = files_path(p->files, fd, name) == 0;
    return guest_mmap(p->memory, a[0], a[1], prot, flags, fd, a[5], named ? name : NULL);
}

int64_t sys_munmap(struct thread *t, const uint64_t a[6])
{
    return guest_munmap(t->process->memory, a[0], a[1]);
}

int64_t sys_mremap(struct thread *t, const uint64_t a[6])
{
    if (a[2] > a[1] && exceeds_space(t->process, a[2] - a[1]))
        return -ENOMEM;
    return guest_mremap(t->process->memory, a[0], a[1], a[2], (int)a[3], a[4]);
}

int64_t sys_mprotect(struct thread *t, const uint64_t a[6])
{
    struct guest_memory *m = t->process->memory;
    uint64_t addr = a[0], length = a[1];
    int prot = (int)a[2];
    if (prot & PROT_GROWSDOWN) {
        /* Extends the range down to the start of the stack: the C library makes a stack executable this way. */
        const struct guest_area *area = guest_area_at_or_above(m, addr);
        if (!area || area->start > addr)
            return -ENOMEM;
        if (!area->name || strcmp(area->name, "[stack]") != 0 || (prot & PROT_GROWSUP))
            return -EINVAL;
        length += addr - area->start;
        addr = area->start;
        prot &= ~PROT_GROWSDOWN;
    }
    return guest_mprotect(m, addr, length, prot);
}

int64_t sys_madvise(struct thread *t, const uint64_t a[6])
{
    return guest_madvise(t->process->memory, a[0], a[1], (int)a[2]);
}

int64_t sys_msync(struct thread *t, const uint64_t a[6])
{
    return guest_msync(t->process->memory, a[0], a[1], (int)a[2]);
}

/* True if every page of the range is mapped. */
static bool is_mapped(const struct guest_memory *m, uint64_t addr, uint64_t length)
{
    uint64_t at = addr & ~(uint64_t)(GUEST_PAGE - 1), end;
    if (__builtin_add_overflow(addr, length, &end))
        return false;
    while (at < end) {
        const struct guest_area *area = guest_area_at_or_above(m, at);
        if (!area || area->start > at)
            return false;
        at = area->end;
    }
    return true;
}

/* Only checks the range. Pages are not locked: the guest cannot observe paging by the host. */
int64_t sys_mlock(struct thread *t, const uint64_t a[6])
{
    return is_mapped(t->process->memory, a[0], a[1]) ? 0 : -ENOMEM;
}

int64_t sys_munlock(struct thread *t, const uint64_t a[6])
{
    return sys_mlock(t, a);
}

int64_t sys_mlock2(struct thread *t, const uint64_t a[6])
{
    return a[2] & ~(uint64_t)MLOCK_ONFAULT ? -EINVAL : sys_mlock(t, a);
}

int64_t sys_mlockall(struct thread *t, const uint64_t a[6])
{
    (void)t;
    return a[0] == 0 || a[0] & ~(uint64_t)(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) ? -EINVAL : 0;
}

int64_t sys_munlockall(struct thread *t, const uint64_t a[6])
{
    (void)t, (void)a;
    return 0;
}

/* Reports every mapped page as resident: real residency depends on the host. */
int64_t sys_mincore(struct thread *t, const uint64_t a[6])
{
    struct guest_memory *m = t->process->memory;
    if (a[0] % GUEST_PAGE != 0)
        return -EINVAL;
    if (a[1] > GUEST_SPACE || !is_mapped(m, a[0], a[1]))
        return -ENOMEM;
    uint64_t pages = (a[1] + GUEST_PAGE - 1) / GUEST_PAGE;
    void *resident = guest_ptr(m, a[2], pages, PROT_WRITE);
    if (!resident)
        return -EFAULT;
    memset(resident, 1, pages);
    return 0;
}

int64_t sys_membarrier(struct thread *t, const uint64_t a[6])
{
    (void)t;
    return a[0] == 0 ? 0 : -EINVAL; /* MEMBARRIER_CMD_QUERY: reports that no command is supported */
}

/* An empty range flushes everything. */
int64_t sys_riscv_flush_icache(struct thread *t, const uint64_t a[6])
{
    if (a[2] & ~UINT64_C(1)) /* SYS_RISCV_FLUSH_ICACHE_LOCAL */
        return -EINVAL;
    bool all = a[0] >= a[1];
    guest_code_changed(t->process->memory, all ? 0 : a[0], all ? GUEST_SPACE : a[1]);
    return 0;
}
