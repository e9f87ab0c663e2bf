/* The sources of events fit their events; counts are the right ones, and sub-events do not overlap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "pmu/event_source.h"
#include "pmu/event_spec.h"
#include "report/counts.h"
#include "event_checks.h"

static const uint8_t all_paths[] = {PATH_NONE, PATH_RETIRED, PATH_SPEC};

static bool has_path(const struct event *e, uint8_t path)
{
    return path == PATH_NONE ? e->paths == PATH_NONE : (e->paths & path) != 0;
}

/* ---- the table as such */

static void every_path_has_a_source(void **state)
{
    (void)state;
    for (const struct event *e = events; e < events + event_count; e++) {
        bool of_cycle = event_sources[e - events].of_cycle != NULL, attributed = false;
        for (unsigned i = 0; i < 3; i++) {
            const struct path_source *s = event_source_of(e, all_paths[i]);
            if (!has_path(e, all_paths[i]))
                continue;
            CHECK(e, s->of_insn || s->terms || of_cycle);
            CHECK(e, (s->of_insn != NULL) == (s->moments != 0));
            CHECK(e, s->moments < 1u << MOMENTS);
            attributed |= s->of_insn != NULL;
        }
        CHECK(e, attributed == e->attributed);
        CHECK(e, !attributed || e->paths != PATH_NONE);
        CHECK(e, e->unit != UNIT_CYCLES || of_cycle);
        CHECK(e, e->paths & PATH_RETIRED || e->paths == PATH_NONE || event_sources[e - events].retired.of_insn == NULL);
        CHECK(e, e->paths & PATH_SPEC || event_sources[e - events].spec.of_insn == NULL);
        CHECK(e, e->paths & PATH_SPEC || event_sources[e - events].spec.terms == NULL);
    }
}

/* Events of the retired path count an instruction when it retires: before that, it may still be squashed. */
static void moments_fit_their_path(void **state)
{
    (void)state;
    for (const struct event *e = events; e < events + event_count; e++) {
        uint32_t retired = event_sources[e - events].retired.moments, spec = event_sources[e - events].spec.moments;
        CHECK(e, retired == 0 || retired == 1u << MOMENT_COMMITTED);
        CHECK(e, !(spec >> MOMENT_COMMITTED & 1) || spec >> MOMENT_SQUASHED & 1);
    }
}

static void terms_lie_in_the_struct_and_in_the_mask(void **state)
{
    (void)state;
    for (const struct event *e = events; e < events + event_count; e++) {
        uint32_t all = (UINT32_C(1) << mask_bits(e)) - 1;
        for (unsigned i = 0; i < 3; i++) {
            const struct count_term *t = event_source_of(e, all_paths[i])->terms;
            uint32_t covered = 0;
            for (; t && t->sign; t++) {
                CHECK(e, t->offset % sizeof(uint64_t) == 0 && t->offset < sizeof(struct simulation_counts));
                CHECK(e, t->sign == 1 || t->sign == -1);
                CHECK(e, t->bits == EVENT_ALL || (t->bits & ~all) == 0);
                covered |= t->bits;
            }
            CHECK(e, t == NULL || (covered & all) == all);
        }
    }
}

static void all_bits_are_no_mask(void **state)
{
    (void)state;
    for (const struct event *e = events; e < events + event_count; e++) {
        uint32_t all = (UINT32_C(1) << mask_bits(e)) - 1;
        assert_int_equal(event_selection(e, 0), EVENT_ALL);
        assert_int_equal(event_selection(e, all), EVENT_ALL);
        for (unsigned b = 0; b < mask_bits(e); b++)
            assert_int_equal(event_selection(e, 1u << b), 1u << b);
    }
}

/* ---- counts */

static void fill(struct random *r, struct simulation_counts *c)
{
    uint64_t numbers[sizeof *c / sizeof(uint64_t)];
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        numbers[i] = random_u64(r) >> 32;
    memcpy(c, numbers, sizeof *c);
}

/* The sum of the counts of the selected sub-events; only if event_is_counted. */
static uint64_t event_counts(const struct path_source *s, uint32_t selection, const struct simulation_counts *c)
{
    uint64_t sum = 0;
    for (const struct count_term *t = s->terms; t && t->sign; t++) {
        uint64_t value;
        memcpy(&value, (const char *)c + t->offset, sizeof value);
        if (t->bits & selection)
            sum += t->sign > 0 ? value : -value;
    }
    return sum;
}

/* Sums wrap, so random numbers need not fit together. */
static void bits_of_counts_sum_to_the_whole(void **state)
{
    (void)state;
    struct random r;
    struct simulation_counts c;
    random_seed(&r, 1);
    for (unsigned round = 0; round < 100; round++) {
        fill(&r, &c);
        for (const struct event *e = events; e < events + event_count; e++) {
            for (unsigned i = 0; i < 3; i++) {
                const struct path_source *s = event_source_of(e, all_paths[i]);
                uint64_t sum = 0;
                bool apart = s->terms && mask_bits(e);
                for (unsigned b = 0; b < mask_bits(e); b++) {
                    apart = apart && event_is_counted(s, 1u << b);
                    sum += event_counts(s, 1u << b, &c);
                }
                CHECK(e, !apart || sum == event_counts(s, EVENT_ALL, &c));
                CHECK(e, s->terms == NULL || event_is_counted(s, EVENT_ALL));
            }
        }
    }
}

static void counts_that_do_not_tell_bits_apart_say_so(void **state)
{
    (void)state;
    struct event_spec s = spec_of("branches");
    const struct path_source *retired = event_source_of(s.event, PATH_RETIRED);
    assert_true(event_is_counted(retired, spec_of("branches:conditional").mask));
    assert_true(event_is_counted(retired, spec_of("branches:jump|call|indirect|return").mask));
    assert_false(event_is_counted(retired, spec_of("branches:return").mask));
    assert_false(event_is_counted(retired, spec_of("branches:conditional|return").mask));
    assert_false(event_is_counted(event_source_of(s.event, PATH_SPEC), spec_of("branches:conditional").mask));
    assert_false(event_is_counted(event_source_of(spec_of("fetch_stalls").event, PATH_NONE), EVENT_ALL));
}

static uint64_t counted(const char *text, const struct simulation_counts *c)
{
    struct event_spec s = spec_of(text);
    const struct path_source *source = event_source_of(s.event, s.path);
    uint32_t selection = event_selection(s.event, s.mask);
    if (!event_is_counted(source, selection))
        fail_msg("'%s' is not counted", text);
    return event_counts(source, selection, c);
}

/* Names of the JSON of `stat` that are masked events or, with NULL, none. A '#' stands for the number of a shared level
 * and an '@' for a cache and its side, in both; of names in _spec, what stands before it. */
static const struct rule {
    const char *count, *event;
} rules[] = {
    {"rejects_overlap", "rejects:overlap"},
    {"rejects_mshr", "rejects:mshr"},
    {"rejects_tlb", "rejects:tlb"},
    {"forwarded", "forwards:retired"},
    {"@_merges", "merges:@"},
    {"@_prefetches", "prefetches:@"},
    {"@_useful_prefetches", "useful_prefetches:@"},
    {"l1d_writebacks", "l1d_evictions:dirty"},
    {"l1d_clean_evictions", "l1d_evictions:clean"},
    {"@_writebacks", NULL}, /* one side of a shared cache; instructions are not written */
    {"@_clean_evictions", NULL},
    {"l1d_store_accesses", "l1d_accesses:store"},
    {"l1d_store_misses", "l1d_access_misses:store"},
    {"l1d_rejects", "mshr_rejects"},
    {"@_rejects", NULL}, /* others wait */
    {"l#i_accesses", "l#_accesses:fetch"},
    {"l#i_access_misses", "l#_access_misses:fetch"},
    {"l#d_accesses", "l#_accesses:load|store"},
    {"l#d_access_misses", "l#_access_misses:load|store"},
    {"l#d_store_accesses", "l#_accesses:store"},
    {"l#d_store_misses", "l#_access_misses:store"},
    {"@_prefetch_accesses", NULL}, /* one side */
    {"@_prefetch_misses", NULL},
    {"@_primary_misses", NULL}, /* misses less merges, of what lies behind a cache */
    {"itlb_access_misses", "tlb_access_misses:fetch"},
    {"dtlb_access_misses", "tlb_access_misses:data"},
    {"itlb_walks", "page_walks:fetch"},
    {"dtlb_walks", "page_walks:data"},
    {"bus_reads", "bus_transactions:read"},
    {"bus_writes", "bus_transactions:write"},
    {"machine_cycles", NULL}, /* cycles:m, which a mode makes */
    {"machine_instructions", NULL},
};

/* Puts `word` in the place of `sign`. */
static void substitute(const char *text, char sign, const char *word, char to[80])
{
    const char *at = strchr(text, sign);
    int before = at ? (int)(at - text) : (int)strlen(text);
    snprintf(to, 80, "%.*s%s%s", before, text, at ? word : "", at ? at + 1 : "");
}

static bool rule_fits(const struct rule *rule, const char *count, char event[80])
{
    static const char *const caches[] = {"l1i", "l1d", "l2i", "l2d", "l3i", "l3d"}, *const levels[] = {"2", "3"};
    bool level = strchr(rule->count, '#') != NULL;
    for (unsigned i = 0; i < (level ? 2 : 6); i++) {
        const char *word = level ? levels[i] : caches[i];
        char name[80];
        substitute(rule->count, level ? '#' : '@', word, name);
        substitute(rule->event ? rule->event : "", level ? '#' : '@', word, event);
        if (strcmp(name, count) == 0)
            return true;
    }
    return false;
}

/* The event of a count: what a rule says, or else its own name. Empty if there is none. */
static void event_of(const char *count, char event[80])
{
    char name[80];
    size_t length = strlen(count);
    bool spec = length > 5 && strcmp(count + length - 5, "_spec") == 0, found = false;
    snprintf(name, sizeof name, "%.*s", (int)(spec ? length - 5 : length), count);
    for (size_t i = 0; i < sizeof rules / sizeof rules[0] && !found; i++)
        found = rule_fits(&rules[i], name, event);
    if (!found)
        snprintf(event, 80, "%s", name);
    if (spec && event[0])
        strcat(event, ":spec");
}

static void counts_of_json_are_events(void **state)
{
    (void)state;
    struct random r;
    struct simulation_counts c;
    random_seed(&r, 2);
    fill(&r, &c);
    c.core.mispredictions =
        c.core.conditional_mispredictions + c.core.return_mispredictions + c.core.indirect_mispredictions;
    c.memory.bus_transactions = c.memory.bus_reads + c.memory.bus_writes;
    for (size_t i = 0; i < count_row_count; i++) {
        char event[80];
        event_of(count_rows[i].name, event);
        if (event[0] && counted(event, &c) != count_value(&c, &count_rows[i]))
            fail_msg("count %s is not event %s", count_rows[i].name, event);
    }
}

static void names_are_found_in_either_case(void **state)
{
    (void)state;
    assert_string_equal(event_find("l1d_misses", 10)->name, "l1d_misses");
    assert_string_equal(event_find("L1-DCACHE-load-misses", 21)->name, "l1d_misses");
    assert_string_equal(event_find("Branch-Misses", 13)->name, "mispredictions");
    assert_null(event_find("l1d-misses", 10));
}

static void shared_caches_are_counted_by_requester(void **state)
{
    (void)state;
    struct simulation_counts c = {0};
    c.memory.l2i.accesses[0] = 100;
    c.memory.l2i.accesses[1] = 30;
    c.memory.l2d.accesses[0] = 1000;
    c.memory.l2d.accesses[1] = 200;
    c.memory.l2d.store_accesses = 50;
    c.memory.l2i.prefetch_accesses[0] = 7;
    c.memory.l2d.prefetch_accesses[0] = 4;
    c.memory.l2d.prefetch_accesses[1] = 1;
    assert_int_equal(counted("l2_accesses:fetch", &c), 70);
    assert_int_equal(counted("l2_accesses:fetch:spec", &c), 100);
    assert_int_equal(counted("l2_accesses:load", &c), 750);
    assert_int_equal(counted("l2_accesses:load:spec", &c), 950);
    assert_int_equal(counted("l2_accesses:store:spec", &c), 50);
    assert_int_equal(counted("l2_accesses:prefetch", &c), 10);
    assert_int_equal(counted("l2_accesses:spec", &c), 1111);
    assert_int_equal(counted("cache_accesses:l2:spec", &c), 1100);
}

static void loads_are_counted_by_source(void **state)
{
    (void)state;
    struct simulation_counts c = {0};
    c.core.loads = 100;
    c.core.l1d_misses = 30;
    c.core.l2d_misses = 10;
    c.core.forwarded = 5;
    assert_int_equal(counted("load_sources:l1", &c), 65);
    assert_int_equal(counted("load_sources:lower", &c), 20);
    assert_int_equal(counted("load_sources:memory|store", &c), 15);
    assert_int_equal(counted("load_sources", &c), 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_path_has_a_source),
        cmocka_unit_test(moments_fit_their_path),
        cmocka_unit_test(terms_lie_in_the_struct_and_in_the_mask),
        cmocka_unit_test(all_bits_are_no_mask),
        cmocka_unit_test(bits_of_counts_sum_to_the_whole),
        cmocka_unit_test(counts_that_do_not_tell_bits_apart_say_so),
        cmocka_unit_test(counts_of_json_are_events),
        cmocka_unit_test(names_are_found_in_either_case),
        cmocka_unit_test(shared_caches_are_counted_by_requester),
        cmocka_unit_test(loads_are_counted_by_source),
    };
    return cmocka_run_group_tests_name("event table", tests, NULL, NULL);
}
