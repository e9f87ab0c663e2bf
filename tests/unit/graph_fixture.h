/* Nodes made by hand, and the cycles that they take in each set of real structures, on the core eyerman2006. */
#ifndef TESTS_UNIT_GRAPH_FIXTURE_H
#define TESTS_UNIT_GRAPH_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "graph/graph_priv.h"

enum { MOST = 400, REG = 5, FRONT_STAGES = 5, MISS = 261, SECOND = 11, HIT = 2, FORWARD = 2 };

static struct graph_node nodes[MOST];
static unsigned count;

static inline void begin(void)
{
    memset(nodes, 0, sizeof nodes);
    count = 0;
}

/* Adds a node of an addition without operands, which begins a fetch group every fourth time. */
static inline struct graph_node *add(void)
{
    struct graph_node *n = &nodes[count];
    n->class = CLASS_ALU;
    n->new_group = count++ % 4 == 0 ? 0xff : 0;
    return n;
}

static inline struct graph_node *add_load(unsigned cycles)
{
    struct graph_node *n = add();
    n->class = CLASS_LOAD;
    n->flags = NODE_LOAD;
    n->load_cycles[PREDICTION_REAL] = n->load_cycles[PREDICTION_PERFECT] = (uint16_t)cycles;
    n->requests = cycles ? 3 : 0;
    n->arrives = cycles != 0;
    return n;
}

static inline struct graph_node *add_store(unsigned cycles)
{
    struct graph_node *n = add();
    n->class = CLASS_STORE;
    n->flags = NODE_STORE | NODE_LATE_DATA;
    n->drain_cycles[PREDICTION_REAL] = n->drain_cycles[PREDICTION_PERFECT] = (uint16_t)cycles;
    return n;
}

static inline struct graph_cycles evaluate_on(const struct core_config *config)
{
    struct graph_core core;
    struct graph_cycles cycles;
    struct error err;
    graph_core_init(&core, config);
    struct lanes *l = lanes_new(&core, &err);
    assert_non_null(l);
    lanes_evaluate(l, nodes, count);
    lanes_flush(l);
    lanes_cycles(l, lanes_known(l), &cycles);
    lanes_free(l);
    return cycles;
}

static inline struct graph_cycles evaluate(void)
{
    struct core_config config;
    core_config_default(&config);
    return evaluate_on(&config);
}

/* Cycles with everything real, except the structures in `perfect`. */
static inline long cycles_without(unsigned perfect)
{
    return (long)evaluate().with[GRAPH_EVERYTHING & ~perfect];
}

static inline long cycles(void)
{
    return cycles_without(0);
}

#endif
