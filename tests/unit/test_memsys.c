/* Times and counts of the memory hierarchy: one fact per test. Where a cycle is expected, its sum is in a comment. */
#include "memsys_world.h"

/* ---- latencies */

static void test_latencies_add_up(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    struct memsys *m = build(&config);
    ANSWERS(load(m, 0, 1000), 1112, LEVEL_MEMORY);                   /* + 2 + 10 + 100 */
    ANSWERS(load(m, 28, 2000), 2002, LEVEL_L1);                      /* + 2 */
    ANSWERS(load(m, 32, 3000), 3012, LEVEL_L2);                      /* the other half of the line of l2: + 2 + 10 */
    ANSWERS(memsys_fetch(m, 4096, 4000, false), 4111, LEVEL_MEMORY); /* + 1 + 10 + 100 */
    ANSWERS(memsys_fetch(m, 4096, 5000, false), 5001, LEVEL_L1);     /* + 1 */
    ANSWERS(memsys_fetch(m, 0, 6000, false), 6011, LEVEL_L2);        /* + 1 + 10: l2 is shared */
    memsys_free(m);
}

static void test_third_level_adds_its_latency(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    config.l3.size_bytes = 65536;
    struct memsys *m = build(&config);
    ANSWERS(load(m, 0, 1000), 1142, LEVEL_MEMORY); /* + 2 + 10 + 30 + 100 */
    for (unsigned i = 1; i <= 8; i++)              /* l2: 32 sets, 2048 bytes apart: all in the set of 0 */
        load(m, i * 2048, 1000 + 1000 * i);
    ANSWERS(load(m, 0, 20000), 20042, LEVEL_L3); /* + 2 + 10 + 30 */
    memsys_free(m);
}

static void test_absent_levels_are_skipped(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    config.l2.size_bytes = 0;
    struct memsys *m = build(&config);
    ANSWERS(load(m, 0, 0), 102, LEVEL_MEMORY);        /* 2 + 100 */
    assert_int_equal(memsys_counts(m)->bus_reads, 4); /* a line of l1d: 32 / 8 */
    memsys_free(m);
    config.l3.size_bytes = 65536;
    m = build(&config);
    ANSWERS(load(m, 0, 0), 132, LEVEL_MEMORY); /* 2 + 30 + 100 */
    memsys_free(m);
    config.l1d.size_bytes = 0;
    m = build(&config);
    ANSWERS(load(m, 0, 0), 130, LEVEL_MEMORY);  /* 30 + 100 */
    ANSWERS(load(m, 0, 1000), 1030, LEVEL_L3);  /* + 30 */
    ANSWERS(store(m, 0, 2000), 2001, LEVEL_L3); /* passed on */
    assert_int_equal(memsys_counts(m)->l1d.accesses[0], 0);
    memsys_free(m);
}

/* ---- lines on the way */

static void test_later_access_waits_for_the_line(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    struct memsys *m = build(&config);
    load(m, 0, 0); /* arrives at 112 */
    struct mem_answer a = load(m, 4, 50);
    ANSWERS(a, 112, LEVEL_MEMORY);
    assert_true(a.merged);
    a = load(m, 8, 111);
    ANSWERS(a, 113, LEVEL_MEMORY); /* the line is there before the cache has answered: 111 + 2 */
    assert_true(a.merged);
    a = load(m, 12, 112);
    ANSWERS(a, 114, LEVEL_L1); /* 112 + 2 */
    assert_false(a.merged);
    assert_int_equal(memsys_counts(m)->l1d.accesses[0], 4);
    assert_int_equal(memsys_counts(m)->l1d.misses[0], 3);
    assert_int_equal(memsys_counts(m)->l1d.merges[0], 2);
    assert_int_equal(memsys_counts(m)->l2d.accesses[0], 1);
    memsys_free(m);
}

static void test_second_level_merges_too(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    struct memsys *m = build(&config);
    load(m, 0, 0); /* arrives at 112 */
    struct mem_answer a = load(m, 32, 20);
    ANSWERS(a, 112, LEVEL_MEMORY); /* another line of l1d, the same of l2 */
    assert_true(a.merged);
    ANSWERS(memsys_fetch(m, 0, 105, false), 116, LEVEL_MEMORY); /* at l2 at 106, under way; 106 + 10 */
    assert_int_equal(memsys_counts(m)->l1d.merges[0], 0);
    assert_int_equal(memsys_counts(m)->l2d.merges[0], 1);
    assert_int_equal(memsys_counts(m)->l2i.merges[0], 1);
    assert_int_equal(memsys_counts(m)->bus_reads, 8); /* one line: 64 / 8 */
    memsys_free(m);
}

static void test_full_mshrs_reject_and_leave_no_trace(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    config.l1d.mshrs = 2;
    config.l1d.ports = 1;
    struct memsys *m = build(&config);
    load(m, 0, 0);   /* until 112 */
    load(m, 64, 10); /* until 122 */
    struct memsys_counts before = *memsys_counts(m);
    struct mem_answer a = load(m, 128, 20);
    assert_true(a.rejected);
    assert_int_equal(a.ready, 112);
    a = store(m, 128, 21);
    assert_true(a.rejected);
    assert_int_equal(a.ready, 112);
    assert_true(memsys_data_port_free(m, 21));
    before.l1d.rejects += 2;
    assert_memory_equal(&before, memsys_counts(m), sizeof before);
    ANSWERS(load(m, 4, 22), 112, LEVEL_MEMORY);    /* a merge needs none */
    assert_true(load(m, 128, 111).rejected);       /* both still taken */
    ANSWERS(load(m, 128, 112), 224, LEVEL_MEMORY); /* 112 + 2 + 10 + 100 */
    memsys_free(m);
}

static void test_rejected_load_does_not_move_lru(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    config.l1d.size_bytes = 128; /* one set of 4 */
    config.l1d.mshrs = 1;
    struct memsys *m = build(&config);
    for (unsigned i = 0; i < 4; i++)
        load(m, 64 * i, 1000 * i); /* 0 is the oldest */
    load(m, 1024, 4000);           /* leaves 64, 128, 192, 1024; the MSHR is taken until 4112 */
    assert_true(memsys_load(m, 92, 8, 0, 4001, false).rejected); /* 64 is here, 96 is not */
    load(m, 2048, 5000);
    ANSWERS(load(m, 64, 6000), 6012, LEVEL_L2); /* 64 has left, being the oldest still: 2 + 10 */
    memsys_free(m);
}

static void test_fetch_waits_for_an_mshr(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    config.l1i.mshrs = 1;
    struct memsys *m = build(&config);
    ANSWERS(memsys_fetch(m, 0, 0, false), 111, LEVEL_MEMORY);   /* 1 + 10 + 100 */
    ANSWERS(memsys_fetch(m, 64, 5, false), 222, LEVEL_MEMORY);  /* begins at 111: + 1 + 10 + 100 */
    ANSWERS(memsys_fetch(m, 128, 6, false), 333, LEVEL_MEMORY); /* begins at 222 */
    ANSWERS(memsys_fetch(m, 64, 7, false), 222, LEVEL_MEMORY);  /* a merge waits for its line only */
    memsys_free(m);
}

static void test_second_level_waits_for_an_mshr(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    config.l2.mshrs = 1;
    struct memsys *m = build(&config);
    ANSWERS(load(m, 0, 0), 112, LEVEL_MEMORY);
    ANSWERS(load(m, 64, 0), 222, LEVEL_MEMORY); /* l2 takes it at 112: + 10 + 100 */
    ANSWERS(load(m, 32, 1), 112, LEVEL_MEMORY); /* the first line, on the way */
    memsys_free(m);
}

/* ---- ports */

static void test_ports_of_the_data_cache(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    config.l1d.ports = 2;
    struct memsys *m = build(&config);
    assert_true(memsys_data_port_free(m, 0));
    load(m, 0, 0);
    assert_true(memsys_data_port_free(m, 0));
    store(m, 4, 0);
    assert_false(memsys_data_port_free(m, 0));
    assert_true(memsys_data_port_free(m, 1));
    load(m, 0, 1000);
    memsys_load(m, 30, 4, 0, 1000, false); /* two lines, one port */
    assert_false(memsys_data_port_free(m, 1000));
    load(m, 0, 1001);
    assert_true(memsys_data_port_free(m, 1001));
    memsys_free(m);
    config.l1d.ports = 0;
    m = build(&config);
    for (unsigned i = 0; i < 100; i++)
        load(m, 0, 0);
    assert_true(memsys_data_port_free(m, 0));
    memsys_free(m);
}

static void test_ports_of_the_second_level(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    config.l2.ports = 1;
    struct memsys *m = build(&config);
    for (unsigned i = 0; i < 8; i++) { /* in l2; of each set of l1i and l1d the last ones only */
        memsys_warm_data(m, 1024 * i, 4, 0, false);
        memsys_warm_fetch(m, 1024 * i + 512);
    }
    ANSWERS(load(m, 0, 100), 112, LEVEL_L2);                   /* at l2 at 102: + 10 */
    ANSWERS(load(m, 1024, 100), 113, LEVEL_L2);                /* at 103 */
    ANSWERS(load(m, 2048, 101), 114, LEVEL_L2);                /* would be there at 103: at 104 */
    ANSWERS(memsys_fetch(m, 512, 100, false), 111, LEVEL_L2);  /* at 101, when the port is free */
    ANSWERS(memsys_fetch(m, 1536, 101, false), 115, LEVEL_L2); /* from 102 on the first free is 105 */
    memsys_free(m);
}

static void test_ports_are_forgotten_after_a_thousand_cycles(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    config.l2.ports = 1;
    struct memsys *m = build(&config);
    assert_int_equal(cache_take_port(&m->l2, 5000), 5000);
    assert_int_equal(cache_take_port(&m->l2, 5000 - 1024), 5000 - 1024); /* the same place; does not hurt the later */
    assert_int_equal(cache_take_port(&m->l2, 5000), 5001);
    memsys_free(m);
}

static void test_load_in_two_lines(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    struct memsys *m = build(&config);
    load(m, 32, 0);                                                 /* brings both lines into l2 */
    ANSWERS(memsys_load(m, 28, 8, 0, 1000, false), 1012, LEVEL_L2); /* the first is in l2, the second in l1d */
    assert_int_equal(memsys_counts(m)->l1d.accesses[0], 3);
    assert_int_equal(memsys_counts(m)->l1d.misses[0], 2);
    ANSWERS(memsys_load(m, 28, 8, 0, 2000, false), 2002, LEVEL_L1);     /* now both */
    ANSWERS(memsys_load(m, 60, 8, 0, 3000, false), 3112, LEVEL_MEMORY); /* only the second misses */
    memsys_free(m);
}

static void test_load_in_two_lines_needs_two_mshrs(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    config.l1d.mshrs = 2;
    struct memsys *m = build(&config);
    load(m, 0, 0); /* until 112 */
    struct mem_answer a = memsys_load(m, 1020, 8, 0, 1, false);
    assert_true(a.rejected);
    assert_int_equal(a.ready, 112);
    ANSWERS(memsys_load(m, 1020, 8, 0, 112, false), 224, LEVEL_MEMORY); /* + 2 + 10 + 100 */
    memsys_free(m);
    config.l1d.mshrs = 1; /* with one, the lines come one after the other */
    m = build(&config);
    ANSWERS(memsys_load(m, 1020, 8, 0, 0, false), 224, LEVEL_MEMORY); /* the second begins at 112 */
    memsys_free(m);
}

/* ---- bus */

static void test_bus_counts_transactions(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    config.bus_bytes = 24;
    struct memsys *m = build(&config);
    load(m, 0, 0);
    const struct memsys_counts *n = memsys_counts(m);
    assert_int_equal(n->bus_reads, 3); /* ceil(64 / 24) */
    assert_int_equal(n->bus_writes, 0);
    assert_int_equal(n->bus_transactions, 3);
    assert_int_equal(n->bus_busy_cycles, 0); /* unlimited */
    memsys_free(m);
}

static void test_lines_queue_for_the_bus(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    config.memory_bytes_per_cycle = 16;
    struct memsys *m = build(&config);
    ANSWERS(load(m, 0, 0), 115, LEVEL_MEMORY);    /* asked for at 12: 12 + 4 - 1 + 100 */
    ANSWERS(load(m, 64, 0), 119, LEVEL_MEMORY);   /* the bus is free at 16: + 4 - 1 + 100 */
    ANSWERS(load(m, 128, 1), 123, LEVEL_MEMORY);  /* at 20 */
    ANSWERS(load(m, 192, 50), 165, LEVEL_MEMORY); /* 62, with the bus free: + 4 - 1 + 100 */
    assert_int_equal(memsys_counts(m)->bus_busy_cycles, 16);
    memsys_free(m);
    config.memory_bytes_per_cycle = 64; /* as much as a line: no more than the latency */
    m = build(&config);
    ANSWERS(load(m, 0, 0), 112, LEVEL_MEMORY);
    ANSWERS(load(m, 64, 0), 113, LEVEL_MEMORY);
    memsys_free(m);
}

/* ---- perfect structures */

static void test_perfect_first_level(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    config.perfect_l1i = config.perfect_l1d = true;
    config.l1d.mshrs = 1;
    struct memsys *m = build(&config);
    for (uint64_t i = 0; i < 100; i++) {
        ANSWERS(load(m, i * 4096, i), i + 2, LEVEL_L1);
        ANSWERS(memsys_fetch(m, i * 4096, i, false), i + 1, LEVEL_L1);
        ANSWERS(store(m, i * 4096, i), i + 1, LEVEL_L1);
    }
    assert_int_equal(memsys_counts(m)->l1d.accesses[0], 200);
    assert_int_equal(memsys_counts(m)->l1d.misses[0] + memsys_counts(m)->l1i.misses[0], 0);
    assert_int_equal(memsys_counts(m)->l2d.accesses[0] + memsys_counts(m)->bus_transactions, 0);
    memsys_free(m);
}

static void test_perfect_second_level(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    config.perfect_l2d = true;
    struct memsys *m = build(&config);
    ANSWERS(load(m, 0, 0), 12, LEVEL_L2); /* 2 + 10 */
    ANSWERS(load(m, 0, 6), 12, LEVEL_L2); /* l1d fills as with a real L2 */
    ANSWERS(load(m, 0, 100), 102, LEVEL_L1);
    ANSWERS(memsys_fetch(m, 0, 200, false), 311, LEVEL_MEMORY); /* only data: l2 has no line of it */
    assert_int_equal(memsys_counts(m)->l2d.accesses[0], 1);
    assert_int_equal(memsys_counts(m)->l2d.misses[0], 0);
    for (unsigned i = 0; i <= 4; i++) /* a dirty victim leaves l1d and is not seen again */
        store(m, i * 256, 1000 + i * 1000);
    assert_int_equal(memsys_counts(m)->l1d.writebacks, 1);
    assert_int_equal(memsys_counts(m)->bus_writes, 0);
    memsys_free(m);
    config.perfect_l2i = true;
    config.l2.size_bytes = 0; /* the latency holds all the same */
    m = build(&config);
    ANSWERS(load(m, 0, 0), 12, LEVEL_L2);
    ANSWERS(memsys_fetch(m, 0, 0, false), 11, LEVEL_L2);
    for (unsigned i = 0; i <= 4; i++)
        store(m, i * 256, 1000 + i * 1000);
    assert_int_equal(memsys_counts(m)->l1d.writebacks, 1);
    assert_int_equal(memsys_counts(m)->bus_writes, 0);
    memsys_free(m);
}

/* ---- counts, cycles, mistakes */

static void test_wrong_path_is_counted_apart_and_within(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    struct memsys *m = build(&config);
    memsys_load(m, 0, 4, 0, 0, true);
    memsys_load(m, 4, 4, 0, 1, true);
    load(m, 4, 1000);
    memsys_load(m, 4, 4, 0, 1001, true);
    memsys_fetch(m, 64, 1001, true);
    const struct memsys_counts *n = memsys_counts(m);
    assert_int_equal(n->l1d.accesses[0], 4);
    assert_int_equal(n->l1d.accesses[1], 3);
    assert_int_equal(n->l1d.misses[1], 2);
    assert_int_equal(n->l1d.merges[1], 1);
    assert_int_equal(n->l2d.misses[1], 1);
    assert_int_equal(n->l1i.misses[1], 1);
    memsys_free(m);
}

static void test_cycles_have_64_bits(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    config.l1d.mshrs = 1;
    config.l2.ports = 1;
    config.memory_bytes_per_cycle = 64;
    struct memsys *m = build(&config);
    uint64_t late = UINT64_C(1) << 40;
    ANSWERS(load(m, 0, late), late + 112, LEVEL_MEMORY);
    assert_int_equal(load(m, 64, late + 1).ready, late + 112);
    ANSWERS(load(m, 0, late + 200), late + 202, LEVEL_L1);
    memsys_free(m);
}

static void test_warm_state_is_as_if_all_had_arrived(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    config.dtlb = (struct tlb_config){.name = "dtlb", .entries = 4, .ways = 4};
    struct memsys *m = build(&config);
    struct memsys_counts none = {0};
    memsys_warm_fetch(m, 8192);
    memsys_warm_data(m, 60, 8, 0, true); /* two lines, dirty */
    for (unsigned i = 1; i <= 4; i++)
        memsys_warm_data(m, 32 + 256 * i, 4, 0, false); /* displaces the first of them */
    assert_memory_equal(memsys_counts(m), &none, sizeof none);
    ANSWERS(memsys_fetch(m, 8192, 0, false), 1, LEVEL_L1);
    ANSWERS(load(m, 64, 0), 2, LEVEL_L1);
    ANSWERS(load(m, 32, 0), 12, LEVEL_L2); /* 2 + 10 */
    assert_int_equal(memsys_translate_data(m, 0, 0, false).ready, 0);
    for (unsigned i = 1; i <= 8; i++) /* the dirty line leaves l2, 2048 bytes apart, at last over the bus */
        load(m, 2048 * i, 1000 * i);
    assert_int_equal(memsys_counts(m)->l2d.writebacks, 1);
    assert_int_equal(memsys_counts(m)->bus_writes, 8); /* 64 / 8 */
    memsys_free(m);
}

static void test_warming_ends_what_was_on_the_way(void **state)
{
    (void)state;
    struct memsys_config config = small_config();
    struct memsys *m = build(&config);
    load(m, 0, 1000); /* arrives at 1112 */
    memsys_warm_data(m, 0, 4, 0, false);
    ANSWERS(load(m, 0, 1001), 1003, LEVEL_L1);
    memsys_free(m);
}

#define REFUSED(field, value)                                                                                          \
    do {                                                                                                               \
        struct memsys_config config_ = small_config();                                                                 \
        struct error err_ = {{0}};                                                                                     \
        config_.field = value;                                                                                         \
        assert_null(memsys_new(&config_, &err_));                                                                      \
        assert_true(err_.text[0]);                                                                                     \
    } while (0)

static void test_mistakes_are_refused(void **state)
{
    (void)state;
    REFUSED(l1d.size_bytes, 768); /* 6 sets */
    REFUSED(l1d.size_bytes, 1000);
    REFUSED(l1d.size_bytes, UINT64_C(1) << 63);
    REFUSED(l1d.ways, 0);
    REFUSED(l1d.ways, 128);
    REFUSED(l1i.line_bytes, 0);
    REFUSED(l1i.line_bytes, 48);
    REFUSED(l1i.line_bytes, 128); /* more than l2's */
    REFUSED(l2.line_bytes, 16);   /* less than l1d's */
    REFUSED(l2.replacement, 99);
    REFUSED(l2.prefetch, 99);
    REFUSED(l1d.prefetch_degree, PREFETCH_MOST + 1);
    REFUSED(bus_bytes, 0);
    REFUSED(dtlb, ((struct tlb_config){.name = "dtlb", .entries = 6, .ways = 1}));
    REFUSED(dtlb, ((struct tlb_config){.name = "dtlb", .entries = 6, .ways = 0}));
    REFUSED(dtlb, ((struct tlb_config){.name = "dtlb", .entries = 6, .ways = 4}));
    struct memsys_config config = small_config();
    struct error err;
    config.l3.size_bytes = 65536;
    config.l3.line_bytes = 32; /* less than l2's */
    assert_null(memsys_new(&config, &err));
    config = small_config();
    config.itlb = (struct tlb_config){.name = "itlb", .entries = 4, .ways = 4};
    config.page_bytes = 5000;
    assert_null(memsys_new(&config, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_latencies_add_up),
        cmocka_unit_test(test_third_level_adds_its_latency),
        cmocka_unit_test(test_absent_levels_are_skipped),
        cmocka_unit_test(test_later_access_waits_for_the_line),
        cmocka_unit_test(test_second_level_merges_too),
        cmocka_unit_test(test_full_mshrs_reject_and_leave_no_trace),
        cmocka_unit_test(test_rejected_load_does_not_move_lru),
        cmocka_unit_test(test_fetch_waits_for_an_mshr),
        cmocka_unit_test(test_second_level_waits_for_an_mshr),
        cmocka_unit_test(test_ports_of_the_data_cache),
        cmocka_unit_test(test_ports_of_the_second_level),
        cmocka_unit_test(test_ports_are_forgotten_after_a_thousand_cycles),
        cmocka_unit_test(test_load_in_two_lines),
        cmocka_unit_test(test_load_in_two_lines_needs_two_mshrs),
        cmocka_unit_test(test_bus_counts_transactions),
        cmocka_unit_test(test_lines_queue_for_the_bus),
        cmocka_unit_test(test_perfect_first_level),
        cmocka_unit_test(test_perfect_second_level),
        cmocka_unit_test(test_wrong_path_is_counted_apart_and_within),
        cmocka_unit_test(test_cycles_have_64_bits),
        cmocka_unit_test(test_warm_state_is_as_if_all_had_arrived),
        cmocka_unit_test(test_warming_ends_what_was_on_the_way),
        cmocka_unit_test(test_mistakes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
