/* TLBs: times, counts, replacement. */
#include "memsys_world.h"

enum { PAGE = 4096 };

#define TRANSLATES(answer, cycle, from)                                                                                \
    do {                                                                                                               \
        struct tlb_answer answer_ = (answer);                                                                          \
        assert_int_equal(answer_.ready, cycle);                                                                        \
        assert_int_equal(answer_.level, from);                                                                         \
    } while (0)

static struct tlb_answer data(struct memsys *m, uint64_t addr, uint64_t now)
{
    return memsys_translate_data(m, addr, now, false);
}

static struct memsys_config tlb_config(unsigned second_entries)
{
    struct memsys_config config = small_config();
    config.itlb = (struct tlb_config){.name = "itlb", .entries = 4, .ways = 2};
    config.dtlb = (struct tlb_config){.name = "dtlb", .entries = 4, .ways = 2};
    config.l2tlb = (struct tlb_config){.name = "l2tlb", .entries = second_entries, .ways = 4, .latency = 7};
    return config;
}

static void test_walk_then_hit(void **state)
{
    (void)state;
    struct memsys_config config = tlb_config(0);
    struct memsys *m = build(&config);
    TRANSLATES(data(m, 0, 100), 130, TLB_WALK); /* + 30 */
    TRANSLATES(data(m, PAGE - 1, 130), 130, TLB_L1);
    TRANSLATES(memsys_translate_fetch(m, 0, 200, false), 230, TLB_WALK); /* a TLB of its own */
    assert_int_equal(memsys_counts(m)->dtlb_misses[0], 1);
    assert_int_equal(memsys_counts(m)->dtlb_walks[0], 1);
    assert_int_equal(memsys_counts(m)->itlb_misses[0], 1);
    memsys_free(m);
}

static void test_second_level(void **state)
{
    (void)state;
    struct memsys_config config = tlb_config(16);
    struct memsys *m = build(&config);
    TRANSLATES(data(m, 0, 100), 137, TLB_WALK);                        /* + 7 + 30 */
    TRANSLATES(memsys_translate_fetch(m, 0, 200, false), 207, TLB_L2); /* + 7: it serves both */
    TRANSLATES(memsys_translate_fetch(m, 0, 300, false), 300, TLB_L1);
    assert_int_equal(memsys_counts(m)->itlb_misses[0], 1);
    assert_int_equal(memsys_counts(m)->itlb_walks[0], 0);
    memsys_free(m);
}

static void test_page_under_way_is_waited_for(void **state)
{
    (void)state;
    struct memsys_config config = tlb_config(16);
    struct memsys *m = build(&config);
    data(m, 0, 100);                            /* until 137 */
    TRANSLATES(data(m, 8, 110), 137, TLB_WALK); /* the last page */
    data(m, PAGE, 111);
    TRANSLATES(data(m, 8, 112), 137, TLB_WALK);                          /* not the last page */
    TRANSLATES(memsys_translate_fetch(m, 0, 120, false), 137, TLB_WALK); /* the second level has it under way */
    TRANSLATES(memsys_translate_fetch(m, 0, 136, false), 137, TLB_WALK); /* and now the first, too */
    TRANSLATES(data(m, 8, 137), 137, TLB_L1);
    assert_int_equal(memsys_counts(m)->dtlb_misses[0], 4);
    assert_int_equal(memsys_counts(m)->dtlb_walks[0], 2);
    assert_int_equal(memsys_counts(m)->itlb_misses[0], 2);
    assert_int_equal(memsys_counts(m)->itlb_walks[0], 0);
    memsys_free(m);
}

static void test_least_recently_used_page_leaves(void **state)
{
    (void)state;
    struct memsys_config config = tlb_config(0);
    struct memsys *m = build(&config);
    data(m, 0 * PAGE, 1000);
    data(m, 2 * PAGE, 2000); /* two sets: even pages share one */
    data(m, 1 * PAGE, 3000);
    data(m, 0 * PAGE, 4000);
    data(m, 4 * PAGE, 5000); /* displaces 2 */
    TRANSLATES(data(m, 0 * PAGE, 6000), 6000, TLB_L1);
    TRANSLATES(data(m, 1 * PAGE, 6001), 6001, TLB_L1);
    TRANSLATES(data(m, 2 * PAGE, 6002), 6032, TLB_WALK);
    memsys_free(m);
}

/* Many ways take another way of searching: against a list of the last pages. */
static void test_full_associativity(void **state)
{
    (void)state;
    enum { ENTRIES = 20 };
    struct memsys_config config = tlb_config(0);
    config.dtlb = (struct tlb_config){.name = "dtlb", .entries = ENTRIES, .ways = ENTRIES};
    struct memsys *m = build(&config);
    uint64_t recent[ENTRIES], now = 0;
    unsigned known = 0;
    struct random r;
    random_seed(&r, 7);
    for (unsigned n = 0; n < 20000; n++) {
        uint64_t page = random_u64(&r) % 30 * 64; /* pages that share a hint */
        unsigned at = 0;
        while (at < known && recent[at] != page)
            at++;
        TRANSLATES(data(m, page * PAGE, now += 100), at < known ? now : now + 30, at < known ? TLB_L1 : TLB_WALK);
        if (at == known && known < ENTRIES)
            known++;
        else if (at == known)
            at--;
        for (; at > 0; at--)
            recent[at] = recent[at - 1];
        recent[0] = page;
    }
    memsys_free(m);
}

static void test_absent_and_perfect_tlbs_take_no_time(void **state)
{
    (void)state;
    struct memsys_config config = tlb_config(16);
    config.itlb.entries = 0;
    config.perfect_dtlb = true;
    struct memsys *m = build(&config);
    for (uint64_t i = 0; i < 100; i++) {
        TRANSLATES(memsys_translate_fetch(m, i << 50, i, false), i, TLB_L1);
        TRANSLATES(data(m, ~(i << 50), i), i, TLB_L1); /* the upper half of the address space, too */
    }
    assert_int_equal(memsys_counts(m)->itlb_misses[0] + memsys_counts(m)->dtlb_misses[0], 0);
    memsys_free(m);
}

static void test_wrong_path_is_counted(void **state)
{
    (void)state;
    struct memsys_config config = tlb_config(0);
    struct memsys *m = build(&config);
    memsys_translate_data(m, 0, 0, true);
    data(m, PAGE, 0);
    memsys_translate_fetch(m, 0, 0, true);
    assert_int_equal(memsys_counts(m)->dtlb_misses[0], 2);
    assert_int_equal(memsys_counts(m)->dtlb_misses[1], 1);
    assert_int_equal(memsys_counts(m)->dtlb_walks[1], 1);
    assert_int_equal(memsys_counts(m)->itlb_walks[1], 1);
    memsys_free(m);
}

static void test_warm_pages_are_there(void **state)
{
    (void)state;
    struct memsys_config config = tlb_config(16);
    struct memsys *m = build(&config);
    data(m, 0, 1000); /* under way until 1037 */
    memsys_warm_data(m, 0, 4, 0, false);
    TRANSLATES(data(m, 0, 1001), 1001, TLB_L1);
    memsys_warm_fetch(m, 0);
    TRANSLATES(memsys_translate_fetch(m, 0, 1001, false), 1001, TLB_L1);
    for (unsigned i = 1; i <= 2; i++)
        memsys_warm_data(m, 2 * i * PAGE, 4, 0, false);
    TRANSLATES(data(m, 0, 1002), 1009, TLB_L2); /* displaced from the first level: + 7 */
    assert_int_equal(memsys_counts(m)->dtlb_misses[0], 2);
    memsys_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_walk_then_hit),
        cmocka_unit_test(test_second_level),
        cmocka_unit_test(test_page_under_way_is_waited_for),
        cmocka_unit_test(test_least_recently_used_page_leaves),
        cmocka_unit_test(test_full_associativity),
        cmocka_unit_test(test_absent_and_perfect_tlbs_take_no_time),
        cmocka_unit_test(test_wrong_path_is_counted),
        cmocka_unit_test(test_warm_pages_are_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
