/* What the files that translate share: a block under construction. */
#ifndef CYCLESCOPE_EMULATE_TRANSLATE_PRIV_H
#define CYCLESCOPE_EMULATE_TRANSLATE_PRIV_H

#include "emulate/interp_priv.h"

/* A block under construction. Ops come first; the stubs of its exits are put behind them when it is complete. */
struct builder {
    struct engine_state *e;
    struct op *ops; /* in the arena */
    struct op_site *sites;
    uint16_t kinds[BLOCK_OPS];
    uint32_t count;           /* ops */
    uint64_t pc;              /* of the instruction being translated */
    struct translation *made; /* pc, complete instructions and pages so far */
    struct {
        uint32_t op;
        uint64_t target;
    } exits[BLOCK_EXITS];
    unsigned exit_count;
    struct basic_block segment; /* the basic block in progress, without its instructions until it ends */
    unsigned segment_before;    /* instructions of the block before that */
    uint32_t first_segment;     /* of the block, in block_counts */
    struct {
        uint32_t count;
        unsigned page_count;
        struct op op;
        struct op_site site;
        uint16_t kind;
    } before;                   /* ops and pages then, and the last of the ops, which what follows may change */
    struct engine_watch watch;  /* what is told of the instruction being translated */
    uint64_t line;              /* that is being fetched from; UINT64_MAX at the block's start */
    uint64_t seen[BLOCK_INSNS]; /* pcs of the block, so that it does not unroll loops */
    bool done;
};

struct op *interp_emit(struct builder *b, enum op_kind kind);

/* watch.c: hooks before and behind the ops of the instruction, and before the op of a transfer. */
void interp_watch_insn(struct builder *b, const struct insn *i);
void interp_watch_result(struct builder *b);
void interp_watch_transfer(struct builder *b, const struct insn *i, enum op_kind hook, uint64_t direct);
enum op_kind interp_branch_hook(enum op_kind branch);

void interp_fuse(struct builder *b); /* fuse.c: the ops so far; their functions change, nothing else */

#endif
