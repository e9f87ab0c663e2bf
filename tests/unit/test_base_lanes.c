/* Facts about the base split by limits: nodes made by hand, and the cycles that they take with limits lifted, on the
 * core eyerman2006 with issue queues of 8. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/base_lanes.h"

enum { MOST = 256, REG = 5, ALL = GRAPH_LIMIT_SETS - 1, DIVISION = 20 };

static struct graph_node nodes[MOST];
static unsigned count;

static void begin(void)
{
    memset(nodes, 0, sizeof nodes);
    count = 0;
}

/* Adds a node of an addition without operands, which begins a fetch group every eighth time. */
static struct graph_node *add(void)
{
    struct graph_node *n = &nodes[count];
    n->class = CLASS_ALU;
    n->new_group = count % 8 == 0 ? 0xff : 0;
    n->room = count >= 128 ? 128 : 0;
    count++;
    return n;
}

/* The cycles of all nodes with these limits, if a division takes `division` cycles. */
static long cycles_with(unsigned limits, unsigned division)
{
    struct core_config config;
    struct graph_core core;
    struct graph_cycles cycles = {{0}, {0}, {0}};
    struct error err;
    struct base_lanes *b = calloc(1, sizeof *b);
    assert_non_null(b);
    core_config_default(&config);
    config.iq_int = 8;
    config.div_latency = division;
    graph_core_init(&core, &config);
    assert_int_equal(base_lanes_init(b, &core, &err), 0);
    base_lanes_evaluate(b, nodes, count);
    base_lanes_cycles(b, count, &cycles);
    base_lanes_free(b);
    free(b);
    return (long)cycles.base[limits];
}

static long cycles(unsigned limits)
{
    return cycles_with(limits, DIVISION);
}

static void without_limits_instructions_pass_at_once(void **state)
{
    (void)state;
    begin();
    add();
    long one = cycles(0);
    for (unsigned i = 0; i < 200; i++)
        add()->source[0] = REG;
    assert_int_equal(cycles(0), one);
}

static void the_width_is_a_limit(void **state)
{
    (void)state;
    begin();
    add();
    long one = cycles(LIMIT_width);
    for (unsigned i = 1; i < 200; i++)
        add();
    assert_int_equal(cycles(LIMIT_width) - one, 200 / 4 - 1);
    assert_int_equal(cycles(ALL), cycles(LIMIT_width));
}

static void operands_are_a_limit(void **state)
{
    (void)state;
    begin();
    for (unsigned i = 0; i < 200; i++) {
        struct graph_node *n = add();
        n->source[0] = n->dest = REG;
    }
    assert_int_equal(cycles(LIMIT_width | LIMIT_dependences) - cycles(LIMIT_width), 200 - 200 / 4);
    assert_int_equal(cycles(ALL & ~LIMIT_dependences), cycles(LIMIT_width));
}

static void the_window_is_a_limit(void **state)
{
    (void)state;
    begin();
    /* A chain of 12 divisions, 240 cycles, and behind the window of 128 another one. */
    for (unsigned i = 0; i < 152; i++) {
        struct graph_node *n = add();
        if (i < 12 || i >= 140) {
            n->class = CLASS_DIV;
            n->source[0] = n->dest = i < 12 ? REG : REG + 1;
        }
    }
    const unsigned chains = LIMIT_width | LIMIT_dependences;
    assert_true(cycles(chains) < 12 * DIVISION + 152 / 4 + 20);
    assert_true(cycles(chains | LIMIT_window) > 2 * 11 * DIVISION);
    /* With one divider that is not pipelined, the window is no limit besides. */
    assert_true(cycles(chains | LIMIT_units) > 24 * DIVISION);
}

static void a_chain_overlaps_one_of_many_cycles_before_it(void **state)
{
    (void)state;
    enum { CHAIN = 100, LONG = 1000 };
    begin();
    for (unsigned i = 0; i < 2 * CHAIN; i++) {
        struct graph_node *n = add();
        n->class = CLASS_DIV;
        n->source[0] = n->dest = i < CHAIN ? REG : REG + 1;
    }
    long both = cycles_with(LIMIT_width | LIMIT_dependences, LONG);
    assert_true(both >= CHAIN * LONG && both < CHAIN * LONG + 100);
}

static void issue_queues_are_a_limit(void **state)
{
    (void)state;
    begin();
    /* Eight additions wait for a chain of divisions; a division behind them would not. */
    for (unsigned i = 0; i < 5; i++) {
        struct graph_node *n = add();
        n->class = CLASS_DIV;
        n->source[0] = n->dest = REG;
    }
    for (unsigned i = 0; i < 8; i++)
        add()->source[0] = REG;
    add()->class = CLASS_DIV;
    const unsigned chains = LIMIT_width | LIMIT_dependences;
    long free = cycles(chains), limited = cycles(chains | LIMIT_queues);
    assert_true(limited > free);
    assert_int_equal(cycles(ALL & ~LIMIT_queues), cycles(ALL & ~LIMIT_queues & ~LIMIT_window));
}

static void units_are_a_limit(void **state)
{
    (void)state;
    begin();
    for (unsigned i = 0; i < 4; i++)
        add()->class = CLASS_DIV;
    assert_int_equal(cycles(LIMIT_width | LIMIT_units) - cycles(LIMIT_width), 3 * DIVISION);
    begin();
    add()->class = CLASS_DIV;
    long alone = cycles(LIMIT_width | LIMIT_units);
    nodes[0].unit_wait.cycles = 7; /* for a younger one */
    assert_int_equal(cycles(LIMIT_width | LIMIT_units) - alone, 7);
    assert_int_equal(cycles(LIMIT_width), alone);
}

static void the_memory_order_is_a_limit(void **state)
{
    (void)state;
    begin();
    struct graph_node *division = add(), *store = add(), *load = add();
    division->class = CLASS_DIV;
    division->dest = REG;
    store->class = CLASS_STORE;
    store->flags = NODE_STORE | NODE_LATE_DATA;
    store->source[0] = REG;
    load->class = CLASS_LOAD;
    load->flags = NODE_LOAD;
    /* The load waits for the address of the store, which waits for the division. */
    const unsigned others = LIMIT_width | LIMIT_dependences;
    assert_int_equal(cycles(others | LIMIT_order) - cycles(others), 2);
    load->flags = NODE_AT_HEAD;
    load->class = CLASS_ALU;
    assert_int_equal(cycles(others | LIMIT_order) - cycles(others), 2);
}

static void forwarded_data_is_a_dependence(void **state)
{
    (void)state;
    begin();
    struct graph_node *division = add(), *store = add(), *load = add();
    division->class = CLASS_DIV;
    division->dest = REG;
    store->class = CLASS_STORE;
    store->flags = NODE_STORE | NODE_LATE_DATA;
    store->source[1] = REG;
    load->class = CLASS_LOAD;
    load->flags = NODE_LOAD | NODE_WHOLE;
    load->match = 1;
    assert_true(cycles(LIMIT_width | LIMIT_dependences) > cycles(LIMIT_width));
    assert_int_equal(cycles(LIMIT_width | LIMIT_order), cycles(LIMIT_width));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_limits_instructions_pass_at_once),
        cmocka_unit_test(the_width_is_a_limit),
        cmocka_unit_test(operands_are_a_limit),
        cmocka_unit_test(the_window_is_a_limit),
        cmocka_unit_test(a_chain_overlaps_one_of_many_cycles_before_it),
        cmocka_unit_test(issue_queues_are_a_limit),
        cmocka_unit_test(units_are_a_limit),
        cmocka_unit_test(the_memory_order_is_a_limit),
        cmocka_unit_test(forwarded_data_is_a_dependence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
