#include "stacks/penalty.h"

#include "stacks/naive.h"

void penalties(const struct core_config *core, const struct simulation_counts *counts,
               const struct stack_interval *total, struct penalty p[PENALTIES])
{
    struct naive_penalties fixed = naive_penalties(core);
    struct naive_events events = naive_events(counts, false);
    p[0] = (struct penalty){.key = "l1i",
                            .label = "L1 I-miss",
                            .component = COMPONENT_l1i,
                            .events = events.l1i - events.l2i,
                            .naive = (double)fixed.l2};
    p[1] = (struct penalty){.key = "branch",
                            .label = "misprediction",
                            .component = COMPONENT_branch,
                            .events = events.branch,
                            .naive = (double)fixed.front_end};
    p[2] = (struct penalty){.key = "l2d",
                            .label = "L2 D-miss",
                            .component = COMPONENT_l2d,
                            .events = events.l2d,
                            .naive = (double)fixed.memory};
    for (unsigned i = 0; i < PENALTIES; i++) {
        if (p[i].events == 0)
            continue;
        p[i].interval_analysis = (double)total->of[STACK_fmt].parts[p[i].component] / (double)p[i].events;
        p[i].power5 = (double)total->of[STACK_power5].parts[p[i].component] / (double)p[i].events;
    }
}
