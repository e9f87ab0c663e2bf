/* Room in the structures that instructions leave when they commit: ROB, load/store queue, registers.
 *
 * Commit is in order, so of all entries that an instruction needs, the one that is freed last counts: that of the
 * youngest instruction that has to leave. */
#ifndef CYCLESCOPE_GRAPH_ROOM_H
#define CYCLESCOPE_GRAPH_ROOM_H

#include "graph/graph_priv.h"

/* Instructions that hold an entry of a structure until they commit, as a ring of their numbers. */
struct holders {
    uint32_t *insn;
    unsigned size; /* entries of the structure */
    unsigned next; /* index of the entry that is taken next */
    bool full;     /* all entries have been taken once */
};

struct room {
    unsigned rob_size;
    uint64_t insns; /* instructions so far */
    struct holders loads, store_queue, load_store, int_regs, fp_regs;
};

/* Returns false if out of memory. room_free frees what has been allocated. */
bool room_init(struct room *r, const struct graph_core *c);
void room_free(struct room *r);
/* The next instruction in program order takes its entries. Returns the distance to the instruction whose commit frees
 * the last of them, 0: none. */
uint16_t room_take(struct room *r, const struct held_insn *h);

#endif
