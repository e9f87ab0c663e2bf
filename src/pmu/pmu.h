/* Counters that count events exactly, with the filters and conditions of their specifications (event_spec.h).
 *
 * A counter of plain values costs nothing: it is the difference of numbers that the simulator keeps anyway. A filter by
 * address or class examines every instruction; an edge or a threshold examines every cycle.
 *
 * The condition of an edge or a threshold is that the value of the event is at least the threshold (1 if none is
 * given), or less with `inv`. An edge counts the cycles in which the condition begins to hold, a threshold the cycles
 * in which it holds.
 *
 * A counter may be restricted to one privilege mode: it counts nothing in other modes, nor edges that begin there. An
 * event of the memory system belongs to the mode in which it happens; a store may leave the store buffer in a later
 * mode than that of its instruction.
 *
 * A counter of the marked process counts nothing while the process has no mark (process_is_marked). */
#ifndef CYCLESCOPE_PMU_PMU_H
#define CYCLESCOPE_PMU_PMU_H

#include "sim/simulate.h"
#include "pmu/event_spec.h"

/* Called when a counter grows by `amount`. `v` is the instruction that caused it, or NULL if unknown. */
typedef void pmu_counted(void *context, size_t counter, uint64_t amount, const struct insn_view *v);

struct pmu;

/* One counter per spec. The specs belong to the caller and must outlive the PMU; NULL: no counters. `counted` may be
 * NULL. */
struct pmu *pmu_new(const struct event_specs *specs, pmu_counted *counted, void *context, struct error *err) MUST_CHECK;
void pmu_free(struct pmu *p);

/* The observer that counts; its context is the PMU. A caller that observes more adds callbacks to a copy: they get
 * their own context from pmu_owner, and a `begin` must call pmu_attach. A caller that adds callbacks of instructions
 * must not leave `strides` at STRIDES_ONLY. */
const struct core_observer *pmu_observer(struct pmu *p);
void *pmu_owner(const struct pmu *p); /* the context of `counted` */
void pmu_attach(struct pmu *p, struct core *c, const struct core_counts *live);
const struct simulation_sum *pmu_sum(struct pmu *p);

/* Current value of a counter. */
uint64_t pmu_value(struct pmu *p, size_t counter);

/* ---- counters that are programmed while the core runs (machine_pmu.h). To be called with nothing in flight. */

/* `count` counters that are not programmed yet. */
struct pmu *pmu_new_bank(size_t count, struct error *err) MUST_CHECK;
/* Makes a counter count `s`, or nothing if NULL or if the call fails. The value of the counter does not change. The
 * spec belongs to the caller and must outlive its use. The content of pmu_observer may change. */
int pmu_program(struct pmu *p, size_t counter, const struct event_spec *s, struct error *err) MUST_CHECK;
void pmu_set_value(struct pmu *p, size_t counter, uint64_t value);
void pmu_halt(struct pmu *p, size_t counter, bool halted); /* pauses or resumes counting */
/* Whether a counter needs callbacks of instructions. */
bool pmu_needs_insns(const struct pmu *p, size_t counter);
/* A number of cycles, at least 1, within which a counter cannot overflow 2^64 while the mode does not change;
 * UINT64_MAX if it does not count. */
uint64_t pmu_lasts(const struct pmu *p, size_t counter);

/* Whether a counter is equal to one count of the simulator, without filters and conditions. */
bool pmu_is_plain(const struct pmu *p, size_t counter);
/* That count; only if pmu_is_plain, after pmu_attach. */
const uint64_t *pmu_plain_count(const struct pmu *p, size_t counter);

/* Whether this retiring instruction is an event of the counter; false if its events do not belong to instructions. */
bool pmu_matches(const struct pmu *p, size_t counter, const struct insn_view *v);

/* Whether this counts all cycles, without a threshold or edge. */
bool pmu_counts_cycles(const struct event_spec *s);

#endif
