/* The stall breakdown: what a stall is charged to, intervals, phases. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "sampler/stalls_phases.h"
#include "pmu/stall_meter.h"

/* ---- records */

static struct cycle_record waiting(enum head_wait wait)
{
    return (struct cycle_record){.commit_stop = COMMIT_HEAD, .head_wait = (uint8_t)wait, .rob = 1};
}

static struct cycle_record empty(enum front_cause cause)
{
    return (struct cycle_record){.commit_stop = COMMIT_EMPTY, .cause = (uint8_t)cause};
}

static struct cycle_record retiring(uint8_t insns)
{
    return (struct cycle_record){.committed = insns, .commit_stop = COMMIT_WIDTH};
}

/* ---- what a stall is charged to */

struct step {
    enum head_wait wait;
    unsigned cycles; /* 0 ends a list */
};

static void waits_decide(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        struct step steps[6];
        enum stall_part part;
    } rows[] = {
        {"an ALU", {{HEAD_ISSUE, 9}, {HEAD_ALU, 1}}, PART_INTEGER},
        {"a multiplication behind a turn", {{HEAD_ISSUE, 5}, {HEAD_UNIT, 3}}, PART_INTEGER},
        {"a division of floating point", {{HEAD_ISSUE, 1}, {HEAD_FPU, 12}}, PART_FPU},
        {"a hit", {{HEAD_ISSUE, 1}, {HEAD_L1D_HIT, 2}}, PART_HIT},
        {"a miss", {{HEAD_L1D, 11}}, PART_DCACHE},
        {"a miss of all caches", {{HEAD_ISSUE, 1}, {HEAD_L2D, 200}}, PART_DCACHE},
        {"a load that walks and hits", {{HEAD_DTLB, 30}, {HEAD_L1D_HIT, 2}}, PART_TRANSLATION},
        {"a load that walks and misses", {{HEAD_DTLB, 30}, {HEAD_L2D, 200}}, PART_DCACHE},
        {"a load that walks and comes from the second cache", {{HEAD_DTLB, 30}, {HEAD_WALKED, 11}}, PART_DCACHE},
        {"a store that walks", {{HEAD_DTLB, 30}, {HEAD_ALU, 1}}, PART_TRANSLATION},
        {"a load that is sent back and hits", {{HEAD_REJECT, 9}, {HEAD_L1D_HIT, 2}}, PART_REJECT},
        {"a load that walks, is sent back and hits",
         {{HEAD_DTLB, 30}, {HEAD_REJECT, 9}, {HEAD_L1D_HIT, 2}},
         PART_REJECT},
        {"a load that is sent back and misses", {{HEAD_REJECT, 9}, {HEAD_L1D, 11}}, PART_DCACHE},
        {"a fence", {{HEAD_STORES, 50}, {HEAD_ISSUE, 1}, {HEAD_ALU, 1}}, PART_STORES},
        {"an atomic that hits", {{HEAD_STORES, 50}, {HEAD_ISSUE, 1}, {HEAD_L1D_HIT, 2}}, PART_STORES},
        {"an atomic that misses", {{HEAD_STORES, 50}, {HEAD_ISSUE, 1}, {HEAD_L1D, 11}}, PART_DCACHE},
        {"a full store buffer", {{HEAD_ALU, 1}, {HEAD_STORES, 7}}, PART_STORES},
        {"a full store buffer behind a miss", {{HEAD_STORES, 1}, {HEAD_L2D, 99}}, PART_DCACHE},
        {"an addition in the bundle of a load that walked",
         {{HEAD_DTLB, 30}, {HEAD_L1D_HIT, 2}, {HEAD_ALU, 1}},
         PART_INTEGER},
        {"an addition in the bundle of a store that walked", {{HEAD_DTLB, 30}, {HEAD_ALU, 2}}, PART_INTEGER},
        {"a hit in the bundle of a multiplication that a load walked before",
         {{HEAD_DTLB, 30}, {HEAD_UNIT, 3}, {HEAD_L1D_HIT, 2}},
         PART_HIT},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (unsigned single = 0; single < 2; single++) { /* cycles one by one must be the same */
            struct stall_meter m = {0};
            uint64_t cycles = 0;
            for (const struct step *s = rows[i].steps; s->cycles; s++) {
                struct cycle_record r = waiting(s->wait);
                for (unsigned k = 0; single && k < s->cycles; k++)
                    stall_meter_add(&m, &r, 1);
                if (!single)
                    stall_meter_add(&m, &r, s->cycles);
                cycles += s->cycles;
            }
            assert_int_equal(stall_meter_end(&m), cycles);
            if (stall_part_of(&m.last) != rows[i].part)
                fail_msg("%s is charged to %d and not to %d", rows[i].what, stall_part_of(&m.last), rows[i].part);
            assert_int_equal(stall_meter_end(&m), 0);
        }
    }
}

static void one_stall_leaves_nothing_for_the_next(void **state)
{
    (void)state;
    struct stall_meter m = {0};
    struct cycle_record walk = waiting(HEAD_DTLB), hit = waiting(HEAD_L1D_HIT);
    stall_meter_add(&m, &walk, 30);
    assert_int_equal(stall_meter_end(&m), 30);
    stall_meter_add(&m, &hit, 2);
    assert_int_equal(stall_meter_end(&m), 2);
    assert_int_equal(stall_part_of(&m.last), PART_HIT);
}

static void causes_decide_while_the_window_is_empty(void **state)
{
    (void)state;
    static const enum stall_part parts[CAUSES] = {PART_OTHER,  PART_ICACHE, PART_ICACHE, PART_ICACHE,
                                                  PART_BRANCH, PART_BRANCH, PART_OTHER};
    for (unsigned c = 0; c < CAUSES; c++) {
        struct cycle_record r = empty((enum front_cause)c);
        assert_false(stall_is_whole(&r));
        assert_int_equal(stall_part_of(&r), parts[c]);
    }
}

/* ---- intervals */

struct check {
    uint64_t insns, cycles; /* so far */
    uint64_t length;
    enum slice_clock clock;
    size_t count;
    bool last_was_short;
    struct stall_interval sum;
};

static uint64_t parts_of(const struct stall_interval *i)
{
    uint64_t sum = i->completion;
    for (unsigned s = 0; s < STALL_SOURCES; s++)
        sum += i->stalls[s];
    return sum;
}

static void check_interval(void *context, const struct stall_interval *i)
{
    struct check *c = context;
    assert_false(c->last_was_short); /* only the last is */
    assert_int_equal(parts_of(i), i->cycles);
    assert_int_equal(i->first_insn, c->insns);
    assert_int_equal(i->first_cycle, c->cycles);
    for (unsigned s = 0; s < STALL_SOURCES; s++)
        assert_int_equal(i->error[s], 0);
    if (c->clock == CLOCK_CYCLES) {
        assert_true(i->cycles <= c->length);
        c->last_was_short = i->cycles < c->length;
    } else { /* the cut is the first cycle's end at or after a multiple of the length */
        c->last_was_short = c->insns / c->length == (c->insns + i->insns) / c->length;
        assert_true((c->insns + i->insns) % c->length < 4 || c->last_was_short);
    }
    c->insns += i->insns;
    c->cycles += i->cycles;
    c->count++;
    stall_interval_add(&c->sum, i);
}

/* A plausible stream: stalls end in retirement, an empty window fills. Counts what it makes. */
static void feed(struct stalls *s, unsigned rounds, uint64_t seed, bool split, uint64_t *insns, uint64_t *cycles)
{
    const struct core_observer *o = stalls_observer(s);
    struct random random;
    random_seed(&random, seed);
    for (unsigned i = 0; i < rounds; i++) {
        struct cycle_record r = retiring((uint8_t)(1 + random_u64(&random) % 4));
        unsigned kind = (unsigned)(random_u64(&random) % 4);
        uint64_t n = 1 + random_u64(&random) % (kind == 2 ? 400 : 6);
        if (kind == 1)
            r = empty((enum front_cause)(random_u64(&random) % CAUSES));
        if (kind == 2)
            r = waiting((enum head_wait)(1 + random_u64(&random) % (HEAD_WAITS - 1)));
        for (uint64_t k = 0; split && k < n; k++)
            o->cycles(o->context, &r, 1);
        if (!split)
            o->cycles(o->context, &r, n);
        *insns += n * r.committed;
        *cycles += n;
        if (kind == 2) { /* what else could end it */
            r = retiring(1);
            o->cycles(o->context, &r, 1);
            *insns += 1;
            *cycles += 1;
        }
    }
    stalls_sum(s)->end(stalls_sum(s)->context);
}

static struct stall_interval run(enum slice_clock clock, uint64_t length, uint64_t seed, bool split, size_t *count)
{
    struct check c = {.length = length, .clock = clock};
    struct stalls_config config = {.clock = clock, .interval = length, .sink = check_interval, .context = &c};
    struct error err;
    uint64_t insns = 0, cycles = 0;
    struct stalls *s = stalls_new(&config, &err);
    assert_non_null(s);
    feed(s, 3000, seed, split, &insns, &cycles);
    struct stall_interval total = *stalls_total(s);
    assert_int_equal(total.insns, insns);
    assert_int_equal(total.cycles, cycles);
    assert_int_equal(parts_of(&total), cycles);
    assert_memory_equal(&total, &c.sum, sizeof total);
    *count = c.count;
    stalls_free(s);
    return total;
}

static void intervals_add_up(void **state)
{
    (void)state;
    static const uint64_t lengths[] = {1, 2, 3, 7, 100, 1000, 12345, 100000000};
    for (unsigned l = 0; l < sizeof lengths / sizeof lengths[0]; l++)
        for (uint64_t seed = 1; seed <= 3; seed++)
            for (unsigned clock = 0; clock < 2; clock++) {
                size_t count, steps;
                struct stall_interval a = run((enum slice_clock)clock, lengths[l], seed, false, &count);
                struct stall_interval b = run((enum slice_clock)clock, lengths[l], seed, true, &steps);
                assert_memory_equal(&a, &b, sizeof a);
                assert_int_equal(count, steps);
                if (clock == CLOCK_CYCLES)
                    assert_int_equal(count, (a.cycles + lengths[l] - 1) / lengths[l]);
            }
}

static void stall_over_a_border_is_of_one_source(void **state)
{
    (void)state;
    struct stall_series series = {0};
    struct stalls_config config = {.interval = 10, .sink = stall_series_add, .context = &series};
    struct error err;
    struct stalls *s = stalls_new(&config, &err);
    assert_non_null(s);
    const struct core_observer *o = stalls_observer(s);
    struct cycle_record turn = waiting(HEAD_ISSUE), miss = waiting(HEAD_L2D), retire = retiring(2);
    o->cycles(o->context, &retire, 5);
    o->cycles(o->context, &turn, 8); /* the border is in here: what it will be charged to is not known yet */
    assert_int_equal(series.count, 0);
    o->cycles(o->context, &miss, 14); /* and another one here */
    o->cycles(o->context, &retire, 1);
    stalls_sum(s)->end(stalls_sum(s)->context);
    assert_int_equal(series.count, 3);
    assert_int_equal(series.of[0].stalls[STALL_DCACHE], 5);
    assert_int_equal(series.of[1].stalls[STALL_DCACHE], 10);
    assert_int_equal(series.of[2].stalls[STALL_DCACHE], 7);
    assert_int_equal(series.of[2].completion, 1);
    assert_int_equal(series.of[2].first_insn, 10);
    stalls_free(s);
    stall_series_free(&series);
}

static void machine_mode_can_be_left_out(void **state)
{
    (void)state;
    struct stalls_config config = {.user_only = true};
    struct error err;
    struct stalls *s = stalls_new(&config, &err);
    assert_non_null(s);
    const struct core_observer *o = stalls_observer(s);
    struct cycle_record user = retiring(1), machine = retiring(3), wait = empty(CAUSE_SERIAL);
    machine.flags = wait.flags = CYCLE_MACHINE;
    o->cycles(o->context, &user, 2);
    o->cycles(o->context, &wait, 9);
    o->cycles(o->context, &machine, 7);
    o->cycles(o->context, &user, 3);
    stalls_sum(s)->end(stalls_sum(s)->context);
    assert_int_equal(stalls_total(s)->cycles, 5);
    assert_int_equal(stalls_total(s)->insns, 5);
    assert_int_equal(stalls_total(s)->completion, 5);
    stalls_free(s);
}

static void forked_process_counts_from_its_start(void **state)
{
    (void)state;
    struct stall_series series = {0};
    struct stalls_config config = {.interval = 4, .sink = stall_series_add, .context = &series};
    struct error err;
    struct stalls *s = stalls_new(&config, &err);
    assert_non_null(s);
    const struct core_observer *o = stalls_observer(s);
    struct cycle_record r = retiring(1);
    o->cycles(o->context, &r, 6);
    assert_int_equal(series.count, 1);
    stalls_sum(s)->forked(stalls_sum(s)->context);
    o->cycles(o->context, &r, 9);
    stalls_sum(s)->end(stalls_sum(s)->context);
    assert_int_equal(series.count, 1); /* the parent's copy of it */
    assert_int_equal(stalls_total(s)->cycles, 9);
    stalls_free(s);
    stall_series_free(&series);
}

static void errors_of_sums_are_of_independent_ones(void **state)
{
    (void)state;
    struct stall_interval a = {.error = {3, 10}}, b = {.error = {4}};
    stall_interval_add(&a, &b);
    assert_int_equal(a.error[0], 5);
    assert_int_equal(a.error[1], 10);
}

/* ---- phases */

/* An interval of a million instructions, its stalls shaken by up to `noise` in a thousand. */
static void put(struct stall_series *s, struct random *random, enum stall_source source, double cpi, unsigned noise)
{
    uint64_t cycles = (uint64_t)(cpi * 1e6);
    uint64_t shake = noise ? random_u64(random) % (cycles * noise / 1000) : 0;
    struct stall_interval i = {.first_insn = s->count * 1000000, .insns = 1000000, .completion = 300000};
    i.stalls[source] = cycles + shake;
    i.cycles = i.completion + i.stalls[source];
    stall_series_add(s, &i);
}

static void phases_are_found(void **state)
{
    (void)state;
    struct random random;
    struct stall_series s = {0};
    struct stall_phase phase[PHASES_MOST];
    random_seed(&random, 1);
    for (unsigned i = 0; i < 40; i++)
        put(&s, &random, STALL_DCACHE, 2, 200);
    for (unsigned i = 0; i < 25; i++)
        put(&s, &random, STALL_BRANCH, 1, 200);
    for (unsigned i = 0; i < 60; i++)
        put(&s, &random, STALL_DCACHE, 0.5, 200);
    assert_int_equal(stall_phases_find(&s, phase), 3);
    assert_int_equal(phase[0].count, 40);
    assert_int_equal(phase[1].first, 40);
    assert_int_equal(phase[1].count, 25);
    assert_int_equal(phase[2].first, 65);
    assert_int_equal(phase[2].count, 60);
    assert_int_equal(phase[2].sum.first_insn, 65000000);
    assert_int_equal(phase[1].sum.insns, 25000000);
    assert_int_equal(stall_largest(&phase[1].sum), STALL_BRANCH);
    stall_series_free(&s);
}

static void noise_and_alternation_are_one_phase(void **state)
{
    (void)state;
    struct random random;
    struct stall_phase phase[PHASES_MOST];
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct stall_series noise = {0}, alternation = {0}, same = {0};
        random_seed(&random, seed);
        for (unsigned i = 0; i < 200; i++) {
            put(&noise, &random, STALL_DCACHE, 1, 900);
            put(&alternation, &random, i % 2 ? STALL_DCACHE : STALL_FPU, 1, 100);
            put(&same, &random, STALL_INTEGER, 1, 0);
        }
        assert_int_equal(stall_phases_find(&noise, phase), 1);
        assert_int_equal(stall_phases_find(&alternation, phase), 1);
        assert_int_equal(stall_phases_find(&same, phase), 1);
        stall_series_free(&noise);
        stall_series_free(&alternation);
        stall_series_free(&same);
    }
}

static void phases_cover_the_series(void **state)
{
    (void)state;
    struct random random;
    random_seed(&random, 7);
    for (size_t count = 0; count < 1300; count += count < 10 ? 1 : 123) {
        struct stall_series s = {0};
        struct stall_phase phase[PHASES_MOST];
        struct stall_interval all = {0}, of_phases = {0};
        for (size_t i = 0; i < count; i++) {
            put(&s, &random, (enum stall_source)(i * 5 / count), 1 + (double)(i * 5 / count), 300);
            stall_interval_add(&all, &s.of[i]);
        }
        if (count > 5)
            s.of[5].insns = 0; /* such intervals exist */
        all.insns -= count > 5 ? 1000000 : 0;
        size_t phases = stall_phases_find(&s, phase), next = 0;
        assert_int_equal(phases == 0, count == 0);
        assert_true(phases <= PHASES_MOST);
        for (size_t i = 0; i < phases; i++) {
            assert_int_equal(phase[i].first, next);
            assert_true(phase[i].count > 0);
            next += phase[i].count;
            stall_interval_add(&of_phases, &phase[i].sum);
        }
        assert_int_equal(next, count);
        assert_memory_equal(&all, &of_phases, sizeof all);
        if (count > 100)
            assert_int_equal(phases, 5);
        stall_series_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_decide),
        cmocka_unit_test(one_stall_leaves_nothing_for_the_next),
        cmocka_unit_test(causes_decide_while_the_window_is_empty),
        cmocka_unit_test(intervals_add_up),
        cmocka_unit_test(stall_over_a_border_is_of_one_source),
        cmocka_unit_test(machine_mode_can_be_left_out),
        cmocka_unit_test(forked_process_counts_from_its_start),
        cmocka_unit_test(errors_of_sums_are_of_independent_ones),
        cmocka_unit_test(phases_are_found),
        cmocka_unit_test(noise_and_alternation_are_one_phase),
        cmocka_unit_test(phases_cover_the_series),
    };
    return cmocka_run_group_tests_name("stalls", tests, NULL, NULL);
}
