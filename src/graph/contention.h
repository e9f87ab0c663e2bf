/* Contention for units, issue slots, data ports and issue queues in one set of real structures.
 *
 * Instructions come in program order and take the first cycle that has room for them. That is what a core does that
 * issues the oldest ready instructions first: an older instruction never finds a slot taken by a younger one. A slot of
 * the table is one cycle; its word has one field per limited resource, which counts up from FIELD_FULL - limit, so that
 * one test of bits tells whether there is room for everything that the instruction needs. A word also has the number of
 * the lap around the table, and a word of another lap is empty.
 *
 * The issue queues have a word of the same kind with the entries in use; the table says how many become free in each
 * cycle, and by which instruction. So an instruction that finds its queue full learns whose issue makes room for
 * it. Cycles beyond the table have no contention. */
#ifndef CYCLESCOPE_GRAPH_CONTENTION_H
#define CYCLESCOPE_GRAPH_CONTENTION_H

#include "graph/graph_priv.h"

enum {
    CONTENTION_CYCLES = 1024, /* cycles that the table spans */
    CONTENTION_LAG = 256,     /* cycles that `now` may lie behind the dispatch of instructions */
    FIELD_BITS = 6,           /* of a field of a slot */
    FIELD_FULL = 32,          /* value of a field without room */
    FIELD_ISSUE = POOLS,      /* the fields of a slot: one per pool, then these */
    FIELD_PORTS,
    FIELDS,
    LAP_SHIFT = FIELDS * FIELD_BITS,
    QUEUE_BITS = 16, /* of a field of the queues' word: one per queue, then one for all */
    QUEUE_FULL = 1 << 15,
    MSHR_CYCLES = 8192, /* cycles for which the use of MSHRs is remembered */
    MSHRS_MOST = 250,   /* cores with more MSHRs never lack one */
};

/* Use of MSHRs by cycle, now and later: instructions come in program order, so an older one may begin later. Arrays are
 * indexed by cycle modulo MSHR_CYCLES. */
struct misses {
    uint64_t first;                 /* the table has this cycle and those after it; no miss has an MSHR in older ones */
    uint8_t used[MSHR_CYCLES];      /* MSHRs in use */
    uint8_t ends[MSHR_CYCLES];      /* misses that end in this cycle, at most UINT8_MAX */
    uint16_t freed_by[MSHR_CYCLES]; /* arrival that frees an MSHR in this cycle, modulo 2^16 */
};

/* What an instruction of one class takes. */
struct contention_need {
    uint64_t issue; /* added to the slot in which it issues */
    uint64_t full;  /* bits of that slot that mean: no room */
    uint64_t unit;  /* added to later slots while its unit is not free */
    uint64_t queue, queue_full;
    unsigned queue_number; /* enum queue */
    unsigned interval;
};

/* The limits of a core, the same in all sets. */
struct contention_limits {
    struct contention_need need[CLASS_COUNT];
    uint64_t empty_slot, empty_queues;
    bool has_queues; /* issue queues have limits; else instructions need not enter and leave them */
    bool has_total;  /* all queues together have a limit */
};

/* Who leaves the issue queues in one cycle. */
struct contention_leavers {
    uint64_t freed;            /* entries of queues that become free; 0 for cycles up to contention.now */
    uint16_t last[QUEUES + 1]; /* by queue, and of all: the last instruction that leaves, modulo 2^16 */
};

struct contention {
    uint64_t slot[CONTENTION_CYCLES];                     /* by cycle modulo this number */
    struct contention_leavers leavers[CONTENTION_CYCLES]; /* by cycle modulo this number */
    uint64_t queues;                                      /* entries in use in cycle `now` */
    uint64_t now;                                         /* dispatch of the last instruction, or a cycle before it */
    struct misses misses;
};

static inline uint64_t field_of_slot(unsigned field, uint64_t value)
{
    return value << field * FIELD_BITS;
}

static inline uint64_t field_of_queues(unsigned field, uint64_t value)
{
    return value << field * QUEUE_BITS;
}

static inline void contention_advance(struct contention *c)
{
    struct contention_leavers *at = &c->leavers[++c->now % CONTENTION_CYCLES];
    c->queues -= at->freed;
    at->freed = 0;
}

/* Waits until the queue has room. Returns how many instructions ago the one was dispatched whose issue makes room. */
static inline unsigned contention_await_room(struct contention *c, const struct contention_need *n, uint64_t insn)
{
    uint64_t full;
    do {
        full = c->queues & n->queue_full;
        contention_advance(c);
    } while (c->queues & n->queue_full);
    unsigned field = (unsigned)__builtin_ctzll(full) / QUEUE_BITS;
    return (uint16_t)(insn - c->leavers[c->now % CONTENTION_CYCLES].last[field]);
}

/* Subtracts the entries that have become free up to cycle `when`. */
static inline void contention_catch_up(struct contention *c, uint64_t when)
{
    for (unsigned i = 0; c->now < when && i < CONTENTION_CYCLES; i++)
        contention_advance(c);
    if (c->now < when)
        c->now = when;
}

/* Instruction number `insn` dispatches in cycle `when` or, if its issue queue is full, later. Returns 0, or how many
 * instructions ago the one was dispatched whose issue makes room.
 *
 * Entries that have become free are subtracted only when the queue seems full, many cycles at once: the host cannot
 * predict how many cycles pass from one instruction to the next. */
static inline unsigned contention_enter(struct contention *c, const struct contention_need *n, uint64_t when,
                                        uint64_t insn)
{
    unsigned waits_for = 0;
    if (__builtin_expect((c->queues & n->queue_full) != 0 || (int64_t)(when - c->now) > CONTENTION_LAG, 0)) {
        contention_catch_up(c, when);
        if (c->queues & n->queue_full)
            waits_for = contention_await_room(c, n, insn);
    }
    c->queues += n->queue;
    return waits_for;
}

/* The content of a slot: an empty one if it is of another lap. Without a branch, which the host could not predict. */
static inline uint64_t contention_fresh(uint64_t slot, const struct contention_limits *l, uint64_t lap)
{
    uint64_t empty = l->empty_slot | lap, stale = -(uint64_t)((slot ^ lap) >> LAP_SHIFT != 0);
    return slot ^ ((slot ^ empty) & stale);
}

/* Adds `unit`, one unit of a pool, to that many slots from cycle `from` on. Slots in which older instructions that were
 * ready later have the unit are left out. */
static inline void contention_occupy(struct contention *c, const struct contention_limits *l, uint64_t unit,
                                     uint64_t from, unsigned slots)
{
    for (uint64_t cycle = from; __builtin_expect(slots > 0, 0) && cycle < from + CONTENTION_CYCLES; cycle++) {
        uint64_t *slot = &c->slot[cycle % CONTENTION_CYCLES];
        uint64_t use = contention_fresh(*slot, l, cycle / CONTENTION_CYCLES << LAP_SHIFT);
        bool taken = use & unit * FIELD_FULL;
        *slot = use + (taken ? 0 : unit);
        slots -= !taken;
    }
}

/* An instruction is ready to issue in cycle `when`. Returns the cycle in which it issues. */
static inline uint64_t contention_issue(struct contention *c, const struct contention_limits *l,
                                        const struct contention_need *n, uint64_t when)
{
    for (;; when++) {
        uint64_t *slot = &c->slot[when % CONTENTION_CYCLES], lap = when / CONTENTION_CYCLES << LAP_SHIFT;
        uint64_t use = contention_fresh(*slot, l, lap);
        if (__builtin_expect(!(use & n->full), 1)) {
            *slot = use + n->issue;
            break;
        }
    }
    contention_occupy(c, l, n->unit, when + 1, n->interval - 1);
    return when;
}

/* Instruction number `insn` leaves its issue queue in cycle `when`, after it entered. */
static inline void contention_leave(struct contention *c, const struct contention_need *n, uint64_t when, uint64_t insn)
{
    uint64_t last = c->now + CONTENTION_CYCLES - 1;
    struct contention_leavers *at = &c->leavers[(when < last ? when : last) % CONTENTION_CYCLES];
    at->freed += n->queue;
    at->last[n->queue_number] = at->last[QUEUES] = (uint16_t)insn;
}

/* How long an access waits for an MSHR. */
struct contention_wait {
    unsigned distance; /* arrivals before its own that the one is which frees an MSHR for it; 0: an MSHR was free */
    unsigned delay;    /* cycles after that until a load issues for the last time */
};

/* A load has issued in cycle `when`. Without a free MSHR it is sent back and issues again whenever a miss ends. */
struct contention_wait contention_retry(struct contention *c, const struct contention_limits *l,
                                        const struct contention_need *n, unsigned mshrs, uint64_t when,
                                        uint32_t arrival);
/* The same of a store, which waits for the first free MSHR. */
struct contention_wait contention_await_mshr(const struct contention *c, unsigned mshrs, uint64_t when,
                                             uint32_t arrival);
/* Returns the first cycle from `when` on in which an MSHR is free. */
uint64_t contention_mshr_free(const struct contention *c, unsigned mshrs, uint64_t when);
/* A miss has an MSHR from cycle `begin` to the cycle before `end`. `arrival` is its number among arrivals. */
void contention_add_miss(struct contention *c, unsigned mshrs, uint64_t begin, uint64_t end, uint32_t arrival);

void contention_limits_init(struct contention_limits *l, const struct graph_core *c);
void contention_init(struct contention *c, const struct contention_limits *l);

#endif
