/* Distances of distributions, the paper's rule of rare events, replays of full counts, and their comparison. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sampler/counter_check.h"
#include "sampler/distance.h"
#include "sampler/slice_table.h"

/* ---- distances */

static void the_same_shares_are_no_distance_apart(void **state)
{
    (void)state;
    const double p[] = {1, 2, 3, 0}, twice[] = {2, 4, 6, 0};
    assert_true(fabs(kl_distance(p, p, 4, 1)) < 1e-12);
    assert_true(fabs(kl_distance(p, twice, 4, 1)) < 1e-12);
}

/* P is 1/2, 1/2 and P' 1/4, 3/4: log(2) / 2 + log(2 / 3) / 2. */
static void a_distance_is_as_defined(void **state)
{
    (void)state;
    const double p[] = {10, 10}, q[] = {10, 30};
    assert_true(fabs(kl_distance(p, q, 2, 1) - (log(2) + log(2.0 / 3)) / 2) < 1e-12);
    assert_true(fabs(kl_distance(q, p, 2, 1) - (log(0.5) / 4 + log(1.5) * 3 / 4)) < 1e-12);
}

static void columns_of_a_table_are_compared(void **state)
{
    (void)state;
    const double p[] = {10, 7, 10, 7}, q[] = {10, 7, 30, 7};
    assert_true(fabs(kl_distance(p, q, 2, 2) - (log(2) + log(2.0 / 3)) / 2) < 1e-12);
    assert_true(fabs(kl_distance(p + 1, q + 1, 2, 2)) < 1e-12);
}

/* Half an event stands for none: P' is 1/200 and 199/200. */
static void what_was_missed_is_far_but_not_infinitely(void **state)
{
    (void)state;
    const double p[] = {50, 50}, q[] = {0, 99.5}, negative[] = {-7, 99.5}, nothing[] = {0, 0};
    double far = log(0.5 / 0.005) / 2 + log(0.5 / 0.995) / 2;
    assert_true(fabs(kl_distance(p, q, 2, 1) - far) < 1e-12);
    assert_true(fabs(kl_distance(p, negative, 2, 1) - far) < 1e-12);
    assert_true(fabs(kl_distance(p, nothing, 2, 1)) < 1e-12);
    assert_true(isnan(kl_distance(nothing, p, 2, 1)));
}

static void once_in_10000_is_not_rare(void **state)
{
    (void)state;
    assert_false(is_rare(100, 1000000));
    assert_true(is_rare(99, 1000000));
    assert_true(is_rare(0, 0));
    assert_false(is_rare(1, 10000));
    assert_true(is_rare(1, 10001));
}

/* ---- replays */

enum { EVENTS = 3, SLICES = 60 };

/* Two groups: event 0 alone, events 1 and 2 together; rounds of `slots`. */
struct world {
    struct plan_event event[EVENTS];
    struct plan_group group[2];
    struct plan plan;
    struct slice_table table;
};

/* Event i happens 100 + i times in even slices, and `burst` times more in odd ones. */
static void make_world(struct world *w, uint32_t slots, uint64_t burst)
{
    *w = (struct world){.event = {{.group = 0}, {.group = 1, .place = 0}, {.group = 1, .place = 1}},
                        .group = {{.share = 1, .counts = 1}, {.share = 1, .counts = 2}}};
    w->plan = (struct plan){
        .event = w->event, .event_count = EVENTS, .group = w->group, .group_count = 2, .slots = slots, .slice = 1000};
    w->table.events = EVENTS;
    for (unsigned i = 0; i < SLICES; i++) {
        struct error err;
        struct slice s = {.cycles = 1000, .insns = 500 + i};
        uint64_t counts[EVENTS];
        for (unsigned e = 0; e < EVENTS; e++)
            counts[e] = 100 + e + (i % 2 ? burst : 0);
        assert_int_equal(slice_table_add(&w->table, &s, counts, &err), 0);
    }
}

struct seen {
    const struct plan *plan;
    unsigned slices, of_group[2], idle;
    uint64_t insns, total;
    unsigned first[2]; /* how often a group was first in its round */
    uint32_t slots;
    unsigned merged;
    bool wrong;
};

static int look(void *context, const struct slice *s, const uint64_t *counts, struct error *err)
{
    struct seen *n = context;
    (void)err;
    n->wrong |= s->round != n->slices / n->slots || s->cycles != 1000 * (uint64_t)n->merged;
    n->insns += s->insns;
    n->total += counts[0];
    if (s->group == SLICE_IDLE) {
        n->idle++;
    } else {
        n->of_group[s->group]++;
        n->first[s->group] += n->slices % n->slots == 0;
        n->wrong |= s->group == 0 ? s->count[0] != counts[0] : s->count[0] != counts[1] || s->count[1] != counts[2];
    }
    n->slices++;
    return 0;
}

static struct seen replay(struct world *w, unsigned merged)
{
    struct error err;
    struct seen n = {.plan = &w->plan, .slots = w->plan.slots, .merged = merged};
    assert_int_equal(slice_table_replay(&w->table, &w->plan, merged, look, &n, &err), 0);
    assert_false(n.wrong);
    return n;
}

static void a_replay_gives_each_group_its_share(void **state)
{
    (void)state;
    struct world w;
    make_world(&w, 5, 50);
    struct seen n = replay(&w, 1);
    assert_int_equal(n.slices, SLICES);
    assert_int_equal(n.of_group[0], SLICES / 5);
    assert_int_equal(n.of_group[1], SLICES / 5);
    assert_int_equal(n.idle, 3 * SLICES / 5);
    assert_int_equal(n.total, SLICES * 125);
    assert_int_equal(n.insns, SLICES * 500 + SLICES * (SLICES - 1) / 2);
    slice_table_free(&w.table);
}

static void slices_are_merged(void **state)
{
    (void)state;
    struct world w;
    make_world(&w, 2, 50);
    struct seen n = replay(&w, 7); /* four are left over */
    assert_int_equal(n.slices, 8);
    assert_int_equal(n.total, 56 * 125);
    slice_table_free(&w.table);
}

static void orders_are_random_unless_fixed(void **state)
{
    (void)state;
    struct world w;
    make_world(&w, 2, 0);
    struct seen drawn = replay(&w, 1);
    assert_in_range(drawn.first[0], 5, 25); /* of 30: beyond that once in 4000 seeds */
    w.plan.fixed_order = true;
    struct seen fixed = replay(&w, 1);
    assert_int_equal(fixed.first[0], 30);
    slice_table_free(&w.table);
}

static void a_plan_of_other_events_is_refused(void **state)
{
    (void)state;
    struct world w;
    struct error err;
    make_world(&w, 2, 0);
    w.plan.event_count = 2;
    assert_true(slice_table_replay(&w.table, &w.plan, 1, look, NULL, &err) < 0);
    slice_table_free(&w.table);
}

/* ---- comparisons */

static int add(void *context, const struct slice *s, const uint64_t *counts, struct error *err)
{
    return counter_check_add(context, s, counts, err);
}

static struct counter_check *check(struct world *w, unsigned merged)
{
    struct error err;
    struct counter_check *c = counter_check_new(&w->plan, &err);
    assert_non_null(c);
    w->plan.slice = 1000 * merged;
    assert_int_equal(slice_table_replay(&w->table, &w->plan, merged, add, c, &err), 0);
    assert_int_equal(counter_check_finish(c, &err), 0);
    return c;
}

static void what_is_steady_is_found_exactly(void **state)
{
    (void)state;
    struct world w;
    make_world(&w, 5, 0);
    struct counter_check *c = check(&w, 1);
    assert_int_equal(counter_check_rounds(c), SLICES / 5);
    assert_int_equal(counter_check_cycles(c), 1000 * SLICES);
    for (size_t e = 0; e < EVENTS; e++) {
        struct counter_checked got;
        counter_check_event(c, e, &got);
        assert_int_equal(got.truth, SLICES * (100 + e));
        assert_true(fabs(got.busiest - 0.2) < 1e-12);
        for (unsigned i = 0; i < CHECK_ESTIMATORS; i++) {
            assert_true(got.by[i].distance < 1e-6);
            assert_true(got.by[i].error < 1e-6);
            assert_true(got.by[i].holds);
        }
    }
    counter_check_free(c);
    slice_table_free(&w.table);
}

/* Slots of a round alternate as the slices do, so in fixed order each group sees the same kind always. */
static void what_beats_with_the_round_is_missed_in_fixed_order(void **state)
{
    (void)state;
    struct world w;
    struct counter_checked got;
    make_world(&w, 2, 900);
    w.plan.fixed_order = true;
    struct counter_check *c = check(&w, 1);
    counter_check_event(c, 0, &got);
    assert_true(fabs(got.busiest - 1000.0 / 1100) < 1e-12);
    assert_true(got.by[CHECK_LINEAR].error > 0.8);
    assert_false(got.by[CHECK_LINEAR].holds);
    counter_check_free(c);
    w.plan.fixed_order = false;
    c = check(&w, 1);
    counter_check_event(c, 0, &got);
    assert_true(got.by[CHECK_LINEAR].error < 0.4);
    assert_true(got.by[CHECK_LINEAR].holds);
    counter_check_free(c);
    slice_table_free(&w.table);
}

static void a_round_that_is_not_whole_is_not_compared(void **state)
{
    (void)state;
    struct world w;
    make_world(&w, 7, 0); /* eight rounds, and four slices */
    struct counter_check *c = check(&w, 1);
    struct counter_checked got;
    assert_int_equal(counter_check_rounds(c), 8);
    counter_check_event(c, 0, &got);
    assert_int_equal(got.truth, SLICES * 100);
    counter_check_free(c);
    slice_table_free(&w.table);
}

/* As when warm-up ends within a round, behind the only turn of group 0. */
static void nor_is_one_that_began_before(void **state)
{
    (void)state;
    struct world w;
    struct error err;
    struct counter_checked got;
    make_world(&w, 4, 0);
    struct counter_check *c = counter_check_new(&w.plan, &err);
    assert_non_null(c);
    for (unsigned i = 2; i < SLICES; i++) {
        uint32_t group = i % 4 < 2 ? i % 4 : SLICE_IDLE;
        struct slice s = {.group = group, .round = i / 4, .cycles = 1000, .insns = 500, .count = {100 + group, 102}};
        assert_int_equal(counter_check_add(c, &s, (const uint64_t[EVENTS]){100, 101, 102}, &err), 0);
    }
    assert_int_equal(counter_check_finish(c, &err), 0);
    assert_int_equal(counter_check_rounds(c), SLICES / 4 - 1);
    counter_check_event(c, 0, &got);
    assert_true(got.by[CHECK_LINEAR].distance < 1e-6);
    assert_int_equal(got.truth, 100 * (SLICES - 2));
    counter_check_free(c);
    slice_table_free(&w.table);
}

static void what_is_rare_has_no_distance(void **state)
{
    (void)state;
    struct world w;
    struct error err;
    struct counter_checked got;
    make_world(&w, 2, 0);
    slice_table_free(&w.table);
    w.table.events = EVENTS;
    for (unsigned i = 0; i < SLICES; i++)
        assert_int_equal(slice_table_add(&w.table, &(struct slice){.cycles = 1000, .insns = 500},
                                         (const uint64_t[EVENTS]){0, i == 7, i % 10 == 0}, &err),
                         0);
    struct counter_check *c = check(&w, 1);
    counter_check_event(c, 0, &got);
    assert_true(got.rare && isnan(got.by[CHECK_LINEAR].distance) && isnan(got.by[CHECK_LINEAR].error));
    counter_check_event(c, 1, &got); /* once in 60,000 cycles */
    assert_true(got.rare && isnan(got.by[CHECK_DEFAULT].distance) && !isnan(got.by[CHECK_DEFAULT].error));
    counter_check_event(c, 2, &got); /* once in 10,000 */
    assert_false(got.rare);
    assert_false(isnan(got.by[CHECK_DEFAULT].distance));
    counter_check_free(c);
    slice_table_free(&w.table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_shares_are_no_distance_apart),
        cmocka_unit_test(a_distance_is_as_defined),
        cmocka_unit_test(columns_of_a_table_are_compared),
        cmocka_unit_test(what_was_missed_is_far_but_not_infinitely),
        cmocka_unit_test(once_in_10000_is_not_rare),
        cmocka_unit_test(a_replay_gives_each_group_its_share),
        cmocka_unit_test(slices_are_merged),
        cmocka_unit_test(orders_are_random_unless_fixed),
        cmocka_unit_test(a_plan_of_other_events_is_refused),
        cmocka_unit_test(what_is_steady_is_found_exactly),
        cmocka_unit_test(what_beats_with_the_round_is_missed_in_fixed_order),
        cmocka_unit_test(a_round_that_is_not_whole_is_not_compared),
        cmocka_unit_test(nor_is_one_that_began_before),
        cmocka_unit_test(what_is_rare_has_no_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
