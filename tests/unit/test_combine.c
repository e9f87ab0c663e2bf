/* Sampled runs: estimates from windows, their intervals, and more windows where they help. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/random.h"
#include "phases/combine.h"
#include "phases/refine.h"
#include "phases/strata.h"

enum {
    CYCLES = offsetof(struct simulation_counts, core.cycles) / sizeof(uint64_t),
    INSNS = offsetof(struct simulation_counts, core.instructions) / sizeof(uint64_t),
    UNITS = 2, /* of a period */
    NUMBERS = 2 * SIMULATION_NUMBERS + 1,
    WINDOW = 1000000, /* instructions */
};

/* A result of windows that were not simulated but made up. */
static void make_windows(struct sampled_run *s, size_t count)
{
    s->result.measured = calloc(count, sizeof *s->result.measured);
    s->result.count = count;
    s->result.numbers = SIMULATION_NUMBERS;
    assert_non_null(s->result.measured);
    for (size_t i = 0; i < count; i++) {
        uint64_t *number = calloc(NUMBERS, sizeof *number);
        assert_non_null(number);
        number[INSNS] = WINDOW;
        s->result.measured[i] = (struct measured){.window = {i * WINDOW, WINDOW}, .done = true, .number = number};
    }
}

static uint64_t *numbers(struct sampled_run *s, size_t i)
{
    return (uint64_t *)(uintptr_t)s->result.measured[i].number;
}

static void free_windows(struct sampled_run *s)
{
    for (size_t i = 0; i < s->result.stretches; i++)
        free((void *)(uintptr_t)s->result.stretch[i].of);
    for (size_t i = 0; i < s->result.count; i++)
        free(numbers(s, i));
    sampled_run_free(s);
}

static double cycles_of(void *context, const uint64_t *number)
{
    (void)context;
    return (double)number[CYCLES];
}

static double uniform(struct random *r)
{
    return (double)(random_u64(r) >> 11) / 9007199254740992.0;
}

static double normal(struct random *r)
{
    double sum = -6;
    for (unsigned i = 0; i < 12; i++)
        sum += uniform(r);
    return sum;
}

/* ---- phases */

static void use_phases(struct sampled_run *s, unsigned phases, const double *weight)
{
    s->points.phase = calloc(phases, sizeof *s->points.phase);
    assert_non_null(s->points.phase);
    s->points.phases = phases;
    s->points.insns = WINDOW;
    for (unsigned i = 0; i < phases; i++)
        s->points.phase[i] = (struct point_phase){.id = i, .weight = weight[i]};
}

/* Two phases with two points each: 0.25 * 2 + 0.75 * 4, with variances by hand. */
static void weights_count(void **state)
{
    (void)state;
    struct sampled_run s = {0};
    static const double weight[] = {0.25, 0.75}, cpi[] = {1, 3, 3.5, 4.5};
    struct error err;
    make_windows(&s, 4);
    use_phases(&s, 2, weight);
    for (size_t i = 0; i < 4; i++) {
        s.result.measured[i].phase = i / 2;
        numbers(&s, i)[CYCLES] = (uint64_t)(cpi[i] * WINDOW);
    }
    assert_int_equal(combine_prepare(&s, &err), 0);
    struct sampled_rate e = combine(&s, cycles_of, NULL);
    assert_true(fabs(e.value - 3.5) < 1e-9);
    /* Variances of the means are 2 / 2 and 0.5 / 2; Satterthwaite's degrees (a + b)^2 / (a^2 + b^2). */
    double a = 0.0625 * 1, b = 0.5625 * 0.25, degrees = (a + b) * (a + b) / (a * a + b * b);
    assert_true(degrees > 1.7 && degrees < 1.8);
    assert_true(e.half > 4.303 * sqrt(a + b) && e.half < 6.1 * sqrt(a + b));
    free_windows(&s);
}

/* A phase that was measured in full leaves no doubt. */
static void whole_phases_are_certain(void **state)
{
    (void)state;
    struct sampled_run s = {0};
    static const double weight[] = {0.5, 0.5};
    struct error err;
    make_windows(&s, 3);
    use_phases(&s, 2, weight);
    for (size_t i = 0; i < 3; i++) {
        s.result.measured[i].phase = i == 2;
        numbers(&s, i)[CYCLES] = (i + 1) * WINDOW;
    }
    s.points.phase[0].intervals = 2;
    s.points.phase[1].intervals = 1;
    assert_int_equal(combine_prepare(&s, &err), 0);
    struct sampled_rate e = combine(&s, cycles_of, NULL);
    assert_true(fabs(e.value - 2.25) < 1e-9 && e.half == 0);
    free_windows(&s);
}

static void missing_phases_are_named(void **state)
{
    (void)state;
    struct sampled_run s = {0};
    static const double weight[] = {0.25, 0.75};
    struct error err;
    make_windows(&s, 2);
    use_phases(&s, 2, weight);
    s.result.measured[0].phase = s.result.measured[1].phase = 1;
    numbers(&s, 0)[CYCLES] = numbers(&s, 1)[CYCLES] = 2 * WINDOW;
    assert_int_equal(combine_prepare(&s, &err), 0);
    assert_true(fabs(s.missing - 0.25) < 1e-9);
    assert_true(fabs(combine(&s, cycles_of, NULL).value - 2) < 1e-9);
    free_windows(&s);
}

static void one_point_has_no_bound(void **state)
{
    (void)state;
    struct sampled_run s = {0};
    static const double weight[] = {1};
    struct error err;
    make_windows(&s, 1);
    use_phases(&s, 1, weight);
    numbers(&s, 0)[CYCLES] = WINDOW;
    assert_int_equal(combine_prepare(&s, &err), 0);
    struct sampled_rate e = combine(&s, cycles_of, NULL);
    assert_true(e.value == 1 && isinf(e.half));
    s.result.measured[0].done = false;
    s.used = 0;
    assert_int_equal(combine_prepare(&s, &err), -ENODATA);
    free_windows(&s);
}

/* Phases of known spread, drawn again and again: 95 % intervals hold the truth about as often as they say. */
static void intervals_of_phases_cover(void **state)
{
    (void)state;
    enum { TRIALS = 2000, PHASES = 6, EACH = 4 };
    struct random r;
    unsigned inside = 0;
    random_seed(&r, 7);
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        struct sampled_run s = {0};
        double weight[PHASES], truth = 0;
        struct error err;
        make_windows(&s, PHASES * EACH);
        for (unsigned h = 0; h < PHASES; h++)
            weight[h] = (h + 1.0) * 2 / (PHASES * (PHASES + 1));
        use_phases(&s, PHASES, weight);
        for (unsigned h = 0; h < PHASES; h++) {
            truth += weight[h] * (1 + h);
            for (unsigned i = 0; i < EACH; i++) {
                s.result.measured[h * EACH + i].phase = h;
                numbers(&s, h * EACH + i)[CYCLES] = (uint64_t)(WINDOW * (1 + h + 0.05 * (h + 1) * normal(&r)));
            }
        }
        assert_int_equal(combine_prepare(&s, &err), 0);
        struct sampled_rate e = combine(&s, cycles_of, NULL);
        inside += fabs(e.value - truth) <= e.half;
        free_windows(&s);
    }
    assert_in_range(inside, TRIALS * 93 / 100, TRIALS * 98 / 100);
}

/* ---- systematic windows */

/* Adds a stretch of units, with counts of 0. */
static void add_stretch(struct sampled_run *s, size_t units)
{
    struct pass_result *r = &s->result;
    r->stretch = realloc(r->stretch, (r->stretches + 1) * sizeof *r->stretch);
    assert_non_null(r->stretch);
    r->stretch[r->stretches] = (struct unit_counts){.first = pass_units(r), .count = units};
    r->stretch[r->stretches].of = calloc(units, sizeof *r->stretch->of);
    assert_non_null(r->stretch[r->stretches++].of);
}

static uint64_t *counts_of(struct sampled_run *s, size_t unit)
{
    return (uint64_t *)(uintptr_t)pass_unit(&s->result, unit);
}

/* The counts of warming in a unit of the period of window `i`. */
static uint64_t *unit(struct sampled_run *s, size_t i, unsigned u)
{
    return counts_of(s, (i - (s->points.head > 0)) * UNITS + u);
}

/* Every unit is in the stretch that contains it; behind the last stretch there is none. */
static void units_are_found(void **state)
{
    (void)state;
    struct sampled_run s = {0};
    static const size_t length[] = {3, 1, 5};
    assert_int_equal(pass_units(&s.result), 0);
    assert_null(pass_unit(&s.result, 0));
    for (unsigned i = 0; i < 3; i++)
        add_stretch(&s, length[i]);
    assert_int_equal(pass_units(&s.result), 9);
    for (size_t u = 0; u < 9; u++)
        counts_of(&s, u)[WARM_L2D] = u;
    for (unsigned i = 0, u = 0; i < 3; i++)
        for (size_t k = 0; k < length[i]; k++)
            assert_int_equal(s.result.stretch[i].of[k][WARM_L2D], u++);
    assert_null(pass_unit(&s.result, 9));
    free_windows(&s);
}

/* Misses decide the cycles but for a little noise. Each period has two units, one of which is the window. */
static void make_run_with_misses(struct sampled_run *s, size_t count, struct random *r, double noise, double *truth)
{
    double cycles = 0;
    s->points = (struct points){.period = UNITS * WINDOW, .insns = WINDOW};
    make_windows(s, count);
    add_stretch(s, count * UNITS);
    for (size_t i = 0; i < count; i++) {
        unsigned chosen = random_u64(r) % UNITS;
        s->result.measured[i].window.start = (i * UNITS + chosen) * WINDOW;
        for (unsigned u = 0; u < UNITS; u++) {
            double misses = 10000 * uniform(r), y = WINDOW * (0.5 + noise * normal(r)) + 200 * misses;
            unit(s, i, u)[WARM_INSNS] = WINDOW;
            unit(s, i, u)[WARM_L2D] = (uint64_t)misses;
            cycles += y;
            if (u == chosen)
                numbers(s, i)[CYCLES] = (uint64_t)y;
        }
    }
    s->result.insns = count * UNITS * (uint64_t)WINDOW;
    *truth = cycles / (double)s->result.insns;
}

/* Divides the run into strata with windows, and fits the model. */
static void use_strata(struct sampled_run *s, unsigned most, size_t least)
{
    struct error err;
    assert_int_equal(combine_prepare(s, &err), 0);
    assert_int_equal(strata_divide(s, most, &err), 0);
    strata_join(s, least);
    assert_int_equal(unit_model_fit(s), 0);
    assert_int_equal(combine_prepare(s, &err), 0);
}

static double sum_of_weights(const struct point_phase *phase, unsigned phases)
{
    double sum = 0;
    for (unsigned h = 0; h < phases; h++)
        sum += phase[h].weight;
    return sum;
}

/* What warming counted explains the misses: the interval is narrower than that of the plain mean, and holds the truth
 * as often as it says. */
static void intervals_of_windows_cover(void **state)
{
    (void)state;
    enum { TRIALS = 1000, COUNT = 160 };
    struct random r;
    unsigned inside = 0;
    random_seed(&r, 11);
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        struct sampled_run s = {0};
        double truth;
        make_run_with_misses(&s, COUNT, &r, 0.1, &truth);
        use_strata(&s, 12, 4);
        assert_non_null(s.model.column);
        assert_in_range(s.points.phases, 6, 12);
        assert_true(fabs(sum_of_weights(s.points.phase, s.points.phases) - 1) < 1e-9);
        struct sampled_rate e = combine(&s, cycles_of, NULL);
        assert_true(e.half < 0.02); /* with the noise alone: 1.98 * 0.1 / sqrt(160) * sqrt(1 / 2) = 0.0111 */
        inside += fabs(e.value - truth) <= e.half;
        free_windows(&s);
    }
    assert_in_range(inside, TRIALS * 92 / 100, TRIALS * 98 / 100);
}

/* One unit in fifty has a hundred times the misses, and a cost that no line fits. A regression alone would be off by
 * more than its interval says; with strata it is not. */
static void rare_units_do_not_mislead(void **state)
{
    (void)state;
    enum { TRIALS = 400, COUNT = 400 };
    struct random r;
    unsigned inside = 0;
    random_seed(&r, 13);
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        struct sampled_run s = {0};
        double truth, cycles = 0;
        make_run_with_misses(&s, COUNT, &r, 0.05, &truth);
        for (size_t i = 0; i < COUNT; i++)
            for (unsigned u = 0; u < UNITS; u++) {
                bool rare = random_u64(&r) % 50 == 0;
                double misses = 1000 * uniform(&r) * (rare ? 100 : 1);
                double y = WINDOW * (0.5 + 0.05 * normal(&r)) + (rare ? 15 * misses : 200 * misses);
                unit(&s, i, u)[WARM_L2D] = (uint64_t)misses;
                cycles += y;
                if (s.result.measured[i].window.start == (i * UNITS + u) * WINDOW)
                    numbers(&s, i)[CYCLES] = (uint64_t)y;
            }
        truth = cycles / (double)s.result.insns;
        use_strata(&s, 30, 2);
        struct sampled_rate e = combine(&s, cycles_of, NULL);
        inside += fabs(e.value - truth) <= e.half;
        free_windows(&s);
    }
    assert_in_range(inside, TRIALS * 91 / 100, TRIALS * 99 / 100);
}

/* The head counts for itself alone, and units of other classes as often as they occur. */
static void the_head_stands_for_itself(void **state)
{
    (void)state;
    struct sampled_run s = {0};
    struct error err;
    s.points = (struct points){.period = UNITS * WINDOW, .insns = WINDOW, .head = 4 * (uint64_t)WINDOW};
    make_windows(&s, 9);
    add_stretch(&s, 8 * UNITS);
    numbers(&s, 0)[INSNS] = 4 * (uint64_t)WINDOW;
    numbers(&s, 0)[CYCLES] = 40 * (uint64_t)WINDOW;
    s.result.measured[0].window.start = 0;
    for (size_t i = 1; i < 9; i++) {
        s.result.measured[i].window.start = (4 + (i - 1) * UNITS) * (uint64_t)WINDOW;
        unit(&s, i, 0)[WARM_INSNS] = unit(&s, i, 1)[WARM_INSNS] = WINDOW;
        numbers(&s, i)[CYCLES] = 2 * (uint64_t)WINDOW;
    }
    s.result.insns = 20 * (uint64_t)WINDOW;
    assert_int_equal(combine_prepare(&s, &err), 0);
    struct sampled_rate e = combine(&s, cycles_of, NULL);
    assert_true(fabs(e.value - (0.2 * 10 + 0.8 * 2)) < 1e-9 && e.half < 3 / (double)WINDOW);
    free_windows(&s);
}

/* What longer warming changes is added, with its own variance. */
static void longer_warming_corrects(void **state)
{
    (void)state;
    struct sampled_run s = {0};
    struct error err;
    static const double weight[] = {1};
    make_windows(&s, 8);
    use_phases(&s, 1, weight);
    s.result.insns = 8 * (uint64_t)WINDOW;
    for (size_t i = 0; i < 8; i++) {
        numbers(&s, i)[CYCLES] = WINDOW;
        if (i % 2)
            continue;
        uint64_t *longer = numbers(&s, i) + SIMULATION_NUMBERS;
        longer[0] = 1;
        longer[1 + INSNS] = WINDOW;
        longer[1 + CYCLES] = (uint64_t)(WINDOW * (i % 4 ? 0.99 : 0.97));
    }
    assert_int_equal(combine_prepare(&s, &err), 0);
    assert_int_equal(s.measured_twice, 4);
    struct sampled_rate e = combine(&s, cycles_of, NULL);
    assert_true(fabs(e.value - 0.98) < 1e-9);
    assert_true(fabs(e.half - 3.182 * sqrt(4e-4 / 3 / 4)) < 1e-4); /* differences -0.03, -0.01, -0.03, -0.01 */
    free_windows(&s);
}

/* What adds up in every window adds up in the estimates, to the rounding. */
static void estimates_add_up(void **state)
{
    (void)state;
    struct sampled_run s = {0};
    struct random r;
    double truth;
    uint64_t whole[SIMULATION_NUMBERS];
    random_seed(&r, 5);
    make_run_with_misses(&s, 160, &r, 0.2, &truth);
    for (size_t i = 0; i < s.result.count; i++) {
        uint64_t *n = numbers(&s, i), first = random_u64(&r) % n[CYCLES];
        n[INSNS + 1] = first;
        n[INSNS + 2] = n[CYCLES] - first;
    }
    use_strata(&s, 8, 4);
    combine_numbers(&s, whole);
    assert_in_range(whole[INSNS + 1] + whole[INSNS + 2] - whole[CYCLES] + 2, 0, 4);
    assert_in_range(whole[INSNS], s.result.insns - 1, s.result.insns + 1);
    free_windows(&s);
}

/* More windows go to the phase that varies, are none of those that were measured, and are no more than asked for. */
static void more_windows_go_where_they_help(void **state)
{
    (void)state;
    struct sampled_run s = {0};
    struct random r;
    struct error err;
    struct refinement more;
    static const double weight[] = {0.5, 0.5};
    random_seed(&r, 17);
    make_windows(&s, 40);
    use_phases(&s, 2, weight);
    s.points.insns = WINDOW;
    s.result.insns = 1000 * (uint64_t)WINDOW;
    s.units = (struct unit_phases){calloc(1000, 1), 1000};
    s.spread = calloc(2, sizeof *s.spread);
    assert_non_null(s.units.phase);
    assert_non_null(s.spread);
    s.spread[0] = 1;
    s.spread[1] = 10;
    for (size_t i = 0; i < 1000; i++)
        s.units.phase[i] = i % 2;
    for (size_t i = 0; i < 40; i++) {
        s.result.measured[i].window.start = i * 25 * WINDOW;
        s.result.measured[i].phase = i * 25 % 2;
        numbers(&s, i)[CYCLES] = (uint64_t)(WINDOW * (1 + (i % 2 ? 0.2 : 0.02) * normal(&r)));
    }
    s.points.phase[0].intervals = s.points.phase[1].intervals = 500;
    assert_int_equal(combine_prepare(&s, &err), 0);
    struct refine_limits limits = {1000 * (uint64_t)WINDOW, 0};
    assert_int_equal(refine_precision(&s, 0.02, &limits, &more, &err), 0);
    assert_true(more.points.count > 20 && more.points.count == more.wanted);
    for (size_t i = 0; i < more.points.count; i++) {
        const struct point *p = &more.points.point[i];
        assert_int_equal(p->phase, 1);
        assert_true(p->window.start % (25 * WINDOW) != 0 && p->window.start / WINDOW % 2 == 1);
        assert_true(i == 0 || p->window.start > p[-1].window.start);
    }
    refinement_free(&more);
    limits.most_insns = 50 * (uint64_t)WINDOW;
    assert_int_equal(refine_precision(&s, 0.004, &limits, &more, &err), 0);
    assert_true(more.points.count <= 51 && more.points.count > 45 && more.wanted > 50);
    refinement_free(&more);
    assert_int_equal(refine_precision(&s, 0.002, &limits, &more, &err), 0);
    assert_true(more.points.count == 0 && more.wanted == 0); /* warming leaves more */
    refinement_free(&more);
    free_windows(&s);
}

/* A few units with page walks, which no window has, in the periods given by `step`. Lists them. */
static void add_rare_units(struct sampled_run *s, size_t count, size_t step, size_t *unit_of)
{
    for (size_t i = 0; i < count; i++) {
        size_t period = 10 + step * i, chosen = s->result.measured[period].window.start / WINDOW % UNITS;
        unit(s, period, 1 - (unsigned)chosen)[WARM_DATA_WALKS] = 500000;
        unit_of[i] = period * UNITS + 1 - chosen;
    }
}

/* Units of a kind that no window has are a stratum of their own, and a second pass measures some of them. */
static void rare_units_have_a_stratum(void **state)
{
    (void)state;
    enum { COUNT = 200, RARE = 5 };
    struct sampled_run s = {0};
    struct random r;
    struct error err;
    struct refinement more;
    double truth;
    size_t rare[RARE];
    random_seed(&r, 19);
    make_run_with_misses(&s, COUNT, &r, 0.3, &truth);
    add_rare_units(&s, RARE, 40, rare);
    assert_int_equal(combine_prepare(&s, &err), 0);
    assert_int_equal(strata_divide(&s, 20, &err), 0);
    bool own[UNIT_ALONE + 1] = {false}; /* by stratum: it has rare units */
    double weight = 0;
    for (size_t i = 0; i < RARE; i++)
        own[s.units.phase[rare[i]]] = true;
    for (size_t u = 0, i = 0; u < s.units.count; u++) {
        assert_int_equal(own[s.units.phase[u]], i < RARE && u == rare[i]);
        i += i < RARE && u == rare[i];
    }
    for (unsigned h = 0; h < s.points.phases; h++)
        weight += own[h] ? s.points.phase[h].weight : 0;
    assert_true(fabs(weight - (double)RARE / (COUNT * UNITS)) < 1e-9);
    assert_true(fabs(sum_of_weights(s.points.phase, s.points.phases) - 1) < 1e-9);
    struct refine_limits limits = {s.result.insns, 0};
    assert_int_equal(refine_strata(&s, 0.5, &limits, &more, &err), 0);
    unsigned planned = 0;
    for (size_t i = 0; i < more.points.count; i++)
        planned += own[more.points.point[i].phase];
    assert_in_range(planned, REFINE_PER_STRATUM, RARE);
    refinement_free(&more);
    free_windows(&s);
}

/* A stratum without windows joins the one that is most alike: here, that of units with many misses. */
static void strata_without_windows_join(void **state)
{
    (void)state;
    enum { COUNT = 200, RARE = 5 };
    struct sampled_run s = {0};
    struct random r;
    double truth;
    size_t rare[RARE], units = 0;
    random_seed(&r, 23);
    make_run_with_misses(&s, COUNT, &r, 0.3, &truth);
    add_rare_units(&s, RARE, 40, rare);
    for (size_t u = 0; u < COUNT * UNITS; u++)
        counts_of(&s, u)[WARM_L2D] = u % 4 == 3 ? 90000 : 10;
    for (size_t i = 0; i < RARE; i++)
        counts_of(&s, rare[i])[WARM_L2D] = 90000;
    use_strata(&s, 6, 10);
    for (size_t i = 0; i < RARE; i++)
        for (size_t u = 0; u < COUNT * UNITS; u++)
            if (counts_of(&s, u)[WARM_L2D] == 10)
                assert_int_not_equal(s.units.phase[u], s.units.phase[rare[i]]);
    for (unsigned h = 0; h < s.points.phases; h++)
        units += s.points.phase[h].intervals;
    assert_int_equal(units, COUNT * UNITS);
    assert_true(fabs(sum_of_weights(s.points.phase, s.points.phases) - 1) < 1e-9);
    assert_true(s.missing == 0);
    free_windows(&s);
}

/* An event that no window has is still possible: with n windows, three in n units may have one. */
static void unseen_events_count(void **state)
{
    (void)state;
    enum { COUNT = 400 };
    struct sampled_run s = {0};
    struct error err;
    static const double weight[] = {1};
    make_windows(&s, COUNT);
    use_phases(&s, 1, weight);
    s.points.phase[0].intervals = 100 * COUNT;
    s.result.insns = 100 * COUNT * (uint64_t)WINDOW;
    assert_int_equal(combine_prepare(&s, &err), 0);
    struct sampled_rate e = combine(&s, cycles_of, NULL);
    assert_true(e.value == 0);
    assert_true(fabs(e.half * WINDOW / (3.0 / COUNT) - 1) < 0.02);
    free_windows(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_count),
        cmocka_unit_test(whole_phases_are_certain),
        cmocka_unit_test(missing_phases_are_named),
        cmocka_unit_test(one_point_has_no_bound),
        cmocka_unit_test(intervals_of_phases_cover),
        cmocka_unit_test(intervals_of_windows_cover),
        cmocka_unit_test(rare_units_do_not_mislead),
        cmocka_unit_test(the_head_stands_for_itself),
        cmocka_unit_test(longer_warming_corrects),
        cmocka_unit_test(estimates_add_up),
        cmocka_unit_test(more_windows_go_where_they_help),
        cmocka_unit_test(rare_units_have_a_stratum),
        cmocka_unit_test(strata_without_windows_join),
        cmocka_unit_test(units_are_found),
        cmocka_unit_test(unseen_events_count),
    };
    return cmocka_run_group_tests_name("combine", tests, NULL, NULL);
}
