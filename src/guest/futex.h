/* Futexes: threads sleep on words of guest memory. Waiters are woken in the order in which they began to wait.
 *
 * A process keeps only its own threads in its queues, so a wake in another process cannot reach them. A wait on memory
 * that is shared with other processes therefore also ends when the scheduler (sched.c) finds the word changed. */
#ifndef CYCLESCOPE_GUEST_FUTEX_H
#define CYCLESCOPE_GUEST_FUTEX_H

#include "guest/process_priv.h"

/* Wakes up to `count` waiters on `addr` that have a bit in common with `bitset`. Returns the number woken. */
int futex_wake(struct process *p, uint64_t addr, uint32_t count, uint32_t bitset);
/* Marks the robust futexes that the thread holds with FUTEX_OWNER_DIED and wakes one waiter of each. */
void futex_release_robust(struct thread *t);

#endif
