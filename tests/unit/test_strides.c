/* Stride predictors of loads, on sequences whose outcome follows by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/core.h"
#include "core/strides.h"

enum { PC = 0x10000 };

/* Loads of one instruction, and which of them were off: an 'x' for each that was, a '.' for the others. Of the value
 * predictor if `values`, else of the address predictor, while the other one sees the same number all the time. */
static void expect(const char *what, bool values, const uint64_t *number, const char *off)
{
    struct strides s = {0};
    char seen[64] = "";
    for (size_t i = 0; i < strlen(off); i++) {
        unsigned wrong = values ? strides_judge(&s, PC, 7, number[i]) : strides_judge(&s, PC, number[i], 7);
        unsigned of_other = values ? EVENT_STRIDE_ADDR : EVENT_STRIDE_VALUE;
        seen[i] = wrong & ~of_other ? 'x' : '.';
        if (((wrong & of_other) != 0) != (i == 0))
            fail_msg("%s: the other predictor is disturbed by load %zu", what, i);
    }
    strides_free(&s);
    if (strcmp(seen, off) != 0)
        fail_msg("%s: %s instead of %s", what, seen, off);
}

static void sequences_are_predicted_by_the_rule(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        uint64_t number[12];
        const char *off;
    } rows[] = {
        {"the same again", {5, 5, 5, 5}, "x..."},
        {"zero, which a new entry does not expect", {0, 0, 0}, "x.."},
        {"a walk", {0, 8, 16, 24, 32, 40}, "xxx..."},
        {"a walk backwards", {80, 72, 64, 56, 48}, "xxx.."},
        {"a walk over the end of the address space", {UINT64_MAX - 7, UINT64_MAX - 3, 0, 4, 8}, "xxx.."},
        {"a jump, from which the old stride goes on", {0, 8, 16, 24, 1000, 1008, 1016}, "xxx.x.."},
        {"a new stride, seen twice before it counts", {0, 8, 16, 24, 40, 56, 72, 88}, "xxx.xx.."},
        {"a new stride that is not seen in a row", {0, 8, 16, 24, 40, 48, 64, 72, 88}, "xxx.x.x.x"},
        {"two new strides by turns", {0, 8, 16, 24, 40, 44, 60, 64, 80}, "xxx.xxxxx"},
        {"a jump between two sights of a new stride", {0, 8, 16, 24, 40, 900, 916, 932, 948}, "xxx.xxxx."},
        {"a loop that starts over", {0, 8, 16, 24, 0, 8, 16, 24, 0, 8}, "xxx.x...x."},
        {"no order at all", {3, 90, 4, 1, 55, 9, 26}, "xxxxxxx"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        expect(rows[i].what, false, rows[i].number, rows[i].off);
        expect(rows[i].what, true, rows[i].number, rows[i].off);
    }
}

/* Each has an entry of its own however many there are: none is ever driven out. */
static void instructions_do_not_disturb_each_other(void **state)
{
    (void)state;
    enum { LOADS = 20000, ROUNDS = 6 };
    struct strides s = {0};
    for (uint64_t round = 0; round < ROUNDS; round++)
        for (uint64_t i = 0; i < LOADS; i++) {
            unsigned wrong = strides_judge(&s, PC + 2 * i, i * 1000 + round * (i + 1), i);
            unsigned want = (round < 3 ? EVENT_STRIDE_ADDR : 0) | (round < 1 ? EVENT_STRIDE_VALUE : 0);
            if (wrong != want)
                fail_msg("load %u of round %u: %#x instead of %#x", (unsigned)i, (unsigned)round, wrong, want);
        }
    assert_int_equal(s.count, LOADS);
    strides_free(&s);
    assert_int_equal(strides_judge(&s, PC, 0, 0), EVENT_STRIDE_ADDR | EVENT_STRIDE_VALUE);
    strides_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequences_are_predicted_by_the_rule),
        cmocka_unit_test(instructions_do_not_disturb_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
