/* Guest code decoded once: what the core needs to know of the instruction at a pc.
 *
 * Code is found by page and then by halfword, so that instructions in sequence cost two loads each. Entries stay where
 * they are until code_reset: instructions in flight point to them. When guest code changes, its pages forget what they
 * knew and are decoded again. */
#ifndef CYCLESCOPE_CORE_CODE_H
#define CYCLESCOPE_CORE_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "guest/memory.h"
#include "riscv/exec.h"
#include "riscv/insn.h"

/* What an instruction is to the back end: param.def has a latency and a pool of units for each. */
enum op_class {
    CLASS_ALU,
    CLASS_MUL,
    CLASS_DIV,
    CLASS_BRANCH,
    CLASS_LOAD,
    CLASS_STORE,
    CLASS_FPADD,
    CLASS_FPMUL,
    CLASS_FPDIV,
    CLASS_FPSQRT,
    CLASS_COUNT
};

enum insn_flag {
    IS_LOAD = 1 << 0,
    IS_STORE = 1 << 1,   /* has an entry of the store queue; atomics and fences, too */
    IS_CONTROL = 1 << 2, /* branch or jump */
    IS_CONDITIONAL = 1 << 3,
    IS_AT_HEAD = 1 << 4, /* issues as the oldest instruction, with all older stores in the cache */
    IS_SYSTEM_CALL = 1 << 5,
    IS_TRAP = 1 << 6, /* ebreak or illegal */
    IS_CSR = 1 << 7,
    IS_SERIAL = 1 << 8, /* what follows is fetched when this has committed */
    IS_PREFETCH = 1 << 9,
    IS_FP = 1 << 10,         /* waits in the issue queue of floating point */
    IS_DYNAMIC_RM = 1 << 11, /* traps if frm is reserved */
    IS_NOTABLE = 1 << 12,    /* commit has to do more than to let it go */
    IS_INSN = 1 << 13,       /* all are */
    IS_MEM = IS_LOAD | IS_STORE
};

enum pool { POOL_ALU, POOL_MULDIV, POOL_BRANCH, POOL_LOAD, POOL_STORE, POOL_FPU, POOL_FPMULDIV, POOLS };
enum queue { QUEUE_INT, QUEUE_FP, QUEUE_MEM, QUEUES };

/* How a core executes a class. */
struct class_timing {
    uint16_t latency;  /* cycles to its result */
    uint16_t interval; /* cycles until its unit takes another one */
    uint16_t pool;     /* enum pool: the units that can execute it */
    uint16_t queue;    /* enum queue: where it waits for issue */
};

/* Executes on registers and, if it accesses memory, on the host bytes `mem`; the result says whether a branch is
 * taken. */
typedef unsigned exec_function(struct hart *h, const struct operands *o, void *mem);

enum { REG_FP = 32, SOURCES = 3 }; /* registers by number: integer ones, then floating-point ones from REG_FP on */

/* Half a cache line each: a program's code has to stay close for the host as well. */
struct code {
    exec_function *run;
    struct operands o;
    uint16_t flags;          /* enum insn_flag */
    uint8_t length;          /* bytes */
    uint8_t mem_size;        /* bytes accessed */
    uint8_t source[SOURCES]; /* registers read, 0 if none; of a store the data is source[1] */
    uint8_t dest;            /* register written, 0 if none */
    uint8_t class;           /* enum op_class */
    uint8_t control;         /* enum branch_kind */
    uint16_t op;             /* enum insn_id */
    uint32_t bits;           /* the encoding */
};

enum { CODE_PAGE_HALFWORDS = GUEST_PAGE / 2, CODE_HASH = 1024, CODE_RECENT = 64, CODE_MOST = 1 << 20 };

struct code_page {
    uint64_t number;                  /* address / GUEST_PAGE */
    bool fetchable;                   /* it was found to be, and nothing has changed */
    struct code_page *next;           /* in the hash chain */
    uint32_t at[CODE_PAGE_HALFWORDS]; /* index of the decoded instruction; 0: not decoded yet */
};

struct code_cache {
    struct code *code; /* CODE_MOST of them, touched as needed; [0] is none */
    uint32_t used;
    struct code_page *recent[CODE_RECENT]; /* pages found last, by number; never NULL */
    struct guest_memory *memory;
    const uint8_t *mem;
    const uint8_t *firmware; /* memory of machine mode (firmware.h), or NULL: its code cannot be fetched */
    struct code_page *hash[CODE_HASH];
    struct code_page none; /* stands for no page */
};

struct code_cache *code_new(struct guest_memory *memory, struct error *err) MUST_CHECK;
void code_free(struct code_cache *c);
void code_use_firmware(struct code_cache *c, const uint8_t *memory); /* from now on; NULL: no more */
/* The places of a page's instructions, from this address on. */
const uint32_t *code_row(struct code_cache *c, uint64_t addr);
const struct code *code_find_slowly(struct code_cache *c, uint64_t pc, uint64_t *fault);
void code_describe(const struct insn *i, struct code *c); /* a legal instruction */
bool code_wants_reset(const struct code_cache *c);        /* it is full; to be done when nothing is in flight */
void code_reset(struct code_cache *c);
guest_code_watcher code_changed; /* with the cache as its context */

/* exec.c */
exec_function *exec_function_of(enum insn_id op, bool soft); /* soft: static rounding mode */
unsigned exec_csr(struct hart *h, const struct code *code, uint64_t retired, bool *illegal);

/* The instruction at pc, NULL if it cannot be fetched, *fault is then the address at fault, or if code_wants_reset. */
static inline const struct code *code_find(struct code_cache *c, uint64_t pc, uint64_t *fault)
{
    uint64_t number = pc / GUEST_PAGE;
    const struct code_page *page = c->recent[number % CODE_RECENT];
    if (__builtin_expect(page->number == number, 1)) {
        uint32_t found = page->at[pc % GUEST_PAGE / 2];
        if (__builtin_expect(found != 0, 1))
            return &c->code[found];
    }
    return code_find_slowly(c, pc, fault);
}

#endif
