/* The structures of a process and its threads, shared by the source files of this module, and how system calls block.
 *
 * A system call is a function of a thread and six arguments. It returns Linux's result (a negative errno for failure),
 * or one of two special values. SYSCALL_RETRY: the call has put the thread to sleep. When the thread wakes, the
 * function is called again with the same arguments and must check itself whether it can finish. SYSCALL_NO_RESULT: the
 * call has set the thread's registers itself. */
#ifndef CYCLESCOPE_GUEST_PROCESS_PRIV_H
#define CYCLESCOPE_GUEST_PROCESS_PRIV_H

#include <poll.h>
#include <stdint.h>
#include <sys/resource.h>

#include "base/random.h"
#include "guest/family.h"
#include "guest/files.h"
#include "guest/outside.h"
#include "guest/process.h"
#include "guest/sched.h"
#include "guest/shared_segments.h"
#include "guest/signal.h"
#include "guest/timer.h"

#define SYSCALL_RETRY     INT64_C(-512) /* the guest never sees these two values */
#define SYSCALL_NO_RESULT INT64_C(-513)

#define GUEST_RELEASE "6.12.0" /* Linux version that the guest sees in uname and /proc */

typedef int64_t syscall_fn(struct thread *t, const uint64_t a[6]);

struct thread {
    struct hart hart;
    struct process *process;
    int tid;                          /* guest id of the thread */
    struct thread *next;              /* next thread of the process, in ascending order of tid */
    bool exited;                      /* the scheduler frees the thread when it next iterates over the threads */
    int64_t slice_insns;              /* instructions left of the thread's turn */
    struct call call;                 /* the system call in progress */
    struct pollfd *poll_fds;          /* descriptors that the call waits for; `call.fd_count` are in use */
    unsigned poll_room;               /* number of poll_fds allocated */
    uint64_t io_bytes;                /* bytes that the call in progress transferred before it went to sleep */
    uint64_t blocked;                 /* set of blocked signals */
    struct signal_queue pending;      /* signals sent to this thread */
    struct signal_stack signal_stack; /* alternate stack (sigaltstack) */
    uint64_t clear_tid_addr; /* guest address of a word that is zeroed and woken when the thread exits; 0: none */
    uint64_t robust_list;    /* guest address of the thread's list of robust futexes; 0: none */
    int opening_fd;          /* while the thread opens a named pipe for reading: private descriptor of it; else -1 */
    int vfork_fd;            /* while the thread waits for a vfork child: read end of the pipe; else -1 */
    int vfork_pid;           /* guest pid of that child */
    char name[16];           /* set by PR_SET_NAME; zero-terminated */
};

struct process {
    struct process_config config;
    struct guest_memory *memory;
    struct files *files;
    struct views *views;         /* files that the processes of the run have seen (file_view.h) */
    struct random random;        /* generator of getrandom, /dev/urandom and AT_RANDOM */
    char exe[PATH_MAX];          /* guest path of the program, for /proc/self/exe */
    bool exe_absolute;           /* it was started by an absolute path, which the guest sees as it was written */
    char *cmdline;               /* arguments, each with a terminating zero, for /proc/self/cmdline */
    size_t cmdline_bytes;        /* size of cmdline */
    uint64_t env_start, env_end; /* guest addresses of the initial environment strings, for /proc/self/environ */
    int pid, ppid;               /* guest ids of the process and of its parent */

    struct thread *threads;           /* list in ascending order of tid; not empty until the process has ended */
    struct thread *current;           /* thread that runs or ran last; NULL: none is runnable */
    uint64_t retired_insns;           /* instructions retired by all threads of this process since it was forked */
    uint64_t offset_ns;               /* guest time minus retired_insns: time slept, and time before the fork */
    uint64_t futex_sequence;          /* number of the last futex wait, which orders waiters */
    struct timer timers[TIMER_COUNT]; /* see timer.h */
    struct shared_segments segments;  /* System V shared memory */
    unsigned signalfds;               /* number of open files that are signalfds */
    unsigned timers_armed;            /* number of armed timers; 0 in most programs, and then timers cost nothing */

    struct signal_action actions[SIGNAL_MAX + 1]; /* by signal number; entry 0 is unused */
    uint64_t ignored;            /* set of signals that have no effect, by their action or by default */
    struct signal_queue pending; /* signals sent to the process; any thread may take them */
    uint64_t trampoline;         /* guest address of the code that calls rt_sigreturn */

    struct family *family;            /* table of all processes of the run, in memory shared between them */
    struct member *member;            /* entry of this process in the family */
    bool is_child;                    /* forked by another process of the run */
    uint64_t children_insns;          /* instructions retired by all reaped descendants */
    int64_t turn_insns;               /* instructions left of this process's turn (baton.h) */
    uint32_t seen_changes;            /* value of family->changes when this process last checked its children */
    struct inherited_files inherited; /* pipes and sockets that the caller left open */
    int vfork_done_fd;                /* vfork child: write end of the pipe that its parent waits on; else -1 */
    uint64_t vfork_sp;                /* vfork child: the parent's stack pointer */

    struct process_copy *copy; /* state of a copied process (process_copy.h); NULL: not a copy */

    uint64_t loader_start, loader_end; /* guest addresses [start, end) of the dynamic loader; empty: none */
    bool loader_failed;                /* see process_loader_failed */
    bool ended;
    int exit_code, exit_signal;         /* valid once ended; exit_code counts only if exit_signal is 0 */
    int interruption;                   /* see process_interruption */
    struct rlimit limits[RLIM_NLIMITS]; /* the guest's resource limits */
    int nice;                           /* as set by setpriority; has no effect */
    uint32_t personality;               /* as set by personality(2); has no effect */
    bool marked;                        /* see process_is_marked */
    uint64_t missing_named[8];          /* bit set by number: unimplemented system calls already reported to the user */
};

/* Creates a process with one thread and without a program; the caller loads a program or a checkpoint. NULL with a
 * message in `err` if it fails. */
struct process *process_new_empty(const struct process_config *config, struct error *err) MUST_CHECK;

/* Ends the process with an exit code, or by `signal` if that is not 0. Has no effect if the process has ended. */
void process_end(struct process *p, int code, int signal);

/* Waits for descriptors on behalf of a system call that would block; other threads run meanwhile. `fds` are host
 * descriptors as for poll(2) and receive their revents. `timeout_ns` is negative for no timeout. Returns the number of
 * ready descriptors, 0 after the timeout, -EINTR for a signal, or SYSCALL_RETRY, which the caller must return. */
int64_t thread_poll(struct thread *t, struct pollfd *fds, unsigned count, int64_t timeout_ns);

/* Ids of the guest's user. Without `config.host_user` they are fixed, and all files belong to this user. */
enum { GUEST_USER = 1000 };
struct user_ids {
    uint32_t uid, euid, gid, egid;
};
struct user_ids process_user(const struct process *p);

#define WALL_CLOCK_START_NS (UINT64_C(2114380800) * 1000000000) /* 2037-01-01T00:00:00Z: later than all files */

uint64_t process_time_ns(const struct process *p); /* the guest's CLOCK_MONOTONIC */
uint64_t
process_wall_clock_ns(const struct process *p); /* CLOCK_REALTIME: fixed date + monotonic clock, or the host's */

#endif
