#include "stacks/penalty.h"

#include "stacks/naive.h"

void penalties(const struct core_config *core, const struct core_counts *counts, const struct stack_interval *total,
               struct penalty p[PENALTIES])
{
    struct naive_penalties fixed = naive_penalties(core);
    p[0] = (struct penalty){.key = "l1i",
                            .label = "L1 I-miss",
                            .component = COMPONENT_l1i,
                            .events = counts->l1i_misses - counts->l2i_misses,
                            .naive = (double)fixed.l2};
    p[1] = (struct penalty){.key = "branch",
                            .label = "misprediction",
                            .component = COMPONENT_branch,
                            .events = counts->mispredictions,
                            .naive = (double)fixed.front_end};
    p[2] = (struct penalty){.key = "l2d",
                            .label = "L2 D-miss",
                            .component = COMPONENT_l2d,
                            .events = counts->l2d_misses,
                            .naive = (double)fixed.memory};
    for (unsigned i = 0; i < PENALTIES; i++) {
        if (p[i].events == 0)
            continue;
        p[i].interval_analysis = (double)total->of[STACK_fmt].parts[p[i].component] / (double)p[i].events;
        p[i].power5 = (double)total->of[STACK_power5].parts[p[i].component] / (double)p[i].events;
    }
}
