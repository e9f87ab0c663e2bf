/* The L2 as instructions alone, or data alone, would use it.
 *
 * They share its room. If the L1D or the L2 is perfect for data, nothing but instructions is in the L2; if the L1I or
 * the L2 is perfect for instructions, nothing but data. This tells which lines would be there then.
 *
 * It begins with what the L2 has when the graph begins.
 *
 * Limits: lines that the other kind has evicted before count as lines that were never there. */
#ifndef CYCLESCOPE_GRAPH_SECOND_ALONE_H
#define CYCLESCOPE_GRAPH_SECOND_ALONE_H

#include "core/config.h"
#include "memsys/tags.h"

struct second_alone {
    struct tags tags;
    bool present; /* the core has an L2 */
};

/* Returns false if out of memory. */
bool second_alone_init(struct second_alone *c, const struct core_config *config);
void second_alone_begin(struct second_alone *c,
                        const struct tags *l2); /* the graph begins with these lines in the L2 */
void second_alone_free(struct second_alone *c);
/* An L1 requests the line of `addr` for instruction number `insn`. Returns whether the L2 has it. A line that was
 * requested less than `window` instructions ago is still on its way. A line that was only proposed is not there, since
 * it would not be requested if the prefetch had been made. */
bool second_alone_use(struct second_alone *c, uint64_t addr, uint64_t insn, unsigned window);
/* A prefetcher proposes the line at that time. Returns whether the L2 has it. */
bool second_alone_propose(struct second_alone *c, uint64_t addr, uint64_t insn);
/* Instructions have used a line that was proposed, and did not wait for it: the prefetch was made. */
void second_alone_confirm(struct second_alone *c, uint64_t addr);

#endif
