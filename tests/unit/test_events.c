/* The table of events is sound, and events are found by their names. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pmu/event_spec.h"

/* Fails with the event's name and the fact. */
#define CHECK(e, fact)                                                                                                 \
    do {                                                                                                               \
        if (!(fact))                                                                                                   \
            fail_msg("event '%s': %s", (e)->name ? (e)->name : "?", #fact);                                            \
    } while (0)

static bool one_line_of_help(const char *help)
{
    size_t length = help ? strlen(help) : 0;
    for (size_t i = 0; i < length; i++)
        if (iscntrl((unsigned char)help[i]))
            return false;
    return length > 0 && help[length - 1] != '.' && !isspace((unsigned char)help[0]) &&
           !isspace((unsigned char)help[length - 1]);
}

/* Lower case, if it does not begin with an abbreviation such as TLB. */
static bool begins_small(const char *help)
{
    return !isupper((unsigned char)help[0]) || isupper((unsigned char)help[1]) || isdigit((unsigned char)help[1]);
}

static bool is_plain(const char *name, const char *letters)
{
    return name[0] && strspn(name, letters) == strlen(name);
}

static unsigned mask_count(const struct event *e)
{
    unsigned n = 0;
    while (e->mask && n < EVENT_MASK_BITS && e->mask[n].name)
        n++;
    return n;
}

static void every_event_is_sound(void **state)
{
    (void)state;
    static const char small[] = "abcdefghijklmnopqrstuvwxyz0123456789-_";
    static const char any[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    for (const struct event *e = events; e < events + event_count; e++) {
        assert_non_null(e->name);
        CHECK(e, is_plain(e->name, small));
        CHECK(e, strlen(e->name) < 40);
        CHECK(e, e->alias == NULL || is_plain(e->alias, any));
        CHECK(e, one_line_of_help(e->help));
        CHECK(e, begins_small(e->help));
        CHECK(e, (unsigned)e->category < CATEGORIES);
        CHECK(e, (unsigned)e->unit <= UNIT_VALUE);
        CHECK(e, (e->paths & ~(PATH_RETIRED | PATH_SPEC)) == 0);
        CHECK(e, e->paths == PATH_NONE ? e->standard == PATH_NONE
                                       : e->standard == PATH_RETIRED || e->standard == PATH_SPEC);
        CHECK(e, (e->standard & ~e->paths) == 0);
        CHECK(e, e->attributed || !e->addressed);
    }
}

static void no_two_events_share_a_name(void **state)
{
    (void)state;
    for (const struct event *e = events; e < events + event_count; e++) {
        CHECK(e, event_find(e->name, strlen(e->name)) == e);
        CHECK(e, e->alias == NULL || event_find(e->alias, strlen(e->alias)) == e);
        CHECK(e, e->alias == NULL || strcasecmp(e->alias, e->name) != 0);
    }
}

/* By way of the parser: a mask's name that is a modifier's as well would come out as that. */
static void every_event_and_mask_can_be_asked_for(void **state)
{
    (void)state;
    for (const struct event *e = events; e < events + event_count; e++) {
        struct event_specs s = {0};
        struct error err = {""};
        char text[200];
        snprintf(text, sizeof text, "%s,%s", e->name, e->alias ? e->alias : e->name);
        if (event_specs_parse(&s, text, &err) != 0)
            fail_msg("%s", err.text);
        CHECK(e, s.count == 2 && s.of[0].event == e && s.of[1].event == e && s.of[0].mask == 0);
        event_specs_free(&s);
        CHECK(e, e->mask == NULL || mask_count(e) >= 2);
        for (unsigned bit = 0; bit < mask_count(e); bit++) {
            CHECK(e, one_line_of_help(e->mask[bit].help));
            CHECK(e, begins_small(e->mask[bit].help));
            snprintf(text, sizeof text, "%s:%s", e->name, e->mask[bit].name);
            if (event_specs_parse(&s, text, &err) != 0)
                fail_msg("%s", err.text);
            CHECK(e, s.of[0].mask == 1u << bit); /* another bit: two masks share a name */
            event_specs_free(&s);
        }
    }
}

static void the_documented_list_is_understood(void **state)
{
    (void)state;
    struct event_specs s = {0};
    struct error err = {""};
    int code =
        event_specs_parse(&s, "l1d_misses,cycles:u,fetch_stalls:edge,instructions:thresh=3,{loads,stores}", &err);
    assert_string_equal(err.text, "");
    assert_int_equal(code, 0);
    assert_int_equal(s.count, 6);
    event_specs_free(&s);
    assert_non_null(event_find("branch-misses", 13));
    assert_non_null(event_find("L1-dcache-load-misses", 21));
}

static void there_are_many_of_every_category(void **state)
{
    (void)state;
    size_t count[CATEGORIES] = {0};
    assert_true(event_count >= 80);
    for (size_t i = 0; i < event_count; i++)
        count[events[i].category]++;
    for (unsigned c = 0; c < CATEGORIES; c++)
        if (count[c] < 5)
            fail_msg("there are only %zu events of category '%s'", count[c], event_category_name(c));
}

static void categories_have_names(void **state)
{
    (void)state;
    for (unsigned c = 0; c < CATEGORIES; c++)
        for (unsigned other = 0; other < c; other++)
            assert_string_not_equal(event_category_name(c), event_category_name(other));
}

static void a_name_is_found_whole_and_in_any_case(void **state)
{
    (void)state;
    assert_string_equal(event_find("cycles,loads", 6)->name, "cycles");
    assert_string_equal(event_find("CYCLES", 6)->name, "cycles");
    assert_null(event_find("cycles", 5));
    assert_null(event_find("cycles ", 7));
    assert_null(event_find("", 0));
}

static void a_near_name_is_suggested(void **state)
{
    (void)state;
    assert_string_equal(event_suggest("cycle", 5), "cycles");
    assert_string_equal(event_suggest("CYCLE,", 5), "cycles");
    assert_string_equal(event_suggest("cylces", 6), "cycles"); /* two letters of six */
    assert_null(event_suggest("zzcles", 4));                   /* of four at most one */
    assert_null(event_suggest("", 0));
    assert_null(event_suggest("wxyzwxyzwxyz", 12));
    char name[100];
    memset(name, 'c', sizeof name);
    assert_null(event_suggest(name, sizeof name));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_event_is_sound),
        cmocka_unit_test(no_two_events_share_a_name),
        cmocka_unit_test(every_event_and_mask_can_be_asked_for),
        cmocka_unit_test(the_documented_list_is_understood),
        cmocka_unit_test(there_are_many_of_every_category),
        cmocka_unit_test(categories_have_names),
        cmocka_unit_test(a_name_is_found_whole_and_in_any_case),
        cmocka_unit_test(a_near_name_is_suggested),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
