/* Stores and dirty lines in the memory hierarchy: write policies, allocation, victims. */
#include "memsys_world.h"

static void test_store_hit_frees_its_entry_in_the_next_cycle(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    struct memsys *m = build(&config);
    load(m, 0, 0);
    ANSWERS(store(m, 4, 1000), 1001, LEVEL_L1);
    assert_int_equal(memsys_counts(m)->l1d.accesses[0], 2);
    assert_int_equal(memsys_counts(m)->l2d.accesses[0], 1);
    assert_int_equal(memsys_counts(m)->bus_writes, 0);
    memsys_free(m);
}

static void test_store_miss_brings_the_line_in(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    struct memsys *m = build(&config);
    ANSWERS(store(m, 0, 0), 112, LEVEL_MEMORY);  /* 2 + 10 + 100, as a load */
    ANSWERS(store(m, 4, 50), 112, LEVEL_MEMORY); /* merged */
    ANSWERS(load(m, 8, 200), 202, LEVEL_L1);
    assert_int_equal(memsys_counts(m)->l1d.misses[0], 2);
    assert_int_equal(memsys_counts(m)->l1d.merges[0], 1);
    memsys_free(m);
}

static void test_store_miss_without_allocation_is_passed_on(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    config.l1d.allocate_on_store = false;
    config.l1d.mshrs = 1;
    config.bus_bytes = 4;
    struct memsys *m = build(&config);
    ANSWERS(memsys_store(m, 0, 8, 0, 0), 1, LEVEL_MEMORY); /* no cache has the line */
    assert_int_equal(memsys_counts(m)->bus_writes, 2);     /* 8 / 4 */
    assert_int_equal(memsys_counts(m)->bus_reads, 0);
    ANSWERS(load(m, 0, 10), 122, LEVEL_MEMORY); /* neither level took the line; the MSHR is taken until 122 */
    ANSWERS(store(m, 32, 20), 21, LEVEL_L2);    /* l2 has it on the way; no MSHR of l1d is needed */
    ANSWERS(store(m, 0, 200), 201, LEVEL_L1);   /* a hit still writes back */
    assert_int_equal(memsys_counts(m)->bus_writes, 2);
    assert_int_equal(memsys_counts(m)->l1d.misses[0], 3);
    assert_int_equal(memsys_counts(m)->l2d.accesses[0], 3);
    assert_int_equal(memsys_counts(m)->l2d.misses[0], 3);
    assert_int_equal(memsys_counts(m)->l2d.merges[0], 1);
    assert_int_equal(memsys_counts(m)->primary_d.l1[0], 3);
    assert_int_equal(memsys_counts(m)->primary_d.memory[0], 2); /* not the store to the line on its way */
    memsys_free(m);
}

static void test_store_that_was_passed_on_makes_the_line_dirty_there(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    config.l1d.allocate_on_store = false;
    struct memsys *m = build(&config);
    load(m, 0, 0);
    store(m, 32, 1000); /* the other half of l2's line */
    for (unsigned i = 1; i <= 8; i++)
        load(m, 2048 * i, 1000 + 1000 * i); /* displaces it */
    assert_int_equal(memsys_counts(m)->l1d.writebacks, 0);
    assert_int_equal(memsys_counts(m)->l2d.writebacks, 1);
    assert_int_equal(memsys_counts(m)->bus_writes, 8); /* 64 / 8 */
    memsys_free(m);
}

static void test_write_through_keeps_the_line_clean(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    config.l1d.write = WRITE_THROUGH;
    config.l1d.allocate_on_store = false;
    struct memsys *m = build(&config);
    load(m, 0, 0);
    ANSWERS(store(m, 0, 1000), 1001, LEVEL_L1);
    assert_int_equal(memsys_counts(m)->l2d.accesses[0], 2); /* the load's and the store's */
    assert_int_equal(memsys_counts(m)->bus_writes, 0);      /* l2 writes back */
    for (unsigned i = 1; i <= 4; i++)
        load(m, 256 * i, 1000 + 1000 * i); /* displaces it from l1d */
    assert_int_equal(memsys_counts(m)->l1d.writebacks, 0);
    memsys_free(m);
    config.l2.size_bytes = 0;
    m = build(&config);
    load(m, 0, 0);
    ANSWERS(store(m, 0, 1000), 1001, LEVEL_L1);
    assert_int_equal(memsys_counts(m)->bus_writes, 1); /* 4 bytes */
    memsys_free(m);
}

static void test_write_through_with_allocation(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    config.l1d.write = WRITE_THROUGH;
    config.l2.size_bytes = 0;
    struct memsys *m = build(&config);
    ANSWERS(store(m, 0, 0), 102, LEVEL_MEMORY); /* 2 + 100 */
    assert_int_equal(memsys_counts(m)->bus_reads, 4);
    assert_int_equal(memsys_counts(m)->bus_writes, 1);
    ANSWERS(load(m, 0, 200), 202, LEVEL_L1);
    memsys_free(m);
}

static void test_store_in_two_lines(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    config.l1d.allocate_on_store = false;
    struct memsys *m = build(&config);
    load(m, 0, 0);
    ANSWERS(memsys_store(m, 30, 8, 0, 1000), 1001, LEVEL_L2); /* 2 bytes hit, 6 are passed on */
    ANSWERS(memsys_store(m, 2046, 4, 0, 2000), 2001, LEVEL_MEMORY);
    assert_int_equal(memsys_counts(m)->bus_writes, 2); /* each part goes by itself */
    assert_int_equal(memsys_counts(m)->l1d.accesses[0], 5);
    memsys_free(m);
}

static void test_dirty_victim_goes_to_the_next_level(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    struct memsys *m = build(&config);
    store(m, 0, 0);
    for (unsigned i = 1; i <= 4; i++) /* the same set of l1d, other sets of l2 */
        ANSWERS(load(m, 256 * i, 1000 * i), 1000 * i + 112, LEVEL_MEMORY);
    assert_int_equal(memsys_counts(m)->l1d.writebacks, 1);
    assert_int_equal(memsys_counts(m)->l2d.accesses[0], 5); /* no access: victims do not count */
    assert_int_equal(memsys_counts(m)->bus_writes, 0);
    for (unsigned i = 1; i <= 8; i++) /* now from l2 to memory */
        load(m, 2048 * i, 10000 + 1000 * i);
    assert_int_equal(memsys_counts(m)->l2d.writebacks, 1);
    assert_int_equal(memsys_counts(m)->bus_writes, 8);
    memsys_free(m);
}

static void test_dirty_victim_takes_a_line_where_it_is_new(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    struct memsys *m = build(&config);
    store(m, 0, 0);
    for (uint64_t i = 1; i <= 8; i++) { /* 0 stays in l1d, being used, and leaves l2 */
        memsys_fetch(m, 2048 * i, 1000 * i, false);
        load(m, 0, 1000 * i + 500);
    }
    assert_int_equal(memsys_counts(m)->l2i.writebacks, 0); /* clean there */
    for (unsigned i = 1; i <= 4; i++)
        load(m, 256 * i, 20000 + 1000 * i);
    assert_int_equal(memsys_counts(m)->l1d.writebacks, 1);
    ANSWERS(load(m, 0, 30000), 30012, LEVEL_L2); /* 2 + 10 */
    assert_int_equal(memsys_counts(m)->bus_writes, 0);
    memsys_free(m);
}

static void test_dirty_victim_of_the_last_level_goes_over_the_bus(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    config.l2.size_bytes = 0;
    struct memsys *m = build(&config);
    store(m, 0, 0);
    for (unsigned i = 1; i <= 4; i++)
        load(m, 256 * i, 1000 * i);
    assert_int_equal(memsys_counts(m)->bus_writes, 4); /* 32 / 8 */
    assert_int_equal(memsys_counts(m)->bus_reads, 20); /* five lines */
    assert_int_equal(memsys_counts(m)->bus_transactions, 24);
    memsys_free(m);
}

static void test_victims_delay_only_through_bandwidth(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    config.l2.size_bytes = 0;
    config.memory_bytes_per_cycle = 4; /* a line takes 8 cycles */
    struct memsys *m = build(&config);
    for (unsigned i = 0; i < 4; i++)
        store(m, 256 * i, 1000 * i);
    ANSWERS(load(m, 1024, 5000), 5109, LEVEL_MEMORY); /* the bus at 5002: + 8 - 1 + 100; the victim follows */
    ANSWERS(load(m, 32, 5000), 5125, LEVEL_MEMORY);   /* line and victim before it, at 5018: + 8 - 1 + 100 */
    memsys_free(m);
}

static void test_single_writes_take_memory_for_a_time(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    config.l2.size_bytes = 0;
    config.l1d.allocate_on_store = false;
    config.memory_write_cycles = 20;
    struct memsys *m = build(&config);
    ANSWERS(memsys_store(m, 0, 8, 0, 0), 22, LEVEL_MEMORY);  /* 20 cycles of the bus from 2 on */
    ANSWERS(memsys_store(m, 64, 1, 0, 1), 42, LEVEL_MEMORY); /* then 20 more */
    ANSWERS(load(m, 128, 2), 104, LEVEL_MEMORY);             /* a line takes no cycles and does not wait */
    assert_int_equal(memsys_counts(m)->bus_busy_cycles, 40);
    memsys_free(m);
    config.memory_bytes_per_cycle = 4;
    m = build(&config);
    ANSWERS(memsys_store(m, 0, 8, 0, 0), 22, LEVEL_MEMORY);
    ANSWERS(load(m, 64, 0), 22 + 7 + 100, LEVEL_MEMORY); /* with limited bandwidth it waits */
    memsys_free(m);
    config.memory_write_cycles = 1;
    m = build(&config);
    ANSWERS(memsys_store(m, 0, 8, 0, 0), 4, LEVEL_MEMORY); /* its bytes take longer */
    memsys_free(m);
    config.memory_write_cycles = 20;
    config.memory_bytes_per_cycle = 0;
    config.l1d.write = WRITE_THROUGH;
    m = build(&config);
    ANSWERS(load(m, 0, 0), 102, LEVEL_MEMORY);
    ANSWERS(memsys_store(m, 0, 8, 0, 200), 222, LEVEL_L1); /* a hit waits for the write too */
    memsys_free(m);
}

static void test_stores_queue_for_the_bus(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    config.l2.size_bytes = 0;
    config.l1d.allocate_on_store = false;
    config.memory_bytes_per_cycle = 4;
    struct memsys *m = build(&config);
    ANSWERS(memsys_store(m, 0, 8, 0, 0), 1, LEVEL_MEMORY); /* 2 cycles of the bus from 2 on */
    ANSWERS(load(m, 64, 0), 111, LEVEL_MEMORY);            /* at 4: + 8 - 1 + 100 */
    assert_int_equal(memsys_counts(m)->bus_busy_cycles, 10);
    memsys_free(m);
    config.l2.size_bytes = 16384;
    m = build(&config);
    store(m, 0, 0);                             /* has passed l2 at 2 + 10: one cycle of the bus from 12 on */
    ANSWERS(load(m, 64, 0), 128, LEVEL_MEMORY); /* at 13: + 16 - 1 + 100 */
    memsys_free(m);
}

static void test_names_of_write_policies(void **state)
{
    (void)state;
    assert_string_equal(cache_write_name(WRITE_BACK), "back");
    assert_string_equal(cache_write_name(WRITE_THROUGH), "through");
    assert_null(cache_write_name(2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_store_hit_frees_its_entry_in_the_next_cycle),
        cmocka_unit_test(test_store_miss_brings_the_line_in),
        cmocka_unit_test(test_store_miss_without_allocation_is_passed_on),
        cmocka_unit_test(test_store_that_was_passed_on_makes_the_line_dirty_there),
        cmocka_unit_test(test_write_through_keeps_the_line_clean),
        cmocka_unit_test(test_write_through_with_allocation),
        cmocka_unit_test(test_store_in_two_lines),
        cmocka_unit_test(test_dirty_victim_goes_to_the_next_level),
        cmocka_unit_test(test_dirty_victim_takes_a_line_where_it_is_new),
        cmocka_unit_test(test_dirty_victim_of_the_last_level_goes_over_the_bus),
        cmocka_unit_test(test_victims_delay_only_through_bandwidth),
        cmocka_unit_test(test_single_writes_take_memory_for_a_time),
        cmocka_unit_test(test_stores_queue_for_the_bus),
        cmocka_unit_test(test_names_of_write_policies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
