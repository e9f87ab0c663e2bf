/* Counters: the values of events, cycle by cycle, as specifications shape them (event_spec.h), counted exactly.
 *
 * A counter that counts plain values costs nothing: it is the difference of numbers that the simulator keeps. Filters
 * by address or class ask every instruction; edges and thresholds look at every cycle.
 *
 * The condition of an edge or a threshold is a value of at least the threshold (1 without one), or of less with `inv`;
 * an edge counts the cycles in which it begins to hold, a threshold those in which it holds.
 *
 * Counters may be for one privilege only: what happens in other modes is not counted, edges that begin there neither.
 * An event of the memory system is of the mode in which it happens; a store may leave the store buffer later.
 *
 * Limits: the process that was started is marked; those that it forks are not. */
#ifndef CYCLESCOPE_PMU_PMU_H
#define CYCLESCOPE_PMU_PMU_H

#include "core/simulate.h"
#include "pmu/event_spec.h"

/* A counter grew by so much, because of this instruction if one is known. */
typedef void pmu_counted(void *context, size_t counter, uint64_t amount, const struct insn_view *v);

struct pmu;

/* The specs stay the caller's, as long as the PMU is used, and may be NULL: no counters. `counted` may be NULL. */
struct pmu *pmu_new(const struct event_specs *specs, pmu_counted *counted, void *context, struct error *err) MUST_CHECK;
void pmu_free(struct pmu *p);

/* Its context is the PMU. Who observes more may add functions to a copy, and gets at its own context by pmu_owner; its
 * `begin` calls pmu_attach. Who adds functions of instructions sees to it that `strides` is not STRIDES_ONLY. */
const struct core_observer *pmu_observer(struct pmu *p);
void *pmu_owner(const struct pmu *p); /* the context of `counted` */
void pmu_attach(struct pmu *p, struct core *c, const struct core_counts *live);
const struct simulation_sum *pmu_sum(struct pmu *p);

uint64_t pmu_value(struct pmu *p, size_t counter);

/* ---- counters that are programmed while the core runs (machine_pmu.h). With nothing in flight. */

/* So many counters, none of which counts yet. */
struct pmu *pmu_new_bank(size_t count, struct error *err) MUST_CHECK;
/* From now on the counter counts this, or nothing; its value stays. The spec stays the caller's. If it fails, the
 * counter counts nothing. What pmu_observer says may change. */
int pmu_program(struct pmu *p, size_t counter, const struct event_spec *s, struct error *err) MUST_CHECK;
void pmu_set_value(struct pmu *p, size_t counter, uint64_t value);
void pmu_halt(struct pmu *p, size_t counter, bool halted); /* it stands still */
/* Whether it has to be told of instructions. */
bool pmu_needs_insns(const struct pmu *p, size_t counter);
/* For how many cycles it cannot pass 2^64 as long as the mode stays: 1 or more, UINT64_MAX if it stands still. */
uint64_t pmu_lasts(const struct pmu *p, size_t counter);

/* Whether a counter is one of the simulator's numbers, without any shape or filter; and that number, once attached. */
bool pmu_is_plain(const struct pmu *p, size_t counter);
const uint64_t *pmu_plain_count(const struct pmu *p, size_t counter);

/* Whether this instruction, as it retires, is an event of the counter; false if events do not belong to instructions.
 */
bool pmu_matches(const struct pmu *p, size_t counter, const struct insn_view *v);

/* Whether this counts cycles as such. */
bool pmu_counts_cycles(const struct event_spec *s);

#endif
