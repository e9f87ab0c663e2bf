/* Accounting: an observer of the core that builds the CPI stacks of all methods in use during one run.
 *
 * The core reports a record for each cycle (or for each run of identical cycles), and callbacks for instructions. A
 * record is added once to the tally, the row of counters that all methods share (stacks_priv.h). Instruction callbacks
 * are forwarded to the methods that implement them. Methods charge cycles to components by calling `charge`.
 *
 * The run consists of one or more intervals, each with one stack per method. When an interval begins, a snapshot of all
 * counters is stored; when it ends, methods get the growth since the snapshot and charge what follows from it. A charge
 * for cycles of earlier intervals goes to the stacks of those intervals. When the run ends, the cycles that no
 * component was charged with become the base, and the intervals are added up to the total.
 *
 * Terms: the head is the oldest instruction in the ROB, and `head_wait` of a record is what it waits for. A cycle is
 * blocked if the back end has no room for more instructions, else open. An open cycle is starved if an instruction miss
 * or a misfetch let no instruction enter the front end. A gauge is the part of the tally that counts cycles by these
 * criteria. There are two gauges: in TALLY_ROB a full ROB or load/store queue blocks, in TALLY_WINDOW any full
 * structure. */
#include <errno.h>
#include <stdlib.h>

#include "stacks/account_priv.h"

_Static_assert(FETCH_L2I == FETCH_L1I + 1 && FETCH_ITLB == FETCH_L1I + 2 && FETCH_MISFETCH == FETCH_L1I + 3,
               "front-end misses are consecutive");

/* ---- callbacks of the core */

/* Keeps rare cases out of the hot functions that call them. */
#define RARE __attribute__((noinline, cold))

/* Calls one callback of every method that implements it. */
#define NOTIFY(subscribers, callback, ...)                                                                             \
    do {                                                                                                               \
        for (unsigned notify_i = 0; notify_i < (subscribers)->count; notify_i++)                                       \
            (subscribers)->method[notify_i]->callback((subscribers)->state[notify_i], ##__VA_ARGS__);                  \
    } while (0)

/* condition ? yes : no, without a branch: the condition follows the guest's behavior, which the host cannot predict,
 * and compilers turn ?: into a branch. */
static inline unsigned select_index(bool condition, unsigned yes, unsigned no)
{
    return no + ((yes - no) & -(unsigned)condition);
}

/* Adds n cycles with this record to one counter of the gauge: blocked cycles by what the head waits for, starved cycles
 * by the kind of miss (counter number = fetch_stop), and all others to GAUGE_NOT_STARVED, which is counter 0. */
static inline void gauge_add(uint64_t *gauge, bool blocked, const struct cycle_record *r, uint64_t n)
{
    unsigned starved = (r->flags & CYCLE_STARVED) != 0;
    gauge[select_index(blocked, GAUGE_BLOCKED + r->head_wait, r->fetch_stop & -starved)] += n;
}

/* Whether the front end pays a penalty in this cycle: an instruction miss on the right path, or a misprediction whose
 * branch is in the ROB or after which the ROB refills. A misprediction that resolves on the wrong path sets `refilling`
 * as well, which changes nothing: the branch that led to the wrong path is still unresolved. */
static bool has_front_end_penalty(const struct accounting *a, const struct cycle_record *r)
{
    bool miss = r->fetch_stop >= FETCH_L1I && r->fetch_stop <= FETCH_ITLB && !(r->flags & CYCLE_WRONG_PATH);
    return miss || a->unresolved || a->refilling;
}

/* Whether the ROB is full, or the load/store queue, which blocks dispatch in the same way. */
static inline bool rob_is_full(const struct cycle_record *r)
{
    return ((r->flags & CYCLE_ROB_FULL) != 0) | (r->dispatch_stop == DISPATCH_LSQ);
}

/* Whether the ROB is full and its head waits for memory or a page walk: the long back-end penalties, which a front-end
 * penalty may overlap with. The result is bit 0 of the shifted set. */
static inline bool has_long_back_end_penalty(const struct cycle_record *r)
{
    const unsigned waits = 1 << HEAD_L2D | 1 << HEAD_DTLB | 1 << HEAD_WALKED;
    return rob_is_full(r) & waits >> r->head_wait;
}

/* Adds n cycles to the counters that only fmt2 uses: TALLY_WINDOW and all that follow it, in parts of a cycle. An open
 * cycle is divided between the front end and the wait of the ROB's head; fmt2.c gives the reasons for the shares. */
static void tally_window(struct accounting *a, const struct cycle_record *r, uint64_t n)
{
    static const bool lacks_room[DISPATCH_STOPS] = {
        [DISPATCH_ROB] = true, [DISPATCH_IQ] = true, [DISPATCH_LSQ] = true, [DISPATCH_REGS] = true};
    static const struct {
        uint8_t under_branch, under_miss; /* what the wait is charged with, in halves of a cycle */
    } share[HEAD_WAITS] = {[HEAD_UNIT] = {2, 0}, [HEAD_FPU] = {2, 0},  [HEAD_L1D] = {1, 0},
                           [HEAD_L2D] = {1, 1},  [HEAD_DTLB] = {1, 1}, [HEAD_WALKED] = {1, 1}};
    uint64_t half = a->core.decode_width * n, *gauge = &a->tally[TALLY_WINDOW]; /* half: parts of n half cycles */
    unsigned wait = r->head_wait;
    if (rob_is_full(r) | lacks_room[r->dispatch_stop]) {
        gauge[GAUGE_BLOCKED + wait] += 2 * half;
        return;
    }
    a->tally[TALLY_UNDER_BRANCH + wait] += share[wait].under_branch * half;
    if (r->flags & CYCLE_STARVED) {
        uint64_t back_end = share[wait].under_miss * half;
        a->tally[TALLY_UNDER_MISS + wait] += back_end;
        gauge[GAUGE_STARVED_BACK_END] += back_end;
        gauge[r->fetch_stop] += 2 * half - back_end;
    } else {
        uint64_t cut = 2 * r->cut * n; /* decode slots left empty by a miss that begins now, two parts each */
        gauge[r->cut ? r->fetch_stop : GAUGE_NOT_STARVED] += cut;
        gauge[GAUGE_NOT_STARVED] += 2 * half - cut;
    }
}

/* Does for n cycles what only some methods need: the counters of fmt2, and `cycles` callbacks. */
static __attribute__((noinline)) void tally_extra(struct accounting *a, const struct cycle_record *r, uint64_t n)
{
    if (a->state[STACK_fmt2])
        tally_window(a, r, n);
    NOTIFY(&a->cycles, cycles, r, n);
}

/* Whether nothing retires because the ROB is empty, and nothing enters it either. */
static inline bool rob_stays_empty(const struct cycle_record *r)
{
    return (r->commit_stop == COMMIT_EMPTY) & (r->committed == 0) & (r->dispatched == 0);
}

/* Adds n cycles to the counters that all methods share. Has no branches, for speed. */
static inline void tally_common(struct accounting *a, const struct cycle_record *r, uint64_t n)
{
    bool empty = rob_stays_empty(r);
    gauge_add(&a->tally[TALLY_ROB], rob_is_full(r), r, n);
    a->tally[TALLY_EMPTY] += n & -(uint64_t)empty;
    a->awaits_entry |= empty;
    a->instructions += r->committed * n;
}

/* Adds n cycles with this record, all of one interval, to all counters. */
static void tally_cycles(struct accounting *a, const struct cycle_record *r, uint64_t n)
{
    tally_common(a, r, n);
    if (has_long_back_end_penalty(r) && has_front_end_penalty(a, r))
        a->overlap_cycles += n;
    if (a->needs_every_record)
        tally_extra(a, r, n);
}

/* Tells methods that the first instruction enters the ROB after a misprediction, or after cycles with an empty ROB. */
static RARE void notify_entered(struct accounting *a)
{
    a->refilling = a->awaits_entry = false;
    NOTIFY(&a->entered, entered);
}

/* Adds n cycles with this record to all counters, and begins a new interval behind each cycle in which next_cut is
 * reached. */
static RARE void tally_across_cuts(struct accounting *a, const struct cycle_record *r, uint64_t n)
{
    while (a->instructions + r->committed * n >= a->next_cut) {
        uint64_t cycles_to_cut = (a->next_cut - a->instructions + r->committed - 1) / r->committed;
        tally_cycles(a, r, cycles_to_cut);
        n -= cycles_to_cut;
        intervals_cut(a);
    }
    if (n)
        tally_cycles(a, r, n);
}

static void on_cycles(void *context, const struct cycle_record *r, uint64_t n)
{
    struct accounting *a = context;
    if (r->dispatched && a->awaits_entry)
        notify_entered(a);
    if (a->instructions + r->committed * n >= a->next_cut)
        tally_across_cuts(a, r, n);
    else
        tally_cycles(a, r, n);
}

/* Adds runs to the tally up to the first one that needs more than tally_common, and returns that one, or `end`. Nearly
 * every simulated cycle is added in this loop; it is fast because it has no rare cases, which are left to on_cycles
 * (bench/core.py). */
static const struct cycle_run *tally_runs(struct accounting *a, const struct cycle_run *r, const struct cycle_run *end)
{
    for (; r < end; r++) {
        if (((r->record.dispatched != 0) & a->awaits_entry) | has_long_back_end_penalty(&r->record))
            break;
        tally_common(a, &r->record, r->cycles);
    }
    return r;
}

/* Replaces on_cycles in a run of one interval. Not used with several: the core delivers these runs of cycles late, and
 * intervals would begin late. */
static void on_cycle_runs(void *context, const struct cycle_run *runs, unsigned count)
{
    struct accounting *a = context;
    const struct cycle_run *end = runs + count;
    for (const struct cycle_run *r = runs; r < end;) {
        if (!a->needs_every_record)
            r = tally_runs(a, r, end);
        if (r < end) {
            on_cycles(a, &r->record, r->cycles);
            r++;
        }
    }
}

static void on_fetched(void *context, const struct insn_view *v, uint64_t cycle)
{
    struct accounting *a = context;
    (void)cycle;
    NOTIFY(&a->fetched, fetched, v);
}

static void on_dispatched(void *context, const struct insn_view *v, uint64_t cycle)
{
    struct accounting *a = context;
    (void)cycle;
    a->unresolved |= v->mispredicted && !v->wrong_path;
    NOTIFY(&a->dispatched, dispatched, v);
}

static void on_mispredicted(void *context, const struct insn_view *v, uint64_t cycle)
{
    struct accounting *a = context;
    (void)cycle;
    a->refilling = a->awaits_entry = true;
    a->unresolved &= v->wrong_path;
    NOTIFY(&a->mispredicted, mispredicted, v);
}

static void on_squashed(void *context, const struct insn_view *v, uint64_t cycle)
{
    struct accounting *a = context;
    (void)cycle;
    NOTIFY(&a->squashed, squashed, v);
}

static void on_committed(void *context, const struct insn_view *v, uint64_t cycle)
{
    struct accounting *a = context;
    (void)cycle;
    NOTIFY(&a->committed, committed, v);
}

static void on_retired(void *context, const struct retired_insn *r, uint64_t cycle)
{
    struct accounting *a = context;
    (void)cycle;
    NOTIFY(&a->retired, retired, r);
}

static void on_drained(void *context, uint32_t store, const struct data_access *access, uint64_t cycle)
{
    struct accounting *a = context;
    (void)cycle;
    NOTIFY(&a->drained, drained, store, access);
}

/* The first interval began in accounting_new, before the core's counters were known: completes its snapshot. */
static void on_begin(void *context, struct core *c, const struct core_counts *live)
{
    struct accounting *a = context;
    a->core_counts = live;
    a->memory_counts = memsys_counts(core_memsys(c));
    intervals_know_counts(a);
    if (a->warming_up)
        NOTIFY(&a->warmed, warmed);
    else
        NOTIFY(&a->attached, attached, c);
    a->warming_up = false;
}

static void on_warmup(void *context, struct core *c, const struct core_counts *live)
{
    struct accounting *a = context;
    (void)live;
    a->warming_up = true;
    NOTIFY(&a->attached, attached, c);
}

/* ---- callbacks of the simulation */

/* This process is the child of a fork by the guest. It starts over with a single interval; the simulation adds its
 * total to that of the parent. */
static void on_forked(void *context)
{
    struct accounting *a = context;
    NOTIFY(&a->restarted, restarted);
    a->count = 0;
    a->interval_insns = 0;
    intervals_begin(a);
}

/* Turns counting on or off: an interval ends here, and the total includes the next one only if `counts` is set. */
static void on_set_counting(void *context, bool counts)
{
    struct accounting *a = context;
    a->in_total = counts;
    intervals_cut(a);
}

/* The run is over: completes the last interval, computes the base of every stack, and adds the intervals up. */
static void on_end(void *context)
{
    struct accounting *a = context;
    if (a->refilling)
        notify_entered(a); /* no instruction will enter: methods charge the cycles of this refill now */
    intervals_end(a);
    NOTIFY(&a->finished, finished);
    intervals_complete(a);
}

/* ---- setup and results */

/* Adds method k to the subscribers of a callback if it implements this callback. */
#define SUBSCRIBE(a, callback, k)                                                                                      \
    do {                                                                                                               \
        if (stack_methods[k]->callback) {                                                                              \
            (a)->callback.state[(a)->callback.count] = (a)->state[k];                                                  \
            (a)->callback.method[(a)->callback.count++] = stack_methods[k];                                            \
        }                                                                                                              \
    } while (0)

/* Allocates the state of method k and subscribes its callbacks. */
static int add_method(struct accounting *a, enum stack_kind k, struct error *err)
{
    struct ledger *l = calloc(1, stack_methods[k]->state_bytes);
    if (l == NULL)
        return error_set(err, -ENOMEM, "out of memory for accounting");
    *l = (struct ledger){.tally = a->tally, .core = &a->core, .accounting = a, .kind = k};
    a->state[k] = l;
    int code = stack_methods[k]->create ? stack_methods[k]->create(l, err) : 0;
    if (code != 0)
        return code;
    if (stack_methods[k]->begin)
        stack_methods[k]->begin(l);
    SUBSCRIBE(a, fetched, k);
    SUBSCRIBE(a, dispatched, k);
    SUBSCRIBE(a, mispredicted, k);
    SUBSCRIBE(a, squashed, k);
    SUBSCRIBE(a, committed, k);
    SUBSCRIBE(a, entered, k);
    SUBSCRIBE(a, cycles, k);
    SUBSCRIBE(a, close, k);
    SUBSCRIBE(a, attached, k);
    SUBSCRIBE(a, warmed, k);
    SUBSCRIBE(a, retired, k);
    SUBSCRIBE(a, drained, k);
    SUBSCRIBE(a, restarted, k);
    SUBSCRIBE(a, finished, k);
    a->needs_every_record = a->state[STACK_fmt2] || a->cycles.count;
    return 0;
}

struct accounting *accounting_new(const struct core_config *core, unsigned kinds, uint64_t interval_insns,
                                  struct error *err)
{
    struct accounting *a = calloc(1, sizeof *a);
    int code = a ? 0 : error_set(err, -ENOMEM, "out of memory for accounting");
    if (a)
        a->core = *core;
    for (unsigned k = 0; code == 0 && k < STACK_KINDS; k++)
        if (kinds >> k & 1)
            code = add_method(a, (enum stack_kind)k, err);
    if (code == 0) {
        a->interval_insns = interval_insns;
        a->in_total = true;
        code = intervals_reserve(a) ? 0 : error_set(err, -ENOMEM, "out of memory for accounting");
    }
    if (code != 0) {
        accounting_free(a);
        return NULL;
    }
    intervals_begin(a);
    a->observer = (struct core_observer){.begin = on_begin,
                                         .cycles = on_cycles,
                                         .cycle_runs = interval_insns ? NULL : on_cycle_runs,
                                         .fetched = on_fetched,
                                         .dispatched = on_dispatched,
                                         .mispredicted = on_mispredicted,
                                         .squashed = core->fmt_rows ? on_squashed : NULL,
                                         .committed = on_committed,
                                         .retired = a->retired.count ? on_retired : NULL,
                                         .drained = a->drained.count ? on_drained : NULL,
                                         .context = a,
                                         .observed = core->fmt_rows ? OBSERVE_CONTROL : OBSERVE_MISSES};
    if (a->warmed.count)
        a->warmup_observer = (struct core_observer){.begin = on_warmup,
                                                    .retired = a->observer.retired,
                                                    .drained = a->observer.drained,
                                                    .context = a,
                                                    .observed = OBSERVE_MISSES};
    /* The simulation adds up `total` over processes as a row of 64-bit numbers, signed ones included. */
    a->sum = (struct simulation_sum){.forked = on_forked,
                                     .end = on_end,
                                     .set_counting = on_set_counting,
                                     .context = a,
                                     .numbers = (uint64_t *)(void *)&a->total,
                                     .count = sizeof a->total / sizeof(uint64_t)};
    return a;
}

int accounting_add_what_ifs(struct accounting *a, const struct what_ifs *w, struct error *err)
{
    return w->count ? graph_method_add_what_ifs(a->state[STACK_graph], w, err) : 0;
}

int accounting_split_base(struct accounting *a, struct error *err)
{
    return graph_method_split_base(a->state[STACK_graph], err);
}

void accounting_free(struct accounting *a)
{
    if (a == NULL)
        return;
    for (unsigned k = 0; k < STACK_KINDS; k++) {
        if (a->state[k] && stack_methods[k]->destroy)
            stack_methods[k]->destroy(a->state[k]);
        free(a->state[k]);
    }
    free(a->series);
    free(a->starts);
    free(a);
}

const struct core_observer *accounting_observer(struct accounting *a)
{
    return &a->observer;
}

const struct core_observer *accounting_warmup_observer(struct accounting *a)
{
    return &a->warmup_observer;
}

const struct simulation_sum *accounting_sum(struct accounting *a)
{
    return &a->sum;
}

uint64_t accounting_parts(const struct accounting *a, enum stack_kind k)
{
    return stack_parts(&a->core, k);
}

const struct stack_interval *accounting_total(const struct accounting *a)
{
    return &a->total;
}

uint64_t accounting_tallied(const struct accounting *a)
{
    return a->instructions;
}

bool accounting_is_warming_up(const struct accounting *a)
{
    return a->warming_up;
}

struct stack_interval *accounting_interval(struct accounting *a, size_t i)
{
    return &a->series[i];
}

const struct stack_interval *accounting_series(const struct accounting *a, size_t *count)
{
    *count = a->count;
    return a->series;
}
