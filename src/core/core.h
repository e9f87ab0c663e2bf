/* A superscalar out-of-order core, cycle by cycle.
 *
 * The pipeline: fetch → (front end of N stages) → dispatch → issue → complete → commit. Stages of a cycle are worked
 * off last one first, so what a stage hands on is seen by the next one in the following cycle; only completion and
 * issue meet in one cycle, which is the bypass. Instructions execute when they are fetched (paths.h); the pipeline
 * decides when that would have happened. docs/MODEL.md has the exact rules.
 *
 * Every cycle is described by one record; a run of identical ones is reported once, with its length. Cycles in which
 * no stage can do anything are jumped over, which changes no record: tests run both ways and compare.
 *
 * A core serves one process and any number of harts, one at a time, like an engine (emulate/engine.h). */
#ifndef CYCLESCOPE_CORE_CORE_H
#define CYCLESCOPE_CORE_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "core/config.h"
#include "guest/hart.h"
#include "guest/memory.h"
#include "memsys/memsys.h"

/* Why fetch brought less than its width. */
enum fetch_stop {
    FETCH_WIDTH,    /* it did not */
    FETCH_GROUP,    /* the line, the branches or the lines of this cycle ended */
    FETCH_BUFFER,   /* no room in the buffer */
    FETCH_L1I,      /* a line comes from the second or third cache */
    FETCH_L2I,      /* a line comes from memory */
    FETCH_ITLB,     /* a translation is under way */
    FETCH_MISFETCH, /* the target of a taken branch is known only at decode */
    FETCH_SERIAL,   /* a serializing instruction, a trap or another thread: the window drains */
    FETCH_LOST,     /* the wrong path has nowhere to go on */
    FETCH_STOPS
};

enum dispatch_stop {
    DISPATCH_WIDTH,  /* dispatched all it could */
    DISPATCH_EMPTY,  /* the front end has nothing ready */
    DISPATCH_ROB,    /* full */
    DISPATCH_IQ,     /* full */
    DISPATCH_LSQ,    /* full */
    DISPATCH_REGS,   /* no physical register is free */
    DISPATCH_BUNDLE, /* the bundle ended */
    DISPATCH_STOPS
};

enum issue_stop {
    ISSUE_WIDTH,    /* issued all it could */
    ISSUE_EMPTY,    /* nothing waits for issue */
    ISSUE_OPERANDS, /* what waits has operands, stores or its turn to wait for */
    ISSUE_UNITS,    /* something was ready and its units or ports were taken */
    ISSUE_STOPS
};

enum commit_stop {
    COMMIT_WIDTH,  /* committed all it could */
    COMMIT_EMPTY,  /* the ROB ran empty */
    COMMIT_HEAD,   /* the oldest instruction is not complete */
    COMMIT_STORES, /* the store buffer is full */
    COMMIT_STOPS
};

/* What the oldest instruction waits for. */
enum head_wait {
    HEAD_NOTHING, /* there is none, or it is complete */
    HEAD_ISSUE,   /* its turn, or a unit */
    HEAD_ALU,     /* an ALU or a branch unit, or a unit of one cycle */
    HEAD_UNIT,    /* another integer unit of more than one cycle */
    HEAD_FPU,     /* a floating-point unit of more than one cycle */
    HEAD_L1D_HIT, /* data from the first cache, or forwarded */
    HEAD_L1D,     /* data from the second or third cache; or room behind a store that waits for it */
    HEAD_L2D,     /* the same from memory */
    HEAD_DTLB,    /* a translation by a page walk, or by the second TLB */
    HEAD_WALKED,  /* data from the second or third cache, after a page walk */
    HEAD_REJECT,  /* sent back: an overlap, or no MSHR */
    HEAD_STORES,  /* older stores must reach the cache first; or room in the store buffer */
    HEAD_WAITS
};

/* What last kept the front end from bringing the right instructions. */
enum front_cause {
    CAUSE_NONE, /* nothing yet */
    CAUSE_L1I,  /* an instruction miss or a misfetch, in the order of enum fetch_stop ... */
    CAUSE_L2I,
    CAUSE_ITLB,
    CAUSE_MISFETCH,
    CAUSE_BRANCH, /* ... a misprediction, when it is resolved ... */
    CAUSE_SERIAL, /* ... or the window had to drain */
    CAUSES
};

enum cycle_flag {
    CYCLE_ROB_FULL = 1,   /* at the end of the cycle */
    CYCLE_WRONG_PATH = 2, /* fetch is on it */
    CYCLE_STARVED = 4,    /* no instruction entered the front end's stages, for the miss or misfetch that fetch_stop
                           * names: fetch brought none, and none waited in its buffer */
    CYCLE_MACHINE = 8     /* in machine mode (machine.h) */
};

/* What one cycle, or each of a run of cycles, did. */
struct cycle_record {
    uint8_t fetched, dispatched, issued, committed;
    uint8_t fetch_stop, dispatch_stop, issue_stop, commit_stop;
    uint16_t rob;                           /* entries taken at the end of the cycle */
    uint8_t head_wait;                      /* at the start of the cycle, before anything commits */
    uint8_t flags;                          /* enum cycle_flag */
    uint8_t dispatched_wrong, issued_wrong; /* of `dispatched` and `issued`, on the wrong path */
    uint8_t cause;                          /* enum front_cause, if the ROB is empty when the cycle begins; else 0 */
    uint8_t cut; /* places that the miss or misfetch of fetch_stop, which begins, leaves empty
                  * in the last group to enter the front end's stages before it; else 0 */
};

struct cycle_run {
    struct cycle_record record; /* of each ... */
    uint64_t cycles;            /* ... of so many */
};

enum insn_event {
    EVENT_L1I = 1,  /* its fetch missed the first cache ... */
    EVENT_L2I = 2,  /* ... the second ... */
    EVENT_ITLB = 4, /* ... the TLBs */
    EVENT_L1D = 8,  /* its load missed the first cache, or waited for a line on its way */
    EVENT_L2D = 16,
    EVENT_DTLB = 32,
    EVENT_FORWARD = 64,
    EVENT_REJECT = 128,
    EVENT_MISFETCH = 256,      /* it is the first after a misfetch */
    EVENT_STRIDE_ADDR = 512,   /* stride predictors would have been wrong about its load's address ... */
    EVENT_STRIDE_VALUE = 1024, /* ... and value; told to those who ask: core_observer.strides */
};

enum { EVENTS_OF_FETCH = EVENT_L1I | EVENT_L2I | EVENT_ITLB | EVENT_MISFETCH };
enum { EVENTS_OF_STRIDES = EVENT_STRIDE_ADDR | EVENT_STRIDE_VALUE };

enum { CORE_SLOTS = 4096 }; /* most places in a window */

/* An instruction as observers see it. */
struct insn_view {
    uint64_t id; /* in order of fetch, wrong path included; of those that are observed from fetch on */
    uint64_t pc;
    uint64_t addr;   /* of its memory access, or where control goes */
    uint32_t bits;   /* the encoding */
    uint16_t events; /* enum insn_event, so far */
    uint16_t slot;   /* place in the window, unique among instructions in flight, less than CORE_SLOTS */
    uint8_t class;   /* enum op_class */
    uint8_t kind;    /* enum branch_kind (branch/branch.h), of a control transfer */
    uint8_t size;    /* bytes of its memory access, 0: none */
    bool store;      /* which writes */
    bool wrong_path, control, conditional, taken, mispredicted;
    bool machine; /* of machine mode */
    uint32_t tag; /* what the observer's tag was at its fetch, 0 without one */
};

struct core_counts {
#define COUNT_OF(name, trust, help) uint64_t name;
#include "core/count.def"
#undef COUNT_OF
    uint64_t fetch_stop[FETCH_STOPS], dispatch_stop[DISPATCH_STOPS], issue_stop[ISSUE_STOPS];
    uint64_t commit_stop[COMMIT_STOPS], head_wait[HEAD_WAITS]; /* cycles by reason */
};

struct core;

/* Of which instructions an observer is told. */
enum observed {
    OBSERVE_ALL,
    OBSERVE_CHOSEN,  /* that it chooses: core_choose, core_capture */
    OBSERVE_CONTROL, /* control transfers, and those with EVENTS_OF_FETCH */
    OBSERVE_MISSES /* of the right path: mispredicted control transfers; those with EVENTS_OF_FETCH, which are `fetched`
                    * if they are control transfers; and of the control transfers behind cycles in which the front end
                    * was starved the first, which is only `fetched`. Of the wrong path those that are `mispredicted`,
                    * and those with EVENTS_OF_FETCH, which are `dispatched` if that is into an empty ROB */
};

/* What an observer is told of stride predictors (strides.h). */
enum strides_told {
    STRIDES_UNTOLD,
    STRIDES_TOLD, /* loads have EVENT_STRIDE_ADDR and EVENT_STRIDE_VALUE */
    STRIDES_ONLY  /* and it need not be told of instructions that have neither */
};

struct core_transfer {
    uint64_t pc, target, fallthrough;
    uint8_t kind; /* enum branch_kind */
};

/* Functions may be NULL. Calls come in order of time: those of one cycle behind the records of all cycles before it and
 * before its own, in the order commit, complete, issue, dispatch, fetch. */
struct core_observer {
    void (*begin)(void *context, struct core *c, const struct core_counts *live); /* what it counts, as it grows */
    void (*runs)(void *context, const struct hart *h);                            /* another hart than before */
    void (*cycles)(void *context, const struct cycle_record *r, uint64_t n);
    /* The same, several at a time and late, though before any other call: called instead of `cycles`, where it can be.
     */
    void (*cycle_runs)(void *context, const struct cycle_run *runs, unsigned count);
    void (*fetched)(void *context, const struct insn_view *v, uint64_t cycle);
    void (*dispatched)(void *context, const struct insn_view *v, uint64_t cycle);
    void (*issued)(void *context, const struct insn_view *v, uint64_t cycle);
    void (*executed)(void *context, const struct insn_view *v, uint64_t cycle); /* issued, and not sent back: once */
    void (*mispredicted)(void *context, const struct insn_view *v, uint64_t cycle); /* resolved as such */
    void (*completed)(void *context, const struct insn_view *v, uint64_t cycle);
    void (*committed)(void *context, const struct insn_view *v, uint64_t cycle);
    void (*squashed)(void *context, const struct insn_view *v, uint64_t cycle);
    /* A call or a return of the right path is fetched: where it goes, and what follows it in memory. */
    void (*transferred)(void *context, const struct hart *h, const struct core_transfer *t);
    /* What the guest reads from hpmcounter 3 to 31; NULL: 0. */
    uint64_t (*counter)(void *context, unsigned hpmcounter);
    /* The core goes into machine mode, or back: the cycles that follow are of that mode, those before are told. Nothing
     * is in flight. */
    void (*mode)(void *context, bool machine);
    /* A watched count reached its limit in a cycle before `cycle`, see core_watch. */
    void (*reached)(void *context, unsigned watch, uint64_t cycle);
    void *context;
    const uint32_t *tag; /* a number that instructions take along from their fetch, or NULL */
    enum observed observed;
    bool each_cycle; /* the record of a cycle comes at its end; with more than one cycle nothing happens in these */
    enum strides_told strides; /* with OBSERVE_ALL */
};

static inline bool core_observes_insns(const struct core_observer *o)
{
    return o->fetched || o->dispatched || o->issued || o->executed || o->mispredicted || o->completed || o->committed ||
           o->squashed;
}

enum { CORE_WATCHES = 8 };

struct core *core_new(const struct core_config *config, struct guest_memory *memory, struct error *err) MUST_CHECK;
void core_free(struct core *c);
void core_observe(struct core *c, const struct core_observer *o); /* with nothing in flight; NULL: no more */
void core_step_every_cycle(struct core *c, bool step);            /* instead of jumping over idle ones */

/* Runs a hart by the contract of hart.h. With TRAP_NONE instructions may remain in flight; they go on in the next run.
 */
void core_run(struct core *c, struct hart *h);
void core_drain(struct core *c); /* until nothing is in flight */

/* ---- programs that take turns on one core
 *
 * Each of them has a host process, and there a struct core of its own, forked from one that serves no program yet. What
 * of it is hardware goes from one to the next when the turn does, with nothing in flight: caches, TLBs, bus,
 * prefetchers, predictors, time, and machine mode's registers and counters. Counts, decoded code and observers stay.
 * Caches and TLBs tell the programs apart by their space; predictors do not. */

enum { CORE_SPACES = 64 };

void core_serve(struct core *c, struct guest_memory *memory, unsigned space); /* less than CORE_SPACES */
unsigned core_space(const struct core *c);
size_t core_state_bytes(struct core *c);               /* of what goes from one to the next */
void core_put_state(struct core *c, void *to);         /* after core_settle */
void core_get_state(struct core *c, const void *from); /* of a core that was forked from the same */
/* The program has the core for so many cycles, then the run ends early; UINT64_MAX: for ever. They begin when the
 * firmware, if it runs first, returns. `switched`: another program had the core before, which firmware is told. */
void core_begin_turn(struct core *c, uint64_t cycles, bool switched);
bool core_turn_is_over(const struct core *c);
void core_settle(struct core *c); /* until nothing is in flight and no store waits; fetch brings nothing more */

/* ---- what warming leaves (warm.h), for a core of the same parameters that has not run yet, be it in another process
 */

size_t core_warm_bytes(struct core *c);
void core_put_warm(struct core *c, void *to);
bool core_get_warm(struct core *c, const void *from, size_t bytes) MUST_CHECK; /* false: it is of no such core */

/* ---- for observers, while the core runs */

/* The instruction fetched as number `id`, or the next after it if that has passed, is observed; 0: none. */
void core_choose(struct core *c, uint64_t id);
uint64_t core_cycle(const struct core *c);   /* the cycle that is, or comes next */
uint64_t core_fetched(const struct core *c); /* the number of the instruction that is fetched next */

/* Each instruction that retires is `committed`, if it is a memory access, a control transfer or has an event. */
void core_capture(struct core *c, bool capture);

/* `reached` is called after the cycle in which this count is `limit` or more; NULL: the cycle's own number. Counts of
 * reasons and of cycles grow late unless each_cycle is asked for. UINT64_MAX: never. */
void core_watch(struct core *c, unsigned watch, const uint64_t *count, uint64_t limit);

/* Where an interrupt would find the program now: fetch is held, and what is in flight on the right path retires. */
uint64_t core_interrupt_pc(const struct core *c);

/* What the next cycle is spent on: the oldest instruction; while the window refills after a misprediction, that
 * branch; else what enters next. */
void core_blame(struct core *c, struct insn_view *v);

/* Complete up to the cycle that comes next. */
const struct core_counts *core_counts(struct core *c);
struct memsys *core_memsys(struct core *c);
struct branch_unit *core_branch_unit(struct core *c); /* NULL with perfect prediction */

#endif
