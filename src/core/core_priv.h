/* The core's state, shared by its stages.
 *
 * The window is a ring of all instructions in flight, in program order of the path that fetch follows:
 *
 *     head … dispatched … tail        [head, dispatched) is the ROB, [dispatched, tail) the front end
 *
 * Positions are 64-bit counts that never wrap; slot = position & mask. A squash moves the tail back.
 *
 * No stage searches the window. A producer lists its consumers and wakes them. Each pool of units has a bit map of
 * ready instructions; counting zeros from the head finds the oldest. An instruction with an event in a later cycle is a
 * bit in the wheel's row of that cycle; the wheel's map of non-empty rows says how far time can jump. */
#ifndef CYCLESCOPE_CORE_CORE_PRIV_H
#define CYCLESCOPE_CORE_CORE_PRIV_H

#include "branch/branch.h"
#include "core/code.h"
#include "core/core.h"
#include "core/host_fault.h"
#include "core/paths.h"
#include "core/record.h"
#include "core/strides.h"

#define UNLIKELY(c) __builtin_expect(!!(c), 0)
#define LIKELY(c)   __builtin_expect(!!(c), 1)
#define NEVER       UINT64_MAX

enum {
    WINDOW_WORDS = CORE_SLOTS / 64, /* words in a map with one bit per slot */
    WHEEL = 512,                    /* cycles that the wheel of events spans */
    NO_SLOT = 0xffff,               /* ends a list of slots */
    FILTER = 256,                   /* entries of the filter of store addresses */
    NOTED_MISSES = 64,
    POOL_UNITS = 16, /* most units in a pool */
    RUNS = 32        /* runs of cycles kept before observers get them */
};

/* Where an instruction in flight is in the pipeline. */
enum flight_state {
    GONE,            /* squashed */
    WAITING,         /* in the front end, or dispatched with operands missing */
    WAITS_FOR_EVENT, /* has its operands and waits for older stores, for being the oldest, or for the cycle `when` */
    READY,           /* in the ready map of its pool */
    ISSUED,          /* executes: its result comes in cycle `when` */
    STORE_DATA,      /* a store with a known address and missing data */
    DONE             /* complete: may retire */
};

enum flight_flag {
    WRONG_PATH = 1,   /* fetched on the wrong path */
    MISPREDICTED = 2, /* control transfer with a wrong prediction */
    TAKEN = 4,        /* control transfer that is taken */
    NO_ACCESS = 8,    /* a memory access that is not made: its address is not accessible on the wrong path, or it is a
                         prefetch to an unused page */
    IN_WHEEL = 16,    /* has a bit in the wheel */
    TRANSLATED = 32,  /* the TLB has been asked: no second translation */
    AT_HORIZON = 64,  /* in the wheel before its cycle, which lies beyond the wheel's horizon; its row is unknown */
    OBSERVED = 128    /* an observer receives callbacks for it */
};

/* An instruction in flight. Its size is one cache line of the host. */
struct flight {
    const struct code *code; /* decoded instruction */
    uint64_t pc;             /* its address */
    uint64_t addr;           /* address of its memory access, or target of the control transfer */
    uint64_t when;           /* cycle in which it may dispatch, became ready, its result comes, or it tries again */
    uint16_t consumers;      /* head of the list of operands that wait for its result: slot * 4 + operand, or NO_SLOT */
    uint16_t producer[SOURCES]; /* by operand: slot of the producer it waits for, or its own slot */
    uint16_t next[SOURCES];     /* by operand: next entry in the producer's list */
    uint16_t renamed;           /* slot of the previous producer of its destination register, or NO_SLOT */
    union {
        struct {
            uint8_t state;            /* enum flight_state */
            uint8_t flags;            /* enum flight_flag */
            uint8_t missing_operands; /* number of operands that it lacks for issue */
            uint8_t wait;             /* enum head_wait to report while it is the oldest */
            uint16_t events;          /* enum insn_event */
            uint16_t level;           /* control transfers: paths.level before the prediction */
        };
        uint64_t status; /* all fields above, to set with one store */
    };
    uint32_t store;  /* position in the store queue: its own, or that of the next younger store */
    uint32_t branch; /* position of its branch_record */
};

/* Rarely used fields of a flight, by slot, kept out of its cache line. */
struct flight_cold {
    uint64_t id;                   /* number in fetch order; set for observed instructions */
    uint32_t tag;                  /* the observer's tag when it was fetched */
    uint32_t held_by;              /* position of the store that a held load waits for */
    bool held_for_data;            /* the load waits for that store's data; false: for the store to reach the cache */
    uint16_t bundle;               /* slot of the first instruction of its bundle */
    uint8_t bundle_left;           /* first instruction only: members of the bundle that are not DONE */
    uint8_t bundle_size;           /* first instruction only: members of the bundle */
    struct fetch_stalls stalls;    /* before it was fetched; set if core.notes_details */
    struct data_access access;     /* how it accessed data; set if core.notes_details */
    struct unit_use wrong_path;    /* set when a mispredicted branch resolves, if core.notes_details */
    uint16_t wrong_number;         /* of a mispredicted branch: of its wrong path, if core.notes_details */
    struct younger_wait mshr_wait; /* set when a load misses, if core.notes_details */
    uint64_t mshr_since;           /* cycle from which it waits for an MSHR that a younger load has; 0: it does not */
    struct younger_wait unit_wait; /* of one that accesses no memory; set if core.notes_details */
};

/* The instruction that last had something which others may have to wait for. */
struct holder {
    uint64_t since, until; /* the first cycle, and the one after the last */
    uint64_t position;     /* its own or, once it is squashed, that of the branch whose wrong path it was on */
    bool wrong_path;
};

/* A store from dispatch until it leaves the store buffer. Entries of size 0 (fences, lr, NO_ACCESS) only keep order. */
struct store {
    uint64_t addr;               /* address of its first byte */
    uint64_t pc;                 /* address of its instruction */
    uint64_t done;               /* cycle in which it leaves the store buffer, once it has accessed the cache */
    uint16_t slot;               /* slot of its instruction, until the instruction retires */
    uint8_t size;                /* bytes; 0: accesses no memory */
    bool addr_known, data_known; /* the store has computed its address; has its data */
    uint8_t wait; /* enum head_wait to report while the oldest instruction waits for this entry of the store buffer */
};

struct machine_image;

struct core {
    /* ---- touched in every cycle */
    uint64_t now;                    /* current cycle */
    uint64_t head, dispatched, tail; /* positions in the window */
    struct flight *window;           /* instructions in flight by slot */
    uint32_t mask;                   /* number of slots - 1 */
    uint32_t words;                  /* 64-bit words in each map of slots */
    uint64_t ready_words;            /* bit w: word w of ready_any may have bits set */
    bool active;                     /* a stage changed state without moving an instruction: time must not jump */
    bool fetch_lost;                 /* the wrong path has no next instruction */
    bool code_is_stale;              /* drop all decoded code when the window is empty (fence.i) */
    bool serializing;                /* fetch waits for an empty window */
    bool run_over;                   /* the run ends: the hart's quantum is used up, or the hart trapped */
    bool step;                       /* simulate every cycle: do not jump over idle ones */
    bool watching;                   /* something has to be checked after each cycle: core_update_watching */
    bool flushing_records;           /* flush_records is calling observers: stops it from re-entering */
    bool wants_notable_commits;      /* core_capture: call `committed` for notable instructions too */
    bool machine_mode;               /* the core is in machine mode: firmware runs */
    bool all_observed;               /* every instruction is OBSERVED */
    uint8_t fetch_why;               /* enum fetch_stop of cycles before fetch_resume */
    uint8_t cause;                   /* enum front_cause of the latest front-end stall */
    uint8_t head_wait;               /* enum head_wait of the current cycle's record */
    uint8_t mark;                    /* OBSERVED or 0: flag for instructions with EVENTS_OF_FETCH */
    uint8_t miss_mark;               /* OBSERVED or 0: flag for mispredicted control transfers on the current path */
    uint8_t control_mark;            /* OBSERVED or 0: flag for the next control transfer */
    uint8_t each_control_mark;       /* OBSERVED or 0: flag for the control transfers after the next one */
    bool misses_observed;            /* the observer has OBSERVE_MISSES */
    bool notes_details;              /* the observer has `retired`: fetch stalls and data accesses are noted */
    bool notes_fetch;                /* notes_details, or the observer has a tag */
    uint16_t fetch_events;           /* enum insn_event of the last fetch stall, for the next instruction */
    uint32_t initial_status;         /* low half of flight.status for instructions fetched on the current path */
    uint64_t fetch_resume;           /* first cycle in which fetch may continue */
    uint64_t chosen_id;              /* number in fetch order of the instruction to observe (core_choose), or NEVER */
    uint64_t line_start;             /* address of the I-cache line that fetch is in, or NEVER */
    const uint32_t *line_code;       /* that line's part of code_page.at */
    uint64_t line_before;            /* address of the line before it, in which an instruction may begin */
    uint64_t decode_cycle;           /* cycle in which the youngest decode group may dispatch */
    unsigned decode_left;            /* free slots in that decode group */
    struct cycle_run *run;           /* the youngest of `runs`, which may still grow */
    struct cycle_run *run_end;       /* last of `runs` that may be used: flush_records is called when it ends */

    /* ---- limits, from the configuration */
    /* Named like the parameters of param.def; 1 << 30 means no limit. front_size: fetch buffer and front-end stages. */
    unsigned fetch_width, fetch_lines, fetch_branches, front_stages, decode_width, dispatch_width, issue_width;
    unsigned commit_width, bundle, rob_size, front_size;
    unsigned iq_size, queue_size[QUEUES], lsq_size, lsq_loads, lsq_stores, store_buffer_size;
    unsigned int_regs, fp_regs; /* physical registers beyond the architectural ones */
    bool limits_by_class;       /* issue queues by class or physical registers are limited, so their use is counted */
    bool all_notable;           /* limits_by_class or all_observed: commit handles every instruction one by one */
    unsigned pipe_size;         /* instructions in the front-end stages, after the fetch buffer */
    uint16_t at_head;           /* mask of enum insn_flag: instructions with one of these issue only as the oldest */
    unsigned forward_latency, load_latency, line_bytes, fetch_latency, misfetch_cycles;
    enum issue_order order; /* issue.order */
    bool perfect_branch;    /* every branch is predicted correctly, without a predictor */

    /* ---- resources in use */
    unsigned rob_used, iq_used, queue_used[QUEUES], loads_used, stores_used, int_used, fp_used;
    uint64_t map[64]; /* register → position of its youngest producer; a position below `head` has retired. x0 has 0 */
    uint64_t issue_next; /* in-order issue only: position of the next instruction to issue */

    /* ---- ready instructions, all and by pool; units */
    struct class_timing timing[CLASS_COUNT]; /* latency and units by class of instruction */
    uint64_t done[WINDOW_WORDS];             /* bit per slot: complete, waits to retire */
    uint64_t notable[WINDOW_WORDS];          /* bit per slot: commit has to handle the instruction, not only count it */
    uint64_t ready_any[WINDOW_WORDS];        /* bit per slot: READY */
    uint64_t ready[POOLS][WINDOW_WORDS];     /* bit per slot: READY, by the pool that executes it */
    uint8_t units[8];                        /* units of each pool */
    uint64_t busy_latest;                    /* latest cycle until which a non-pipelined unit is busy */
    uint64_t busy_until[POOLS][POOL_UNITS];  /* cycle until which each unit of a pool is busy */
    bool busy_wrong[POOLS][POOL_UNITS]; /* with an instruction of the wrong path that note_busy_unit has not noted */
    struct holder holder[POOLS][POOL_UNITS]; /* of the same units */

    /* ---- memory */
    struct memsys *memsys; /* caches, TLBs and memory */
    uint64_t space;        /* offset added to the program's addresses for memsys: core_place */
    struct store *store;   /* ring of stores, by position & store_mask */
    uint32_t store_mask;   /* entries of the ring - 1 */
    /* Positions in the store queue: oldest; next to access the cache; oldest not retired; next free. */
    uint32_t store_head, store_drain, store_commit, store_tail;
    uint32_t store_known;               /* position of the oldest store with an unknown address */
    uint32_t blocked_count, held_count; /* bits set in `blocked` and `held` */
    uint64_t drain_resume;              /* cycle in which the store buffer retries an access that found no MSHR */
    uint16_t filter[FILTER];            /* number of stores in the queue, by hash of the 8 bytes that they touch */
    uint64_t blocked[WINDOW_WORDS];     /* bit per slot: load waits for the addresses of older stores */
    uint64_t held[WINDOW_WORDS];        /* bit per slot: load waits for one store (flight_cold.held_by) */

    /* ---- events with a known cycle. Most fall due in the next cycle; the others are in a wheel: one map of slots for
     * each of the next WHEEL cycles */
    uint16_t soon[POOL_UNITS];      /* slots of instructions that finish in the next cycle */
    unsigned soon_count;            /* entries of `soon` */
    uint64_t *wheel;                /* WHEEL rows of `words` words */
    uint64_t wheel_map[WHEEL / 64]; /* bit per row: the row may have bits set */

    struct flight_cold *cold;          /* by slot */
    struct branch_unit *predictor;     /* NULL with perfect prediction */
    struct branch_record *branch;      /* ring of records of control transfers in flight */
    uint32_t branch_mask, branch_tail; /* entries of that ring - 1; position of the next record */
    struct paths paths;                /* registers and memory of the right path and of wrong paths */
    struct hart idle_hart;         /* stands in for the hart while none runs; has no instructions left in its quantum */
    struct host_fault fault;       /* where a host fault in guest memory is caught */
    struct record_builder record;  /* record of the current cycle, which the stages fill in */
    uint64_t group_start;          /* tail before this cycle's fetch */
    struct code_cache *codes;      /* decoded guest code */
    enum trap trap;                /* trap that ends the run when the window is empty */
    uint64_t trap_value;           /* its hart.trap_value */
    struct hart_counters counters; /* counter CSRs for the guest */
    uint64_t cycles_before;        /* value of the guest's cycle counter when the core started */
    const struct hart *last_hart;  /* hart of the last run; NULL: none yet */
    uint64_t last_pc;              /* its pc when that run ended */
    struct core_observer observer; /* what stages call: client_observer joined with machine_observer */
    struct core_observer client_observer; /* given to core_observe */
    struct strides strides;               /* state of the stride predictors */
    bool strides_observed;                /* an observer wants stride events of every load of the right path */
    bool only_strides_observed;           /* observers need only instructions with EVENTS_OF_STRIDES */
    struct machine *machine;              /* NULL without firmware */
    uint64_t next_check_cycle;            /* next cycle in which a counter may overflow or the turn may end, or NEVER */
    uint64_t turn_cycles;                 /* length of the program's turn on the core, or NEVER */
    uint64_t turn_end;                    /* cycle in which the turn ends, or NEVER */
    struct core_watch {
        const uint64_t *count; /* NULL: the current cycle */
        uint64_t limit;        /* UINT64_MAX: not set */
    } watch[CORE_WATCHES];     /* core_watch */
    unsigned watches;          /* watches from this index on are not set */
    struct {
        uint64_t pc;
        uint32_t tag;
        bool empty;                   /* no instruction has entered the ROB since */
    } refill;                         /* the last mispredicted branch of the right path that resolved */
    struct fetch_stalls stalls;       /* since the last fetched instruction; counted if notes_details */
    struct wrong_lines wrong_lines;   /* kept if notes_details */
    uint64_t prefetch_ready[2];       /* when lines arrive that the last access has made prefetchers bring into the L1D,
                                         and the L2; kept if notes_details */
    struct holder miss[NOTED_MISSES]; /* loads that have missed last, by their number; kept if notes_details */
    unsigned misses;                  /* of these so far */
    uint64_t miss_latest;             /* latest cycle until which one of them has its MSHR */
    struct core_counts counts;        /* core_counts */
    struct cycle_run runs[RUNS];      /* runs of cycles not reported yet; only the first may have 0 cycles */
    struct memsys_config memsys_config; /* parameters of memsys */
};

static inline struct flight *flight_at(struct core *restrict c, uint64_t position)
{
    return &c->window[position & c->mask];
}

static inline unsigned slot_of(const struct core *restrict c, const struct flight *f)
{
    return (unsigned)(f - c->window);
}

static inline uint64_t position_of(const struct core *restrict c, const struct flight *f)
{
    return c->head + ((slot_of(c, f) - c->head) & c->mask);
}

/* ---- stages, last one first. Each returns its stage_result (record.h). */

/* Whether an instruction retires in this cycle. Valid while fetch runs. */
static inline bool core_commits(const struct core *c)
{
    return stage_moved(c->record.stages, STAGE_COMMIT) != 0;
}

uint64_t core_commit(struct core *c);
void core_complete(struct core *c); /* results that come in this cycle */
uint64_t core_issue(struct core *c);
void core_drain_stores(struct core *c); /* the store buffer accesses the cache */
uint64_t core_dispatch(struct core *c);
uint64_t core_fetch(struct core *c);
void core_on_prefetch(void *context, const struct prefetched_line *p); /* of the core's caches, if notes_details */

/* Squashes all instructions from this position on. */
void core_squash(struct core *c, uint64_t from);

/* ---- results: in the next cycle, or in cycle f->when */

/* The instruction finishes in the next cycle. */
static inline void finish_soon(struct core *restrict c, struct flight *f)
{
    f->when = c->now + 1;
    c->soon[c->soon_count++] = (uint16_t)slot_of(c, f);
}

/* The wheel: events of the next WHEEL cycles. An event beyond this horizon is put into the last row and added again
 * when that row comes. */

static inline uint64_t *wheel_row(const struct core *restrict c, uint64_t cycle)
{
    return c->wheel + cycle % WHEEL * c->words;
}

static inline void wheel_add(struct core *restrict c, struct flight *f)
{
    uint64_t cycle = f->when;
    f->flags |= IN_WHEEL;
    if (UNLIKELY(cycle - c->now >= WHEEL)) {
        cycle = c->now + WHEEL - 1;
        f->flags |= AT_HORIZON;
    }
    unsigned slot = slot_of(c, f), i = cycle % WHEEL;
    wheel_row(c, cycle)[slot / 64] |= UINT64_C(1) << slot % 64;
    c->wheel_map[i / 64] |= UINT64_C(1) << i % 64;
}

/* Removes f. wheel_map may keep the bit of a row that became empty: the core then simulates one cycle in which nothing
 * happens. */
static inline void wheel_remove(struct core *restrict c, struct flight *f)
{
    unsigned slot = slot_of(c, f);
    uint64_t first = f->when, rows = 1;
    if (UNLIKELY(f->flags & AT_HORIZON))
        rows = WHEEL;
    for (uint64_t i = 0; i < rows; i++)
        wheel_row(c, first + i)[slot / 64] &= ~(UINT64_C(1) << slot % 64);
}

uint64_t wheel_next(const struct core *c); /* next cycle with a bit in wheel_map, or NEVER */

/* ---- issue.c */

/* Makes the instruction a candidate for issue. */
static inline void core_make_ready(struct core *restrict c, struct flight *f)
{
    unsigned slot = slot_of(c, f), pool = c->timing[f->code->class].pool;
    uint64_t bit = UINT64_C(1) << slot % 64;
    f->state = READY;
    f->when = c->now;
    c->ready_words |= UINT64_C(1) << slot / 64;
    c->ready_any[slot / 64] |= bit;
    c->ready[pool][slot / 64] |= bit;
}

/* Takes the instruction out of the ready maps. */
static inline void core_unready(struct core *restrict c, struct flight *f)
{
    unsigned slot = slot_of(c, f), pool = c->timing[f->code->class].pool;
    uint64_t bit = UINT64_C(1) << slot % 64;
    c->ready_any[slot / 64] &= ~bit;
    c->ready[pool][slot / 64] &= ~bit;
}

/* Frees the instruction's entry in the issue queue. */
static inline void core_leave_queue(struct core *restrict c, struct flight *f)
{
    c->iq_used--;
    if (UNLIKELY(c->limits_by_class))
        c->queue_used[c->timing[f->code->class].queue]--;
}

/* The result is available: wakes consumers, sets DONE, resolves a branch. */
void core_finish(struct core *c, struct flight *f);

/* ---- lsq.c */
void lsq_dispatch(struct core *c, struct flight *f); /* a load or store enters the queue */
void lsq_squash(struct core *c, struct flight *f);   /* the youngest load or store leaves the queue again */
void lsq_block(struct core *c, struct flight *f);    /* the load waits for the addresses of older stores */
void lsq_issue(struct core *c, struct flight *f); /* starts the access in cycle `now`, or sends the instruction back */
void lsq_address_known(struct core *c, struct flight *f); /* the store has computed its address */
void lsq_data_ready(struct core *c, struct flight *f);    /* the store has its data */
void lsq_release_head(struct core *c, struct flight *f);  /* f is the oldest: makes it ready if it waits for that */
enum head_wait lsq_room_wait(const struct core *c);       /* what a full store buffer waits for */
uint64_t lsq_next(const struct core *c);                  /* next cycle in which the store buffer changes, or NEVER */

/* The instruction has all its operands: sets READY, or WAITS_FOR_EVENT. */
static inline void core_operands_ready(struct core *restrict c, struct flight *f)
{
    unsigned flags = f->code->flags;
    if (UNLIKELY(flags & c->at_head))
        f->state = WAITS_FOR_EVENT;
    else if (flags & IS_LOAD && (int32_t)(c->store_known - f->store) < 0)
        lsq_block(c, f);
    else
        core_make_ready(c, f);
}

/* Called when fetch changes its path or the core its mode: sets the initial status of instructions fetched from now on.
 */
static inline void core_mark_path(struct core *restrict c)
{
    unsigned flags = (c->paths.level ? WRONG_PATH : 0) | (c->all_observed ? OBSERVED : 0) |
                     (c->machine_mode ? TRANSLATED : 0); /* machine mode uses physical addresses */
    c->initial_status = (uint32_t)HEAD_ISSUE << 24 | flags << 8 | WAITING;
    c->miss_mark = c->misses_observed && c->paths.level ? 0 : c->mark;
}

/* ---- core.c */
uint64_t core_read_counter(void *context, unsigned counter); /* value that the guest reads: struct hart_counters */
void core_update_watching(struct core *c); /* decides whether the core checks something after each cycle */
void core_join_observers(struct core *c);  /* rebuilds core.observer and the flags derived from it */
/* Stops fetch; the trap is taken when the window is empty. */
void core_set_trap(struct core *c, enum trap trap, uint64_t value);

/* ---- handover.c */
/* Ends the run if the turn is over; else lowers next_check_cycle to the end of the turn. */
void core_check_turn(struct core *c);

/* ---- machine.c, machine_csr.c; except machine_free, only for cores with firmware */
void machine_free(struct machine *m);
void machine_begin_run(struct core *c, struct hart *h);     /* starts the firmware in the first run */
void machine_end_run(struct core *c);                       /* a run that ends in machine mode: the firmware failed */
void machine_put(struct core *c, struct machine_image *to); /* stores the state that programs share */
void machine_get(struct core *c, const struct machine_image *from); /* loads that state; nothing is in flight */
/* Another program got the core: raises MSI. Returns whether the firmware runs before the program. */
bool machine_switched(struct core *c);
/* The window is empty: does what waited for it (CSR write, mret, exception, interrupt). Returns whether fetch
 * continues. */
bool machine_drained(struct core *c);
/* An exception in machine mode, taken when the window is empty. */
void machine_except(struct core *c, enum trap trap, uint64_t value);
void machine_return(struct core *c); /* mret, takes effect when the window is empty */
/* Executes the CSR access of an instruction that is alone in the window, in machine mode. Returns false if it is
 * illegal. A write takes effect when the instruction has retired. */
bool machine_access_csr(struct core *c, const struct code *code);
bool machine_counter_is_open(const struct core *c, unsigned counter); /* mcounteren lets the program read the counter */
uint64_t machine_counter(struct core *c, unsigned counter);           /* value as the program reads it */
/* Reads all programmed counters: sets overflow bits, raises LCOFI, sets next_check_cycle. */
void machine_check_overflows(struct core *c);
const struct core_observer *machine_observer(const struct core *c); /* observer of firmware's counters */

/* ---- observers.c */
void observers_join(struct core *c); /* sets core.observer to client_observer and machine_observer in one */

/* Fills in the observers' view of f, after reporting the records of all cycles so far. */
void core_fill_view(struct core *c, const struct flight *f, struct insn_view *v);

/* Calls the callback `what` of the observer, if it has one and `condition` holds. */
#define OBSERVE_IF(condition, c, what, f)                                                                              \
    do {                                                                                                               \
        if (UNLIKELY((c)->observer.what != NULL) && (condition)) {                                                     \
            struct insn_view observed;                                                                                 \
            core_fill_view(c, f, &observed);                                                                           \
            (c)->observer.what((c)->observer.context, &observed, (c)->now);                                            \
        }                                                                                                              \
    } while (0)

#define OBSERVE(c, what, f) OBSERVE_IF((f)->flags &OBSERVED, c, what, f)

#endif
