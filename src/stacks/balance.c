#include "stacks/balance.h"

#include "stacks/stacks_priv.h"

double balance_base(const struct stack_interval *s, const struct core_config *core)
{
    const int64_t *parts = s->of[STACK_fmt2].parts;
    double base = (double)(parts[COMPONENT_base] + parts[COMPONENT_fu]) / (double)stack_parts(core, STACK_fmt2);
    return s->instructions ? base / (double)s->instructions * (double)stage_narrowest(core) : 0;
}
