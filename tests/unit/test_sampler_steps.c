/* The sampling memory above counters made up here: what it hands on is what happened, slice by slice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "core/machine.h"
#include "sampler/sampler.h"
#include "pmu/machine_pmu.h"

/* ---- counters: event `code` occurs code + tick % 3 times in every tick of the clock but in those of other contexts.
 * The last event also occurs whenever the sampler uses its driver, and is counted there unless MINH is set. */

enum { COUNTERS = 4, CLOCK = 3, CONTEXTS = 3 };

static struct {
    uint64_t value[SAMPLER_COUNTERS], code[SAMPLER_COUNTERS];
    uint64_t cycles, insns;
    uint64_t clock_code;
    unsigned clock; /* the counter that was started as such */
    bool overflow;
} hardware;

enum { EVENTS = 7, OWN_EVENTS = 1000 };

static void sampler_works(void)
{
    for (unsigned i = 0; i < COUNTERS; i++)
        if (hardware.code[i] == EVENTS)
            hardware.value[i] += OWN_EVENTS;
}

static void driver_read(uint64_t *to, uint32_t n)
{
    memcpy(to, hardware.value, n * sizeof *to);
    sampler_works();
}

static void driver_write(const uint64_t *from, uint32_t n)
{
    memcpy(hardware.value, from, n * sizeof *from);
}

static void driver_select(const uint64_t *code, uint32_t n)
{
    memcpy(hardware.code, code, n * sizeof *code);
    sampler_works();
}

static void driver_exchange(uint64_t *to, const uint64_t *code, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        sampler_works();
        to[i] = hardware.value[i];
        hardware.code[i] = code[i];
        hardware.value[i] = 0;
    }
}

static void driver_start_clock(unsigned counter, uint64_t value)
{
    assert_int_equal(hardware.code[counter], hardware.clock_code);
    hardware.clock = counter;
    hardware.value[counter] = value;
    hardware.overflow = false;
}

static uint64_t driver_cycles(void)
{
    return hardware.cycles;
}

static uint64_t driver_insns(void)
{
    return hardware.insns;
}

static void driver_set_cycles_and_insns(uint64_t cycles, uint64_t insns)
{
    hardware.cycles = cycles;
    hardware.insns = insns;
}

#include "sampler/sampler_steps.h"

static uint64_t happens(uint64_t code, uint64_t tick)
{
    code &= ~HPMEVENT_MINH;
    return code + (tick * code) % 3;
}

static void tick(uint64_t now)
{
    hardware.cycles++;
    hardware.insns += now % 2;
    for (unsigned i = 0; i < COUNTERS; i++) {
        if (i != hardware.clock && hardware.code[i])
            hardware.value[i] += happens(hardware.code[i], now);
        else if (i == hardware.clock && ++hardware.value[i] == 0)
            hardware.overflow = true;
    }
}

/* ---- a plan, and what comes of it */

enum { GROUPS = 3, SLICES_MOST = 20000 };

struct bench {
    struct plan plan;
    struct plan_event event[EVENTS];
    struct plan_group group[GROUPS];
    struct sampler *sampler;
    struct sampler_memory *memory;
    uint64_t now[CONTEXTS]; /* ticks of each context */
    struct slice *slices;
    size_t count;
};

static void take(void *context, const struct slice *s)
{
    struct bench *b = context;
    assert_true(b->count < SLICES_MOST);
    b->slices[b->count++] = *s;
}

/* Events 1 to 7 in groups of 3, 3 and 1, with shares 1, 1 and 2, and `idle` slots without a group. The events are
 * counted in user mode, or in machine mode as well. */
static void set_up_modes(struct bench *b, uint32_t contexts, uint32_t idle, bool fixed_order, uint64_t records,
                         bool machine)
{
    struct error err;
    memset(&hardware, 0, sizeof hardware);
    *b = (struct bench){0};
    for (unsigned i = 0; i < EVENTS; i++)
        b->event[i] = (struct plan_event){
            .code = (machine ? 0 : HPMEVENT_MINH) | (i + 1), .group = i / 3, .place = i % 3, .counter = 2 - i % 3};
    for (unsigned i = 0; i < GROUPS; i++)
        b->group[i] = (struct plan_group){.share = i == 2 ? 2 : 1, .counts = i == 2 ? 1 : 3, .clock = CLOCK};
    b->plan = (struct plan){.event = b->event,
                            .event_count = EVENTS,
                            .group = b->group,
                            .group_count = GROUPS,
                            .slots = 4 + idle,
                            .slice = 100,
                            .fixed_order = fixed_order,
                            .seed = 5};
    b->slices = calloc(SLICES_MOST, sizeof *b->slices);
    b->sampler = sampler_new(&b->plan, contexts, records, take, b, &err);
    assert_non_null(b->sampler);
    b->memory = calloc(1, sampler_bytes(b->sampler));
    assert_non_null(b->memory);
    sampler_load(b->sampler, b->memory);
    hardware.clock_code = b->memory->group[0].code[CLOCK];
    sampler_start(b->memory);
}

static void set_up(struct bench *b, uint32_t contexts, uint32_t idle, bool fixed_order, uint64_t records)
{
    set_up_modes(b, contexts, idle, fixed_order, records, false);
}

static void tear_down(struct bench *b)
{
    sampler_free(b->sampler);
    free(b->memory);
    free(b->slices);
}

/* The memory comes up to 8 ticks late, as interrupts do. */
static void run(struct bench *b, struct random *r, uint64_t ticks)
{
    uint64_t *now = &b->now[b->memory->current];
    for (uint64_t left = ticks, late = 0; left > 0; left--) {
        tick((*now)++);
        if (hardware.overflow && (late++ == 7 || random_u64(r) % 4 == 0)) {
            sampler_end_slice(b->memory);
            late = 0;
        }
    }
}

static struct sampler_reading reading(void)
{
    struct sampler_reading now = {.cycles = hardware.cycles, .insns = hardware.insns};
    driver_read(now.counter, SAMPLER_COUNTERS);
    return now;
}

static void end(struct bench *b)
{
    struct sampler_reading now = reading();
    sampler_end(b->sampler, b->memory, b->memory->current, &now);
    sampler_drain(b->sampler);
}

static uint64_t between(uint64_t code, uint64_t from, uint64_t to)
{
    uint64_t sum = 0;
    for (uint64_t t = from; t < to; t++)
        sum += happens(code, t);
    return sum;
}

/* Slices of the context lie side by side from its first to its last tick, and have counted what happened there. The
 * sampler's own events are extra, and belong to the last group. */
static void check_slices(const struct bench *b, uint32_t context)
{
    uint64_t at = 0, insns = 0;
    for (size_t i = 0; i < b->count; i++) {
        const struct slice *s = &b->slices[i];
        if (s->context != context)
            continue;
        for (unsigned j = 0; s->group != SLICE_IDLE && j < b->group[s->group].counts; j++)
            if (s->group * 3 + j + 1 < EVENTS || !b->memory->counts_itself)
                assert_int_equal(s->count[j], between(s->group * 3 + j + 1, at, at + s->cycles));
            else
                assert_int_equal((s->count[j] - between(EVENTS, at, at + s->cycles)) % OWN_EVENTS, 0);
        at += s->cycles;
        insns += s->insns;
    }
    assert_int_equal(at, b->now[context]);
    assert_int_equal(insns, b->now[context] / 2);
}

/* ---- tests */

static void slices_have_counted_what_happened(void **state)
{
    (void)state;
    struct bench b;
    struct random r = {1};
    set_up(&b, 1, 0, false, 64);
    for (unsigned i = 0; i < 100; i++) {
        run(&b, &r, 1000 + i);
        sampler_drain(b.sampler);
    }
    end(&b);
    check_slices(&b, 0);
    assert_int_equal(sampler_lost(b.sampler), 0);
    tear_down(&b);
}

static void own_events_are_those_of_the_group_that_counts_them(void **state)
{
    (void)state;
    struct bench b;
    struct random r = {10};
    set_up_modes(&b, CONTEXTS, 0, false, 2000, true);
    for (unsigned i = 0; i < 600; i++) {
        run(&b, &r, random_u64(&r) % 400);
        if (hardware.overflow)
            sampler_end_slice(b.memory);
        if (i % 4 == 0)
            sampler_switch(b.memory, (uint32_t)(random_u64(&r) % CONTEXTS));
        sampler_drain(b.sampler);
    }
    struct sampler_reading now = reading();
    for (uint32_t i = 0; i < CONTEXTS; i++)
        sampler_end(b.sampler, b.memory, i, &now);
    sampler_drain(b.sampler);
    for (uint32_t i = 0; i < CONTEXTS; i++)
        check_slices(&b, i);
    tear_down(&b);
}

/* Slices of 25, 50 and 100 ticks, in rounds of four; measuring that begins later begins with short ones, too. */
static void slices_grow_from_round_to_round(void **state)
{
    (void)state;
    struct bench b;
    struct random r = {11};
    set_up(&b, 1, 0, false, 64);
    b.plan.first_slice = 25;
    memset(b.memory, 0, sampler_bytes(b.sampler));
    memset(&hardware, 0, sizeof hardware);
    sampler_load(b.sampler, b.memory);
    hardware.clock_code = b.memory->group[0].code[CLOCK];
    sampler_start(b.memory);
    run(&b, &r, 1010);
    end(&b);
    check_slices(&b, 0);
    for (size_t i = 0; i + 1 < b.count; i++)
        assert_in_range(b.slices[i].cycles + 8, plan_slice_in_round(&b.plan, b.slices[i].round),
                        plan_slice_in_round(&b.plan, b.slices[i].round) + 16);
    assert_int_equal(plan_slice_in_round(&b.plan, 2), 100);
    struct sampler_reading now = reading();
    sampler_begin(b.sampler, b.memory, 0, &now);
    assert_int_equal(b.memory->context[0].slice, 25);
    tear_down(&b);
}

static void lateness_does_not_add_up(void **state)
{
    (void)state;
    struct bench b;
    struct random r = {2};
    set_up(&b, 1, 0, false, 2000);
    run(&b, &r, 100000);
    end(&b);
    assert_in_range(b.count, 999, 1001);
    tear_down(&b);
}

/* By slot of the round, how often group 0 had it. */
static void count_turns(const struct bench *b, unsigned turns[], unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++) {
        unsigned seen[GROUPS + 1] = {0};
        for (unsigned j = 0; j < b->plan.slots; j++) {
            const struct slice *s = &b->slices[i * b->plan.slots + j];
            assert_int_equal(s->round, i);
            seen[s->group == SLICE_IDLE ? GROUPS : s->group]++;
            turns[j] += s->group == 0;
        }
        for (unsigned j = 0; j < GROUPS; j++)
            assert_int_equal(seen[j], b->group[j].share);
        assert_int_equal(seen[GROUPS], b->plan.slots - 4);
    }
}

static void every_round_gives_each_group_its_share_in_random_order(void **state)
{
    (void)state;
    enum { ROUNDS = 2000 };
    struct bench b;
    struct random r = {3};
    unsigned turns[5] = {0};
    set_up(&b, 1, 1, false, 11000);
    run(&b, &r, ROUNDS * 500 + 50);
    sampler_drain(b.sampler);
    count_turns(&b, turns, ROUNDS);
    for (unsigned j = 0; j < 5; j++) /* 400 each, with a standard deviation of 18 */
        assert_in_range(turns[j], 400 - 72, 400 + 72);
    tear_down(&b);
}

static void order_may_be_fixed(void **state)
{
    (void)state;
    struct bench b;
    struct random r = {4};
    unsigned turns[5] = {0};
    set_up(&b, 1, 1, true, 1000);
    run(&b, &r, 100 * 500 + 50);
    sampler_drain(b.sampler);
    count_turns(&b, turns, 100);
    assert_int_equal(turns[0], 100);
    tear_down(&b);
}

static void order_is_a_function_of_the_seed(void **state)
{
    (void)state;
    unsigned groups[3][100];
    for (unsigned i = 0; i < 3; i++) {
        struct bench b;
        struct random r = {5};
        set_up(&b, 1, 0, false, 1000);
        b.memory->seed = i == 2 ? 6 : 5;
        b.memory->context[0].random = 0;
        sampler_start(b.memory);
        run(&b, &r, 10100);
        sampler_drain(b.sampler);
        for (unsigned j = 0; j < 100; j++)
            groups[i][j] = b.slices[j].group;
        tear_down(&b);
    }
    assert_memory_equal(groups[0], groups[1], sizeof groups[0]);
    assert_memory_not_equal(groups[0], groups[2], sizeof groups[0]);
}

static void contexts_have_counters_of_their_own(void **state)
{
    (void)state;
    struct bench b;
    struct random r = {6};
    set_up(&b, CONTEXTS, 0, false, 2000);
    for (unsigned i = 0; i < 600; i++) {
        run(&b, &r, random_u64(&r) % 400);
        if (hardware.overflow)
            sampler_end_slice(b.memory);
        sampler_switch(b.memory, (uint32_t)(random_u64(&r) % CONTEXTS));
        sampler_drain(b.sampler);
    }
    struct sampler_reading now = reading();
    for (uint32_t i = 0; i < CONTEXTS; i++)
        sampler_end(b.sampler, b.memory, i, &now);
    sampler_drain(b.sampler);
    for (uint32_t i = 0; i < CONTEXTS; i++)
        check_slices(&b, i);
    tear_down(&b);
}

static void what_was_before_the_beginning_does_not_count(void **state)
{
    (void)state;
    struct bench b;
    struct random r = {8};
    set_up(&b, 1, 0, false, 64);
    run(&b, &r, 12345);
    struct sampler_reading now = reading();
    sampler_begin(b.sampler, b.memory, 0, &now);
    run(&b, &r, 4321);
    end(&b);
    uint64_t cycles = 0, first = b.slices[0].group, from = 12345;
    for (size_t i = 0; i < b.count; i++)
        cycles += b.slices[i].cycles;
    assert_int_equal(cycles, 4321);
    assert_int_equal(b.slices[0].round, 0);
    assert_int_equal(b.slices[0].count[0], between(first * 3 + 1, from, from + b.slices[0].cycles));
    assert_int_equal(b.slices[1].round, 1); /* a whole one, behind what was left of a slice */
    assert_int_equal(b.slices[b.count - 1].round, 1 + (4321 - 55) / 400);
    assert_int_equal(sampler_lost(b.sampler), 0);
    tear_down(&b);
}

static void lost_slices_are_reported_as_idle_time(void **state)
{
    (void)state;
    struct bench b;
    struct random r = {7};
    set_up(&b, 1, 0, false, 16);
    for (unsigned i = 0; i < 20; i++) {
        run(&b, &r, i % 2 ? 300 : 10000);
        sampler_drain(b.sampler);
    }
    end(&b);
    check_slices(&b, 0);
    uint64_t idle = 0;
    for (size_t i = 0; i < b.count; i++)
        idle += b.slices[i].group == SLICE_IDLE;
    assert_true(sampler_lost(b.sampler) > 100);
    assert_in_range(idle, 10, 11);
    tear_down(&b);
}

static void plans_that_do_not_fit_the_engine_are_refused(void **state)
{
    (void)state;
    struct error err;
    struct plan_group group = {.share = 1};
    struct plan plan = {.group = &group, .group_count = 1, .slots = SAMPLER_SLOTS + 1, .slice = 1000};
    assert_null(sampler_new(&plan, 1, 10, take, NULL, &err));
    plan.slots = 1;
    assert_null(sampler_new(&plan, SAMPLER_CONTEXTS + 1, 10, take, NULL, &err));
    plan.group_count = SAMPLER_GROUPS;
    assert_null(sampler_new(&plan, 1, 10, take, NULL, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_have_counted_what_happened),
        cmocka_unit_test(own_events_are_those_of_the_group_that_counts_them),
        cmocka_unit_test(slices_grow_from_round_to_round),
        cmocka_unit_test(lateness_does_not_add_up),
        cmocka_unit_test(every_round_gives_each_group_its_share_in_random_order),
        cmocka_unit_test(order_may_be_fixed),
        cmocka_unit_test(order_is_a_function_of_the_seed),
        cmocka_unit_test(contexts_have_counters_of_their_own),
        cmocka_unit_test(what_was_before_the_beginning_does_not_count),
        cmocka_unit_test(lost_slices_are_reported_as_idle_time),
        cmocka_unit_test(plans_that_do_not_fit_the_engine_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
