/* CPI stacks: where the cycles of a run went, by several accounting methods at once.
 *
 * A method says for each component how many cycles were lost to it; what remains is the base, so that the components of
 * a stack always sum to the cycles. Methods observe the core as counter hardware would (core.h), all of them the same
 * run. They are the rows of method.def: METHODs judge the whole pipeline, VIEWs one stage of it.
 *
 * With an interval of N instructions the run is cut at the end of the cycle in which the N-th, 2 N-th ... instruction
 * retires. Cycles belong to the interval in which they passed, also where a method learns only later what they were
 * lost to; events of naive methods to the one in which they are told, a few cycles late. */
#ifndef CYCLESCOPE_STACKS_STACKS_H
#define CYCLESCOPE_STACKS_STACKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "core/simulate.h"

enum component {
#define COMPONENT(key, label, colour, parent) COMPONENT_##key,
#include "stacks/component.def"
#undef COMPONENT
    COMPONENTS
};

struct component_row {
    const char *key, *label;
    uint32_t colour; /* 0xrrggbb */
    enum component parent;
};

extern const struct component_row component_rows[COMPONENTS];

/* Accounting methods and views. */
enum stack_kind {
#define METHOD(name, help) STACK_##name,
#define VIEW(name, help)   STACK_##name,
#include "stacks/method.def"
#undef METHOD
#undef VIEW
    STACK_KINDS
};

struct stack_row {
    const char *name, *help;
    bool view;
};

extern const struct stack_row stack_rows[STACK_KINDS];
int stack_find(const char *name); /* enum stack_kind, or -1 */

/* Lost cycles by component, in parts of a cycle: see stack_parts. Only the base of a naive method can be negative.
 */
struct stack {
    int64_t parts[COMPONENTS];
};

uint64_t stack_parts(const struct core_config *core, enum stack_kind k); /* of a cycle, that a stack counts */

/* A stretch of the run. */
struct stack_interval {
    uint64_t instructions, cycles;
    uint64_t overlap_cycles; /* front-end and long back-end penalties at once: a full ROB headed by a miss of the L2
                              * cache or the D-TLB, and a mispredicted branch in it or an instruction miss under way */
    struct stack of[STACK_KINDS];
};

/* One of its stacks in whole cycles, that still sum to all. */
void stack_cycles(const struct stack_interval *s, const struct core_config *core, enum stack_kind k,
                  int64_t cycles[COMPONENTS]);

struct accounting;

/* Accounts for a run on this core by the kinds whose bits are set, in intervals (0: in one). */
struct accounting *accounting_new(const struct core_config *core, unsigned kinds, uint64_t interval_insns,
                                  struct error *err) MUST_CHECK;
void accounting_free(struct accounting *a);

const struct core_observer *accounting_observer(struct accounting *a); /* for simulation.observer */
const struct simulation_sum *accounting_sum(struct accounting *a);     /* for simulation.sum */

/* ---- once the simulation has returned */

uint64_t accounting_parts(const struct accounting *a, enum stack_kind k);  /* stack_parts on its core */
const struct stack_interval *accounting_total(const struct accounting *a); /* forked processes included */
/* The intervals of the process itself, in order; the last may be short. */
const struct stack_interval *accounting_series(const struct accounting *a, size_t *count);

#endif
