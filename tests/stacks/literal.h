/* The tables of fmt, sfmt and fmt2 as counter hardware has them, counted up cycle by cycle and row by row.
 *
 * A second implementation, to compare the methods of src/stacks with: it shares no code with them and takes no
 * shortcuts, so its time grows with the rows that are taken. Counts are kept by the interval in which their cycles
 * passed, as stacks.h says. Running out of memory ends the program. */
#ifndef CYCLESCOPE_TESTS_STACKS_LITERAL_H
#define CYCLESCOPE_TESTS_STACKS_LITERAL_H

#include "stacks/stacks.h"

enum { LITERAL_METHODS = 3 };
extern const char *const literal_names[LITERAL_METHODS]; /* as those of stack_methods */

struct literal_interval {
    uint64_t instructions, cycles;
    uint64_t overlap_cycles;                   /* as in struct stack_interval */
    int64_t lost[LITERAL_METHODS][COMPONENTS]; /* as in struct stack; the base is there after literal_end */
};

struct literal;

struct literal *literal_new(const struct core_config *core, uint64_t interval_insns); /* 0: one interval */
void literal_free(struct literal *l);
const struct core_observer *literal_observer(struct literal *l, enum observed observed); /* not OBSERVE_MISSES */
void literal_restart(struct literal *l); /* drops all counts: this process is forked. Call with nothing in flight */
void literal_end(struct literal *l);
const struct literal_interval *literal_series(const struct literal *l, size_t *count);

#endif
