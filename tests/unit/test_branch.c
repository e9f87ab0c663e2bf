/* Direction predictors: what each can learn and what it cannot. */
#include "base/random.h"
#include "branch_fixture.h"

static void every_row_has_a_name_of_its_own(void **state)
{
    (void)state;
    unsigned count = 0;
    for (; branch_directions[count]; count++) {
        assert_string_equal(branch_direction_name(count), branch_directions[count]->name);
        assert_int_equal(direction_row(branch_direction_name(count)), count);
        assert_true(strlen(branch_directions[count]->help) > 0);
    }
    assert_int_equal(count, 5);
    assert_null(branch_direction_name(count));
    assert_null(branch_direction_name(~0u));
}

static void static_takes_backward_branches(void **state)
{
    (void)state;
    struct branch_config c = config_of("static");
    struct branch_unit *b = unit_of(&c);
    for (int i = 0; i < 4; i++) {
        assert_true(run(b, BRANCH_CONDITIONAL, 0x1000, false, 0xf00).taken);
        assert_true(run(b, BRANCH_CONDITIONAL, 0x2000, false, 0x2000).taken);
        assert_false(run(b, BRANCH_CONDITIONAL, 0x3000, true, 0x3100).taken);
    }
    branch_free(b);
}

static void one_odd_outcome_does_not_turn_a_settled_branch(void **state)
{
    (void)state;
    struct branch_config c = config_of("bimodal");
    struct branch_unit *b = unit_of(&c);
    for (int i = 0; i < 4; i++)
        right(b, 0x1000, true);
    assert_false(right(b, 0x1000, false));
    assert_true(right(b, 0x1000, true));
    right(b, 0x1000, false);
    assert_false(right(b, 0x1000, false)); /* the second in a row: strong has become weak */
    assert_true(right(b, 0x1000, false));
    branch_free(b);
}

static void tables_learn_at_retirement_only(void **state)
{
    (void)state;
    for (unsigned row = 0; branch_direction_name(row); row++) {
        struct branch_config c = config_of(branch_direction_name(row));
        struct branch_unit *b = unit_of(&c);
        bool first = predict(b, BRANCH_CONDITIONAL, 0x1000, 0x1100).taken;
        for (int i = 0; i < 100; i++) {
            struct branch_record r = predict(b, BRANCH_CONDITIONAL, 0x1000, 0x1100);
            assert_int_equal(r.taken, first);
            branch_recover(b, &r, !first, 0x1100);
        }
        branch_free(b);
    }
}

/* A loop branch: taken but every period-th time. Mispredictions of 1000 after 4000 to learn from. */
static unsigned loop_misses(const struct branch_config *c, unsigned period)
{
    struct branch_unit *b = unit_of(c);
    unsigned misses = 0;
    for (unsigned i = 0; i < 5000; i++)
        misses += !right(b, 0x1000, i % period != 0) && i >= 4000;
    branch_free(b);
    return misses;
}

static void gshare_learns_periods_within_its_history(void **state)
{
    (void)state;
    struct branch_config gshare = config_of("gshare"), bimodal = config_of("bimodal");
    assert_int_equal(loop_misses(&gshare, 2), 0);
    assert_int_equal(loop_misses(&gshare, 5), 0);
    assert_int_equal(loop_misses(&gshare, 12), 0);
    assert_int_equal(loop_misses(&gshare, 20), 50);
    assert_true(loop_misses(&bimodal, 2) >= 500);
    assert_int_equal(loop_misses(&bimodal, 5), 200);
}

static void a_short_history_does_not_waste_the_table(void **state)
{
    (void)state;
    struct branch_config c = config_of("gshare");
    c.history_bits = 4;
    assert_int_equal(loop_misses(&c, 4), 0);
    assert_int_equal(loop_misses(&c, 8), 125);
    struct branch_unit *b = unit_of(&c); /* opposite neighbours: bits of the history must not hide those of the pc */
    unsigned misses = 0;
    for (unsigned i = 0; i < 2000; i++)
        for (unsigned k = 0; k < 16; k++)
            misses += !right(b, 0x1000 + 2 * k, (k * 7 + k / 3) & 1) && i > 100;
    assert_int_equal(misses, 0);
    branch_free(b);
}

/* A loop of the history's kind (odd and even passes differ) among strongly biased branches with noise in between, which
 * spoils global history for them. */
static unsigned mix_misses(const char *direction)
{
    struct branch_config c = config_of(direction);
    struct branch_unit *b = unit_of(&c);
    struct random random;
    random_seed(&random, 1);
    unsigned misses = 0;
    for (unsigned i = 0; i < 4000; i++) {
        unsigned wrong = 0;
        for (unsigned k = 0; k < 14; k++)
            wrong += !right(b, 0x1000 + 8 * (k % 2), k % 2 == 0 ? i % 2 : !(i % 2));
        for (unsigned k = 0; k < 24; k++)
            wrong += !right(b, 0x8000 + 4 * k, random_u64(&random) % 8 != 0);
        misses += i >= 500 ? wrong : 0;
    }
    branch_free(b);
    return misses;
}

static void hybrid_is_as_good_as_either_part(void **state)
{
    (void)state;
    unsigned bimodal = mix_misses("bimodal"), gshare = mix_misses("gshare"), hybrid = mix_misses("hybrid");
    assert_true(hybrid <= bimodal);
    assert_true(hybrid <= gshare);
}

static void tage_learns_periods_that_gshare_cannot(void **state)
{
    (void)state;
    struct branch_config gshare = config_of("gshare"), tage = config_of("tage");
    assert_int_equal(loop_misses(&gshare, 60), 17);
    for (unsigned period = 2; period <= 100; period++)
        if (loop_misses(&tage, period) > 0)
            fail_msg("a period of %u is not learned", period);
    assert_int_equal(loop_misses(&tage, 200), 5); /* beyond its longest history */
    tage.tage_max_history = 300;
    assert_int_equal(loop_misses(&tage, 200), 0);
}

static void tage_separates_branches_by_what_came_long_before(void **state)
{
    (void)state;
    /* A branch repeats the outcome of one that lies 40 loop passes back; that one is random. */
    struct branch_config c = config_of("tage");
    struct branch_unit *b = unit_of(&c);
    struct random random;
    random_seed(&random, 7);
    unsigned misses = 0;
    for (unsigned i = 0; i < 4000; i++) {
        bool way = random_u64(&random) & 1;
        right(b, 0x1000, way);
        for (unsigned k = 0; k < 40; k++)
            right(b, 0x1100, k != 39);
        misses += !right(b, 0x1200, way) && i >= 2000;
    }
    assert_true(misses < 20);
    branch_free(b);
}

/* What lies beyond the longest history has been cancelled in all folded histories, so the notes agree. */
static void tage_forgets_what_is_beyond_its_histories(void **state)
{
    (void)state;
    struct branch_config c = config_of("tage");
    c.tage_tables = 15;
    c.tage_max_history = 1000;
    struct branch_unit *b[2] = {unit_of(&c), unit_of(&c)};
    struct branch_record r[2];
    struct random random;
    random_seed(&random, 3);
    for (unsigned i = 0; i < 20000 + 1000; i++) {
        bool taken = random_u64(&random) & 1, other = i < 20000 ? random_u64(&random) & 1 : taken;
        for (unsigned k = 0; k < 2; k++) {
            r[k] = predict(b[k], BRANCH_CONDITIONAL, 0x1000, 0x1100);
            branch_recover(b[k], &r[k], k ? other : taken, 0x1100);
        }
    }
    for (unsigned k = 0; k < 2; k++)
        r[k] = predict(b[k], BRANCH_CONDITIONAL, 0x1000, 0x1100);
    assert_memory_equal(r[0].note, r[1].note, sizeof r[0].note);
    branch_free(b[0]);
    branch_free(b[1]);
}

/* Sizes at the ends of what is allowed. */
static void tage_works_at_every_size(void **state)
{
    (void)state;
    static const unsigned sizes[][5] = {/* tables, bits, tag bits, shortest, longest history */
                                        {1, 4, 4, 1, 1},        {1, 16, 12, 1000, 1000}, {15, 4, 4, 1, 15},
                                        {15, 10, 12, 64, 1000}, {15, 8, 12, 1, 1000},    {2, 5, 7, 7, 8}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct branch_config c = config_of("tage");
        c.tage_tables = sizes[i][0];
        c.tage_bits = sizes[i][1];
        c.tage_tag_bits = sizes[i][2];
        c.tage_min_history = sizes[i][3];
        c.tage_max_history = sizes[i][4];
        assert_true(loop_misses(&c, 1000) <= 2);
    }
}

/* Small tables under random branches, whose many contexts all ask for entries. */
static void entries_that_prove_useful_stay(void **state)
{
    (void)state;
    struct branch_config c = config_of("tage");
    c.tage_bits = 4;
    c.tage_tables = 4;
    struct branch_unit *b = unit_of(&c);
    struct random random;
    random_seed(&random, 1);
    unsigned misses = 0;
    for (unsigned i = 0; i < 20000; i++) {
        bool way = random_u64(&random) & 1;
        right(b, 0x1000, way);
        misses += !right(b, 0x1100, way) && i > 2000;
        for (unsigned k = 0; k < 4; k++)
            right(b, 0x2000 + 2 * (random_u64(&random) % 64), random_u64(&random) & 1);
        for (unsigned k = 0; k < 4; k++) /* the same past for the pair in the shortest history */
            right(b, 0x3000, true);
    }
    assert_true(misses < 50);
    branch_free(b);
}

/* Ever new random patterns, each passed three times. Mispredictions of the second and third pass. */
static unsigned pattern_misses(struct branch_unit *b, unsigned first, unsigned count)
{
    struct random random;
    unsigned misses = 0;
    for (unsigned pass = 3 * first; pass < 3 * (first + count); pass++) {
        random_seed(&random, pass / 3);
        for (unsigned i = 0; i < 60; i++)
            misses += !right(b, 0x1000, random_u64(&random) & 1) && pass % 3 > 0;
    }
    return misses;
}

/* Always to believe the alternate costs 24294 mispredictions of patterns, never to 26137 of noise. */
static void new_entries_are_believed_where_that_pays(void **state)
{
    (void)state;
    struct branch_config c = config_of("tage");
    struct branch_unit *b = unit_of(&c);
    unsigned patterns = pattern_misses(b, 0, 600), noise = 0; /* patterns: new entries know more */
    branch_free(b);
    b = unit_of(&c);
    struct random random;
    random_seed(&random, 1);
    for (unsigned i = 0; i < 200000; i++) /* noise: they know less */
        noise += !right(b, 0x2000 + 2 * (i % 16), random_u64(&random) % 10 != 0) && i > 2000;
    branch_free(b);
    assert_true(patterns < 21000);
    assert_true(noise < 22000);
}

static void useful_entries_give_way_in_the_end(void **state)
{
    (void)state;
    struct branch_config c = config_of("tage");
    struct branch_unit *b = unit_of(&c);
    pattern_misses(b, 0, 300);
    unsigned crowded = pattern_misses(b, 300, 30);
    for (unsigned i = 0; i < 1 << 20; i++)
        right(b, 0x8000, true);
    unsigned decayed = pattern_misses(b, 330, 30);
    assert_true(2 * decayed < crowded);
    branch_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_has_a_name_of_its_own),
        cmocka_unit_test(static_takes_backward_branches),
        cmocka_unit_test(one_odd_outcome_does_not_turn_a_settled_branch),
        cmocka_unit_test(tables_learn_at_retirement_only),
        cmocka_unit_test(gshare_learns_periods_within_its_history),
        cmocka_unit_test(a_short_history_does_not_waste_the_table),
        cmocka_unit_test(hybrid_is_as_good_as_either_part),
        cmocka_unit_test(tage_learns_periods_that_gshare_cannot),
        cmocka_unit_test(tage_separates_branches_by_what_came_long_before),
        cmocka_unit_test(tage_forgets_what_is_beyond_its_histories),
        cmocka_unit_test(tage_works_at_every_size),
        cmocka_unit_test(entries_that_prove_useful_stay),
        cmocka_unit_test(new_entries_are_believed_where_that_pays),
        cmocka_unit_test(useful_entries_give_way_in_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
