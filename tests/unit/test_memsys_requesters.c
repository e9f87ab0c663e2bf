/* Counts of a cache by requester, and of evicted lines by their state. One fact per test. */
#include "memsys_world.h"

static void test_stores_are_counted_apart_from_loads(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    struct memsys *m = build(&config);
    load(m, 0, 0);      /* misses both levels */
    store(m, 4, 50);    /* merges with it */
    store(m, 8, 1000);  /* hits */
    store(m, 32, 2000); /* misses; the second level has the line */
    load(m, 36, 3000);  /* hits what the store brought */
    const struct memsys_counts *n = memsys_counts(m);
    assert_int_equal(n->l1d.accesses[0], 5);
    assert_int_equal(n->l1d.store_accesses, 3);
    assert_int_equal(n->l1d.misses[0], 3);
    assert_int_equal(n->l1d.store_misses, 2);
    assert_int_equal(n->l2d.accesses[0], 2);
    assert_int_equal(n->l2d.store_accesses, 1);
    assert_int_equal(n->l2d.store_misses, 0);
    memsys_free(m);
}

static void test_stores_in_two_lines_are_two_accesses(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    struct memsys *m = build(&config);
    memsys_store(m, 28, 8, 0, 0);
    assert_int_equal(memsys_counts(m)->l1d.store_accesses, 2);
    assert_int_equal(memsys_counts(m)->l1d.store_misses, 2);
    assert_int_equal(memsys_counts(m)->l2d.store_accesses, 2);
    memsys_free(m);
}

static void test_stores_that_are_passed_on_are_stores_below(void **state)
{
    (void)state;
    for (unsigned through = 0; through < 2; through++) {
        struct memsys_config config = small_config();
        config.l1d.allocate_on_store = false;
        config.l1d.write = through ? WRITE_THROUGH : WRITE_BACK;
        struct memsys *m = build(&config);
        store(m, 0, 0);    /* no cache has it */
        load(m, 0, 1000);  /* now both have */
        store(m, 0, 2000); /* a hit, which is written through or not */
        const struct memsys_counts *n = memsys_counts(m);
        assert_int_equal(n->l1d.store_accesses, 2);
        assert_int_equal(n->l1d.store_misses, 1);
        assert_int_equal(n->l2d.store_accesses, 1 + through);
        assert_int_equal(n->l2d.store_misses, 1);
        memsys_free(m);
    }
}

static void test_perfect_caches_count_stores_as_well(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    config.perfect_l1d = true;
    struct memsys *m = build(&config);
    store(m, 0, 0);
    load(m, 0, 1);
    assert_int_equal(memsys_counts(m)->l1d.store_accesses, 1);
    assert_int_equal(memsys_counts(m)->l1d.store_misses, 0);
    memsys_free(m);
}

static void test_prefetches_are_counted_apart_from_demand(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    config.l1d.prefetch = NEXT_LINE;
    config.l1d.prefetch_degree = 1;
    struct memsys *m = build(&config);
    load(m, 64, 0);                        /* 96 is in the same line of the second level: on the way, a miss as well */
    memsys_load(m, 192, 4, 0, 1000, true); /* on the wrong path, and so is the prefetch of 224 */
    load(m, 32, 2000);                     /* and nothing: 64 is there */
    load(m, 352, 3000);                    /* and 384, of another line */
    const struct memsys_counts *n = memsys_counts(m);
    assert_int_equal(n->l1d.prefetches, 3);
    assert_int_equal(n->l1d.prefetch_accesses[0], 0);
    assert_int_equal(n->l2d.accesses[0], 4);
    assert_int_equal(n->l2d.prefetch_accesses[0], 3);
    assert_int_equal(n->l2d.prefetch_accesses[1], 1);
    assert_int_equal(n->l2d.prefetch_misses[0], 3);
    assert_int_equal(n->l2d.prefetch_misses[1], 1);
    memsys_free(m);
}

static void test_prefetch_that_the_next_level_has_is_no_miss_there(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    config.l1i.prefetch = NEXT_LINE;
    config.l1i.prefetch_degree = 1;
    struct memsys *m = build(&config);
    load(m, 64, 0); /* into the second level */
    memsys_fetch(m, 32, 1000, false);
    assert_int_equal(memsys_counts(m)->l2i.prefetch_accesses[0], 1);
    assert_int_equal(memsys_counts(m)->l2i.prefetch_misses[0], 0);
    memsys_free(m);
}

static void test_prefetches_of_stores_are_no_stores(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    config.l1d.prefetch = NEXT_LINE;
    config.l1d.prefetch_degree = 1;
    struct memsys *m = build(&config);
    store(m, 32, 0); /* and 64 */
    assert_int_equal(memsys_counts(m)->l2d.store_accesses, 1);
    assert_int_equal(memsys_counts(m)->l2d.prefetch_accesses[0], 1);
    memsys_free(m);
}

static void test_lines_leave_clean_or_dirty(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    struct memsys *m = build(&config);
    store(m, 0, 0);
    for (unsigned i = 1; i <= 3; i++)
        load(m, 256 * i, 1000 * i); /* the set is full, and nothing had to leave */
    assert_int_equal(memsys_counts(m)->l1d.clean_evictions + memsys_counts(m)->l1d.writebacks, 0);
    load(m, 256 * 4, 4000); /* in the place of 0 */
    assert_int_equal(memsys_counts(m)->l1d.clean_evictions, 0);
    assert_int_equal(memsys_counts(m)->l1d.writebacks, 1);
    load(m, 256 * 5, 5000); /* in the place of 256 */
    assert_int_equal(memsys_counts(m)->l1d.clean_evictions, 1);
    assert_int_equal(memsys_counts(m)->l1d.writebacks, 1);
    memsys_free(m);
}

/* Of a shared level, by what took the line's place. */
static void test_evictions_are_of_the_side_that_displaces(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    struct memsys *m = build(&config);
    for (unsigned i = 0; i < 8; i++)
        load(m, 2048 * i, 1000 * i); /* one set of the second level */
    memsys_fetch(m, 2048 * 8, 8000, false);
    assert_int_equal(memsys_counts(m)->l2i.clean_evictions, 1);
    assert_int_equal(memsys_counts(m)->l2d.clean_evictions, 0);
    memsys_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stores_are_counted_apart_from_loads),
        cmocka_unit_test(test_stores_in_two_lines_are_two_accesses),
        cmocka_unit_test(test_stores_that_are_passed_on_are_stores_below),
        cmocka_unit_test(test_perfect_caches_count_stores_as_well),
        cmocka_unit_test(test_prefetches_are_counted_apart_from_demand),
        cmocka_unit_test(test_prefetch_that_the_next_level_has_is_no_miss_there),
        cmocka_unit_test(test_prefetches_of_stores_are_no_stores),
        cmocka_unit_test(test_lines_leave_clean_or_dirty),
        cmocka_unit_test(test_evictions_are_of_the_side_that_displaces),
    };
    return cmocka_run_group_tests_name("memsys requesters", tests, NULL, NULL);
}
