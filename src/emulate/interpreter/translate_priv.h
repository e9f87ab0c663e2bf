/* Shared by the files that translate guest code: translate.c, watch.c, fuse.c. */
#ifndef CYCLESCOPE_EMULATE_INTERPRETER_TRANSLATE_PRIV_H
#define CYCLESCOPE_EMULATE_INTERPRETER_TRANSLATE_PRIV_H

#include "emulate/interpreter/interp_priv.h"

/* A block under construction. When its ops are complete, the stubs of its exits are added behind them. */
struct builder {
    struct engine_state *e;
    struct op *ops;            /* in the arena */
    struct op_site *sites;     /* of the ops */
    uint16_t kinds[BLOCK_OPS]; /* of the ops: enum op_kind */
    uint32_t count;            /* ops and data slots so far */
    uint64_t pc;               /* of the instruction being translated */
    struct translation *made;  /* pc of the block, and its complete instructions and pages so far */
    struct {
        uint32_t op;     /* index in `ops` */
        uint64_t target; /* pc */
    } exits[BLOCK_EXITS];
    unsigned exit_count;
    struct basic_block segment; /* the basic block in progress; `insns` is set when it ends */
    unsigned segment_before;    /* instructions of the block before that basic block */
    uint32_t first_segment;     /* index of the block's first segment in block_counts.segment */
    /* State at the start of that basic block, to go back to: numbers of ops and pages, and a copy of the last op, which
     * later instructions may change. */
    struct {
        uint32_t count;
        unsigned page_count;
        struct op op;
        struct op_site site;
        uint16_t kind;
    } before;
    struct engine_watch watch;  /* of the instruction being translated */
    uint64_t line;              /* address of the line being fetched from; UINT64_MAX at the block's start */
    uint64_t seen[BLOCK_INSNS]; /* pcs of the block's instructions, so that it does not unroll loops */
    uint32_t block_hook;        /* index of the block hook in `ops`, if there is one */
    bool done;                  /* the block ends with the last op */
    bool verified;              /* it is a verified block (verify.c) */
    bool meets_verified;        /* its code spans a verified page */
    uint64_t code_end;          /* address behind the code that was read */
};

struct op *interp_emit(struct builder *b, enum op_kind kind);

/* watch.c. Before the ops of an instruction: emits hooks. */
void interp_watch_insn(struct builder *b, const struct insn *i);
/* The watched form of the instruction's op, or the kind itself. Emits the hook of an access that has no such form. */
enum op_kind interp_watched_access(struct builder *b, enum op_kind kind);
enum op_kind interp_watched_branch(const struct builder *b, enum op_kind kind);
/* Behind a watched form: emits its data. */
void interp_watch_site(struct builder *b, const struct insn *i, uint64_t direct);
/* Before the op of a jump: emits the hook. */
void interp_watch_jump(struct builder *b, const struct insn *i, enum op_kind hook, uint64_t direct);
/* After the ops of an instruction: emits hooks. */
void interp_watch_result(struct builder *b);

/* verify.c. Emits an op, OP_verify or OP_verify_rest, that compares the block's code from b->pc on. */
void interp_verify_from_here(struct builder *b, enum op_kind kind);
void interp_verify_end(struct builder *b, uint64_t end); /* behind the stubs: adds the code of the block, up to `end` */

void interp_fuse(struct builder *b); /* fuse.c: fuses pairs of ops; changes functions and order of operands only */

#endif
