/* The reference: which runs it needs, stacks of single orders and of all, noise, and errors against them. Runs are made
 * up: a function says how many cycles pass with which structures real. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stacks/reference.h"

#define REAL(c) (1u << COMPONENT_##c)

enum { STRUCTURES = 7 };
static const enum component structures[STRUCTURES] = {COMPONENT_branch, COMPONENT_l1i, COMPONENT_l2i, COMPONENT_itlb,
                                                      COMPONENT_l1d,    COMPONENT_l2d, COMPONENT_dtlb};
enum { EVERYTHING = REAL(branch) | REAL(l1i) | REAL(l2i) | REAL(itlb) | REAL(l1d) | REAL(l2d) | REAL(dtlb) };

typedef uint64_t world(unsigned real);

static void simulate(const struct reference_plan *p, world *w, uint64_t cycles[REFERENCE_ALL_RUNS])
{
    for (unsigned i = 0; i < p->count; i++)
        cycles[i] = w(p->run[i].real);
}

static struct reference_range all_orders_of(world *w)
{
    struct reference_plan plan;
    uint64_t cycles[REFERENCE_ALL_RUNS];
    struct reference_range range;
    reference_plan_make(&plan, REFERENCE_ALL);
    simulate(&plan, w, cycles);
    reference_all_orders(&plan, cycles, &range);
    return range;
}

static void has(const struct reference_range *r, enum component c, int64_t lowest, int64_t mean, int64_t highest)
{
    assert_int_equal(r->lowest[c], lowest);
    assert_int_equal(r->mean[c], mean);
    assert_int_equal(r->highest[c], highest);
}

/* ---- runs */

static void an_order_is_8_runs(void **state)
{
    (void)state;
    struct reference_plan paper, inverse;
    reference_plan_make(&paper, REFERENCE_PAPER);
    reference_plan_make(&inverse, REFERENCE_INVERSE);
    assert_int_equal(paper.count, 8);
    assert_int_equal(paper.orders, REFERENCE_PAPER);
    assert_int_equal(paper.run[0].real, EVERYTHING);
    assert_int_equal(paper.run[1].real, 0);
    assert_int_equal(paper.run[3].real, REAL(l1d) | REAL(branch));
    assert_int_equal(paper.run[4].real, REAL(l1d) | REAL(branch) | REAL(l1i));
    assert_int_equal(paper.run[7].real, EVERYTHING & ~REAL(dtlb));
    assert_int_equal(inverse.count, 8);
    assert_int_equal(inverse.run[0].real, EVERYTHING);
    assert_int_equal(inverse.run[4].real, REAL(l1d) | REAL(branch) | REAL(l2d));
    assert_int_equal(inverse.run[7].real, EVERYTHING & ~REAL(itlb));
}

static void all_orders_are_72_runs(void **state)
{
    (void)state;
    struct reference_plan all;
    bool seen[EVERYTHING + 1] = {false};
    reference_plan_make(&all, REFERENCE_ALL);
    assert_int_equal(all.count, 72);
    assert_int_equal(all.run[0].real, EVERYTHING);
    for (unsigned i = 0; i < all.count; i++) {
        unsigned real = all.run[i].real;
        assert_int_equal(real & ~EVERYTHING, 0);
        assert_false(seen[real]);
        assert_false(real & REAL(l2i) && !(real & REAL(l1i)));
        assert_false(real & REAL(l2d) && !(real & REAL(l1d)));
        seen[real] = true;
    }
}

static void orders_have_names(void **state)
{
    (void)state;
    assert_int_equal(reference_orders_find("all"), REFERENCE_ALL);
    assert_int_equal(reference_orders_find("paper"), REFERENCE_PAPER);
    assert_int_equal(reference_orders_find("inverse"), REFERENCE_INVERSE);
    assert_int_equal(reference_orders_find("mean"), -1);
    assert_string_equal(reference_orders_name(REFERENCE_INVERSE), "inverse");
}

/* ---- stacks computed by hand */

static const int64_t costs[COMPONENTS] = {
    [COMPONENT_base] = 1000, [COMPONENT_l1i] = 3,  [COMPONENT_l2i] = 50,  [COMPONENT_itlb] = 7,
    [COMPONENT_branch] = 0,  [COMPONENT_l1d] = -2, [COMPONENT_l2d] = 400, [COMPONENT_dtlb] = 11};

static uint64_t additive(unsigned real)
{
    int64_t cycles = costs[COMPONENT_base];
    for (unsigned c = 0; c < COMPONENTS; c++)
        cycles += real >> c & 1 ? costs[c] : 0;
    return (uint64_t)cycles;
}

static void what_adds_up_is_the_same_in_every_order(void **state)
{
    (void)state;
    struct reference_range r = all_orders_of(additive);
    for (unsigned c = 0; c < COMPONENTS; c++)
        has(&r, c, costs[c], costs[c], costs[c]);
}

/* The longer of two waits, 40 and 30 cycles: whichever is real first has all of its own. */
static uint64_t side_by_side(unsigned real)
{
    return 1000 + (real & REAL(branch) ? 40 : real & REAL(itlb) ? 30 : 0);
}

static void waits_at_once_are_shared_evenly(void **state)
{
    (void)state;
    struct reference_range r = all_orders_of(side_by_side);
    has(&r, COMPONENT_branch, 10, 25, 40);
    has(&r, COMPONENT_itlb, 0, 15, 30);
    has(&r, COMPONENT_base, 1000, 1000, 1000);
    has(&r, COMPONENT_dtlb, 0, 0, 0);
}

static uint64_t both_needed(unsigned real)
{
    return 1000 + (real & REAL(branch) && real & REAL(dtlb) ? 60 : 0);
}

static void a_wait_that_needs_both_is_shared_evenly(void **state)
{
    (void)state;
    struct reference_range r = all_orders_of(both_needed);
    has(&r, COMPONENT_branch, 0, 30, 60);
    has(&r, COMPONENT_dtlb, 0, 30, 60);
    has(&r, COMPONENT_itlb, 0, 0, 0);
}

/* Of a side's caches the second always comes last. */
static uint64_t both_caches_needed(unsigned real)
{
    return 1000 + (real & REAL(l1d) && real & REAL(l2d) ? 60 : 0);
}

static void a_second_cache_has_what_it_adds_to_the_first(void **state)
{
    (void)state;
    struct reference_range r = all_orders_of(both_caches_needed);
    has(&r, COMPONENT_l1d, 0, 0, 0);
    has(&r, COMPONENT_l2d, 60, 60, 60);
}

/* Prediction comes before, between or after a side's caches equally often, so that it is last in a third of orders. */
static uint64_t second_cache_and_branch_needed(unsigned real)
{
    return 1000 + (real & REAL(l2i) && real & REAL(branch) ? 60 : 0);
}

static void orders_count_equally(void **state)
{
    (void)state;
    struct reference_range r = all_orders_of(second_cache_and_branch_needed);
    has(&r, COMPONENT_l2i, 0, 40, 60);
    has(&r, COMPONENT_branch, 0, 20, 60);
}

/* ---- all orders one by one */

static uint64_t uneven(unsigned real)
{
    return 100000 + (real * 2654435761u >> 7) % 10007;
}

struct tally {
    unsigned orders;
    int64_t sum[COMPONENTS], lowest[COMPONENTS], highest[COMPONENTS];
};

static void walk(struct tally *t, unsigned real, int64_t added[COMPONENTS])
{
    if (real == EVERYTHING) {
        t->orders++;
        for (unsigned c = 0; c < COMPONENTS; c++) {
            t->sum[c] += added[c];
            t->lowest[c] = t->orders == 1 || added[c] < t->lowest[c] ? added[c] : t->lowest[c];
            t->highest[c] = t->orders == 1 || added[c] > t->highest[c] ? added[c] : t->highest[c];
        }
    }
    for (unsigned i = 0; i < STRUCTURES; i++) {
        enum component c = structures[i];
        if (real >> c & 1 || (c == COMPONENT_l2i && !(real & REAL(l1i))) || (c == COMPONENT_l2d && !(real & REAL(l1d))))
            continue;
        added[c] = (int64_t)(uneven(real | 1u << c) - uneven(real));
        walk(t, real | 1u << c, added);
    }
}

static void all_orders_are_what_each_gives(void **state)
{
    (void)state;
    struct reference_range r = all_orders_of(uneven);
    struct tally t = {0};
    walk(&t, 0, (int64_t[COMPONENTS]){[COMPONENT_base] = (int64_t)uneven(0)});
    assert_int_equal(t.orders, 1260);
    for (unsigned c = 0; c < COMPONENTS; c++) {
        assert_int_equal(r.lowest[c], t.lowest[c]);
        assert_int_equal(r.highest[c], t.highest[c]);
        assert_true(llabs(1260 * r.mean[c] - t.sum[c]) < 1260);
    }
}

static void shares_are_exact_sums_over_all_orders(void **state)
{
    (void)state;
    int64_t cycles[REFERENCE_SETS] = {0}, shares[COMPONENTS], sum = 0;
    struct tally t = {0};
    for (unsigned real = 0; real <= EVERYTHING; real++)
        cycles[real] = (int64_t)uneven(real);
    walk(&t, 0, (int64_t[COMPONENTS]){[COMPONENT_base] = (int64_t)uneven(0)});
    reference_shares(cycles, shares);
    for (unsigned c = 0; c < COMPONENTS; c++) {
        assert_int_equal(shares[c], t.sum[c]);
        sum += shares[c];
    }
    assert_int_equal(sum, REFERENCE_WAYS * (int64_t)uneven(EVERYTHING));
}

static void the_mean_sums_to_the_cycles(void **state)
{
    (void)state;
    struct reference_range r = all_orders_of(uneven);
    int64_t sum = 0;
    for (unsigned c = 0; c < COMPONENTS; c++) {
        assert_in_range(r.mean[c] + 200000, r.lowest[c] + 200000, r.highest[c] + 200000);
        sum += r.mean[c];
    }
    assert_int_equal(sum, uneven(EVERYTHING));
}

/* ---- runs that fail */

static bool is_unknown(const struct reference_range *r, unsigned c)
{
    assert_int_equal(r->mean[c] == REFERENCE_UNKNOWN, r->lowest[c] == REFERENCE_UNKNOWN);
    assert_int_equal(r->mean[c] == REFERENCE_UNKNOWN, r->highest[c] == REFERENCE_UNKNOWN);
    return r->mean[c] == REFERENCE_UNKNOWN;
}

static uint64_t all_perfect_fails(unsigned real)
{
    return real ? additive(real) : 0;
}

/* Second caches join no set without the first. */
static void all_perfect_is_needed_by_all_but_second_caches(void **state)
{
    (void)state;
    struct reference_range r = all_orders_of(all_perfect_fails);
    for (unsigned c = 0; c < COMPONENTS; c++)
        assert_int_equal(is_unknown(&r, c), c != COMPONENT_fu && c != COMPONENT_l2i && c != COMPONENT_l2d);
    has(&r, COMPONENT_l2d, 400, 400, 400);
}

static uint64_t instruction_caches_fail(unsigned real)
{
    return real == (REAL(l1i) | REAL(l2i)) ? 0 : additive(real);
}

static void a_failed_run_leaves_what_needs_it_unknown(void **state)
{
    (void)state;
    struct reference_range r = all_orders_of(instruction_caches_fail);
    for (unsigned c = 0; c < COMPONENTS; c++)
        assert_int_equal(is_unknown(&r, c),
                         c != COMPONENT_base && c != COMPONENT_fu && c != COMPONENT_l1i && c != COMPONENT_l2d);
    has(&r, COMPONENT_base, 1000, 1000, 1000);
    has(&r, COMPONENT_l1i, 3, 3, 3);
}

static void the_stack_of_an_order_needs_only_its_runs(void **state)
{
    (void)state;
    struct reference_plan plan;
    uint64_t cycles[REFERENCE_ALL_RUNS];
    int64_t stack[COMPONENTS];
    reference_plan_make(&plan, REFERENCE_ALL);
    simulate(&plan, instruction_caches_fail, cycles);
    for (enum reference_orders order = REFERENCE_PAPER; order <= REFERENCE_INVERSE; order++) {
        reference_stack(&plan, order, cycles, stack);
        assert_memory_equal(stack, costs, sizeof costs);
    }
}

/* The paper's order has the I-TLB real before the D-TLB; the inverse order after it. */
static uint64_t tlbs_together(unsigned real)
{
    return 1000 + (real & REAL(itlb) && real & REAL(dtlb) ? 60 : 0);
}

static void the_stack_of_an_order_is_the_same_from_its_own_runs(void **state)
{
    (void)state;
    struct reference_plan plan;
    uint64_t cycles[REFERENCE_ALL_RUNS];
    int64_t stack[COMPONENTS];
    reference_plan_make(&plan, REFERENCE_PAPER);
    simulate(&plan, tlbs_together, cycles);
    reference_stack(&plan, REFERENCE_PAPER, cycles, stack);
    assert_int_equal(stack[COMPONENT_itlb], 0);
    assert_int_equal(stack[COMPONENT_dtlb], 60);
    reference_plan_make(&plan, REFERENCE_INVERSE);
    simulate(&plan, tlbs_together, cycles);
    reference_stack(&plan, REFERENCE_INVERSE, cycles, stack);
    assert_int_equal(stack[COMPONENT_itlb], 60);
    assert_int_equal(stack[COMPONENT_dtlb], 0);
}

/* ---- noise */

static struct reference_noise noise_of(world *w, enum reference_orders orders)
{
    struct reference_plan plan;
    uint64_t cycles[REFERENCE_ALL_RUNS];
    reference_plan_make(&plan, orders);
    simulate(&plan, w, cycles);
    return reference_noise(&plan, cycles);
}

static void waits_are_no_noise(void **state)
{
    (void)state;
    assert_int_equal(noise_of(side_by_side, REFERENCE_ALL).cycles, 0);
    assert_int_equal(noise_of(both_needed, REFERENCE_ALL).cycles, 0);
}

/* Wrong paths bring instructions, unless these are all there. */
static uint64_t wrong_path_helps(unsigned real)
{
    return additive(real) + (real & REAL(l2i) && !(real & REAL(branch)) ? 9 : 0);
}

static void cycles_that_a_real_structure_saves_are_noise(void **state)
{
    (void)state;
    struct reference_noise n = noise_of(additive, REFERENCE_PAPER);
    assert_int_equal(n.cycles, 2);
    assert_int_equal(n.component, COMPONENT_l1d);
    assert_int_equal(n.real, 0);
    n = noise_of(wrong_path_helps, REFERENCE_ALL);
    assert_int_equal(n.cycles, 9);
    assert_int_equal(n.component, COMPONENT_branch);
    assert_int_equal(n.real & (REAL(l1i) | REAL(l2i) | REAL(branch)), REAL(l1i) | REAL(l2i));
    assert_int_equal(noise_of(wrong_path_helps, REFERENCE_PAPER).cycles, 2); /* prediction is real before the caches */
}

static uint64_t data_cache_fails(unsigned real)
{
    return real & REAL(l1d) ? 0 : additive(real);
}

static void failed_runs_are_no_noise(void **state)
{
    (void)state;
    assert_int_equal(noise_of(data_cache_fails, REFERENCE_ALL).cycles, 0);
    assert_int_equal(noise_of(all_perfect_fails, REFERENCE_PAPER).cycles, 0);
}

/* ---- errors */

static void is_error(struct stack_error e, double percent, enum component c)
{
    assert_true(e.known);
    assert_true(e.percent > percent - 1e-9 && e.percent < percent + 1e-9);
    assert_int_equal(e.component, c);
}

/* Of side_by_side: branch from 10 to 40, itlb from 0 to 30, base 1000. */
static void errors_are_distances_to_what_orders_give(void **state)
{
    (void)state;
    struct reference_range r = all_orders_of(side_by_side);
    int64_t stack[COMPONENTS] = {
        [COMPONENT_base] = 960, [COMPONENT_fu] = 40, [COMPONENT_branch] = 10, [COMPONENT_itlb] = 30};
    is_error(stack_error_outside(stack, &r, 1000), 0, COMPONENT_base);
    is_error(stack_error(stack, r.mean, 1000), 1.5, COMPONENT_itlb);
    stack[COMPONENT_branch] = 8;
    is_error(stack_error_outside(stack, &r, 1000), 0.2, COMPONENT_branch);
    stack[COMPONENT_itlb] = 35;
    is_error(stack_error_outside(stack, &r, 1000), 0.5, COMPONENT_itlb);
    stack[COMPONENT_fu] = 20;
    is_error(stack_error_outside(stack, &r, 1000), 2, COMPONENT_base);
}

static void errors_are_those_of_what_is_known(void **state)
{
    (void)state;
    struct reference_range r = all_orders_of(instruction_caches_fail);
    int64_t stack[COMPONENTS] = {
        [COMPONENT_base] = 1000, [COMPONENT_l1i] = 5, [COMPONENT_l2i] = 900, [COMPONENT_l2d] = 400};
    is_error(stack_error_outside(stack, &r, 1000), 0.2, COMPONENT_l1i);
    is_error(stack_error(stack, r.mean, 1000), 0.2, COMPONENT_l1i);
    stack[COMPONENT_l2i] = -900;
    is_error(stack_error_outside(stack, &r, 1000), 0.2, COMPONENT_l1i);
    assert_false(stack_error_outside(stack, &r, 0).known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_order_is_8_runs),
        cmocka_unit_test(all_orders_are_72_runs),
        cmocka_unit_test(orders_have_names),
        cmocka_unit_test(what_adds_up_is_the_same_in_every_order),
        cmocka_unit_test(waits_at_once_are_shared_evenly),
        cmocka_unit_test(a_wait_that_needs_both_is_shared_evenly),
        cmocka_unit_test(a_second_cache_has_what_it_adds_to_the_first),
        cmocka_unit_test(orders_count_equally),
        cmocka_unit_test(all_orders_are_what_each_gives),
        cmocka_unit_test(shares_are_exact_sums_over_all_orders),
        cmocka_unit_test(the_mean_sums_to_the_cycles),
        cmocka_unit_test(all_perfect_is_needed_by_all_but_second_caches),
        cmocka_unit_test(a_failed_run_leaves_what_needs_it_unknown),
        cmocka_unit_test(the_stack_of_an_order_needs_only_its_runs),
        cmocka_unit_test(the_stack_of_an_order_is_the_same_from_its_own_runs),
        cmocka_unit_test(waits_are_no_noise),
        cmocka_unit_test(cycles_that_a_real_structure_saves_are_noise),
        cmocka_unit_test(failed_runs_are_no_noise),
        cmocka_unit_test(errors_are_distances_to_what_orders_give),
        cmocka_unit_test(errors_are_those_of_what_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
