/* Guest signals: queues of pending signals, blocked signals, actions, delivery, and the stack frame of a handler.
 *
 * Signal n is bit n-1 of a 64-bit set, as in Linux. siginfo_t has the same layout on x86-64 and riscv64, so the host's
 * type is used. A signal that the host process receives is forwarded to the guest with the same number: the host
 * process ignores the signals that the guest ignores, and records all others in a handler (host_signal.c). The
 * scheduler moves recorded signals to the guest's queues when the engine next returns. SIGSEGV and SIGBUS belong
 * to the engine, which forwards those that were sent by a process.
 *
 * Limits: a queue holds at most SIGNAL_QUEUE_MAX signals. Host signals with the same number that arrive before the
 * guest sees the first are merged, including real-time signals. */
#ifndef CYCLESCOPE_GUEST_SIGNAL_H
#define CYCLESCOPE_GUEST_SIGNAL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct process;
struct thread;

enum { SIGNAL_REALTIME = 32, SIGNAL_MAX = 64, SIGNAL_QUEUE_MAX = 1024 };

static inline uint64_t signal_bit(int sig)
{
    return UINT64_C(1) << (sig - 1);
}

struct signal_action {
    uint64_t handler; /* guest address of the handler; 0: default action, 1: ignore */
    uint64_t flags;   /* SA_ flags */
    uint64_t mask;    /* set of signals that are also blocked while the handler runs */
};

struct pending_signal {
    struct pending_signal *next;
    siginfo_t info;
};

struct signal_queue {
    uint64_t set;                 /* set of signal numbers that occur in the list */
    struct pending_signal *first; /* list, oldest signal first */
    unsigned count;               /* length of the list */
};

/* Alternate stack for handlers (sigaltstack). */
struct signal_stack {
    uint64_t sp, size; /* lowest guest address and size in bytes */
    int flags;         /* SS_DISABLE, SIGNAL_STACK_AUTODISARM */
};

#define SIGNAL_STACK_AUTODISARM INT32_MIN /* Linux's SS_AUTODISARM, which the C library does not define */

enum { SIGNAL_FRAME_BYTES = 1088 }; /* size of siginfo and ucontext on the stack; see signal_frame.c */

/* Sends a signal to thread `t`, or to the process if `t` is NULL. 0, or -EAGAIN if the queue is full. */
int signal_send(struct process *p, struct thread *t, const siginfo_t *info);
void signal_send_kernel(struct process *p, int sig); /* sends a signal with SI_KERNEL to the process */
/* A child ended, stopped or continued: wakes the threads that wait for children, reaps if the guest ignores SIGCHLD,
 * and sends `info`, a SIGCHLD, as the guest's action demands. */
void signal_child_changed(struct process *p, const siginfo_t *info);
/* Sends a signal for a fault of `t`, with fault address `addr`. Ends the process if the signal is blocked, ignored or
 * has no handler. */
void signal_force(struct thread *t, int sig, int code, uint64_t addr);

bool signal_deliverable(const struct thread *t); /* a pending signal ends the thread's sleep */
/* Delivers the pending signals of a thread that is about to run: enters handlers, stops or ends the process. Decides
 * whether an interrupted system call restarts or fails with -EINTR. */
void signal_deliver(struct thread *t);
/* Removes a pending signal of `set` from the queues of the thread and of the process: signals of faults first, then the
 * lowest number, then the oldest. Returns its number, or 0 if none is pending. */
int signal_take(struct thread *t, uint64_t set, siginfo_t *info);
uint64_t signal_pending(const struct thread *t); /* set of signals pending for the thread or for the process */
void signalfd_refresh(struct process *p); /* sys_signalfd.c: makes signalfds readable iff their signals are pending */
void signalfd_forked(struct process *p);  /* makes the signalfds of a forked child its own */
void signal_queue_clear(struct signal_queue *q);
void signal_set_action(struct process *p, int sig, const struct signal_action *action);

void signal_set_blocked(struct thread *t, uint64_t set); /* SIGKILL and SIGSTOP are never blocked */
/* For ppoll, pselect6 and similar calls: blocks the set of `size` bytes at guest address `mask_addr` (0: no change)
 * until the call ends. If a handler ends the call, the old set is restored after the handler. Does nothing when the
 * call is retried. 0, -EFAULT or -EINVAL. */
int signal_set_call_mask(struct thread *t, uint64_t mask_addr, uint64_t size) MUST_CHECK;
void signal_replace_mask(struct thread *t,
                         uint64_t set);        /* like signal_set_call_mask, for a set that is already read */
void signal_reset_for_exec(struct process *p); /* removes handlers and alternate stacks */

bool signal_stack_in_use(const struct thread *t, uint64_t sp); /* `sp` lies in the thread's alternate stack */
/* Writes the frame for a handler to the stack and sets the registers to enter the handler. `mask` is the set to block
 * after the handler returns. False if the stack has no room. */
bool signal_push_frame(struct thread *t, const siginfo_t *info, const struct signal_action *action,
                       uint64_t mask) MUST_CHECK;
bool signal_pop_frame(struct thread *t) MUST_CHECK; /* rt_sigreturn; false if the frame cannot be read */

/* host_signal.c: signals that the host process receives. They go to one guest process at a time. */
void host_signal_start(struct process *p); /* installs the handlers; what the caller ignores does not end the guest */
void host_signal_stop(void);               /* restores the handlers and the mask of before host_signal_start */
/* Ignores a signal on the host, or records it in a handler. Called when the guest changes the action of the signal. */
void host_signal_follow(const struct process *p, int sig, bool ignore);
/* For the fault handlers of engines: records a SIGSEGV or SIGBUS that a process has sent, for the guest. False: it is a
 * fault of this process. */
bool host_signal_sent(int sig, const siginfo_t *info);
void host_signal_forget(void); /* drops recorded signals, which in a forked child are the parent's */
void host_signal_block_tty(const struct thread *t); /* before a call: blocks SIGTTIN and SIGTTOU iff the guest does */
void host_signal_stop_self(int sig);                /* stops this host process by the default action of `sig` */
bool host_signal_waiting(void);                     /* a signal has been recorded */
void host_signal_collect(struct process *p);        /* moves recorded signals to the guest's queues */
int host_signal_interrupts(void); /* a recorded signal that asks the guest to end (process_interruption), or 0 */

#endif
