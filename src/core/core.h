/* A superscalar out-of-order core, simulated cycle by cycle.
 *
 * The pipeline: fetch → (front end of N stages) → dispatch → issue → complete → commit. Within a cycle the last stage
 * runs first, so a stage sees what its predecessor passed on only in the next cycle. The exception is the bypass:
 * completion and issue work in the same cycle. Instructions execute when they are fetched (paths.h); the pipeline
 * decides in which cycles that would have happened. docs/MODEL.md has the exact rules.
 *
 * One record describes each cycle. A run of identical records is reported once, with its length. The core jumps over
 * cycles in which no stage can do anything. Jumping changes no record: tests run both ways and compare.
 *
 * A core serves one process and any number of harts, one hart at a time, like an engine (emulate/engine.h). */
#ifndef CYCLESCOPE_CORE_CORE_H
#define CYCLESCOPE_CORE_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "core/config.h"
#include "core/wrong_lines.h"
#include "riscv/hart.h"
#include "guest/memory.h"
#include "memsys/memsys.h"

/* Why fetch brought fewer instructions than its width in a cycle. */
enum fetch_stop {
    FETCH_WIDTH,    /* it brought its full width */
    FETCH_GROUP,    /* the lines or branches that one cycle may handle are used up, or the quantum ends */
    FETCH_BUFFER,   /* the fetch buffer is full */
    FETCH_L1I,      /* waits for a line from the L2 or L3 */
    FETCH_L2I,      /* waits for a line from memory */
    FETCH_ITLB,     /* waits for a translation */
    FETCH_MISFETCH, /* the BTB lacks a taken branch: decode finds the target */
    FETCH_SERIAL,   /* waits for an empty window: serializing instruction, trap or another thread */
    FETCH_LOST,     /* the wrong path has no next instruction */
    FETCH_STOPS
};

/* Why dispatch moved fewer instructions than its width in a cycle. */
enum dispatch_stop {
    DISPATCH_WIDTH,  /* dispatched its full width */
    DISPATCH_EMPTY,  /* the front end has no instruction ready */
    DISPATCH_ROB,    /* the ROB is full */
    DISPATCH_IQ,     /* an issue queue is full */
    DISPATCH_LSQ,    /* the load/store queue is full */
    DISPATCH_REGS,   /* no free physical register */
    DISPATCH_BUNDLE, /* the bundle is shorter than the width */
    DISPATCH_STOPS
};

/* Why issue moved fewer instructions than its width in a cycle. */
enum issue_stop {
    ISSUE_WIDTH,    /* issued its full width */
    ISSUE_EMPTY,    /* the issue queue is empty */
    ISSUE_OPERANDS, /* waiting instructions lack operands, wait for stores, or wait to be the oldest */
    ISSUE_UNITS,    /* a ready instruction found no free unit or port */
    ISSUE_STOPS
};

/* Why commit retired fewer instructions than its width in a cycle. */
enum commit_stop {
    COMMIT_WIDTH,  /* retired its full width */
    COMMIT_EMPTY,  /* the ROB is empty */
    COMMIT_HEAD,   /* the oldest instruction is not complete */
    COMMIT_STORES, /* the store buffer is full */
    COMMIT_STOPS
};

/* What the oldest instruction in the ROB waits for. */
enum head_wait {
    HEAD_NOTHING, /* the ROB is empty, or the oldest instruction is complete */
    HEAD_ISSUE,   /* its turn to issue, or a unit; of a store also its data */
    HEAD_ALU,     /* its result from an ALU, a branch unit or any unit of one cycle */
    HEAD_UNIT,    /* its result from another integer unit of several cycles */
    HEAD_FPU,     /* its result from a floating-point unit of several cycles */
    HEAD_L1D_HIT, /* data from the L1D, or forwarded from a store */
    HEAD_L1D,     /* data from the L2 or L3; or room behind a store that waits for such data */
    HEAD_L2D,     /* data from memory; or room behind a store that waits for such data */
    HEAD_DTLB,    /* a translation from a page walk or the second-level TLB */
    HEAD_WALKED,  /* data from the L2 or L3, after a page walk */
    HEAD_REJECT,  /* a retry: a store overlaps the load partly, or no MSHR was free */
    HEAD_STORES,  /* older stores must reach the cache first; or room in the store buffer */
    HEAD_WAITS
};

/* What last kept the front end from delivering instructions of the right path. The values from CAUSE_L1I to
 * CAUSE_MISFETCH are in the order of enum fetch_stop. */
enum front_cause {
    CAUSE_NONE,     /* nothing since the core started */
    CAUSE_L1I,      /* an instruction line came from the L2 or L3 */
    CAUSE_L2I,      /* an instruction line came from memory */
    CAUSE_ITLB,     /* fetch waited for a translation */
    CAUSE_MISFETCH, /* the BTB lacked a taken branch */
    CAUSE_BRANCH,   /* a misprediction was resolved */
    CAUSE_SERIAL,   /* the window had to drain */
    CAUSES
};

enum cycle_flag {
    CYCLE_ROB_FULL = 1,   /* the ROB is full at the end of the cycle */
    CYCLE_WRONG_PATH = 2, /* fetch is on the wrong path at the end of the cycle */
    CYCLE_STARVED = 4,    /* no instruction entered the front-end stages because of the miss or misfetch in fetch_stop:
                             fetch brought none, and the fetch buffer was empty */
    CYCLE_MACHINE = 8     /* the cycle belongs to machine mode (machine.h) */
};

/* What one cycle did, or each cycle of a run. */
struct cycle_record {
    uint8_t fetched, dispatched, issued, committed;
    uint8_t fetch_stop, dispatch_stop, issue_stop, commit_stop;
    uint16_t rob;                           /* occupied entries at the end of the cycle */
    uint8_t head_wait;                      /* enum head_wait at the start of the cycle, before commit */
    uint8_t flags;                          /* enum cycle_flag */
    uint8_t dispatched_wrong, issued_wrong; /* how many of `dispatched` and `issued` are on the wrong path */
    uint8_t cause;                          /* enum front_cause if the ROB is empty when the cycle begins; else 0 */
    uint8_t cut; /* decode slots that stay empty because the miss or misfetch in fetch_stop begins in this cycle: free
                    slots in the last decode group before it; else 0 */
};

/* Consecutive cycles with equal records. */
struct cycle_run {
    struct cycle_record record; /* each cycle's record */
    uint64_t cycles;            /* number of cycles */
};

/* Miss events of one instruction. Stride events occur only if core_observer.strides asks for them. */
enum insn_event {
    EVENT_L1I = 1,             /* its fetch missed the L1I */
    EVENT_L2I = 2,             /* its line came from memory */
    EVENT_ITLB = 4,            /* its fetch missed the TLBs */
    EVENT_L1D = 8,             /* its load missed the L1D, or waited for an outstanding miss of the line */
    EVENT_L2D = 16,            /* its data came from memory */
    EVENT_DTLB = 32,           /* its access missed the TLBs */
    EVENT_FORWARD = 64,        /* an older store forwarded its data */
    EVENT_REJECT = 128,        /* it was sent back at least once */
    EVENT_MISFETCH = 256,      /* it is the first instruction after a misfetch */
    EVENT_STRIDE_ADDR = 512,   /* a stride predictor would have mispredicted the address that it loads from */
    EVENT_STRIDE_VALUE = 1024, /* a stride predictor would have mispredicted the value that it loads */
};

enum { EVENTS_OF_FETCH = EVENT_L1I | EVENT_L2I | EVENT_ITLB | EVENT_MISFETCH };
enum { EVENTS_OF_STRIDES = EVENT_STRIDE_ADDR | EVENT_STRIDE_VALUE };

enum { CORE_SLOTS = 4096 }; /* most slots in a window */

/* An instruction as observers see it. */
struct insn_view {
    uint64_t id; /* number in fetch order, wrong path included; only for instructions observed from fetch on */
    uint64_t pc;
    uint64_t addr;   /* address of the memory access, or target of the control transfer */
    uint32_t bits;   /* encoding */
    uint16_t events; /* enum insn_event so far */
    uint16_t slot;   /* slot in the window, unique among instructions in flight, less than CORE_SLOTS */
    uint8_t class;   /* enum op_class */
    uint8_t kind;    /* enum branch_kind (branch/branch.h) of a control transfer */
    uint8_t size;    /* bytes of the memory access; 0: none */
    bool store;      /* the memory access writes */
    bool wrong_path, control, conditional, taken, mispredicted;
    bool machine; /* executes in machine mode */
    uint32_t tag; /* value of the observer's tag when it was fetched; 0 without a tag */
};

/* What the core counts. */
struct core_counts {
#define COUNT_OF(name, trust, help) uint64_t name;
#include "core/count.def"
#undef COUNT_OF
    uint64_t fetch_stop[FETCH_STOPS], dispatch_stop[DISPATCH_STOPS], issue_stop[ISSUE_STOPS];
    uint64_t commit_stop[COMMIT_STOPS], head_wait[HEAD_WAITS]; /* cycles by reason */
};

struct code;
struct core;
struct strides;

/* Cycles in which fetch waited between an instruction and the one before it, on the path of the instruction, by cause.
 * Cycles that only the wrong path waited are not in them. */
struct fetch_stalls {
    uint16_t cycles[FETCH_MISFETCH + 1]; /* by enum fetch_stop, from FETCH_L1I to FETCH_MISFETCH; saturates */
    uint16_t line_cycles;                /* of those of FETCH_L1I and FETCH_L2I: cycles that lines took beyond the L2 */
    uint16_t mshr_cycles;                /* of those: cycles that the request of a line waited for an MSHR */
    bool requested;                      /* a line was requested from below the L1I, and not only waited for */
    bool prefetched;                     /* the prefetcher of the L1I requested a line */
    bool mshrs_taken;                    /* after a line was read, no MSHR of the L1I was free */
    uint16_t wrong_use;                  /* of its line, after wrong paths have requested it: wrong_lines_use; or 0 */
};

/* How an instruction accessed data. */
struct data_access {
    uint16_t translation_cycles; /* cycles that it was sent back for to wait for its translation */
    uint16_t cycles;             /* from the access until the data can be used; 0: the cache was not accessed */
    uint16_t prefetch_cycles[2]; /* until all lines arrive that it made prefetchers bring into the L1D, and the L2 */
    uint8_t level;               /* enum mem_level that has the line, or from which it is on its way */
    bool merged;                 /* the line was already on its way */
};

/* A unit that is not pipelined and that a squashed instruction keeps busy. */
struct unit_use {
    uint8_t pool;    /* enum pool */
    uint16_t cycles; /* from the resolution of the mispredicted branch on; 0: none is busy */
};

/* How long an instruction waited for what younger ones had taken that were ready earlier. */
struct younger_wait {
    uint16_t cycles; /* saturates */
    bool wrong_path; /* one of the younger ones was of the wrong path */
};

/* An instruction that retires, with what its timing depended on. */
struct retired_insn {
    const struct code *code; /* decoded instruction, valid during the call */
    uint64_t pc, addr;       /* as in struct insn_view */
    uint16_t slot;
    bool taken, mispredicted;
    bool no_access;                /* it makes no memory access */
    bool wrong_code;               /* wrong paths have brought more code than data into the L2 so far */
    uint32_t store;                /* IS_STORE: position in the store queue, counted modulo 2^32 */
    struct fetch_stalls stalls;    /* before it was fetched */
    struct data_access access;     /* of a load, or translation of a store */
    struct unit_use wrong_path;    /* of a mispredicted branch: the unit that its wrong path keeps busy longest */
    struct younger_wait unit_wait; /* for a unit that is not pipelined; of one that accesses no memory */
    struct younger_wait mshr_wait; /* for an MSHR */
    const struct wrong_request *wrong_lines; /* how wrong paths used its line before (WRONG_REQUESTS), or NULL */
    const struct wrong_made *wrong_made;     /* of a mispredicted branch: wrong_lines_made; else NULL */
};

/* Which instructions the core reports to an observer. */
enum observed {
    OBSERVE_ALL,     /* every instruction */
    OBSERVE_CHOSEN,  /* those selected with core_choose or core_capture */
    OBSERVE_CONTROL, /* control transfers, and instructions with EVENTS_OF_FETCH */
    /* On the right path: mispredicted control transfers; instructions with EVENTS_OF_FETCH (`fetched` is called only
     * for control transfers among them); and the first control transfer after cycles in which the front end was starved
     * (`fetched` only). On the wrong path: `mispredicted` for all control transfers, and instructions with
     * EVENTS_OF_FETCH (`dispatched` is called only when they enter an empty ROB). */
    OBSERVE_MISSES
};

/* Whether the core reports which loads stride predictors (strides.h) would have mispredicted. */
enum stride_events {
    STRIDES_OFF, /* not reported */
    STRIDES_ON,  /* loads carry EVENT_STRIDE_ADDR and EVENT_STRIDE_VALUE */
    STRIDES_ONLY /* as STRIDES_ON, and the observer does not need instructions without these events */
};

/* A call or a return. */
struct core_transfer {
    uint64_t pc, target, fallthrough;
    uint8_t kind; /* enum branch_kind */
};

/* Callbacks of an observer. Functions may be NULL. Calls come in time order: the calls of a cycle come after the
 * records of all earlier cycles and before the cycle's own record, in the order commit, complete, issue, dispatch,
 * fetch. */
struct core_observer {
    /* Observation starts. `live` stays valid and grows while the core runs. */
    void (*begin)(void *context, struct core *c, const struct core_counts *live);
    void (*runs)(void *context, const struct hart *h); /* `h` starts to run, and is not the hart that ran last */
    void (*cycles)(void *context, const struct cycle_record *r, uint64_t n);
    /* The same as `cycles`, but several runs per call and late, though before any other call. The core calls it instead
     * of `cycles` where it can. */
    void (*cycle_runs)(void *context, const struct cycle_run *runs, unsigned count);
    void (*fetched)(void *context, const struct insn_view *v, uint64_t cycle);
    void (*dispatched)(void *context, const struct insn_view *v, uint64_t cycle);
    void (*issued)(void *context, const struct insn_view *v, uint64_t cycle);
    /* The instruction was issued and not sent back: once per instruction. */
    void (*executed)(void *context, const struct insn_view *v, uint64_t cycle);
    /* The control transfer resolved as mispredicted. */
    void (*mispredicted)(void *context, const struct insn_view *v, uint64_t cycle);
    void (*completed)(void *context, const struct insn_view *v, uint64_t cycle);
    void (*committed)(void *context, const struct insn_view *v, uint64_t cycle);
    void (*squashed)(void *context, const struct insn_view *v, uint64_t cycle);
    /* Every instruction that retires, whatever `observed` selects. Unlike the calls above, it may come before the
     * records of earlier cycles. */
    void (*retired)(void *context, const struct retired_insn *r, uint64_t cycle);
    /* The retired store at this position of the store queue accesses the cache, which takes it after a->cycles. Stores
     * come in program order; those that retired before the observer was attached come as well. */
    void (*drained)(void *context, uint32_t store, const struct data_access *a, uint64_t cycle);
    /* A call or return on the right path is fetched. `t` has its target and the address of the instruction after it. */
    void (*transferred)(void *context, const struct hart *h, const struct core_transfer *t);
    /* Returns the value that the guest reads from hpmcounter 3 to 31. NULL: the guest reads 0. */
    uint64_t (*counter)(void *context, unsigned hpmcounter);
    /* The core enters machine mode or leaves it. All cycles before the change have been reported; those that follow
     * belong to the new mode. Nothing is in flight. */
    void (*mode)(void *context, bool machine);
    /* A watched count reached its limit in a cycle before `cycle`, see core_watch. */
    void (*reached)(void *context, unsigned watch, uint64_t cycle);
    void *context;
    const uint32_t *tag; /* number that instructions copy when they are fetched (insn_view.tag), or NULL */
    enum observed observed;
    bool each_cycle; /* report the record of each cycle when the cycle ends; only cycles in which nothing happened are
                        still reported as a run */
    enum stride_events strides; /* has an effect only with OBSERVE_ALL */
};

static inline bool core_observes_insns(const struct core_observer *o)
{
    return o->fetched || o->dispatched || o->issued || o->executed || o->mispredicted || o->completed || o->committed ||
           o->squashed;
}

enum { CORE_WATCHES = 8 };

struct core *core_new(const struct core_config *config, struct guest_memory *memory, struct error *err) MUST_CHECK;
void core_free(struct core *c);
/* A memory hierarchy like that of a core with this configuration; the caller frees it. */
struct memsys *core_new_memsys(const struct core_config *config, struct error *err) MUST_CHECK;
/* Attaches an observer, in place of the previous one; NULL: none. Call with nothing in flight. */
void core_observe(struct core *c, const struct core_observer *o);
void core_step_every_cycle(struct core *c, bool step); /* do not jump over idle cycles */

/* Runs a hart under the contract of hart.h. When the run ends with TRAP_NONE, instructions may remain in flight; the
 * next run continues them. */
void core_run(struct core *c, struct hart *h);
void core_drain(struct core *c); /* runs until nothing is in flight */

/* ---- programs that take turns on one core
 *
 * Each program has its own host process and in it its own struct core, forked from a core that serves no program yet.
 * When the turn passes to the next program, with nothing in flight, the hardware state passes with it: caches, TLBs,
 * bus, prefetchers, predictors, time, and machine mode's registers and counters. Counts, decoded code and observers
 * stay. Caches and TLBs tell programs apart by their address space (`space`); predictors do not. */

enum { CORE_SPACES = 64 };

void core_serve(struct core *c, struct guest_memory *memory, unsigned space); /* `space` is less than CORE_SPACES */
unsigned core_space(const struct core *c);
size_t core_state_bytes(struct core *c);               /* size of the state that passes from one program to the next */
void core_put_state(struct core *c, void *to);         /* call after core_settle */
void core_get_state(struct core *c, const void *from); /* `from` comes from a core forked from the same parent */
/* The program has the core for `cycles` cycles (UINT64_MAX: without limit), then the run ends early. If the firmware
 * runs first, the turn begins when the firmware returns. `switched`: another program had the core before; the firmware
 * gets an interrupt. */
void core_begin_turn(struct core *c, uint64_t cycles, bool switched);
bool core_turn_is_over(const struct core *c);
void core_settle(struct core *c); /* runs until nothing is in flight and the store buffer is empty; fetches nothing */

/* ---- warm state, as functional warming leaves it (sim/warm.h), for a core with the same parameters that has not run
 * yet; the core may be in another process */

size_t core_warm_bytes(struct core *c);
void core_put_warm(struct core *c, void *to);
/* Returns false if the state does not fit this core. */
bool core_get_warm(struct core *c, const void *from, size_t bytes) MUST_CHECK;

/* The parts of a core that functional warming updates (sim/warm.h). */
struct core_warm_parts {
    struct memsys *memsys;
    struct branch_unit *predictor; /* NULL with perfect prediction */
    struct strides *strides;
    uint64_t space; /* offset of the program's address space, see core_place */
    unsigned rob_size, line_bytes;
};

struct core_warm_parts core_warm_parts(struct core *c);
void core_forget_code(struct core *c); /* decodes guest code again, and watches for changes to it */

/* Returns the address that caches and TLBs see for address `addr` of the program in this space. Machine-mode addresses
 * are the same in every space. */
static inline uint64_t core_place(uint64_t space, uint64_t addr)
{
    return addr + (addr < GUEST_SPACE ? space : 0);
}

/* ---- for observers, while the core runs */

/* Makes the core observe the instruction with this number in fetch order, or the next instruction that is fetched if
 * that number has passed; 0: none. */
void core_choose(struct core *c, uint64_t id);
uint64_t core_cycle(const struct core *c);   /* the current cycle, or between cycles the next one */
uint64_t core_fetched(const struct core *c); /* number in fetch order of the next instruction */

/* While `capture` is set, the core calls `committed` for each instruction that retires and is a memory access, a
 * control transfer or has an event. */
void core_capture(struct core *c, bool capture);

/* The core calls `reached` after the cycle in which `*count` is `limit` or more; `count` NULL: the number of the
 * current cycle; `limit` UINT64_MAX: never. Counts of reasons and of cycles grow late unless the observer has
 * each_cycle. */
void core_watch(struct core *c, unsigned watch, const uint64_t *count, uint64_t limit);

/* Returns the pc that the handler of an interrupt would find if the interrupt came now: an interrupt stops fetch, and
 * everything in flight on the right path retires before the handler runs. */
uint64_t core_interrupt_pc(const struct core *c);

/* Fills in the instruction to blame for the next cycle: the oldest instruction in flight; the mispredicted branch while
 * the window refills after it; else the instruction that is fetched next. */
void core_blame(struct core *c, struct insn_view *v);

/* Copies the state of the core's memory hierarchy to another one of the same parameters (core_new_memsys), for
 * observers that model what other accesses would have done to it. */
void core_copy_memory_state(struct core *c, struct memsys *to);

/* Returns the counts, complete up to the current cycle. */
const struct core_counts *core_counts(struct core *c);
struct memsys *core_memsys(struct core *c);

#endif
