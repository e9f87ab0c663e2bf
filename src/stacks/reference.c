#include "stacks/reference.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define REAL(c) (1u << COMPONENT_##c)

enum { EVERYTHING = REAL(l1i) | REAL(l2i) | REAL(itlb) | REAL(branch) | REAL(l1d) | REAL(l2d) | REAL(dtlb) };

/* The components of an order, in the sequence in which their structures become real. */
static const enum component sequence[][REFERENCE_STEPS - 1] = {
    [REFERENCE_PAPER] = {COMPONENT_l1d, COMPONENT_branch, COMPONENT_l1i, COMPONENT_l2i, COMPONENT_itlb, COMPONENT_l2d,
                         COMPONENT_dtlb},
    [REFERENCE_INVERSE] = {COMPONENT_l1d, COMPONENT_branch, COMPONENT_l2d, COMPONENT_dtlb, COMPONENT_l1i, COMPONENT_l2i,
                           COMPONENT_itlb},
};

static const char *const orders_names[] = {
    [REFERENCE_ALL] = "all", [REFERENCE_PAPER] = "paper", [REFERENCE_INVERSE] = "inverse"};

const char *reference_orders_name(enum reference_orders o)
{
    return orders_names[o];
}

int reference_orders_find(const char *name)
{
    for (int o = REFERENCE_ALL; o <= REFERENCE_INVERSE; o++)
        if (strcmp(orders_names[o], name) == 0)
            return o;
    return -1;
}

/* Whether this set of real structures occurs in some order: the second cache of a side is real only with the first. */
static bool is_possible(unsigned real)
{
    bool front = !(real & REAL(l2i)) || real & REAL(l1i);
    bool back = !(real & REAL(l2d)) || real & REAL(l1d);
    return front && back && !(real & ~EVERYTHING);
}

static void add_run(struct reference_plan *p, unsigned real)
{
    p->run[p->count++].real = real;
}

void reference_plan_make(struct reference_plan *p, enum reference_orders orders)
{
    *p = (struct reference_plan){.orders = orders};
    add_run(p, EVERYTHING);
    unsigned real = 0;
    if (orders == REFERENCE_ALL) {
        for (; real < EVERYTHING; real++)
            if (is_possible(real))
                add_run(p, real);
    } else {
        for (unsigned i = 0; i < REFERENCE_STEPS - 1; i++) {
            add_run(p, real);
            real |= 1u << sequence[orders][i];
        }
    }
    assert(p->count == (orders == REFERENCE_ALL ? REFERENCE_ALL_RUNS : REFERENCE_STEPS));
}

struct core_config reference_core(const struct core_config *core, const struct reference_run *run)
{
    struct core_config c = *core;
    c.perfect_branch |= !(run->real & REAL(branch));
    c.perfect_l1i |= !(run->real & REAL(l1i));
    c.perfect_l2i |= !(run->real & REAL(l2i));
    c.perfect_itlb |= !(run->real & REAL(itlb));
    c.perfect_l1d |= !(run->real & REAL(l1d));
    c.perfect_l2d |= !(run->real & REAL(l2d));
    c.perfect_dtlb |= !(run->real & REAL(dtlb));
    return c;
}

const char *reference_run_text(const struct reference_run *run, char *text, size_t size)
{
    snprintf(text, size, run->real ? "real:" : "all perfect");
    for (unsigned c = 0; c < COMPONENTS; c++) {
        size_t used = strlen(text);
        if (run->real >> c & 1)
            snprintf(text + used, size - used, " %s", component_rows[c].key);
    }
    return text;
}

/* Cycles of the run with these real structures, 0 if it failed. */
static uint64_t cycles_with(const struct reference_plan *p, const uint64_t cycles[REFERENCE_ALL_RUNS], unsigned real)
{
    for (unsigned i = 0; i < p->count; i++)
        if (p->run[i].real == real)
            return cycles[i];
    return 0;
}

void reference_stack(const struct reference_plan *p, enum reference_orders order,
                     const uint64_t cycles[REFERENCE_ALL_RUNS], int64_t stack[COMPONENTS])
{
    assert(order != REFERENCE_ALL && (p->orders == REFERENCE_ALL || p->orders == order));
    unsigned real = 0;
    uint64_t before = cycles_with(p, cycles, 0);
    for (unsigned c = 0; c < COMPONENTS; c++)
        stack[c] = 0;
    stack[COMPONENT_base] = before ? (int64_t)before : REFERENCE_UNKNOWN;
    for (unsigned i = 0; i < REFERENCE_STEPS - 1; i++) {
        enum component c = sequence[order][i];
        real |= 1u << c;
        uint64_t with = cycles_with(p, cycles, real);
        stack[c] = before && with ? (int64_t)(with - before) : REFERENCE_UNKNOWN;
        before = with;
    }
}

struct reference_noise reference_noise(const struct reference_plan *p, const uint64_t cycles[REFERENCE_ALL_RUNS])
{
    struct reference_noise most = {0};
    for (unsigned i = 0; i < p->count; i++)
        for (unsigned c = 0; cycles[i] && c < COMPONENTS; c++) {
            unsigned without = p->run[i].real & ~(1u << c);
            uint64_t before = without == p->run[i].real ? 0 : cycles_with(p, cycles, without);
            int64_t saved = before ? (int64_t)(before - cycles[i]) : 0;
            if (saved > most.cycles)
                most = (struct reference_noise){saved, (enum component)c, without};
        }
    return most;
}

/* ---- all orders */

/* Arrays are indexed by set of real structures. A set has a higher index than each of its subsets. */
struct lattice {
    int64_t cycles[EVERYTHING + 1]; /* 0: the run failed */
    int64_t before[EVERYTHING + 1]; /* number of orders in which structures become real from none to this set */
    int64_t after[EVERYTHING + 1];  /* number of orders from this set to everything */
};

/* Fills in `before` and `after`. */
static void count_ways(struct lattice *l)
{
    l->before[0] = l->after[EVERYTHING] = 1;
    for (unsigned real = 0; real <= EVERYTHING; real++)
        for (unsigned c = 0; c < COMPONENTS; c++)
            if (real >> c & 1 && is_possible(real) && is_possible(real & ~(1u << c)))
                l->before[real] += l->before[real & ~(1u << c)];
    for (unsigned real = EVERYTHING; real-- > 0;)
        for (unsigned c = 0; c < COMPONENTS; c++)
            if (!(real >> c & 1) && is_possible(real) && is_possible(real | 1u << c))
                l->after[real] += l->after[real | 1u << c];
}

/* Finds the cycles that the structure of component c adds to each set that it can join: the lowest and the highest
 * number, and the sum over all orders. Returns false if a run failed that is needed for this. */
static bool find_added(const struct lattice *l, unsigned c, int64_t *lowest, int64_t *highest, int64_t *sum)
{
    *lowest = INT64_MAX;
    *highest = INT64_MIN;
    *sum = 0;
    for (unsigned without = 0; without <= EVERYTHING; without++) {
        unsigned with = without | 1u << c;
        if (with == without || !is_possible(without) || !is_possible(with))
            continue;
        int64_t added = l->cycles[with] - l->cycles[without];
        if (l->cycles[with] == 0 || l->cycles[without] == 0)
            return false;
        *lowest = added < *lowest ? added : *lowest;
        *highest = added > *highest ? added : *highest;
        *sum += l->before[without] * l->after[with] * added;
    }
    return true;
}

/* a / b, rounded down also if a is negative. */
static int64_t divide_down(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

void reference_shares(const int64_t cycles[REFERENCE_SETS], int64_t shares[COMPONENTS])
{
    struct lattice l = {{0}, {0}, {0}};
    count_ways(&l);
    assert(l.after[0] == REFERENCE_WAYS);
    for (unsigned c = 0; c < COMPONENTS; c++)
        shares[c] = 0;
    shares[COMPONENT_base] = cycles[0] * REFERENCE_WAYS;
    for (unsigned without = 0; without <= EVERYTHING; without++)
        for (unsigned c = 0; c < COMPONENTS; c++) {
            unsigned with = without | 1u << c;
            if (with != without && is_possible(without) && is_possible(with))
                shares[c] += l.before[without] * l.after[with] * (cycles[with] - cycles[without]);
        }
}

void reference_all_orders(const struct reference_plan *p, const uint64_t cycles[REFERENCE_ALL_RUNS],
                          struct reference_range *range)
{
    struct lattice l = {{0}, {0}, {0}};
    int64_t sum, sums = 0; /* the running sum is rounded, not each component, so that the means sum to the total */
    for (unsigned i = 0; i < p->count; i++)
        l.cycles[p->run[i].real] = (int64_t)cycles[i];
    count_ways(&l);
    int64_t ways = l.after[0], base = l.cycles[0] ? l.cycles[0] : REFERENCE_UNKNOWN;
    *range = (struct reference_range){{0}, {0}, {0}};
    range->mean[COMPONENT_base] = range->lowest[COMPONENT_base] = range->highest[COMPONENT_base] = base;
    for (unsigned c = 0; c < COMPONENTS; c++) {
        if (!(EVERYTHING >> c & 1))
            continue;
        if (find_added(&l, c, &range->lowest[c], &range->highest[c], &sum)) {
            range->mean[c] = divide_down(sums + sum, ways) - divide_down(sums, ways);
            sums += sum;
        } else {
            range->mean[c] = range->lowest[c] = range->highest[c] = REFERENCE_UNKNOWN;
        }
    }
}

/* ---- errors */

/* Adds components to their parents. The sum is unknown if one of them is. */
static void fold(const int64_t stack[COMPONENTS], int64_t folded[COMPONENTS])
{
    for (unsigned c = 0; c < COMPONENTS; c++)
        folded[c] = 0;
    for (unsigned c = 0; c < COMPONENTS; c++) {
        int64_t *to = &folded[component_rows[c].parent];
        *to = *to == REFERENCE_UNKNOWN || stack[c] == REFERENCE_UNKNOWN ? REFERENCE_UNKNOWN : *to + stack[c];
    }
}

struct stack_error stack_error_outside(const int64_t stack[COMPONENTS], const struct reference_range *range,
                                       uint64_t cycles)
{
    struct stack_error e = {0};
    int64_t a[COMPONENTS], lowest[COMPONENTS], highest[COMPONENTS];
    fold(stack, a);
    fold(range->lowest, lowest);
    fold(range->highest, highest);
    for (unsigned c = 0; cycles && c < COMPONENTS; c++) {
        if (component_rows[c].parent != c || lowest[c] == REFERENCE_UNKNOWN)
            continue;
        int64_t outside = a[c] < lowest[c] ? lowest[c] - a[c] : a[c] > highest[c] ? a[c] - highest[c] : 0;
        double percent = 100 * (double)outside / (double)cycles;
        if (!e.known || percent > e.percent)
            e = (struct stack_error){percent, (enum component)c, true};
    }
    return e;
}

struct stack_error stack_error(const int64_t stack[COMPONENTS], const int64_t reference[COMPONENTS], uint64_t cycles)
{
    struct reference_range point;
    memcpy(point.lowest, reference, sizeof point.lowest);
    memcpy(point.highest, reference, sizeof point.highest);
    return stack_error_outside(stack, &point, cycles);
}
