/* Guest signals: what is pending, what is blocked, what a signal does, and the frame that a handler runs on.
 *
 * Signal n is bit n-1 of a 64-bit set, as in Linux. siginfo_t has the same layout on x86-64 and riscv64, so the host's
 * type is used. Signals of the host reach the guest with the same number: the host process ignores what the guest
 * ignores and has a handler for all others that only records (host_signal.c); the record is taken in when the engine
 * next returns. SIGSEGV and SIGBUS of the host belong to the engine and are not forwarded.
 *
 * Limits: at most SIGNAL_QUEUE_MAX signals wait in a queue; signals from outside with the same number that arrive
 * before the guest sees the first are merged, real-time ones too. */
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
    uint64_t handler; /* guest address, or 0 for the default, or 1 to ignore */
    uint64_t flags;   /* SA_ flags */
    uint64_t mask;    /* blocked as well while the handler runs */
};

struct pending_signal {
    struct pending_signal *next;
    siginfo_t info;
};

struct signal_queue {
    uint64_t set;                 /* signals that occur in the list */
    struct pending_signal *first; /* oldest first */
    unsigned count;
};

struct signal_stack {
    uint64_t sp, size;
    int flags; /* SS_DISABLE, SIGNAL_STACK_AUTODISARM */
};

#define SIGNAL_STACK_AUTODISARM INT32_MIN /* Linux's SS_AUTODISARM, which the C library does not name */

enum { SIGNAL_FRAME_BYTES = 1088 }; /* siginfo and ucontext; see signal_frame.c */

/* To one thread, or to the process if `t` is NULL. 0, or -EAGAIN when the queue is full. */
int signal_send(struct process *p, struct thread *t, const siginfo_t *info);
void signal_send_kernel(struct process *p, int sig);                 /* SI_KERNEL, to the process */
void signal_child_changed(struct process *p, const siginfo_t *info); /* SIGCHLD, and whoever waits for a child */
/* For a fault of `t` itself: kills if the signal is blocked or ignored. */
void signal_force(struct thread *t, int sig, int code, uint64_t addr);

bool signal_deliverable(const struct thread *t); /* something that ends a sleep is waiting */
/* Acts on what is pending for a thread that is about to run: enters handlers, stops, ends the process. Decides what
 * becomes of an interrupted call. */
void signal_deliver(struct thread *t);
/* Takes the oldest pending signal of `set` out of the queues of thread and process; 0 if there is none. */
int signal_take(struct thread *t, uint64_t set, siginfo_t *info);
uint64_t signal_pending(const struct thread *t);
void signal_queue_clear(struct signal_queue *q);
void signal_set_action(struct process *p, int sig, const struct signal_action *action);

void signal_set_blocked(struct thread *t, uint64_t set);
/* For ppoll and its kin: `mask_addr` (0: none) names a set of `size` bytes to block until the call ends; if a handler
 * ends the call, the old set returns after the handler. May be repeated when the call is made again. 0, -EFAULT,
 * -EINVAL. */
int signal_set_call_mask(struct thread *t, uint64_t mask_addr, uint64_t size) MUST_CHECK;
void signal_replace_mask(struct thread *t, uint64_t set); /* the same with a set in hand */
void signal_reset_for_exec(struct process *p);

bool signal_stack_in_use(const struct thread *t, uint64_t sp);
bool signal_push_frame(struct thread *t, const siginfo_t *info, const struct signal_action *action,
                       uint64_t mask) MUST_CHECK; /* false if the stack cannot take it */
bool signal_pop_frame(struct thread *t) MUST_CHECK;

/* host_signal.c: the host's side. One process at a time receives the host's signals. */
void host_signal_start(struct process *p);
void host_signal_stop(void);                                            /* gives the host's handlers back */
void host_signal_follow(const struct process *p, int sig, bool ignore); /* ignore it on the host, or record it */
void host_signal_forget(void);                      /* in a forked child: what came before is not its own */
void host_signal_block_tty(const struct thread *t); /* before a call: SIGTTIN and SIGTTOU as the guest has them */
void host_signal_stop_self(int sig);                /* stops this host process as SIGTSTP and its kin do by default */
bool host_signal_waiting(void);
void host_signal_collect(struct process *p); /* moves what was recorded to the guest's queues */

#endif
