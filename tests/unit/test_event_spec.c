/* Lists of events: good text is understood, bad text gets the right sentence and a caret under the right character. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/code.h"
#include "pmu/event_spec.h"

#include "event_fixture.h"

static const struct event *find(const char *name)
{
    const struct event *e = event_find(name, strlen(name));
    assert_non_null(e);
    return e;
}

static struct event_specs parse(const char *text)
{
    struct event_specs s = {0};
    struct error err = {""};
    int code = event_specs_parse(&s, text, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(code, 0);
    return s;
}

/* ---- good text */

/* What is not named in `want` has its default. */
static const struct good_row {
    const char *text, *event;
    struct event_spec want;
} good_rows[] = {
    {"cycles", "cycles", {0}},
    {"CyCles", "cycles", {0}},
    {"L1-dcache-load-misses", "l1d_misses", {0}},
    {"l1-DCACHE-load-misses", "l1d_misses", {0}},
    {"cycles:u", "cycles", {.privilege = PRIVILEGE_USER}},
    {"cycles:M", "cycles", {.privilege = PRIVILEGE_MACHINE}},
    {"cycles:um", "cycles", {.privilege = PRIVILEGE_ANY}},
    {"fetch_stalls:edge", "fetch_stalls", {.edge = true}},
    {"fetch_stalls:edge:inv", "fetch_stalls", {.edge = true, .invert = true}},
    {"fetch_stalls:inv:EDGE", "fetch_stalls", {.edge = true, .invert = true}},
    {"instructions:thresh=3", "instructions", {.at_least = 4}},
    {"instructions:inv:thresh=3", "instructions", {.at_least = 4, .invert = true}},
    {"instructions:thresh=0", "instructions", {.at_least = 1}},
    {"instructions:thresh=0x1F", "instructions", {.at_least = 32}},
    {"instructions:thresh=010", "instructions", {.at_least = 11}},
    {"loads:spec", "loads", {.path = PATH_SPEC}},
    {"loads:retired", "loads", {.path = PATH_RETIRED}},
    {"loads:ip=0x10000-0x10400", "loads", {.ip = {0x10000, 0x10400}}},
    {"loads:ip=0-16", "loads", {.ip = {0, 16}}},
    {"loads:ip=0-0xffffffffffffffff", "loads", {.ip = {0, UINT64_MAX}}},
    {"loads:addr=4096-0x2000", "loads", {.addr = {4096, 8192}}},
    {"loads:ip=1-2:addr=3-4", "loads", {.ip = {1, 2}, .addr = {3, 4}}},
    {"instructions:op=alu", "instructions", {.classes = 1u << CLASS_ALU}},
    {"instructions:op=FPsqrt|load", "instructions", {.classes = 1u << CLASS_FPSQRT | 1u << CLASS_LOAD}},
    {"l1d_misses:mask=load", "l1d_misses", {.mask = 1}},
    {"l1d_misses:mask=fill|LOAD", "l1d_misses", {.mask = 5}},
    {"L1-dcache-load-misses:Store", "l1d_misses", {.mask = 2}},
    {"l1d_misses:load|store|fill:u", "l1d_misses", {.mask = 7, .privilege = PRIVILEGE_USER}},
    {"waits:sub-event-number-15|sub-event-number-1", "waits", {.mask = 0x8002}},
    {"cycles:marked", "cycles", {.marked = true}},
    {"cycles:preload=0", "cycles", {.preload = 0}},
    {"cycles:preload=18446744073709551615", "cycles", {.preload = UINT64_MAX}},
    {"cycles:period=100K", "cycles", {.period = 100000}},
    {"cycles:period=2m", "cycles", {.period = 2000000}},
    {"cycles:period=3G", "cycles", {.period = 3000000000}},
    {"cycles:share=4294967295", "cycles", {.share = 4294967295}},
    {"cycles:u:marked:edge:period=7:preload=5:share=2:thresh=9:inv",
     "cycles",
     {.privilege = PRIVILEGE_USER,
      .marked = true,
      .edge = true,
      .period = 7,
      .preload = 5,
      .share = 2,
      .at_least = 10,
      .invert = true}},
};

static void modifiers_are_understood(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good_rows / sizeof *good_rows; i++) {
        struct event_spec want = good_rows[i].want;
        struct event_specs s = parse(good_rows[i].text);
        assert_int_equal(s.count, 1);
        want.event = find(good_rows[i].event);
        want.privilege = want.privilege ? want.privilege : PRIVILEGE_ANY;
        want.path = want.path ? want.path : want.event->standard;
        assert_string_equal(s.of->text, good_rows[i].text);
        want.text = s.of->text;
        assert_ptr_equal(s.of->event, want.event);
        assert_int_equal(s.of->mask, want.mask);
        assert_int_equal(s.of->classes, want.classes);
        assert_int_equal(s.of->privilege, want.privilege);
        assert_int_equal(s.of->path, want.path);
        assert_int_equal(s.of->edge, want.edge);
        assert_int_equal(s.of->invert, want.invert);
        assert_int_equal(s.of->marked, want.marked);
        assert_int_equal(s.of->at_least, want.at_least);
        assert_memory_equal(&s.of->ip, &want.ip, sizeof want.ip);
        assert_memory_equal(&s.of->addr, &want.addr, sizeof want.addr);
        assert_int_equal(s.of->preload, want.preload);
        assert_int_equal(s.of->period, want.period);
        assert_int_equal(s.of->share, want.share);
        event_specs_free(&s);
    }
}

static void the_whole_syntax_in_one_list(void **state)
{
    (void)state;
    static const struct {
        const char *event, *text;
        unsigned group;
        bool grouped;
    } want[] = {
        {"l1d_misses", "l1d_misses", 0, false},
        {"cycles", "cycles:u", 1, false},
        {"fetch_stalls", "fetch_stalls:edge", 2, false},
        {"instructions", "instructions:thresh=3", 3, false},
        {"loads", "loads", 4, true},
        {"stores", "stores", 4, true},
    };
    struct event_specs s = parse("l1d_misses,cycles:u,fetch_stalls:edge,instructions:thresh=3,{loads,stores}");
    assert_int_equal(s.count, 6);
    for (size_t i = 0; i < s.count; i++) {
        assert_ptr_equal(s.of[i].event, find(want[i].event));
        assert_string_equal(s.of[i].text, want[i].text);
        assert_int_equal(s.of[i].group, want[i].group);
        assert_int_equal(s.of[i].grouped, want[i].grouped);
    }
    event_specs_free(&s);
}

static void a_groups_modifiers_are_those_of_its_members(void **state)
{
    (void)state;
    struct event_specs s = parse("{loads:spec,stores:period=5}:u:thresh=2,{cycles}:marked");
    assert_int_equal(s.count, 3);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(s.of[i].privilege, PRIVILEGE_USER);
        assert_int_equal(s.of[i].at_least, 3);
        assert_false(s.of[i].marked);
    }
    assert_int_equal(s.of[0].path, PATH_SPEC);
    assert_int_equal(s.of[1].path, find("stores")->standard);
    assert_int_equal(s.of[1].period, 5);
    assert_true(s.of[2].marked);
    assert_int_equal(s.of[2].privilege, PRIVILEGE_ANY);
    assert_string_equal(s.of[0].text, "loads:spec:u:thresh=2");
    assert_string_equal(s.of[1].text, "stores:period=5:u:thresh=2");
    event_specs_free(&s);
    s = parse("{fetch_stalls:inv,cycles:edge}:thresh=1"); /* what inv needs may come from the group */
    assert_true(s.of[0].invert && !s.of[1].invert);
    event_specs_free(&s);
}

static void white_space_is_no_part_of_the_text(void **state)
{
    (void)state;
    struct event_specs s = parse(" \tcycles : u ,\n{ loads , stores:spec\t} : edge : marked ");
    assert_int_equal(s.count, 3);
    assert_string_equal(s.of[0].text, "cycles:u");
    assert_string_equal(s.of[1].text, "loads:edge:marked");
    assert_string_equal(s.of[2].text, "stores:spec:edge:marked");
    event_specs_free(&s);
}

static void a_name_replaces_the_text(void **state)
{
    (void)state;
    struct event_specs s = parse("cycles:u:name= of the user :edge, {loads:NAME=a=b|c,stores}:u,cycles:name=größe");
    assert_int_equal(s.count, 4);
    assert_string_equal(s.of[0].text, "of the user");
    assert_true(s.of[0].edge);
    assert_string_equal(s.of[1].text, "a=b|c");
    assert_string_equal(s.of[2].text, "stores:u");
    assert_string_equal(s.of[3].text, "größe");
    event_specs_free(&s);
}

static void lists_add_up_and_mistakes_add_nothing(void **state)
{
    (void)state;
    struct error err;
    struct event_specs s = parse("cycles,{loads,stores}");
    assert_int_equal(event_specs_parse(&s, "cycles,{loads,storms}", &err), -EINVAL);
    assert_int_equal(s.count, 3);
    assert_int_equal(event_specs_parse(&s, "{stores},cycles", &err), 0);
    assert_int_equal(s.count, 5);
    assert_int_equal(s.of[2].group, 1);
    assert_int_equal(s.of[3].group, 2);
    assert_int_equal(s.of[4].group, 3);
    assert_string_equal(s.of[1].text, "loads");
    event_specs_free(&s);
    assert_int_equal(s.count, 0);
    assert_null(s.of);
}

/* ---- bad text */

#define MODIFIERS_OF_CYCLES "u, m, um, edge, inv, thresh=, marked, preload=, period=, share=, name="
#define CLASSES             "alu, mul, div, branch, load, store, fpadd, fpmul, fpdiv, fpsqrt"

static const struct bad_row {
    const char *text;
    unsigned column;
    const char *sentence;
} bad_rows[] = {
    /* events */
    {"l1d-misse", 0, "there is no event 'l1d-misse': did you mean 'l1d_misses'?"},
    {"cycles,L1-dcache-load-miss", 7, "there is no event 'L1-dcache-load-miss': did you mean 'L1-dcache-load-misses'?"},
    {"cycles, zzzzzzzzz:u", 8, "there is no event 'zzzzzzzzz': `cyclescope list events` names all"},
    {"cycles,thresh=3", 7,
     "there is no event 'thresh=3': a modifier follows its event and a colon, as in cycles:thresh=3"},
    {"cycles,\x01\xff\x80zzzzz", 7, "there is no event '???zzzzz': `cyclescope list events` names all"},
    /* lists and groups */
    {"", 0, "the list of events is empty: `cyclescope list events` names all"},
    {"  \n ", 0, "the list of events is empty: `cyclescope list events` names all"},
    {",cycles", 0, "an event is missing before the comma"},
    {"cycles,,loads", 7, "an event is missing between the commas"},
    {"cycles, ,loads", 8, "an event is missing between the commas"},
    {"cycles,", 6, "an event is missing after the comma"},
    {"cycles, ", 6, "an event is missing after the comma"},
    {":u", 0, "an event is missing before the colon"},
    {"{}", 1, "an event is missing between the braces"},
    {"{loads,}", 6, "an event is missing between the comma and the brace"},
    {"{,loads}", 1, "an event is missing before the comma"},
    {"cycles,{loads,stores", 7, "a brace is not closed"},
    {"cycles,{", 7, "a brace is not closed"},
    {"cycles,{loads,", 7, "a brace is not closed"},
    {"{loads,{stores}}", 7, "a group cannot contain a group"},
    {"{loads{stores}}", 6, "a group cannot contain a group"},
    {"loads}", 5, "this brace closes no group"},
    {"}", 0, "this brace closes no group"},
    {"{loads}}", 7, "this brace closes no group"},
    {"cycles:u loads", 9, "a comma is missing before 'loads'"},
    {"{cycles loads}", 8, "a comma is missing before 'loads'"},
    {"{cycles}loads", 8, "a comma is missing before 'loads'"},
    {"cycles:u{loads}", 8, "a comma is missing before '{'"},
    /* modifiers */
    {"cycles:", 6, "a modifier such as u or edge is missing after the colon"},
    {"cycles::u", 6, "a modifier such as u or edge is missing after the colon"},
    {"{loads}:", 7, "a modifier such as u or edge is missing after the colon"},
    {"cycles:edgy", 7, "':edgy' is no modifier of 'cycles': modifiers are " MODIFIERS_OF_CYCLES},
    {"cycles:=3", 7, "':=3' is no modifier of 'cycles': modifiers are " MODIFIERS_OF_CYCLES},
    {"cycles:u:uk", 9, "':uk' is a modifier of perf that is not supported: privileges are u, m and um"},
    {"cycles:upp", 7, "':upp' is a modifier of perf that is not supported: `record --precise` makes samples exact"},
    {"cycles:edge=1", 11, "edge takes no value"},
    {"cycles:u=", 8, "u takes no value"},
    {"cycles:edge:EDGE", 12, "'EDGE' is given twice"},
    {"cycles:thresh=1:thresh=2", 16, "'thresh' is given twice"},
    {"{loads:edge}:edge", 13, "'edge' is given twice"},
    {"cycles:u:m", 9, "the privilege is given twice: um stands for both"},
    {"loads:spec:retired", 11, "spec and retired exclude each other"},
    {"{loads:spec}:retired", 13, "spec and retired exclude each other"},
    {"cycles:inv", 7, "inv needs thresh or edge beside it"},
    {"{cycles:edge,loads:inv:u}:m", 26, "the privilege is given twice: um stands for both"},
    {"{cycles:edge,loads:inv:u},loads", 19, "inv needs thresh or edge beside it"},
    {"cycles:name=", 7, "name needs a text"},
    {"cycles:name=  ,loads", 7, "name needs a text"},
    {"cycles:name=a\tb", 13, "name needs a text without control characters"},
    {"{cycles}:name=x", 9, "a group has no name: give name= to its events"},
    /* numbers */
    {"instructions:thresh", 13, "thresh needs a number such as 100 or 2M"},
    {"instructions:thresh=", 13, "thresh needs a number such as 100 or 2M"},
    {"instructions:thresh=-1", 20, "thresh needs a number such as 100 or 2M"},
    {"instructions:thresh=3x", 21, "thresh needs a number such as 100 or 2M"},
    {"instructions:thresh=0x", 21, "thresh needs a number such as 100 or 2M"},
    {"instructions:thresh=0xfg", 23, "thresh needs a number such as 100 or 2M"},
    {"instructions:thresh=3KK", 21, "thresh needs a number such as 100 or 2M"},
    {"instructions:thresh=K", 20, "thresh needs a number such as 100 or 2M"},
    {"cycles:preload=x", 15, "preload needs a number such as 100 or 2M"},
    {"cycles:period=18446744073709551616", 14, "period needs a number of at most 18446744073709551615"},
    {"cycles:period=18446744073709552K", 14, "period needs a number of at most 18446744073709551615"},
    {"cycles:period=000000000000000000000000000000001", 14, "period needs a number of at most 18446744073709551615"},
    {"cycles:share=5G", 13, "share needs a number of at most 4294967295"},
    /* ranges */
    {"cycles:ip=1-2", 7, "'cycles' is no event of instructions: ip= does not apply to it"},
    {"{loads,cycles}:ip=1-2", 15, "'cycles' is no event of instructions: ip= does not apply to it"},
    {"instructions:addr=1-2", 13, "'instructions' has no data address: addr= does not apply to it"},
    {"loads:ip", 6, "ip needs a range such as 0x10000-0x10400"},
    {"loads:ip=", 6, "ip needs a range such as 0x10000-0x10400"},
    {"loads:ip=0x10", 9, "ip needs a range such as 0x10000-0x10400"},
    {"loads:ip=-0x10", 9, "ip needs two addresses such as 0x10000-0x10400"},
    {"loads:ip=0x10-", 13, "ip needs two addresses such as 0x10000-0x10400"},
    {"loads:ip=0x10-2K", 15, "ip needs two addresses such as 0x10000-0x10400"},
    {"loads:addr=main-0x20", 11, "addr needs two addresses such as 0x10000-0x10400"},
    {"loads:addr=1-2-3", 14, "addr needs two addresses such as 0x10000-0x10400"},
    {"loads:ip=18446744073709551616-1", 9, "ip needs addresses of at most 64 bits"},
    {"loads:addr=1-0x10000000000000000", 13, "addr needs addresses of at most 64 bits"},
    {"loads:addr=16-0x10", 14, "addr needs a range that ends above its start"},
    /* classes and paths */
    {"cycles:op=load", 7, "'cycles' is no event of instructions: op= does not apply to it"},
    {"cycles:retired", 7, "'cycles' is no event of instructions: retired does not apply to it"},
    {"instructions:spec", 13, "'instructions' exists only for instructions that retire: spec does not apply to it"},
    {"fetched:retired", 8,
     "'fetched' exists only for all instructions, wrong path included: retired does not apply to it"},
    {"instructions:op", 13, "op needs classes of instructions such as load|store"},
    {"instructions:op=load|lead", 21, "'lead' is no class of instructions: classes are " CLASSES},
    {"instructions:op=load|", 20, "a name is missing beside '|'"},
    {"instructions:op=|load", 16, "a name is missing beside '|'"},
    {"instructions:op=load||alu", 21, "a name is missing beside '|'"},
    {"instructions:op=load|alu|LOAD", 25, "'LOAD' is named twice"},
    /* sub-events */
    {"cycles:mask=x", 7, "'cycles' has no sub-events: mask= does not apply to it"},
    {"l1d_misses:mask", 11, "mask needs sub-events of its event"},
    {"l1d_misses:mask=lead", 16, "'lead' is no sub-event of 'l1d_misses': its sub-events are load, store, fill"},
    {"l1d_misses:load|lead", 16, "'lead' is no sub-event of 'l1d_misses': its sub-events are load, store, fill"},
    {"l1d_misses:lead|load", 11,
     "':lead|load' is no modifier of 'l1d_misses': modifiers are u, m, um, edge, inv, thresh=, spec, retired, mask=, "
     "ip=, addr=, op=, marked, preload=, period=, share=, name=, load, store, fill"},
    {"l1d_misses:load:store", 16, "sub-events are given twice: join them by '|'"},
    {"l1d_misses:load|fill|load", 21, "'load' is named twice"},
    {"{l1d_misses,loads}:load", 19,
     "':load' is no modifier of 'loads': modifiers are u, m, um, edge, inv, thresh=, spec, retired, ip=, addr=, op=, "
     "marked, preload=, period=, share=, name="},
    {"waits:sub", 6,
     "':sub' is no modifier of 'waits': modifiers are u, m, um, edge, inv, thresh=, mask=, marked, preload=, period=, "
     "share=, name=, sub-event-number-0, sub-event-number-1, sub-event-number-2, sub-event-number-3, "
     "sub-event-number-4, sub-event-number-5, sub-event-number-6, …"},
};

/* The text as it is shown: bytes that are not printed have a substitute. */
static char *shown(const char *text, size_t length)
{
    char *copy = strndup(text, length);
    assert_non_null(copy);
    for (char *c = copy; *c; c++)
        if ((unsigned char)*c <= ' ' || (unsigned char)*c >= 0x7f)
            *c = strchr(" \t\n\v\f\r", *c) ? ' ' : '?';
    return copy;
}

static void bad_text_gets_a_sentence_and_a_caret(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_rows / sizeof *bad_rows; i++) {
        const struct bad_row *row = &bad_rows[i];
        struct event_specs s = {0};
        struct error err = {""};
        char want[600], *text = shown(row->text, strlen(row->text));
        snprintf(want, sizeof want, "%s\n%s\n%*s^", row->sentence, text, (int)row->column, "");
        int code = event_specs_parse(&s, row->text, &err);
        assert_string_equal(err.text, want);
        assert_int_equal(code, -EINVAL);
        assert_int_equal(s.count, 0);
        free(text);
    }
}

/* Fifty names of 7 bytes each, and a mistake at one of them. */
static void a_long_text_is_cut_around_the_caret(void **state)
{
    (void)state;
    for (unsigned bad = 0; bad < 50; bad++) {
        char text[351] = "", line[80], *newline;
        struct event_specs s = {0};
        struct error err;
        for (unsigned i = 0; i < 50; i++)
            strcat(text, i == bad ? "c+cles," : "cycles,");
        text[349] = '\0';
        assert_int_equal(event_specs_parse(&s, text, &err), -EINVAL);
        assert_non_null(strstr(err.text, "there is no event 'c+cles': did you mean 'cycles'?\n"));
        bool left = bad * 7 > 35, right = bad * 7 + 35 < 349;
        unsigned begin = !left ? 0 : right ? bad * 7 - 35 : 349 - 70;
        newline = strchr(err.text, '\n');
        snprintf(line, sizeof line, "%s%.70s%s", left ? "…" : "", text + begin, right ? "…" : "");
        assert_memory_equal(newline + 1, line, strlen(line));
        assert_int_equal(strspn(newline + 1 + strlen(line) + 1, " "), bad * 7 - begin + left);
    }
}

static void a_long_name_is_cut(void **state)
{
    (void)state;
    struct event_specs s = {0};
    struct error err;
    char text[2000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_int_equal(event_specs_parse(&s, text, &err), -EINVAL);
    assert_non_null(strstr(err.text, "xxx…': `cyclescope list events` names all\nxxx"));
    memcpy(text, "cycles:", 7);
    assert_int_equal(event_specs_parse(&s, text, &err), -EINVAL);
    assert_non_null(strstr(err.text, "xxx…' is no modifier of 'cycles': modifiers are u, m, "));
    assert_non_null(strstr(err.text, "\ncycles:xxx"));
    assert_string_equal(err.text + strlen(err.text) - 9, "\n       ^");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modifiers_are_understood),
        cmocka_unit_test(the_whole_syntax_in_one_list),
        cmocka_unit_test(a_groups_modifiers_are_those_of_its_members),
        cmocka_unit_test(white_space_is_no_part_of_the_text),
        cmocka_unit_test(a_name_replaces_the_text),
        cmocka_unit_test(lists_add_up_and_mistakes_add_nothing),
        cmocka_unit_test(bad_text_gets_a_sentence_and_a_caret),
        cmocka_unit_test(a_long_text_is_cut_around_the_caret),
        cmocka_unit_test(a_long_name_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
