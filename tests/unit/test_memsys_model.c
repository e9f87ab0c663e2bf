/* The hierarchy against literal models of it on random accesses: lists for LRU, a list of lines for MSHRs, and warming
 * against the accesses that it stands for. */
#include "memsys_world.h"

#include <string.h>

/* ---- caches as lists, the last one used first */

enum { SETS = 64, WAYS = 16 };

struct model_line {
    uint64_t line;
    bool dirty;
};

struct model_cache {
    unsigned sets, ways, line_bytes;
    unsigned used[SETS];
    struct model_line list[SETS][WAYS];
    uint64_t accesses, misses, writebacks;
    uint64_t store_accesses, store_misses, clean_evictions;
};

struct model {
    struct model_cache l1, l2;
    bool through, allocate;
    uint64_t bus_reads, bus_writes;
};

static bool model_find(struct model_cache *c, uint64_t addr, bool dirty)
{
    uint64_t line = addr / c->line_bytes;
    struct model_line *list = c->list[line % c->sets];
    for (unsigned i = 0; i < c->used[line % c->sets]; i++) {
        if (list[i].line != line)
            continue;
        struct model_line found = {line, list[i].dirty || dirty};
        memmove(list + 1, list, i * sizeof *list);
        list[0] = found;
        return true;
    }
    return false;
}

/* Returns whether a dirty line left, and which. */
static bool model_insert(struct model_cache *c, uint64_t addr, bool dirty, uint64_t *victim)
{
    uint64_t line = addr / c->line_bytes;
    struct model_line *list = c->list[line % c->sets];
    unsigned *used = &c->used[line % c->sets];
    bool full = *used == c->ways, leaves = full && list[*used - 1].dirty;
    *victim = list[c->ways - 1].line * c->line_bytes;
    if (*used < c->ways)
        ++*used;
    memmove(list + 1, list, (*used - 1) * sizeof *list);
    list[0] = (struct model_line){line, dirty};
    c->writebacks += leaves;
    c->clean_evictions += full && !leaves;
    return leaves;
}

static void model_fill_l2(struct model *m, uint64_t addr, bool dirty)
{
    uint64_t victim;
    if (model_insert(&m->l2, addr, dirty, &victim))
        m->bus_writes += m->l2.line_bytes / 8;
}

static void model_pass_store(struct model *m, uint64_t addr)
{
    m->l2.accesses++;
    m->l2.store_accesses++;
    if (!model_find(&m->l2, addr, true)) {
        m->l2.misses++;
        m->l2.store_misses++;
        m->bus_writes++;
    }
}

static void model_access(struct model *m, uint64_t addr, bool store)
{
    uint64_t victim;
    bool dirty = store && !m->through;
    m->l1.accesses++;
    m->l1.store_accesses += store;
    if (!model_find(&m->l1, addr, dirty)) {
        m->l1.misses++;
        m->l1.store_misses += store;
        if (!store || m->allocate) {
            m->l2.accesses++;
            m->l2.store_accesses += store;
            if (!model_find(&m->l2, addr, false)) {
                m->l2.misses++;
                m->l2.store_misses += store;
                m->bus_reads += m->l2.line_bytes / 8;
                model_fill_l2(m, addr, false);
            }
            if (model_insert(&m->l1, addr, dirty, &victim) && !model_find(&m->l2, victim, true))
                model_fill_l2(m, victim, true);
        } else if (!m->through) {
            model_pass_store(m, addr);
        }
    }
    if (store && m->through)
        model_pass_store(m, addr);
}

struct geometry {
    unsigned l1_sets, l1_ways, l1_line, l2_sets, l2_ways, l2_line;
};

static void compare(const struct geometry *g, bool through, bool allocate, uint64_t seed)
{
    static struct model model;
    model = (struct model){.l1 = {.sets = g->l1_sets, .ways = g->l1_ways, .line_bytes = g->l1_line},
                           .l2 = {.sets = g->l2_sets, .ways = g->l2_ways, .line_bytes = g->l2_line},
                           .through = through,
                           .allocate = allocate};
    struct memsys_config config = small_config();
    config.l1i.line_bytes = 8;
    config.l1d.ways = g->l1_ways;
    config.l1d.line_bytes = g->l1_line;
    config.l1d.size_bytes = g->l1_sets * g->l1_ways * g->l1_line;
    config.l1d.write = through ? WRITE_THROUGH : WRITE_BACK;
    config.l1d.allocate_on_store = allocate;
    config.l2.ways = g->l2_ways;
    config.l2.line_bytes = g->l2_line;
    config.l2.size_bytes = g->l2_sets * g->l2_ways * g->l2_line;
    struct memsys *m = build(&config);
    struct random r;
    random_seed(&r, seed);
    uint64_t span = 2 * config.l2.size_bytes, near = 2 * config.l1d.size_bytes;
    for (uint64_t i = 0; i < 20000; i++) { /* half of the accesses in an area that is small, all far apart in time */
        uint64_t addr = (random_u64(&r) % (random_u64(&r) & 1 ? span : near)) & ~UINT64_C(7);
        bool is_store = random_u64(&r) % 4 == 0;
        model_access(&model, addr, is_store);
        if (is_store)
            memsys_store(m, addr, 8, 0, 1000 * i);
        else
            memsys_load(m, addr, 8, 0, 1000 * i, false);
    }
    const struct memsys_counts *n = memsys_counts(m);
    assert_int_equal(n->l1d.accesses[0], model.l1.accesses);
    assert_int_equal(n->l1d.misses[0], model.l1.misses);
    /* A store that is written through finds the line that it has itself brought under way: a merge, no other miss. */
    assert_int_equal(n->l2d.accesses[0], model.l2.accesses);
    assert_int_equal(n->l2d.misses[0] - n->l2d.merges[0], model.l2.misses);
    assert_int_equal(n->l1d.writebacks, model.l1.writebacks);
    assert_int_equal(n->l2d.writebacks, model.l2.writebacks);
    assert_int_equal(n->primary_d.l1[0], n->l1d.misses[0] - n->l1d.merges[0]);
    assert_int_equal(n->l1d.clean_evictions, model.l1.clean_evictions);
    assert_int_equal(n->l2d.clean_evictions, model.l2.clean_evictions);
    assert_int_equal(n->l1d.store_accesses, model.l1.store_accesses);
    assert_int_equal(n->l1d.store_misses, model.l1.store_misses);
    assert_int_equal(n->l2d.store_accesses, model.l2.store_accesses);
    assert_int_equal(n->l2d.store_misses - n->l2d.merges[0], model.l2.store_misses);
    assert_int_equal(n->bus_reads, model.bus_reads);
    assert_int_equal(n->bus_writes, model.bus_writes);
    memsys_free(m);
}

static void test_counts_are_those_of_lists(void **state)
{
    (void)state;
    const struct geometry geometries[] = {
        {8, 1, 32, 16, 1, 32}, {8, 2, 32, 32, 2, 64},  {16, 4, 32, 32, 8, 64}, {1, 8, 16, 1, 16, 128},
        {4, 3, 64, 8, 5, 64},  {2, 12, 8, 64, 16, 16}, {32, 1, 64, 2, 16, 64}, {1, 1, 8, 1, 1, 8},
    };
    for (size_t i = 0; i < sizeof geometries / sizeof *geometries; i++)
        for (unsigned policy = 0; policy < 4; policy++)
            compare(&geometries[i], policy & 1, policy & 2, 100 * i + policy);
}

/* ---- MSHRs: a load is rejected if and only if as many lines as there are MSHRs are under way and its own is not */

static void test_mshrs_hold_lines_until_they_arrive(void **state)
{
    (void)state;
    enum { MSHRS = 5, LINES = 64 };
    struct memsys_config config = small_config();
    config.l1d.mshrs = MSHRS;
    config.l1d.size_bytes = 1 << 20; /* nothing leaves */
    config.l2.ports = 1;
    config.l2.mshrs = 3;
    config.memory_bytes_per_cycle = 8;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct memsys *m = build(&config);
        struct random r;
        random_seed(&r, seed);
        uint64_t arrival[LINES], now = 1;
        memset(arrival, 0, sizeof arrival);
        for (unsigned i = 0; i < 400; i++) {
            now += random_u64(&r) % 40;
            unsigned line = (unsigned)(random_u64(&r) % LINES), under_way = 0;
            uint64_t first = UINT64_MAX;
            for (unsigned k = 0; k < LINES; k++) {
                under_way += arrival[k] > now;
                if (arrival[k] > now && arrival[k] < first)
                    first = arrival[k];
            }
            struct mem_answer a = load(m, 32 * line, now);
            bool known = arrival[line] != 0;
            assert_int_equal(a.rejected, !known && under_way == MSHRS);
            if (a.rejected) {
                assert_int_equal(a.ready, first);
            } else if (known) {
                assert_int_equal(a.ready, arrival[line] > now + 2 ? arrival[line] : now + 2);
                assert_int_equal(a.merged, arrival[line] > now);
            } else {
                assert_true(a.ready >= now + 12);
                arrival[line] = a.ready;
            }
        }
        memsys_free(m);
    }
}

/* ---- warming */

static void access_at(struct memsys *m, struct random *r, uint64_t now, bool warm, uint64_t *answers)
{
    uint64_t addr = random_u64(r) % 40000, kind = random_u64(r) % 4, pc = 0x1000 + random_u64(r) % 4 * 4;
    struct mem_answer a = {0};
    if (random_u64(r) % 2)
        addr = now / 1000 * 40; /* a stream among them, for prefetchers */
    if (kind == 0) {
        if (warm)
            memsys_warm_fetch(m, addr);
        else
            memsys_translate_fetch(m, addr, now, false), a = memsys_fetch(m, addr, now, false);
    } else if (warm) {
        memsys_warm_data(m, addr, 8, pc, kind == 1);
    } else {
        memsys_translate_data(m, addr, now, false);
        a = kind == 1 ? memsys_store(m, addr, 8, pc, now) : memsys_load(m, addr, 8, pc, now, false);
    }
    *answers = *answers * 31 + a.level * 8 + a.prefetched;
}

static void test_warming_leaves_the_same_state(void **state)
{
    (void)state;
    for (unsigned variant = 0; variant < 36; variant++) {
        struct memsys_config config = small_config();
        config.itlb = (struct tlb_config){.name = "itlb", .entries = 4, .ways = 4};
        config.dtlb = (struct tlb_config){.name = "dtlb", .entries = 4, .ways = 2};
        config.l2tlb = (struct tlb_config){.name = "l2tlb", .entries = 8, .ways = 4, .latency = 7};
        config.l1d.replacement = config.l2.replacement = variant % 3;
        config.l1i.prefetch = config.l1d.prefetch = config.l2.prefetch = variant / 3 % 3;
        config.l1i.prefetch_degree = config.l1d.prefetch_degree = config.l2.prefetch_degree = 2;
        config.l1d.write = variant / 9 % 2 ? WRITE_THROUGH : WRITE_BACK;
        config.l1d.allocate_on_store = variant / 18;
        struct memsys *m[2] = {build(&config), build(&config)};
        struct memsys_counts before[2];
        uint64_t answers[2] = {0};
        for (unsigned warm = 0; warm < 2; warm++) {
            struct random r;
            random_seed(&r, variant);
            uint64_t unused = 0, i = 0;
            for (; i < 3000; i++)
                access_at(m[warm], &r, 1000 * i, warm, &unused);
            before[warm] = *memsys_counts(m[warm]);
            for (; i < 5000; i++)
                access_at(m[warm], &r, 1000 * i, false, &answers[warm]);
        }
        assert_int_equal(answers[0], answers[1]);
        struct memsys_counts none = {0};
        assert_memory_equal(&before[1], &none, sizeof none);
        const uint64_t *cold = (const uint64_t *)memsys_counts(m[0]), *start = (const uint64_t *)&before[0],
                       *warmed = (const uint64_t *)memsys_counts(m[1]);
        for (size_t i = 0; i < sizeof none / sizeof *cold; i++)
            assert_int_equal(cold[i] - start[i], warmed[i]);
        memsys_free(m[0]);
        memsys_free(m[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_are_those_of_lists),
        cmocka_unit_test(test_mshrs_hold_lines_until_they_arrive),
        cmocka_unit_test(test_warming_leaves_the_same_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
