/* Warm states that a first pass saves, so that a second pass need not warm the whole run again.
 *
 * The copy that warms a stretch saves the state of caches, TLBs and predictors at some boundaries between units. A
 * second pass measures a window after warming from the last saved state before it. That leaves the same state as
 * warming all of the stretch.
 *
 * The states lie in memory that all copies share, compressed, each as its difference to the one before it in the same
 * stretch. That memory is limited: states of a long run lie further apart. Which ones are saved depends on the run
 * alone. */
#ifndef CYCLESCOPE_PHASES_SAVED_H
#define CYCLESCOPE_PHASES_SAVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { SAVED_NONE = UINT32_MAX }; /* no state */
enum { SAVED_BYTES = 96 << 20 };  /* of all states of a run */

struct saved_states;

struct saved_states *saved_new(void); /* NULL: out of memory */
/* Makes room for the states of more stretches, `bytes` in all. Call it before the processes that use it are forked. 0
 * or -ENOMEM: there is room for some of them. */
int saved_add(struct saved_states *s, unsigned stretches, size_t bytes) MUST_CHECK;
void saved_free(struct saved_states *s); /* may be NULL */

/* Forgets the states of a stretch, whose copy has ended. */
void saved_forget(struct saved_states *s, unsigned stretch);

/* ---- writing, in the copy that warms a stretch */

/* Saves the state at instruction `insn`; `share` of the stretch lies before it. Leaves states out while memory is
 * scarce. States of a stretch have one size. 0 or -ENOMEM. */
int saved_write(struct saved_states *s, unsigned stretch, uint64_t insn, double share, const void *state,
                size_t bytes) MUST_CHECK;

/* ---- reading, when the copies have ended */

/* The last state at or before `insn`; *insn becomes its instruction. `stretch` and the result name it. SAVED_NONE:
 * there is none. */
uint32_t saved_before(const struct saved_states *s, uint64_t *insn, unsigned *stretch);

/* Reads states, those of a stretch fastest in the order of the run. */
struct saved_reader {
    void *state;  /* the state read last */
    size_t bytes; /* its size */
    unsigned stretch;
    uint32_t next; /* number of the state behind it */
};

/* 0, -ENOMEM, or -EINVAL: the state is damaged. */
int saved_read(const struct saved_states *s, struct saved_reader *r, unsigned stretch, uint32_t number) MUST_CHECK;
void saved_reader_free(struct saved_reader *r);

#endif
