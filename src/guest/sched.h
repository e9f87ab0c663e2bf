/* The scheduler: decides which thread of a process runs next, and lets system calls sleep.
 *
 * Threads take turns in ascending order of their ids, each for the quantum of the process. A system call that cannot
 * finish records in the thread's `struct call` which events it waits for, and returns SYSCALL_RETRY. When one of the
 * events occurs, the thread becomes runnable and the call is made again. Wake-ups may be spurious: the call itself
 * checks whether it can finish.
 *
 * Processes take turns too (baton.h). When all threads of all processes sleep and no event from outside of the run can
 * wake one of them, guest time jumps to the next deadline and no host time passes. While a thread waits for an outside
 * event (a terminal, a socket), the host's clock paces the guest's clock: a wait that ends by an event takes no guest
 * time; a wait that ends by its deadline takes the full guest time. */
#ifndef CYCLESCOPE_GUEST_SCHED_H
#define CYCLESCOPE_GUEST_SCHED_H

#include <stdbool.h>
#include <stdint.h>

struct process;
struct thread;

#define NEVER UINT64_MAX /* deadline that is never reached */

struct futex_wait {
    bool waiting;      /* the thread waits on a futex; a wake clears this */
    bool woken;        /* a wake ended the wait, not a deadline or a signal */
    bool shared;       /* the word lies in memory that another process may change */
    uint64_t addr;     /* guest address of the word; a requeue changes it */
    uint32_t value;    /* value of the word when the wait began */
    uint32_t bitset;   /* a wake takes effect only if its bitset has a bit in common */
    uint64_t sequence; /* number of the wait; waiters are woken in this order */
};

/* The system call that a thread is in. Outside of system calls, all fields are zero and the deadline is NEVER. */
struct call {
    bool begun;           /* the call was made at least once and is made again when the thread runs */
    bool asleep;          /* the thread is not runnable until one of the events below occurs */
    bool interrupted;     /* the call returned -EINTR; signal delivery decides whether it restarts or fails */
    bool uninterruptible; /* signals do not end the sleep */
    bool child;           /* a change of state of a child ends the sleep */
    bool ipc_waiting;     /* a change of the family's System V objects ends the sleep */
    uint32_t ipc_seen;    /* number of those changes when the sleep began */
    uint64_t sigwait;     /* set of signals that end the sleep although they are blocked (rt_sigtimedwait) */
    bool mask_saved;      /* `saved_mask` is valid */
    uint64_t saved_mask;  /* set of blocked signals to restore after the call (ppoll, sigsuspend) */
    uint64_t deadline_ns; /* guest time that ends the sleep, or NEVER; set once per call, not at each retry */
    unsigned fd_count;    /* number of thread.poll_fds; a ready one ends the sleep */
    struct futex_wait futex;
};

void call_reset(struct thread *t); /* clears the state of the call in progress */

/* Puts the thread to sleep until `deadline_ns`. If the call has slept before, the deadline of the first sleep stays in
 * effect. Returns SYSCALL_RETRY, or -EINTR if a signal is ready to be delivered. */
int64_t call_sleep(struct thread *t, uint64_t deadline_ns);
bool call_timed_out(const struct thread *t); /* the deadline of the call has passed */
void thread_wake(struct thread *t);

/* Returns the next thread to run, with its hart's budget set, or NULL when the process has ended. May sleep on the
 * host. */
struct thread *sched_next(struct process *p);
void sched_retired(struct thread *t); /* accounts for the instructions that the engine retired since sched_next */
void sched_wake_child_waiters(struct process *p);

struct thread *thread_new(struct process *p, int tid); /* appends a thread to the process; NULL if out of memory */
void thread_free_others(struct process *p, const struct thread *keep); /* frees all threads but `keep` (NULL: all) */
struct thread *thread_by_tid(const struct process *p, int tid);        /* NULL if unknown or exited */

#endif
