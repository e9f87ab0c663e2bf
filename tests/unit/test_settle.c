/* Settled windows: which ones are measured, and what they change. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/random.h"
#include "phases/settle.h"

enum {
    NUMBERS = 2 * SIMULATION_NUMBERS + 1,
    UNIT = 20000, /* instructions */
    UNITS = 20000,
    PERIOD = 50, /* units */
    LINES = 3000,
    COST = 100, /* cycles of a miss */
};

struct made_up {
    struct sampled_run run;
    struct random random;
};

static double uniform(struct random *r)
{
    return (double)(random_u64(r) >> 11) / 9007199254740992.0;
}

static struct measured measured(const struct window *w, double misses, double wrong)
{
    uint64_t *number = calloc(NUMBERS, sizeof *number);
    assert_non_null(number);
    struct simulation_counts *n = (struct simulation_counts *)(void *)number;
    n->core.instructions = w->insns;
    n->core.cycles = w->insns / 2 + (uint64_t)(COST * misses);
    n->memory.l2d.misses[0] = (uint64_t)(misses * (1 + wrong));
    n->memory.l2d.misses[1] = (uint64_t)(misses * wrong);
    return (struct measured){.window = *w, .done = true, .number = number};
}

static void free_measured(struct pass_result *r)
{
    for (size_t i = 0; i < r->count; i++)
        free((void *)(uintptr_t)r->measured[i].number);
    free(r->measured);
    r->measured = NULL;
    r->count = 0;
}

/* A run with up to 80 misses in a unit, of which one in each period is measured. Wrong paths add `wrong` times as many
 * lines. */
static void make_run(struct made_up *m, double wrong, uint64_t seed)
{
    struct sampled_run *s = &m->run;
    struct pass_result *r = &s->result;
    struct error err;
    *s = (struct sampled_run){.points = {.period = PERIOD * UNIT, .insns = UNIT, .seed = seed}};
    random_seed(&m->random, seed);
    uint64_t(*counts)[WARM_COUNTS] = calloc(UNITS, sizeof *counts);
    r->stretch = calloc(1, sizeof *r->stretch);
    r->measured = calloc(UNITS / PERIOD, sizeof *r->measured);
    assert_true(counts && r->stretch && r->measured);
    r->stretch[r->stretches++] = (struct unit_counts){.count = UNITS, .of = (const uint64_t(*)[WARM_COUNTS])counts};
    r->numbers = SIMULATION_NUMBERS;
    r->insns = (uint64_t)UNITS * UNIT;
    for (size_t u = 0; u < UNITS; u++) {
        counts[u][WARM_INSNS] = UNIT;
        counts[u][WARM_L2D] = (uint64_t)(80 * uniform(&m->random));
    }
    for (size_t i = 0; i < UNITS / PERIOD; i++) {
        size_t u = i * PERIOD + random_u64(&m->random) % PERIOD;
        r->measured[r->count++] = measured(&(struct window){u * UNIT, UNIT}, (double)counts[u][WARM_L2D], wrong);
    }
    assert_int_equal(combine_prepare(s, &err), 0);
    assert_int_equal(unit_model_fit(s), 0);
    assert_non_null(s->model.column);
}

static void free_run(struct made_up *m)
{
    free((void *)(uintptr_t)m->run.result.stretch[0].of);
    free_measured(&m->run.result);
    sampled_run_free(&m->run);
}

static double misses_in(const struct sampled_run *s, const struct window *w)
{
    double misses = 0;
    for (size_t u = w->start / UNIT; u < (w->start + w->insns) / UNIT; u++)
        misses += (double)pass_unit(&s->result, u)[WARM_L2D];
    return misses;
}

/* Measures the windows of the plan: usual ones have 0.9 times the misses of warming, settled ones `factor` times more,
 * give or take `spread`. */
static void measure(struct made_up *m, const struct settle_plan *p, double factor, double spread, struct pass_result *r)
{
    *r = (struct pass_result){.measured = calloc(p->points.count, sizeof *r->measured)};
    assert_non_null(r->measured);
    for (size_t i = 0; i < p->points.count; i++) {
        const struct point *at = &p->points.point[i];
        double more = at->settled ? factor + spread * (2 * uniform(&m->random) - 1) : 1;
        r->measured[r->count++] = measured(&at->window, 0.9 * more * misses_in(&m->run, &at->window), 0.3);
    }
}

/* Every settled window has a warm-up before it that none of the others overlaps, lies behind its usual windows in the
 * plan, and contains them; all together are a small part of the run. */
static void windows_lie_apart(void **state)
{
    (void)state;
    struct made_up m;
    struct settle_plan p;
    struct error err;
    uint64_t end = 0, insns = 0;
    size_t settled = 0, usual = 0;
    make_run(&m, 0.3, 1);
    assert_int_equal(settle_plan(&m.run, LINES, &p, &err), 0);
    for (size_t i = 0; i < p.points.count; i++) {
        const struct window *w = &p.points.point[i].window;
        assert_true(p.chance[i] > 0 && p.chance[i] <= 1);
        if (!p.points.point[i].settled) {
            assert_int_equal(w->insns, UNIT);
            usual++;
            continue;
        }
        assert_true(w->start >= end + p.points.settled_warmup);
        for (size_t k = i - usual; k < i; k++) {
            const struct window *in = &p.points.point[k].window;
            assert_true(in->start >= w->start && in->start + in->insns <= w->start + w->insns);
        }
        assert_true(usual >= 8);
        end = w->start + w->insns;
        insns += p.points.settled_warmup + w->insns;
        settled++;
        usual = 0;
    }
    assert_in_range(settled, 8, 24);
    assert_true(insns <= m.run.result.insns / 32);
    settle_plan_free(&p);
    free_run(&m);
}

/* Nothing is measured without many lines of wrong paths, without a second cache, or in a run too short for it. */
static void some_runs_need_none(void **state)
{
    (void)state;
    static const struct {
        double wrong;
        uint64_t lines;
    } without[] = {{0.01, LINES}, {0, LINES}, {0.3, 0}, {0.3, 10 * LINES}};
    for (unsigned i = 0; i < sizeof without / sizeof *without; i++) {
        struct made_up m;
        struct settle_plan p;
        struct error err;
        make_run(&m, without[i].wrong, 2);
        assert_int_equal(settle_plan(&m.run, without[i].lines, &p, &err), 0);
        assert_int_equal(p.points.count, 0);
        settle_plan_free(&p);
        free_run(&m);
    }
}

/* Misses and what they cost grow by the factor that settled windows show; the interval holds the truth as often as it
 * says. */
static void estimates_grow(void **state)
{
    (void)state;
    enum { TRIALS = 200 };
    const double factor = 1.08;
    unsigned inside = 0;
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        struct made_up m;
        struct settle_plan p;
        struct pass_result r;
        struct error err;
        make_run(&m, 0.3, 100 + trial);
        struct sampled_rate before = combine(&m.run, combine_cycles, NULL);
        assert_int_equal(settle_plan(&m.run, LINES, &p, &err), 0);
        measure(&m, &p, factor, 0.1, &r);
        settle_take(&m.run, &p, &r);
        assert_true(m.run.settled.windows >= 8);
        struct sampled_rate after = combine(&m.run, combine_cycles, NULL);
        double all = misses_in(&m.run, &(struct window){0, (uint64_t)UNITS * UNIT});
        double truth = before.value + (factor - 1) * COST * all / (double)m.run.result.insns;
        assert_true(after.half > before.half);
        assert_true(fabs(after.value - truth) < 0.1 * (truth - before.value) + 3 * after.half);
        inside += fabs(after.value - truth) <= after.half;
        free_measured(&r);
        settle_plan_free(&p);
        free_run(&m);
    }
    assert_in_range(inside, TRIALS * 90 / 100, TRIALS * 99 / 100);
}

/* Windows that were not measured are left out; too few of them change nothing. */
static void few_windows_change_nothing(void **state)
{
    (void)state;
    struct made_up m;
    struct settle_plan p;
    struct pass_result r;
    struct error err;
    make_run(&m, 0.3, 3);
    assert_int_equal(settle_plan(&m.run, LINES, &p, &err), 0);
    assert_true(p.points.count > 0);
    measure(&m, &p, 1.08, 0, &r);
    struct sampled_rate before = combine(&m.run, combine_cycles, NULL);
    for (size_t i = 0, settled = 0; i < r.count; i++)
        if (p.points.point[i].settled && settled++ >= 5)
            r.measured[i].done = false;
    settle_take(&m.run, &p, &r);
    struct sampled_rate after = combine(&m.run, combine_cycles, NULL);
    assert_true(after.value == before.value && after.half == before.half);
    free_measured(&r);
    settle_plan_free(&p);
    free_run(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_lie_apart),
        cmocka_unit_test(some_runs_need_none),
        cmocka_unit_test(estimates_grow),
        cmocka_unit_test(few_windows_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
