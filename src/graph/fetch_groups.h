/* Fetch groups: which instructions a core fetches in one cycle.
 *
 * A group ends when it has its most instructions, lines or control transfers, at a misprediction or a misfetch, before
 * an instruction that serializes, and at a miss of the L1I or of the I-TLB. Groups therefore depend on the core, and on
 * whether the L1I, the I-TLB and prediction are real: there are GROUP_VARIANTS of them. */
#ifndef CYCLESCOPE_GRAPH_FETCH_GROUPS_H
#define CYCLESCOPE_GRAPH_FETCH_GROUPS_H

#include "graph/graph_priv.h"

/* A number of each variant, 8 bits wide and less than 128: byte v is that of variant v. */
typedef uint64_t group_numbers;

struct fetch_groups {
    group_numbers width, lines, branches;  /* most of a group, the same in all variants */
    unsigned line_shift;                   /* log2 of the bytes of a line of the L1I */
    group_numbers insns;                   /* instructions so far of the group that is being filled */
    group_numbers lines_left;              /* lines that it may still read */
    group_numbers branches_left;           /* control transfers that it may still predict */
    uint64_t line;                         /* line that fetch is in, or UINT64_MAX */
    bool begun;                            /* an instruction has joined */
    bool after_mispredicted, after_serial; /* what the last instruction was */
};

void fetch_groups_init(struct fetch_groups *f, const struct graph_core *c);
/* The next instruction in program order joins. Sets n->new_group; n->fetch_waits and n->itlb_cycles are
 * known. */
void fetch_groups_join(struct fetch_groups *f, const struct held_insn *h, struct graph_node *n);

#endif
