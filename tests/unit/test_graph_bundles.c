/* Facts about the dependence graph of cores with bundles. */
#include "core/core.h"
#include "core_fixture.h"
#include "graph_fixture.h"

/* Cycles with everything real on a core with bundles of four. */
static long cycles_of_bundles(unsigned rob_size)
{
    struct core_config config;
    core_config_default(&config);
    config.dispatch_bundle = 4;
    config.rob_size = rob_size;
    return (long)evaluate_on(&config).with[GRAPH_EVERYTHING];
}

static void a_branch_ends_its_bundle(void **state)
{
    (void)state;
    begin();
    for (unsigned i = 0; i < 100; i++)
        add();
    long whole = cycles_of_bundles(128);
    for (unsigned i = 0; i < 100; i++)
        nodes[i].flags = NODE_ENDS_BUNDLE;
    /* One bundle dispatches in a cycle: 100 instead of 25. */
    assert_int_equal(cycles_of_bundles(128) - whole, 75);
}

static void a_bundle_takes_the_room_of_a_full_one(void **state)
{
    (void)state;
    begin();
    for (unsigned i = 0; i < 100; i++)
        add_load(MISS)->flags |= NODE_ENDS_BUNDLE;
    long first = cycles_of_bundles(8);
    for (unsigned i = 0; i < 100; i++)
        add_load(MISS)->flags |= NODE_ENDS_BUNDLE;
    /* Two bundles are in flight, each from its dispatch, 1 before issue, to its commit, 1 after completion. */
    assert_int_equal(cycles_of_bundles(8) - first, 100 / 2 * (1 + MISS + 1));
}

static void a_bundle_commits_as_a_whole(void **state)
{
    (void)state;
    begin();
    for (unsigned i = 0; i < 3; i++)
        add();
    add_load(MISS);
    struct graph_node *n = add();
    n->room = 4;
    /* The load is fetched in cycle 1, and issues one cycle after dispatch. The next bundle has room when the whole
     * bundle commits, and takes from dispatch to commit 3 cycles. */
    assert_int_equal(cycles_of_bundles(128), (1 + FRONT_STAGES) + 1 + MISS + 1 + 3);
    assert_int_equal(cycles(), (1 + FRONT_STAGES) + 1 + MISS + 1);
}

static void stores_of_a_bundle_wait_for_its_commit(void **state)
{
    (void)state;
    begin();
    add_store(1);
    add_load(MISS)->flags |= NODE_ENDS_BUNDLE;
    struct graph_node *n = add_load(0);
    n->match = 1;
    /* The load of the second bundle waits until the store has left: committed with the miss, one cycle to the cache. */
    long commit = (1 + FRONT_STAGES) + 1 + 1 + MISS + 1;
    assert_int_equal(cycles_of_bundles(128), commit + 1 + 1 + HIT + 1);
}

static void a_store_forwards_its_part_within_a_bundle(void **state)
{
    (void)state;
    begin();
    struct graph_node *store = add_store(1), *load = add_load(0);
    load->match = 1; /* and not the whole load */
    /* The address of the store is known two cycles after dispatch. */
    assert_int_equal(cycles_of_bundles(128), (1 + FRONT_STAGES) + 2 + FORWARD + HIT + 1);
    /* In a bundle of its own, the store completes then, commits, leaves in the next cycle, and then the load issues. */
    store->flags |= NODE_ENDS_BUNDLE;
    assert_int_equal(cycles_of_bundles(128), (1 + FRONT_STAGES) + 2 + 1 + 1 + 1 + HIT + 1);
}

/* Which of a store and the load after it, of one line that no cache has, makes the prefetcher request the next line; 2:
 * none does. */
static unsigned prefetches_first(const char *settings)
{
    struct core_config config;
    struct graph_core graph;
    struct error err = {""};
    struct graph_node n[2];
    const struct held_insn h[] = {
        {.pc = 0x10000, .addr = 0x20000, .flags = IS_STORE, .length = 4, .size = 8, .class = CLASS_STORE},
        {.pc = 0x10004,
         .addr = 0x20008,
         .flags = IS_LOAD,
         .length = 4,
         .size = 8,
         .class = CLASS_LOAD,
         .access = {.cycles = 300, .level = LEVEL_MEMORY}}};
    const struct held_insns held = {.of = h, .mask = 1, .end = 2};
    make_core(&config, settings);
    struct guest_memory *memory = guest_memory_new(UINT64_C(1) << 30, &err);
    struct core *core = memory ? core_new(&config, memory, &err) : NULL;
    graph_core_init(&graph, &config);
    struct node_builder *b = core ? node_builder_new(&graph, &config, &err) : NULL;
    if (b == NULL)
        fail_msg("%s", err.text);
    node_builder_begin(b, core);
    for (unsigned i = 0; i < 2; i++)
        node_build(b, &held, i, &n[i]);
    node_builder_free(b);
    core_free(core);
    guest_memory_free(memory);
    return n[0].prefetch_cycles ? 0 : n[1].prefetch_cycles ? 1 : 2;
}

static void loads_of_a_bundle_access_their_lines_before_its_stores(void **state)
{
    (void)state;
    assert_int_equal(prefetches_first("l1d.prefetch=next_line"), 0);
    assert_int_equal(prefetches_first("l1d.prefetch=next_line dispatch.bundle=4"), 1);
    assert_int_equal(prefetches_first("l1d.prefetch=next_line dispatch.bundle=1"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_branch_ends_its_bundle),
        cmocka_unit_test(a_bundle_takes_the_room_of_a_full_one),
        cmocka_unit_test(a_bundle_commits_as_a_whole),
        cmocka_unit_test(stores_of_a_bundle_wait_for_its_commit),
        cmocka_unit_test(a_store_forwards_its_part_within_a_bundle),
        cmocka_unit_test(loads_of_a_bundle_access_their_lines_before_its_stores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
