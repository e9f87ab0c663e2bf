/* Facts about the edges of the dependence graph: fetch, dispatch, operands, units, stores and their order. Each test
 * has one kind of edge, and fails if that edge is missing. */
#include "graph_fixture.h"

static void four_instructions_pass_in_a_cycle(void **state)
{
    (void)state;
    begin();
    for (unsigned i = 0; i < 100; i++)
        add();
    long first = cycles();
    for (unsigned i = 0; i < 200; i++)
        add();
    assert_int_equal(cycles() - first, 50);
}

static void a_consumer_waits_for_its_producer(void **state)
{
    (void)state;
    begin();
    for (unsigned i = 0; i < 100; i++) {
        struct graph_node *n = add();
        n->source[0] = n->dest = REG;
    }
    long first = cycles();
    for (unsigned i = 0; i < 100; i++) {
        struct graph_node *n = add();
        n->source[0] = n->dest = REG;
    }
    assert_int_equal(cycles() - first, 100);
}

static void fetch_waits_for_a_mispredicted_branch(void **state)
{
    (void)state;
    begin();
    add()->flags = NODE_MISPREDICTED;
    add()->new_group = 0xff;
    /* It is fetched in cycle 1, resolves at 1 + front end + dispatch to issue + latency, and the next one begins then.
     */
    assert_int_equal(cycles(), (1 + FRONT_STAGES + 1 + 1) + FRONT_STAGES + 1 + 1 + 1);
    assert_int_equal(cycles_without(GRAPH_BRANCH), 2 + FRONT_STAGES + 1 + 1 + 1);
}

static void a_load_waits_for_addresses_of_older_stores(void **state)
{
    (void)state;
    begin();
    struct graph_node *n = add_load(MISS);
    n->dest = REG;
    n = add_store(1);
    n->source[0] = REG;
    long store = cycles();
    add_load(0);
    assert_int_equal(cycles() - store, HIT); /* it issues when the store has its address, one cycle before it commits */
}

static void a_load_waits_until_an_older_atomic_has_completed(void **state)
{
    (void)state;
    begin();
    struct graph_node *n = add_load(MISS);
    n->flags |= NODE_STORE | NODE_AT_HEAD;
    n->drain_cycles[PREDICTION_REAL] = n->drain_cycles[PREDICTION_PERFECT] = 1;
    long atomic = cycles();
    add_load(0);
    assert_int_equal(cycles() - atomic, HIT); /* it issues when the atomic completes, one cycle before it commits */
}

static void a_store_forwards_when_its_data_is_known(void **state)
{
    (void)state;
    begin();
    struct graph_node *n = add_load(MISS);
    n->dest = REG;
    n = add_store(1);
    n->source[1] = REG;
    long store = cycles();
    n = add_load(0);
    n->match = 1;
    n->flags |= NODE_WHOLE;
    assert_int_equal(cycles() - store, FORWARD);
    n->match = 0;
    assert_int_equal(cycles() - store, 0);
}

static void stores_wait_for_room_in_the_store_buffer(void **state)
{
    (void)state;
    begin();
    for (unsigned i = 0; i < 16; i++)
        add_store(MISS);
    long full = cycles();
    add_store(1);
    assert_true(cycles() - full > MISS - 20);
    assert_true(cycles_without(GRAPH_L1D | GRAPH_L2D) < 40);
}

static void a_load_with_data_from_a_store_brings_no_line(void **state)
{
    (void)state;
    struct core_config config;
    struct graph_core core;
    struct error err;
    struct graph_node n;
    core_config_default(&config);
    config.l1d_allocate = 0;
    graph_core_init(&core, &config);
    struct node_builder *b = node_builder_new(&core, &config, &err);
    assert_non_null(b);
    struct held_insn h = {.pc = 0x10000, .addr = 0x20000, .flags = IS_STORE, .length = 4, .size = 8};
    const struct held_insns held = {.of = &h, .mask = 0, .end = 3};
    h.drain = (struct data_access){.cycles = 1, .level = LEVEL_MEMORY};
    node_build(b, &held, 0, &n);
    h.flags = IS_LOAD;
    h.drain = (struct data_access){0};
    node_build(b, &held, 1, &n);
    assert_int_equal(n.match, 1);
    assert_int_equal(n.load_cycles[PREDICTION_PERFECT], 0);
    h.access = (struct data_access){.cycles = MISS, .level = LEVEL_MEMORY};
    node_build(b, &held, 2, &n);
    assert_int_equal(n.load_cycles[PREDICTION_PERFECT], MISS);
    node_builder_free(b);
}

static void dispatch_waits_for_room(void **state)
{
    (void)state;
    begin();
    add_load(MISS);
    for (unsigned i = 0; i < 9; i++)
        add();
    long before = cycles();
    add()->room = 10; /* the load holds what it needs */
    /* It dispatches when the load commits, and commits 3 cycles later; the last addition, 2 cycles after the load. */
    assert_int_equal(cycles() - before, 3 - 2);
}

static void divisions_share_one_divider(void **state)
{
    (void)state;
    begin();
    add()->class = CLASS_DIV;
    long one = cycles();
    add()->class = CLASS_DIV;
    assert_int_equal(cycles() - one, 20);
}

static void a_serializing_instruction_drains_the_window(void **state)
{
    (void)state;
    begin();
    struct graph_node *n = add_load(MISS);
    n->flags |= NODE_SERIAL;
    long load = cycles();
    add();
    assert_int_equal(cycles() - load, FRONT_STAGES + 1 + 1 + 1);
}

/* ---- units */

static void a_division_keeps_its_unit_busy_around_older_instructions(void **state)
{
    (void)state;
    begin();
    struct graph_node *n = add_load(SECOND);
    n->dest = REG;
    n = add(); /* it has the unit in the middle of the first division */
    n->class = CLASS_MUL;
    n->source[0] = REG;
    add()->class = CLASS_DIV;
    n = add();
    n->class = CLASS_DIV;
    long both = cycles();
    nodes[1].class = CLASS_ALU;
    assert_int_equal(both - cycles(), 1);
}

static void a_wrong_path_keeps_its_divider_busy(void **state)
{
    (void)state;
    begin();
    add()->flags = NODE_MISPREDICTED;
    struct graph_node *n = add();
    n->class = CLASS_DIV;
    n->new_group = 0xff;
    long all = cycles(), perfect = cycles_without(GRAPH_BRANCH);
    nodes[0].wrong_path = (struct unit_use){.pool = POOL_MULDIV, .cycles = 20};
    assert_int_equal(cycles() - all, 20 - FRONT_STAGES - 1); /* it is ready to issue after the front end and dispatch */
    assert_int_equal(cycles_without(GRAPH_BRANCH), perfect);
}

static void a_division_waits_for_a_younger_one(void **state)
{
    (void)state;
    begin();
    add()->class = CLASS_DIV;
    long alone = cycles(), perfect = cycles_without(GRAPH_BRANCH);
    nodes[0].unit_wait.cycles = 7;
    assert_int_equal(cycles() - alone, 7);
    assert_int_equal(cycles_without(GRAPH_BRANCH) - perfect, 7);
    nodes[0].unit_wait.wrong_path = true;
    assert_int_equal(cycles() - alone, 7);
    assert_int_equal(cycles_without(GRAPH_BRANCH), perfect);
}

static void units_are_judged_where_the_first_data_cache_alone_is_real(void **state)
{
    (void)state;
    begin();
    add_load(0)->dest = REG;
    add_load(SECOND)->dest = REG + 1;
    for (unsigned i = 0; i < 2; i++) {
        struct graph_node *n = add();
        n->class = CLASS_DIV;
        n->source[0] = (uint8_t)(REG + i);
    }
    /* The second division waits for the first, and the load for which it waits as well is hidden behind that. */
    assert_int_equal(cycles_without(GRAPH_L2D), cycles_without(GRAPH_L1D | GRAPH_L2D));
}

static void long_runs_do_not_overflow_16_bit_times(void **state)
{
    (void)state;
    struct core_config config;
    struct graph_core core;
    struct graph_cycles first, later;
    struct error err;
    begin();
    for (unsigned i = 0; i < MOST; i++) {
        struct graph_node *n = add_load(MISS);
        n->source[0] = n->dest = REG;
    }
    core_config_default(&config);
    graph_core_init(&core, &config);
    struct lanes *l = lanes_new(&core, &err);
    assert_non_null(l);
    lanes_evaluate(l, nodes, count);
    lanes_cycles(l, lanes_known(l), &first);
    for (unsigned i = 0; i < 20; i++)
        lanes_evaluate(l, nodes, count);
    lanes_cycles(l, lanes_known(l), &later);
    lanes_free(l);
    assert_int_equal(later.with[GRAPH_EVERYTHING] - first.with[GRAPH_EVERYTHING], 20 * MOST * MISS);
    assert_int_equal(later.with[0] - first.with[0], 20 * MOST * HIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_instructions_pass_in_a_cycle),
        cmocka_unit_test(a_consumer_waits_for_its_producer),
        cmocka_unit_test(fetch_waits_for_a_mispredicted_branch),
        cmocka_unit_test(a_load_waits_for_addresses_of_older_stores),
        cmocka_unit_test(a_load_waits_until_an_older_atomic_has_completed),
        cmocka_unit_test(a_store_forwards_when_its_data_is_known),
        cmocka_unit_test(stores_wait_for_room_in_the_store_buffer),
        cmocka_unit_test(a_load_with_data_from_a_store_brings_no_line),
        cmocka_unit_test(dispatch_waits_for_room),
        cmocka_unit_test(divisions_share_one_divider),
        cmocka_unit_test(a_serializing_instruction_drains_the_window),
        cmocka_unit_test(a_division_keeps_its_unit_busy_around_older_instructions),
        cmocka_unit_test(a_wrong_path_keeps_its_divider_busy),
        cmocka_unit_test(a_division_waits_for_a_younger_one),
        cmocka_unit_test(units_are_judged_where_the_first_data_cache_alone_is_real),
        cmocka_unit_test(long_runs_do_not_overflow_16_bit_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
