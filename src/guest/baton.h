/* Guest processes take turns, so that a run with several processes repeats exactly.
 *
 * One process of the family (family.h) holds the baton and runs guest code. All others sleep on the host until they
 * receive the baton. The holder passes the baton to the next process of a ring, in order of creation, when the holder
 * has used up its turn, has no runnable thread, stops or ends. The guest's clock travels with the baton, so all
 * processes have the same time. When the baton has gone around the whole ring and no process could run, guest time
 * jumps to the earliest deadline. If a process waits for an event from outside of the family, the host's clock paces
 * the guest's clock instead, in steps of BATON_TICK_NS.
 *
 * Effects of one process on another (data in a pipe, a signal, the end of a process) are complete on the host before
 * the baton moves, so the next holder always observes them.
 *
 * With --host-time there are no turns: all processes run concurrently and the baton is not used.
 * Limits: if the holder is killed from outside of the run, the other processes notice only after BATON_PATIENCE_MS. */
#ifndef CYCLESCOPE_GUEST_BATON_H
#define CYCLESCOPE_GUEST_BATON_H

#include <signal.h>

#include "guest/family.h"

struct process;

enum {
    BATON_TURN_QUANTA = 10,  /* length of a turn of one process, in quanta of instructions */
    BATON_PATIENCE_MS = 200, /* after this time without the baton, a process checks whether the holder is still alive */
};
#define BATON_TICK_NS UINT64_C(2000000) /* see above */

/* Adds a member at the end of the ring. Gives the member the baton if nobody holds it. */
void baton_join(struct family *f, struct member *m);
/* Removes a member from the ring. Does not pass the baton on: a holder that leaves must do that (baton_end). */
void baton_leave(struct family *f, struct member *m);

bool baton_alone(const struct process *p); /* no other process takes turns, or the run uses --host-time */
/* Waits for the baton. Then reports changes of children's states to this process and sets its clock and its turn. */
void baton_take(struct process *p);
/* Gives the baton to the next process. The caller may not run guest code until it has called baton_take. */
void baton_pass(struct process *p);
/* The holder calls this when no thread of it can run before `deadline_ns`; `outside` says that an event from outside of
 * the family may wake a thread earlier. If another process may still be able to run, passes the baton on, takes it
 * again and returns false. Returns true if no process can run: then the caller waits on behalf of all processes, until
 * `*until_ns` on the guest's clock, the earliest deadline, or for an event of the host if `*any_outside`. */
bool baton_idle(struct process *p, uint64_t deadline_ns, bool outside, uint64_t *until_ns, bool *any_outside);

void baton_end(struct process *p);           /* the holder has ended: leaves the ring and gives the baton away */
void baton_stop(struct process *p, int sig); /* stops this host process by `sig`; takes the baton once continued */
/* The holder sends a signal to a member. If the signal stops, continues or kills the member, that has taken effect when
 * the function returns. With SI_QUEUE the member receives all of `info`. Returns 0 or a negative errno. */
int baton_signal(struct process *p, struct member *to, const siginfo_t *info);

#endif
