/* Facts about the edges of the dependence graph: caches, translations, MSHRs and prefetches. Each test has one kind of
 * edge, and fails if that edge is missing. */
#include "graph_fixture.h"

#include "graph/nodes_priv.h"

static void instruction_misses_have_parts(void **state)
{
    (void)state;
    begin();
    add();
    struct graph_node *n = add();
    n->l1i_cycles[0] = n->l1i_cycles[1] = 9;
    n->l2i_cycles[0] = n->l2i_cycles[1] = 250;
    n->itlb_cycles[0] = n->itlb_cycles[1] = 30;
    n->misfetch_cycles = 2;
    long all = cycles();
    assert_int_equal(all - cycles_without(GRAPH_L2I), 250);
    assert_int_equal(all - cycles_without(GRAPH_L1I | GRAPH_L2I), 259);
    assert_int_equal(all - cycles_without(GRAPH_ITLB), 30);
    assert_int_equal(all - cycles_without(GRAPH_BRANCH), 2);
}

static void loads_in_a_chain_take_the_latency_of_their_level(void **state)
{
    (void)state;
    begin();
    for (unsigned i = 0; i < 3; i++) {
        struct graph_node *n = add_load(MISS);
        n->source[0] = n->dest = REG;
        n->dtlb_cycles[0] = n->dtlb_cycles[1] = 30;
        n->walks = true;
    }
    long all = cycles();
    assert_int_equal(all - cycles_without(GRAPH_L2D), 3 * (MISS - SECOND));
    assert_int_equal(all - cycles_without(GRAPH_L1D | GRAPH_L2D), 3 * (MISS - HIT));
    assert_int_equal(all - cycles_without(GRAPH_DTLB), 3 * 30);
}

static void a_hit_waits_for_the_miss_that_brings_its_line(void **state)
{
    (void)state;
    begin();
    add_load(MISS);
    long alone = cycles();
    struct graph_node *n = add_load(0);
    n->dest = REG;
    n->arrival_distance[0] = n->arrival_distance[1] = 1;
    add()->source[0] = REG;
    assert_int_equal(cycles() - alone, 1); /* the addition behind it: both loads have their data at once */
    assert_true(cycles_without(GRAPH_L1D | GRAPH_L2D) < 20);
}

static void a_ninth_miss_waits_for_one_of_eight_mshrs(void **state)
{
    (void)state;
    begin();
    for (unsigned i = 0; i < 8; i++)
        add_load(MISS);
    long eight = cycles();
    add_load(MISS);
    assert_true(cycles() - eight > MISS - 20);
    assert_true(cycles_without(GRAPH_L1D | GRAPH_L2D) < 30);
}

static void stores_wait_for_mshrs(void **state)
{
    (void)state;
    begin();
    for (unsigned i = 0; i < 24; i++) {
        struct graph_node *n = add_store(MISS);
        n->requests = 3;
        n->arrives = true;
    }
    add_store(1);
    /* The last one waits until the ninth has left the store buffer, which waited for the MSHR of the first. */
    assert_true(cycles() > 2 * MISS);
}

/* ---- translations */

static void a_load_waits_for_the_walk_of_another(void **state)
{
    (void)state;
    begin();
    struct graph_node *n = add_load(0);
    n->dtlb_cycles[0] = n->dtlb_cycles[1] = 30;
    n->walks = true;
    long walk = cycles();
    n = add_load(0);
    n->walk_distance[0] = n->walk_distance[1] = 1;
    n->dest = REG;
    add()->source[0] = REG;
    assert_int_equal(cycles() - walk, 1); /* the addition behind it: both loads go on at once */
    assert_true(cycles_without(GRAPH_DTLB) < 15);
}

static void translations_depend_on_prediction(void **state)
{
    (void)state;
    begin();
    struct graph_node *n = add_load(0);
    long hit = cycles();
    n->dtlb_cycles[PREDICTION_PERFECT] = n->itlb_cycles[PREDICTION_PERFECT] = 30;
    n->walks = true;
    assert_int_equal(cycles(), hit);
    assert_int_equal(cycles_without(GRAPH_BRANCH), hit + 30 + 30);
    assert_int_equal(cycles_without(GRAPH_BRANCH | GRAPH_DTLB), hit + 30);
}

/* ---- lines on their way */

static void a_load_waits_for_the_line_that_the_second_cache_gets(void **state)
{
    (void)state;
    begin();
    add_load(MISS);
    long alone = cycles();
    struct graph_node *n = add_load(SECOND);
    n->second_distance[0] = n->second_distance[1] = 1;
    n->dest = REG;
    add()->source[0] = REG;
    assert_int_equal(cycles() - alone, 1);
    assert_true(cycles_without(GRAPH_L2D) < 30);
}

static void a_store_waits_for_the_line_that_is_prefetched(void **state)
{
    (void)state;
    begin();
    struct graph_node *n = add_load(SECOND);
    n->prefetch_lines = 1;
    n->prefetch_cycles = MISS;
    n = add_store(1);
    n->arrival_distance[0] = n->arrival_distance[1] = 1;
    for (unsigned i = 0; i < 17; i++)
        add_store(1); /* the last one needs the room of the first */
    long waits = cycles();
    n->arrival_distance[0] = n->arrival_distance[1] = 0;
    assert_true(waits - cycles() > MISS - 40);
}

/* With real prediction, a store that the run saw wait for a late prefetch waits for it as long. From a perfect L2 the
 * line comes sooner. */
static void a_late_prefetch_for_a_store_comes_sooner_from_a_perfect_second_cache(void **state)
{
    (void)state;
    for (unsigned far = 0; far < 2; far++) {
        begin();
        struct graph_node *n = add_load(0);
        n->prefetch_lines = 1;
        n->prefetch_cycles = MISS;
        for (unsigned i = 0; far && i < 40; i++)
            add();
        n = add_store(MISS);
        n->arrival_distance[PREDICTION_PERFECT] = n->late_distance = 1;
        n->drain_cycles[PREDICTION_PERFECT] = 1;
        for (unsigned i = 0; i < 17; i++)
            add_store(1); /* the last one needs the room of the first */
        long late = cycles_without(GRAPH_L2D);
        assert_true(cycles() - late > MISS - 40);
        n->late_distance = 0;
        assert_true(cycles_without(GRAPH_L2D) > late);
        n->drain_cycles[PREDICTION_REAL] = 1;
        assert_int_equal(cycles_without(GRAPH_L2D) < late, !far); /* then the line is not awaited */
    }
}

/* Makes the node of a store that finds its line in the L1D of a core whose stores bring no lines, after the load that
 * brings the line. */
static struct graph_node store_behind_a_load(const struct data_access *drain)
{
    struct core_config config;
    struct graph_core core;
    struct error err;
    struct graph_node n;
    core_config_default(&config);
    config.l1d_allocate = 0;
    graph_core_init(&core, &config);
    struct node_builder *b = node_builder_new(&core, &config, &err);
    assert_non_null(b);
    struct held_insn h = {.pc = 0x10000, .addr = 0x20000, .flags = IS_LOAD, .length = 4, .size = 8};
    const struct held_insns held = {.of = &h, .mask = 0, .end = 2};
    h.access = (struct data_access){.cycles = MISS, .level = LEVEL_MEMORY};
    node_build(b, &held, 0, &n);
    h.access = (struct data_access){0};
    h.flags = IS_STORE;
    h.addr += 8;
    h.drain = *drain;
    node_build(b, &held, 1, &n);
    node_builder_free(b);
    return n;
}

static void a_store_that_brings_no_line_waits_for_the_one_on_its_way(void **state)
{
    (void)state;
    struct graph_node n =
        store_behind_a_load(&(struct data_access){.cycles = 100, .level = LEVEL_MEMORY, .merged = true});
    assert_int_equal(n.arrival_distance[PREDICTION_REAL], 1);
    assert_int_equal(n.arrival_distance[PREDICTION_PERFECT], 1);
    assert_int_equal(n.drain_cycles[PREDICTION_REAL], 1);
    n = store_behind_a_load(&(struct data_access){.cycles = 1, .level = LEVEL_MEMORY});
    assert_int_equal(n.arrival_distance[PREDICTION_REAL], 0);
}

/* Wrong paths have evicted a line from the L2 that the right path would find. */
static void only_code_of_wrong_paths_leaves_with_the_instruction_caches(void **state)
{
    (void)state;
    for (unsigned code = 0; code < 2; code++) {
        struct core_config config;
        struct graph_core core;
        struct error err;
        struct graph_node n;
        core_config_default(&config);
        graph_core_init(&core, &config);
        struct node_builder *b = node_builder_new(&core, &config, &err);
        assert_non_null(b);
        struct held_insn h = {.pc = 0x10000, .addr = 0x20000, .flags = IS_LOAD, .length = 4, .size = 8};
        const struct held_insns held = {.of = &h, .mask = 0, .end = MOST};
        h.access = (struct data_access){.cycles = MISS, .level = LEVEL_MEMORY};
        h.wrong_code = code;
        node_build(b, &held, 0, &n);
        assert_false(n.data_alone);
        h.size = 0;
        for (unsigned i = 1; i < MOST - 1; i++)
            node_build(b, &held, i, &n);
        h.size = 8;
        node_build(b, &held, MOST - 1, &n);
        assert_int_equal(n.data_alone, code);
        node_builder_free(b);
    }
}

/* Prefetches that waited for the bus in the run take as long in the graph; others take the latency of their level. */
static void prefetches_wait_for_the_bus_as_in_the_run(void **state)
{
    (void)state;
    for (unsigned k = 0; k < 4; k++) {
        unsigned second = k & 1, waits = k & 2 ? 100 : 0;
        struct core_config config;
        struct graph_core core;
        struct error err;
        struct graph_node n;
        core_config_default(&config);
        config.l1d_prefetch = !second;
        config.l2_prefetch = second;
        config.l1d_prefetch_degree = config.l2_prefetch_degree = 1;
        graph_core_init(&core, &config);
        struct node_builder *b = node_builder_new(&core, &config, &err);
        assert_non_null(b);
        struct held_insn h = {.pc = 0x10000, .addr = 0x20020, .flags = IS_LOAD, .length = 4, .size = 8};
        const struct held_insns held = {.of = &h, .mask = 0, .end = 1};
        h.access =
            (struct data_access){.cycles = MISS, .level = LEVEL_MEMORY}; /* the next line is another one of the L2 */
        h.access.prefetch_cycles[second] = (uint16_t)(MISS - 50 + waits);
        memsys_observe_prefetches(b->memory, nodes_on_prefetch, b);
        node_build(b, &held, 0, &n);
        assert_int_equal(second ? n.second_prefetch_cycles : n.prefetch_cycles, waits ? MISS + 50 : MISS);
        node_builder_free(b);
    }
}

static void data_in_the_second_cache_evicts_instructions(void **state)
{
    (void)state;
    begin();
    struct graph_node *n = add();
    for (unsigned v = 0; v < FETCH_VARIANTS; v++) {
        n->l1i_cycles[v] = 9;
        n->l2i_cycles[v] = 250;
    }
    long all = cycles();
    assert_int_equal(cycles_without(GRAPH_L2D), all);
    n->second_alone = 1 << FETCH_PERFECT | 1 << FETCH_EARLY;
    assert_int_equal(cycles(), all);
    assert_int_equal(cycles_without(GRAPH_L2D), all - 250);
}

/* ---- prefetches and MSHRs */

/* A load that misses and proposes one line, with `before` misses that begin earlier; and a load that uses the line. */
static long cycles_of_a_prefetch(unsigned before, bool uses)
{
    begin();
    for (unsigned i = 0; i < before; i++)
        add_load(MISS);
    struct graph_node *n = add_load(MISS);
    n->prefetch_lines = 1;
    n->prefetch_cycles = MISS;
    if (uses) {
        n = add_load(MISS);
        n->requests = 0;
        n->used_distance = n->arrival_distance[0] = n->arrival_distance[1] = 1;
    }
    return cycles();
}

static void a_load_waits_for_a_prefetch(void **state)
{
    (void)state;
    assert_true(cycles_of_a_prefetch(0, true) - cycles_of_a_prefetch(0, false) < 5);
}

static void a_load_requests_the_line_of_a_prefetch_without_an_mshr(void **state)
{
    (void)state;
    assert_true(cycles_of_a_prefetch(7, true) - cycles_of_a_prefetch(7, false) > MISS - 20);
}

static void a_prefetch_takes_an_mshr(void **state)
{
    (void)state;
    cycles_of_a_prefetch(6, false);
    long with = (add_load(MISS), cycles());
    begin();
    for (unsigned i = 0; i < 8; i++)
        add_load(MISS);
    assert_true(with - cycles() > MISS - 20);
}

static void a_prefetched_line_waits_for_the_second_cache(void **state)
{
    (void)state;
    begin();
    struct graph_node *n = add_load(SECOND);
    n->second_prefetch_cycles = MISS;
    n->prefetch_cycles = SECOND;
    n->prefetch_lines = 1;
    n->prefetch_second_distance = 2;
    n = add_load(SECOND);
    n->requests = 0;
    n->used_distance = n->arrival_distance[0] = n->arrival_distance[1] = 1;
    assert_true(cycles() > MISS);
    nodes[0].prefetch_second_distance = 0;
    assert_true(cycles() < 40);
}

static void a_load_without_an_mshr_takes_units_when_it_tries_again(void **state)
{
    (void)state;
    begin();
    for (unsigned i = 0; i < 16; i++)
        add_load(MISS);
    nodes[0].dest = REG;
    struct graph_node *n = add_load(0);
    n->source[0] = n->dest = REG;
    for (unsigned i = 0; i < 20; i++) { /* longer than the second eight misses */
        n = add();
        n->class = CLASS_DIV;
        n->source[0] = n->dest = REG;
    }
    /* When the first miss ends, the last load is ready, and the ninth to sixteenth try again, on two units. */
    long behind = cycles();
    for (unsigned i = 8; i < 16; i++)
        nodes[i].requests = 0;
    assert_int_equal(behind - cycles(), 4);
}

static void a_miss_waits_for_the_mshr_of_a_younger_one(void **state)
{
    (void)state;
    begin();
    add_load(MISS);
    long all = cycles(), branch = cycles_without(GRAPH_BRANCH), dtlb = cycles_without(GRAPH_DTLB),
         second = cycles_without(GRAPH_L2D);
    nodes[0].mshr_wait.cycles = 7;
    assert_int_equal(cycles() - all, 7);
    assert_int_equal(cycles_without(GRAPH_BRANCH) - branch, 7);
    assert_int_equal(cycles_without(GRAPH_DTLB) - dtlb, 7);
    assert_int_equal(cycles_without(GRAPH_L2D), second);
    nodes[0].mshr_wait.wrong_path = nodes[0].mshr_translated = true;
    assert_int_equal(cycles() - all, 7);
    assert_int_equal(cycles_without(GRAPH_BRANCH), branch);
    assert_int_equal(cycles_without(GRAPH_DTLB), dtlb);
}

static void two_hundred_misses_wait_for_eight_mshrs(void **state)
{
    (void)state;
    begin();
    for (unsigned i = 0; i < 200; i++)
        add_load(MISS);
    assert_true(cycles() > 200 / 8 * MISS);
    assert_true(cycles() < 200 / 8 * MISS + 200);
}

static void without_wrong_paths_the_first_access_to_a_page_walks(void **state)
{
    (void)state;
    struct core_config config;
    struct graph_core core;
    struct error err;
    struct graph_node n;
    core_config_default(&config);
    graph_core_init(&core, &config);
    struct node_builder *b = node_builder_new(&core, &config, &err);
    assert_non_null(b);
    struct held_insn h = {
        .pc = 0x10000, .addr = 0x20000, .flags = IS_LOAD, .length = 4, .size = 8, .class = CLASS_LOAD};
    h.access.cycles = HIT; /* in the real run, a wrong path has brought page and line */
    const struct held_insns held = {.of = &h, .mask = 0, .end = 2};
    node_build(b, &held, 0, &n);
    assert_int_equal(n.dtlb_cycles[PREDICTION_REAL], 0);
    assert_int_equal(n.dtlb_cycles[PREDICTION_PERFECT], 30);
    assert_int_equal(n.itlb_cycles[PREDICTION_PERFECT], 30);
    assert_int_equal(n.load_cycles[PREDICTION_PERFECT], MISS);
    h.pc += 4;
    h.addr += 0x800;
    node_build(b, &held, 1, &n);
    assert_int_equal(n.dtlb_cycles[PREDICTION_PERFECT], 0);
    assert_int_equal(n.walk_distance[PREDICTION_PERFECT], 1);
    node_builder_free(b);
}

static void a_prefetch_of_an_instruction_line_needs_an_mshr(void **state)
{
    (void)state;
    struct core_config config;
    core_config_default(&config);
    config.l1i_prefetch = 1;
    begin();
    struct graph_node *n = add();
    n->fetch_demand = SECOND - HIT;
    n->fetch_requests = n->fetch_proposes = 1 << FETCH_PERFECT;
    n->fetch_prefetches = true;
    n->fetch_prefetch_lines = 1;
    n->fetch_prefetch_cycles = 250;
    n = add();
    n->new_group = 0xff;
    n->fetch_distance = 1;
    n->fetch_uses = true;
    n->fetch_demand = SECOND - HIT;
    n->fetch_demand_second[FETCH_PERFECT] = 250;
    n->fetch_awaits = n->fetch_requests = 1 << FETCH_PERFECT;
    /* The first instruction needs a line in cycle 1, and the prefetch of the next line begins in the same cycle. */
    config.l1i_mshrs = 2;
    long arrival = 1 + (SECOND - HIT) + 250, rest = FRONT_STAGES + 1 + 1 + 1;
    unsigned real = GRAPH_EVERYTHING & ~GRAPH_BRANCH;
    assert_int_equal(evaluate_on(&config).with[real], arrival + rest);
    /* The only MSHR is free one cycle, the latency of the L1I, after the first line can be used. */
    config.l1i_mshrs = 1;
    long free = 1 + (SECOND - HIT) + 1;
    assert_int_equal(evaluate_on(&config).with[real], free + (SECOND - HIT) + 250 + rest);
}

static void a_slow_instruction_cache_does_not_overflow_16_bit_times(void **state)
{
    (void)state;
    struct core_config config;
    core_config_default(&config);
    config.l1i_prefetch = 1;
    config.l1i_mshrs = 1;
    config.l1i_latency = 1000;
    begin();
    for (unsigned i = 0; i < MOST; i++) {
        struct graph_node *n = add();
        n->new_group = 0xff;
        n->fetch_demand = SECOND - HIT;
        n->fetch_requests = 1 << FETCH_PERFECT;
    }
    /* Each line takes the only MSHR, which is free one latency of the L1I after the line can be used. */
    unsigned real = GRAPH_EVERYTHING & ~GRAPH_BRANCH;
    long cycles = (long)evaluate_on(&config).with[real];
    assert_int_equal(cycles, 1 + MOST * (1000 + SECOND - HIT) - 1000 + FRONT_STAGES + 3);
}

static void memory_takes_the_transfer_of_a_line(void **state)
{
    (void)state;
    struct core_config config;
    struct graph_core core;
    core_config_default(&config);
    graph_core_init(&core, &config);
    assert_int_equal(core.latency[LEVEL_MEMORY], MISS);
    config.memory_bytes_per_cycle = 4;
    graph_core_init(&core, &config);
    assert_int_equal(core.latency[LEVEL_MEMORY], MISS + 64 / 4 - 1);
}

static void data_alone_in_the_second_cache_comes_from_there(void **state)
{
    (void)state;
    begin();
    add_load(MISS)->data_alone = true;
    assert_int_equal(cycles() - cycles_without(GRAPH_L2I), MISS - SECOND);
    assert_int_equal(cycles() - cycles_without(GRAPH_L1I | GRAPH_L2I), MISS - SECOND);
    begin();
    add_store(MISS)->data_alone = true;
    struct graph_node *n = add_store(1); /* an atomic, which waits until the store has left */
    n->flags = NODE_STORE | NODE_AT_HEAD;
    assert_int_equal(cycles() - cycles_without(GRAPH_L2I), MISS - SECOND);
}

static void a_prefetch_is_made_if_the_real_run_made_it(void **state)
{
    (void)state;
    begin();
    struct graph_node *n = add_load(0), *use = add_load(MISS);
    n->dest = use->source[0] = REG;
    n->prefetch_cycles = MISS;
    n->prefetch_lines = 1;
    use->requests = 0;
    use->used_distance = 1;
    /* The first load issues one cycle after dispatch, and the second one when it has its data. */
    long issue = 1 + FRONT_STAGES + 1;
    use->used_really = USED_PREFETCHED;
    assert_int_equal(cycles(), issue + MISS + 1);
    use->used_really = USED_REQUESTED;
    assert_int_equal(cycles(), issue + HIT + MISS + 1);
    use->used_really = USED_THERE; /* with wrong paths */
    assert_int_equal(cycles(), issue + HIT + HIT + 1);
    assert_int_equal(cycles_without(GRAPH_BRANCH), issue + MISS + 1);
}

/* A load that makes a prefetcher request a line, and one that uses it after `chain` additions, when it comes in
 * `cycles`.
 */
static void add_late_prefetch(unsigned chain, unsigned cycles)
{
    begin();
    add_load(0)->prefetch_cycles = MISS;
    for (unsigned i = 0; i < chain; i++) {
        struct graph_node *n = add();
        n->source[0] = n->dest = REG;
    }
    struct graph_node *n = add_load(cycles);
    n->source[0] = REG;
    n->requests = 0;
    n->late_distance = 1;
}

static void a_late_prefetch_comes_sooner_from_a_perfect_second_cache(void **state)
{
    (void)state;
    long issue = 1 + FRONT_STAGES + 1;
    add_late_prefetch(40, MISS - 40);
    assert_int_equal(cycles(), issue + MISS + 1);
    assert_int_equal(cycles_without(GRAPH_L2D), issue + 40 + HIT + 1);
    assert_int_equal(cycles_without(GRAPH_L1D | GRAPH_L2D), issue + 40 + HIT + 1);
    add_late_prefetch(1, MISS - 1);
    assert_int_equal(cycles(), issue + MISS + 1);
    assert_int_equal(cycles_without(GRAPH_L2D), issue + SECOND + 1);
    assert_int_equal(cycles_without(GRAPH_L1D | GRAPH_L2D), issue + 1 + HIT + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instruction_misses_have_parts),
        cmocka_unit_test(loads_in_a_chain_take_the_latency_of_their_level),
        cmocka_unit_test(a_hit_waits_for_the_miss_that_brings_its_line),
        cmocka_unit_test(a_ninth_miss_waits_for_one_of_eight_mshrs),
        cmocka_unit_test(stores_wait_for_mshrs),
        cmocka_unit_test(a_load_waits_for_the_walk_of_another),
        cmocka_unit_test(translations_depend_on_prediction),
        cmocka_unit_test(a_load_waits_for_the_line_that_the_second_cache_gets),
        cmocka_unit_test(a_store_waits_for_the_line_that_is_prefetched),
        cmocka_unit_test(a_late_prefetch_for_a_store_comes_sooner_from_a_perfect_second_cache),
        cmocka_unit_test(a_store_that_brings_no_line_waits_for_the_one_on_its_way),
        cmocka_unit_test(only_code_of_wrong_paths_leaves_with_the_instruction_caches),
        cmocka_unit_test(prefetches_wait_for_the_bus_as_in_the_run),
        cmocka_unit_test(data_in_the_second_cache_evicts_instructions),
        cmocka_unit_test(a_load_waits_for_a_prefetch),
        cmocka_unit_test(a_load_requests_the_line_of_a_prefetch_without_an_mshr),
        cmocka_unit_test(a_prefetch_takes_an_mshr),
        cmocka_unit_test(a_prefetched_line_waits_for_the_second_cache),
        cmocka_unit_test(a_load_without_an_mshr_takes_units_when_it_tries_again),
        cmocka_unit_test(a_miss_waits_for_the_mshr_of_a_younger_one),
        cmocka_unit_test(two_hundred_misses_wait_for_eight_mshrs),
        cmocka_unit_test(without_wrong_paths_the_first_access_to_a_page_walks),
        cmocka_unit_test(a_prefetch_of_an_instruction_line_needs_an_mshr),
        cmocka_unit_test(a_slow_instruction_cache_does_not_overflow_16_bit_times),
        cmocka_unit_test(memory_takes_the_transfer_of_a_line),
        cmocka_unit_test(data_alone_in_the_second_cache_comes_from_there),
        cmocka_unit_test(a_prefetch_is_made_if_the_real_run_made_it),
        cmocka_unit_test(a_late_prefetch_comes_sooner_from_a_perfect_second_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
