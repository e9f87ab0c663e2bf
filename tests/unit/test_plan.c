/* Plans of multiplexing: groups by a core's counters and rules, rounds and slots, and what each impossibility says. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core_fixture.h"
#include "core/cores.h"
#include "sampler/plan.h"
#include "pmu/fit.h"
#include "pmu/machine_pmu.h"

struct planned {
    struct core_config core;
    struct event_specs specs;
    struct plan plan;
    struct error err;
    int code;
};

static void make(struct planned *p, const char *settings, const char *wanted, const struct plan_options *options)
{
    memset(p, 0, sizeof *p);
    make_core(&p->core, settings);
    if (event_specs_parse(&p->specs, wanted, &p->err) != 0)
        fail_msg("%s", p->err.text);
    p->code = plan_make(&p->specs, &p->core, options, &p->plan, &p->err);
}

static void unmake(struct planned *p)
{
    event_specs_free(&p->specs);
    plan_free(&p->plan);
}

/* What holds of every plan: events have counters of their own in their groups, by the rules, in their places. */
static void check_plan(const struct planned *p)
{
    const struct plan *plan = &p->plan;
    uint32_t taken[PLAN_GROUPS_MOST] = {0}, places[PLAN_GROUPS_MOST] = {0}, shares = 0;
    assert_true(plan->group_count >= 1 && plan->group_count <= PLAN_GROUPS_MOST);
    assert_int_equal(plan->event_count, p->specs.count);
    for (size_t i = 0; i < plan->group_count; i++) {
        assert_true(plan->group[i].clock < p->core.pmu_counters);
        taken[i] = UINT32_C(1) << plan->group[i].clock;
        shares += plan->group[i].share;
    }
    assert_true(shares <= plan->slots && plan->slots <= PLAN_SLOTS_MOST);
    for (size_t i = 0; i < plan->event_count; i++) {
        const struct plan_event *e = &plan->event[i];
        struct event_spec s;
        assert_true(event_decode(e->code, &s));
        assert_ptr_equal(s.event, p->specs.of[i].event);
        if (e->group == PLAN_ALWAYS)
            continue;
        assert_true(e->group < plan->group_count && e->counter < p->core.pmu_counters);
        assert_true(pmu_allowed(&p->specs.of[i], &p->core) >> e->counter & 1);
        assert_false(taken[e->group] >> e->counter & 1);
        taken[e->group] |= UINT32_C(1) << e->counter;
        assert_int_equal(e->place, __builtin_popcount(places[e->group])); /* in their order */
        places[e->group] |= UINT32_C(1) << e->place;
    }
    for (size_t i = 0; i < plan->group_count; i++)
        assert_int_equal(__builtin_popcount(places[i]), plan->group[i].counts);
}

/* `want` has a letter per event: its group's, or `*` if it is counted always. */
static void expect(const char *settings, const char *wanted, const char *want)
{
    struct planned p;
    const struct plan_options none = {0};
    char got[PLAN_EVENTS_MOST + 1] = "";
    make(&p, settings, wanted, &none);
    assert_string_equal(p.err.text, "");
    check_plan(&p);
    assert_true(p.plan.least);
    for (size_t i = 0; i < p.plan.event_count; i++)
        got[i] = p.plan.event[i].group == PLAN_ALWAYS ? '*' : (char)('a' + p.plan.event[i].group);
    if (strcmp(got, want) != 0)
        fail_msg("%s with %s: %s instead of %s", wanted, settings, got, want);
    unmake(&p);
}

static void one_counter_of_each_group_is_the_clock(void **state)
{
    (void)state;
    expect("pmu.counters=2", "loads", "a");
    expect("pmu.counters=2", "loads,stores,branches", "abc");
    expect("pmu.counters=4", "loads,stores,branches", "aaa");
    expect("pmu.counters=8", "loads,loads,loads,loads,loads,loads,loads", "aaaaaaa");
}

static void groups_are_even(void **state)
{
    (void)state;
    struct planned p;
    const struct plan_options none = {0};
    make(&p, "pmu.counters=5", "loads,loads,loads,loads,loads,loads,loads,loads,loads,loads", &none);
    check_plan(&p);
    assert_int_equal(p.plan.group_count, 3);
    assert_int_equal(p.plan.group[0].counts + p.plan.group[1].counts + p.plan.group[2].counts, 10);
    for (unsigned i = 0; i < 3; i++)
        assert_true(p.plan.group[i].counts >= 3 && p.plan.group[i].counts <= 4);
    unmake(&p);
}

static void rules_make_groups(void **state)
{
    (void)state;
    expect("pmu.counters=4 events.loads=0 events.stores=0", "loads,stores", "ab");
    expect("pmu.counters=4 events.loads=0 events.stores=0,1", "loads,stores", "aa");
    expect("pmu.counters=3 events.cycles=2 events.loads=2,1 events.stores=2,1", "loads,stores", "ab");
    expect("pmu.counters=2 events.cycles=1 events.loads=0", "loads,branches", "ab");
}

static void braces_stay_together(void **state)
{
    (void)state;
    expect("pmu.counters=4", "{loads,stores},{branches,calls}", "aabb");
    expect("pmu.counters=4", "{loads,stores},branches,{calls,returns},atomics", "aaabbb");
    expect("pmu.counters=8",
           "{loads,loads,loads},{stores,stores,stores},{calls,calls},{loads,loads},{calls,calls},"
           "{loads,loads}",
           "aaabbbaaaabbbb"); /* not three and three: then the rest would need two more */
    expect("pmu.counters=3", "{loads,cycles,stores},branches", "a*ab");
}

static void cycles_and_instructions_of_user_mode_are_always_counted(void **state)
{
    (void)state;
    struct planned p;
    static const char list[] = "cycles,instructions,cycles:u,cycles:m,cycles:um,instructions:edge,loads,loads:um";
    struct plan_options o = {0};
    make(&p, "pmu.counters=8", list, &o);
    check_plan(&p);
    static const bool always[] = {true, true, true, false, false, false, false, false};
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(p.plan.event[i].group == PLAN_ALWAYS, always[i]);
    assert_int_equal(p.plan.event[0].place, CLOCK_CYCLES);
    assert_int_equal(p.plan.event[1].place, CLOCK_INSNS);
    assert_true(p.plan.event[6].code & HPMEVENT_MINH && !(p.plan.event[6].code & HPMEVENT_UINH));
    assert_false(p.plan.event[7].code & (HPMEVENT_MINH | HPMEVENT_UINH));
    unmake(&p);
    o.mode = PRIVILEGE_ANY;
    make(&p, "pmu.counters=8", list, &o);
    check_plan(&p);
    static const bool both[] = {false, false, true, false, false, false, false, false};
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(p.plan.event[i].group == PLAN_ALWAYS, both[i]);
    assert_false(p.plan.event[6].code & (HPMEVENT_MINH | HPMEVENT_UINH));
    unmake(&p);
    o.mode = PRIVILEGE_MACHINE;
    make(&p, "pmu.counters=8", "loads,loads:u", &o);
    assert_true(p.plan.event[0].code & HPMEVENT_UINH && p.plan.event[1].code & HPMEVENT_MINH);
    unmake(&p);
}

static void unless_all_are_to_take_turns(void **state)
{
    (void)state;
    struct planned p;
    const struct plan_options o = {.all_in_turns = true};
    make(&p, "pmu.counters=3", "instructions,cycles,loads", &o);
    check_plan(&p);
    assert_int_equal(p.plan.group_count, 2);
    for (unsigned i = 0; i < 3; i++)
        assert_int_not_equal(p.plan.event[i].group, PLAN_ALWAYS);
    assert_int_equal(p.plan.event[0].code, plan_clock_code(CLOCK_INSNS));
    unmake(&p);
}

static void without_events_there_are_slices_all_the_same(void **state)
{
    (void)state;
    struct planned p;
    const struct plan_options none = {0};
    make(&p, "pmu.counters=1", "cycles", &none);
    check_plan(&p);
    assert_int_equal(p.plan.group_count, 1);
    assert_int_equal(p.plan.group[0].counts, 0);
    assert_int_equal(p.plan.group[0].share, 1);
    unmake(&p);
}

static void the_clock_has_the_same_counter_if_it_can(void **state)
{
    (void)state;
    struct planned p;
    const struct plan_options insns = {.clock = CLOCK_INSNS};
    make(&p, "pmu.counters=3 events.loads=2 events.stores=2", "loads,stores,branches,calls,returns", &insns);
    check_plan(&p);
    assert_int_equal(p.plan.group_count, 3);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(p.plan.group[i].clock, 1);
    unmake(&p);
    struct event_spec s;
    assert_true(event_decode(plan_clock_code(CLOCK_CYCLES), &s));
    assert_string_equal(s.event->name, "cycles");
    assert_int_equal(s.privilege, PRIVILEGE_USER);
    assert_true(event_decode(plan_clock_code(CLOCK_INSNS), &s));
    assert_string_equal(s.event->name, "instructions");
    assert_int_equal(s.privilege, PRIVILEGE_USER);
}

/* ---- rounds */

/* `want`: the slots of a round, then those of each group. */
static void expect_rounds(const char *wanted, struct plan_options o, uint64_t slice, const char *want)
{
    struct planned p;
    char got[128];
    make(&p, "pmu.counters=2", wanted, &o);
    assert_string_equal(p.err.text, "");
    check_plan(&p);
    int used = snprintf(got, sizeof got, "%u:", p.plan.slots);
    for (size_t i = 0; i < p.plan.group_count; i++)
        used += snprintf(got + used, sizeof got - (size_t)used, " %u", p.plan.group[i].share);
    assert_string_equal(got, want);
    assert_int_equal(p.plan.slice, slice);
    unmake(&p);
}

static void rounds_have_slots_by_shares(void **state)
{
    (void)state;
    expect_rounds("loads,stores", (struct plan_options){0}, 200000, "2: 1 1");
    expect_rounds("loads", (struct plan_options){0}, 200000, "1: 1");
    expect_rounds("loads:share=3,stores", (struct plan_options){.slice = 5000}, 5000, "4: 3 1");
    expect_rounds("loads,stores", (struct plan_options){.round = 2000000}, 200000, "10: 5 5");
    expect_rounds("loads,stores,calls", (struct plan_options){.round = 2000000}, 200000, "10: 4 3 3");
    expect_rounds("loads,stores:share=2", (struct plan_options){.round = 1000000}, 200000, "5: 2 3");
    expect_rounds("loads,stores:share=2", (struct plan_options){.round = 1600000}, 200000, "8: 3 5");
    expect_rounds("loads,stores:share=2", (struct plan_options){.round = 1600000, .idle = true}, 200000, "8: 1 2");
    expect_rounds("loads,stores", (struct plan_options){.round = 25000, .slice = 10000}, 10000, "2: 1 1");
    expect_rounds("loads", (struct plan_options){.round = 10000, .slice = 2000}, 2000, "5: 5");
    expect_rounds("loads:share=200,stores:share=56", (struct plan_options){0}, 200000, "256: 200 56");
}

static void a_group_has_its_largest_share(void **state)
{
    (void)state;
    struct planned p;
    const struct plan_options none = {0};
    make(&p, "pmu.counters=3", "{loads,stores}:share=3,branches:share=2,calls", &none);
    check_plan(&p);
    assert_int_equal(p.plan.group_count, 2);
    assert_int_equal(p.plan.group[0].share, 3);
    assert_int_equal(p.plan.group[1].share, 2);
    assert_int_equal(p.plan.slots, 5);
    unmake(&p);
}

static void options_are_kept(void **state)
{
    (void)state;
    struct planned p;
    const struct plan_options o = {.clock = CLOCK_INSNS, .fixed_order = true, .seed = 42};
    make(&p, "pmu.counters=3", "loads", &o);
    assert_int_equal(p.plan.clock, CLOCK_INSNS);
    assert_int_equal(p.plan.seed, 42);
    assert_true(p.plan.fixed_order);
    unmake(&p);
}

/* ---- what cannot be */

static const struct wrong {
    const char *settings, *events;
    struct plan_options options;
    const char *want;
} wrong[] = {
    {"pmu.counters=0", "loads", {0}, "'loads' cannot be counted: the core has no counters for events"},
    {"pmu.counters=0",
     "cycles",
     {0},
     "events cannot take turns on this core: it has no counter for the cycles of slices"},
    {"pmu.counters=1",
     "loads",
     {0},
     "'loads' cannot be counted in turns: the core's only counter has to count the cycles of slices"},
    {"pmu.counters=4 events.loads=5",
     "stores,loads",
     {0},
     "'loads' cannot be counted: it needs counter 5, which the core does not have"},
    {"pmu.counters=4 events.loads=1 events.instructions=1",
     "loads:spec",
     {.clock = CLOCK_INSNS},
     "'loads:spec' cannot be counted in turns: counter 1, its only one, has to count the instructions of slices"},
    {"pmu.counters=4 events.instructions=9",
     "loads",
     {.clock = CLOCK_INSNS},
     "events cannot take turns on this core: it has no counter for the instructions of slices"},
    {"pmu.counters=2",
     "{loads,stores}",
     {0},
     "{loads,stores} cannot be counted together: these are 2 events, and a group has room for 1, as one of the core's "
     "2 counters counts the cycles of slices"},
    {"pmu.counters=4 events.loads=0,1 events.stores=0,1 events.calls=0,1",
     "branches,{loads,stores,calls}",
     {0},
     "{loads,stores,calls} cannot be counted together: by the core's rules there are not enough counters for them "
     "beside the one that counts the cycles of slices"},
    {"pmu.counters=4", "loads:ip=0-4", {0}, "'loads:ip=0-4': firmware cannot select by address, class or mark"},
    {"pmu.counters=4",
     "loads:period=5",
     {0},
     "'loads:period=5' cannot be counted in turns: only a counter of its own has a period"},
    {"pmu.counters=2",
     "loads,stores",
     {.slice = 1999},
     "slices of 1999 cycles are too short, as changing groups would take much of that: they need at least 2000"},
    {"pmu.counters=2",
     "loads,stores,calls",
     {.round = 500000},
     "a round of 500000 cycles has 2 slices of 200000, and the groups need 3: rounds of at least 600000 would do, or "
     "slices of at most 166666"},
    {"pmu.counters=2",
     "loads,stores:share=2",
     {.round = 5000, .slice = 2000, .clock = CLOCK_INSNS},
     "a round of 5000 instructions has 2 slices of 2000, and the groups need 3: rounds of at least 6000 would do"},
    {"pmu.counters=2",
     "loads",
     {.round = 1000000, .slice = 2000},
     "a round of 1000000 cycles has 500 slices of 2000, and can have 256: slices of at least 3892 would do"},
    {"pmu.counters=2", "loads:share=300", {0}, "the groups' shares sum to 300, and a round has at most 256 slices"},
    {"pmu.counters=2", "loads", {.slice = UINT64_MAX}, "slices of 18446744073709551615 cycles are too long"},
    {"events.lods=1", "loads", {0}, "--set events.lods=1: there is no event 'lods': did you mean 'loads'?"},
};

static void what_cannot_be_has_a_reason(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct planned p;
        make(&p, wrong[i].settings, wrong[i].events, &wrong[i].options);
        assert_string_equal(p.err.text, wrong[i].want);
        assert_int_equal(p.code, -EINVAL);
        assert_null(p.plan.event);
        unmake(&p);
    }
}

/* The numbers that sentences name would do. */
static void advice_is_good(void **state)
{
    (void)state;
    expect_rounds("loads,stores,calls", (struct plan_options){.round = 600000}, 200000, "3: 1 1 1");
    expect_rounds("loads,stores,calls", (struct plan_options){.round = 500000, .slice = 166666}, 166666, "3: 1 1 1");
    expect_rounds("loads", (struct plan_options){.round = 1000000, .slice = 3892}, 3892, "256: 256");
}

static void too_many_events_are_told(void **state)
{
    (void)state;
    struct planned p;
    const struct plan_options none = {0};
    char many[257 * 6 + 1] = "";
    for (unsigned i = 0; i < 257; i++)
        memcpy(many + 6 * i, "loads,", 6);
    many[257 * 6 - 1] = '\0';
    make(&p, "pmu.counters=8", many, &none);
    assert_string_equal(p.err.text, "257 events are too many to be counted in turns: there can be 256");
    unmake(&p);
    many[64 * 6 - 1] = '\0';
    make(&p, "pmu.counters=2", many, &none);
    assert_string_equal(p.err.text, "64 events are too many to be counted in turns: on this core they need 64 groups, "
                                    "and there can be 63");
    unmake(&p);
    many[63 * 6 - 1] = '\0';
    make(&p, "pmu.counters=2", many, &none);
    assert_string_equal(p.err.text, "");
    check_plan(&p);
    unmake(&p);
}

/* ---- the cores that there are */

/* All events that a group of their own can count, on every core: as many groups as counters ask for, since the few
 * rules that these cores have bind single events. */
static void all_events_on_all_cores(void **state)
{
    (void)state;
    const char *name;
    for (unsigned i = 0; (name = core_name(i)) != NULL; i++) {
        struct planned p = {.code = 0};
        const struct plan_options none = {0};
        if (core_config_read(&p.core, name, &p.err) != 0)
            fail_msg("%s: %s", name, p.err.text);
        size_t most = (p.core.pmu_counters - 1) * PLAN_GROUPS_MOST, shared = 0;
        for (size_t e = 0; e < event_count && shared < most; e++) {
            if (event_specs_parse(&p.specs, events[e].name, &p.err) != 0)
                fail_msg("%s", p.err.text);
            shared += strcmp(events[e].name, "cycles") != 0 && strcmp(events[e].name, "instructions") != 0;
        }
        if (plan_make(&p.specs, &p.core, &none, &p.plan, &p.err) != 0)
            fail_msg("%s: %s", name, p.err.text);
        check_plan(&p);
        size_t room = p.core.pmu_counters - 1;
        assert_int_equal(p.plan.group_count, (shared + room - 1) / room);
        for (size_t g = 0; g < p.plan.group_count; g++)
            assert_in_range(p.plan.group[g].counts, shared / p.plan.group_count,
                            (shared + p.plan.group_count - 1) / p.plan.group_count);
        unmake(&p);
    }
}

static void the_same_list_makes_the_same_plan(void **state)
{
    (void)state;
    struct planned p, q;
    const struct plan_options none = {0};
    static const char list[] =
        "loads,stores:share=2,{branches,calls},returns,atomics,fences,forwards,{rejects,rejected}";
    static const char core[] = "pmu.counters=4 events.loads=0 events.calls=0,1 events.fences=1";
    make(&p, core, list, &none);
    make(&q, core, list, &none);
    check_plan(&p);
    assert_memory_equal(p.plan.event, q.plan.event, p.plan.event_count * sizeof *p.plan.event);
    assert_int_equal(p.plan.group_count, q.plan.group_count);
    assert_memory_equal(p.plan.group, q.plan.group, p.plan.group_count * sizeof *p.plan.group);
    unmake(&p);
    unmake(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_counter_of_each_group_is_the_clock),
        cmocka_unit_test(groups_are_even),
        cmocka_unit_test(rules_make_groups),
        cmocka_unit_test(braces_stay_together),
        cmocka_unit_test(cycles_and_instructions_of_user_mode_are_always_counted),
        cmocka_unit_test(unless_all_are_to_take_turns),
        cmocka_unit_test(without_events_there_are_slices_all_the_same),
        cmocka_unit_test(the_clock_has_the_same_counter_if_it_can),
        cmocka_unit_test(rounds_have_slots_by_shares),
        cmocka_unit_test(a_group_has_its_largest_share),
        cmocka_unit_test(options_are_kept),
        cmocka_unit_test(what_cannot_be_has_a_reason),
        cmocka_unit_test(advice_is_good),
        cmocka_unit_test(too_many_events_are_told),
        cmocka_unit_test(all_events_on_all_cores),
        cmocka_unit_test(the_same_list_makes_the_same_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
