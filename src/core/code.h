/* Decoded guest code: what the core needs to know about the instruction at a pc.
 *
 * Code is looked up by page and then by halfword, so an instruction in sequence costs two loads. Entries stay in place
 * until code_reset, because instructions in flight point to them. When guest code changes, its pages drop the entries
 * of the changed bytes, which are then decoded again. Fetch executes instructions in program order, so a store to code
 * takes effect at the next instruction. */
#ifndef CYCLESCOPE_CORE_CODE_H
#define CYCLESCOPE_CORE_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "core/access_cache.h"
#include "guest/memory.h"
#include "riscv/exec.h"
#include "riscv/insn.h"

/* Class of an instruction in the back end. param.def has a latency and a pool of units for each. */
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

/* Properties of a decoded instruction. */
enum insn_flag {
    IS_LOAD = 1 << 0,
    IS_STORE = 1 << 1,   /* has an entry in the store queue; also atomics and fences */
    IS_CONTROL = 1 << 2, /* branch or jump */
    IS_CONDITIONAL = 1 << 3,
    IS_AT_HEAD = 1 << 4, /* issues only as the oldest instruction, with all older stores in the cache */
    IS_SYSTEM_CALL = 1 << 5,
    IS_TRAP = 1 << 6, /* ebreak or illegal */
    IS_CSR = 1 << 7,
    IS_SERIAL = 1 << 8, /* the next instruction is fetched when this one has retired */
    IS_PREFETCH = 1 << 9,
    IS_FP = 1 << 10,         /* waits in the floating-point issue queue */
    IS_DYNAMIC_RM = 1 << 11, /* traps if frm is reserved */
    IS_NOTABLE = 1 << 12,    /* commit has to handle it, not only count it */
    IS_INSN = 1 << 13,       /* set on every instruction */
    IS_MEM = IS_LOAD | IS_STORE
};

enum pool { POOL_ALU, POOL_MULDIV, POOL_BRANCH, POOL_LOAD, POOL_STORE, POOL_FPU, POOL_FPMULDIV, POOLS };
enum queue { QUEUE_INT, QUEUE_FP, QUEUE_MEM, QUEUES };

/* How a core executes a class of instructions. */
struct class_timing {
    uint16_t latency;  /* cycles to its result */
    uint16_t interval; /* cycles until its unit accepts another instruction */
    uint16_t pool;     /* enum pool: units that execute it */
    uint16_t queue;    /* enum queue: issue queue in which it waits */
};

/* Executes an instruction on the registers of h and, if it accesses memory, on the host bytes `mem`. Returns whether a
 * conditional branch is taken. */
typedef unsigned exec_function(struct hart *h, const struct operands *o, void *mem);

enum {
    REG_FP = 32,
    SOURCES = 3
}; /* register numbers: integer registers, then floating-point registers from REG_FP on */

/* A decoded instruction. Two fit a cache line of the host, to keep decoded code close together in the host's caches. */
struct code {
    exec_function *run;      /* executes it */
    struct operands o;       /* register numbers and immediate */
    uint16_t flags;          /* enum insn_flag */
    uint8_t length;          /* length in bytes */
    uint8_t mem_size;        /* bytes of its memory access; 0: none */
    uint8_t source[SOURCES]; /* registers read, 0: none; source[1] is the data of a store */
    uint8_t dest;            /* register written, 0: none */
    uint8_t class;           /* enum op_class */
    uint8_t control;         /* enum branch_kind */
    uint16_t op;             /* enum insn_id */
    uint32_t bits;           /* encoding */
};

enum { ZEROED_BYTES = 64 }; /* of cbo.zero, whose address is rounded down to a multiple of this; the largest access */
enum { CODE_PAGE_HALFWORDS = GUEST_PAGE / 2, CODE_HASH = 1024, CODE_RECENT = 64, CODE_MOST = 1 << 20 };

/* Decoded instructions of one guest page. */
struct code_page {
    uint64_t number;                  /* address / GUEST_PAGE */
    bool fetchable;                   /* the guest may execute it; checked since the last change */
    struct code_page *next;           /* next page in the hash chain */
    uint32_t at[CODE_PAGE_HALFWORDS]; /* by halfword: index of the decoded instruction; 0: not decoded yet */
};

struct code_cache {
    struct code *code;                     /* CODE_MOST entries, host memory is used as they fill; entry 0 means none */
    uint32_t used;                         /* entries of `code` in use, entry 0 included */
    struct code_page *recent[CODE_RECENT]; /* pages found last, by page number; never NULL */
    struct guest_memory *memory;           /* the guest's memory */
    struct access_cache *writable; /* pages that stores write without a check for code; a decoded page leaves it */
    const uint8_t *mem;            /* its host address */
    const uint8_t
        *firmware; /* memory of machine mode (firmware.h); NULL: not in machine mode, its code cannot be fetched */
    struct code_page *hash[CODE_HASH]; /* all pages, by page number */
    struct code_page none;             /* stands for no page in `recent` */
};

struct code_cache *code_new(struct guest_memory *memory, struct access_cache *writable, struct error *err) MUST_CHECK;
void code_free(struct code_cache *c);
/* From now on code in this memory of machine mode can be fetched; NULL: none. */
void code_use_firmware(struct code_cache *c, const uint8_t *memory);
/* Returns the part of code_page.at that begins at this address. Valid until code_reset. */
const uint32_t *code_row(struct code_cache *c, uint64_t addr);
/* code_find for instructions that the fast lookup misses; decodes them. */
const struct code *code_find_slowly(struct code_cache *c, uint64_t pc, uint64_t *fault);
void code_describe(const struct insn *i, struct code *c); /* i is a legal instruction */
bool code_wants_reset(const struct code_cache *c); /* the cache is full: call code_reset when nothing is in flight */
void code_reset(struct code_cache *c);             /* drops all decoded code */
guest_code_watcher code_changed;                   /* callback for changed guest code; its context is the code_cache */

/* core_new.c: how a core of this configuration executes each class of instructions, and its units by pool */
struct core_config;
void core_time_classes(const struct core_config *k, struct class_timing timing[CLASS_COUNT]);
void core_count_units(const struct core_config *k, uint8_t units[POOLS]);

/* exec.c */
exec_function *exec_function_of(enum insn_id op, bool soft); /* soft: the instruction has a static rounding mode */
unsigned exec_csr(struct hart *h, const struct code *code, uint64_t retired, bool *illegal);

/* Returns the instruction at pc. NULL: it cannot be fetched (*fault is the address at fault), or code_wants_reset is
 * true. */
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
