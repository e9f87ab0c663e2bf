/* Several programs that share one core and take turns of simulation.turn_cycles.
 *
 * Each program is a process with its own ids, time, memory and folders, and executes the same instructions as when it
 * runs alone. All programs share the core's caches, TLBs, predictors, bus and clock. A turn ends between two
 * instructions: instructions in flight retire and the store buffer drains, and those cycles belong to the turn.
 * Firmware gets an interrupt at every switch (machine.h).
 *
 * simulation.skip_insns, .warmup_insns and .max_insns apply to each program separately. All programs skip, one after
 * the other, before the first one runs on the core. Each program is measured from the end of its own warm-up, and
 * leaves the core to the others when it reaches its end. Processes that a program forks count as part of that program
 * and run on copies of the core.
 *
 * Each program runs in its own host process, forked from the caller's process, which waits. `observer` and `sum`
 * observe and count separately in each of these processes. All programs share firmware's memory. The hooks `prepare`
 * and `drain` of simulation.firmware_hooks are called in the caller's process, with a core that runs nothing. `drain`
 * is called while all programs stand still: at the end of each program, and at the latest when a program has executed
 * 10,000 instructions plus one quantum since the last call. `begin` and `end` are called in each program's process;
 * the caller's process sees none of their writes, except to firmware's memory.
 *
 * Limits: at most CORE_SPACES programs. A program that waits for the outside world keeps the core. Functional units
 * that still work on a squashed instruction are free for the next program. */
#ifndef CYCLESCOPE_SIM_PROGRAMS_H
#define CYCLESCOPE_SIM_PROGRAMS_H

#include <limits.h>

#include "sim/simulate.h"
#include "guest/process.h"

struct program_result {
    char program[PATH_MAX];         /* path in the guest */
    char arguments[ARGUMENTS_KEPT]; /* as from process_arguments; those that do not fit are left out */
    size_t argument_bytes;
    int interrupted; /* as from process_interruption */
    int status;      /* as from process_status */
    int signal;      /* signal that ended the program, or 0 */
    bool loader_failed;
    struct simulation_result result;
};

/* Runs all programs; fills `results` with one result per program, and `sums` with one row of simulation.sum's numbers
 * per program. 0 or a negative code. The caller's process must have no other threads. */
int simulate_programs(const struct process_config *config, unsigned count, const struct simulation *s,
                      struct program_result *results, uint64_t *sums, struct error *err) MUST_CHECK;

#endif
