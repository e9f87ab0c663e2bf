/* A small hierarchy that the tests of memsys/ vary: latencies 2 (l1d), 1 (l1i), 10 (l2), 100 (memory). */
#ifndef CYCLESCOPE_TESTS_MEMSYS_WORLD_H
#define CYCLESCOPE_TESTS_MEMSYS_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "memsys/memsys.h"

enum { LRU, PLRU, RANDOM };
enum { NO_PREFETCH, NEXT_LINE, STRIDE };

static inline struct memsys_config small_config(void)
{
    return (struct memsys_config){
        .l1i = {.name = "l1i", .size_bytes = 1024, .ways = 2, .line_bytes = 32, .latency = 1},
        .l1d = {.name = "l1d",
                .size_bytes = 1024, /* 8 sets of 4 ways: lines 256 bytes apart share a set */
                .ways = 4,
                .line_bytes = 32,
                .latency = 2,
                .allocate_on_store = true},
        .l2 = {.name = "l2", .size_bytes = 16384, .ways = 8, .line_bytes = 64, .latency = 10},
        .l3 = {.name = "l3", .ways = 8, .line_bytes = 64, .latency = 30},
        .itlb = {.name = "itlb"},
        .dtlb = {.name = "dtlb"},
        .l2tlb = {.name = "l2tlb"},
        .page_bytes = 4096,
        .walk_latency = 30,
        .memory_latency = 100,
        .bus_bytes = 8,
    };
}

static inline struct memsys *build(const struct memsys_config *config)
{
    struct error err;
    struct memsys *m = memsys_new(config, &err);
    if (!m)
        fail_msg("%s", err.text);
    return m;
}

static inline struct mem_answer load(struct memsys *m, uint64_t addr, uint64_t now)
{
    return memsys_load(m, addr, 4, 0x1000, now, false);
}

static inline struct mem_answer store(struct memsys *m, uint64_t addr, uint64_t now)
{
    return memsys_store(m, addr, 4, 0x2000, now);
}

#define ANSWERS(answer, cycle, from)                                                                                   \
    do {                                                                                                               \
        struct mem_answer answer_ = (answer);                                                                          \
        assert_false(answer_.rejected);                                                                                \
        assert_int_equal(answer_.ready, cycle);                                                                        \
        assert_int_equal(answer_.level, from);                                                                         \
    } while (0)

#endif
