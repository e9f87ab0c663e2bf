/* Turns on one core that several host processes share: one process per program, and the coordinator that waits for
 * all of them.
 *
 * One program holds the core. The others sleep on the host until they receive it, in the order of their numbers, so a
 * run repeats exactly. The core's state (core.h) lies in the shared memory of the turns and passes on with the core.
 * The program that holds the core may request a visit: the coordinator does some work while all programs stand still.
 *
 * Limits: a program that waits for the outside world keeps the core. */
#ifndef CYCLESCOPE_SIM_TURNS_H
#define CYCLESCOPE_SIM_TURNS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct turns;

/* Allocates the shared memory; call it before the programs' processes are forked. NULL when it cannot be mapped. */
struct turns *turns_new(unsigned programs, size_t state_bytes, struct error *err) MUST_CHECK;
void turns_free(struct turns *t);
void *turns_state(struct turns *t); /* the shared copy of the core's state, state_bytes long */

/* ---- for the coordinator */
void turns_begin(struct turns *t); /* gives the core to program 0 */
/* Sleeps until turns_ring is called or the time is over. True: a program requests a visit. */
bool turns_wait(struct turns *t, unsigned milliseconds);
void turns_end_visit(struct turns *t); /* wakes the program that requested the visit */

/* ---- for programs, by number */
bool turns_take(struct turns *t, unsigned program);        /* waits for the turn; true: another program had the last */
bool turns_alone(const struct turns *t, unsigned program); /* all other programs have ended */
void turns_pass(struct turns *t, unsigned program);        /* gives the core to the next program that has not ended */
void turns_end(struct turns *t, unsigned program);         /* passes for good; allowed before the first turn */
void turns_request_visit(struct turns *t);                 /* sleeps until the coordinator calls turns_end_visit */
void turns_ring(struct turns *t);                          /* wakes the coordinator */

#endif
