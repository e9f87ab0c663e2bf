/* The search for groups: random problems against a search of everything, and hard ones against the clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/random.h"
#include "sampler/plan_groups.h"

enum { MOST = 256 };

struct problem {
    struct grouping g;
    uint32_t first[MOST + 1], can[MOST], share[MOST], group[MOST];
};

static unsigned below(struct random *random, unsigned limit)
{
    return (unsigned)((random_u64(random) >> 32) * limit >> 32);
}

static void begin(struct problem *p, uint32_t clock)
{
    memset(p, 0, sizeof *p);
    p->g = (struct grouping){.first = p->first,
                             .can = p->can,
                             .share = p->share,
                             .clock = clock,
                             .budget = GROUPING_BUDGET,
                             .group = p->group};
}

static void add_party(struct problem *p, const uint32_t *can, uint32_t count)
{
    uint32_t end = p->first[p->g.parties];
    memcpy(p->can + end, can, count * sizeof *can);
    p->share[p->g.parties++] = 1;
    p->first[p->g.parties] = end + count;
}

/* ---- a search of everything, which shares no code with the other */

/* Whether what is left of a list finds counters that are not taken. */
static bool all_find(const uint32_t *can, size_t count, uint32_t taken)
{
    if (count == 0)
        return true;
    for (unsigned k = 0; k < 32; k++)
        if (*can >> k & 1 && !(taken >> k & 1) && all_find(can + 1, count - 1, taken | UINT32_C(1) << k))
            return true;
    return false;
}

static bool group_works(const struct grouping *g, const uint32_t *group, uint32_t which)
{
    uint32_t list[MOST], count = 0;
    list[count++] = g->clock;
    for (uint32_t p = 0; p < g->parties; p++)
        for (uint32_t i = g->first[p]; group[p] == which && i < g->first[p + 1]; i++)
            list[count++] = g->can[i];
    return count <= 32 && all_find(list, count, 0);
}

static unsigned long squares(const struct grouping *g, const uint32_t *group, uint32_t groups)
{
    unsigned long size[MOST] = {0}, sum = 0;
    for (uint32_t p = 0; p < g->parties; p++)
        size[group[p]] += g->first[p + 1] - g->first[p];
    for (uint32_t i = 0; i < groups; i++)
        sum += size[i] * size[i];
    return sum;
}

struct best {
    uint32_t groups;       /* fewest */
    unsigned long squares; /* least sum of squared sizes with this number of groups */
};

/* All partitions of the parties from `party` on, by giving each one of the groups so far or a new one. */
static void try_all(const struct grouping *g, uint32_t *group, uint32_t party, uint32_t groups, struct best *best)
{
    if (party == g->parties) {
        unsigned long sum = squares(g, group, groups);
        if (groups < best->groups || sum < best->squares)
            *best = (struct best){groups, sum};
        return;
    }
    for (uint32_t i = 0; i <= groups && i < best->groups; i++) {
        group[party] = i;
        if (group_works(g, group, i))
            try_all(g, group, party + 1, groups + (i == groups), best);
    }
    group[party] = UINT32_MAX;
}

static struct best search_all(const struct grouping *g)
{
    uint32_t group[MOST];
    struct best best = {g->parties, ~0ul};
    memset(group, 0xff, sizeof group);
    try_all(g, group, 0, 0, &best);
    return best;
}

/* ---- random problems */

static bool works_alone(const uint32_t *can, uint32_t count, uint32_t clock)
{
    uint32_t list[33] = {clock};
    memcpy(list + 1, can, count * sizeof *can);
    return all_find(list, count + 1, 0);
}

/* Counters of which some are many events' only ones. */
static uint32_t any_counters(struct random *random, unsigned counters, unsigned kind)
{
    uint32_t all = (UINT32_C(1) << counters) - 1, can = 0;
    if (kind == 0 || below(random, 3) == 0)
        return all;
    while (can == 0)
        can = (uint32_t)random_u64(random) & all & (kind == 1 ? all : (uint32_t)random_u64(random));
    return can;
}

static void make_random(struct problem *p, struct random *random, uint32_t parties, unsigned largest, unsigned counters,
                        unsigned kind)
{
    uint32_t can[32], clock = below(random, 2) ? (UINT32_C(1) << counters) - 1 : any_counters(random, counters, kind);
    begin(p, clock);
    while (p->g.parties < parties) {
        uint32_t count = 1 + below(random, largest);
        for (uint32_t i = 0; i < count; i++)
            can[i] = any_counters(random, counters, kind);
        if (works_alone(can, count, clock))
            add_party(p, can, count);
        else if (below(random, 50) == 0) /* a clock that leaves no room for anything would make this endless */
            begin(p, clock = (UINT32_C(1) << counters) - 1);
    }
}

static void expect_groups(const struct problem *p)
{
    const struct grouping *g = &p->g;
    uint32_t seen = 0;
    for (uint32_t i = 0; i < g->parties; i++) {
        assert_true(g->group[i] <= seen && g->group[i] < g->groups);
        seen += g->group[i] == seen;
    }
    assert_int_equal(seen, g->groups);
    for (uint32_t i = 0; i < g->groups; i++)
        assert_true(group_works(g, g->group, i));
}

static void no_plan_has_fewer_groups(void **state)
{
    (void)state;
    struct problem p;
    struct random random;
    random_seed(&random, 1);
    unsigned uneven = 0, rounds = 4000;
    for (unsigned round = 0; round < rounds; round++) {
        unsigned counters = 2 + below(&random, 5), largest = 1 + below(&random, counters - 1);
        make_random(&p, &random, 1 + below(&random, 8), largest, counters, below(&random, 3));
        assert_int_equal(grouping_find(&p.g), 0);
        assert_true(p.g.least);
        expect_groups(&p);
        struct best best = search_all(&p.g);
        if (p.g.groups != best.groups)
            fail_msg("round %u: %u groups instead of %u", round, p.g.groups, best.groups);
        unsigned long sum = squares(&p.g, p.group, p.g.groups);
        assert_true(sum >= best.squares);
        if (largest == 1)
            assert_int_equal(sum, best.squares);
        uneven += sum != best.squares;
    }
    assert_true(uneven < rounds / 50); /* parties are evened out by steps, which may end too early */
}

/* So that the search below knows parties that are alike, and groups that are. */
static void like_parties_are_no_trap(void **state)
{
    (void)state;
    struct problem p;
    struct random random;
    random_seed(&random, 2);
    for (unsigned round = 0; round < 2000; round++) {
        unsigned counters = 3 + below(&random, 4), kinds = 1 + below(&random, 3);
        uint32_t pool[3][3], size[3], clock = (UINT32_C(1) << counters) - 1;
        for (unsigned i = 0; i < kinds; i++)
            do {
                size[i] = 1 + below(&random, 3);
                for (unsigned j = 0; j < size[i]; j++)
                    pool[i][j] = any_counters(&random, counters, 2);
            } while (!works_alone(pool[i], size[i], clock));
        begin(&p, clock);
        for (unsigned i = 1 + below(&random, 8); i-- > 0;) {
            unsigned kind = below(&random, kinds);
            add_party(&p, pool[kind], size[kind]);
        }
        assert_int_equal(grouping_find(&p.g), 0);
        assert_true(p.g.least);
        expect_groups(&p);
        assert_int_equal(p.g.groups, search_all(&p.g).groups);
    }
}

static void shares_are_kept_together(void **state)
{
    (void)state;
    static const uint32_t any = 7;
    struct problem p;
    begin(&p, 7);
    for (unsigned i = 0; i < 6; i++) {
        add_party(&p, &any, 1);
        p.share[i] = i % 3 == 0 ? 5 : 1;
    }
    assert_int_equal(grouping_find(&p.g), 0);
    assert_int_equal(p.g.groups, 3);
    assert_int_equal(p.group[0], p.group[3]);
    assert_int_equal(squares(&p.g, p.group, 3), 12);
}

static void bounds_are_bounds(void **state)
{
    (void)state;
    struct problem p;
    struct random random;
    random_seed(&random, 3);
    for (unsigned round = 0; round < 1000; round++) {
        unsigned counters = 2 + below(&random, 5);
        make_random(&p, &random, 1 + below(&random, 7), 1 + below(&random, counters - 1), counters, below(&random, 3));
        uint32_t bound = grouping_bound(&p.g);
        assert_true(bound >= 1 && bound <= search_all(&p.g).groups);
    }
}

/* ---- hard problems */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Forty events on eight counters, in all kinds of parties; sanitizers take longer. */
static void forty_events_take_no_time(void **state)
{
    (void)state;
#ifdef CYCLESCOPE_SANITIZE
    const double most = 5;
#else
    const double most = 0.1;
#endif
    struct problem p;
    struct random random;
    random_seed(&random, 4);
    unsigned spent = 0;
    for (unsigned round = 0; round < 200; round++) {
        begin(&p, 255);
        while (p.first[p.g.parties] < 40) {
            uint32_t can[4], count = 1 + below(&random, 3);
            count = count < 40 - p.first[p.g.parties] ? count : 40 - p.first[p.g.parties];
            for (uint32_t i = 0; i < count; i++)
                can[i] = any_counters(&random, 8, 1 + round % 2);
            if (works_alone(can, count, 255))
                add_party(&p, can, count);
        }
        double before = seconds();
        assert_int_equal(grouping_find(&p.g), 0);
        double took = seconds() - before;
        if (took > most)
            fail_msg("round %u took %g s", round, took);
        expect_groups(&p);
        spent += !p.g.least;
    }
    assert_true(spent < 10);
}

/* Where the search is cut off it says so, and has groups all the same. */
static void a_spent_budget_is_told(void **state)
{
    (void)state;
    static const uint32_t any[] = {255, 255, 255};
    struct problem p;
    begin(&p, 255);
    for (unsigned i = 0; i < 6; i++)
        add_party(&p, any, i < 2 ? 3 : 2);
    p.g.budget = 1;
    assert_int_equal(grouping_find(&p.g), 0);
    expect_groups(&p);
    assert_int_equal(p.g.groups, 3); /* both of three in one, three of two, and one of two */
    assert_false(p.g.least);
    p.g.budget = GROUPING_BUDGET;
    assert_int_equal(grouping_find(&p.g), 0);
    expect_groups(&p);
    assert_int_equal(p.g.groups, 2);
    assert_true(p.g.least);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_plan_has_fewer_groups),  cmocka_unit_test(like_parties_are_no_trap),
        cmocka_unit_test(shares_are_kept_together),  cmocka_unit_test(bounds_are_bounds),
        cmocka_unit_test(forty_events_take_no_time), cmocka_unit_test(a_spent_budget_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
