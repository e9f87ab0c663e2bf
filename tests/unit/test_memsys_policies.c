/* Replacement policies and prefetchers. */
#include "memsys_world.h"

/* ---- replacement */

/* One set of `ways` lines of l1d, without levels below. */
static struct memsys_config one_set(unsigned ways, unsigned replacement)
{
    struct memsys_config config = small_config();
    config.l1d.ways = ways;
    config.l1d.size_bytes = 32 * ways;
    config.l1d.replacement = replacement;
    config.l2.size_bytes = 0;
    return config;
}

static void test_names(void **state)
{
    (void)state;
    const char *replacements[] = {"lru", "plru", "random"}, *prefetchers[] = {"none", "next_line", "stride"};
    for (unsigned i = 0; i < 3; i++) {
        assert_string_equal(cache_replacement_name(i), replacements[i]);
        assert_string_equal(cache_prefetcher_name(i), prefetchers[i]);
    }
    assert_null(cache_replacement_name(3));
    assert_null(cache_replacement_name(4));
    assert_null(cache_prefetcher_name(3));
    assert_null(cache_prefetcher_name(4));
}

static void test_empty_ways_fill_first(void **state)
{
    (void)state;
    for (unsigned policy = LRU; policy <= RANDOM; policy++) {
        struct memsys_config config = one_set(12, policy);
        struct memsys *m = build(&config);
        for (unsigned i = 0; i < 12; i++)
            load(m, 32 * i, 1000 * i);
        for (unsigned i = 0; i < 12; i++)
            ANSWERS(load(m, 32 * i, 20000), 20002, LEVEL_L1);
        memsys_free(m);
    }
}

static void test_lru_evicts_the_least_recently_used(void **state)
{
    (void)state;
    struct memsys_config config = one_set(3, LRU);
    struct memsys *m = build(&config);
    uint64_t now = 0;
    const unsigned uses[] = {0, 1, 2, 0, 1, 3}; /* 2 leaves */
    for (unsigned i = 0; i < 6; i++)
        load(m, 32 * uses[i], now += 1000);
    ANSWERS(load(m, 32 * 0, now += 1000), now + 2, LEVEL_L1);
    ANSWERS(load(m, 32 * 1, now += 1000), now + 2, LEVEL_L1);
    ANSWERS(load(m, 32 * 3, now += 1000), now + 2, LEVEL_L1);
    ANSWERS(load(m, 32 * 2, now += 1000), now + 102, LEVEL_MEMORY);
    memsys_free(m);
}

/* Ways 0 to 3 used in this order: the root points to the lower half, its node to way 0. After a use of 0 the root
 * points to the upper half, whose node points to 2: LRU would take 1. */
static void test_plru_follows_the_tree(void **state)
{
    (void)state;
    struct memsys_config config = one_set(4, PLRU);
    struct memsys *m = build(&config);
    uint64_t now = 0;
    const unsigned uses[] = {0, 1, 2, 3, 0, 4};
    for (unsigned i = 0; i < 6; i++)
        load(m, 32 * uses[i], now += 1000);
    ANSWERS(load(m, 32 * 1, now += 1000), now + 2, LEVEL_L1);
    ANSWERS(load(m, 32 * 2, now += 1000), now + 102, LEVEL_MEMORY);
    memsys_free(m);
}

static void test_plru_never_evicts_what_was_used_last(void **state)
{
    (void)state;
    const struct cache_replacement *plru = cache_replacements[PLRU];
    struct random r;
    random_seed(&r, 1);
    for (unsigned ways = 2; ways <= 64; ways++) {
        uint64_t set = 0, seen = 0;
        assert_true(plru->set_bytes(ways) <= sizeof set);
        for (unsigned i = 0; i < 20000; i++) {
            unsigned used = (unsigned)(random_u64(&r) % ways);
            plru->touch((uint8_t *)&set, ways, used);
            unsigned victim = plru->victim((uint8_t *)&set, ways, &r);
            assert_true(victim < ways);
            assert_int_not_equal(victim, used);
            seen |= UINT64_C(1) << victim;
        }
        assert_int_equal(__builtin_popcountll(seen), ways); /* and each has its turn */
    }
}

/* In a tree of 2^k ways, evicting and filling again goes through all ways before one is evicted twice. */
static void test_plru_of_a_power_of_two_is_fair(void **state)
{
    (void)state;
    const struct cache_replacement *plru = cache_replacements[PLRU];
    for (unsigned ways = 2; ways <= 64; ways *= 2) {
        uint64_t set = 0, seen = 0;
        for (unsigned i = 0; i < ways; i++) {
            unsigned victim = plru->victim((uint8_t *)&set, ways, NULL);
            assert_false(seen >> victim & 1);
            seen |= UINT64_C(1) << victim;
            plru->touch((uint8_t *)&set, ways, victim);
        }
    }
}

static uint64_t random_misses(uint64_t seed, uint64_t *pattern)
{
    struct memsys_config config = one_set(8, RANDOM);
    config.seed = seed;
    struct memsys *m = build(&config);
    struct random r;
    random_seed(&r, 3);
    *pattern = 0;
    for (uint64_t i = 0; i < 2000; i++)
        *pattern = *pattern * 31 + load(m, random_u64(&r) % 12 * 32, 1000 * i).level;
    uint64_t misses = memsys_counts(m)->l1d.misses[0];
    memsys_free(m);
    return misses;
}

static void test_random_depends_on_the_seed_only(void **state)
{
    (void)state;
    uint64_t a, b, c;
    uint64_t misses = random_misses(5, &a);
    assert_int_equal(random_misses(5, &b), misses);
    assert_int_equal(a, b);
    random_misses(6, &c);
    assert_int_not_equal(a, c);
    assert_in_range(misses, 2000 * 4 / 12 * 8 / 10, 2000 * 4 / 12 * 12 / 10); /* 4 of 12 lines are out at any time */
}

static void test_random_evicts_each_way_alike(void **state)
{
    (void)state;
    struct random r;
    random_seed(&r, 9);
    unsigned count[6] = {0};
    for (unsigned i = 0; i < 6000; i++)
        count[cache_replacements[RANDOM]->victim(NULL, 6, &r)]++;
    for (unsigned i = 0; i < 6; i++)
        assert_in_range(count[i], 850, 1150);
}

/* ---- prefetchers */

static struct memsys_config prefetching(unsigned prefetch, unsigned degree)
{
    struct memsys_config config = small_config();
    config.l1d.prefetch = prefetch;
    config.l1d.prefetch_degree = degree;
    return config;
}

static void test_next_line_comes_with_a_miss(void **state)
{
    (void)state;
    struct memsys_config config = prefetching(NEXT_LINE, 2);
    struct memsys *m = build(&config);
    load(m, 16, 0); /* asks for 32 and 64, too */
    struct mem_answer a = load(m, 32, 1000);
    ANSWERS(a, 1002, LEVEL_L1);
    assert_true(a.prefetched);
    a = load(m, 36, 1001);
    ANSWERS(a, 1003, LEVEL_L1);
    assert_false(a.prefetched); /* the second use */
    ANSWERS(load(m, 64, 2000), 2002, LEVEL_L1);
    ANSWERS(load(m, 96, 3000), 3002, LEVEL_L1); /* the first use of 32 asked for it */
    const struct memsys_counts *n = memsys_counts(m);
    assert_int_equal(n->l1d.misses[0], 1);
    assert_int_equal(n->l1d.prefetches, 5); /* 32, 64, then 96, 128, 160 as the stream goes on */
    assert_int_equal(n->l1d.useful_prefetches, 3);
    assert_int_equal(n->l2d.accesses[0], 1); /* prefetches are no demand below */
    assert_int_equal(n->l2d.prefetch_accesses[0], 5);
    assert_int_equal(n->l2d.prefetch_misses[0], 3); /* 32, whose line is on the way, 64 and 128 */
    memsys_free(m);
}

static void test_use_waits_for_a_prefetch_on_the_way(void **state)
{
    (void)state;
    struct memsys_config config = prefetching(NEXT_LINE, 1);
    struct memsys *m = build(&config);
    load(m, 32, 0); /* and 64, both from memory: 112 */
    struct mem_answer a = load(m, 64, 50);
    ANSWERS(a, 112, LEVEL_MEMORY);
    assert_true(a.merged);
    assert_true(a.prefetched);
    a = load(m, 64, 60);
    ANSWERS(a, 112, LEVEL_MEMORY);
    assert_false(a.prefetched);
    assert_int_equal(memsys_counts(m)->l1d.merges[0], 2);
    assert_int_equal(memsys_counts(m)->l1d.useful_prefetches, 1);
    memsys_free(m);
}

static void test_prefetch_without_a_free_mshr_is_dropped(void **state)
{
    (void)state;
    struct memsys_config config = prefetching(NEXT_LINE, 4);
    config.l1d.mshrs = 2;
    struct memsys *m = build(&config);
    load(m, 0, 0); /* takes one; 32 the other; 64, 96, 128 are dropped */
    assert_int_equal(memsys_counts(m)->l1d.prefetches, 1);
    assert_true(load(m, 256, 1).rejected); /* prefetches hold MSHRs */
    ANSWERS(load(m, 32, 200), 202, LEVEL_L1);
    memsys_free(m);
}

static void test_prefetch_of_instructions(void **state)
{
    (void)state;
    for (unsigned prefetch = NEXT_LINE; prefetch <= STRIDE; prefetch++) {
        struct memsys_config config = small_config();
        config.l1i.prefetch = prefetch;
        config.l1i.prefetch_degree = 1;
        struct memsys *m = build(&config);
        for (uint64_t i = 0; i < 20; i++)
            memsys_fetch(m, 32 * i, 1000 * i, false);
        /* next_line misses the first only; stride needs two steps to be sure, then the next miss */
        assert_int_equal(memsys_counts(m)->l1i.misses[0], prefetch == NEXT_LINE ? 1 : 3);
        memsys_free(m);
    }
}

static void test_stride_learns_from_two_equal_steps(void **state)
{
    (void)state;
    struct memsys_config config = prefetching(STRIDE, 2);
    struct memsys *m = build(&config);
    const struct memsys_counts *n = memsys_counts(m);
    load(m, 100 * 64, 0);
    load(m, 103 * 64, 1000);
    assert_int_equal(n->l1d.prefetches, 0);
    load(m, 106 * 64, 2000); /* the same step again: 109 and 112 */
    assert_int_equal(n->l1d.prefetches, 2);
    ANSWERS(load(m, 109 * 64, 3000), 3002, LEVEL_L1);
    ANSWERS(load(m, 112 * 64, 4000), 4002, LEVEL_L1);
    load(m, 50 * 64, 5000); /* another step: no longer sure */
    uint64_t before = n->l1d.prefetches;
    load(m, 49 * 64, 6000);
    assert_int_equal(n->l1d.prefetches, before);
    load(m, 48 * 64, 7000); /* downwards: 47, 46 */
    ANSWERS(load(m, 47 * 64, 8000), 8002, LEVEL_L1);
    memsys_free(m);
}

static void test_small_strides_go_line_by_line(void **state)
{
    (void)state;
    struct memsys_config config = prefetching(STRIDE, 1);
    struct memsys *m = build(&config);
    for (uint64_t i = 0; i < 32; i++) /* hits train it, too: the miss at 48 is its second step of 24 */
        load(m, 24 * i, 1000 * i);
    assert_int_equal(memsys_counts(m)->l1d.misses[0], 2); /* at 0 and 48; 80, 104, ... come in time */
    memsys_free(m);
}

static void test_same_address_again_keeps_the_stride(void **state)
{
    (void)state;
    struct memsys_config config = prefetching(STRIDE, 1);
    struct memsys *m = build(&config);
    for (uint64_t i = 0; i < 3; i++) {
        load(m, 128 * i, 1000 * i);
        load(m, 128 * i, 1000 * i + 500);
    }
    ANSWERS(load(m, 128 * 3, 5000), 5002, LEVEL_L1);
    memsys_free(m);
}

static void test_strides_of_instructions_are_separate(void **state)
{
    (void)state;
    struct memsys_config config = prefetching(STRIDE, 1);
    struct memsys *m = build(&config);
    for (uint64_t i = 0; i < 4; i++) {
        memsys_load(m, 0x10000 + 64 * i, 4, 0x1000, 1000 * i, false);
        memsys_load(m, 0x20000 - 128 * i, 4, 0x1004, 1000 * i + 500, false);
    }
    assert_int_equal(memsys_counts(m)->l1d.misses[0], 6); /* three each; the fourth comes in time */
    memsys_free(m);
}

static void test_second_level_prefetches_from_misses_of_the_first(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    config.l2.prefetch = NEXT_LINE;
    config.l2.prefetch_degree = 1;
    struct memsys *m = build(&config);
    load(m, 0, 0);
    ANSWERS(load(m, 8, 500), 502, LEVEL_L1); /* l2 does not see it */
    struct mem_answer a = load(m, 64, 1000);
    ANSWERS(a, 1012, LEVEL_L2);
    assert_true(a.prefetched);
    ANSWERS(load(m, 128, 2000), 2012, LEVEL_L2); /* the stream goes on */
    assert_int_equal(memsys_counts(m)->l2d.prefetches, 3);
    assert_int_equal(memsys_counts(m)->l2d.useful_prefetches, 2);
    assert_int_equal(memsys_counts(m)->l2d.misses[0], 1);
    memsys_free(m);
}

static void test_prefetch_of_the_first_level_is_no_use_at_the_second(void **state)
{
    (void)state;
    struct memsys_config config = prefetching(NEXT_LINE, 2);
    config.l2.prefetch = NEXT_LINE;
    config.l2.prefetch_degree = 1;
    struct memsys *m = build(&config);
    load(m, 0, 0); /* l2 asks for 64 before l1d asks for 32 and, in l2's 64, for 64 */
    assert_int_equal(memsys_counts(m)->l2d.prefetches, 1);
    assert_int_equal(memsys_counts(m)->l2d.useful_prefetches, 0);
    assert_true(memsys_fetch(m, 64, 1000, false).prefetched); /* the first demand at l2 */
    assert_int_equal(memsys_counts(m)->l2i.useful_prefetches, 1);
    memsys_free(m);
}

static void test_second_of_two_lines_may_be_the_prefetched_one(void **state)
{
    (void)state;
    struct memsys_config config = prefetching(NEXT_LINE, 1);
    struct memsys *m = build(&config);
    load(m, 0, 0); /* and 32 */
    struct mem_answer a = memsys_load(m, 28, 8, 0, 1000, false);
    ANSWERS(a, 1002, LEVEL_L1);
    assert_true(a.prefetched);
    memsys_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_empty_ways_fill_first),
        cmocka_unit_test(test_lru_evicts_the_least_recently_used),
        cmocka_unit_test(test_plru_follows_the_tree),
        cmocka_unit_test(test_plru_never_evicts_what_was_used_last),
        cmocka_unit_test(test_plru_of_a_power_of_two_is_fair),
        cmocka_unit_test(test_random_depends_on_the_seed_only),
        cmocka_unit_test(test_random_evicts_each_way_alike),
        cmocka_unit_test(test_next_line_comes_with_a_miss),
        cmocka_unit_test(test_use_waits_for_a_prefetch_on_the_way),
        cmocka_unit_test(test_prefetch_without_a_free_mshr_is_dropped),
        cmocka_unit_test(test_prefetch_of_instructions),
        cmocka_unit_test(test_stride_learns_from_two_equal_steps),
        cmocka_unit_test(test_small_strides_go_line_by_line),
        cmocka_unit_test(test_same_address_again_keeps_the_stride),
        cmocka_unit_test(test_strides_of_instructions_are_separate),
        cmocka_unit_test(test_prefetch_of_the_first_level_is_no_use_at_the_second),
        cmocka_unit_test(test_second_of_two_lines_may_be_the_prefetched_one),
        cmocka_unit_test(test_second_level_prefetches_from_misses_of_the_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
