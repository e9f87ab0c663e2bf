/* The core's state, shared by its stages.
 *
 * The window is a ring of instructions in flight, in program order of the path that fetch follows:
 *
 *     head … dispatched … tail        [head, dispatched) is the ROB, [dispatched, tail) the front end
 *
 * Positions are 64-bit counts that never wrap; slot = position & mask. A squash moves the tail back.
 * Nothing is searched that can be told: a producer has the list of its consumers and wakes them; what is ready is a bit
 * in a map by pool of units, oldest first by counting zeros from the head; what happens later hangs in a wheel of lists
 * by cycle, whose map of non-empty slots says how far time can jump. */
#ifndef CYCLESCOPE_CORE_CORE_PRIV_H
#define CYCLESCOPE_CORE_CORE_PRIV_H

#include "branch/branch.h"
#include "core/code.h"
#include "core/core.h"
#include "core/host_fault.h"
#include "core/paths.h"
#include "core/strides.h"

#define UNLIKELY(c) __builtin_expect(!!(c), 0)
#define LIKELY(c)   __builtin_expect(!!(c), 1)
#define NEVER       UINT64_MAX

enum { WINDOW_WORDS = CORE_SLOTS / 64, WHEEL = 512, NO_SLOT = 0xffff, FILTER = 256, POOL_UNITS = 16, RUNS = 32 };

enum flight_state {
    GONE,       /* squashed */
    WAITING,    /* in the front end, or dispatched and operands are missing */
    BLOCKED,    /* has its operands and waits for stores, for the head, or for a date */
    READY,      /* in the map of its pool */
    ISSUED,     /* its result comes at `when` */
    STORE_DATA, /* a store whose address is known and whose data is missing */
    DONE
};

enum flight_flag {
    WRONG_PATH = 1,
    MISPREDICTED = 2,
    TAKEN = 4,
    NO_ACCESS = 8, /* a wrong-path access to what is no memory */
    IN_WHEEL = 16,
    TRANSLATED = 32, /* the TLB has answered */
    AT_HORIZON = 64, /* in the wheel before its time, in a row that is not told */
    OBSERVED = 128   /* someone wants to be told what happens to it */
};

/* An instruction in flight: one cache line. */
struct flight {
    const struct code *code;
    uint64_t pc;
    uint64_t addr;              /* of its memory access, or where control goes */
    uint64_t when;              /* cycle: may dispatch; result; try again */
    uint16_t consumers;         /* list of operands that wait for it: slot * 4 + operand, or NO_SLOT */
    uint16_t producer[SOURCES]; /* per operand: slot of what it waits for, or its own */
    uint16_t next[SOURCES];     /* per operand: next in the producer's list */
    uint16_t renamed;           /* slot that its destination came from before, or NO_SLOT */
    union {
        struct {
            uint8_t state;   /* enum flight_state */
            uint8_t flags;   /* enum flight_flag */
            uint8_t waits;   /* operands missing for issue */
            uint8_t wait;    /* enum head_wait, if it is at the head */
            uint16_t events; /* enum insn_event */
            uint16_t level;  /* of the path that it was fetched on */
        };
        uint64_t standing; /* all of them, to set at once */
    };
    uint32_t store;  /* position in the store queue: its own, or that of the next store */
    uint32_t branch; /* position of its branch record */
};

/* What is asked for less often. */
struct flight_more {
    uint64_t id;         /* in order of fetch; kept if someone observes */
    uint32_t tag;        /* the observer's, at fetch */
    uint32_t held_by;    /* position of the store that a load waits for ... */
    bool held_for_data;  /* ... its data, or else its leaving */
    uint16_t bundle;     /* slot of the first of its bundle */
    uint8_t bundle_left; /* of a first: members that are not done */
    uint8_t bundle_size; /* of a first */
};

/* A store from dispatch until it has left the store buffer. Entries of size 0 (fences, lr) only keep order. */
struct store {
    uint64_t addr;
    uint64_t pc;
    uint64_t done; /* cycle at which it leaves the store buffer, once it has accessed the cache */
    uint16_t slot; /* of its instruction, until that commits */
    uint8_t size;
    bool addr_known, data_known;
    uint8_t wait; /* enum head_wait, if it has accessed the cache and the ROB's head waits for its place */
};

struct machine_image;

struct core {
    /* ---- touched in every cycle */
    uint64_t now;
    uint64_t head, dispatched, tail; /* positions in the window */
    struct flight *window;
    uint32_t mask;
    uint32_t words;            /* of 64 slots, of each map */
    uint64_t ready_words;      /* words of ready_any that may have bits, one bit each */
    bool active;               /* something happened in this cycle that no stage's number shows */
    bool fetch_lost;           /* wrong path without a way on */
    bool code_is_stale;        /* what was decoded is to be forgotten when the window is empty */
    bool serializing;          /* fetch waits until the window is empty */
    bool run_over;             /* the hart's quantum is used up, or it trapped */
    bool step;                 /* through every cycle */
    bool watching;             /* some counts, or each cycle */
    bool telling;              /* someone is told of cycles: flush_records is at work */
    bool captures;             /* someone wants to be told of what retires */
    bool machine_mode;         /* firmware runs, or is about to be fetched */
    bool all_observed;         /* someone wants to be told about every instruction */
    uint8_t fetch_why;         /* enum fetch_stop until fetch_resume */
    uint8_t cause;             /* enum front_cause */
    uint8_t head_wait;         /* enum head_wait of this cycle */
    uint8_t mark;              /* OBSERVED, if someone wants to be told of some instructions */
    uint8_t miss_mark;         /* the same on this path: for mispredictions and those with EVENTS_OF_FETCH ... */
    uint8_t control_mark;      /* ... for the next control transfer ... */
    uint8_t each_control_mark; /* ... and for those after it */
    bool misses_observed;      /* only: OBSERVE_MISSES */
    uint16_t fetch_events;     /* enum insn_event that the next instruction inherits from its line */
    uint32_t fetch_standing;   /* first half of flight.standing of what is fetched on this path */
    uint64_t fetch_resume;     /* cycle from which fetch may go on */
    uint64_t chosen;           /* number of the instruction to observe, or NEVER */
    uint64_t line_start;       /* of the line that fetch is in, or NEVER */
    const uint32_t *line_code; /* and its part of code_page.at */
    uint64_t line_before;      /* and of the one before, which an instruction may begin in */
    uint64_t decode_cycle;     /* in which the youngest instruction may dispatch ... */
    unsigned decode_left;      /* ... and how many more may */
    struct cycle_run *run;     /* the last of `runs`, which may go on ... */
    struct cycle_run *run_end; /* ... and the one at whose end they are told */

    /* ---- limits, from the configuration */
    unsigned fetch_width, fetch_lines, fetch_branches, front_stages, decode_width, dispatch_width, issue_width;
    unsigned commit_width, bundle, rob_size, front_size;
    unsigned iq_size, queue_size[QUEUES], lsq_size, lsq_loads, lsq_stores, store_buffer_size;
    unsigned int_regs, fp_regs; /* that may be renamed at once */
    bool scarce;                /* queues by class or registers are limited: what is taken of them is counted */
    bool all_notable;           /* scarce, or someone observes all: commit looks at every instruction */
    unsigned pipe_size;         /* instructions in the front end's stages, behind the fetch buffer */
    uint16_t at_head;           /* enum insn_flag of what issues as the oldest only */
    unsigned forward_latency, load_latency, line_bytes, fetch_latency, misfetch_cycles;
    enum issue_order order;
    bool perfect_branch;

    /* ---- what is taken */
    unsigned rob_used, iq_used, queue_used[QUEUES], loads_used, stores_used, int_used, fp_used;
    uint64_t map[64]; /* register → position of its youngest producer; less than `head`: it has committed. x0 has 0 */
    uint64_t issue_next; /* in order: position that is the next to issue */

    /* ---- what is ready, by pool and in all; units */
    struct class_timing timing[CLASS_COUNT];
    uint64_t done[WINDOW_WORDS];    /* complete, to be committed */
    uint64_t notable[WINDOW_WORDS]; /* those for which commit has to do more than to let them go */
    uint64_t ready_any[WINDOW_WORDS];
    uint64_t ready[POOLS][WINDOW_WORDS];
    uint8_t units[8];                       /* by pool */
    uint64_t busy_latest;                   /* until when any unit that is not pipelined works */
    uint64_t busy_until[POOLS][POOL_UNITS]; /* and each */

    /* ---- memory */
    struct memsys *memsys;
    uint64_t space; /* what memsys sees of the program's addresses beyond them: core_place */
    struct store *store;
    uint32_t store_mask;
    uint32_t store_head, store_drain, store_commit, store_tail; /* oldest; next to access; not committed; next */
    uint32_t store_known;                                       /* first whose address is unknown */
    uint32_t blocked_count, held_count;
    uint64_t drain_resume;
    uint16_t filter[FILTER];        /* stores in the queue by hash of granule */
    uint64_t blocked[WINDOW_WORDS]; /* loads that wait for addresses of older stores */
    uint64_t held[WINDOW_WORDS];    /* loads that wait for one store: its data, or its leaving */

    /* ---- what happens at a known cycle: in the next one, as most; else a map of slots for each cycle of a wheel */
    uint16_t soon[POOL_UNITS]; /* slots of what was issued in this cycle and finishes in the next */
    unsigned soon_count;
    uint64_t *wheel; /* WHEEL rows of `words` */
    uint64_t wheel_map[WHEEL / 64];

    struct flight_more *more;
    struct branch_unit *predictor;
    struct branch_record *branch;
    uint32_t branch_mask, branch_tail;
    struct paths paths;
    struct hart nobody; /* stands in for the hart while none runs: it has no budget */
    struct host_fault fault;
    uint64_t stages;      /* what the stages before fetch did in this cycle ... */
    uint64_t wrong;       /* ... and how much of it was on the wrong path, as in a record's second word, and a cut */
    uint64_t mode_word;   /* CYCLE_MACHINE at its place there, in machine mode: what `wrong` begins with */
    uint64_t group_start; /* the tail before this cycle's fetch */
    struct code_cache *codes;
    enum trap trap; /* that ends the run when the window is empty */
    uint64_t trap_value;
    struct hart_counters counters; /* for the guest */
    uint64_t cycles_before;        /* what the guest's cycle counter read when the core began */
    const struct hart *last_hart;
    uint64_t last_pc;
    struct core_observer observer; /* told: what was asked for, joined with what counts for firmware */
    struct core_observer asked;
    struct strides strides;  /* what it knows of loads ... */
    bool strides_asked;      /* ... all of which it judges, once someone asked ... */
    bool strides_only;       /* ... who wants to be told of nothing else */
    struct machine *machine; /* NULL without firmware */
    uint64_t look;           /* cycle before which none of its counters overflows and the turn is not over, or NEVER */
    uint64_t turn_cycles;    /* of the program's turn on the core, or NEVER ... */
    uint64_t turn_end;       /* ... and the cycle in which it is over */
    struct core_watch {
        const uint64_t *count; /* NULL: the time */
        uint64_t limit;
    } watch[CORE_WATCHES];
    unsigned watches; /* those from here on are not set */
    struct {
        uint64_t pc;
        uint32_t tag;
        bool empty; /* nothing has entered the ROB since */
    } refill;       /* the last mispredicted branch of the right path that was resolved */
    struct core_counts counts;
    struct cycle_run runs[RUNS]; /* of cycles that are not told yet; only the first may have no cycles */
    struct memsys_config memsys_config;
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

/* Where a program's address is for caches and TLBs, which programs share. Memory of machine mode is the same for all.
 */
static inline uint64_t core_place(const struct core *restrict c, uint64_t addr)
{
    return addr + (addr < GUEST_SPACE ? c->space : 0);
}

/* ---- stages, last one first. The result is what they moved, and why not more: stage_result. */

enum place {
    PLACE_FETCH,
    PLACE_DISPATCH,
    PLACE_ISSUE,
    PLACE_COMMIT
}; /* bytes of both halves of a record's first word */

static inline uint64_t stage_result(enum place place, unsigned moved, unsigned stop)
{
    return (uint64_t)moved << 8 * place | (uint64_t)stop << (32 + 8 * place);
}

enum { CUT_SHIFT = 56 }; /* the place of a cut in a record's second word */

/* Of what they moved, on the wrong path: for core.wrong. */
static inline uint64_t wrong_result(enum place place, unsigned moved)
{
    return (uint64_t)moved << (place == PLACE_DISPATCH ? 32 : 40);
}

/* Whether something commits in this cycle, asked by fetch. */
static inline bool core_commits(const struct core *c)
{
    return c->stages >> 8 * PLACE_COMMIT & 0xff;
}

uint64_t core_commit(struct core *c);
void core_complete(struct core *c);
uint64_t core_issue(struct core *c);
void core_drain_stores(struct core *c);
uint64_t core_dispatch(struct core *c);
uint64_t core_fetch(struct core *c);

/* Throws away everything from this position on. */
void core_squash(struct core *c, uint64_t from);

/* ---- a result comes in the next cycle, or at f->when. */

static inline void finish_soon(struct core *restrict c, struct flight *f)
{
    f->when = c->now + 1;
    c->soon[c->soon_count++] = (uint16_t)slot_of(c, f);
}

/* The wheel. What lies beyond its horizon waits there and is put on again. */

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

/* The map may go on naming a cycle that has become empty: then a cycle is simulated in which nothing happens. */
static inline void wheel_remove(struct core *restrict c, struct flight *f)
{
    unsigned slot = slot_of(c, f);
    uint64_t first = f->when, rows = 1;
    if (UNLIKELY(f->flags & AT_HORIZON))
        rows = WHEEL;
    for (uint64_t i = 0; i < rows; i++)
        wheel_row(c, first + i)[slot / 64] &= ~(UINT64_C(1) << slot % 64);
}

uint64_t wheel_next(const struct core *c); /* the next cycle that the map names, or NEVER */

/* ---- issue.c */

static inline void core_make_ready(struct core *restrict c, struct flight *f)
{
    unsigned slot = slot_of(c, f), pool = c->timing[f->code->class].pool;
    uint64_t bit = UINT64_C(1) << slot % 64;
    f->state = READY;
    c->ready_words |= UINT64_C(1) << slot / 64;
    c->ready_any[slot / 64] |= bit;
    c->ready[pool][slot / 64] |= bit;
}

static inline void core_unready(struct core *restrict c, struct flight *f)
{
    unsigned slot = slot_of(c, f), pool = c->timing[f->code->class].pool;
    uint64_t bit = UINT64_C(1) << slot % 64;
    c->ready_any[slot / 64] &= ~bit;
    c->ready[pool][slot / 64] &= ~bit;
}

/* Gives its place in the issue queue back. */
static inline void core_leave_queue(struct core *restrict c, struct flight *f)
{
    c->iq_used--;
    if (UNLIKELY(c->scarce))
        c->queue_used[c->timing[f->code->class].queue]--;
}

void core_finish(struct core *c, struct flight *f); /* its result is there: wakes consumers, DONE */

/* ---- lsq.c */
void lsq_dispatch(struct core *c, struct flight *f);
void lsq_squash(struct core *c, struct flight *f);
void lsq_block(struct core *c, struct flight *f);         /* a load waits for addresses of older stores */
void lsq_issue(struct core *c, struct flight *f);         /* at `now`: sets when it finishes, or sends it back */
void lsq_address_known(struct core *c, struct flight *f); /* a store has computed its address */
void lsq_data_ready(struct core *c, struct flight *f);    /* a store's data */
void lsq_release_head(struct core *c, struct flight *f);  /* an instruction that issues at the head is there */
enum head_wait lsq_room_wait(const struct core *c);       /* for what room in the store buffer waits */
uint64_t lsq_next(const struct core *c);                  /* when the store buffer does something next, or NEVER */

/* Nothing is missing any more: READY, or BLOCKED. */
static inline void core_operands_ready(struct core *restrict c, struct flight *f)
{
    unsigned flags = f->code->flags;
    if (UNLIKELY(flags & c->at_head))
        f->state = BLOCKED;
    else if (flags & IS_LOAD && (int32_t)(c->store_known - f->store) < 0)
        lsq_block(c, f);
    else
        core_make_ready(c, f);
}

/* A new path: what is fetched there is marked so. */
static inline void core_mark_path(struct core *restrict c)
{
    unsigned flags = (c->paths.level ? WRONG_PATH : 0) | (c->all_observed ? OBSERVED : 0) |
                     (c->machine_mode ? TRANSLATED : 0); /* machine mode has addresses of memory itself */
    c->fetch_standing = (uint32_t)HEAD_ISSUE << 24 | flags << 8 | WAITING;
    c->miss_mark = c->misses_observed && c->paths.level ? 0 : c->mark;
}

/* ---- core.c */
uint64_t core_read_counter(void *context, unsigned counter);        /* for the guest: struct hart_counters */
void core_set_watching(struct core *c);                             /* whether each cycle is looked at */
void core_join_observers(struct core *c);                           /* of who asked, and of firmware's counters */
void core_set_trap(struct core *c, enum trap trap, uint64_t value); /* taken when the window is empty */

/* ---- switch.c */
void core_look_at_turn(struct core *c); /* ends the run if the turn is over; else `look` is no later than that */

/* ---- machine.c; all but machine_free are for cores with firmware */
void machine_free(struct machine *m);
void machine_begin_run(struct core *c, struct hart *h); /* starts the firmware, the first time */
void machine_end_run(struct core *c);
void machine_put(struct core *c, struct machine_image *to);         /* what programs share of it */
void machine_get(struct core *c, const struct machine_image *from); /* nothing is in flight */
/* Another program has the core: the firmware is told, if it wants to be. Whether it runs first. */
bool machine_switched(struct core *c);
/* The window is empty. Whether fetch may go on: what was to happen then has happened. */
bool machine_drained(struct core *c);
void machine_except(struct core *c, enum trap trap, uint64_t value); /* in machine mode, when the window is empty */
void machine_return(struct core *c);                                 /* mret, likewise */
/* The CSR access of an instruction in machine mode, of whose window it is the only one; false: illegal. What it writes
 * is written when it has committed. */
bool machine_access_csr(struct core *c, const struct code *code);
bool machine_counter_is_open(const struct core *c, unsigned counter); /* to the program */
uint64_t machine_counter(struct core *c, unsigned counter);           /* as the program reads it */
void machine_look(struct core *c); /* counts up to this cycle: overflows, and when to look again */
const struct core_observer *machine_observer(const struct core *c);

/* ---- observers.c */
void observers_join(struct core *c); /* core.observer becomes what was asked for and machine_observer in one */

/* The instruction as observers see it, after the records of all cycles so far. */
void core_show(struct core *c, const struct flight *f, struct insn_view *v);

#define OBSERVE_IF(condition, c, what, f)                                                                              \
    do {                                                                                                               \
        if (UNLIKELY((c)->observer.what != NULL) && (condition)) {                                                     \
            struct insn_view observed;                                                                                 \
            core_show(c, f, &observed);                                                                                \
            (c)->observer.what((c)->observer.context, &observed, (c)->now);                                            \
        }                                                                                                              \
    } while (0)

#define OBSERVE(c, what, f) OBSERVE_IF((f)->flags &OBSERVED, c, what, f)

#endif
