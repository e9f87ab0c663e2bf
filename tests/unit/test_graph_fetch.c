/* Facts about fetch in the dependence graph: groups, and lines that wrong paths request. Each test fails without its
 * edge. */
#include "graph_fixture.h"

#include "core/wrong_lines.h"
#include "graph/nodes_priv.h"

enum { LINE = SECOND - HIT, BEYOND = 250, REST = FRONT_STAGES + 1 + 1 + 1 };

/* ---- groups */

static void a_walk_begins_a_new_fetch_group(void **state)
{
    (void)state;
    struct core_config config;
    struct graph_core core;
    struct fetch_groups f;
    unsigned begun[GROUP_VARIANTS] = {0};
    core_config_default(&config);
    graph_core_init(&core, &config);
    fetch_groups_init(&f, &core);
    /* Eight instructions are a group. The fifth one waits for its translation, and the group ends there. */
    for (unsigned i = 0; i < 12; i++) {
        const struct held_insn h = {.pc = 0x1000 + 4 * i, .length = 4};
        struct graph_node n = {.itlb_cycles = {i == 4 ? 30 : 0, i == 4 ? 30 : 0}};
        fetch_groups_join(&f, &h, &n);
        for (unsigned v = 0; v < GROUP_VARIANTS; v++)
            begun[v] += n.new_group >> v & 1;
    }
    for (unsigned v = 0; v < GROUP_VARIANTS; v++)
        assert_int_equal(begun[v], v & GROUP_ITLB ? 1 : 2);
}

/* ---- lines of wrong paths, in the graph */

/* A load from memory, a branch that waits for it and is mispredicted, and an instruction whose line its wrong path
 * requests `cycles` after the fetch of the branch. */
static struct graph_node *add_wrong_path(unsigned cycles)
{
    begin();
    add_load(MISS)->dest = REG;
    struct graph_node *n = add();
    n->flags = NODE_MISPREDICTED;
    n->source[0] = REG;
    n = add();
    n->wrong_line[0] = (struct wrong_edge){.distance = 1, .cycles = (uint16_t)cycles};
    n->wrong_beyond = BEYOND;
    return n;
}

static void a_line_of_a_wrong_path_arrives(void **state)
{
    (void)state;
    add_wrong_path(20);
    assert_int_equal(cycles(), 1 + 20 + LINE + BEYOND + REST);
    assert_int_equal(cycles_without(GRAPH_L2I), 1 + FRONT_STAGES + 1 + MISS + 1 + REST);
    assert_int_equal(cycles_without(GRAPH_L1I | GRAPH_L2I), 1 + FRONT_STAGES + 1 + MISS + 1 + REST);
}

static void a_wrong_path_that_resolves_early_requests_no_line(void **state)
{
    (void)state;
    add_wrong_path(20);
    long resolved = 1 + FRONT_STAGES + 1 + HIT + 1;
    assert_int_equal(cycles_without(GRAPH_L1D | GRAPH_L2D), resolved + LINE + BEYOND + REST);
}

static void of_two_wrong_paths_one_is_enough(void **state)
{
    (void)state;
    struct graph_node *n = add_wrong_path(20);
    n->wrong_line[1] = (struct wrong_edge){.distance = 1, .cycles = 5};
    assert_int_equal(cycles_without(GRAPH_L1D | GRAPH_L2D), 1 + 5 + LINE + BEYOND + REST);
    assert_int_equal(cycles(), 1 + 20 + LINE + BEYOND + REST); /* the first one has requested it */
}

static void wrong_paths_do_not_wait_for_perfect_structures(void **state)
{
    (void)state;
    struct graph_node *n = add_wrong_path(1);
    n->wrong_line[0].walks = 30;
    n->wrong_line[0].room = 100;
    assert_int_equal(cycles(), 1 + 131 + LINE + BEYOND + REST);
    assert_int_equal(cycles_without(GRAPH_ITLB), 1 + 101 + LINE + BEYOND + REST);
    /* Without misses of data, the front end has room; the walk is too long all the same. */
    long resolved = 1 + FRONT_STAGES + 1 + HIT + 1;
    assert_int_equal(cycles_without(GRAPH_L1D | GRAPH_L2D), resolved + LINE + BEYOND + REST);
    assert_int_equal(cycles_without(GRAPH_L1D | GRAPH_L2D | GRAPH_ITLB), 1 + 1 + LINE + BEYOND + REST);
}

/* A wrong path may be longer than the times of lanes have room for: a chain of loads within the window resolves it. */
static void a_wrong_path_may_be_very_long(void **state)
{
    (void)state;
    enum { LONG = 2400, LOADS = 24 };
    for (unsigned loads = 1; loads <= LOADS; loads++) {
        begin();
        for (unsigned i = 0; i < loads; i++) {
            struct graph_node *n = add_load(LONG);
            n->dest = n->source[0] = REG;
        }
        struct graph_node *n = add();
        n->flags = NODE_MISPREDICTED;
        n->source[0] = REG;
        n = add();
        long without = cycles();
        assert_true(without > (long)loads * LONG);
        n->wrong_line[0] = (struct wrong_edge){.distance = 1, .cycles = 20};
        assert_int_equal(cycles(), without);
    }
}

/* ---- lines of wrong paths, in the core */

static void a_wrong_line_is_told_once(void **state)
{
    (void)state;
    struct wrong_lines w;
    const struct wrong_request *r;
    wrong_lines_reset(&w);
    wrong_lines_begin(&w, 100, 1000);
    wrong_lines_walk(&w, 30);
    wrong_lines_wait(&w, 259, 9);
    wrong_lines_request(&w, 0x4000, 1300, 1560);
    assert_int_equal(wrong_lines_use(&w, 0x4020, 110), 0);
    r = wrong_lines_used(&w, wrong_lines_use(&w, 0x4000, 110));
    assert_int_equal(r[0].distance, 10);
    assert_int_equal(r[0].cycles, 300 - 30 - 259);
    assert_int_equal(r[0].walks, 30);
    assert_int_equal(r[0].lines, 9);
    assert_int_equal(r[0].second_lines, 250);
    assert_int_equal(r[0].latency, 260);
    assert_int_equal(r[1].distance, 0);
    assert_int_equal(wrong_lines_use(&w, 0x4000, 111), 0);
}

static void the_soonest_of_later_wrong_paths_counts(void **state)
{
    (void)state;
    struct wrong_lines w;
    const struct wrong_request *r;
    wrong_lines_reset(&w);
    wrong_lines_begin(&w, 100, 1000);
    wrong_lines_request(&w, 0x4000, 1010, 1270);
    wrong_lines_touch(&w, 0x4000, 1011);
    wrong_lines_begin(&w, 120, 1100);
    wrong_lines_touch(&w, 0x4000, 1106);
    wrong_lines_begin(&w, 130, 1200);
    wrong_lines_touch(&w, 0x4000, 1207);
    r = wrong_lines_used(&w, wrong_lines_use(&w, 0x4000, 140));
    assert_int_equal(r[0].distance, 40);
    assert_int_equal(r[0].cycles, 10);
    assert_int_equal(r[1].distance, 20);
    assert_int_equal(r[1].cycles, 6);
}

static void a_full_front_end_holds_a_wrong_path(void **state)
{
    (void)state;
    struct wrong_lines w;
    const struct wrong_request *r;
    wrong_lines_reset(&w);
    wrong_lines_begin(&w, 100, 1000);
    wrong_lines_find_room(&w, true, 1001);
    wrong_lines_find_room(&w, false, 1002);
    wrong_lines_find_room(&w, false, 1003);
    wrong_lines_find_room(&w, true, 1052);
    wrong_lines_request(&w, 0x4000, 1053, 1062);
    r = wrong_lines_used(&w, wrong_lines_use(&w, 0x4000, 101));
    assert_int_equal(r[0].room, 50);
    assert_int_equal(r[0].cycles, 3);
}

/* ---- prefetched lines */

static void a_prefetched_line_waits_for_the_bus(void **state)
{
    (void)state;
    for (unsigned bytes = 0; bytes <= 2; bytes += 2) {
        struct core_config config;
        struct graph_core core;
        struct error err;
        struct graph_node n;
        core_config_default(&config);
        config.l1i_prefetch = 1;
        config.l1i_prefetch_degree = 1;
        config.memory_bytes_per_cycle = bytes;
        graph_core_init(&core, &config);
        struct node_builder *b = node_builder_new(&core, &config, &err);
        assert_non_null(b);
        struct held_insn h = {.pc = 0x10020, .length = 4}; /* the next line is in another one of the L2 */
        const struct held_insns held = {.of = &h, .mask = 0, .end = 1};
        memsys_observe_prefetches(b->memory, nodes_on_prefetch, b);
        node_build(b, &held, 0, &n);
        /* The line that fetch needs takes 32 cycles of the bus, which are a part of its latency, and then the other. */
        assert_int_equal(n.fetch_demand_second, bytes ? BEYOND + 31 : BEYOND);
        assert_int_equal(n.fetch_prefetch_cycles, bytes ? BEYOND + 31 + 32 : BEYOND);
        node_builder_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_walk_begins_a_new_fetch_group),
        cmocka_unit_test(a_line_of_a_wrong_path_arrives),
        cmocka_unit_test(a_wrong_path_that_resolves_early_requests_no_line),
        cmocka_unit_test(of_two_wrong_paths_one_is_enough),
        cmocka_unit_test(wrong_paths_do_not_wait_for_perfect_structures),
        cmocka_unit_test(a_wrong_path_may_be_very_long),
        cmocka_unit_test(a_prefetched_line_waits_for_the_bus),
        cmocka_unit_test(a_wrong_line_is_told_once),
        cmocka_unit_test(the_soonest_of_later_wrong_paths_counts),
        cmocka_unit_test(a_full_front_end_holds_a_wrong_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
