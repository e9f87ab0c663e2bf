/* Processes take turns, so that a run of several repeats exactly, as one of several threads does.
 *
 * One process of the family holds the baton and runs guest code; the others sleep on the host until they are given it.
 * It goes round in the order in which the processes were made: when its holder has used up its turn, has nothing to do,
 * stops or ends. The guest's clock goes with it, so all processes have the same time. A holder that finds nothing
 * to do passes it on; when it has gone all the way round like that, time jumps to the earliest deadline, or, if
 * something outside of the family is waited for, the host's clock paces the guest's in steps of BATON_TICK_NS.
 *
 * What one process does to another (data in a pipe, a signal, its end) is complete on the host before the baton goes
 * on, so that the next holder is certain to see it.
 *
 * With --host-time nobody needs the baton and all run at once. Limits: a member that is killed from outside
 * is missed only after BATON_PATIENCE_MS. */
#ifndef CYCLESCOPE_GUEST_BATON_H
#define CYCLESCOPE_GUEST_BATON_H

#include <signal.h>

#include "guest/family.h"

struct process;

enum { BATON_TURN_QUANTA = 10, BATON_PATIENCE_MS = 200 }; /* a turn in quanta of instructions */
#define BATON_TICK_NS UINT64_C(2000000)

void baton_join(struct family *f, struct member *m);  /* takes turns from now on, after all others */
void baton_leave(struct family *f, struct member *m); /* no longer; not for the holder itself */

bool baton_alone(const struct process *p); /* nobody else takes turns, or turns do not matter */
void baton_take(struct process *p);        /* waits for the turn; sees what happened meanwhile */
void baton_pass(struct process *p);        /* to the next; the caller may not run guest code until it takes it again */
/* The holder has nothing to do until `deadline_ns`. True if nobody else has, either, and it is to wait for all: until
 * `*until_ns` on the guest's clock, or as long as the host's events take if `*outside`. */
bool baton_idle(struct process *p, uint64_t deadline_ns, bool outside, uint64_t *until_ns, bool *any_outside);

void baton_end(struct process *p);           /* the holder has ended: leaves, and passes it on for good */
void baton_stop(struct process *p, int sig); /* stops this host process by a signal and takes the baton afterwards */
/* The holder sends a signal to a member: what stops, continues or kills takes effect before this returns. With SI_QUEUE
 * the member gets all of `info`. 0 or a negative errno. */
int baton_signal(struct process *p, struct member *to, const siginfo_t *info);

#endif
