/* Estimates of completion and stalls become whole cycles that add up, whatever the estimates are. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/random.h"
#include "sampler/stalls_logical.h"

static uint64_t sum_of(const struct stall_interval *i)
{
    uint64_t sum = i->completion;
    for (unsigned k = 0; k < STALL_SOURCES; k++)
        sum += i->stalls[k];
    return sum;
}

static void what_is_certain_stays(void **state)
{
    (void)state;
    struct stall_interval i = {.cycles = 1000};
    const double value[STALL_EVENTS] = {[STALL_DCACHE] = 300, [STALL_FPU] = 100, [STALL_SOURCES] = 500};
    const double half[STALL_EVENTS] = {[STALL_FPU] = 10};
    stalls_adjust(&i, value, half);
    assert_int_equal(i.stalls[STALL_DCACHE], 300);
    assert_int_equal(i.stalls[STALL_FPU], 200);
    assert_int_equal(i.error[STALL_FPU], 10);
    assert_int_equal(i.completion, 500);
}

/* By variances: 10 squared to 20 squared. */
static void a_difference_is_shared_by_uncertainty(void **state)
{
    (void)state;
    struct stall_interval i = {.cycles = 1000};
    const double value[STALL_EVENTS] = {[STALL_DCACHE] = 300, [STALL_FPU] = 100, [STALL_SOURCES] = 500};
    const double half[STALL_EVENTS] = {[STALL_DCACHE] = 10, [STALL_FPU] = 20};
    stalls_adjust(&i, value, half);
    assert_int_equal(i.stalls[STALL_DCACHE], 320);
    assert_int_equal(i.stalls[STALL_FPU], 180);
    assert_int_equal(i.completion, 500);
}

static void nothing_becomes_negative(void **state)
{
    (void)state;
    struct stall_interval i = {.cycles = 1000};
    const double value[STALL_EVENTS] = {[STALL_DCACHE] = 10, [STALL_FPU] = 600, [STALL_SOURCES] = 500};
    const double half[STALL_EVENTS] = {[STALL_DCACHE] = 100, [STALL_FPU] = 1};
    stalls_adjust(&i, value, half);
    assert_int_equal(i.stalls[STALL_DCACHE], 0);
    assert_int_equal(i.stalls[STALL_FPU], 500);
    assert_int_equal(i.completion, 500);
}

static void nothing_known_is_other(void **state)
{
    (void)state;
    struct stall_interval i = {.cycles = 77};
    const double nothing[STALL_EVENTS] = {0};
    stalls_adjust(&i, nothing, nothing);
    assert_int_equal(i.stalls[STALL_OTHER], 77);
}

static void everything_adds_up_always(void **state)
{
    (void)state;
    struct random r;
    random_seed(&r, 9);
    for (unsigned n = 0; n < 20000; n++) {
        struct stall_interval i = {.cycles = random_u64(&r) % (n % 2 ? 10 : 3000000)};
        double value[STALL_EVENTS], half[STALL_EVENTS];
        for (unsigned k = 0; k < STALL_EVENTS; k++) {
            value[k] = random_u64(&r) % 3 ? (double)(random_u64(&r) % 1000000) / 3 : 0;
            half[k] = random_u64(&r) % 8 == 0   ? INFINITY
                      : random_u64(&r) % 2 == 0 ? (double)(random_u64(&r) % 100000) / 7
                                                : 0;
        }
        stalls_adjust(&i, value, half);
        assert_int_equal(sum_of(&i), i.cycles);
    }
}

static void there_is_an_event_for_each(void **state)
{
    (void)state;
    struct event_specs specs = {0};
    struct error err;
    assert_int_equal(stalls_logical_specs(&specs, &err), 0);
    assert_int_equal(specs.count, STALL_EVENTS);
    event_specs_free(&specs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_certain_stays),     cmocka_unit_test(a_difference_is_shared_by_uncertainty),
        cmocka_unit_test(nothing_becomes_negative),  cmocka_unit_test(nothing_known_is_other),
        cmocka_unit_test(everything_adds_up_always), cmocka_unit_test(there_is_an_event_for_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
