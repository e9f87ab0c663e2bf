/* Estimates of single rounds of multiplexed counts, and of how much a count varies: facts about series that are made
 * up. */
#include "estimate_world.h"

struct reported {
    uint32_t rounds;
    uint64_t cycles, insns;
    double value[2], half;
};

static void on_round(void *context, const struct estimate_round *r)
{
    struct reported *t = context;
    assert_int_equal(r->round, t->rounds++);
    assert_int_equal(r->first_cycle, t->cycles);
    assert_int_equal(r->first_insn, t->insns);
    t->cycles += r->cycles;
    t->insns += r->insns;
    for (int i = 0; i < 2; i++)
        t->value[i] += r->value[i];
    t->half += r->half[1];
    assert_true(r->value[3] == (double)r->cycles && r->half[3] == 0);
    assert_true(r->value[4] == (double)r->insns);
}

static void rounds_come_in_order_and_sum_up(void **state)
{
    (void)state;
    FOR_EACH_ESTIMATOR(name)
    {
        struct reported t = {0};
        struct world w = {.groups = 3, .slots = 200, .slot = noisy, .seed = 4, .ready = on_round, .context = &t};
        world_run(&w, name);
        assert_true(t.rounds >= 64); /* 66 have ended, and each group had a turn in the one before */
        struct estimate before = estimates_total(w.estimates, 0);
        estimates_finish(w.estimates);
        assert_int_equal(t.rounds, 67);
        assert_int_equal(t.cycles, w.cycles);
        assert_int_equal(t.insns, w.insns);
        for (size_t i = 0; i < 2; i++)
            expect_near(t.value[i], estimates_total(w.estimates, i).value, 1e-9);
        struct estimate after = estimates_total(w.estimates, 0);
        expect_near(after.value, before.value, 1e-12);
        expect_near(after.high, before.high, 1e-9);
        assert_true(t.half > 0);
        world_end(&w);
    }
}

struct coverage {
    const struct world *w;
    double truth[1000];
    double level;
    int rounds, inside;
};

static void compare_round(void *context, const struct estimate_round *r)
{
    struct coverage *c = context;
    if (r->round < 20) /* not enough is known yet */
        return;
    c->rounds++;
    c->inside += fabs(r->value[0] - c->truth[r->round]) <= r->half[0];
}

static void keep_truth(const struct world *w, size_t i, struct random *r, struct world_slot *to)
{
    struct coverage *c = w->context;
    noisy(w, i, r, to);
    c->truth[i / w->plan.slots] += (double)to->count;
}

/* The level wanders from slot to slot, without noise. */
static void keep_level(const struct world *w, size_t i, struct random *r, struct world_slot *to)
{
    struct coverage *c = w->context;
    c->level = 0.99 * c->level + 10 * world_normal(r);
    to->count = (uint64_t)(2000 + c->level);
    c->truth[i / w->plan.slots] += (double)to->count;
}

static void variation_is_that_within_a_round(void **state)
{
    (void)state;
    FOR_EACH_ESTIMATOR(name)
    {
        struct coverage c = {0};
        struct world w = {.groups = 4, .slots = 4000, .slot = keep_level, .seed = 3, .context = &c};
        world_run(&w, name);
        struct estimate x = estimates_total(w.estimates, 0);
        /* Steps of 10; two slots of a round are 5 / 3 steps apart, on the average. The level itself goes much farther.
         */
        expect_near(x.variation, 10 * sqrt(5.0 / 3 / 2) / 2000, 0.3);
        world_end(&w);
    }
}

static void expect_rounds_inside(struct world w, const char *name, double most)
{
    struct coverage c = {0};
    w.groups = 4;
    w.slots = 4000;
    w.ready = compare_round;
    w.context = &c;
    world_run(&w, name);
    estimates_finish(w.estimates);
    assert_int_equal(c.rounds, 980);
    if (c.inside < 0.91 * c.rounds || c.inside > most * c.rounds)
        fail_msg("%s: %d of %d", name, c.inside, c.rounds);
    world_end(&w);
}

static void intervals_of_rounds_hold_most_of_them(void **state)
{
    (void)state;
    FOR_EACH_ESTIMATOR(name)
    {
        expect_rounds_inside((struct world){.slot = keep_truth, .seed = 9}, name, 0.98);
        /* Few slices tell wandering and noise apart badly, and what may be noise is taken as such. */
        expect_rounds_inside((struct world){.slot = keep_level, .seed = 9}, name, 0.995);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_come_in_order_and_sum_up),
        cmocka_unit_test(variation_is_that_within_a_round),
        cmocka_unit_test(intervals_of_rounds_hold_most_of_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
