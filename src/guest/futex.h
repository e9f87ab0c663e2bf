/* Futexes: sleeping on words of guest memory. Waiters are woken in the order in which they came.
 *
 * Only threads of this process are in its queues. A wait on memory that is shared with other processes also ends when
 * the scheduler finds that the word has changed (sched.c), since another process's wake cannot reach it. */
#ifndef CYCLESCOPE_GUEST_FUTEX_H
#define CYCLESCOPE_GUEST_FUTEX_H

#include "guest/process_priv.h"

/* Wakes up to `count` waiters on `addr` that have a bit in common with `bitset`; how many there were. */
int futex_wake(struct process *p, uint64_t addr, uint32_t count, uint32_t bitset);
/* Marks the robust futexes that the thread holds as left by a dead owner and wakes their waiters. */
void futex_release_robust(struct thread *t);

#endif
