/* How the threads of a process share one hart, and how a system call sleeps.
 *
 * Threads take turns in the order of their ids, each for the quantum of the process. A system call that cannot finish
 * describes in the thread's `struct call` what it waits for and returns SYSCALL_RETRY; when any of that happens the
 * thread becomes runnable and the call is made again. A wake-up is only a hint: the call looks for itself.
 *
 * Processes take turns likewise (baton.h). When every thread of every process sleeps and nothing outside can wake one,
 * guest time jumps to the next deadline and costs no host time. While one waits for something outside (a terminal, a
 * socket), the host's clock paces the guest's: a wait that ends early takes no guest time, one that runs into a
 * deadline takes all of it. */
#ifndef CYCLESCOPE_GUEST_SCHED_H
#define CYCLESCOPE_GUEST_SCHED_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

struct process;
struct thread;

#define NEVER UINT64_MAX /* a deadline that does not come */

struct futex_wait {
    bool waiting;      /* in a queue; a waker takes it out */
    bool woken;        /* by a waker, as opposed to a deadline or a signal */
    bool shared;       /* on memory that another process may change without telling us */
    uint64_t addr;     /* guest address of the word; a requeue changes it */
    uint32_t value;    /* what the word held when the wait began */
    uint32_t bitset;   /* only a wake with a common bit counts */
    uint64_t sequence; /* first come, first woken */
};

/* The system call that a thread is in; all zero, with no deadline, outside of one. */
struct call {
    bool begun;       /* made at least once, to be made again when the thread runs */
    bool asleep;      /* not runnable until something below happens */
    bool interrupted; /* gave -EINTR; signal delivery decides whether it restarts or fails */
    bool deaf;        /* signals do not end the sleep */
    bool child;       /* a change of state of a child ends it */
    uint64_t sigwait; /* signals that end it although they are blocked (rt_sigtimedwait) */
    bool mask_saved;  /* `saved_mask` is the mask to return to (ppoll, sigsuspend) */
    uint64_t saved_mask;
    uint64_t deadline_ns; /* on the guest's clock, set once in the life of a call, or NEVER */
    unsigned fd_count;    /* of thread.poll_fds; any of these ready ends the sleep */
    struct futex_wait futex;
};

void call_reset(struct thread *t); /* forgets the call in progress and its state */

/* Puts the thread to sleep until `deadline_ns`, or, on a later try, until the deadline of the first. Returns
 * SYSCALL_RETRY, or -EINTR if a signal is waiting to be handled. */
int64_t call_sleep(struct thread *t, uint64_t deadline_ns);
bool call_timed_out(const struct thread *t);
void thread_wake(struct thread *t);

/* The next thread to run with its hart's budget set, or NULL when the process has ended. */
struct thread *sched_next(struct process *p);
void sched_retired(struct thread *t); /* accounts for what the engine retired */
void sched_wake_child_waiters(struct process *p);

struct thread *thread_new(struct process *p, int tid); /* appended to the process; NULL without memory */
void thread_free_others(struct process *p, const struct thread *keep); /* `keep` may be NULL */
struct thread *thread_by_tid(const struct process *p, int tid);

#endif
