/* The interpreter's data: code decoded once into ops, ops strung into blocks, blocks linked to each other.
 *
 * An op is 16 bytes: the host function that executes it and its operands. Each function ends by calling the next op's
 * function, which the compiler turns into a jump (threaded code); where it would not (no optimization, sanitizers)
 * TRAMPOLINE makes functions return the next op to a loop instead.
 *
 * A block is straight-line guest code from one entry. Conditional branches leave it when taken and go on in it when
 * not, so a block may hold several basic blocks; it follows direct jumps. Leaving a block costs one subtraction from
 * the hart's budget and one test. The exit's `imm` is the distance to the target op: first to a stub that finds or
 * translates the target and then patches the distance.
 *
 * With hooks.count_blocks the exits of a block count how often they are taken (count.c): ops that leave have a counting
 * form (counted.c), and the slot behind such an op is its tally, in a cache line that the host needs anyway.
 *
 * Ops live in one arena. When guest code changes, the blocks on its pages die: since a block is only entered at its
 * first op, that op is replaced by one that looks for a new block. When the arena is full, all of it is dropped.
 * Invariants: an op's slot in `site` tells the guest instruction that it belongs to; the op after a multi-op
 * instruction's first has the same site. */
#ifndef CYCLESCOPE_EMULATE_INTERP_PRIV_H
#define CYCLESCOPE_EMULATE_INTERP_PRIV_H

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
/* `mem` is the base of the guest's space, passed along so that it stays in a register. */
#define OP_ARGUMENTS                                                                                                   \
    struct hart *h __attribute__((unused)), const struct op *op __attribute__((unused)),                               \
        uint8_t *mem __attribute__((unused))
typedef const struct op *op_function(OP_ARGUMENTS);

struct op {
    union {
        op_function *run;
        uint64_t taken; /* of a tally: how often the exit before it was taken since that was collected, less one */
    };
    union {
        struct operands o;
        int64_t constant; /* rd in the low byte, a 56-bit constant above it; or all 64 bits; or what a tally is of */
    };
};

/* The value of a function that goes on with op `next`. */
#if TRAMPOLINE
#define GO(next) (next)
#else
#define GO(next) (next)->run(h, next, mem)
#endif

/* Conditional branches, in all forms that they have here. */
#define WATCHED_BRANCHES(HOOK) HOOK(beq) HOOK(bne) HOOK(blt) HOOK(bge) HOOK(bltu) HOOK(bgeu) HOOK(beqz) HOOK(bnez)
/* Hooks of watched instructions: lines, accesses, results, transfers to a known address and to one in a register. */
#define WATCH_HOOKS(HOOK) HOOK(line) HOOK(access) HOOK(result) HOOK(known) HOOK(register) WATCHED_BRANCHES(HOOK)

/* What ops are called inside the interpreter: instructions of exec.def, and forms that are cheaper for common cases. */
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
    OP_j,    /* leave for the linked target */
    OP_jr,   /* jalr without link */
    OP_jalr, /* jalr; the next slot, or the one behind the tally, holds the link as a constant */
    OP_csr,
    OP_fence_i,
    OP_ecall,
    OP_ebreak,
    OP_illegal,
    OP_fetch_fault,
    OP_stub, /* find the block at the pc above the constant's low 16 bits, which are the distance back to its exit */
    OP_dead, /* the block that began here is dead: find its successor */
    OP_block_hook,
    OP_insn_hook,
#define HOOK(id) OP_##id##_hook,
    WATCH_HOOKS(HOOK)
#undef HOOK
        OP_KINDS,
    OP_DATA = OP_KINDS /* no op, but data that belongs to the one before */
};

enum {
    BLOCK_INSNS = 64,    /* most instructions of a block */
    BLOCK_BRANCHES = 6,  /* most branches: what comes behind them would often be translated and never run */
    ARENA_OPS = 8 << 20, /* 128 MB of ops before the arena is dropped */
    BLOCK_EXITS = BLOCK_BRANCHES + 1,
    /* A hook; per instruction four hooks and two ops; exits, their tallies and stubs. */
    BLOCK_OPS = 1 + 6 * BLOCK_INSNS + 3 * BLOCK_EXITS,
    RESUMED_HARTS = 16,          /* harts whose place in a basic block is remembered */
    BLOCK_PAGES = 4,             /* most pages that a block's code lies on */
    JUMP_CACHE_ENTRIES = 1 << 14 /* direct-mapped, for indirect jumps */
};

struct jump_cache_entry {
    uint64_t pc; /* odd when empty: no pc is */
    const struct op *op;
};

static inline unsigned jump_cache_slot(uint64_t pc)
{
    return (unsigned)(pc >> 1 ^ pc >> 16) % JUMP_CACHE_ENTRIES;
}

struct op_site {
    int32_t pc_offset;    /* of the guest instruction, from the block's pc */
    uint8_t insns_before; /* instructions of the block before it */
};

struct hooked_insn {
    uint64_t pc;
    struct insn insn;
};

struct block {
    uint64_t pc;            /* odd when the block is dead */
    uint32_t first_op;      /* index in the arena; blocks are in ascending order */
    uint32_t insns;         /* at most */
    uint32_t first_segment; /* of block_counts; they end where the next block's begin */
};

/* What translating one block gave, besides its ops at the end of the arena. */
struct translation {
    uint64_t pc;
    unsigned insns;
    uint32_t ops;
    uint64_t pages[BLOCK_PAGES]; /* that its code lies on, address / GUEST_PAGE */
    unsigned page_count;
};

/* A page of guest code that blocks were made from: a list of those. */
struct code_page {
    uint64_t key;  /* address / GUEST_PAGE + 1; 0 when unused */
    uint32_t link; /* index + 1 of the first link, 0 if none */
};

struct code_link {
    uint32_t block;
    uint32_t next; /* index + 1, or 0 */
};

/* A part of a translated block that lies in one basic block. */
struct segment {
    uint32_t basic; /* the block's number, once it has run; or UNNUMBERED */
    uint32_t insns; /* of the part */
};

enum { UNNUMBERED = UINT32_MAX };

/* The constant of a tally: the first segment of its block, and how many are passed up to its exit, none if that comes
 * before any. */
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

/* Where a quantum ended in the middle of a basic block. */
struct resumed {
    const struct hart *hart; /* NULL: unused */
    uint64_t pc;             /* where it goes on */
    uint32_t basic;          /* the block that it is in */
};

/* See count.c. Segments stand in the order of the translated blocks that they belong to. */
struct block_counts {
    uint32_t basic_count; /* basic blocks that ran */
    struct basic_block *basic;
    uint64_t *basic_insns; /* that retired in it and were not told; an array of its own, which fits into caches */
    uint64_t *live;        /* a bit for each: there are such instructions */
    uint32_t basic_capacity, insns_capacity, live_capacity;
    uint32_t *hash; /* pc -> number of the basic block + 1, open addressing, a power of two in size */
    uint32_t hash_size;
    struct segment *segment;
    struct basic_block *segment_block; /* the basic block of each, needed only once */
    uint32_t segment_count, segment_capacity, segment_block_capacity;
    uint32_t *noted; /* ops that left their blocks since they were collected, indices in the arena */
    uint32_t noted_count, noted_capacity;
    uint32_t noted_before; /* the short block ran */
    uint32_t cut_exit;     /* the op by which the newest block leaves in the middle of a basic block; or UINT32_MAX */
    bool short_block;      /* the newest segments are those of a short block */
    struct resumed resumed[RESUMED_HARTS];
    unsigned next_resumed; /* to be given up next */
};

struct engine_state {
    struct jump_cache_entry jump_cache[JUMP_CACHE_ENTRIES]; /* first: the hottest */
    struct guest_memory *memory;
    uint8_t *mem;         /* base of the guest's space */
    struct op *arena;     /* ARENA_OPS, touched as needed */
    struct op_site *site; /* one per op */
    uint32_t used;        /* ops */
    struct block *blocks; /* in order of first_op */
    uint32_t block_count, block_capacity;
    uint32_t *hash; /* pc -> block index + 1, open addressing, a power of two in size */
    uint32_t hash_size;
    struct code_page *pages; /* open addressing, a power of two in size */
    uint32_t page_count, pages_size;
    struct code_link *links;
    uint32_t link_count, link_capacity;
    uint64_t executable_page; /* number of a page that may be executed, or UINT64_MAX */
    struct engine_hooks hooks;
    const struct op *access;    /* the op that is accessing memory, if the host's registers do not tell */
    sigjmp_buf escape;          /* to the run loop, from traps inside an op */
    struct hart *running;       /* the hart in `run` */
    uint64_t flushes;           /* how often the arena was dropped */
    struct hooked_insn *hooked; /* instructions that insn hooks refer to */
    uint32_t hooked_count, hooked_capacity;
    struct watched_insn *watched; /* that hooks of watched instructions refer to */
    uint32_t watched_count, watched_capacity;
    uint32_t watched_kept;      /* those of blocks that are kept */
    uint64_t line;              /* that was fetched from last, if instructions are watched */
    struct block_counts counts; /* with hooks.count_blocks */
};

/* translate.c: at most so many instructions at pc, to the end of the arena, which has room for BLOCK_OPS */
void interp_translate(struct engine_state *e, uint64_t pc, unsigned max_insns, struct translation *made);

/* blocks.c */
const struct op *interp_find(struct engine_state *e, uint64_t pc); /* the block at pc, translated if need be */
const struct op *interp_find_short(struct engine_state *e, uint64_t pc, int64_t insns); /* one of at most so many */
/* One that goes on in the middle of a basic block, if h->pc does, or NULL. */
const struct op *interp_find_resumed(struct engine_state *e, const struct hart *h, int64_t insns);
bool interp_has_block(const struct engine_state *e, uint64_t pc);
const struct block *interp_block_of(const struct engine_state *e, const struct op *op);
void interp_forget_block(struct engine_state *e, const struct op *op); /* the one that op is in */
guest_code_watcher interp_code_changed;
void interp_flush(struct engine_state *e);
void interp_free_tables(struct engine_state *e);

/* count.c, all of it only with hooks.count_blocks */
/* So many instructions of a basic block, in the block being translated. */
void interp_count_segment(struct engine_state *e, const struct basic_block *b, unsigned insns);
void interp_count_note(struct engine_state *e, const struct op *op); /* it leaves its block and is not noted */
void interp_count_part(struct engine_state *e, const struct op *op, unsigned insns); /* left op's block after so many */
void interp_count_forget(struct engine_state *e); /* collects; the blocks are about to be dropped */
/* The hart goes on in the middle of this basic block. */
bool interp_count_resumes(struct engine_state *e, const struct hart *h, uint32_t *basic);
void interp_count_resumed(struct engine_state *e, const struct block *b, uint32_t basic); /* so b begins in it */
void interp_count_short(struct engine_state *e);                            /* the newest block is a short one */
void interp_count_short_done(struct engine_state *e, const struct hart *h); /* after each run of a single block */
void interp_count_tell(struct engine_state *e, block_counts_told *tell, void *context);
void interp_count_free(struct engine_state *e);

/* watch.c: ops that call hooks */
#define HOOK(id) op_function interp_##id##_hook;
WATCH_HOOKS(HOOK)
#undef HOOK

/* ops.c: the function of each kind */
extern op_function *const interp_single[OP_KINDS];
/* fused.c: the function that runs two ops as one; forwarded, if the second's rs1 is the first's rd. NULL if there is
 * none. */
op_function *interp_pair(enum op_kind first, enum op_kind second);
op_function *interp_forwarded_pair(enum op_kind first, enum op_kind second);
/* counted.c: the same for ops and pairs that may leave the block, which count; NULL for others */
extern op_function *const interp_counted_single[OP_KINDS];
op_function *interp_counted_pair(enum op_kind first, enum op_kind second);
op_function *interp_counted_forwarded_pair(enum op_kind first, enum op_kind second);
/* ops.c: the op leaves through an exit that is not noted yet */
op_function interp_take_noting;
const struct op *interp_jump_noting(OP_ARGUMENTS, uint64_t pc, unsigned retired);

/* interp.c: leave the loop; what the block has retired is already taken off the budget, except in a trap. */
const struct op *interp_stop(struct hart *h, const struct op *next);
const struct op *interp_stop_at(struct hart *h, uint64_t pc);
op_function interp_jump_slowly; /* goes on at h->pc, which the jump cache does not know */
void interp_trap(struct hart *h, const struct op *op, enum trap trap, uint64_t value) __attribute__((noreturn, cold));
uint64_t interp_pc(const struct engine_state *e, const struct op *op);

#endif
