/* The table of counts: names that scripts rely on, and which number each one is. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "report/counts.h"

static void names_are_unique_lower_case_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < count_row_count; i++) {
        assert_ptr_equal(count_find(count_rows[i].name), &count_rows[i]);
        assert_true(strlen(count_rows[i].help) > 0);
        for (const char *c = count_rows[i].name; *c; c++)
            assert_true(islower((unsigned char)*c) || isdigit((unsigned char)*c) || *c == '_');
    }
    assert_null(count_find("no_such_count"));
}

static uint64_t value(const struct simulation_counts *c, const char *name)
{
    const struct count_row *row = count_find(name);
    assert_non_null(row);
    return count_value(c, row);
}

static void plain_names_leave_the_wrong_path_out(void **state)
{
    (void)state;
    struct simulation_counts c = {0};
    c.core.l1d_misses = 5;
    c.memory.l1d.misses[0] = 40;
    c.memory.l1d.misses[1] = 10;
    c.memory.l1d.accesses[0] = 400;
    c.memory.l1d.accesses[1] = 100;
    c.memory.l3i.misses[0] = 9;
    c.memory.l3i.misses[1] = 2;
    c.memory.dtlb_misses[0] = 7;
    c.memory.bus_reads = 11;
    assert_int_equal(value(&c, "l1d_misses"), 5); /* instructions that retired */
    assert_int_equal(value(&c, "l1d_access_misses_spec"), 40);
    assert_int_equal(value(&c, "l1d_accesses"), 300);
    assert_int_equal(value(&c, "l1d_accesses_spec"), 400);
    assert_int_equal(value(&c, "l3i_access_misses"), 7);
    assert_int_equal(value(&c, "dtlb_access_misses_spec"), 7);
    assert_int_equal(value(&c, "bus_reads"), 11);
    assert_int_equal(value(&c, "l2d_accesses_spec"), 0);
}

/* Each number that is counted is reported: one that no row reads would be lost. */
static void every_number_has_a_row(void **state)
{
    (void)state;
    enum { NUMBERS = sizeof(struct simulation_counts) / sizeof(uint64_t) };
    bool seen[NUMBERS] = {false};
    for (size_t i = 0; i < count_row_count; i++) {
        seen[count_rows[i].offset / sizeof(uint64_t)] = true;
        if (count_rows[i].minus != NO_COUNT)
            seen[count_rows[i].minus / sizeof(uint64_t)] = true;
    }
    for (unsigned s = 0; s < STAGES; s++)
        for (unsigned i = 0; i < stage_rows[s].reasons; i++)
            seen[stage_rows[s].offset / sizeof(uint64_t) + i] = true;
    /* Of misses that count.def has by instruction, those of accesses on the wrong path have no name of their own. */
    const size_t unnamed[] = {offsetof(struct simulation_counts, memory.l1i.misses[1]),
                              offsetof(struct simulation_counts, memory.l1d.misses[1]),
                              offsetof(struct simulation_counts, memory.l2i.misses[1]),
                              offsetof(struct simulation_counts, memory.l2d.misses[1]),
                              offsetof(struct simulation_counts, memory.itlb_misses[1]),
                              offsetof(struct simulation_counts, memory.dtlb_misses[1])};
    for (unsigned i = 0; i < sizeof unnamed / sizeof unnamed[0]; i++)
        seen[unnamed[i] / sizeof(uint64_t)] = true;
    /* Stores do not ask for instructions, and no prefetcher stands before a first level. */
    const size_t never[] = {offsetof(struct simulation_counts, memory.l1i.store_accesses),
                            offsetof(struct simulation_counts, memory.l1i.store_misses),
                            offsetof(struct simulation_counts, memory.l2i.store_accesses),
                            offsetof(struct simulation_counts, memory.l2i.store_misses),
                            offsetof(struct simulation_counts, memory.l3i.store_accesses),
                            offsetof(struct simulation_counts, memory.l3i.store_misses),
                            offsetof(struct simulation_counts, memory.l1i.prefetch_accesses[0]),
                            offsetof(struct simulation_counts, memory.l1i.prefetch_accesses[1]),
                            offsetof(struct simulation_counts, memory.l1i.prefetch_misses[0]),
                            offsetof(struct simulation_counts, memory.l1i.prefetch_misses[1]),
                            offsetof(struct simulation_counts, memory.l1d.prefetch_accesses[0]),
                            offsetof(struct simulation_counts, memory.l1d.prefetch_accesses[1]),
                            offsetof(struct simulation_counts, memory.l1d.prefetch_misses[0]),
                            offsetof(struct simulation_counts, memory.l1d.prefetch_misses[1])};
    for (unsigned i = 0; i < sizeof never / sizeof never[0]; i++)
        seen[never[i] / sizeof(uint64_t)] = true;
    for (unsigned i = 0; i < NUMBERS; i++)
        if (!seen[i])
            fail_msg("number %u of struct simulation_counts has no row", i);
}

static void stages_name_each_reason_once(void **state)
{
    (void)state;
    struct simulation_counts c = {0};
    c.core.dispatch_stop[DISPATCH_ROB] = 3;
    c.core.head_wait[HEAD_STORES] = 4;
    assert_int_equal(stage_cycles(&c, &stage_rows[STAGE_ROW_DISPATCH], DISPATCH_ROB), 3);
    assert_int_equal(stage_cycles(&c, &stage_rows[STAGE_ROW_HEAD], HEAD_STORES), 4);
    for (unsigned s = 0; s < STAGES; s++) {
        for (unsigned i = 0; i < stage_rows[s].reasons; i++) {
            assert_non_null(stage_rows[s].reason[i].name);
            assert_non_null(stage_rows[s].reason[i].help);
            for (unsigned k = 0; k < i; k++)
                assert_string_not_equal(stage_rows[s].reason[i].name, stage_rows[s].reason[k].name);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_unique_lower_case_words),
        cmocka_unit_test(plain_names_leave_the_wrong_path_out),
        cmocka_unit_test(every_number_has_a_row),
        cmocka_unit_test(stages_name_each_reason_once),
    };
    return cmocka_run_group_tests_name("counts", tests, NULL, NULL);
}
