/* The intervals of a run: each begins with a snapshot of all counters, and ends with their growth since then. */
#include <stdlib.h>
#include <string.h>

#include "stacks/account_priv.h"

/* Updates the counters that are sums of others. Hot paths do not maintain these. */
static void update_sums(uint64_t tally[TALLIES])
{
    uint64_t *rob = &tally[TALLY_ROB], *window = &tally[TALLY_WINDOW];
    rob[GAUGE_OPEN] = open_cycles(rob);
    window[GAUGE_OPEN] = open_cycles(window);
    tally[TALLY_CYCLES] = rob[GAUGE_OPEN];
    for (unsigned w = 0; w < HEAD_WAITS; w++)
        tally[TALLY_CYCLES] += rob[GAUGE_BLOCKED + w];
}

/* Copies the core's counters, once the core has called `begin`. */
static void read_counts(const struct accounting *a, struct simulation_counts *to)
{
    if (a->core_counts)
        *to = (struct simulation_counts){*a->core_counts, *a->memory_counts};
}

static void take_snapshot(struct accounting *a, struct snapshot *start)
{
    update_sums(a->tally);
    memcpy(start->tally, a->tally, sizeof start->tally);
    start->instructions = a->instructions;
    start->overlap_cycles = a->overlap_cycles;
    read_counts(a, &start->counts);
    start->in_total = a->in_total;
}

/* Directs the charges of a method to the stack of the interval that began with this tally. */
static void ledger_set_interval(struct ledger *l, const uint64_t *start_tally, struct stack *stack)
{
    l->start_tally = start_tally;
    l->stack = stack;
}

/* Directs the charges of all methods to the current interval. */
static void ledgers_set_current(struct accounting *a)
{
    size_t last = a->count - 1;
    for (unsigned k = 0; k < STACK_KINDS; k++)
        if (a->state[k])
            ledger_set_interval(a->state[k], a->starts[last].tally, &a->series[last].of[k]);
}

bool intervals_reserve(struct accounting *a)
{
    if (a->count < a->capacity)
        return true;
    size_t capacity = a->capacity ? 2 * a->capacity : 16;
    struct stack_interval *series = realloc(a->series, capacity * sizeof *series);
    if (series)
        a->series = series;
    struct snapshot *starts = realloc(a->starts, capacity * sizeof *starts);
    if (starts)
        a->starts = starts;
    if (series && starts)
        a->capacity = capacity;
    if (a->count)
        ledgers_set_current(a);
    return series && starts;
}

void intervals_begin(struct accounting *a)
{
    a->series[a->count] = (struct stack_interval){0};
    take_snapshot(a, &a->starts[a->count++]);
    ledgers_set_current(a);
    a->next_cut = UINT64_MAX;
    if (a->interval_insns)
        a->next_cut = a->instructions - a->instructions % a->interval_insns + a->interval_insns;
}

void intervals_end(struct accounting *a)
{
    struct stack_interval *s = &a->series[a->count - 1];
    const struct snapshot *start = &a->starts[a->count - 1];
    uint64_t tally_growth[TALLIES];
    struct simulation_counts counts_growth = {0};
    update_sums(a->tally);
    for (unsigned i = 0; i < TALLIES; i++)
        tally_growth[i] = a->tally[i] - start->tally[i];
    read_counts(a, &counts_growth);
    if (a->core_counts)
        simulation_counts_subtract(&counts_growth, &start->counts);
    s->cycles = tally_growth[TALLY_CYCLES];
    s->instructions = a->instructions - start->instructions;
    s->overlap_cycles = a->overlap_cycles - start->overlap_cycles;
    for (unsigned i = 0; i < a->close.count; i++) {
        const struct ledger *l = a->close.state[i];
        a->close.method[i]->close(l, tally_growth, &counts_growth, &s->of[l->kind]);
    }
}

void intervals_cut(struct accounting *a)
{
    if (!intervals_reserve(a)) {
        a->next_cut = UINT64_MAX;
        return;
    }
    intervals_end(a);
    intervals_begin(a);
}

/* Goes back from the current interval and charges to each interval the part of the span that lies in it: an interval
 * covers the values of `counter` from its own start to the start of the next one. */
void charge_across_intervals(struct ledger *l, enum component c, enum tally counter, struct span s, int sign)
{
    struct accounting *a = l->accounting;
    for (size_t i = a->count; i-- > 0;) {
        uint64_t start = a->starts[i].tally[counter];
        uint64_t from = s.from > start ? s.from : start;
        if (s.to > from)
            a->series[i].of[l->kind].parts[c] += sign * (int64_t)(s.to - from);
        if (s.from >= start)
            break;
        s.to = s.to < start ? s.to : start;
    }
}

void intervals_know_counts(struct accounting *a)
{
    read_counts(a, &a->starts[0].counts);
}

/* Sets the base of each stack to the cycles that no other component was charged with. */
static void compute_base(const struct accounting *a, struct stack_interval *s)
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
    for (unsigned real = 0; real <= GRAPH_EVERYTHING; real++)
        to->graph.with[real] += s->graph.with[real];
    for (unsigned i = 0; i < GRAPH_WHAT_IFS; i++)
        to->graph.what_if[i] += s->graph.what_if[i];
    for (unsigned limits = 0; limits < GRAPH_LIMIT_SETS; limits++)
        to->graph.base[limits] += s->graph.base[limits];
    for (unsigned k = 0; k < STACK_KINDS; k++)
        for (unsigned c = 0; c < COMPONENTS; c++)
            to->of[k].parts[c] += s->of[k].parts[c];
}

void intervals_complete(struct accounting *a)
{
    if (a->count > 1 && a->series[a->count - 1].cycles == 0)
        a->count--; /* the run ended together with the interval before: drops the empty last one */
    for (size_t i = 0; i < a->count; i++) {
        compute_base(a, &a->series[i]);
        if (a->starts[i].in_total)
            add_interval(&a->total, &a->series[i]);
    }
}
