#include "stacks/base_split.h"

#include "stacks/reference.h"

enum { OTHERS = GRAPH_LIMITS - 1, /* limits besides the width */ ORDERS = 120 /* of these */ };

const struct limit_row limit_rows[GRAPH_LIMITS] = {
#define LIMIT(key, label, help) {#key, label, help},
#include "graph/limit.def"
#undef LIMIT
};

_Static_assert(OTHERS == 5, "ORDERS is the factorial of the number of other limits");
_Static_assert(BASE_PARTS % ORDERS == 0 && BASE_PARTS % REFERENCE_WAYS == 0, "whole parts");

static int64_t factorial(unsigned n)
{
    return n ? n * factorial(n - 1) : 1;
}

/* The sum over all orders of what a limit adds, other than the width. In an order, those in `without` become real
 * before it, the width first. */
static int64_t sum_added(const struct graph_cycles *g, unsigned limit)
{
    int64_t sum = 0;
    for (unsigned without = 0; without < GRAPH_LIMIT_SETS; without++) {
        unsigned before = (unsigned)__builtin_popcount(without) - 1;
        if (without & LIMIT_width && !(without >> limit & 1))
            sum += factorial(before) * factorial(OTHERS - 1 - before) *
                   (int64_t)(g->base[without | 1u << limit] - g->base[without]);
    }
    return sum;
}

void base_split_find(const struct stack_interval *s, struct base_split *b)
{
    b->rest = s->of[STACK_graph].parts[COMPONENT_base] * (BASE_PARTS / REFERENCE_WAYS);
    for (unsigned limit = 0; limit < GRAPH_LIMITS; limit++) {
        bool width = 1u << limit == LIMIT_width;
        int64_t sum =
            width ? ORDERS * (int64_t)(s->graph.base[LIMIT_width] - s->graph.base[0]) : sum_added(&s->graph, limit);
        b->parts[limit] = sum * (BASE_PARTS / ORDERS);
        b->rest -= b->parts[limit];
    }
}
