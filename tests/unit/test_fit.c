/* Which events fit a core's counters: cases made by hand, and random ones against a search of all assignments. */
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
#include "pmu/fit.h"

enum { MOST = 16 }; /* events of a list here */

struct fit {
    struct event_specs specs;
    struct core_config core;
    bool fits[MOST];
    unsigned counter[MOST];
};

static struct fit fit(const char *settings, const char *wanted)
{
    struct fit f = {.specs = {0}};
    struct error err;
    make_core(&f.core, settings);
    if (event_specs_parse(&f.specs, wanted, &err) != 0)
        fail_msg("%s", err.text);
    assert_true(f.specs.count <= MOST);
    if (pmu_fit(&f.specs, &f.core, f.fits, f.counter, &err) != 0)
        fail_msg("%s", err.text);
    return f;
}

/* `want` has a letter per event: its counter's number, `o` for one of its own, `-` if it does not fit. */
static void expect(const char *settings, const char *wanted, const char *want)
{
    struct fit f = fit(settings, wanted);
    char got[MOST + 1] = "";
    for (size_t i = 0; i < f.specs.count; i++)
        got[i] = !f.fits[i] ? '-' : f.counter[i] == COUNTER_OF_ITS_OWN ? 'o' : (char)('0' + f.counter[i]);
    if (strcmp(got, want) != 0)
        fail_msg("%s with %s: %s instead of %s", wanted, settings, got, want);
    event_specs_free(&f.specs);
}

static void events_take_counters_in_their_order(void **state)
{
    (void)state;
    expect("pmu.counters=2", "loads,stores", "01");
    expect("pmu.counters=2", "loads,stores,branches", "01-");
    expect("pmu.counters=0", "loads", "-");
    expect("pmu.counters=29", "loads,loads,loads", "012");
}

static void cycles_and_instructions_have_their_own(void **state)
{
    (void)state;
    expect("pmu.counters=1", "cycles,instructions,instructions,cpu-cycles,loads", "oooo0");
    expect("pmu.counters=0", "cycles,cycles:um,cycles:name=x,instructions:retired", "oooo");
    expect("pmu.counters=9",
           "cycles:u,cycles:edge,cycles:thresh=1,cycles:marked,cycles:preload=1,cycles:period=9,instructions:op=alu,"
           "instructions:ip=0-4",
           "01234567");
}

static void events_move_for_later_ones(void **state)
{
    (void)state;
    expect("pmu.counters=2 events.stores=0", "loads,stores", "10");
    expect("pmu.counters=2 events.stores=0 events.loads=0", "loads,stores,branches", "0-1");
    expect("pmu.counters=3 events.loads=0,1 events.stores=1,2 events.branches=0", "loads,stores,branches", "120");
    expect("pmu.counters=2 events.fp_instructions=0", "cycles,loads,fp_instructions,stores", "o10-");
}

static void groups_fit_as_a_whole(void **state)
{
    (void)state;
    expect("pmu.counters=2", "{loads,stores},branches", "01-");
    expect("pmu.counters=2", "branches,{loads,stores},calls", "0--1");
    expect("pmu.counters=2", "{loads,cycles,stores}", "0o1");
    expect("pmu.counters=2", "{loads,cycles,stores,branches},{calls,returns}", "----01");
    expect("pmu.counters=2 events.loads=1 events.stores=1", "branches,{loads,stores},calls,loads", "0--1-");
}

static void a_rule_is_of_an_event_by_any_name(void **state)
{
    (void)state;
    expect("pmu.counters=2 events.L1-dcache-loads=1", "loads", "1");
    expect("pmu.counters=2 events.Loads=1", "L1-dcache-loads:u,branches", "10");
    expect("pmu.counters=2 events.loads=0 events.L1-dcache-loads=1", "loads", "1");
    expect("pmu.counters=2 events.L1-dcache-loads=1 events.loads=0 ", "loads", "0");
}

static void a_rule_must_name_an_event(void **state)
{
    (void)state;
    struct core_config c;
    struct error err;
    make_core(&c, "events.loads=0 events.lods=1");
    assert_int_equal(pmu_check_rules(&c, &err), -EINVAL);
    assert_string_equal(err.text, "--set events.lods=1: there is no event 'lods': did you mean 'loads'?");
    const char text[] = "\n[events]\nloads = 1\nxyzzyxyzzy = 0\n";
    assert_int_equal(core_config_parse(&c, text, strlen(text), "my.ini", &err), 0);
    assert_int_equal(pmu_check_rules(&c, &err), -EINVAL);
    assert_string_equal(err.text, "my.ini:4: there is no event 'xyzzyxyzzy': `cyclescope list events` names all");
    struct event_specs none = {0};
    assert_int_equal(pmu_fit(&none, &c, NULL, NULL, &err), -EINVAL);
}

static void rules_of_all_cores_name_events(void **state)
{
    (void)state;
    const char *name;
    for (unsigned i = 0; (name = core_name(i)) != NULL; i++) {
        struct core_config c;
        struct error err;
        if (core_config_read(&c, name, &err) != 0 || pmu_check_rules(&c, &err) != 0)
            fail_msg("%s: %s", name, err.text);
    }
}

static void what_does_not_fit_has_a_reason(void **state)
{
    (void)state;
    static const struct {
        const char *settings, *events, *want;
    } rows[] = {
        {"pmu.counters=1", "stores,loads", "all counters are taken"},
        {"pmu.counters=0", "stores,loads", "the core has no counters for events"},
        {"pmu.counters=2 events.loads=1 events.stores=1", "stores,loads", "only counter 1 can count it, and is taken"},
        {"pmu.counters=3 events.loads=0,2 events.stores=0,2", "stores,stores,loads",
         "only counters 0,2 can count it, and are taken"},
        {"pmu.counters=2 events.loads=5", "stores,loads", "it needs counter 5, which the core does not have"},
        {"pmu.counters=2 events.loads=5,6", "stores,loads", "it needs counters 5,6, which the core does not have"},
        {"pmu.counters=2 events.loads=1,6", "stores:u,stores,loads", "only counter 1 can count it, and is taken"},
        {"pmu.counters=2 events.loads=5", "{stores,loads}", "it needs counter 5, which the core does not have"},
        {"pmu.counters=1", "{stores,loads}", "its group does not fit"},
        {"pmu.counters=1", "{stores,loads,cycles}", "its group does not fit"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fit f = fit(rows[i].settings, rows[i].events);
        char text[160];
        size_t last = f.specs.count - 1;
        assert_false(f.fits[last]);
        pmu_unfit_text(&f.specs, last, &f.core, text, sizeof text);
        assert_string_equal(text, rows[i].want);
        event_specs_free(&f.specs);
    }
}

/* ---- against a search */

/* Whether all events of `set` from `i` on find counters that are not in `taken`. */
static bool search(const uint32_t *can, size_t count, uint32_t set, size_t i, uint32_t taken)
{
    while (i < count && !(set >> i & 1))
        i++;
    if (i == count)
        return true;
    for (unsigned k = 0; k < CORE_COUNTERS; k++)
        if (can[i] & ~taken & UINT32_C(1) << k && search(can, count, set, i + 1, taken | UINT32_C(1) << k))
            return true;
    return false;
}

static const char *const names[] = {"loads", "stores", "branches", "calls", "returns", "atomics", "fences", "forwards"};
enum { NAMES = sizeof names / sizeof *names };

static void check_random(unsigned counters, const uint32_t *can_of_name, const size_t *name, const unsigned *group,
                         size_t count)
{
    char settings[512] = "", wanted[512] = "", list[96];
    uint32_t can[MOST], set = 0;
    size_t used = (size_t)snprintf(settings, sizeof settings, "pmu.counters=%u", counters);
    for (size_t i = 0; i < NAMES; i++) {
        counters_text(can_of_name[i], list, sizeof list);
        used += (size_t)snprintf(settings + used, sizeof settings - used, " events.%s=%s", names[i], list);
    }
    used = 0;
    for (size_t i = 0; i < count; i++) {
        bool first = i == 0 || group[i] != group[i - 1], last = i + 1 == count || group[i] != group[i + 1];
        used += (size_t)snprintf(wanted + used, sizeof wanted - used, "%s%s%s%s", i ? "," : "", first ? "{" : "",
                                 names[name[i]], last ? "}" : "");
        can[i] = can_of_name[name[i]] & ((UINT32_C(1) << counters) - 1);
    }
    struct fit f = fit(settings, wanted);
    uint32_t taken = 0;
    for (size_t first = 0, end; first < count; first = end) {
        uint32_t more = set;
        for (end = first; end < count && group[end] == group[first]; end++)
            more |= UINT32_C(1) << end;
        bool can_be = search(can, count, more, 0, 0);
        set = can_be ? more : set;
        for (size_t i = first; i < end; i++) {
            if (f.fits[i] != can_be)
                fail_msg("%s with %s: event %zu", wanted, settings, i);
            if (can_be) {
                assert_true(can[i] >> f.counter[i] & 1);
                assert_false(taken >> f.counter[i] & 1);
                taken |= UINT32_C(1) << f.counter[i];
            }
        }
    }
    event_specs_free(&f.specs);
}

static void as_many_fit_as_can(void **state)
{
    (void)state;
    unsigned seed = 1;
    for (int round = 0; round < 3000; round++) {
        unsigned counters = (unsigned)rand_r(&seed) % 6, group[MOST], at = 0;
        uint32_t can[NAMES];
        size_t name[MOST], count = 1 + (size_t)rand_r(&seed) % 8;
        for (size_t i = 0; i < NAMES; i++)
            can[i] = 1 + (uint32_t)rand_r(&seed) % 127;
        for (size_t i = 0; i < count; i++) {
            name[i] = (size_t)rand_r(&seed) % NAMES;
            at += round % 2 == 0 || rand_r(&seed) % 3 == 0;
            group[i] = at;
        }
        check_random(counters, can, name, group, count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_take_counters_in_their_order),
        cmocka_unit_test(cycles_and_instructions_have_their_own),
        cmocka_unit_test(events_move_for_later_ones),
        cmocka_unit_test(groups_fit_as_a_whole),
        cmocka_unit_test(a_rule_is_of_an_event_by_any_name),
        cmocka_unit_test(a_rule_must_name_an_event),
        cmocka_unit_test(rules_of_all_cores_name_events),
        cmocka_unit_test(what_does_not_fit_has_a_reason),
        cmocka_unit_test(as_many_fit_as_can),
    };
    return cmocka_run_group_tests_name("fit", tests, NULL, NULL);
}
