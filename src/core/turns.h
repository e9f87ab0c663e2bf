/* Turns on a core that several host processes share, one for each program, and the process that waits for them all.
 *
 * One program has the core; the others sleep on the host until they are given it, in the order of their numbers, so a
 * run repeats exactly. Beside the turn lies the core's state (core.h), which goes with it. A program that has the core
 * may ask the process that waits to come and look at something (a visit), and stands still meanwhile.
 *
 * Limits: a program that waits for the outside world keeps the core. */
#ifndef CYCLESCOPE_CORE_TURNS_H
#define CYCLESCOPE_CORE_TURNS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct turns;

struct turns *turns_new(unsigned programs, size_t state_bytes, struct error *err) MUST_CHECK; /* before forking */
void turns_free(struct turns *t);
void *turns_state(struct turns *t);

/* ---- for the process that waits */
void turns_begin(struct turns *t);                       /* it is the first program's turn */
bool turns_wait(struct turns *t, unsigned milliseconds); /* for a bell; whether a visit is asked for */
void turns_visited(struct turns *t);                     /* the program goes on */

/* ---- for programs, by number */
bool turns_take(struct turns *t, unsigned program);        /* waits; whether another one had the core before */
bool turns_alone(const struct turns *t, unsigned program); /* all others have ended */
void turns_pass(struct turns *t, unsigned program);
void turns_end(struct turns *t, unsigned program); /* passes for good; also without having had the turn ever */
void turns_visit(struct turns *t);
void turns_ring(struct turns *t); /* something of interest has happened */

#endif
