#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stacks/stacks_priv.h"

_Static_assert(FETCH_L2I == FETCH_L1I + 1 && FETCH_ITLB == FETCH_L1I + 2 && FETCH_MISFETCH == FETCH_L1I + 3,
               "the order of front-end misses");

/* What is known when an interval begins. */
struct mark {
    uint64_t tally[TALLIES];
    uint64_t instructions, overlap;
    struct core_counts counts;
    bool uncounted; /* the total is without it */
};

/* Those of the methods in use that want to be told of something. */
struct told {
    unsigned count;
    void *state[STACK_KINDS];
    const struct stack_method *method[STACK_KINDS];
};

struct accounting {
    uint64_t tally[TALLIES];
    uint64_t instructions, overlap;
    uint64_t interval, next_cut; /* in instructions */
    bool refilling;              /* a misprediction is resolved, and nothing has entered the ROB since */
    bool awaits;                 /* `entered` is called for what enters the ROB next */
    bool shadow;                 /* a mispredicted branch of the right path is in the ROB, or refilling after it */
    bool more;                   /* a method in use asks for more than most do */
    struct told fetched, dispatched, mispredicted, squashed, committed, entered, cycles, close;
    void *state[STACK_KINDS]; /* NULL: not in use */
    const struct core_counts *live;
    struct core_config core;
    struct core_observer observer;
    struct simulation_sum sum;
    struct stack_interval total;
    struct stack_interval *series;
    struct mark *marks; /* where each of them begins */
    size_t count, room; /* of them; the last one is under way */
    bool counts;        /* what happens now does */
};

/* ---- intervals */

static void add_up(uint64_t tally[TALLIES])
{
    uint64_t *rob = &tally[TALLY_ROB], *window = &tally[TALLY_WINDOW];
    rob[OPEN] = open_cycles(rob);
    window[OPEN] = open_cycles(window);
    tally[TALLY_CYCLES] = rob[OPEN];
    for (unsigned w = 0; w < HEAD_WAITS; w++)
        tally[TALLY_CYCLES] += rob[BLOCKED + w];
}

static void set_mark(struct accounting *a, struct mark *m)
{
    add_up(a->tally);
    memcpy(m->tally, a->tally, sizeof m->tally);
    m->instructions = a->instructions;
    m->overlap = a->overlap;
    if (a->live)
        m->counts = *a->live;
}

static void open_books(struct books *b, const uint64_t *begin, struct stack *now)
{
    b->begin = begin;
    b->now = now;
}

/* Without memory for one more, the last interval goes on to the end. */
static void begin_interval(struct accounting *a)
{
    a->next_cut = UINT64_MAX;
    if (a->count == a->room) {
        size_t room = 2 * a->room + 1;
        struct stack_interval *series = realloc(a->series, room * sizeof *series);
        a->series = series ? series : a->series;
        struct mark *marks = realloc(a->marks, room * sizeof *marks);
        a->marks = marks ? marks : a->marks;
        if (series == NULL || marks == NULL)
            return;
        a->room = room;
    }
    struct stack_interval *s = &a->series[a->count];
    struct mark *m = &a->marks[a->count++];
    *s = (struct stack_interval){0};
    set_mark(a, m);
    m->uncounted = !a->counts;
    for (unsigned k = 0; k < STACK_KINDS; k++)
        if (a->state[k])
            open_books(a->state[k], m->tally, &s->of[k]);
    if (a->interval)
        a->next_cut = a->instructions - a->instructions % a->interval + a->interval;
}

_Static_assert(sizeof(struct core_counts) % sizeof(uint64_t) == 0, "counts are a row of numbers");

static void counts_since(const struct core_counts *now, const struct core_counts *then, struct core_counts *grown)
{
    enum { N = sizeof *now / sizeof(uint64_t) };
    uint64_t a[N], b[N];
    memcpy(a, now, sizeof a);
    memcpy(b, then, sizeof b);
    for (unsigned i = 0; i < N; i++)
        a[i] -= b[i];
    memcpy(grown, a, sizeof a);
}

static void end_interval(struct accounting *a)
{
    struct stack_interval *s = &a->series[a->count - 1];
    const struct mark *m = &a->marks[a->count - 1];
    uint64_t grown[TALLIES];
    struct core_counts counts = {0};
    add_up(a->tally);
    for (unsigned i = 0; i < TALLIES; i++)
        grown[i] = a->tally[i] - m->tally[i];
    if (a->live)
        counts_since(a->live, &m->counts, &counts);
    s->cycles = grown[TALLY_CYCLES];
    s->instructions = a->instructions - m->instructions;
    s->overlap_cycles = a->overlap - m->overlap;
    for (unsigned i = 0; i < a->close.count; i++) {
        const struct books *b = a->close.state[i];
        a->close.method[i]->close(b, grown, &counts, &s->of[b->kind]);
    }
}

void charge_earlier(struct books *b, enum component c, enum tally counter, struct span s, int sign)
{
    struct accounting *a = b->accounting;
    for (size_t i = a->count; i-- > 0;) {
        uint64_t begin = a->marks[i].tally[counter];
        uint64_t from = s.from > begin ? s.from : begin;
        if (s.to > from)
            a->series[i].of[b->kind].parts[c] += sign * (int64_t)(s.to - from);
        if (s.from >= begin)
            break;
        s.to = s.to < begin ? s.to : begin;
    }
}

/* ---- what the core tells */

#define RARE __attribute__((noinline, cold))

#define TELL(t, what, ...)                                                                                             \
    do {                                                                                                               \
        for (unsigned tell_i = 0; tell_i < (t)->count; tell_i++)                                                       \
            (t)->method[tell_i]->what((t)->state[tell_i], ##__VA_ARGS__);                                              \
    } while (0)

/* Without branches, since what the guest does next is what the host cannot predict; compilers turn ?: into them. */
static inline unsigned either(bool condition, unsigned yes, unsigned no)
{
    return no + ((yes - no) & -(unsigned)condition);
}

static inline void read_gauge(uint64_t *gauge, bool blocked, const struct cycle_record *r, uint64_t n)
{
    unsigned starved = (r->flags & CYCLE_STARVED) != 0;
    gauge[either(blocked, BLOCKED + r->head_wait, r->fetch_stop & -starved)] += n;
}

static bool overlaps(const struct accounting *a, const struct cycle_record *r)
{
    bool miss = r->fetch_stop >= FETCH_L1I && r->fetch_stop <= FETCH_ITLB && !(r->flags & CYCLE_WRONG_PATH);
    return miss || a->shadow;
}

static inline bool rob_is_full(const struct cycle_record *r)
{
    return ((r->flags & CYCLE_ROB_FULL) != 0) | (r->dispatch_stop == DISPATCH_LSQ);
}

/* What only fmt2 asks for; which share is whose and why, fmt2.c says. */
static void tally_window(struct accounting *a, const struct cycle_record *r, uint64_t n)
{
    static const bool window[DISPATCH_STOPS] = {
        [DISPATCH_ROB] = true, [DISPATCH_IQ] = true, [DISPATCH_LSQ] = true, [DISPATCH_REGS] = true};
    static const struct {
        uint8_t under_branch, under_miss; /* halves */
    } share[HEAD_WAITS] = {[HEAD_UNIT] = {2, 0}, [HEAD_FPU] = {2, 0},  [HEAD_L1D] = {1, 0},
                           [HEAD_L2D] = {1, 1},  [HEAD_DTLB] = {1, 1}, [HEAD_WALKED] = {1, 1}};
    uint64_t half = a->core.decode_width * n, *gauge = &a->tally[TALLY_WINDOW];
    unsigned wait = r->head_wait;
    if (rob_is_full(r) | window[r->dispatch_stop]) {
        gauge[BLOCKED + wait] += 2 * half;
        return;
    }
    a->tally[TALLY_UNDER_BRANCH + wait] += share[wait].under_branch * half;
    if (r->flags & CYCLE_STARVED) {
        uint64_t back = share[wait].under_miss * half;
        a->tally[TALLY_UNDER_MISS + wait] += back;
        gauge[STARVED_BACK] += back;
        gauge[r->fetch_stop] += 2 * half - back;
    } else {
        uint64_t cut = 2 * r->cut * n;
        gauge[r->cut ? r->fetch_stop : FED] += cut;
        gauge[FED] += 2 * half - cut;
    }
}

static __attribute__((noinline)) void tally_more(struct accounting *a, const struct cycle_record *r, uint64_t n)
{
    if (a->state[STACK_fmt2])
        tally_window(a, r, n);
    TELL(&a->cycles, cycles, r, n);
}

static inline bool stays_empty(const struct cycle_record *r)
{
    return (r->commit_stop == COMMIT_EMPTY) & (r->committed == 0) & (r->dispatched == 0);
}

/* Whether the back end is blocked by what front-end misses may overlap with. */
static inline bool may_overlap(const struct cycle_record *r)
{
    const unsigned waits = 1 << HEAD_L2D | 1 << HEAD_DTLB | 1 << HEAD_WALKED;
    return rob_is_full(r) & waits >> r->head_wait;
}

static inline void tally_most(struct accounting *a, const struct cycle_record *r, uint64_t n)
{
    bool empty = stays_empty(r);
    read_gauge(&a->tally[TALLY_ROB], rob_is_full(r), r, n);
    a->tally[TALLY_EMPTY] += n & -(uint64_t)empty;
    a->awaits |= empty;
    a->instructions += r->committed * n;
}

static void tally_cycles(struct accounting *a, const struct cycle_record *r, uint64_t n)
{
    tally_most(a, r, n);
    if (may_overlap(r) && overlaps(a, r))
        a->overlap += n;
    if (a->more)
        tally_more(a, r, n);
}

static RARE void tell_entered(struct accounting *a)
{
    a->refilling = a->awaits = a->shadow = false;
    TELL(&a->entered, entered);
}

/* Cycles in which an interval ends, or several do. */
static RARE void cut_cycles(struct accounting *a, const struct cycle_record *r, uint64_t n)
{
    while (a->instructions + r->committed * n >= a->next_cut) {
        uint64_t part = (a->next_cut - a->instructions + r->committed - 1) / r->committed;
        tally_cycles(a, r, part);
        n -= part;
        end_interval(a);
        begin_interval(a);
    }
    if (n)
        tally_cycles(a, r, n);
}

static void on_cycles(void *context, const struct cycle_record *r, uint64_t n)
{
    struct accounting *a = context;
    if (r->dispatched && a->awaits)
        tell_entered(a);
    if (a->instructions + r->committed * n >= a->next_cut)
        cut_cycles(a, r, n);
    else
        tally_cycles(a, r, n);
}

/* Up to the first run that needs more. Nearly every cycle that is simulated comes here: what is rare is left to
 * on_cycles (bench/core.py). */
static const struct cycle_run *tally_runs(struct accounting *a, const struct cycle_run *r, const struct cycle_run *end)
{
    for (; r < end; r++) {
        if (((r->record.dispatched != 0) & a->awaits) | may_overlap(&r->record))
            break;
        tally_most(a, &r->record, r->cycles);
    }
    return r;
}

/* Without intervals, which would begin late. */
static void on_cycle_runs(void *context, const struct cycle_run *runs, unsigned count)
{
    struct accounting *a = context;
    const struct cycle_run *end = runs + count;
    for (const struct cycle_run *r = runs; r < end;) {
        if (!a->more)
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
    TELL(&a->fetched, fetched, v);
}

static void on_dispatched(void *context, const struct insn_view *v, uint64_t cycle)
{
    struct accounting *a = context;
    (void)cycle;
    a->shadow |= v->mispredicted && !v->wrong_path;
    TELL(&a->dispatched, dispatched, v);
}

static void on_mispredicted(void *context, const struct insn_view *v, uint64_t cycle)
{
    struct accounting *a = context;
    (void)cycle;
    a->refilling = a->awaits = true;
    TELL(&a->mispredicted, mispredicted, v);
}

static void on_squashed(void *context, const struct insn_view *v, uint64_t cycle)
{
    struct accounting *a = context;
    (void)cycle;
    TELL(&a->squashed, squashed, v);
}

static void on_committed(void *context, const struct insn_view *v, uint64_t cycle)
{
    struct accounting *a = context;
    (void)cycle;
    TELL(&a->committed, committed, v);
}

static void on_begin(void *context, struct core *c, const struct core_counts *live)
{
    struct accounting *a = context;
    (void)c;
    a->live = live;
    a->marks[0].counts = *live;
}

/* ---- what the simulation tells: processes that the guest forks account for themselves */

static void on_forked(void *context)
{
    struct accounting *a = context;
    a->count = 0;
    a->interval = 0;
    begin_interval(a);
}

static void on_part(void *context, bool counts)
{
    struct accounting *a = context;
    end_interval(a);
    a->counts = counts;
    begin_interval(a);
}

static void find_base(const struct accounting *a, struct stack_interval *s)
{
    for (unsigned k = 0; k < STACK_KINDS; k++) {
        int64_t *parts = s->of[k].parts, lost = 0;
        if (a->state[k] == NULL)
            continue;
        for (unsigned c = 0; c < COMPONENTS; c++)
            lost += c == COMPONENT_base ? 0 : parts[c];
        parts[COMPONENT_base] = (int64_t)(s->cycles * accounting_parts(a, (enum stack_kind)k)) - lost;
    }
}

static void add_interval(struct stack_interval *to, const struct stack_interval *s)
{
    to->cycles += s->cycles;
    to->instructions += s->instructions;
    to->overlap_cycles += s->overlap_cycles;
    for (unsigned k = 0; k < STACK_KINDS; k++)
        for (unsigned c = 0; c < COMPONENTS; c++)
            to->of[k].parts[c] += s->of[k].parts[c];
}

static void on_end(void *context)
{
    struct accounting *a = context;
    if (a->refilling)
        tell_entered(a); /* nothing will, and what that cost is to be charged */
    end_interval(a);
    if (a->count > 1 && a->series[a->count - 1].cycles == 0)
        a->count--;
    for (size_t i = 0; i < a->count; i++) {
        find_base(a, &a->series[i]);
        if (!a->marks[i].uncounted)
            add_interval(&a->total, &a->series[i]);
    }
}

/* ---- from outside */

#define ASK(a, what, k)                                                                                                \
    do {                                                                                                               \
        if (stack_methods[k]->what) {                                                                                  \
            (a)->what.state[(a)->what.count] = (a)->state[k];                                                          \
            (a)->what.method[(a)->what.count++] = stack_methods[k];                                                    \
        }                                                                                                              \
    } while (0)

static int use(struct accounting *a, enum stack_kind k)
{
    struct books *b = calloc(1, stack_methods[k]->state_bytes);
    if (b == NULL)
        return -ENOMEM;
    *b = (struct books){.tally = a->tally, .core = &a->core, .accounting = a, .kind = k};
    a->state[k] = b;
    if (stack_methods[k]->begin)
        stack_methods[k]->begin(b);
    ASK(a, fetched, k);
    ASK(a, dispatched, k);
    ASK(a, mispredicted, k);
    ASK(a, squashed, k);
    ASK(a, committed, k);
    ASK(a, entered, k);
    ASK(a, cycles, k);
    ASK(a, close, k);
    a->more = a->state[STACK_fmt2] || a->cycles.count;
    return 0;
}

struct accounting *accounting_new(const struct core_config *core, unsigned kinds, uint64_t interval_insns,
                                  struct error *err)
{
    int code = 0;
    struct accounting *a = calloc(1, sizeof *a);
    if (a == NULL)
        code = -ENOMEM;
    else
        a->core = *core;
    for (unsigned k = 0; code == 0 && k < STACK_KINDS; k++)
        if (kinds >> k & 1)
            code = use(a, (enum stack_kind)k);
    if (code == 0) {
        a->interval = interval_insns;
        a->counts = true;
        begin_interval(a);
        code = a->count == 1 ? 0 : -ENOMEM;
    }
    if (code != 0) {
        accounting_free(a);
        error_set(err, -ENOMEM, "out of memory for accounting");
        return NULL;
    }
    a->observer = (struct core_observer){.begin = on_begin,
                                         .cycles = on_cycles,
                                         .cycle_runs = interval_insns ? NULL : on_cycle_runs,
                                         .fetched = on_fetched,
                                         .dispatched = on_dispatched,
                                         .mispredicted = on_mispredicted,
                                         .squashed = core->fmt_rows ? on_squashed : NULL,
                                         .committed = on_committed,
                                         .context = a,
                                         .observed = core->fmt_rows ? OBSERVE_CONTROL : OBSERVE_MISSES};
    a->sum = (struct simulation_sum){.forked = on_forked,
                                     .end = on_end,
                                     .part = on_part,
                                     .context = a,
                                     .numbers = (uint64_t *)(void *)&a->total,
                                     .count = sizeof a->total / sizeof(uint64_t)};
    return a;
}

void accounting_free(struct accounting *a)
{
    if (a == NULL)
        return;
    for (unsigned k = 0; k < STACK_KINDS; k++)
        free(a->state[k]);
    free(a->series);
    free(a->marks);
    free(a);
}

const struct core_observer *accounting_observer(struct accounting *a)
{
    return &a->observer;
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

const struct stack_interval *accounting_series(const struct accounting *a, size_t *count)
{
    *count = a->count;
    return a->series;
}
