/* Estimates of multiplexed counts: facts about series that are made up. */
#include "estimate_world.h"

#include <errno.h>

static void expect_inside(const struct estimate *x, double truth)
{
    if (!(x->low <= truth && truth <= x->high))
        fail_msg("%g is not from %g to %g", truth, x->low, x->high);
}

/* ---- programs */

static void constant(const struct world *w, size_t i, struct random *r, struct world_slot *to)
{
    (void)w, (void)i, (void)r;
    to->count = 37;
}

static void never(const struct world *w, size_t i, struct random *r, struct world_slot *to)
{
    (void)w, (void)i, (void)r;
    to->count = 0;
}

static void trend(const struct world *w, size_t i, struct random *r, struct world_slot *to)
{
    (void)w, (void)r;
    to->count = 100 + 10 * i;
}

/* All of it happens in the first slot of each round. */
static void beat(const struct world *w, size_t i, struct random *r, struct world_slot *to)
{
    (void)r;
    to->count = i % w->plan.slots == 0 ? 400 : 0;
}

static void bursts(const struct world *w, size_t i, struct random *r, struct world_slot *to)
{
    (void)w, (void)i;
    to->count = random_u64(r) % 20 == 0 ? 5000 : 10;
}

/* Three events per ten instructions, whose number leaps. */
static void of_insns(const struct world *w, size_t i, struct random *r, struct world_slot *to)
{
    (void)w, (void)i;
    to->insns = 500 + 10 * (random_u64(r) % 100);
    to->count = to->insns * 3 / 10;
}

/* With slices of instructions: cycles leap, and half of them are events. */
static void of_cycles(const struct world *w, size_t i, struct random *r, struct world_slot *to)
{
    (void)w, (void)i;
    to->cycles = 1000 + 10 * (random_u64(r) % 100);
    to->count = to->cycles / 2;
}

/* ---- facts */

static void constant_rate_is_exact(void **state)
{
    (void)state;
    FOR_EACH_ESTIMATOR(name)
    {
        struct world w = {.groups = 4, .slots = 80, .slot = constant, .seed = 1};
        world_run(&w, name);
        for (size_t i = 0; i < 4; i++) {
            struct estimate x = estimates_total(w.estimates, i);
            expect_near(x.value, w.truth, 1e-12);
            expect_near(x.share, 0.25, 1e-12);
            assert_int_equal(x.slices, 20);
            assert_int_equal(x.counted, 20 * 37);
            assert_true(estimate_half(&x) < 1e-9);
            assert_false(x.bursty);
        }
        world_end(&w);
    }
}

static void what_is_always_counted_is_exact(void **state)
{
    (void)state;
    struct world w = {.groups = 2, .slots = 21, .slot = of_insns, .seed = 1};
    world_run(&w, "regression");
    struct estimate cycles = estimates_total(w.estimates, 2), insns = estimates_total(w.estimates, 3);
    assert_true(cycles.value == (double)w.cycles && cycles.low == cycles.high && cycles.share == 1);
    assert_true(insns.value == (double)w.insns && insns.low == insns.high && insns.high == insns.value);
    world_end(&w);
}

static void a_group_that_is_alone_is_counted_fully(void **state)
{
    (void)state;
    FOR_EACH_ESTIMATOR(name)
    {
        struct world w = {.groups = 1, .slots = 9, .slot = noisy, .seed = 1};
        world_run(&w, name);
        struct estimate x = estimates_total(w.estimates, 0);
        assert_true(x.value == w.truth && x.low == w.truth && x.high == w.truth && x.share == 1);
        world_end(&w);
    }
}

static void a_trend_is_followed(void **state)
{
    (void)state;
    FOR_EACH_ESTIMATOR(name)
    {
        struct world w = {.groups = 4, .slots = 400, .slot = trend, .seed = 3};
        world_run(&w, name);
        for (size_t i = 0; i < 4; i++) {
            struct estimate x = estimates_total(w.estimates, i);
            expect_inside(&x, w.truth);
            /* Only what lies beyond the first and the last slice is not between two: three slots each at most. */
            if (strcmp(name, "linear") != 0)
                assert_true(fabs(x.value - w.truth) <= 2 * 10 * (1 + 2 + 3));
        }
        world_end(&w);
    }
}

static void fixed_order_beats_with_the_round_and_random_order_does_not(void **state)
{
    (void)state;
    FOR_EACH_ESTIMATOR(name)
    {
        struct world fixed = {.groups = 4, .slots = 2000, .slot = beat, .fixed = true, .seed = 1};
        world_run(&fixed, name);
        struct estimate first = estimates_total(fixed.estimates, 0), other = estimates_total(fixed.estimates, 1);
        assert_true(first.value > 3.9 * fixed.truth);
        assert_true(other.value < 0.01 * fixed.truth && other.high < fixed.truth);
        world_end(&fixed);
        struct world drawn = {.groups = 4, .slots = 2000, .slot = beat, .seed = 1};
        world_run(&drawn, name);
        for (size_t i = 0; i < 4; i++) {
            struct estimate x = estimates_total(drawn.estimates, i);
            expect_near(x.value, drawn.truth, 0.25);
            expect_inside(&x, drawn.truth);
            assert_true(x.bursty);
        }
        world_end(&drawn);
    }
}

static void bursts_are_reported_and_noise_is_not(void **state)
{
    (void)state;
    FOR_EACH_ESTIMATOR(name)
    {
        struct world calm = {.groups = 4, .slots = 400, .slot = noisy, .seed = 2};
        struct world wild = {.groups = 4, .slots = 400, .slot = bursts, .seed = 2};
        world_run(&calm, name);
        world_run(&wild, name);
        for (size_t i = 0; i < 4; i++) {
            struct estimate c = estimates_total(calm.estimates, i), b = estimates_total(wild.estimates, i);
            assert_false(c.bursty);
            assert_true(c.variation > 0.03 && c.variation < 0.1); /* evenly from 100 to 120: 0.055 */
            assert_true(b.bursty && b.variation > 2);
            expect_inside(&c, calm.truth);
        }
        world_end(&calm);
        world_end(&wild);
    }
}

static void zero_counts_have_a_high_end(void **state)
{
    (void)state;
    FOR_EACH_ESTIMATOR(name)
    {
        struct world w = {.groups = 5, .slots = 500, .slot = never, .seed = 1};
        world_run(&w, name);
        struct estimate x = estimates_total(w.estimates, 3);
        assert_true(x.value == 0 && x.low == 0);
        assert_true(x.high >= 3 * 5 && x.high <= 4 * 5); /* of 15 at a fifth of the time, one is seen in 96 % */
        world_end(&w);
    }
}

static void too_few_slices_tell_no_high_end(void **state)
{
    (void)state;
    FOR_EACH_ESTIMATOR(name)
    {
        struct world w = {.groups = 4, .slots = 4, .slot = noisy, .seed = 1};
        world_run(&w, name);
        for (size_t i = 0; i < 4; i++) {
            struct estimate x = estimates_total(w.estimates, i);
            assert_true(isinf(x.high) && x.low == (double)x.counted);
            expect_near(x.value, 4.0 * (double)x.counted, 1e-9);
        }
        world_end(&w);
        w.slots = 8;
        world_run(&w, name);
        struct estimate x = estimates_total(w.estimates, 0);
        assert_true(isfinite(x.high) && x.high > x.value);
        world_end(&w);
        w.slots = 1; /* three groups had no turn */
        world_run(&w, name);
        int unseen = 0;
        for (size_t i = 0; i < 4; i++) {
            x = estimates_total(w.estimates, i);
            unseen += x.slices == 0 && x.value == 0 && x.share == 0 && isinf(x.high);
        }
        assert_int_equal(unseen, 3);
        estimates_finish(w.estimates);
        world_end(&w);
    }
}

static void a_last_round_may_be_partial(void **state)
{
    (void)state;
    FOR_EACH_ESTIMATOR(name)
    {
        for (size_t slots = 81; slots < 84; slots++) {
            struct world w = {.groups = 4, .slots = slots, .slot = constant, .seed = 5};
            world_run(&w, name);
            for (size_t i = 0; i < 4; i++)
                expect_near(estimates_total(w.estimates, i).value, w.truth, 1e-12);
            estimates_finish(w.estimates);
            for (size_t i = 0; i < 4; i++)
                expect_near(estimates_total(w.estimates, i).value, w.truth, 1e-12);
            world_end(&w);
        }
    }
}

static void a_short_slice_counts_but_predicts_nothing(void **state)
{
    (void)state;
    FOR_EACH_ESTIMATOR(name)
    {
        struct world w = {.groups = 2, .slots = 40, .slot = constant, .seed = 1};
        world_run(&w, name);
        struct slice last = {.group = 0, .round = 20, .cycles = 10, .insns = 10, .count = {5}};
        world_add(&w, &last);
        struct estimate x = estimates_total(w.estimates, 0), y = estimates_total(w.estimates, 1);
        expect_near(x.value, w.truth + 5, 1e-12);
        assert_true(estimate_half(&x) < 1e-6);
        expect_near(y.value, w.truth + 0.37, 1e-12);
        world_end(&w);
    }
}

/* The last slot of a program that was steady takes 13 times as many cycles and has other events. */
static void steady_with_a_strange_end(const struct world *w, size_t i, struct random *r, struct world_slot *to)
{
    bool last = i == w->slots - 1;
    double noise = world_normal(r);
    to->cycles = last ? 13000 : (uint64_t)(1000 + 3 * noise);
    to->count = last ? 3000 : (uint64_t)(200 + 2 * noise + world_normal(r));
}

static void outlier_slots_are_uncertain_and_no_slope_is_followed_there(void **state)
{
    (void)state;
    unsigned held = 0, runs = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct world w = {
            .groups = 4, .slots = 401, .slot = steady_with_a_strange_end, .seed = seed, .clock = CLOCK_INSNS};
        world_run(&w, "regression");
        for (size_t i = 0; i < w.groups; i++) {
            struct estimate x = estimates_total(w.estimates, i);
            held += x.low <= w.truth && w.truth <= x.high;
            runs++;
            assert_true(off_by(x.value, w.truth) < 0.05); /* the slope of the steady part would say 13,000 events */
        }
        world_end(&w);
    }
    assert_true(held >= runs * 93 / 100);
}

/* Slices of the first rounds are short: 125, 250 and 500 ticks, then 1000. The program starts with a burst. */
static void early_slices_count_the_start(void **state)
{
    (void)state;
    FOR_EACH_ESTIMATOR(name)
    {
        struct world w = {.groups = 2, .seed = 1};
        world_begin(&w, name);
        w.plan.first_slice = 125;
        double truth = 0;
        for (uint32_t i = 0; i < 40; i++) {
            uint64_t length = plan_slice_in_round(&w.plan, i / 2), count = i < 4 ? 8 * length : length / 5;
            struct slice s = {.group = i % 2, .round = i / 2, .cycles = length, .insns = length};
            s.count[i % 2] = count;
            truth += (double)count;
            world_add(&w, &s);
        }
        for (size_t i = 0; i < 2; i++) {
            struct estimate x = estimates_total(w.estimates, i);
            assert_true(off_by(x.value, truth) < 0.35);
            assert_true(x.low <= truth && truth <= x.high && x.high < 4 * truth);
        }
        estimates_finish(w.estimates);
        world_end(&w);
    }
}

static void idle_slots_are_predicted(void **state)
{
    (void)state;
    FOR_EACH_ESTIMATOR(name)
    {
        struct world w = {.groups = 2, .idle = 3, .slots = 100, .slot = constant, .seed = 1};
        world_run(&w, name);
        struct estimate x = estimates_total(w.estimates, 1);
        expect_near(x.value, w.truth, 1e-12);
        expect_near(x.share, 0.2, 1e-12);
        world_end(&w);
    }
}

static void a_larger_share_is_more_certain(void **state)
{
    (void)state;
    FOR_EACH_ESTIMATOR(name)
    {
        struct world w = {.groups = 3, .share = {4, 1, 1}, .slots = 1200, .slot = noisy, .seed = 1};
        world_run(&w, name);
        struct estimate much = estimates_total(w.estimates, 0), little = estimates_total(w.estimates, 1);
        expect_near(much.share, 4.0 / 6, 1e-12);
        assert_int_equal(much.slices, 800);
        expect_inside(&much, w.truth);
        expect_inside(&little, w.truth);
        /* (1 - share) / share: 0.5 against 5 */
        assert_true(estimate_half(&much) < 0.45 * estimate_half(&little));
        world_end(&w);
    }
}

static void regression_follows_the_other_clock(void **state)
{
    (void)state;
    static const struct {
        enum slice_clock clock;
        void (*slot)(const struct world *w, size_t number, struct random *r, struct world_slot *to);
    } of[] = {{CLOCK_CYCLES, of_insns}, {CLOCK_INSNS, of_cycles}};
    for (int i = 0; i < 2; i++) {
        struct world w = {.groups = 6, .slots = 600, .clock = of[i].clock, .slot = of[i].slot, .seed = 1};
        double half[3];
        int n = 0;
        FOR_EACH_ESTIMATOR(name)
        {
            world_run(&w, name);
            struct estimate x = estimates_total(w.estimates, 2);
            expect_inside(&x, w.truth);
            half[n++] = estimate_half(&x);
            if (strcmp(name, "regression") == 0)
                expect_near(x.value, w.truth, 0.01);
            world_end(&w);
        }
        /* Not less, since the slope has to be found first, and the interval knows of that. */
        if (!(half[2] < 0.5 * half[1] && half[2] < 0.5 * half[0]))
            fail_msg("%g %g %g", half[0], half[1], half[2]);
    }
}

static void what_was_counted_is_certain(void **state)
{
    (void)state;
    FOR_EACH_ESTIMATOR(name)
    {
        struct world w = {.groups = 4, .slots = 16, .slot = bursts, .seed = 11};
        for (w.slots = 8; w.slots <= 64; w.slots *= 2) { /* with few slices the rest of the interval reaches below it */
            world_run(&w, name);
            for (size_t i = 0; i < 4; i++) {
                struct estimate x = estimates_total(w.estimates, i);
                assert_true(x.low >= (double)x.counted && x.value >= x.low && x.high >= x.value);
            }
            world_end(&w);
        }
    }
}

static void two_by_hand(const struct world *w, size_t i, struct random *r, struct world_slot *to)
{
    (void)w, (void)r;
    to->count = i < 2 ? 100 : 110;
}

static void an_interval_by_hand(void **state)
{
    (void)state;
    struct world w = {.groups = 2, .slots = 4, .slot = two_by_hand, .fixed = true};
    world_run(&w, "linear");
    struct estimate x = estimates_total(w.estimates, 0);
    /* Noise is 10² / 2, the coefficients are 1 and -1 twice, and one difference is one degree of freedom. */
    double half = 12.706 * sqrt(50 * 4);
    expect_near(x.value, 420, 1e-12);
    expect_near(x.low, 420 - half, 1e-9);
    expect_near(x.high, 420 + half, 1e-9);
    world_end(&w);
}

/* ---- mistakes */

static void what_is_not_of_the_plan_is_refused(void **state)
{
    (void)state;
    struct error err = {""};
    struct world w = {.groups = 2, .slots = 7, .slot = noisy, .seed = 1};
    world_run(&w, "regression");
    assert_int_equal(estimates_add(w.estimates, &(struct slice){.group = 2, .round = 9}, &err), -EINVAL);
    assert_non_null(strstr(err.text, "group 2"));
    assert_int_equal(estimates_add(w.estimates, &(struct slice){.group = 1, .round = 2}, &err), -EINVAL);
    assert_non_null(strstr(err.text, "round 2"));
    world_end(&w);
    w.plan.slice = 0;
    assert_null(estimates_new(&w.plan, &estimators[0], NULL, NULL, &err));
    w.plan.slice = 1000;
    w.event[1].group = 7;
    assert_null(estimates_new(&w.plan, &estimators[0], NULL, NULL, &err));
    assert_non_null(strstr(err.text, "group 7"));
    assert_null(estimator_find("best"));
    assert_ptr_equal(estimator_find(estimators[1].name), &estimators[1]);
}

static void slices_without_length_do_no_harm(void **state)
{
    (void)state;
    FOR_EACH_ESTIMATOR(name)
    {
        struct world w = {.groups = 2, .slots = 20, .slot = constant, .seed = 1};
        world_run(&w, name);
        for (uint32_t i = 0; i < 4; i++)
            world_add(&w, &(struct slice){.group = i % 2, .round = 10 + i / 2});
        struct estimate x = estimates_total(w.estimates, 0);
        expect_near(x.value, w.truth, 1e-12);
        estimates_finish(w.estimates);
        world_end(&w);
        world_begin(&w, name);
        x = estimates_total(w.estimates, 0);
        assert_true(x.value == 0 && x.slices == 0);
        estimates_finish(w.estimates);
        world_end(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constant_rate_is_exact),
        cmocka_unit_test(what_is_always_counted_is_exact),
        cmocka_unit_test(a_group_that_is_alone_is_counted_fully),
        cmocka_unit_test(a_trend_is_followed),
        cmocka_unit_test(fixed_order_beats_with_the_round_and_random_order_does_not),
        cmocka_unit_test(bursts_are_reported_and_noise_is_not),
        cmocka_unit_test(zero_counts_have_a_high_end),
        cmocka_unit_test(too_few_slices_tell_no_high_end),
        cmocka_unit_test(a_last_round_may_be_partial),
        cmocka_unit_test(a_short_slice_counts_but_predicts_nothing),
        cmocka_unit_test(outlier_slots_are_uncertain_and_no_slope_is_followed_there),
        cmocka_unit_test(early_slices_count_the_start),
        cmocka_unit_test(idle_slots_are_predicted),
        cmocka_unit_test(a_larger_share_is_more_certain),
        cmocka_unit_test(regression_follows_the_other_clock),
        cmocka_unit_test(what_was_counted_is_certain),
        cmocka_unit_test(an_interval_by_hand),
        cmocka_unit_test(what_is_not_of_the_plan_is_refused),
        cmocka_unit_test(slices_without_length_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
