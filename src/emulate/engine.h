/* An engine executes a hart functionally, at full speed.
 *
 * It is a const struct of functions over an opaque state, so that a translating engine can stand beside the
 * interpreter. An engine serves one guest_memory and any number of harts on it, one at a time, on one host thread. */
#ifndef CYCLESCOPE_EMULATE_ENGINE_H
#define CYCLESCOPE_EMULATE_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "guest/hart.h"
#include "guest/memory.h"
#include "riscv/insn.h"

/* What is to be told of an instruction. */
struct engine_watch {
    uint8_t bytes; /* of its access to memory at rs1 + imm, before it is made; 0: nothing */
    bool store;    /* of that access */
    bool transfer; /* it is a branch or jump: where it leads */
    uint8_t kind;  /* the watcher's own word for the transfer */
    bool result;   /* the number that is in its register `result_slot` when it has executed; only with an access */
    uint8_t result_slot;
    bool result_fp; /* of the floating-point registers */
};

struct watched_insn {
    uint64_t pc;
    uint64_t fallthrough; /* pc + length */
    uint64_t direct;      /* where it leads if it is taken, unless a register says so: then 0 or the same */
    uint8_t kind;         /* of engine_watch */
};

/* Called while a program runs. A hook that is NULL costs nothing: the code to call it is not generated. */
struct engine_hooks {
    /* A basic block was entered: straight-line code up to and including the next branch, jump or system call,
     * `insns` long. A fault may leave it early. One that is longer than a
     * translated block, or that a quantum ends in, counts as several. */
    void (*block)(void *context, uint64_t pc, unsigned insns);
    /* An instruction is about to execute; the hart's registers are those before it. */
    void (*insn)(void *context, const struct hart *h, uint64_t pc, const struct insn *insn);
    /* What to watch of an instruction, asked when that is translated. The hooks below, which are there if this one is,
     * tell of it in the order in which things happen; what is not to be told costs nothing. */
    struct engine_watch (*watch)(void *context, const struct insn *insn);
    unsigned line_bytes; /* a power of two */
    /* An instruction lies in another line than the end of the one before, or reaches into another. */
    void (*line)(void *context, uint64_t addr);
    void (*access)(void *context, uint64_t addr, unsigned bytes, bool store, const struct watched_insn *at);
    void (*result)(void *context, const struct watched_insn *at, uint64_t number);
    void (*transfer)(void *context, const struct watched_insn *at, uint64_t next);
    void *context;
    /* Count what `block_counts` tells. Costs one host instruction for each translated block that is left. */
    bool count_blocks;
};

/* A basic block, as its code tells. */
struct basic_block {
    uint64_t pc;     /* of its entry */
    uint64_t target; /* of the call or jump that ends it, if its instructions tell; else 0 */
    uint32_t insns;  /* from entry to end */
    bool call;       /* it ends in a call, not in a jump */
};

/* So many instructions retired in a basic block. Those that ran are numbered from 0 on, about in the order in which
 * they first did; a number stays with its pc for the engine's life. */
typedef void block_counts_told(void *context, uint32_t number, const struct basic_block *block, uint64_t insns);

struct engine_state;

struct engine {
    const char *name;
    struct engine_state *(*create)(struct guest_memory *memory, struct error *err);
    void (*destroy)(struct engine_state *e);
    void (*set_hooks)(struct engine_state *e, const struct engine_hooks *hooks);
    /* Runs until exactly h->quantum instructions have retired or something traps; see hart.h for what holds then. */
    void (*run)(struct engine_state *e, struct hart *h);
    /* With hooks.count_blocks: tells of every basic block in which instructions retired since the last call, in the
     * order of numbers. A basic block goes from where control came to up to and including the next branch, jump or
     * system call, or to the 64th instruction; the end of a quantum does not cut it. A jump into the middle of one is
     * the entry of another. What is told adds up to the instructions that retired, exactly. */
    void (*block_counts)(struct engine_state *e, block_counts_told *tell, void *context);
};

extern const struct engine interpreter;

#endif
