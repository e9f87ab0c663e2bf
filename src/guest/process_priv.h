/* What the files of this module share: the process and its threads, and how a system call blocks.
 *
 * A system call is a function of the thread and six arguments. It returns Linux's result (negative errno for failure),
 * or SYSCALL_RETRY after it has put the thread to sleep: then the same call is made again when the thread wakes, and
 * must find out itself what happened. SYSCALL_NO_RESULT means that it has set the registers itself. */
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
#include "guest/signal.h"
#include "guest/timer.h"

#define SYSCALL_RETRY     INT64_C(-512) /* never seen by the guest */
#define SYSCALL_NO_RESULT INT64_C(-513)

#define GUEST_RELEASE "6.12.0" /* of the Linux that the guest sees, in uname and /proc */

typedef int64_t syscall_fn(struct thread *t, const uint64_t a[6]);

struct thread {
    struct hart hart;
    struct process *process;
    int tid;
    struct thread *next;     /* by tid */
    bool exited;             /* to be freed when the scheduler meets it */
    int64_t slice_insns;     /* left of its turn */
    struct call call;        /* the system call that it is in */
    struct pollfd *poll_fds; /* what call.fd_count counts; poll_room of them allocated */
    unsigned poll_room;
    uint64_t io_bytes; /* transferred by the call in progress before it went to sleep */
    uint64_t blocked;  /* signals */
    struct signal_queue pending;
    struct signal_stack signal_stack;
    uint64_t clear_tid_addr; /* zeroed and woken when it exits, or 0 */
    uint64_t robust_list;    /* guest address of its list of robust futexes, or 0 */
    int vfork_fd;            /* while it waits for a vfork child: the pipe from it, else -1 */
    int vfork_pid;           /* that child */
    char name[16];           /* PR_SET_NAME */
};

struct process {
    struct process_config config;
    struct guest_memory *memory;
    struct files *files;
    struct random random; /* getrandom and /dev/urandom draw from here */
    char exe[PATH_MAX];   /* guest path of the program, for /proc/self/exe */
    char *cmdline;        /* argv joined by zeros, for /proc/self/cmdline */
    size_t cmdline_bytes;
    uint64_t env_start, env_end; /* guest addresses of the strings of its first environment, for /proc/self/environ */
    int pid, ppid;               /* as the guest sees them */

    struct thread *threads;  /* by tid; at least one until the process has ended */
    struct thread *current;  /* whose turn it is */
    uint64_t retired_insns;  /* by all threads of this process since it was forked */
    uint64_t offset_ns;      /* guest time minus retired_insns: slept, or spent before the fork */
    uint64_t futex_sequence; /* of the last wait */
    struct timer timers[TIMER_COUNT];
    unsigned timers_armed; /* how many of them; mostly 0 */

    struct signal_action actions[SIGNAL_MAX + 1]; /* by signal number */
    uint64_t ignored;                             /* signals whose action, given or default, is to do nothing */
    struct signal_queue pending;                  /* for any thread */
    uint64_t trampoline;                          /* guest address of the code that calls rt_sigreturn */

    struct family *family;   /* shared with all processes of the run */
    struct member *member;   /* this one's entry */
    bool is_child;           /* forked by another process of the run */
    uint64_t children_insns; /* by children that were reaped, and by theirs */
    int64_t turn_insns;      /* left of its turn among the processes */
    uint32_t seen_changes;   /* family.changes when it last looked */
    struct inherited_files inherited;
    int vfork_done_fd; /* the vfork parent waits for the end of this pipe, or -1 */
    uint64_t vfork_sp; /* the parent's stack pointer, with vfork_done_fd */

    struct shadow *shadow; /* what it may not touch, if it is a copy that goes on without a trace; else NULL */

    uint64_t loader_start, loader_end; /* where the dynamic loader is mapped, or an empty range */
    bool loader_failed;                /* see process_loader_failed */
    bool ended;
    int exit_code, exit_signal; /* one of them, once ended */
    struct rlimit limits[RLIM_NLIMITS];
    int nice;
    uint32_t personality;
    uint64_t missing_named[8]; /* bits by number: system calls that were already named as missing */
};

/* A process with one thread and without a program, for those who fill it. */
struct process *process_new_empty(const struct process_config *config, struct error *err) MUST_CHECK;

/* Ends the process with an exit code, or by a signal if that is not 0. */
void process_end(struct process *p, int code, int signal);

/* How a call that would block on descriptors waits, other threads running meanwhile. `fds` are host descriptors as for
 * poll(2) and get their revents; timeout in ns, negative for none. Returns the number ready, 0 after the timeout,
 * -EINTR for a signal, or SYSCALL_RETRY, which the caller passes on. */
int64_t thread_poll(struct thread *t, struct pollfd *fds, unsigned count, int64_t timeout_ns);

uint64_t process_time_ns(const struct process *p);       /* CLOCK_MONOTONIC of the guest */
uint64_t process_wall_clock_ns(const struct process *p); /* CLOCK_REALTIME: a fixed date plus the monotonic clock */

#endif
