/* System calls that control a descriptor: fcntl, flock, ioctl. */
#include <asm/ioctls.h>
#include <errno.h>
#include <linux/fs.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest/files_priv.h"
#include "guest/syscalls/syscall.h"

/* ---- locks */

/* The guest's struct flock has the layout of the host's. */
_Static_assert(sizeof(struct flock) == 32 && offsetof(struct flock, l_start) == 8 &&
                   offsetof(struct flock, l_pid) == 24,
               "struct flock of this host needs translation");

/* Record locks. A lock that another process holds is retried every millisecond, so that other threads run meanwhile. */
static int64_t lock(struct thread *t, int fd, int command, uint64_t addr)
{
    struct flock lock;
    bool may_wait = command == F_SETLKW || command == F_OFD_SETLKW;
    bool is_query = command == F_GETLK || command == F_OFD_GETLK;
    if (guest_copy_in(t->process->memory, &lock, addr, sizeof lock) < 0)
        return -EFAULT;
    if (command == F_SETLKW)
        command = F_SETLK;
    else if (command == F_OFD_SETLKW)
        command = F_OFD_SETLK;
    if (fcntl(fd, command, &lock) != 0) {
        bool held = errno == EAGAIN || errno == EACCES;
        return may_wait && held ? file_wait_tick(t) : -errno;
    }
    if (!is_query)
        return 0;
    if (lock.l_type != F_UNLCK && lock.l_pid > 0)
        lock.l_pid = family_to_guest(t->process->family, lock.l_pid);
    return guest_copy_out(t->process->memory, addr, &lock, sizeof lock);
}

int64_t sys_flock(struct thread *t, const uint64_t a[6])
{
    int fd = (int)a[0], operation = (int)a[1];
    if (!files_is_guest(fd))
        return -EBADF;
    if (flock(fd, operation | LOCK_NB) == 0)
        return 0;
    return errno == EWOULDBLOCK && !(operation & LOCK_NB) ? file_wait_tick(t) : -errno;
}

/* ---- fcntl */

enum { STANDARD_PIPE_BYTES = 65536 };

static int64_t duplicate(struct thread *t, int fd, int command, uint64_t lowest)
{
    if (lowest >= (uint64_t)files_limit(thread_files(t)))
        return -EINVAL;
    int to = fcntl(fd, command, (int)lowest);
    to = to >= 0 ? files_adopt(thread_files(t), to) : -errno;
    if (to >= 0)
        files_share(thread_files(t), fd, to);
    return to;
}

/* Flags and size of the pipe that a standard stream looks like, whatever it is. */
static int64_t standard_fcntl(const struct files *f, int fd, int command)
{
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0)
        return -errno;
    if (command == F_GETFL)
        return (flags & O_NONBLOCK) | (f->standard[fd] == 1 ? O_RDONLY : O_WRONLY);
    return command == F_GETPIPE_SZ ? STANDARD_PIPE_BYTES : -EPERM;
}

int64_t sys_fcntl(struct thread *t, const uint64_t a[6])
{
    int fd = (int)a[0], command = (int)a[1], result;
    if (!files_is_guest(fd))
        return -EBADF;
    if (thread_files(t)->standard[fd] && (command == F_GETFL || command == F_GETPIPE_SZ || command == F_SETPIPE_SZ))
        return standard_fcntl(thread_files(t), fd, command);
    switch (command) {
    case F_DUPFD:
    case F_DUPFD_CLOEXEC: return duplicate(t, fd, command, a[2]);
    case F_GETLK:
    case F_SETLK:
    case F_SETLKW:
    case F_OFD_GETLK:
    case F_OFD_SETLK:
    case F_OFD_SETLKW: return lock(t, fd, command, a[2]);
    case F_SETFL: { /* without O_ASYNC: its SIGIO would reach the emulator */
        int kept = O_NOATIME | (thread_files(t)->standard[fd] ? O_APPEND : 0); /* F_GETFL does not show these */
        result = fcntl(fd, F_GETFL);
        if (result >= 0)
            result = fcntl(fd, F_SETFL, ((int)a[2] & ~O_ASYNC) | (result & kept));
        break;
    }
    case F_GETFL: /* hides O_NOATIME, which files_openat adds */
        result = fcntl(fd, F_GETFL);
        return result >= 0 ? result & ~O_NOATIME : -errno;
    case F_GETFD:
    case F_SETFD:
    case F_SETPIPE_SZ:
    case F_GETPIPE_SZ:
    case F_ADD_SEALS:
    case F_GET_SEALS: result = fcntl(fd, command, (int)a[2]); break;
    case F_GETOWN: result = fcntl(fd, F_GETFD) < 0 ? -1 : 0; break;
    case F_GET_RW_HINT:
    case F_SET_RW_HINT:
    case F_GET_FILE_RW_HINT:
    case F_SET_FILE_RW_HINT: {
        void *hint = guest_ptr(t->process->memory, a[2], sizeof(uint64_t), PROT_READ | PROT_WRITE);
        if (!hint)
            return -EFAULT;
        result = fcntl(fd, command, hint);
        break;
    }
    default: return fcntl(fd, F_GETFD) < 0 ? -EBADF : -EINVAL;
    }
    return result >= 0 ? result : -errno;
}

/* ---- ioctl */

/* Requests that are passed to the host: their arguments contain no addresses, and they can do no more than the guest
 * could by writing to the terminal. TIOCSTI is excluded because it injects terminal input on behalf of the user. */
static const struct ioctl_row {
    uint32_t request;
    uint16_t bytes; /* size of the object that the argument points to; 0: the argument is a number */
    int prot;       /* access of the host to that object */
} ioctls[] = {
    {TCGETS, 36, PROT_WRITE},
    {TCSETS, 36, PROT_READ},
    {TCSETSW, 36, PROT_READ},
    {TCSETSF, 36, PROT_READ},
    {0x802c542a, 44, PROT_WRITE}, /* TCGETS2 */
    {0x402c542b, 44, PROT_READ},  /* TCSETS2 and its two variants */
    {0x402c542c, 44, PROT_READ},
    {0x402c542d, 44, PROT_READ},
    {TCSBRK, 0, 0},
    {TCXONC, 0, 0},
    {TCFLSH, 0, 0},
    {TCSBRKP, 0, 0},
    {TIOCOUTQ, 4, PROT_WRITE},
    {TIOCGWINSZ, 8, PROT_WRITE},
    {TIOCSWINSZ, 8, PROT_READ},
    {FIONREAD, 4, PROT_WRITE},
    {FIONBIO, 4, PROT_READ},
    {FIOCLEX, 0, 0},
    {FIONCLEX, 0, 0},
    {TIOCNOTTY, 0, 0},
    {TIOCGPTN, 4, PROT_WRITE},
    {TIOCSPTLCK, 4, PROT_READ},
    {SIOCATMARK, 4, PROT_WRITE},
    {FIGETBSZ, 4, PROT_WRITE},
};

/* Foreground process group or session of a terminal (TIOCGPGRP, TIOCSPGRP, TIOCGSID), translated to guest ids. */
static int64_t terminal_group(struct thread *t, int fd, uint32_t request, uint64_t addr)
{
    struct process *p = t->process;
    int32_t group;
    if (request == TIOCSPGRP) {
        if (guest_copy_in(p->memory, &group, addr, sizeof group) < 0)
            return -EFAULT;
        group = family_to_host(p->family, group);
        if (group < 0)
            return group;
        return ioctl(fd, TIOCSPGRP, &group) == 0 ? 0 : -errno;
    }
    if (ioctl(fd, request, &group) != 0)
        return -errno;
    group = family_group_to_guest(p->family, group);
    return guest_copy_out(p->memory, addr, &group, sizeof group);
}

/* TIOCSCTTY without force: another session keeps its terminal. */
static int64_t take_terminal(int fd)
{
    return ioctl(fd, TIOCSCTTY, 0) == 0 ? 0 : -errno;
}

/* TIOCGPTPEER: opens the other side of a pseudo-terminal, which needs no name in /dev/pts. */
static int64_t open_peer(struct thread *t, int fd, int flags)
{
    int peer = ioctl(fd, TIOCGPTPEER, flags | O_NOCTTY);
    return peer >= 0 ? files_adopt(thread_files(t), peer) : -errno;
}

int64_t sys_ioctl(struct thread *t, const uint64_t a[6])
{
    int fd = (int)a[0];
    uint32_t request = (uint32_t)a[1];
    if (!files_is_guest(fd) || fcntl(fd, F_GETFD) < 0)
        return -EBADF;
    bool is_terminals = (request & 0xff00) == 0x5400 && request != FIONREAD && request != FIONBIO &&
                        request != FIOCLEX && request != FIONCLEX; /* 'T', the letter of terminals' requests */
    if (thread_files(t)->standard[fd] && (is_terminals || request == FIGETBSZ))
        return -ENOTTY;
    if (request == TIOCGPGRP || request == TIOCSPGRP || request == TIOCGSID)
        return terminal_group(t, fd, request, a[2]);
    if (request == TIOCSCTTY)
        return take_terminal(fd);
    if (request == TIOCGPTPEER)
        return open_peer(t, fd, (int)a[2]);
    for (size_t i = 0; i < sizeof ioctls / sizeof *ioctls; i++) {
        const struct ioctl_row *row = &ioctls[i];
        if (row->request != request)
            continue;
        void *argument = (void *)(uintptr_t)a[2];
        if (row->bytes > 0 && !(argument = guest_ptr(t->process->memory, a[2], row->bytes, row->prot)))
            return isatty(fd) || request == FIONREAD || request == FIONBIO ? -EFAULT : -ENOTTY;
        int result = ioctl(fd, request, argument);
        return result >= 0 ? result : -errno;
    }
    return -ENOTTY;
}
