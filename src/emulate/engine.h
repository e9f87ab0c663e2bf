/* An engine executes a hart functionally, at full speed.
 *
 * It is a const struct of functions over an opaque state, so that another engine, such as a binary translator, can
 * stand beside the interpreter. An engine serves one guest_memory and any number of harts on it, one at a time, on one
 * host thread. */
#ifndef CYCLESCOPE_EMULATE_ENGINE_H
#define CYCLESCOPE_EMULATE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "riscv/hart.h"
#include "guest/memory.h"
#include "riscv/insn.h"

/* Which hooks to call for an instruction; the answer of engine_hooks.watch. */
struct engine_watch {
    uint8_t bytes;       /* call `access` for its memory access of this size at rs1 + imm; 0: do not */
    bool store;          /* the access is a store; passed to `access` */
    bool transfer;       /* it is a branch or jump: report it to `transfers` */
    uint8_t kind;        /* chosen by the watcher, passed on in transfer_site.kind */
    bool result;         /* call `result` with its result register; only if `bytes` is not 0 */
    uint8_t result_slot; /* number of the result register */
    bool result_fp;      /* the result register is a floating-point register */
};

/* A control transfer in the code. */
struct transfer_site {
    uint64_t pc : 48;
    uint64_t length : 8; /* of the instruction, in bytes */
    uint64_t kind : 8;   /* from engine_watch */
    uint64_t direct;     /* target when taken, if known from the code; of an indirect jump 0 or the known target */
};

/* A control transfer that was executed. */
struct engine_transfer {
    struct transfer_site at;
    uint64_t target; /* pc of the next instruction; of a branch that is not taken NOT_TAKEN */
};
enum { NOT_TAKEN = 1 }; /* no instruction has this pc */

/* Lines and pages to which the next access is of no interest to the watcher, if it is to both. The watcher lists them
 * and removes them. An entry is found by the number of the line or page. */
enum { FILTER_LINES = 256, FILTER_PAGES = 64 }; /* most entries */
#define FILTER_NONE UINT64_MAX                  /* an entry that lists nothing */

struct engine_filter {
    unsigned line_shift, page_shift; /* log2 of their sizes */
    uint64_t line_mask, page_mask;   /* number of entries in use, a power of two, - 1 */
    uint64_t line[FILTER_LINES];     /* by number & line_mask: number << 1, and 1 if also stores are of no interest */
    uint64_t page[FILTER_PAGES];     /* by number & page_mask: number */
};

/* Callbacks while a program runs. A hook that is NULL costs nothing: no code to call it is generated. */
struct engine_hooks {
    /* Called when a basic block of `insns` instructions is entered: straight-line code up to and including the next
     * branch, jump or system call. A fault may leave it early. A basic block that is longer than a translated block, or
     * in which a quantum ends, is reported as several. */
    void (*block)(void *context, uint64_t pc, unsigned insns);
    /* Called before an instruction executes, with the registers as they are before it. */
    void (*insn)(void *context, const struct hart *h, uint64_t pc, const struct insn *insn);
    /* Called when an instruction is translated: selects which of the hooks below are called each time it executes. An
     * event that is not selected costs nothing. If `watch` is set, the hooks and filters below must be, too.
     * `count_blocks` must not be. */
    struct engine_watch (*watch)(void *context, const struct insn *insn);
    unsigned line_bytes; /* with `watch`: size of a fetch line, a power of two */
    /* `line`, `access` and `result` are called in program order.
     * `line`: fetch reaches another line than that of the last byte fetched before. */
    void (*line)(void *context, uint64_t addr);
    const struct engine_filter *fetched; /* lines and pages of fetches for which `line` need not be called */
    /* Called before the access is made. */
    void (*access)(void *context, uint64_t addr, unsigned bytes, bool store, uint64_t pc);
    const struct engine_filter *accessed; /* lines and pages of accesses for which `access` need not be called */
    /* Called after the instruction, with the content of its result register. */
    void (*result)(void *context, uint64_t pc, uint64_t number);
    /* Called with control transfers in program order, many at a time: at the latest when `run` returns. */
    void (*transfers)(void *context, const struct engine_transfer *transfer, size_t count);
    void *context; /* passed to all hooks */
    /* Count instructions and entries per basic block for engine.block_counts. Costs one host instruction for each
     * translated block that is left. */
    bool count_blocks;
};

/* A basic block, described from its code alone. */
struct basic_block {
    uint64_t pc;     /* of its entry */
    uint64_t target; /* of the call or jump that ends it, if its instructions determine that; else 0 */
    uint32_t insns;  /* from entry to end */
    bool call;       /* it ends in a call, not in a jump */
};

/* Reports that `insns` instructions, at least 1, retired in a basic block, and that control entered it `entries` times:
 * its first instruction retired. `entries` is 0 if the entry was reported before. Basic blocks that ran are numbered
 * from 0, roughly in the order of their first execution; a pc keeps its number for the engine's life. */
typedef void block_count_callback(void *context, uint32_t number, const struct basic_block *block, uint64_t insns,
                                  uint64_t entries);

struct engine_state;

struct engine {
    const char *name;
    struct engine_state *(*create)(struct guest_memory *memory, struct error *err); /* NULL: out of memory */
    void (*destroy)(struct engine_state *e);
    void (*set_hooks)(struct engine_state *e, const struct engine_hooks *hooks); /* copies `hooks` */
    /* The number of control transfers that were executed and not yet passed to hooks.transfers. */
    size_t (*transfers_waiting)(const struct engine_state *e);
    /* Keeps translated code from host processes that are forked from now on, or no longer. It is large, and so is the
     * host's work to share it. In such a process only `destroy` may be called. */
    void (*keep_from_forks)(struct engine_state *e, bool keep);
    /* Runs until exactly h->quantum instructions have retired or something traps; hart.h describes the state then. */
    void (*run)(struct engine_state *e, struct hart *h);
    /* With hooks.count_blocks: calls `report` for every basic block in which instructions retired since the last call,
     * in the order of numbers. A basic block extends from the target of a transfer up to and including the next branch,
     * jump or system call, or to its 64th instruction; the end of a quantum does not cut it. A jump into the middle of
     * a basic block enters another basic block. The reported counts add up to exactly the instructions that retired. */
    void (*block_counts)(struct engine_state *e, block_count_callback *report, void *context);
};

extern const struct engine interpreter;

#endif
