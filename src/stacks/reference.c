#include "stacks/reference.h"

#include <stdio.h>
#include <string.h>

#define REAL(c) (1u << COMPONENT_##c)

enum {
    SHARED = REAL(l1d) | REAL(branch),
    FRONT = REAL(l1i) | REAL(l2i) | REAL(itlb),
    BACK = REAL(l2d) | REAL(dtlb),
};

const char *const reference_names[REFERENCE_ORDERS] = {"simulation", "simulation_inverse"};

const struct reference_run reference_runs[REFERENCE_RUNS] = {
    {SHARED | FRONT | BACK},
    {0},
    {REAL(l1d)},
    {SHARED},
    {SHARED | REAL(l1i)},
    {SHARED | REAL(l1i) | REAL(l2i)},
    {SHARED | FRONT},
    {SHARED | FRONT | REAL(l2d)},
    {SHARED | REAL(l2d)},
    {SHARED | BACK},
    {SHARED | BACK | REAL(l1i)},
    {SHARED | BACK | REAL(l1i) | REAL(l2i)},
};

/* Which becomes real next. */
static const enum component orders[REFERENCE_ORDERS][REFERENCE_STEPS - 1] = {
    {COMPONENT_l1d, COMPONENT_branch, COMPONENT_l1i, COMPONENT_l2i, COMPONENT_itlb, COMPONENT_l2d, COMPONENT_dtlb},
    {COMPONENT_l1d, COMPONENT_branch, COMPONENT_l2d, COMPONENT_dtlb, COMPONENT_l1i, COMPONENT_l2i, COMPONENT_itlb},
};

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

static uint64_t cycles_with(unsigned real, const uint64_t cycles[REFERENCE_RUNS])
{
    for (unsigned i = 0; i < REFERENCE_RUNS; i++)
        if (reference_runs[i].real == real)
            return cycles[i];
    return 0;
}

void reference_stack(unsigned order, const uint64_t cycles[REFERENCE_RUNS], int64_t stack[COMPONENTS])
{
    unsigned real = 0;
    uint64_t before = cycles_with(0, cycles);
    for (unsigned c = 0; c < COMPONENTS; c++)
        stack[c] = 0;
    stack[COMPONENT_base] = before ? (int64_t)before : REFERENCE_UNKNOWN;
    for (unsigned i = 0; i < REFERENCE_STEPS - 1; i++) {
        enum component c = orders[order][i];
        real |= 1u << c;
        uint64_t with = cycles_with(real, cycles);
        stack[c] = before && with ? (int64_t)(with - before) : REFERENCE_UNKNOWN;
        before = with;
    }
}

/* With components added to their parents. */
static void fold(const int64_t stack[COMPONENTS], int64_t folded[COMPONENTS])
{
    for (unsigned c = 0; c < COMPONENTS; c++)
        folded[c] = 0;
    for (unsigned c = 0; c < COMPONENTS; c++) {
        int64_t *to = &folded[component_rows[c].parent];
        *to = *to == REFERENCE_UNKNOWN || stack[c] == REFERENCE_UNKNOWN ? REFERENCE_UNKNOWN : *to + stack[c];
    }
}

struct stack_error stack_error(const int64_t stack[COMPONENTS], const int64_t reference[COMPONENTS], uint64_t cycles)
{
    struct stack_error e = {0};
    int64_t a[COMPONENTS], b[COMPONENTS];
    fold(stack, a);
    fold(reference, b);
    for (unsigned c = 0; cycles && c < COMPONENTS; c++) {
        if (component_rows[c].parent != c || b[c] == REFERENCE_UNKNOWN)
            continue;
        double difference = (double)(a[c] - b[c]),
               percent = 100 * (difference < 0 ? -difference : difference) / (double)cycles;
        if (!e.known || percent > e.percent)
            e = (struct stack_error){percent, (enum component)c, true};
    }
    return e;
}
