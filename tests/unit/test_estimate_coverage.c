/* The 95 % intervals of estimates hold the truth as often as they should: on random processes, with fixed seeds. */
#include "estimate_world.h"

/* A process; `level` is its state. */
struct process {
    const char *name;
    void (*slot)(const struct world *w, size_t number, struct random *r, struct world_slot *to);
    double least, most; /* coverage that is right for it, in percent */
    bool bursty;        /* always reported as bursty */
};

enum { RUNS = 250, SLOTS = 600 };

static uint64_t at_least_0(double value)
{
    return value > 0 ? (uint64_t)(value + 0.5) : 0;
}

static double *level(const struct world *w)
{
    return w->context;
}

/* Noise without memory. */
static void white(const struct world *w, size_t i, struct random *r, struct world_slot *to)
{
    (void)w, (void)i;
    to->count = at_least_0(1000 + 200 * world_normal(r));
}

/* A level that wanders off and comes back over some rounds, and noise. */
static void wandering(const struct world *w, size_t i, struct random *r, struct world_slot *to)
{
    double *l = level(w);
    *l = (i == 0 ? 0 : 0.97 * *l) + 80 * world_normal(r);
    to->count = at_least_0(1000 + *l + 50 * world_normal(r));
}

/* Phases of random length: the level leaps. */
static void phases(const struct world *w, size_t i, struct random *r, struct world_slot *to)
{
    double *l = level(w);
    if (i == 0 || random_u64(r) % 40 == 0)
        *l = 200 + 1800 * world_uniform(r);
    to->count = at_least_0(*l + 30 * world_normal(r));
}

/* Most of it follows the instructions, whose level wanders. */
static void following(const struct world *w, size_t i, struct random *r, struct world_slot *to)
{
    double *l = level(w);
    *l = (i == 0 ? 0 : 0.9 * *l) + 100 * world_normal(r);
    to->insns = 300 + at_least_0(700 + *l + 100 * world_normal(r));
    to->count = at_least_0(0.5 * (double)to->insns + 40 * world_normal(r));
}

/* Heavy tails: what is largest is seen too seldom, and the interval does not know. Such events are bursty. */
static void exponential(const struct world *w, size_t i, struct random *r, struct world_slot *to)
{
    (void)w, (void)i;
    double e = -log(1 - world_uniform(r));
    to->count = at_least_0(300 * e * e);
}

/* One event in every twentieth slot, by chance. */
static void rare(const struct world *w, size_t i, struct random *r, struct world_slot *to)
{
    (void)w, (void)i;
    to->count = random_u64(r) % 20 == 0;
}

static const struct process processes[] = {
    {"white", white, 92, 98, false},
    {"wandering", wandering, 92, 98, false},
    {"phases", phases, 91, 100, false},
    {"following", following, 92, 98, false},
    {"exponential", exponential, 85, 98, true},
    {"rare", rare, 93, 100, false},
};
enum { PROCESSES = sizeof processes / sizeof processes[0] };

/* Times that the first group's interval holds. */
static int covered(const struct process *p, const char *estimator, unsigned groups)
{
    int inside = 0;
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        double l = 0;
        struct world w = {.groups = groups, .slots = SLOTS, .slot = p->slot, .seed = seed * 2 + 1, .context = &l};
        world_run(&w, estimator);
        struct estimate x = estimates_total(w.estimates, 0);
        inside += x.low - 0.5 <= w.truth && w.truth <= x.high + 0.5;
        if (p->bursty && !x.bursty)
            fail_msg("%s: variation %.2f is not reported as bursty", p->name, x.variation);
        world_end(&w);
    }
    return inside;
}

static void check(const char *estimator, unsigned groups)
{
    int sum = 0;
    for (const struct process *p = processes; p < processes + PROCESSES; p++) {
        int inside = covered(p, estimator, groups);
        double percent = 100.0 * inside / RUNS;
        sum += inside;
        print_message("%s, %u groups, %s: %.1f %%\n", estimator, groups, p->name, percent);
        if (percent < p->least || percent > p->most)
            fail_msg("%s: %.1f %% instead of %g to %g", p->name, percent, p->least, p->most);
    }
    double all = 100.0 * sum / (RUNS * PROCESSES);
    print_message("%s, %u groups: %.1f %%\n", estimator, groups, all);
    if (all < 93 || all > 97)
        fail_msg("all: %.1f %%", all);
}

static void linear_intervals_hold_95_percent(void **state)
{
    (void)state;
    check("linear", 4);
}

static void interpolation_intervals_hold_95_percent(void **state)
{
    (void)state;
    check("interpolation", 4);
}

static void regression_intervals_hold_95_percent(void **state)
{
    (void)state;
    check("regression", 4);
}

static void so_they_do_with_six_groups(void **state)
{
    (void)state;
    check("regression", 6);
}

/* Intervals must not be right just by being wide. */
static void intervals_are_as_wide_as_errors_are(void **state)
{
    (void)state;
    static const char *const names[] = {"linear", "interpolation", "regression"};
    for (int n = 0; n < 3; n++) {
        double errors = 0, halves = 0;
        for (uint64_t seed = 0; seed < RUNS; seed++) {
            double l = 0;
            struct world w = {.groups = 4, .slots = SLOTS, .slot = wandering, .seed = seed * 2 + 1, .context = &l};
            world_run(&w, names[n]);
            struct estimate x = estimates_total(w.estimates, 1);
            errors += (x.value - w.truth) * (x.value - w.truth);
            halves += estimate_half(&x) * estimate_half(&x);
            world_end(&w);
        }
        double ratio = sqrt(halves / errors); /* 1.96 would be perfect */
        if (ratio < 1.75 || ratio > 2.4)
            fail_msg("%s: half widths are %.2f standard errors", names[n], ratio);
    }
}

/* Instructions that have nothing to do with it. */
static void unrelated(const struct world *w, size_t i, struct random *r, struct world_slot *to)
{
    white(w, i, r, to);
    to->insns = 500 + random_u64(r) % 1000;
}

static double mean_square_error(const char *estimator, size_t slots)
{
    double sum = 0;
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        struct world w = {.groups = 4, .slots = slots, .slot = unrelated, .seed = seed * 2 + 1};
        world_run(&w, estimator);
        struct estimate x = estimates_total(w.estimates, 0);
        sum += (x.value - w.truth) * (x.value - w.truth);
        world_end(&w);
    }
    return sum / RUNS;
}

static void a_slope_that_is_not_there_does_little_harm(void **state)
{
    (void)state;
    for (size_t slots = 20; slots <= 160; slots *= 2) {
        double worse = mean_square_error("regression", slots) / mean_square_error("interpolation", slots);
        print_message("%zu slots: %.2f\n", slots, worse);
        if (worse > 1.2)
            fail_msg("of %zu slots: %.2f times the squared error of interpolation", slots, worse);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_intervals_hold_95_percent),
        cmocka_unit_test(interpolation_intervals_hold_95_percent),
        cmocka_unit_test(regression_intervals_hold_95_percent),
        cmocka_unit_test(so_they_do_with_six_groups),
        cmocka_unit_test(intervals_are_as_wide_as_errors_are),
        cmocka_unit_test(a_slope_that_is_not_there_does_little_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
