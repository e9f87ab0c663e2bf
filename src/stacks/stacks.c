/* Tables of components, methods and views, and conversion of stacks to whole cycles. */
#include "stacks/stacks.h"

#include <string.h>

#include "stacks/stacks_priv.h"

const struct component_row component_rows[COMPONENTS] = {
#define COMPONENT(key, label, parent, mark, color, hatch, stroke, advice)                                              \
    {#key, label, COMPONENT_##parent, mark, color, hatch, stroke, advice},
#include "stacks/component.def"
#undef COMPONENT
};

const struct stack_row stack_rows[STACK_KINDS] = {
#define METHOD(name, help) {#name, help, false},
#define VIEW(name, help)   {#name, help, true},
#include "stacks/method.def"
#undef METHOD
#undef VIEW
};

#define METHOD(name, help) extern const struct stack_method stack_method_##name;
#define VIEW(name, help)   extern const struct stack_method stack_view_##name;
#include "stacks/method.def"
#undef METHOD
#undef VIEW

const struct stack_method *const stack_methods[STACK_KINDS] = {
#define METHOD(name, help) &stack_method_##name,
#define VIEW(name, help)   &stack_view_##name,
#include "stacks/method.def"
#undef METHOD
#undef VIEW
};

int stack_find(const char *name)
{
    for (int k = 0; k < STACK_KINDS; k++)
        if (strcmp(stack_rows[k].name, name) == 0)
            return k;
    return -1;
}

enum component component_of_wait(enum head_wait w)
{
    static const uint8_t component[HEAD_WAITS] = {
        [HEAD_UNIT] = COMPONENT_fu, [HEAD_FPU] = COMPONENT_fu,    [HEAD_L1D] = COMPONENT_l1d,
        [HEAD_L2D] = COMPONENT_l2d, [HEAD_DTLB] = COMPONENT_dtlb, [HEAD_WALKED] = COMPONENT_dtlb};
    return (enum component)component[w];
}

int stack_check(const struct core_config *core, enum stack_kind k, struct error *err)
{
    return k == STACK_graph ? graph_check(core, err) : 0;
}

enum stack_kind stack_default(const struct core_config *core)
{
    struct error unused;
    return stack_check(core, STACK_graph, &unused) == 0 ? STACK_graph : STACK_fmt2;
}

uint64_t stack_parts(const struct core_config *core, enum stack_kind k)
{
    return stack_methods[k]->parts ? stack_methods[k]->parts(core) : 1;
}

void stack_cycles(const struct stack_interval *s, const struct core_config *core, enum stack_kind k,
                  int64_t cycles[COMPONENTS])
{
    int64_t parts = (int64_t)stack_parts(core, k), rest = (int64_t)s->cycles;
    for (unsigned c = 0; c < COMPONENTS; c++) {
        cycles[c] = c == COMPONENT_base ? 0 : (s->of[k].parts[c] + parts / 2) / parts;
        rest -= cycles[c];
    }
    cycles[COMPONENT_base] = rest;
}
