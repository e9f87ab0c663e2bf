/* Targets: the BTB, the return stack, the table of indirect targets; and which configurations are refused. */
#include "branch_fixture.h"

static void direct_branches_the_btb_does_not_know_are_misfetched(void **state)
{
    (void)state;
    struct branch_config c = config_of("static");
    struct branch_unit *b = unit_of(&c);
    static const enum branch_kind kinds[] = {BRANCH_CONDITIONAL, BRANCH_JUMP, BRANCH_CALL};
    for (unsigned i = 0; i < 3; i++) {
        uint64_t pc = 0x1000 + 0x100 * i;
        struct branch_record r = run(b, kinds[i], pc, true, 0xf00);
        assert_true(r.taken && r.misfetch && r.has_target);
        assert_int_equal(r.next, 0xf00);
        r = run(b, kinds[i], pc, true, 0xf00);
        assert_true(r.taken && !r.misfetch && r.has_target);
        assert_int_equal(r.next, 0xf00);
        r = run(b, kinds[i], pc, true, 0xe00); /* the code has changed */
        assert_true(r.misfetch);
        assert_int_equal(r.next, 0xe00);
    }
    struct branch_record r = run(b, BRANCH_CONDITIONAL, 0x2000, false, 0x2100); /* forward: not taken */
    assert_true(!r.taken && !r.misfetch && r.has_target);
    assert_int_equal(r.next, 0x2004);
    branch_free(b);
}

static void branches_not_taken_do_not_enter_the_btb(void **state)
{
    (void)state;
    struct branch_config c = config_of("static");
    struct branch_unit *b = unit_of(&c);
    run(b, BRANCH_CONDITIONAL, 0x1000, false, 0xf00);
    assert_true(run(b, BRANCH_CONDITIONAL, 0x1000, false, 0xf00).misfetch);
    branch_free(b);
}

static void without_a_btb_direct_targets_are_known(void **state)
{
    (void)state;
    struct branch_config c = config_of("static");
    c.btb_entries = 0;
    struct branch_unit *b = unit_of(&c);
    assert_false(run(b, BRANCH_JUMP, 0x1000, true, 0x2000).misfetch);
    assert_false(run(b, BRANCH_CONDITIONAL, 0x1000, true, 0x800).misfetch);
    c.indirect_bits = 0;
    branch_free(b);
    b = unit_of(&c);
    for (int i = 0; i < 3; i++) {
        struct branch_record r = run(b, BRANCH_INDIRECT, 0x3000, true, 0x4000);
        assert_true(r.taken && !r.has_target && !r.misfetch);
        assert_int_equal(r.next, 0x3004);
    }
    branch_free(b);
}

static bool known(struct branch_unit *b, uint64_t pc)
{
    return !predict(b, BRANCH_JUMP, pc, 0x9000).misfetch;
}

static void the_btb_holds_as_many_as_it_has_entries(void **state)
{
    (void)state;
    struct branch_config c = config_of("static");
    c.btb_entries = 64;
    c.btb_ways = 4;
    struct branch_unit *b = unit_of(&c);
    for (unsigned i = 0; i < 64; i++)
        run(b, BRANCH_JUMP, 0x1000 + 2 * i, true, 0x9000);
    for (unsigned i = 0; i < 64; i++)
        assert_true(known(b, 0x1000 + 2 * i));
    assert_false(known(b, 0x1000 + 2 * 64)); /* same set as 0x1000: tags are full addresses */
    branch_free(b);
}

static void the_btb_replaces_the_least_recently_retired(void **state)
{
    (void)state;
    struct branch_config c = config_of("static");
    c.btb_entries = 4;
    c.btb_ways = 4;
    struct branch_unit *b = unit_of(&c);
    for (uint64_t pc = 0x1000; pc < 0x1400; pc += 0x100)
        run(b, BRANCH_JUMP, pc, true, 0x9000);
    run(b, BRANCH_JUMP, 0x1000, true, 0x9000);
    assert_true(known(b, 0x1100)); /* a look is no use: it may come from a wrong path */
    run(b, BRANCH_JUMP, 0x1400, true, 0x9000);
    assert_false(known(b, 0x1100));
    assert_true(known(b, 0x1000) && known(b, 0x1200) && known(b, 0x1300) && known(b, 0x1400));
    branch_free(b);
}

static uint64_t call(struct branch_unit *b, uint64_t pc)
{
    return run(b, BRANCH_CALL, pc, true, 0x8000).fallthrough;
}

static void returns_go_where_calls_came_from(void **state)
{
    (void)state;
    struct branch_config c = config_of("bimodal");
    struct branch_unit *b = unit_of(&c);
    uint64_t first = call(b, 0x1000), second = call(b, 0x2000);
    uint64_t third = run(b, BRANCH_INDIRECT_CALL, 0x3000, true, 0x7000).fallthrough;
    assert_int_equal(run(b, BRANCH_RETURN, 0x7000, true, third).next, third);
    assert_int_equal(run(b, BRANCH_RETURN, 0x8000, true, second).next, second);
    uint64_t fourth = call(b, 0x4000);
    struct branch_record r = run(b, BRANCH_CORETURN, 0x8100, true, fourth);
    assert_int_equal(r.next, fourth);
    assert_int_equal(run(b, BRANCH_RETURN, 0x8000, true, r.fallthrough).next, r.fallthrough);
    assert_int_equal(run(b, BRANCH_RETURN, 0x8000, true, first).next, first);
    branch_free(b);
}

static void an_empty_return_stack_leaves_returns_to_the_btb(void **state)
{
    (void)state;
    struct branch_config c = config_of("bimodal");
    for (c.ras_entries = 0; c.ras_entries <= 4; c.ras_entries += 4) {
        struct branch_unit *b = unit_of(&c);
        assert_false(run(b, BRANCH_RETURN, 0x8000, true, 0x1004).has_target);
        struct branch_record r = run(b, BRANCH_RETURN, 0x8000, true, 0x1004);
        assert_true(r.has_target);
        assert_int_equal(r.next, 0x1004);
        call(b, 0x2000);
        assert_int_equal(predict(b, BRANCH_RETURN, 0x8000, 0).next, c.ras_entries ? 0x2004 : 0x1004);
        branch_free(b);
    }
}

static void a_full_return_stack_loses_its_oldest(void **state)
{
    (void)state;
    struct branch_config c = config_of("bimodal");
    c.ras_entries = 3; /* any number will do */
    c.btb_entries = c.indirect_bits = 0;
    struct branch_unit *b = unit_of(&c);
    for (unsigned i = 0; i < 5; i++)
        call(b, 0x1000 + 0x100 * i);
    for (unsigned i = 5; i-- > 2;) {
        uint64_t back = 0x1004 + 0x100 * i;
        assert_int_equal(run(b, BRANCH_RETURN, 0x8000, true, back).next, back);
    }
    assert_false(run(b, BRANCH_RETURN, 0x8000, true, 0x1104).has_target);
    branch_free(b);
}

static void recovery_repairs_the_return_stack(void **state)
{
    (void)state;
    struct branch_config c = config_of("static");
    struct branch_unit *b = unit_of(&c);
    uint64_t first = call(b, 0x1000), second = call(b, 0x2000), third = call(b, 0x3000);
    struct branch_record r = predict(b, BRANCH_CONDITIONAL, 0x4000, 0x4100);
    for (int i = 0; i < 3; i++) /* pops alone destroy nothing */
        predict(b, BRANCH_RETURN, 0x8000, 0);
    branch_recover(b, &r, true, 0x4100);
    r = predict(b, BRANCH_CONDITIONAL, 0x4000, 0x4100);
    predict(b, BRANCH_RETURN, 0x8000, 0); /* the top is overwritten, and what is above it */
    for (int i = 0; i < 5; i++)
        predict(b, BRANCH_CALL, 0x5000, 0x8000);
    branch_recover(b, &r, true, 0x4100);
    r = predict(b, BRANCH_RETURN, 0x8000, 0); /* a return that was not one to the top */
    assert_int_equal(r.next, third);
    branch_recover(b, &r, true, 0x6000);
    assert_int_equal(run(b, BRANCH_RETURN, 0x8000, true, second).next, second);
    assert_int_equal(run(b, BRANCH_RETURN, 0x8000, true, first).next, first);
    branch_free(b);
}

static void recovery_cannot_repair_below_the_top(void **state)
{
    (void)state;
    struct branch_config c = config_of("static");
    struct branch_unit *b = unit_of(&c);
    call(b, 0x1000);
    uint64_t second = call(b, 0x2000);
    struct branch_record r = predict(b, BRANCH_CONDITIONAL, 0x4000, 0x4100);
    predict(b, BRANCH_RETURN, 0x8000, 0);
    predict(b, BRANCH_RETURN, 0x8000, 0);
    predict(b, BRANCH_CALL, 0x5000, 0x8000);
    branch_recover(b, &r, true, 0x4100);
    assert_int_equal(run(b, BRANCH_RETURN, 0x8000, true, second).next, second);
    assert_int_equal(predict(b, BRANCH_RETURN, 0x8000, 0).next, 0x5004);
    branch_free(b);
}

/* A dispatch that goes round targets in an order in which each but one tells the next: A B A C. */
static unsigned dispatch_misses(const struct branch_config *c)
{
    static const uint64_t targets[] = {0xa000, 0xb000, 0xa000, 0xc000};
    struct branch_unit *b = unit_of(c);
    unsigned misses = 0;
    for (unsigned i = 0; i < 1000; i++) {
        struct branch_record r = run(b, BRANCH_INDIRECT, 0x1000, true, targets[i % 4]);
        misses += r.next != targets[i % 4] && i >= 100;
        assert_true(r.has_target || i < 4);
    }
    branch_free(b);
    return misses;
}

static void the_indirect_table_learns_targets_by_path(void **state)
{
    (void)state;
    struct branch_config c = config_of("static");
    assert_int_equal(dispatch_misses(&c), 0);
    c.indirect_bits = 0;
    assert_int_equal(dispatch_misses(&c), 900); /* the last target is never the next */
    c.indirect_bits = 9;
    c.btb_entries = 0;
    struct branch_unit *b = unit_of(&c);
    for (int i = 0; i < 8; i++)
        run(b, BRANCH_INDIRECT_CALL, 0x1000, true, 0x5000);
    assert_int_equal(predict(b, BRANCH_INDIRECT_CALL, 0x1000, 0).next, 0x5000);
    branch_free(b);
}

static void jumps_of_one_target_stay_out_of_the_indirect_table(void **state)
{
    (void)state;
    struct branch_config c = config_of("static");
    c.indirect_bits = 6; /* less than the 128 pairs of path and jump behind the dispatch */
    struct branch_unit *b = unit_of(&c);
    static const uint64_t targets[] = {0xa000, 0xb000, 0xa000, 0xc000};
    unsigned misses = 0;
    for (unsigned i = 0; i < 4000; i++) {
        misses += run(b, BRANCH_INDIRECT, 0x1000, true, targets[i % 4]).next != targets[i % 4] && i >= 1000;
        for (uint64_t pc = 0x2000; pc < 0x2100; pc += 8)
            misses += run(b, BRANCH_RETURN, pc, true, 0x3000).next != 0x3000 && i >= 1000;
    }
    assert_int_equal(misses, 0);
    branch_free(b);
}

static void one_odd_target_does_not_replace_a_trusted_one(void **state)
{
    (void)state;
    struct branch_config c = config_of("static");
    c.btb_entries = 0;
    struct branch_unit *b = unit_of(&c);
    for (int i = 0; i < 10; i++)
        run(b, BRANCH_INDIRECT, 0x1000, true, 0x5000);
    run(b, BRANCH_INDIRECT, 0x1000, true, 0x6000);
    for (int i = 0; i < 4; i++) /* until the path is as it was */
        run(b, BRANCH_INDIRECT, 0x7000, true, 0x5000);
    assert_int_equal(predict(b, BRANCH_INDIRECT, 0x1000, 0).next, 0x5000);
    branch_free(b);
}

static void refused(struct branch_config c, const char *word)
{
    struct error err = {""};
    assert_null(branch_new(&c, &err));
    if (!strstr(err.text, word))
        fail_msg("\"%s\" does not name %s", err.text, word);
}

#define REFUSED(field, value)                                                                                          \
    do {                                                                                                               \
        struct branch_config bad = config_of("hybrid");                                                                \
        bad.field = value;                                                                                             \
        refused(bad, #field);                                                                                          \
    } while (0)

static void impossible_configurations_are_refused(void **state)
{
    (void)state;
    REFUSED(btb_entries, 12);   /* three sets */
    REFUSED(btb_entries, 2);    /* less than a set */
    REFUSED(btb_entries, 2050); /* not all sets full */
    REFUSED(btb_ways, 0);
    REFUSED(btb_ways, 3);
    REFUSED(ras_entries, 257);
    REFUSED(bimodal_bits, 0);
    REFUSED(gshare_bits, 40);
    REFUSED(history_bits, 13);
    REFUSED(tage_tables, 0);
    REFUSED(tage_tables, 16);
    REFUSED(tage_max_history, 10);
    REFUSED(tage_max_history, 1001);
    REFUSED(indirect_bits, 64);
    struct branch_config c = config_of("static");
    c.direction = 1000;
    refused(c, "1000");
    branch_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(direct_branches_the_btb_does_not_know_are_misfetched),
        cmocka_unit_test(branches_not_taken_do_not_enter_the_btb),
        cmocka_unit_test(without_a_btb_direct_targets_are_known),
        cmocka_unit_test(the_btb_holds_as_many_as_it_has_entries),
        cmocka_unit_test(the_btb_replaces_the_least_recently_retired),
        cmocka_unit_test(returns_go_where_calls_came_from),
        cmocka_unit_test(an_empty_return_stack_leaves_returns_to_the_btb),
        cmocka_unit_test(a_full_return_stack_loses_its_oldest),
        cmocka_unit_test(recovery_repairs_the_return_stack),
        cmocka_unit_test(recovery_cannot_repair_below_the_top),
        cmocka_unit_test(the_indirect_table_learns_targets_by_path),
        cmocka_unit_test(jumps_of_one_target_stay_out_of_the_indirect_table),
        cmocka_unit_test(one_odd_target_does_not_replace_a_trusted_one),
        cmocka_unit_test(impossible_configurations_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
