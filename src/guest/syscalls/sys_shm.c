/* System V shared memory: shmget, shmat, shmdt, shmctl. See shared_segments.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include "guest/files_priv.h"
#include "guest/syscalls/syscall.h"

/* Linux's struct shmid64_ds of riscv64. */
struct guest_shmid {
    int32_t key;
    uint32_t uid, gid, cuid, cgid, mode;
    uint16_t seq, pad[3];
    uint64_t unused[2];
    uint64_t size;
    int64_t atime, dtime, ctime;
    int32_t cpid, lpid;
    uint64_t attached;
    uint64_t unused_end[2];
};

static struct segment *find_segment(struct process *p, int id)
{
    for (unsigned i = 0; id > 0 && i < SEGMENTS_MAX; i++)
        if (p->segments.segment[i].id == id)
            return &p->segments.segment[i];
    return NULL;
}

static unsigned attachments(const struct process *p, int id)
{
    unsigned count = 0;
    for (unsigned i = 0; i < ATTACHMENTS_MAX; i++)
        count += p->segments.attachment[i].end != 0 && p->segments.attachment[i].id == id;
    return count;
}

/* Frees a segment that was removed and is attached nowhere in this process. */
static void release_segment(struct process *p, struct segment *s)
{
    if (!s->removed || attachments(p, s->id) > 0)
        return;
    close(s->fd);
    *s = (struct segment){0};
}

static int64_t new_segment(struct process *p, int key, uint64_t size, int flags)
{
    struct segment *s = NULL;
    for (unsigned i = 0; i < SEGMENTS_MAX && !s; i++)
        if (p->segments.segment[i].id == 0)
            s = &p->segments.segment[i];
    if (!s)
        return -ENOSPC;
    if (size == 0 || size > GUEST_SPACE)
        return -EINVAL;
    char name[16];
    snprintf(name, sizeof name, "SYSV%08x", (unsigned)key);
    int fd = memfd_create(name, MFD_CLOEXEC);
    fd = fd >= 0 ? files_make_private(fd) : -errno;
    if (fd < 0)
        return fd;
    if (ftruncate(fd, (off_t)((size + GUEST_PAGE - 1) & ~(uint64_t)(GUEST_PAGE - 1))) != 0) {
        close(fd);
        return -ENOMEM;
    }
    *s = (struct segment){.id = ++p->segments.last_id, .key = key, .fd = fd, .size = size, .mode = flags & 0777};
    return s->id;
}

int64_t sys_shmget(struct thread *t, const uint64_t a[6])
{
    struct process *p = t->process;
    int key = (int)a[0], flags = (int)a[2];
    for (unsigned i = 0; key != IPC_PRIVATE && i < SEGMENTS_MAX; i++) {
        const struct segment *s = &p->segments.segment[i];
        if (s->id == 0 || s->key != key || s->removed)
            continue;
        if ((flags & IPC_CREAT) && (flags & IPC_EXCL))
            return -EEXIST;
        return a[1] > s->size ? -EINVAL : s->id;
    }
    return key == IPC_PRIVATE || flags & IPC_CREAT ? new_segment(p, key, a[1], flags) : -ENOENT;
}

int64_t sys_shmat(struct thread *t, const uint64_t a[6])
{
    struct process *p = t->process;
    struct segment *s = find_segment(p, (int)a[0]);
    struct attachment *at = NULL;
    uint64_t addr = a[1];
    int flags = (int)a[2], prot = flags & SHM_RDONLY ? PROT_READ : PROT_READ | PROT_WRITE;
    for (unsigned i = 0; i < ATTACHMENTS_MAX && !at; i++)
        if (p->segments.attachment[i].end == 0)
            at = &p->segments.attachment[i];
    if (!s || (s->removed && attachments(p, s->id) == 0))
        return -EINVAL;
    if (!at)
        return -EMFILE;
    if (flags & SHM_RND)
        addr &= ~(uint64_t)(GUEST_PAGE - 1);
    if (addr % GUEST_PAGE != 0 || (addr == 0 && flags & SHM_REMAP))
        return -EINVAL;
    char name[32];
    snprintf(name, sizeof name, "/SYSV%08x (deleted)", (unsigned)s->key);
    int place = addr == 0 ? 0 : flags & SHM_REMAP ? MAP_FIXED : MAP_FIXED_NOREPLACE;
    if (flags & SHM_EXEC)
        prot |= PROT_EXEC;
    int64_t result = guest_mmap(p->memory, addr, s->size, prot, MAP_SHARED | place, s->fd, 0, name);
    if (result < 0)
        return result == -EEXIST ? -EINVAL : result;
    uint64_t size = (s->size + GUEST_PAGE - 1) & ~(uint64_t)(GUEST_PAGE - 1);
    *at = (struct attachment){.addr = (uint64_t)result, .end = (uint64_t)result + size, .id = s->id};
    return result;
}

int64_t sys_shmdt(struct thread *t, const uint64_t a[6])
{
    struct process *p = t->process;
    for (unsigned i = 0; i < ATTACHMENTS_MAX; i++) {
        struct attachment *at = &p->segments.attachment[i];
        if (at->end == 0 || at->addr != a[0])
            continue;
        int64_t result = guest_munmap(p->memory, at->addr, at->end - at->addr);
        if (result < 0)
            return result;
        struct segment *s = find_segment(p, at->id);
        *at = (struct attachment){0};
        if (s)
            release_segment(p, s);
        return 0;
    }
    return -EINVAL;
}

void segments_detach_all(struct process *p)
{
    memset(p->segments.attachment, 0, sizeof p->segments.attachment);
    for (unsigned i = 0; i < SEGMENTS_MAX; i++)
        if (p->segments.segment[i].id != 0)
            release_segment(p, &p->segments.segment[i]);
}

static int64_t segment_status(struct process *p, const struct segment *s, uint64_t addr)
{
    struct guest_shmid status = {.key = s->key,
                                 .uid = process_user(p).uid,
                                 .gid = process_user(p).gid,
                                 .cuid = process_user(p).uid,
                                 .cgid = process_user(p).gid,
                                 .mode = (uint32_t)s->mode | (s->removed ? SHM_DEST : 0),
                                 .size = s->size,
                                 .cpid = p->pid,
                                 .lpid = p->pid,
                                 .attached = attachments(p, s->id)};
    return guest_copy_out(p->memory, addr, &status, sizeof status);
}

int64_t sys_shmctl(struct thread *t, const uint64_t a[6])
{
    struct process *p = t->process;
    struct guest_shmid status;
    struct segment *s = find_segment(p, (int)a[0]);
    if (!s)
        return -EINVAL;
    switch ((int)a[1]) {
    case IPC_RMID:
        s->removed = true;
        release_segment(p, s);
        return 0;
    case IPC_STAT: return segment_status(p, s, a[2]);
    case IPC_SET:
        if (guest_copy_in(p->memory, &status, a[2], sizeof status) < 0)
            return -EFAULT;
        s->mode = (int)status.mode & 0777;
        return 0;
    case SHM_LOCK:
    case SHM_UNLOCK: return 0;
    default: return -EINVAL;
    }
}
