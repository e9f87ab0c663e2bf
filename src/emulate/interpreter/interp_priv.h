/* The interpreter's data: code is decoded once into ops, ops form blocks, and blocks are linked to each other.
 *
 * An op is 16 bytes: the host function that executes it, and its operands. Each function ends by calling the next op's
 * function, which the compiler turns into a jump (threaded code). Where the compiler would not (no optimization,
 * sanitizers), TRAMPOLINE makes functions return the next op to a loop instead.
 *
 * A block is straight-line guest code with one entry. A taken conditional branch leaves the block; otherwise execution
 * stays in it. So a block may hold several basic blocks. It follows direct jumps. Leaving a block costs one subtraction
 * from the hart's budget and one test. The `imm` of an exit is the distance to the target op. It first leads to a stub,
 * which finds or translates the target and then patches the distance.
 *
 * With hooks.count_blocks the exits of a block count how often they are taken (count.c): ops that leave have a counting
 * form (counted.c), and the slot behind such an op is its tally, in a cache line that the host needs anyway.
 *
 * All ops live in one arena. When guest code changes, the blocks on its pages become invalid ("dead"): a block is only
 * entered at its first op, so that op is replaced by one that looks for a new block. Blocks on pages that are stored to
 * all the time find out themselves that they are invalid (verify.c). When the arena is full, all of it
 * is dropped. Invariant: site[i] identifies the guest instruction that op i belongs to; all ops of an instruction have
 * the same site. */
#ifndef CYCLESCOPE_EMULATE_INTERPRETER_INTERP_PRIV_H
#define CYCLESCOPE_EMULATE_INTERPRETER_INTERP_PRIV_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

#include "emulate/engine.h"
#include "riscv/exec.h"

#if !defined(__OPTIMIZE__) || defined(__SANITIZE_ADDRESS__) || defined(CYCLESCOPE_SANITIZE)
#define TRAMPOLINE 1
#else
#define TRAMPOLINE 0
#endif

struct op;
/* `mem` is the base of the guest's space; as an argument it stays in a register. */
#define OP_ARGUMENTS                                                                                                   \
    struct hart *h __attribute__((unused)), const struct op *op __attribute__((unused)),                               \
        uint8_t *mem __attribute__((unused))
typedef const struct op *op_function(OP_ARGUMENTS);

struct op {
    union {
        op_function *run;
        uint64_t taken; /* of a tally: times that its exit was taken since the last collection, minus 1 */
    };
    union {
        struct operands o;
        int64_t constant; /* rd in the low byte and a 56-bit constant above it; or 64 bits; or tally_constant */
    };
};

/* What an op's function returns to continue with op `next`. */
#if TRAMPOLINE
#define GO(next) (next)
#else
#define GO(next) (next)->run(h, next, mem)
#endif

/* All kinds of conditional branches, and common accesses with their sizes: these have watched forms. The slot behind a
 * watched form or hook has its transfer_site, or the pc as a constant. */
#define WATCHED_BRANCHES(WATCHED)                                                                                      \
    WATCHED(beq) WATCHED(bne) WATCHED(blt) WATCHED(bge) WATCHED(bltu) WATCHED(bgeu) WATCHED(beqz) WATCHED(bnez)
#define WATCHED_LOADS(WATCHED)                                                                                         \
    WATCHED(lb, 1)                                                                                                     \
    WATCHED(lbu, 1)                                                                                                    \
    WATCHED(lh, 2) WATCHED(lhu, 2) WATCHED(lw, 4) WATCHED(lwu, 4) WATCHED(ld, 8) WATCHED(flw, 4) WATCHED(fld, 8)
#define WATCHED_STORES(WATCHED)                                                                                        \
    WATCHED(sb, 1) WATCHED(sh, 2) WATCHED(sw, 4) WATCHED(sd, 8) WATCHED(fsw, 4) WATCHED(fsd, 8)
/* Ops that only call hooks of watched instructions. Transfers: to a known address, to an address in a register. */
#define WATCH_HOOKS(HOOK) HOOK(first_line) HOOK(line) HOOK(access) HOOK(result) HOOK(known) HOOK(register)

/* Kinds of ops: the instructions of exec.def, cheaper forms of common cases, and the interpreter's own. */
enum op_kind {
#define EXEC(id, ...)    OP_##id,
#define BRANCH(id, ...)  OP_##id,
#define ROUNDED(id, ...) OP_##id, OP_soft_##id,
#include "riscv/exec.def"
#undef EXEC
#undef BRANCH
#undef ROUNDED
    OP_li,     /* load a constant: lui, auipc, addi from x0, the link of a jal */
    OP_mv,     /* copy a register */
    OP_sext_w, /* addiw with 0 */
    OP_beqz,
    OP_bnez,
    OP_j,    /* leave the block for the linked target */
    OP_jr,   /* jalr without link */
    OP_jalr, /* jalr; the next data slot, behind the tally if there is one, holds the link as a constant */
    OP_csr,
    OP_fence_i,
    OP_ecall,
    OP_ebreak,
    OP_illegal,
    OP_fetch_fault,
    OP_stub,        /* find the exit's target block; constant: pc of the target << 16 | distance back to the exit */
    OP_verify,      /* first op of a verified block */
    OP_verify_rest, /* in a verified block, behind an instruction that stores */
    OP_dead,        /* first op of a dead block: find or translate the block that replaces it */
    OP_block_hook,
    OP_insn_hook,
#define HOOK(id) OP_##id##_hook,
    WATCH_HOOKS(HOOK)
#undef HOOK
#define WATCHED(id, ...) OP_watched_##id,
        WATCHED_BRANCHES(WATCHED) WATCHED_LOADS(WATCHED) WATCHED_STORES(WATCHED)
#undef WATCHED
            OP_KINDS,
    OP_DATA = OP_KINDS /* not an op, but a slot with data of the op before */
};

enum {
    BLOCK_INSNS = 64,    /* most instructions of a block */
    BLOCK_BRANCHES = 6,  /* most branches of a block: code behind more of them would often never run */
    ARENA_OPS = 8 << 20, /* 128 MB of ops before the arena is dropped */
    BLOCK_EXITS = BLOCK_BRANCHES + 1,
    /* Most slots of a block: the block hook; five hooks with three data and two ops per instruction; exits, their data
     * and stubs. Of a verified block also an op with data per instruction, and its code. */
    BLOCK_OPS = 1 + 12 * BLOCK_INSNS + 3 * BLOCK_EXITS + 4 * BLOCK_INSNS / 16 + 1,
    TRANSFERS = 1024,            /* transfers that are reported at a time, and fewer than a block has */
    RESUMED_HARTS = 16,          /* harts for which the basic block that a quantum cut is remembered */
    BLOCK_PAGES = 4,             /* most pages that the code of a block spans */
    EXECUTABLE_PAGES = 1 << 8,   /* direct-mapped, for translation */
    JUMP_CACHE_ENTRIES = 1 << 14 /* direct-mapped, for indirect jumps */
};

struct jump_cache_entry {
    uint64_t pc; /* odd (never a valid pc): the entry is empty */
    const struct op *op;
};

static inline unsigned jump_cache_slot(uint64_t pc)
{
    return (unsigned)(pc >> 1 ^ pc >> 16) % JUMP_CACHE_ENTRIES;
}

struct op_site {
    int32_t pc_offset;    /* of the guest instruction, from the block's pc */
    uint8_t insns_before; /* instructions of the block before that instruction */
};

/* Argument of an insn hook. */
struct hooked_insn {
    uint64_t pc;
    struct insn insn;
};

struct block {
    uint64_t pc;            /* of its entry; bit 0 set: the block is dead */
    uint32_t first_op;      /* index in the arena; ascending over the blocks */
    uint32_t insns;         /* retired if no branch leaves the block early */
    uint32_t first_segment; /* index in block_counts.segment; the next block's segments follow this block's */
};

/* Result of translating one block, in addition to its ops at the end of the arena. */
struct translation {
    uint64_t pc;
    unsigned insns;
    uint32_t ops;
    uint64_t pages[BLOCK_PAGES]; /* numbers (address / GUEST_PAGE) of the pages that its code spans */
    unsigned page_count;
};

/* A page of guest code, with a list of the blocks that were translated from it. */
struct block_page {
    uint64_t key;    /* address / GUEST_PAGE + 1; 0 when unused */
    uint32_t link;   /* index + 1 of the first link, 0 if none */
    uint8_t toggles; /* stores that ended its protection */
    uint8_t trials;  /* times that it was protected again after it was verified */
    bool verified;   /* it is not protected, and its blocks are verified (verify.c) */
};

struct code_link {
    uint32_t block;
    uint32_t next; /* index + 1 of the next link, or 0 */
};

/* The part of a translated block that belongs to one basic block. */
struct segment {
    uint32_t basic;   /* number of the basic block; UNNUMBERED until the segment is found to have run */
    uint16_t insns;   /* of the segment */
    uint16_t entries; /* of the basic block each time that the segment runs: 1, or 0 if an earlier quantum entered it */
};

/* What a basic block has to report. */
struct block_work {
    uint64_t insns, entries;
};

enum { UNNUMBERED = UINT32_MAX };

/* The constant of a tally: the first segment of its block, and the number of segments that have run when its exit is
 * taken, which may be 0. */
static inline int64_t tally_constant(uint32_t first_segment, unsigned segments)
{
    return (int64_t)((uint64_t)first_segment << 8 | segments);
}

static inline uint32_t tally_first_segment(const struct op *tally)
{
    return (uint32_t)(tally->constant >> 8);
}

static inline unsigned tally_segments(const struct op *tally)
{
    return tally->constant & 0xff;
}

/* A hart that a quantum stopped in the middle of a basic block. */
struct resumed {
    const struct hart *hart; /* NULL: unused */
    uint64_t pc;             /* where the hart continues */
    uint32_t basic;          /* number of the basic block */
};

/* See count.c. */
struct block_counts {
    uint32_t basic_count;      /* basic blocks that ran */
    struct basic_block *basic; /* by number */
    struct block_work *work;   /* by number; a separate array, so that it fits into caches */
    uint64_t *live;            /* bitmap by number: there are instructions to report */
    uint32_t basic_capacity, work_capacity, live_capacity;
    uint32_t *hash; /* pc -> number of the basic block + 1, open addressing, a power of two in size */
    uint32_t hash_size;
    struct segment *segment;           /* in the order of the translated blocks that they belong to */
    struct basic_block *segment_block; /* basic block of each segment; read once, when the segment gets its number */
    uint32_t segment_count, segment_capacity, segment_block_capacity;
    uint32_t *noted; /* exits that were taken since the last collection: indices of their ops in the arena */
    uint32_t noted_count, noted_capacity;
    uint32_t noted_before; /* noted_count before the short block ran */
    uint32_t cut_exit;     /* op by which the newest block leaves in the middle of a basic block; or UINT32_MAX */
    bool short_block;      /* the newest segments belong to a short block */
    struct resumed resumed[RESUMED_HARTS];
    unsigned next_resumed; /* entry of `resumed` to overwrite next */
};

struct engine_state {
    struct jump_cache_entry jump_cache[JUMP_CACHE_ENTRIES]; /* first, because it is the hottest */
    struct guest_memory *memory;
    uint8_t *mem;         /* base of the guest's space */
    struct op *arena;     /* ARENA_OPS slots, mapped lazily */
    struct op_site *site; /* one per op */
    uint32_t used;        /* slots of the arena */
    struct block *blocks; /* in order of first_op */
    uint32_t block_count, block_capacity;
    uint32_t *hash; /* pc -> block index + 1, open addressing, a power of two in size */
    uint32_t hash_size;
    struct block_page *pages; /* open addressing, a power of two in size */
    uint32_t page_count, pages_size;
    struct code_link *links;
    uint32_t link_count, link_capacity;
    uint64_t executable[EXECUTABLE_PAGES]; /* by page number: page number + 1 of a page that is executable, or 0 */
    struct engine_hooks hooks;
    const struct op *access;    /* the op of an atomic access in progress; NULL: the op is in %rsi */
    sigjmp_buf escape;          /* leads from a trap inside an op to the run loop */
    bool kept_from_forks;       /* a process that was forked has no arena */
    bool code_stored;           /* the op that `escape` left stores to the code of its own block */
    struct hart *running;       /* the hart in `run` */
    uint64_t flushes;           /* times that the arena was dropped */
    struct hooked_insn *hooked; /* arguments of insn hooks */
    uint32_t hooked_count, hooked_capacity;
    struct engine_transfer *transfer; /* watched transfers that are not reported yet: where the next one goes */
    struct engine_transfer transfers[TRANSFERS + BLOCK_INSNS];
    uint64_t line;              /* address of the line last fetched from, if instructions are watched */
    struct block_counts counts; /* with hooks.count_blocks */
};

/* translate.c: translates at most `max_insns` instructions at pc to the end of the arena, which must have room for
 * BLOCK_OPS. */
void interp_translate(struct engine_state *e, uint64_t pc, unsigned max_insns, struct translation *made);

/* blocks.c */
/* The first op of the block at pc; translates the block if there is none. May drop the arena. */
const struct op *interp_find(struct engine_state *e, uint64_t pc);
/* The first op of a block of at most `insns` instructions. The block is valid until the next translation. */
const struct op *interp_find_short(struct engine_state *e, uint64_t pc, int64_t insns);
/* The first op of a block of one instruction. The block is valid until the next translation. */
const struct op *interp_find_single(struct engine_state *e, uint64_t pc);
/* Whether a store to code may have changed later instructions of op's block. */
bool interp_is_stale(const struct engine_state *e, const struct op *op);
/* If a quantum stopped the hart in the middle of a basic block: a block that continues there. Otherwise NULL. */
const struct op *interp_find_resumed(struct engine_state *e, const struct hart *h, int64_t insns);
bool interp_has_block(const struct engine_state *e, uint64_t pc);
/* The entry of a page that has, or had, blocks; NULL: there is none. Valid until the next translation. */
struct block_page *interp_find_page(const struct engine_state *e, uint64_t number);
const struct block *interp_block_of(const struct engine_state *e, const struct op *op);
void interp_forget_block(struct engine_state *e, const struct op *op); /* invalidates the block that contains op */
guest_code_watcher interp_code_changed;
void interp_flush(struct engine_state *e); /* drops all blocks */
void interp_free_tables(struct engine_state *e);

/* count.c; call these only with hooks.count_blocks */
/* Adds a segment of `insns` instructions to the block being translated; `b` is its basic block. */
void interp_count_segment(struct engine_state *e, const struct basic_block *b, unsigned insns);
/* Notes an exit for the next collection; call it once when its tally becomes 0. */
void interp_count_note(struct engine_state *e, const struct op *op);
/* Charges the first `insns` instructions of op's block, which was left other than through an exit. */
void interp_count_part(struct engine_state *e, const struct op *op, unsigned insns);
/* Collects all counts before the blocks are dropped. */
void interp_count_forget(struct engine_state *e);
/* True if the hart continues in the middle of a basic block; `basic` is its number. */
bool interp_count_resumes(struct engine_state *e, const struct hart *h, uint32_t *basic);
/* Makes the first segment of block b part of that basic block. */
void interp_count_resumed(struct engine_state *e, const struct block *b, uint32_t basic);
/* Marks the newest block as a short one: its counts are collected by interp_count_short_done. */
void interp_count_short(struct engine_state *e);
/* Call it after each run of a single block; does nothing unless that block is a short one. */
void interp_count_short_done(struct engine_state *e, const struct hart *h);
void interp_count_report(struct engine_state *e, block_count_callback *report, void *context);
void interp_count_free(struct engine_state *e);

/* verify.c */
bool interp_page_is_verified(const struct engine_state *e, uint64_t number);
void interp_count_toggle(struct engine_state *e, uint64_t number); /* a store has ended the protection of the page */
op_function interp_verify, interp_verify_rest;

/* watch.c: ops that call hooks */
#define HOOK(id) op_function interp_##id##_hook;
WATCH_HOOKS(HOOK)
#undef HOOK
#define WATCHED(id, ...) op_function interp_watched_##id;
WATCHED_BRANCHES(WATCHED)
WATCHED_LOADS(WATCHED)
WATCHED_STORES(WATCHED)
#undef WATCHED
/* Reports the transfers that were executed since the last call. */
void interp_report_transfers(struct engine_state *e);

/* ops.c: the function of each kind of op */
extern op_function *const interp_single[OP_KINDS];
/* fused.c: the function that runs two ops as one, or NULL. The forwarded form is for a second op that reads the first
 * op's rd as its rs1. */
op_function *interp_pair(enum op_kind first, enum op_kind second);
op_function *interp_forwarded_pair(enum op_kind first, enum op_kind second);
/* counted.c: counting forms of ops and pairs that may leave the block; NULL for others */
extern op_function *const interp_counted_single[OP_KINDS];
op_function *interp_counted_pair(enum op_kind first, enum op_kind second);
op_function *interp_counted_forwarded_pair(enum op_kind first, enum op_kind second);
/* ops.c: notes the exit, then leaves through it */
op_function interp_take_noting;
const struct op *interp_jump_noting(OP_ARGUMENTS, uint64_t pc, unsigned retired);

/* interp.c: leave the run loop. The caller has already subtracted the block's retired instructions from the budget;
 * interp_trap does that itself. */
const struct op *interp_stop(struct hart *h, const struct op *next);
const struct op *interp_stop_at(struct hart *h, uint64_t pc);
/* Leaves a verified block before the instruction of an op that verifies. The block, which is invalid, dies. */
const struct op *interp_leave_verified(struct hart *h, const struct op *op);
op_function interp_jump_slowly; /* continues at h->pc, which is not in the jump cache */
void interp_trap(struct hart *h, const struct op *op, enum trap trap, uint64_t value) __attribute__((noreturn, cold));
uint64_t interp_pc(const struct engine_state *e,
                   const struct op *op); /* of the guest instruction; of a stub, its target */

#endif
