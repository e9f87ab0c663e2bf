/* Facts about what-ifs of the dependence graph: how they are written, and nodes made by hand with the cycles that they
 * take on changed cores. The core that runs is eyerman2006. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/what_if_lanes.h"

enum { MOST = 256, REG = 5, MISS = 261, MEMORY = 250, SECOND = 11 };

static struct core_config config;
static struct graph_node nodes[MOST];
static struct held_insn insns[MOST];
static unsigned count;

static void begin(void)
{
    core_config_default(&config);
    memset(nodes, 0, sizeof nodes);
    memset(insns, 0, sizeof insns);
    count = 0;
}

/* Adds the node of an addition without operands, which begins a fetch group every eighth time, in program order in one
 * long line. */
static struct graph_node *add(void)
{
    struct graph_node *n = &nodes[count];
    n->class = CLASS_ALU;
    n->new_group = count % 8 == 0 ? 0xff : 0;
    n->room = count >= config.rob_size ? (uint16_t)config.rob_size : 0;
    insns[count++].length = 4;
    return n;
}

/* Adds a load that requests a line, as its instruction did in the run. */
static struct graph_node *add_load(unsigned cycles, unsigned level)
{
    struct held_insn *h = &insns[count];
    struct graph_node *n = add();
    h->access = (struct data_access){.cycles = (uint16_t)cycles, .level = (uint8_t)level};
    n->class = CLASS_LOAD;
    n->flags = NODE_LOAD;
    n->load_cycles[PREDICTION_REAL] = n->load_cycles[PREDICTION_PERFECT] = (uint16_t)cycles;
    n->requests = 3;
    n->arrives = true;
    return n;
}

/* The cycles of all nodes with a what-if. */
static long cycles(const char *text)
{
    struct what_ifs w = {0};
    struct what_if_lanes *lanes = calloc(1, sizeof *lanes);
    struct graph_core core;
    struct graph_cycles cycles = {0};
    struct error err;
    const struct held_insn *held[MOST];
    for (unsigned i = 0; i < count; i++)
        held[i] = &insns[i];
    graph_core_init(&core, &config);
    assert_non_null(lanes);
    assert_int_equal(what_ifs_add(&w, &config, text, &err), 0);
    assert_int_equal(what_if_lanes_add(lanes, &core, &w.of[0], &err), 0);
    what_if_lanes_evaluate(lanes, held, nodes, count);
    what_if_lanes_cycles(lanes, count, &cycles);
    what_if_lanes_free(lanes);
    free(lanes);
    what_ifs_free(&w);
    return (long)cycles.what_if[0];
}

/* The cycles of all nodes with everything real, by the evaluation of all sets. */
static long cycles_as_is(void)
{
    struct graph_core core;
    struct graph_cycles cycles;
    struct error err;
    graph_core_init(&core, &config);
    struct lanes *l = lanes_new(&core, &err);
    assert_non_null(l);
    lanes_evaluate(l, nodes, count);
    lanes_cycles(l, count, &cycles);
    lanes_free(l);
    return (long)cycles.with[GRAPH_EVERYTHING];
}

/* ---- texts */

static struct core_config parsed(const char *text, unsigned number, unsigned of)
{
    struct what_ifs w = {0};
    struct error err;
    core_config_default(&config);
    assert_int_equal(what_ifs_add(&w, &config, text, &err), 0);
    assert_int_equal(w.count, of);
    struct core_config changed = w.of[number].core;
    what_ifs_free(&w);
    return changed;
}

static void values_are_set_added_and_multiplied(void **state)
{
    (void)state;
    assert_int_equal(parsed("l2.latency=10", 0, 1).l2_latency, 10);
    assert_int_equal(parsed("l2.latency=+3", 0, 1).l2_latency, 12);
    assert_int_equal(parsed("l2.latency=-3", 0, 1).l2_latency, 6);
    assert_int_equal(parsed("l2.latency=x2", 0, 1).l2_latency, 18);
    assert_int_equal(parsed("l2.latency=x0.5", 0, 1).l2_latency, 5); /* 4.5, rounded */
    assert_int_equal(parsed("l2.latency=+50%", 0, 1).l2_latency, 14);
    assert_int_equal(parsed("memory.latency=-50%", 0, 1).memory_latency, 125);
    assert_int_equal(parsed("perfect.branch=yes", 0, 1).perfect_branch, 1);
    assert_int_equal(parsed("branch.unit=branch", 0, 1).branch_unit, BRANCH_ON_BRANCH);
}

static void a_plus_joins_settings_and_a_comma_ends_a_what_if(void **state)
{
    (void)state;
    struct core_config both = parsed("rob.size=x2+lsq.size=+64,l2.latency=+3", 0, 2);
    assert_int_equal(both.rob_size, 256);
    assert_int_equal(both.lsq_size, 128);
    assert_int_equal(both.l2_latency, 9);
    assert_int_equal(parsed("rob.size=x2+lsq.size=+64,l2.latency=+3", 1, 2).l2_latency, 12);
}

static void a_name_can_stand_for_several_parameters(void **state)
{
    (void)state;
    struct core_config wider = parsed("width=+1", 0, 1);
    assert_int_equal(wider.fetch_width, 9);
    assert_int_equal(wider.decode_width, 5);
    assert_int_equal(wider.dispatch_width, 5);
    assert_int_equal(wider.issue_width, 9);
    assert_int_equal(wider.commit_width, 5);
    assert_int_equal(parsed("branch.penalty=-3", 0, 1).frontend_stages, 2);
}

static void every_name_of_the_table_is_a_parameter(void **state)
{
    (void)state;
    struct what_if_name n;
    unsigned names = 0;
    for (; what_if_name(names, &n); names++)
        assert_true(strlen(n.meaning) > 0);
    assert_true(names > 60);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "l2.latency",
                                        "l2.latency=",
                                        "l2.latency=x",
                                        "l2.latency=+",
                                        "l2.latency=+3+",
                                        "l2.latency=-9",
                                        "l2.latency=+-3",
                                        "l2.latency=1001",
                                        "l2.latency=10,",
                                        "l2.size=x2",
                                        "iq.size=x2",
                                        "perfect.branch=+1",
                                        "memory.latency=2600",
                                        "dispatch.bundle=4",
                                        "rob.size=-0x10",
                                        "rob.size=+50%%"};
    struct error err;
    core_config_default(&config);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct what_ifs w = {0};
        err.text[0] = '\0';
        assert_int_not_equal(what_ifs_add(&w, &config, texts[i], &err), 0);
        assert_ptr_equal(strstr(err.text, "--what-if "), err.text);
        what_ifs_free(&w);
    }
    config.perfect_l1d = 1;
    struct what_ifs w = {0};
    assert_int_not_equal(what_ifs_add(&w, &config, "perfect.l1d=no", &err), 0);
    what_ifs_free(&w);
}

/* ---- cycles */

static void without_a_change_the_cycles_are_those_of_the_core(void **state)
{
    (void)state;
    begin();
    for (unsigned i = 0; i < 200; i++) {
        struct graph_node *n = i % 7 ? add() : add_load(i % 3 ? SECOND : MISS, i % 3 ? LEVEL_L2 : LEVEL_MEMORY);
        n->dest = n->source[0] = i % 5 ? 0 : REG;
    }
    static const char *const texts[] = {"rob.size=128", "l2.latency=9", "decode.width=+0", "perfect.units=no"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(cycles(texts[i]), cycles_as_is());
}

static void instructions_pass_at_the_width(void **state)
{
    (void)state;
    begin();
    for (unsigned i = 0; i < 40; i++)
        add();
    long narrow = cycles_as_is(), wide = cycles("decode.width=8+dispatch.width=8+commit.width=8+units.alu=8");
    assert_int_equal(narrow - wide, 40 / 4 - 40 / 8);
    assert_int_equal(cycles("dispatch.width=2") - narrow, 40 / 2 - 40 / 4);
    assert_int_equal(cycles("units.alu=1") - narrow, 40 - 40 / 4);
}

static void fetch_groups_are_formed_again(void **state)
{
    (void)state;
    begin();
    for (unsigned i = 0; i < 40; i++)
        add();
    /* One group of two instructions is fetched per cycle; before, decode was the limit. */
    assert_int_equal(cycles("fetch.width=2") - cycles_as_is(), 40 / 2 - 40 / 4);
}

static void a_chain_of_misses_takes_the_latencies_of_its_levels(void **state)
{
    (void)state;
    begin();
    for (unsigned i = 0; i < 6; i++) {
        struct graph_node *n = add_load(i % 2 ? SECOND : MISS, i % 2 ? LEVEL_L2 : LEVEL_MEMORY);
        n->source[0] = n->dest = REG;
    }
    long as_is = cycles_as_is();
    assert_int_equal(cycles("memory.latency=-50%") - as_is, 3 * -125);
    assert_int_equal(cycles("memory.latency=x2") - as_is, 3 * MEMORY);
    assert_int_equal(cycles("l2.latency=+4") - as_is, 6 * 4);
    assert_int_equal(cycles("l1d.latency=+1") - as_is, 6);
    assert_int_equal(cycles("perfect.l2d=yes") - as_is, 3 * -MEMORY);
}

/* A load that merges with a miss of the wrong path has waited for a part of its latency. */
static void a_part_of_a_latency_changes_as_the_whole(void **state)
{
    (void)state;
    begin();
    struct graph_node *n = add_load(100, LEVEL_MEMORY);
    insns[0].access.merged = true;
    n->requests = 0;
    long as_is = cycles_as_is();
    assert_int_equal(cycles("memory.latency=+20") - as_is, 20);
    assert_int_equal(cycles("memory.latency=-20") - as_is, -20);
    assert_int_equal(cycles("memory.latency=x0.5") - as_is, 2 - 100); /* it has come before: a hit */
}

static void instruction_misses_take_the_latencies_of_their_levels(void **state)
{
    (void)state;
    begin();
    add();
    struct graph_node *n = add();
    for (unsigned v = 0; v < PREDICTIONS; v++) {
        n->l1i_cycles[v] = 9;
        n->l2i_cycles[v] = MEMORY;
        n->itlb_cycles[v] = 30;
    }
    long as_is = cycles_as_is();
    assert_int_equal(cycles("l2.latency=+4") - as_is, 4);
    assert_int_equal(cycles("memory.latency=x2") - as_is, MEMORY);
    assert_int_equal(cycles("tlb.walk_latency=-10") - as_is, -10);
    assert_int_equal(cycles("perfect.itlb=yes") - as_is, -30);
}

static void a_larger_rob_lets_misses_overlap(void **state)
{
    (void)state;
    begin();
    add_load(MISS, LEVEL_MEMORY);
    while (count < 200)
        add();
    add_load(MISS, LEVEL_MEMORY);
    /* The second load is dispatched when the instruction 128 before it commits, after the first miss. */
    long as_is = cycles_as_is();
    assert_true(as_is > 2 * MISS);
    assert_true(cycles("rob.size=256") < MISS + 100);
    assert_int_equal(as_is - cycles("rob.size=132"), 1); /* the one 132 before commits a cycle earlier */
}

static void entries_of_the_load_store_queue_limit_loads(void **state)
{
    (void)state;
    begin();
    for (unsigned i = 0; i < 8; i++) {
        insns[count].flags = IS_LOAD;
        add_load(MISS, LEVEL_MEMORY);
    }
    long as_is = cycles_as_is(), one = cycles("lsq.size=1");
    assert_true(as_is < MISS + 50);
    assert_true(one > 8 * MISS);
}

static void a_misprediction_costs_the_stages_of_the_front_end(void **state)
{
    (void)state;
    begin();
    add()->flags = NODE_MISPREDICTED;
    add()->new_group = 0xff;
    long as_is = cycles_as_is();
    assert_int_equal(cycles("frontend.stages=+3") - as_is, 2 * 3);
    assert_int_equal(cycles("branch.penalty=-3") - as_is, 2 * -3);
    /* With perfect prediction the second instruction is fetched one cycle after the first. */
    assert_int_equal(cycles("perfect.branch=yes"), 2 + 5 + 1 + 1 + 1);
    assert_int_equal(cycles("perfect.branch=yes+frontend.stages=+3"), 2 + 8 + 1 + 1 + 1);
}

static void units_take_the_latency_that_they_get(void **state)
{
    (void)state;
    begin();
    for (unsigned i = 0; i < 4; i++)
        add()->class = CLASS_DIV;
    long as_is = cycles_as_is();
    assert_int_equal(as_is - cycles("div.latency=10"), 4 * 10);
    assert_int_equal(as_is - cycles("div.pipelined=yes"), 3 * 19);
    assert_int_equal(as_is - cycles("units.muldiv=2"), 2 * 20);
}

static void a_unit_is_waited_for_as_long_as_it_can_be_busy(void **state)
{
    (void)state;
    begin();
    struct graph_node *n = add();
    n->class = CLASS_DIV;
    n->unit_wait.cycles = 19;
    long as_is = cycles_as_is();
    assert_int_equal(as_is - cycles("div.latency=10"), 10 + 10);
    assert_int_equal(as_is - cycles("div.latency=15"), 5 + 5);
    assert_int_equal(cycles("div.latency=30") - as_is, 10);
    assert_int_equal(as_is - cycles("div.pipelined=yes"), 19);
    assert_int_equal(as_is - cycles("units.muldiv=2"), 19);
}

static void an_mshr_is_waited_for_as_long_as_a_miss_can_take(void **state)
{
    (void)state;
    begin();
    const unsigned memory = 2 + 9 + 250;
    struct graph_node *n = add();
    n->class = CLASS_LOAD;
    n->flags = NODE_LOAD;
    n->load_cycles[PREDICTION_REAL] = n->load_cycles[PREDICTION_PERFECT] = insns[0].access.cycles = (uint16_t)memory;
    insns[0].access.level = LEVEL_MEMORY;
    n->requests = 3;
    n->mshr_wait.cycles = 200;
    long as_is = cycles_as_is();
    assert_int_equal(as_is - cycles("l1d.mshrs=x2"), 200);
    assert_int_equal(as_is - cycles("memory.latency=-200"), 200 + 200 - (memory - 200));
    assert_int_equal(as_is, cycles("l1d.mshrs=4"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_set_added_and_multiplied),
        cmocka_unit_test(a_plus_joins_settings_and_a_comma_ends_a_what_if),
        cmocka_unit_test(a_name_can_stand_for_several_parameters),
        cmocka_unit_test(every_name_of_the_table_is_a_parameter),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(without_a_change_the_cycles_are_those_of_the_core),
        cmocka_unit_test(instructions_pass_at_the_width),
        cmocka_unit_test(fetch_groups_are_formed_again),
        cmocka_unit_test(a_chain_of_misses_takes_the_latencies_of_its_levels),
        cmocka_unit_test(a_part_of_a_latency_changes_as_the_whole),
        cmocka_unit_test(instruction_misses_take_the_latencies_of_their_levels),
        cmocka_unit_test(a_larger_rob_lets_misses_overlap),
        cmocka_unit_test(entries_of_the_load_store_queue_limit_loads),
        cmocka_unit_test(a_misprediction_costs_the_stages_of_the_front_end),
        cmocka_unit_test(units_take_the_latency_that_they_get),
        cmocka_unit_test(a_unit_is_waited_for_as_long_as_it_can_be_busy),
        cmocka_unit_test(an_mshr_is_waited_for_as_long_as_a_miss_can_take),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
