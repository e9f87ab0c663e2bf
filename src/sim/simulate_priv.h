/* One process's share of a simulation. It is the whole simulation unless several programs take turns on the core
 * (programs.h). */
#ifndef CYCLESCOPE_SIM_SIMULATE_PRIV_H
#define CYCLESCOPE_SIM_SIMULATE_PRIV_H

#include "sim/simulate.h"
#include "sim/turns.h"
#include "emulate/engine.h"

_Static_assert(sizeof(struct simulation_counts) % sizeof(uint64_t) == 0, "counts are a row of numbers");
enum { COUNTS = sizeof(struct simulation_counts) / sizeof(uint64_t) };

/* Layout of the row of numbers that a process shares with its children: indices at which each part begins. The numbers
 * of simulation.sum start at SHARED_SUM. */
enum shared { SHARED_COUNTS, SHARED_CUT = COUNTS, SHARED_SUM };
size_t sim_process_numbers(const struct simulation *s); /* length of that row */

struct sim_process {
    struct process *process;
    const struct simulation *s;
    struct core *core;
    struct simulation_counts start; /* counts when measuring began, or when this process was forked */
    uint64_t *of_children;          /* shared memory: the sum of the children's measurements, by enum shared */
    bool is_child;                  /* the guest forked this process */
    bool marked;                    /* process_is_marked as `s->sum` knows it */
    struct turns *turns;            /* NULL: this process has the core to itself */
    unsigned program;               /* number of the program in `turns` */
    struct firmware_copy *firmware; /* copy for a child, made before a system call that may fork; else NULL */
};

/* Loads the firmware, if any, and calls the `prepare` hook. `shared`: processes that are forked later share its
 * memory. */
int simulation_boot(struct core *c, const struct simulation *s, bool shared, struct error *err) MUST_CHECK;

/* Gives the process a core of its own, with firmware if there is any. If it returns 0, call sim_process_free. */
int sim_process_new(struct sim_process *proc, struct process *p, const struct simulation *s,
                    struct error *err) MUST_CHECK;
void sim_process_free(struct sim_process *proc);

bool sim_process_wants_strides(const struct simulation *s); /* the observer wants results of stride predictors */

/* Runs threads on an engine until `insns` instructions have retired or the process ends; returns how many retired. */
uint64_t sim_process_run_functionally(struct sim_process *proc, const struct engine *engine, struct engine_state *e,
                                      uint64_t insns);
/* Runs warm-up and the measured part on the core. */
int sim_process_measure(struct sim_process *proc, struct simulation_result *r, struct error *err) MUST_CHECK;

/* Skips, then measures. With turns, takes them, and at the end puts the core's state back; the caller calls
 * turns_end. */
int sim_process_run(struct sim_process *proc, struct simulation_result *r, struct error *err) MUST_CHECK;
/* In a process that the guest forked: adds its measurements to the row that its parent reads. */
void sim_process_hand_to_parent(struct sim_process *proc, bool cut);
/* In the parent: adds the children's measurements to its own. */
void sim_process_add_children(struct sim_process *proc, struct simulation_result *r);

#endif
