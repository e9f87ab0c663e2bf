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
#include "core/paths.h"

#define UNLIKELY(c) __builtin_expect(!!(c), 0)
#define LIKELY(c)   __builtin_expect(!!(c), 1)
#define NEVER       UINT64_MAX

enum pool { POOL_ALU, POOL_MULDIV, POOL_BRANCH, POOL_LOAD, POOL_STORE, POOL_FPU, POOL_FPMULDIV, POOLS };
enum { POOL_UNITS = 16, WINDOW_WORDS = 64, WHEEL = 1024, NO_SLOT = 0xffff, FILTER = 256 };
enum queue { QUEUE_INT, QUEUE_FP, QUEUE_MEM, QUEUES };

enum flight_state {
    FETCHED,    /* in the front end */
    WAITING,    /* dispatched, operands are missing */
    BLOCKED,    /* a memory access with operands that waits for stores, for the head, or for a date */
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
    IN_IQ = 32,
    TRANSLATED = 64 /* the TLB has answered */
};

/* An instruction in flight. */
struct flight {
    const struct code *code;
    uint64_t pc;
    uint64_t addr;                       /* of its memory access, or where control goes */
    uint64_t when;                       /* cycle: may dispatch; result; try again */
    uint16_t consumers;                  /* first of the list of waiting operands, as slot * 4 + operand, or NO_SLOT */
    uint16_t next[SOURCES];              /* per operand: next in the producer's list */
    uint16_t producer[SOURCES];          /* per operand: slot of the producer that it waits for, or NO_SLOT */
    uint16_t wheel_next, wheel_previous; /* slots, or NO_SLOT */
    uint16_t wheel_at;                   /* place on the wheel */
    uint16_t level;                      /* of the path it was fetched on */
    uint16_t events;                     /* enum insn_event */
    uint8_t waits;                       /* operands missing for issue */
    uint8_t state;                       /* enum flight_state */
    uint8_t flags;                       /* enum flight_flag */
    uint8_t pool;                        /* enum pool */
    uint8_t queue;                       /* enum queue */
    uint8_t wait;                        /* enum head_wait, if it is at the head */
    uint16_t bundle;                     /* slot of the first of its bundle */
    uint8_t bundle_left;                 /* of a first: members that are not done */
    uint8_t bundle_size;                 /* of a first */
    uint16_t renamed;                    /* slot that its destination's register came from before, or NO_SLOT */
    uint64_t store;                      /* position in the store queue: its own, or that of the next store */
    uint32_t branch;                     /* position of its branch record */
    uint64_t id;                         /* in order of fetch */
};

/* A store from dispatch until it has left the store buffer. Entries of size 0 (fences, lr) only keep order. */
struct store {
    uint64_t addr;
    uint64_t pc;
    uint64_t done; /* cycle at which it leaves the store buffer, once it has accessed the cache */
    uint8_t size;
    bool addr_known, data_known;
};

struct core {
    /* ---- hot: touched in every cycle */
    uint64_t now;
    uint64_t head, dispatched, tail; /* positions in the window */
    struct flight *window;
    uint32_t mask;
    uint32_t words; /* of 64 slots, of each map */
    uint64_t ready[POOLS][WINDOW_WORDS];
    uint32_t ready_count[POOLS];
    uint32_t ready_total;
    uint64_t fetch_resume; /* cycle from which fetch may go on */
    uint8_t fetch_why;     /* enum fetch_stop until then */
    bool fetch_lost;       /* wrong path without a way on */
    bool serializing;      /* fetch waits until the window is empty */
    bool run_over;         /* the hart's quantum is used up, or it trapped */
    uint64_t line[2];      /* lines that fetch has at hand */
    uint16_t wheel[WHEEL]; /* first slot, or NO_SLOT */
    uint64_t wheel_map[WHEEL / 64];
    bool active;           /* something happened in this cycle */
    uint64_t issue_next;   /* in order: position that is the next to issue */
    uint16_t fetch_events; /* enum insn_event that the next instruction inherits from its line */

    /* ---- limits, from the configuration */
    unsigned fetch_width, fetch_lines, fetch_branches, front_stages, decode_width, dispatch_width, issue_width;
    unsigned commit_width, bundle, rob_size, front_size;
    unsigned iq_size, queue_size[QUEUES], lsq_size, lsq_loads, lsq_stores, store_buffer_size;
    unsigned int_regs, fp_regs; /* that may be renamed at once */
    unsigned latency[CLASS_COUNT], interval[CLASS_COUNT];
    uint8_t pool_of[CLASS_COUNT];
    unsigned units[POOLS];
    uint64_t busy_until[POOLS][POOL_UNITS]; /* of units that are not pipelined */
    uint64_t pool_busy[POOLS];              /* latest of these */
    unsigned forward_latency;
    unsigned line_shift; /* of the first instruction cache */
    enum issue_order order;
    unsigned misfetch_cycles;
    bool perfect_branch, perfect_units;

    /* ---- what is taken */
    unsigned rob_used, iq_used, queue_used[QUEUES], loads_used, stores_used, int_used, fp_used;
    uint16_t map[64];            /* register → slot of its youngest producer in the ROB, or NO_SLOT */
    uint64_t ready_dispatch[16]; /* ring over decode width: when the last ones may dispatch */
    unsigned ready_dispatch_at;

    /* ---- memory */
    struct store *store;
    uint32_t store_mask;
    uint64_t store_head, store_drain, store_commit,
        store_tail;       /* positions: oldest; next to access; first not committed; next */
    uint64_t store_known; /* first whose address is unknown */
    uint64_t drain_resume;
    uint16_t filter[FILTER];        /* stores in the queue by hash of granule */
    uint64_t blocked[WINDOW_WORDS]; /* loads that wait for addresses of older stores */
    uint64_t held[WINDOW_WORDS];    /* loads that wait for one store: its data, or its leaving */
    uint32_t blocked_count, held_count;
    uint64_t *held_by; /* per slot: that store's position */

    /* ---- branches */
    struct branch_record *branch;
    uint32_t branch_mask, branch_tail;

    struct paths paths;
    struct code_cache *codes;
    struct memsys *memsys;
    struct branch_unit *predictor;
    enum trap trap; /* that ends the run when the window is empty */
    uint64_t trap_value;
    const struct hart *last_hart;
    uint64_t last_pc;
    uint64_t next_id;
    bool step;
    struct core_observer observer;
    struct cycle_record record, pending; /* of this cycle; of the run of equal ones before */
    uint64_t pending_cycles;
    struct core_counts counts;
    struct memsys_config memsys_config;
};

static inline struct flight *flight_at(struct core *c, uint64_t position)
{
    return &c->window[position & c->mask];
}

static inline unsigned slot_of(const struct core *c, const struct flight *f)
{
    return (unsigned)(f - c->window);
}

/* The stages, last one first; each returns how many instructions it moved and sets its part of the record. */
void core_commit(struct core *c);
void core_complete(struct core *c);
void core_issue(struct core *c);
void core_drain_stores(struct core *c);
void core_dispatch(struct core *c);
void core_fetch(struct core *c);

/* Throws away everything from this position on. */
void core_squash(struct core *c, uint64_t from);

/* wheel.c: f->when says when; for the state it has */
void wheel_add(struct core *c, struct flight *f);
void wheel_remove(struct core *c, struct flight *f);
uint64_t wheel_next(const struct core *c); /* the next cycle with an entry, or NEVER */

/* issue.c */
void core_make_ready(struct core *c, struct flight *f);     /* into the map of its pool */
void core_operands_ready(struct core *c, struct flight *f); /* nothing is missing any more: READY, or BLOCKED */
void core_finish(struct core *c, struct flight *f);         /* result is there: wakes consumers, DONE */
void core_leave_queue(struct core *c, struct flight *f);    /* gives its place in the issue queue back */

/* lsq.c */
void lsq_dispatch(struct core *c, struct flight *f);
void lsq_squash(struct core *c, struct flight *f);
bool lsq_may_issue(struct core *c, struct flight *f);     /* else it is noted as blocked */
void lsq_issue(struct core *c, struct flight *f);         /* at `now`: sets when it finishes, or sends it back */
void lsq_address_known(struct core *c, struct flight *f); /* a store has computed its address */
void lsq_data_ready(struct core *c, struct flight *f);    /* a store's data */
uint64_t lsq_next(const struct core *c);                  /* when the store buffer does something next, or NEVER */
void lsq_release_head(struct core *c, struct flight *f);  /* an instruction that issues at the head is there */

void core_view(const struct core *c, const struct flight *f, struct insn_view *v);

#define OBSERVE(c, what, f)                                                                                            \
    do {                                                                                                               \
        if (UNLIKELY((c)->observer.what != NULL)) {                                                                    \
            struct insn_view observed;                                                                                 \
            core_view(c, f, &observed);                                                                                \
            (c)->observer.what((c)->observer.context, &observed, (c)->now);                                            \
        }                                                                                                              \
    } while (0)

#endif
