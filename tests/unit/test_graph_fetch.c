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
    n->wrong_beyond[FETCH_REAL] = n->wrong_beyond[FETCH_EARLY] = BEYOND;
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

/* ---- few MSHRs for instruction lines */

/* The core, with a prefetcher of instruction lines that has this many MSHRs. */
static struct core_config config_with(unsigned mshrs)
{
    struct core_config config;
    core_config_default(&config);
    config.l1i_prefetch = config.l1i_prefetch_degree = 1;
    config.l1i_mshrs = mshrs;
    return config;
}

enum { EARLY = GRAPH_EVERYTHING & ~(GRAPH_L1D | GRAPH_L2D), PERFECT = GRAPH_EVERYTHING & ~GRAPH_BRANCH };

/* An instruction that requests a line from beyond the L2. */
static struct graph_node *add_demand(unsigned beyond)
{
    struct graph_node *n = add();
    n->new_group = 0xff;
    n->fetch_demand = LINE;
    n->fetch_demand_second[FETCH_PERFECT] = n->fetch_demand_second[FETCH_EARLY] = (uint16_t)beyond;
    n->fetch_requests = 1 << FETCH_PERFECT | 1 << FETCH_EARLY;
    return n;
}

/* A mispredicted branch, whose wrong path requests a line in the cycle after it, and an instruction that requests
 * another line. */
static struct graph_node *add_wrong_request(void)
{
    begin();
    struct graph_node *n = add();
    n->flags = NODE_MISPREDICTED;
    n->wrong_requests = 1;
    n->wrong_fetch[0] = (struct wrong_fetch){.cycles = 1, .beyond = BEYOND};
    add_demand(0);
    return n;
}

static void a_wrong_path_leaves_its_requests_behind(void **state)
{
    (void)state;
    const long resolved = 1 + FRONT_STAGES + 1 + 1, until = 1 + 1 + LINE + BEYOND + 1;
    struct core_config one = config_with(1), two = config_with(2);
    struct graph_node *n = add_wrong_request();
    assert_int_equal(evaluate_on(&one).with[EARLY], until + LINE + REST);
    assert_int_equal(evaluate_on(&two).with[EARLY], resolved + LINE + REST);
    assert_int_equal(evaluate_on(&one).with[PERFECT], 1 + 1 + LINE + REST);
    /* A wrong path that ends before does not request the line. */
    n->wrong_fetch[0].cycles = 50;
    assert_int_equal(evaluate_on(&one).with[EARLY], resolved + LINE + REST);
    /* Without data, the L2 has the line. */
    n->wrong_fetch[0] = (struct wrong_fetch){.cycles = 1, .beyond = BEYOND, .second_alone = true};
    assert_int_equal(evaluate_on(&one).with[EARLY], 1 + 1 + LINE + 1 + LINE + REST);
}

static void a_prefetch_of_a_wrong_path_needs_a_free_mshr(void **state)
{
    (void)state;
    const long resolved = 1 + FRONT_STAGES + 1 + 1;
    struct core_config one = config_with(1), two = config_with(2);
    for (unsigned prefetch = 0; prefetch < 2; prefetch++) {
        struct graph_node *n = add_wrong_request();
        n->wrong_requests = 2;
        n->wrong_fetch[1] = n->wrong_fetch[0];
        n->wrong_fetch[1].prefetch = prefetch;
        long first = 1 + 1 + LINE + BEYOND + 1, second = first + LINE + BEYOND + 1;
        assert_int_equal(evaluate_on(&one).with[EARLY], (prefetch ? first : second) + LINE + REST);
        assert_int_equal(evaluate_on(&two).with[EARLY], first + LINE + REST);
        n->wrong_requests = 0;
        assert_int_equal(evaluate_on(&one).with[EARLY], resolved + LINE + REST);
    }
}

static void the_right_path_uses_what_a_wrong_path_has_requested(void **state)
{
    (void)state;
    const long resolved = 1 + FRONT_STAGES + 1 + 1;
    struct core_config config = config_with(2);
    struct graph_node *n = add_wrong_request();
    struct graph_node *user = &nodes[1];
    user->fetch_requests = 0;
    user->new_group = 0;
    user->wrong_line[0] = (struct wrong_edge){.distance = 1, .number = 1, .cycles = 1};
    user->wrong_beyond[FETCH_REAL] = user->wrong_beyond[FETCH_EARLY] = BEYOND;
    assert_int_equal(evaluate_on(&config).with[EARLY], 1 + 1 + LINE + BEYOND + REST);
    n->wrong_fetch[0].cycles = 50;
    assert_int_equal(evaluate_on(&config).with[EARLY], resolved + LINE + BEYOND + REST);
}

static void instruction_lines_from_memory_share_the_bus(void **state)
{
    (void)state;
    struct core_config config = config_with(4);
    config.memory_bytes_per_cycle = 1;
    const long transfer = 63, memory = BEYOND + transfer;
    begin();
    struct graph_node *n = add_demand(memory);
    n->fetch_prefetches = true;
    n->fetch_prefetch_lines = 1;
    n->fetch_prefetch_cycles = memory;
    n->fetch_proposes = 1 << FETCH_PERFECT | 1 << FETCH_EARLY;
    n = add();
    n->fetch_distance = 1;
    n->fetch_awaits = n->fetch_proposes | 1 << FETCH_PERFECT | 1 << FETCH_EARLY;
    const unsigned sets[] = {EARLY, PERFECT};
    for (unsigned k = 0; k < 2; k++)
        assert_int_equal(evaluate_on(&config).with[sets[k]], 1 + LINE + memory + transfer + 1 + REST);
    config.memory_bytes_per_cycle = 0;
    for (unsigned k = 0; k < 2; k++)
        assert_int_equal(evaluate_on(&config).with[sets[k]], 1 + LINE + memory + REST);
}

/* The node of the first instruction of a program on a core whose L1I has two MSHRs. */
static struct graph_node node_of(const struct fetch_stalls *stalls)
{
    struct core_config config = config_with(2);
    struct graph_core core;
    struct error err;
    struct graph_node n;
    graph_core_init(&core, &config);
    struct node_builder *b = node_builder_new(&core, &config, &err);
    assert_non_null(b);
    struct held_insn h = {.pc = 0x10000, .length = 4, .stalls = *stalls};
    const struct held_insns held = {.of = &h, .mask = 0, .end = 1};
    memsys_observe_prefetches(b->memory, nodes_on_prefetch, b);
    node_build(b, &held, 0, &n);
    node_builder_free(b);
    return n;
}

static void a_request_waits_for_the_mshrs_of_its_own_set(void **state)
{
    (void)state;
    const struct fetch_stalls s = {
        .cycles[FETCH_L2I] = LINE + BEYOND + 70, .line_cycles = BEYOND + 70, .mshr_cycles = 70, .requested = true};
    struct graph_node n = node_of(&s);
    assert_int_equal(n.l1i_cycles[FETCH_REAL], LINE);
    assert_int_equal(n.l2i_cycles[FETCH_REAL], BEYOND + 70);
    assert_int_equal(n.fetch_requests, 1 << FETCH_PERFECT | 1 << FETCH_EARLY);
    assert_int_equal(n.fetch_demand, LINE);
    assert_int_equal(n.fetch_demand_second[FETCH_PERFECT], BEYOND);
    assert_int_equal(n.fetch_demand_second[FETCH_EARLY], BEYOND);
}

static void lines_that_wrong_paths_have_brought_are_not_proposed(void **state)
{
    (void)state;
    struct fetch_stalls s = {.requested = true, .cycles[FETCH_L1I] = LINE};
    assert_int_equal(node_of(&s).fetch_proposes, 1 << FETCH_PERFECT);
    s.prefetched = true;
    assert_int_equal(node_of(&s).fetch_proposes, 1 << FETCH_PERFECT | 1 << FETCH_EARLY);
    s.prefetched = false;
    s.mshrs_taken = true; /* the run lacked an MSHR for the line */
    assert_int_equal(node_of(&s).fetch_proposes, 1 << FETCH_PERFECT | 1 << FETCH_EARLY);
}

/* ---- lines of wrong paths, in the core */

static void a_misprediction_on_a_wrong_path_ends_its_wait(void **state)
{
    (void)state;
    struct wrong_lines w;
    const struct wrong_request *r;
    wrong_lines_reset(&w);
    wrong_lines_begin(&w, 100, 1000);
    wrong_lines_wait(&w, 1001, 300, 9);
    wrong_lines_request(&w, 0x4000, false, 1050, 1050, 1310);
    r = wrong_lines_used(&w, wrong_lines_use(&w, 0x4000, 110));
    assert_int_equal(r[0].cycles, 1);
    assert_int_equal(r[0].lines, 9);
    assert_int_equal(r[0].second_lines, 40);
    wrong_lines_walk(&w, 1060, 30);
    wrong_lines_touch(&w, 0x5000, 1070);
    wrong_lines_request(&w, 0x6000, false, 1200, 1200, 1210);
    r = wrong_lines_used(&w, wrong_lines_use(&w, 0x6000, 111));
    assert_int_equal(r[0].walks, 30); /* nothing has ended this wait */
    assert_int_equal(r[0].cycles, 200 - 30 - 49);
}

static void a_wrong_path_keeps_its_first_requests(void **state)
{
    (void)state;
    struct wrong_lines w;
    wrong_lines_reset(&w);
    wrong_lines_begin(&w, 90, 900);
    uint16_t path = wrong_lines_begin(&w, 100, 1000);
    for (unsigned k = 0; k <= WRONG_PATH_REQUESTS; k++)
        wrong_lines_request(&w, 0x4000 + 64 * k, k == 1, 1001 + k, 1003 + k, 1270);
    wrong_lines_begin(&w, 120, 1100);
    const struct wrong_made *made = wrong_lines_made(&w, path);
    for (unsigned k = 0; k < WRONG_PATH_REQUESTS; k++) {
        assert_int_equal(made[k].line, 0x4000 + 64 * k);
        assert_int_equal(made[k].request.distance, 1);
        assert_int_equal(made[k].request.cycles, 1 + k);
        assert_int_equal(made[k].request.latency, 269 - k);
        assert_int_equal(made[k].request.mshr_cycles, 2);
        assert_int_equal(made[k].request.prefetch, k == 1);
        assert_int_equal(wrong_lines_used(&w, wrong_lines_use(&w, made[k].line, 130))[0].number, k + 1);
    }
    assert_int_equal(wrong_lines_used(&w, wrong_lines_use(&w, 0x4000 + 64 * WRONG_PATH_REQUESTS, 130))[0].number, 0);
}

static void a_wrong_line_is_told_once(void **state)
{
    (void)state;
    struct wrong_lines w;
    const struct wrong_request *r;
    wrong_lines_reset(&w);
    wrong_lines_begin(&w, 100, 1000);
    wrong_lines_walk(&w, 1001, 30);
    wrong_lines_wait(&w, 1041, 259, 9);
    wrong_lines_request(&w, 0x4000, false, 1300, 1300, 1560);
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
    wrong_lines_request(&w, 0x4000, false, 1010, 1010, 1270);
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
    wrong_lines_request(&w, 0x4000, false, 1053, 1053, 1062);
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
        config.l1i_mshrs = 32;
        config.memory_bytes_per_cycle = bytes;
        graph_core_init(&core, &config);
        struct node_builder *b = node_builder_new(&core, &config, &err);
        assert_non_null(b);
        struct held_insn h = {.pc = 0x10020, .length = 4}; /* the next line is in another one of the L2 */
        const struct held_insns held = {.of = &h, .mask = 0, .end = 1};
        memsys_observe_prefetches(b->memory, nodes_on_prefetch, b);
        node_build(b, &held, 0, &n);
        /* The line that fetch needs takes 32 cycles of the bus, which are a part of its latency, and then the other. */
        assert_int_equal(n.l2i_cycles[FETCH_PERFECT], bytes ? BEYOND + 31 : BEYOND);
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
        cmocka_unit_test(a_wrong_path_leaves_its_requests_behind),
        cmocka_unit_test(a_prefetch_of_a_wrong_path_needs_a_free_mshr),
        cmocka_unit_test(the_right_path_uses_what_a_wrong_path_has_requested),
        cmocka_unit_test(instruction_lines_from_memory_share_the_bus),
        cmocka_unit_test(a_request_waits_for_the_mshrs_of_its_own_set),
        cmocka_unit_test(lines_that_wrong_paths_have_brought_are_not_proposed),
        cmocka_unit_test(a_misprediction_on_a_wrong_path_ends_its_wait),
        cmocka_unit_test(a_wrong_path_keeps_its_first_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
