/* What one process does of a simulation, which is all of it unless programs take turns on the core (programs.h). */
#ifndef CYCLESCOPE_CORE_SIMULATE_PRIV_H
#define CYCLESCOPE_CORE_SIMULATE_PRIV_H

#include "core/simulate.h"
#include "core/turns.h"
#include "emulate/engine.h"

_Static_assert(sizeof(struct simulation_counts) % sizeof(uint64_t) == 0, "counts are a row of numbers");
enum { COUNTS = sizeof(struct simulation_counts) / sizeof(uint64_t) };

/* Numbers that processes share, from here on, those of simulation.sum following. */
enum shared { SHARED_COUNTS, SHARED_CUT = COUNTS, SHARED_SUM };
size_t part_numbers(const struct simulation *s); /* how many that are */

/* One process's part of a simulation. */
struct part {
    struct process *process;
    const struct simulation *s;
    struct core *core;
    struct simulation_counts start; /* when measuring began, or when this process was forked */
    uint64_t *of_children;          /* shared with them: the sum of what they measured, by enum shared */
    bool is_child;
    struct turns *turns;            /* on the core, or NULL: it is its own */
    unsigned program;               /* its number there */
    struct firmware_copy *firmware; /* for a process that is about to be forked */
};

/* Loads the firmware, if there is any, into memory that is shared or not, and lets the caller prepare it. */
int simulation_boot(struct core *c, const struct simulation *s, bool shared, struct error *err) MUST_CHECK;

/* A core of its own for the process, with firmware if there is any. To be freed if it returns 0. */
int part_new(struct part *part, struct process *p, const struct simulation *s, struct error *err) MUST_CHECK;
void part_free(struct part *part);

bool part_asks_for_strides(const struct simulation *s); /* its observer wants to be told of stride predictors */

/* Runs threads on an engine until `insns` instructions are done or the process ends; returns how many were. */
uint64_t part_run_functionally(struct part *part, const struct engine *engine, struct engine_state *e, uint64_t insns);
/* What is on the core: warm-up, and what is measured. */
int part_measure(struct part *part, struct simulation_result *r, struct error *err) MUST_CHECK;

/* With turns it takes them, and leaves the core's state when it is done; the caller ends them. */
int part_run(struct part *part, struct simulation_result *r, struct error *err) MUST_CHECK;
void part_hand_to_parent(struct part *part, bool cut); /* what this process has measured: in one that was forked */
void part_add_children(struct part *part, struct simulation_result *r);

#endif
