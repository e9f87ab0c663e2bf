/* The dependence graph as an accounting method.
 *
 * The graph (graph/graph.h) predicts the cycles of all idealized cores from one run. The stack is the mean over all
 * orders in which structures can become real, as the reference has it from simulations (reference.h): the Shapley value
 * of each structure. What remains is the base, as in all methods; so the difference between the cycles that the graph
 * takes with everything real and those that the core took is in the base. */
#include <errno.h>
#include <math.h>

#include "stacks/reference.h"
#include "stacks/stacks_priv.h"

enum { ADVANCE = 256 }; /* instructions after which the graph is evaluated */
static const double MOST_ERROR_PERCENT = 2;

struct graph_method {
    struct ledger ledger;
    struct graph *graph;
    struct core *core;   /* the core that runs */
    uint64_t retired;    /* instructions so far */
    uint64_t warmup;     /* of these: those of the warm-up */
    size_t next_reached; /* the interval whose end the graph reaches next */
};

/* The set of the reference for a set of the graph. */
static unsigned components_of(unsigned real)
{
    static const uint8_t component[] = {COMPONENT_l1i, COMPONENT_l2i, COMPONENT_itlb, COMPONENT_branch,
                                        COMPONENT_l1d, COMPONENT_l2d, COMPONENT_dtlb};
    unsigned set = 0;
    for (unsigned i = 0; i < sizeof component; i++)
        set |= (real >> i & 1) << component[i];
    return set;
}

uint64_t stack_graph_cycles(const struct stack_interval *s, unsigned real)
{
    for (unsigned set = 0; set <= GRAPH_EVERYTHING; set++)
        if (graph_has_set(set) && components_of(set) == real)
            return s->graph.with[set];
    return 0;
}

double stack_graph_error(const struct stack_interval *s)
{
    double difference = (double)s->graph.with[GRAPH_EVERYTHING] - (double)s->cycles;
    return s->cycles ? 100 * difference / (double)s->cycles : 0;
}

bool stack_graph_is_off(const struct stack_interval *s)
{
    return fabs(stack_graph_error(s)) > MOST_ERROR_PERCENT;
}

double stack_what_if_cycles(const struct stack_interval *s, unsigned i)
{
    double real = (double)s->graph.with[GRAPH_EVERYTHING];
    return real > 0 ? (double)s->cycles * ((double)s->graph.what_if[i] / real) : 0;
}

/* An interval ends: the graph will tell its cycles later. */
static void close(const void *state, const uint64_t tally[TALLIES], const struct simulation_counts *counts,
                  struct stack *s)
{
    const struct graph_method *m = state;
    (void)tally, (void)counts, (void)s;
    graph_mark(m->graph, m->warmup + accounting_tallied(m->ledger.accounting));
}

static void reached(void *context, const struct graph_cycles *cycles)
{
    struct graph_method *m = context;
    accounting_interval(m->ledger.accounting, m->next_reached++)->graph = *cycles;
}

static int create(void *state, struct error *err)
{
    struct graph_method *m = state;
    int code = graph_check(m->ledger.core, err);
    if (code != 0)
        return code;
    m->graph = graph_new(m->ledger.core, reached, m, err);
    return m->graph ? 0 : -ENOMEM;
}

int graph_method_add_what_ifs(void *state, const struct what_ifs *w, struct error *err)
{
    struct graph_method *m = state;
    int code = 0;
    for (unsigned i = 0; code == 0 && i < w->count; i++)
        code = graph_add_what_if(m->graph, &w->of[i], err);
    return code;
}

int graph_method_split_base(void *state, struct error *err)
{
    struct graph_method *m = state;
    return graph_split_base(m->graph, err);
}

static void destroy(void *state)
{
    struct graph_method *m = state;
    graph_free(m->graph);
}

static void attached(void *state, struct core *c)
{
    struct graph_method *m = state;
    m->core = c;
    graph_begin(m->graph, c);
}

/* Caches of the graph's own have been warmed like those of the core, but without wrong paths. */
static void warmed(void *state)
{
    struct graph_method *m = state;
    m->warmup = m->retired;
    graph_restart(m->graph);
}

/* The graph may be evaluated as far as cycles have been tallied: there may be a mark behind these. */
static void retired(void *state, const struct retired_insn *r)
{
    struct graph_method *m = state;
    graph_retired(m->graph, r);
    if (++m->retired % ADVANCE)
        return;
    core_counts(m->core); /* reports all cycles so far */
    bool warms_up = accounting_is_warming_up(m->ledger.accounting);
    graph_advance(m->graph, warms_up ? UINT64_MAX : m->warmup + accounting_tallied(m->ledger.accounting));
}

static void drained(void *state, uint32_t store, const struct data_access *a)
{
    struct graph_method *m = state;
    graph_drained(m->graph, store, a);
}

static void restarted(void *state)
{
    struct graph_method *m = state;
    graph_restart(m->graph);
    m->next_reached = 0;
}

/* Charges an interval with the shares of its cycles by the graph. */
static void charge_shares(const struct stack_interval *s, struct stack *to)
{
    int64_t cycles[REFERENCE_SETS] = {0};
    for (unsigned real = 0; real <= GRAPH_EVERYTHING; real++)
        if (graph_has_set(real))
            cycles[components_of(real)] = (int64_t)s->graph.with[real];
    reference_shares(cycles, to->parts);
}

static void finished(void *state)
{
    struct graph_method *m = state;
    graph_finish(m->graph);
    for (size_t i = 0; i < m->next_reached; i++) {
        struct stack_interval *s = accounting_interval(m->ledger.accounting, i);
        charge_shares(s, &s->of[STACK_graph]);
    }
}

static uint64_t parts(const struct core_config *core)
{
    (void)core;
    return REFERENCE_WAYS;
}

const struct stack_method stack_method_graph = {.state_bytes = sizeof(struct graph_method),
                                                .create = create,
                                                .destroy = destroy,
                                                .attached = attached,
                                                .warmed = warmed,
                                                .retired = retired,
                                                .drained = drained,
                                                .close = close,
                                                .restarted = restarted,
                                                .finished = finished,
                                                .parts = parts};
