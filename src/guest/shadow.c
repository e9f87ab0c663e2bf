#include "guest/shadow.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "guest/baton.h"
#include "guest/files_priv.h"
#include "guest/memory_priv.h"
#include "guest/shadow_priv.h"

const char *process_spoiled(const struct process *p)
{
    return p->shadow && p->shadow->spoiled[0] ? p->shadow->spoiled : NULL;
}

/* ---- other processes */

/* It is alone in a family of its own, under the same id. */
static int leave_family(struct process *p, struct error *err)
{
    struct family *old = p->family;
    for (const struct member *m = NULL; (m = family_next(old, m)) != NULL;)
        if (m != p->member)
            return error_set(err, -ENOTSUP, "the program has other processes at this point, which cannot be copied");
    struct family *own = family_new(err);
    if (own == NULL)
        return -ENOMEM;
    own->next_id = p->pid;
    own->outside_host_pgrp = old->outside_host_pgrp;
    p->member = family_add(own, p->ppid);
    p->member->host_pid = getpid();
    own->next_id = (int)old->next_id;
    own->clock_ns = (uint64_t)old->clock_ns;
    p->family = own;
    family_free(old);
    baton_join(own, p->member);
    baton_take(p);
    return 0;
}

/* ---- memory */

/* As much of the pages as can be read: what lies behind the end of a file cannot. */
static void copy_pages(void *to, const void *from, size_t bytes)
{
    for (size_t done = 0; done < bytes; done += GUEST_PAGE) {
        struct iovec local = {(uint8_t *)to + done, GUEST_PAGE};
        struct iovec remote = {(uint8_t *)(uintptr_t)from + done, GUEST_PAGE};
        if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) < 0)
            continue;
    }
}

static int own_area(const struct guest_memory *m, const struct guest_area *area, struct error *err)
{
    size_t bytes = area->end - area->start;
    uint8_t *place = m->base + area->start;
    int prot = host_prot(area->prot);
    uint8_t *copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (copy == MAP_FAILED)
        return error_set(err, -ENOMEM, "out of memory for a copy of what the program shares");
    copy_pages(copy, place, bytes);
    if (mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place) == MAP_FAILED ||
        mprotect(place, bytes, prot) != 0)
        return error_set(err, -errno, "cannot copy what the program shares: %s", strerror(errno));
    return 0;
}

/* What it shares with files and other processes becomes its own. */
static int own_memory(const struct guest_memory *m, struct error *err)
{
    int code = 0;
    for (size_t i = 0; i < m->areas.count && code == 0; i++)
        if ((m->areas.area[i].flags & MAP_SHARED) && (m->areas.area[i].prot & PROT_WRITE))
            code = own_area(m, &m->areas.area[i], err);
    return code;
}

/* ---- files */

int shadow_copy(int fd, bool content)
{
    struct stat st;
    off_t at = 0;
    if (fstat(fd, &st) != 0)
        return -errno;
    int copy = memfd_create("shadow", MFD_CLOEXEC);
    if (copy < 0)
        return -errno;
    if (ftruncate(copy, st.st_size) != 0)
        goto failed;
    while (content && at < st.st_size) {
        char buffer[1 << 16];
        ssize_t got = pread(fd, buffer, sizeof buffer, at);
        if (got == 0)
            break;
        if (got < 0 || pwrite(copy, buffer, (size_t)got, at) != got)
            goto failed;
        at += got;
    }
    return copy;
failed:
    close(copy);
    return -EIO;
}

/* The same file without the run's offset, or a copy if it may be written to. */
static int own_file(int fd, int flags)
{
    char name[32];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    int mode = flags & O_ACCMODE;
    int reader = mode == O_WRONLY ? fd : open(name, O_RDONLY | O_CLOEXEC);
    if (reader < 0)
        return -errno;
    if (mode == O_RDONLY)
        return reader;
    int copy = shadow_copy(reader, mode == O_RDWR);
    if (reader != fd)
        close(reader);
    if (copy >= 0 && (flags & O_APPEND))
        fcntl(copy, F_SETFL, O_APPEND);
    return copy;
}

static bool is_harmless_device(const struct stat *st)
{
    return S_ISCHR(st->st_mode) && major(st->st_rdev) == 1; /* null, zero, full, random, urandom and their like */
}

/* Memory that is mapped from the file is mapped from its copy. */
static void map_copy(struct guest_memory *m, const struct stat *was, int copy)
{
    struct stat st;
    if (fstat(copy, &st) != 0)
        return;
    for (size_t i = 0; i < m->areas.count; i++) {
        struct guest_area *a = &m->areas.area[i];
        if (!(a->flags & MAP_SHARED) || a->dev != was->st_dev || a->inode != was->st_ino)
            continue;
        if (mmap(m->base + a->start, a->end - a->start, host_prot(a->prot), MAP_SHARED | MAP_FIXED, copy,
                 (off_t)a->offset) == MAP_FAILED)
            continue;
        a->dev = st.st_dev;
        a->inode = st.st_ino;
    }
}

/* What is neither a file nor the guest's own stays the run's: it is there to be looked at, not to be used. */
static int make_own(struct process *p, int fd, const struct stat *st, struct error *err)
{
    if (!S_ISREG(st->st_mode)) {
        bool inside = !fd_is_outside(&p->inherited, fd);
        if (!inside || !(S_ISFIFO(st->st_mode) ? shadow_pipe(fd, st) : shadow_eventfd(fd)))
            p->shadow->borrowed[fd / 64] |= UINT64_C(1) << fd % 64;
        return 0;
    }
    off_t offset = lseek(fd, 0, SEEK_CUR);
    int flags = fcntl(fd, F_GETFL), own = own_file(fd, flags);
    if (own < 0)
        return error_set(err, own, "descriptor %d cannot be copied: %s", fd, strerror(-own));
    if ((flags & O_ACCMODE) == O_RDWR)
        map_copy(p->memory, st, own);
    lseek(own, offset, SEEK_SET);
    dup3(own, fd, fcntl(fd, F_GETFD) & FD_CLOEXEC ? O_CLOEXEC : 0);
    close(own);
    return 0;
}

static int own_files(struct process *p, struct error *err)
{
    struct files *f = p->files;
    int duplicate[FD_PRIVATE], code = 0;
    struct stat st;
    for (int fd = 0; fd < FD_PRIVATE; fd++)
        duplicate[fd] = fstat(fd, &st) == 0 ? files_duplicate_of(f, fd, &st) : -1;
    for (int fd = 0; fd < FD_PRIVATE && code == 0; fd++) {
        if (fstat(fd, &st) != 0 || (fcntl(fd, F_GETFL) & O_PATH) || S_ISDIR(st.st_mode) || is_harmless_device(&st))
            continue;
        if (duplicate[fd] < 0)
            code = make_own(p, fd, &st, err);
        else
            dup3(duplicate[fd], fd, fcntl(fd, F_GETFD) & FD_CLOEXEC ? O_CLOEXEC : 0);
        f->stream[fd] = STREAM_UNKNOWN;
    }
    for (int fd = 0; fd < FD_PRIVATE && code == 0; fd++) {
        uint64_t *word = &p->shadow->borrowed[fd / 64], bit = UINT64_C(1) << fd % 64;
        if (*word & bit && !fd_is_outside(&p->inherited, fd) && shadow_epoll(fd)) /* which watches what is new */
            *word &= ~bit;
    }
    return code;
}

int process_become_shadow(struct process *p, struct error *err)
{
    if (p->config.host_time)
        return error_set(err, -ENOTSUP, "with --host-time a run cannot be copied: its clock goes on");
    struct shadow *s = p->shadow ? p->shadow : calloc(1, sizeof *s);
    if (s == NULL)
        return error_set(err, -ENOMEM, "out of memory");
    p->shadow = s;
    host_signal_forget();
    int code = leave_family(p, err);
    if (code == 0)
        code = own_memory(p->memory, err);
    if (code == 0)
        code = own_files(p, err);
    return code;
}
