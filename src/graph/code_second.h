/* The L2 as instructions alone would use it.
 *
 * Data that misses a real L1D takes room in the L2, which instructions share. If the L1D or the L2 is perfect for data,
 * nothing but instructions is in the L2. This is what tells that an instruction line would be there.
 *
 * It begins with what the L2 has when the graph begins.
 *
 * Limits: lines that data has evicted before count as lines that were never there. */
#ifndef CYCLESCOPE_GRAPH_CODE_SECOND_H
#define CYCLESCOPE_GRAPH_CODE_SECOND_H

#include "core/config.h"
#include "memsys/tags.h"

struct code_second {
    struct tags tags;
    bool present; /* the core has an L2 */
};

/* Returns false if out of memory. */
bool code_second_init(struct code_second *c, const struct core_config *config);
void code_second_begin(struct code_second *c, const struct tags *l2); /* the graph begins with these lines in the L2 */
void code_second_free(struct code_second *c);
/* The L1I requests the line of `addr` for instruction number `insn`. Returns whether the L2 has it. A line that was
 * requested less than `window` instructions ago is still on its way. A line that was only proposed is not there, since
 * it would not be requested if the prefetch had been made. */
bool code_second_use(struct code_second *c, uint64_t addr, uint64_t insn, unsigned window);
/* A prefetcher proposes the line at that time. Returns whether the L2 has it. */
bool code_second_propose(struct code_second *c, uint64_t addr, uint64_t insn);
/* Instructions have used a line that was proposed, and did not wait for it: the prefetch was made. */
void code_second_confirm(struct code_second *c, uint64_t addr);

#endif
