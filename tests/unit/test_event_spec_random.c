/* Lists of events at random: what is printed is parsed back to the same fields, and no damaged text does harm. */
#include <ctype.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "core/code.h"
#include "pmu/event_spec.h"

enum { EVENTS_MOST = 12, MODIFIERS_MOST = 16, TEXT_MOST = 8192, LISTS = 5000, MUTATIONS = 25000 };

static const char *const class_names[CLASS_COUNT] = {"alu",   "mul",   "div",   "branch", "load",
                                                     "store", "fpadd", "fpmul", "fpdiv",  "fpsqrt"};

/* A list as it should be parsed, and its text. */
struct list {
    struct random random;
    struct event_spec of[EVENTS_MOST];
    size_t count;
    char text[TEXT_MOST];
    char labels[EVENTS_MOST][TEXT_MOST]; /* event_spec.text */
};

static unsigned below(struct list *l, unsigned n)
{
    return (unsigned)(random_u64(&l->random) % n);
}

__attribute__((format(printf, 2, 3))) static void add(char *text, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    int more = vsnprintf(text + used, TEXT_MOST - used, format, args);
    va_end(args);
    assert_true(more >= 0 && used + (size_t)more < TEXT_MOST);
}

static void space(struct list *l)
{
    static const char *const spaces[] = {" ", "\t", "\n", "  "};
    if (below(l, 8) == 0)
        add(l->text, "%s", spaces[below(l, 4)]);
}

/* Numbers of every size. */
static uint64_t number(struct list *l)
{
    uint64_t n = random_u64(&l->random) >> below(l, 64);
    return n ? n : 1;
}

static void put_number(struct list *l, char *to, uint64_t n)
{
    if (n % 1000 == 0 && below(l, 2))
        add(to, "%lluk", (unsigned long long)n / 1000);
    else
        add(to, below(l, 2) ? "%llu" : "0x%llx", (unsigned long long)n);
}

static void put_range(struct list *l, char *to, struct address_range *r)
{
    r->from = number(l) / 2;
    r->to = r->from + 1 + number(l) / 2;
    add(to, below(l, 2) ? "0x%llx-%llu" : "%llu-0x%llX", (unsigned long long)r->from, (unsigned long long)r->to);
}

/* Some of the names in some order. */
static uint32_t put_bits(struct list *l, char *to, const char *const *names, unsigned count)
{
    uint32_t bits = 0;
    for (unsigned tries = 1 + below(l, count); tries > 0; tries--) {
        unsigned bit = below(l, count);
        if (!(bits >> bit & 1))
            add(to, "%s%s", bits ? "|" : "", names[bit]);
        bits |= 1u << bit;
    }
    return bits;
}

static uint32_t put_mask(struct list *l, char *to, const struct event *e)
{
    const char *names[EVENT_MASK_BITS];
    unsigned count = 0;
    for (; count < EVENT_MASK_BITS && e->mask[count].name; count++)
        names[count] = e->mask[count].name;
    return put_bits(l, to, names, count);
}

/* Writes the modifier of this number to `to` and to the fields; nothing if the event has it not. */
static void put_modifier(struct list *l, struct event_spec *s, unsigned which, char *to)
{
    const struct event *e = s->event;
    static const char *const privileges[] = {"", "u", "m", "um"};
    switch (which) {
    case 0: add(to, "%s", privileges[s->privilege = (uint8_t)(1 + below(l, 3))]); break;
    case 1: add(to, "edge"), s->edge = true; break;
    case 2: add(to, "thresh="), put_number(l, to, (s->at_least = number(l)) - 1); break;
    case 3:
        s->path = (uint8_t)(1 + below(l, 2));
        if (e->paths & s->path)
            add(to, s->path == PATH_SPEC ? "spec" : "retired");
        else
            s->path = e->standard;
        break;
    case 4:
        if (e->mask)
            add(to, below(l, 2) ? "mask=" : ""), s->mask = put_mask(l, to, e);
        break;
    case 5:
        if (e->attributed)
            add(to, "ip="), put_range(l, to, &s->ip);
        break;
    case 6:
        if (e->addressed)
            add(to, "addr="), put_range(l, to, &s->addr);
        break;
    case 7:
        if (e->attributed)
            add(to, "op="), s->classes = put_bits(l, to, class_names, CLASS_COUNT);
        break;
    case 8: add(to, "marked"), s->marked = true; break;
    case 9: add(to, "preload="), put_number(l, to, s->preload = number(l)); break;
    case 10: add(to, "period="), put_number(l, to, s->period = number(l)); break;
    case 11: add(to, "share="), put_number(l, to, s->share = 1 + below(l, 1000000)); break;
    case 12: add(to, "inv"), s->invert = true; break;
    }
}

/* An event with some modifiers, each at most once, in random order and random case. */
static void put_event(struct list *l, unsigned group, bool grouped)
{
    struct event_spec *s = &l->of[l->count];
    char *label = l->labels[l->count++], name[32];
    unsigned order[13], count = below(l, 3) ? below(l, 4) : below(l, 14);
    const struct event *e = &events[below(l, (unsigned)event_count)];
    *s = (struct event_spec){
        .event = e, .privilege = PRIVILEGE_ANY, .path = e->standard, .group = group, .grouped = grouped};
    label[0] = '\0';
    add(label, "%s", e->alias && below(l, 2) ? e->alias : e->name);
    add(l->text, "%s", label);
    for (unsigned i = 0; i < 13; i++) {
        unsigned j = below(l, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    for (unsigned i = 0; i < count; i++) {
        char modifier[TEXT_MOST] = "";
        if (order[i] == 12 && !s->edge && s->at_least == 0)
            continue;
        put_modifier(l, s, order[i], modifier);
        if (modifier[0] == '\0')
            continue;
        for (char *c = modifier; *c && below(l, 3) == 0; c++)
            *c = (char)(c[1] == 'x' ? *c : toupper((unsigned char)*c));
        space(l), add(l->text, ":"), space(l);
        add(l->text, "%s", modifier);
        add(label, ":%s", modifier);
    }
    if (below(l, 8) == 0) {
        snprintf(name, sizeof name, "name of %u", below(l, 1000));
        add(l->text, ":name=%s", name);
        strcpy(label, name);
    }
    space(l);
}

/* Modifiers that every event can have, so that a group can have them where no member has. */
static void put_group_modifier(struct list *l, size_t first)
{
    for (size_t i = first; i < l->count; i++)
        if (l->of[i].marked)
            return;
    add(l->text, ":marked");
    for (size_t i = first; i < l->count; i++) {
        l->of[i].marked = true;
        if (strncmp(l->labels[i], "name of", 7) != 0)
            add(l->labels[i], ":marked");
    }
}

static void make_list(struct list *l)
{
    unsigned items = 1 + below(l, 4);
    l->text[0] = '\0';
    l->count = 0;
    space(l);
    for (unsigned group = 0; group < items; group++) {
        size_t first = l->count;
        bool braces = below(l, 3) == 0;
        add(l->text, "%s%s", group ? "," : "", braces ? "{" : "");
        for (unsigned members = braces ? 1 + below(l, 3) : 1; members > 0; members--) {
            add(l->text, "%s", l->count > first ? "," : "");
            put_event(l, group, braces);
        }
        add(l->text, "%s", braces ? "}" : "");
        if (braces && below(l, 2))
            put_group_modifier(l, first);
    }
}

static void compare(const struct event_spec *got, const struct event_spec *want, const char *label)
{
    assert_ptr_equal(got->event, want->event);
    assert_int_equal(got->mask, want->mask);
    assert_int_equal(got->classes, want->classes);
    assert_int_equal(got->privilege, want->privilege);
    assert_int_equal(got->path, want->path);
    assert_int_equal(got->edge, want->edge);
    assert_int_equal(got->invert, want->invert);
    assert_int_equal(got->marked, want->marked);
    assert_int_equal(got->at_least, want->at_least);
    assert_memory_equal(&got->ip, &want->ip, sizeof got->ip);
    assert_memory_equal(&got->addr, &want->addr, sizeof got->addr);
    assert_int_equal(got->preload, want->preload);
    assert_int_equal(got->period, want->period);
    assert_int_equal(got->share, want->share);
    assert_int_equal(got->group, want->group);
    assert_int_equal(got->grouped, want->grouped);
    assert_string_equal(got->text, label);
}

static void what_is_printed_is_parsed_back(void **state)
{
    (void)state;
    static struct list l;
    random_seed(&l.random, 1);
    for (unsigned n = 0; n < LISTS; n++) {
        struct event_specs s = {0};
        struct error err = {""};
        make_list(&l);
        int code = event_specs_parse(&s, l.text, &err);
        assert_string_equal(err.text, "");
        assert_int_equal(code, 0);
        assert_int_equal(s.count, l.count);
        for (size_t i = 0; i < s.count; i++)
            compare(&s.of[i], &l.of[i], l.labels[i]);
        event_specs_free(&s);
    }
}

/* ---- damaged text */

/* One byte more, less, or another one; more often one that means something. */
static void mutate(struct list *l, char *text)
{
    static const char likely[] = ",:{}|=-_ \tumk019xKG";
    size_t length = strlen(text), at = below(l, (unsigned)length + 1);
    char byte = below(l, 2) ? likely[below(l, sizeof likely - 1)] : (char)(1 + below(l, 255));
    switch (below(l, 3)) {
    case 0:
        if (at < length)
            text[at] = byte;
        break;
    case 1:
        if (at < length)
            memmove(text + at, text + at + 1, length - at);
        break;
    case 2:
        memmove(text + at + 1, text + at, length - at + 1);
        text[at] = byte;
        break;
    }
}

/* Three lines: a sentence, a part of the text, and a caret under a character of it. */
static void check_message(const char *text, const char *message)
{
    static const char more[] = "…";
    const size_t mark = sizeof more - 1;
    size_t length = strlen(text), most = length < 70 ? length : 70;
    const char *line = strchr(message, '\n'), *caret = line ? strchr(line + 1, '\n') : NULL;
    assert_true(line > message && caret);
    for (const char *c = message; *c; c++)
        assert_false(iscntrl((unsigned char)*c) && c != line && c != caret);
    bool left = strncmp(++line, more, mark) == 0;
    line += left ? mark : 0;
    size_t shown = (size_t)(caret - line);
    bool right = shown >= mark && strncmp(caret - mark, more, mark) == 0;
    shown -= right ? mark : 0;
    size_t column = strspn(++caret, " ");
    assert_string_equal(caret + column, "^");
    assert_int_equal(shown, most);
    assert_true(length == 0 ? column == 0 : column >= left && column < shown + left);
    for (size_t i = 0; i < shown && !left; i++)
        assert_true(line[i] == text[i] || !isgraph((unsigned char)text[i]));
    assert_int_equal(left || right, length > 70);
}

static void damaged_text_does_no_harm(void **state)
{
    (void)state;
    static struct list l;
    unsigned good = 0, bad = 0;
    random_seed(&l.random, 2);
    for (unsigned n = 0; n < MUTATIONS; n++) {
        struct event_specs s = {0};
        struct error err = {""};
        make_list(&l);
        for (unsigned times = 1 + below(&l, 3); times > 0; times--)
            mutate(&l, l.text);
        char *text = strdup(l.text); /* so that a sanitizer sees its end */
        assert_non_null(text);
        int code = event_specs_parse(&s, text, &err);
        if (code == 0) {
            assert_true(s.count > 0);
            good++;
        } else {
            assert_int_equal(code, -EINVAL);
            assert_int_equal(s.count, 0);
            check_message(text, err.text);
            bad++;
        }
        free(text);
        event_specs_free(&s);
    }
    assert_true(good > MUTATIONS / 100 && bad > MUTATIONS / 2); /* both ways were tried */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_printed_is_parsed_back),
        cmocka_unit_test(damaged_text_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
