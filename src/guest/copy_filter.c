/* A seccomp filter for the host process of a copied process: a list of host system calls that a copy needs. All others
 * fail with EPERM. It is a second line of defense: the copy's own checks (copy_calls.c) come first, and a denied call
 * is a mistake of theirs that has no effect outside.
 *
 * Calls that are allowed whatever their arguments are cost the kernel one look into a bit map. */
#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest/files.h"
#include "guest/process_copy_priv.h"

#ifdef __x86_64__

/* Allowed with all arguments. */
static const uint16_t allowed[] = {
    /* memory */
    SYS_mmap,
    SYS_munmap,
    SYS_mprotect,
    SYS_mremap,
    SYS_madvise,
    SYS_brk,
    SYS_msync,
    SYS_mincore,
    SYS_membarrier,
    SYS_process_vm_readv,
    SYS_memfd_create,
    SYS_mlock,
    SYS_munlock,
    /* reading files, by name and by descriptor */
    SYS_read,
    SYS_readv,
    SYS_pread64,
    SYS_preadv,
    SYS_preadv2,
    SYS_lseek,
    SYS_stat,
    SYS_lstat,
    SYS_fstat,
    SYS_newfstatat,
    SYS_statx,
    SYS_statfs,
    SYS_fstatfs,
    SYS_readlink,
    SYS_readlinkat,
    SYS_access,
    SYS_faccessat,
    SYS_faccessat2,
    SYS_getdents64,
    SYS_getcwd,
    SYS_getxattr,
    SYS_lgetxattr,
    SYS_fgetxattr,
    SYS_listxattr,
    SYS_llistxattr,
    SYS_flistxattr,
    SYS_fadvise64,
    SYS_readahead,
    SYS_openat2, /* open_memory of copy_files.c */
    /* descriptors */
    SYS_close,
    SYS_close_range,
    SYS_dup,
    SYS_dup2,
    SYS_dup3,
    SYS_pipe,
    SYS_pipe2,
    SYS_eventfd2,
    SYS_epoll_create1,
    SYS_epoll_ctl,
    SYS_epoll_wait,
    SYS_epoll_pwait,
    SYS_epoll_pwait2,
    SYS_poll,
    SYS_ppoll,
    SYS_select,
    SYS_pselect6,
    SYS_tee,
    SYS_timerfd_create,
    SYS_timerfd_settime,
    SYS_timerfd_gettime,
    SYS_signalfd4,
    SYS_inotify_init1,
    SYS_inotify_rm_watch,
    SYS_socketpair,
    SYS_recvmsg,
    SYS_recvfrom,
    SYS_getsockname,
    SYS_getpeername,
    SYS_getsockopt,
    SYS_accept4,
    SYS_umask,
    /* processes of the copy */
    SYS_clone,
    SYS_fork,
    SYS_vfork,
    SYS_wait4,
    SYS_waitid,
    SYS_exit,
    SYS_exit_group,
    SYS_kill,
    SYS_tgkill,
    SYS_rt_sigqueueinfo,
    SYS_pidfd_open,
    SYS_pidfd_send_signal,
    SYS_set_robust_list,
    SYS_set_tid_address,
    SYS_rseq,
    SYS_futex,
    SYS_sched_yield,
    SYS_prctl,
    SYS_arch_prctl,
    SYS_prlimit64,
    SYS_getrlimit,
    SYS_setrlimit,
    /* signals */
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_rt_sigpending,
    SYS_rt_sigsuspend,
    SYS_rt_sigtimedwait,
    SYS_sigaltstack,
    SYS_restart_syscall,
    SYS_pause,
    /* what a process can know */
    SYS_getpid,
    SYS_getppid,
    SYS_gettid,
    SYS_getpgid,
    SYS_getpgrp,
    SYS_getsid,
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
    SYS_getresuid,
    SYS_getresgid,
    SYS_getgroups,
    SYS_uname,
    SYS_sysinfo,
    SYS_getrusage,
    SYS_times,
    SYS_getcpu,
    SYS_sched_getaffinity,
    SYS_getrandom,
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_gettimeofday,
    SYS_time,
    SYS_nanosleep,
    SYS_clock_nanosleep,
    SYS_getpriority,
    SYS_capget,
};

/* Allowed if the first argument is a number that the guest may use: never with the files of the emulator itself. */
static const uint16_t guest_only[] = {
    SYS_write,    SYS_writev,  SYS_pwrite64, SYS_pwritev, SYS_pwritev2,   SYS_ftruncate,       SYS_fallocate,
    SYS_sendfile, SYS_sendmsg, SYS_shutdown, SYS_listen,  SYS_setsockopt, SYS_copy_file_range,
};

/* Requests that are allowed: they look, or concern descriptors of the copy's own. */
static const uint32_t fcntl_commands[] = {F_DUPFD,     F_DUPFD_CLOEXEC, F_GETFD,       F_SETFD,           F_GETFL,
                                          F_SETFL,     F_GETLK,         F_OFD_GETLK,   F_GETPIPE_SZ,      F_SETPIPE_SZ,
                                          F_GET_SEALS, F_ADD_SEALS,     F_GET_RW_HINT, F_GET_FILE_RW_HINT};
static const uint32_t ioctl_requests[] = {TCGETS,   0x802c542a, TIOCGWINSZ, TIOCGPGRP, TIOCGSID, TIOCOUTQ,  TIOCGPTN,
                                          FIONREAD, FIONBIO,    FIOCLEX,    FIONCLEX,  FIGETBSZ, SIOCATMARK};
/* The only mode that a copy may set: that of the memory files that stand for text files of /proc (special_text_file).
 */
static const uint32_t modes[] = {0444};

enum { PROGRAM_MAX = 512 };

struct program {
    struct sock_filter insn[PROGRAM_MAX];
    unsigned short count;
};

static void emit(struct program *p, uint16_t code, uint32_t k, uint8_t if_true, uint8_t if_false)
{
    if (p->count < PROGRAM_MAX)
        p->insn[p->count++] = (struct sock_filter){code, if_true, if_false, k};
}

static void load(struct program *p, size_t offset)
{
    emit(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void give(struct program *p, uint32_t verdict)
{
    emit(p, BPF_RET | BPF_K, verdict, 0, 0);
}

/* The low half of an argument: all arguments that are looked at are numbers of 32 bits. */
static size_t argument(unsigned i)
{
    return offsetof(struct seccomp_data, args) + i * sizeof(uint64_t);
}

static const uint32_t denied = SECCOMP_RET_ERRNO | EPERM;

/* Allows a call if its second argument is in the list. */
static void allow_requests(struct program *p, uint32_t call, const uint32_t *requests, size_t count)
{
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, call, 0, (uint8_t)(2 * count + 2));
    load(p, argument(1));
    for (size_t i = 0; i < count; i++) {
        emit(p, BPF_JMP | BPF_JEQ | BPF_K, requests[i], 0, 1);
        give(p, SECCOMP_RET_ALLOW);
    }
    give(p, denied);
}

/* open and openat: for reading only. */
static void allow_reading(struct program *p, uint32_t call, unsigned flags_argument)
{
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, call, 0, 4);
    load(p, argument(flags_argument));
    emit(p, BPF_JMP | BPF_JSET | BPF_K, O_ACCMODE | O_CREAT | O_TRUNC, 1, 0);
    give(p, SECCOMP_RET_ALLOW);
    give(p, denied);
}

static void build(struct program *p)
{
    p->count = 0;
    load(p, offsetof(struct seccomp_data, arch));
    emit(p, BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
    give(p, denied);
    load(p, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
        emit(p, BPF_JMP | BPF_JEQ | BPF_K, allowed[i], 0, 1);
        give(p, SECCOMP_RET_ALLOW);
    }
    for (size_t i = 0; i < sizeof guest_only / sizeof *guest_only; i++) {
        emit(p, BPF_JMP | BPF_JEQ | BPF_K, guest_only[i], 0, 4);
        load(p, argument(0));
        emit(p, BPF_JMP | BPF_JGE | BPF_K, FD_PRIVATE, 1, 0);
        give(p, SECCOMP_RET_ALLOW);
        give(p, denied);
    }
    allow_reading(p, SYS_open, 1);
    allow_reading(p, SYS_openat, 2);
    allow_requests(p, SYS_fcntl, fcntl_commands, sizeof fcntl_commands / sizeof *fcntl_commands);
    allow_requests(p, SYS_ioctl, ioctl_requests, sizeof ioctl_requests / sizeof *ioctl_requests);
    allow_requests(p, SYS_fchmod, modes, sizeof modes / sizeof *modes);
    give(p, denied);
}

bool copy_filter_install(void)
{
    struct program p;
    build(&p);
    struct sock_fprog program = {p.count, p.insn};
    return p.count < PROGRAM_MAX && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

#else

bool copy_filter_install(void)
{
    return false;
}

#endif
