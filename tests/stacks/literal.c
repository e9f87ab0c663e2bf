#include "stacks/literal.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { L1I, L2I, ITLB, MISFETCH, MISSES }; /* what starves the front end */

/* The growth of a row's counters in one interval, in parts of a cycle. */
struct share {
    size_t interval;
    uint64_t miss[MISSES];
    uint64_t beside_miss[COMPONENTS]; /* the back end's share of starved cycles, by component */
    uint64_t penalty[COMPONENTS];     /* penalty of the branch, by the component that it is charged to */
};

struct row {
    uint16_t rob_id;
    bool in_rob, resolved, mispredicted;
    struct share *share; /* an interval may have several; their sum counts */
    size_t shares, room;
};

/* A ring: `taken` rows from `first` on belong to branches in flight, oldest first. The fetch pointer is at the row
 * behind them; that row is open, unless all are taken. */
struct table {
    struct row *row;
    unsigned rows, first, taken;
    struct row *refill; /* row of the misprediction after which no instruction has entered the ROB yet, or NULL */
    bool refill_global; /* no instruction has entered the ROB since a misprediction whose branch has committed */
};

struct method {
    bool any_room;      /* a cycle is blocked if any structure is full, not only ROB and LSQ */
    bool two_causes;    /* front end and back end share cycles with two causes */
    bool counts_slots;  /* decode slots that a miss leaves empty in the group before it are charged, too */
    bool shares_misses; /* all rows share one set of counters of instruction misses */
    unsigned parts;     /* parts of a cycle in the counters */
    struct table table;
    struct row shared;       /* the counters that all rows share */
    bool missed[CORE_SLOTS]; /* miss bits of ROB entries */
};

struct literal {
    struct core_observer observer;
    struct method method[LITERAL_METHODS];
    unsigned decode_width;
    bool unresolved; /* a mispredicted branch of the right path is in the ROB */
    bool refills;    /* no instruction has entered the ROB since such a branch resolved */
    uint64_t interval_insns;
    uint64_t insns;                  /* retired so far */
    struct literal_interval *series; /* the last one grows */
    size_t intervals, room;
};

const char *const literal_names[LITERAL_METHODS] = {"fmt", "sfmt", "fmt2"};

/* Room for one more element. */
static void *grown(void *array, size_t count, size_t *room, size_t bytes)
{
    if (count < *room)
        return array;
    *room = *room ? 2 * *room : 4;
    array = realloc(array, *room * bytes);
    if (array == NULL) {
        fputs("out of memory\n", stderr);
        abort();
    }
    return array;
}

/* ---- counters */

static size_t current(const struct literal *l)
{
    return l->intervals - 1;
}

static int64_t *global(struct literal *l, const struct method *m, size_t interval, enum component c)
{
    return &l->series[interval].lost[m - l->method][c];
}

static struct share *counters_of(struct row *row, size_t interval)
{
    if (row->shares == 0 || row->share[row->shares - 1].interval != interval) {
        row->share = grown(row->share, row->shares, &row->room, sizeof *row->share);
        row->share[row->shares++] = (struct share){.interval = interval};
    }
    return &row->share[row->shares - 1];
}

static struct share *counters(struct literal *l, struct row *row)
{
    return counters_of(row, current(l));
}

static void zero(struct row *row)
{
    row->in_rob = row->resolved = row->mispredicted = false;
    row->shares = 0;
}

static void add_misses(struct literal *l, const struct method *m, const struct row *row)
{
    static const enum component component[MISSES] = {
        [L1I] = COMPONENT_l1i, [L2I] = COMPONENT_l2i, [ITLB] = COMPONENT_itlb, [MISFETCH] = COMPONENT_branch};
    for (size_t i = 0; i < row->shares; i++) {
        for (unsigned k = 0; k < MISSES; k++)
            *global(l, m, row->share[i].interval, component[k]) += (int64_t)row->share[i].miss[k];
        for (unsigned c = 0; c < COMPONENTS; c++)
            *global(l, m, row->share[i].interval, c) += (int64_t)row->share[i].beside_miss[c];
    }
}

static void add_penalty(struct literal *l, const struct method *m, const struct row *row)
{
    for (size_t i = 0; i < row->shares; i++)
        for (unsigned c = 0; c < COMPONENTS; c++)
            *global(l, m, row->share[i].interval, c) += (int64_t)row->share[i].penalty[c];
}

/* ---- the ring */

static struct row *row_at(struct table *t, unsigned i)
{
    return &t->row[(t->first + i) % t->rows];
}

static struct row *open_row(struct table *t)
{
    return t->taken < t->rows ? row_at(t, t->taken) : NULL;
}

static void zero_open_row(struct table *t)
{
    if (open_row(t))
        zero(open_row(t));
}

static struct row *find_row(struct table *t, const struct insn_view *v)
{
    if (!v->control)
        return NULL;
    for (unsigned i = 0; i < t->taken; i++)
        if (row_at(t, i)->rob_id == v->slot)
            return row_at(t, i);
    return NULL;
}

static void take_row(struct table *t, const struct insn_view *v)
{
    struct row *row = open_row(t);
    if (row == NULL)
        return;
    row->rob_id = v->slot;
    t->taken++;
    zero_open_row(t);
}

/* Frees the oldest row. The row at the fetch pointer stays the same, if there was one. */
static void free_row(struct table *t, const struct row *row)
{
    bool none_open = open_row(t) == NULL;
    assert(row == row_at(t, 0));
    t->first = (t->first + 1) % t->rows;
    t->taken--;
    if (none_open)
        zero_open_row(t);
}

/* Drops the youngest row; the fetch pointer goes back to it. */
static void drop_row(struct table *t, const struct row *row)
{
    assert(row == row_at(t, t->taken - 1) && row != t->refill);
    t->taken--;
    zero_open_row(t);
}

/* ---- instructions */

static void method_fetched(struct method *m, const struct insn_view *v)
{
    if (v->control)
        take_row(&m->table, v);
}

static void method_dispatched(struct method *m, const struct insn_view *v)
{
    struct row *row = find_row(&m->table, v);
    if (row)
        row->in_rob = true;
    m->missed[v->slot] = v->events & EVENTS_OF_FETCH;
}

static void method_completed(struct method *m, const struct insn_view *v)
{
    struct row *row = find_row(&m->table, v);
    if (row)
        row->resolved = true;
}

static void method_mispredicted(struct method *m, const struct insn_view *v)
{
    struct row *row = find_row(&m->table, v);
    m->table.refill = row;
    m->table.refill_global = false;
    if (row) {
        row->mispredicted = true;
        zero_open_row(&m->table);
    }
    zero(&m->shared);
}

static void method_squashed(struct method *m, const struct insn_view *v)
{
    struct row *row = find_row(&m->table, v);
    if (row)
        drop_row(&m->table, row);
    m->missed[v->slot] = false;
}

static void method_committed(struct literal *l, struct method *m, const struct insn_view *v)
{
    struct table *t = &m->table;
    struct row *row = find_row(t, v);
    if (m->shares_misses && m->missed[v->slot]) {
        add_misses(l, m, &m->shared);
        zero(&m->shared);
        memset(m->missed, 0, sizeof m->missed);
    }
    if (row == NULL)
        return;
    add_misses(l, m, row);
    if (row->mispredicted)
        add_penalty(l, m, row);
    if (row == t->refill) {
        t->refill = NULL;
        t->refill_global = true;
    }
    free_row(t, row);
}

/* ---- cycles */

static bool is_blocked(const struct method *m, const struct cycle_record *r)
{
    if (r->flags & CYCLE_ROB_FULL || r->dispatch_stop == DISPATCH_LSQ)
        return true;
    return m->any_room &&
           (r->dispatch_stop == DISPATCH_ROB || r->dispatch_stop == DISPATCH_IQ || r->dispatch_stop == DISPATCH_REGS);
}

/* The component that a wait of the oldest instruction is charged to; the base if it is neither a miss nor a long
 * latency. */
static enum component back_end(enum head_wait wait)
{
    switch (wait) {
    case HEAD_L1D: return COMPONENT_l1d;
    case HEAD_L2D: return COMPONENT_l2d;
    case HEAD_DTLB:
    case HEAD_WALKED: return COMPONENT_dtlb;
    case HEAD_UNIT:
    case HEAD_FPU: return COMPONENT_fu;
    default: return COMPONENT_base;
    }
}

static void count_blocked(struct literal *l, const struct method *m, enum head_wait wait)
{
    enum component c = back_end(wait);
    if (c != COMPONENT_base)
        *global(l, m, current(l), c) += m->parts;
}

static unsigned kind_of_miss(enum fetch_stop why)
{
    switch (why) {
    case FETCH_L1I: return L1I;
    case FETCH_L2I: return L2I;
    case FETCH_ITLB: return ITLB;
    default: assert(why == FETCH_MISFETCH); return MISFETCH;
    }
}

static void count_starved(struct literal *l, struct method *m, const struct cycle_record *r)
{
    struct row *row = m->shares_misses ? &m->shared : open_row(&m->table);
    enum component c = back_end(r->head_wait);
    unsigned back_end_share = m->two_causes && (c == COMPONENT_l2d || c == COMPONENT_dtlb) ? m->parts / 2 : 0;
    if (row == NULL)
        return;
    counters(l, row)->miss[kind_of_miss(r->fetch_stop)] += m->parts - back_end_share;
    counters(l, row)->beside_miss[c] += back_end_share;
}

static void count_cut(struct literal *l, struct method *m, const struct cycle_record *r)
{
    struct row *row = open_row(&m->table);
    if (row && r->cut > 0)
        counters(l, row)->miss[kind_of_miss(r->fetch_stop)] += m->parts * r->cut / l->decode_width;
}

static void count_refill(struct literal *l, struct method *m, const struct cycle_record *r)
{
    unsigned cut = m->counts_slots ? m->parts * r->cut / l->decode_width : 0;
    if (m->table.refill)
        counters(l, m->table.refill)->penalty[COMPONENT_branch] += m->parts - cut;
    else if (m->table.refill_global)
        *global(l, m, current(l), COMPONENT_branch) += m->parts - cut;
}

/* Counts an open cycle for a row whose branch is unresolved. */
static void count_unresolved(struct literal *l, const struct method *m, struct row *row, enum head_wait wait)
{
    enum component c = back_end(wait);
    unsigned back_end_share = !m->two_causes || c == COMPONENT_base ? 0 : c == COMPONENT_fu ? m->parts : m->parts / 2;
    counters(l, row)->penalty[c] += back_end_share;
    counters(l, row)->penalty[COMPONENT_branch] += m->parts - back_end_share;
}

static void count_open(struct literal *l, struct method *m, const struct cycle_record *r)
{
    bool starved = r->flags & CYCLE_STARVED;
    if (starved)
        count_starved(l, m, r);
    else if (m->counts_slots)
        count_cut(l, m, r);
    for (unsigned i = 0; i < m->table.taken; i++) {
        struct row *row = row_at(&m->table, i);
        if (row->in_rob && !row->resolved)
            count_unresolved(l, m, row, r->head_wait);
    }
    if (!starved && r->dispatched == 0)
        count_refill(l, m, r);
}

static void method_cycle(struct literal *l, struct method *m, const struct cycle_record *r)
{
    if (is_blocked(m, r))
        count_blocked(l, m, r->head_wait);
    else
        count_open(l, m, r);
    if (r->dispatched > 0) {
        m->table.refill = NULL;
        m->table.refill_global = false;
    }
}

/* ---- all methods */

static void begin_interval(struct literal *l)
{
    l->series = grown(l->series, l->intervals, &l->room, sizeof *l->series);
    l->series[l->intervals++] = (struct literal_interval){0};
}

/* Whether the cycle has a front-end penalty and a long back-end penalty at the same time. */
static bool has_both_penalties(const struct literal *l, const struct cycle_record *r)
{
    bool full = r->flags & CYCLE_ROB_FULL || r->dispatch_stop == DISPATCH_LSQ;
    enum component waits_for = back_end(r->head_wait);
    if (!full || (waits_for != COMPONENT_l2d && waits_for != COMPONENT_dtlb))
        return false;
    if (l->unresolved || (l->refills && r->dispatched == 0))
        return true;
    if (r->flags & CYCLE_WRONG_PATH)
        return false;
    return r->fetch_stop == FETCH_L1I || r->fetch_stop == FETCH_L2I || r->fetch_stop == FETCH_ITLB;
}

static void one_cycle(struct literal *l, const struct cycle_record *r)
{
    for (unsigned i = 0; i < LITERAL_METHODS; i++)
        method_cycle(l, &l->method[i], r);
    struct literal_interval *now = &l->series[current(l)];
    uint64_t before = l->insns;
    now->cycles++;
    now->overlap_cycles += has_both_penalties(l, r);
    if (r->dispatched > 0)
        l->refills = false;
    now->instructions += r->committed;
    l->insns += r->committed;
    if (l->interval_insns && before / l->interval_insns != l->insns / l->interval_insns)
        begin_interval(l);
}

static void cycles(void *context, const struct cycle_record *r, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        one_cycle(context, r);
}

static void fetched(void *context, const struct insn_view *v, uint64_t cycle)
{
    struct literal *l = context;
    (void)cycle;
    for (unsigned i = 0; i < LITERAL_METHODS; i++)
        method_fetched(&l->method[i], v);
}

static void dispatched(void *context, const struct insn_view *v, uint64_t cycle)
{
    struct literal *l = context;
    (void)cycle;
    for (unsigned i = 0; i < LITERAL_METHODS; i++)
        method_dispatched(&l->method[i], v);
    if (v->mispredicted && !v->wrong_path)
        l->unresolved = true;
}

static void completed(void *context, const struct insn_view *v, uint64_t cycle)
{
    struct literal *l = context;
    (void)cycle;
    for (unsigned i = 0; i < LITERAL_METHODS; i++)
        method_completed(&l->method[i], v);
}

static void mispredicted(void *context, const struct insn_view *v, uint64_t cycle)
{
    struct literal *l = context;
    (void)cycle;
    for (unsigned i = 0; i < LITERAL_METHODS; i++)
        method_mispredicted(&l->method[i], v);
    if (!v->wrong_path) {
        l->unresolved = false;
        l->refills = true;
    }
}

static void squashed(void *context, const struct insn_view *v, uint64_t cycle)
{
    struct literal *l = context;
    (void)cycle;
    for (unsigned i = 0; i < LITERAL_METHODS; i++)
        method_squashed(&l->method[i], v);
}

static void committed(void *context, const struct insn_view *v, uint64_t cycle)
{
    struct literal *l = context;
    (void)cycle;
    for (unsigned i = 0; i < LITERAL_METHODS; i++)
        method_committed(l, &l->method[i], v);
}

/* ---- the object */

static void *zeros(size_t count, size_t bytes)
{
    void *p = calloc(count, bytes);
    if (p == NULL) {
        fputs("out of memory\n", stderr);
        abort();
    }
    return p;
}

struct literal *literal_new(const struct core_config *core, uint64_t interval_insns)
{
    struct literal *l = zeros(1, sizeof *l);
    l->observer = (struct core_observer){.cycles = cycles,
                                         .fetched = fetched,
                                         .dispatched = dispatched,
                                         .completed = completed,
                                         .mispredicted = mispredicted,
                                         .squashed = squashed,
                                         .committed = committed,
                                         .context = l};
    l->decode_width = (unsigned)core->decode_width;
    l->interval_insns = interval_insns;
    for (unsigned i = 0; i < LITERAL_METHODS; i++) {
        struct method *m = &l->method[i];
        m->shares_misses = strcmp(literal_names[i], "sfmt") == 0;
        m->any_room = m->two_causes = m->counts_slots = strcmp(literal_names[i], "fmt2") == 0;
        m->parts = m->counts_slots ? 2 * l->decode_width : 1;
        m->table.rows = core->fmt_rows ? (unsigned)core->fmt_rows : CORE_SLOTS;
        m->table.row = zeros(m->table.rows, sizeof *m->table.row);
    }
    begin_interval(l);
    return l;
}

void literal_free(struct literal *l)
{
    if (l == NULL)
        return;
    for (unsigned i = 0; i < LITERAL_METHODS; i++) {
        struct method *m = &l->method[i];
        for (unsigned k = 0; k < m->table.rows; k++)
            free(m->table.row[k].share);
        free(m->table.row);
        free(m->shared.share);
    }
    free(l->series);
    free(l);
}

const struct core_observer *literal_observer(struct literal *l, enum observed observed)
{
    assert(observed != OBSERVE_MISSES);
    l->observer.observed = observed;
    return &l->observer;
}

void literal_restart(struct literal *l)
{
    for (unsigned i = 0; i < LITERAL_METHODS; i++) {
        struct method *m = &l->method[i];
        assert(m->table.taken == 0);
        zero_open_row(&m->table);
        zero(&m->shared);
        m->table.refill_global = false;
    }
    l->refills = false;
    l->insns = 0;
    l->intervals = 0;
    begin_interval(l);
}

static void set_base(int64_t lost[COMPONENTS], uint64_t all)
{
    lost[COMPONENT_base] = (int64_t)all;
    for (unsigned c = 0; c < COMPONENTS; c++)
        if (c != COMPONENT_base)
            lost[COMPONENT_base] -= lost[c];
}

void literal_end(struct literal *l)
{
    if (l->intervals > 1 && l->series[current(l)].cycles == 0)
        l->intervals--;
    for (size_t i = 0; i < l->intervals; i++)
        for (unsigned k = 0; k < LITERAL_METHODS; k++)
            set_base(l->series[i].lost[k], l->series[i].cycles * l->method[k].parts);
}

const struct literal_interval *literal_series(const struct literal *l, size_t *count)
{
    *count = l->intervals;
    return l->series;
}
