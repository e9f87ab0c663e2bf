/* Several programs that share one core, in turns of simulation.turn_cycles.
 *
 * Each program is a process as if it were alone: with its own ids, time, memory and folders, and the same instructions.
 * Of the core it has what the others leave of it: caches, TLBs, predictors, bus and time are one for all. A turn ends
 * between two instructions; what is in flight retires, and stores leave their buffer, which is part of the turn.
 * Firmware is told of every switch (machine.h).
 *
 * simulation.skip_insns, .warmup_insns and .max_insns hold for each program by itself: all skip, one after the other,
 * before the first runs on the core; each is measured from where its own warm-up ends; one that has reached its end
 * leaves the core to the others. What processes that a program forks do is its own, and has copies of the core.
 *
 * Each program runs in a host process of its own, forked from the caller's, which waits: `observer` and `sum` observe
 * and count in each of them apart. Firmware's memory is one for all. simulation.beside's `prepare` and `drain` are
 * called in the caller's process, with a core that runs nothing: `drain` while all programs stand still, at the end of
 * each and before one has executed 10,000 instructions more than a quantum of its thread. `begin` and `end` are called
 * in each program's process, and change there nothing of the caller's but firmware's memory.
 *
 * Limits: CORE_SPACES programs. A program that waits for the outside world keeps the core. Units that still work on a
 * squashed instruction are free for the next program. */
#ifndef CYCLESCOPE_CORE_PROGRAMS_H
#define CYCLESCOPE_CORE_PROGRAMS_H

#include <limits.h>

#include "core/simulate.h"

struct program_result {
    char program[PATH_MAX]; /* its path in the guest */
    int status;             /* as process_status */
    int signal;             /* that ended it, or 0 */
    bool loader_failed;
    struct simulation_result result;
};

/* Fills a result for each, and a row of simulation.sum's numbers. 0 or a negative code. The caller's process must have
 * no other threads. */
int simulate_programs(const struct process_config *config, unsigned count, const struct simulation *s,
                      struct program_result *results, uint64_t *sums, struct error *err) MUST_CHECK;

#endif
