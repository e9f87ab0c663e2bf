#include "stacks/interactions.h"

#include <stdlib.h>

/* The structures, with what a perfect one leaves out of the set of real structures. */
static const struct structure {
    enum component component;
    unsigned perfect; /* enum graph_structure */
} structures[] = {{COMPONENT_l1i, GRAPH_L1I | GRAPH_L2I},
                  {COMPONENT_l2i, GRAPH_L2I},
                  {COMPONENT_itlb, GRAPH_ITLB},
                  {COMPONENT_branch, GRAPH_BRANCH},
                  {COMPONENT_l1d, GRAPH_L1D | GRAPH_L2D},
                  {COMPONENT_l2d, GRAPH_L2D},
                  {COMPONENT_dtlb, GRAPH_DTLB}};

enum { STRUCTURES = sizeof structures / sizeof structures[0] };

/* The cycles that are saved if these structures are perfect and the others real. */
static int64_t saved(const struct graph_cycles *g, unsigned perfect)
{
    return (int64_t)(g->with[GRAPH_EVERYTHING] - g->with[GRAPH_EVERYTHING & ~perfect]);
}

static int by_size(const void *a, const void *b)
{
    int64_t x = llabs(((const struct interaction *)a)->cycles), y = llabs(((const struct interaction *)b)->cycles);
    return x < y ? 1 : x > y ? -1 : 0;
}

void interactions_find(const struct graph_cycles *g, struct interaction to[INTERACTIONS])
{
    unsigned count = 0;
    for (const struct structure *a = structures; a < structures + STRUCTURES; a++)
        for (const struct structure *b = a + 1; b < structures + STRUCTURES; b++) {
            if (a->perfect & b->perfect)
                continue;
            int64_t cycles = saved(g, a->perfect | b->perfect) - saved(g, a->perfect) - saved(g, b->perfect);
            to[count++] = (struct interaction){a->component, b->component, cycles};
        }
    qsort(to, count, sizeof *to, by_size);
}
