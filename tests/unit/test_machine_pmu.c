/* mhpmevent: specifications as numbers and back, and numbers that stay. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "pmu/machine_pmu.h"

/* Firmware that was built before must go on meaning the same: rows of event.def are added at the end only. */
static void numbers_stay(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned number;
    } known[] = {
        {"cycles", 1},       {"instructions", 2}, {"fetched", 3},      {"loads", 6},
        {"stores", 7},       {"l1i_misses", 17},  {"l1d_misses", 20},  {"l1d_evictions", 39},
        {"fetch_stops", 50}, {"head_stalls", 58}, {"data_stalls", 63}, {"branches", 77},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const struct event *e = event_find(known[i].name, strlen(known[i].name));
        assert_non_null(e);
        if (event_number(e) != known[i].number)
            fail_msg("%s has number %u and had %u", e->name, event_number(e), known[i].number);
    }
}

static struct event_spec parse_one(const char *text, struct event_specs *s)
{
    struct error err;
    if (event_specs_parse(s, text, &err) != 0)
        fail_msg("%s: %s", text, err.text);
    return s->of[s->count - 1];
}

static void specs_have_codes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t code;
    } rows[] = {
        {"cycles", 1},
        {"cycles:u", 1 | HPMEVENT_MINH},
        {"instructions:m", 2 | HPMEVENT_UINH},
        {"loads:spec", 6 | UINT64_C(2) << 42},
        {"loads:retired", 6},
        {"loads:half|double", 6 | UINT64_C(10) << 12},
        {"instructions:thresh=3", 2 | UINT64_C(4) << 28},
        {"instructions:thresh=4094:inv", 2 | UINT64_C(4095) << 28 | UINT64_C(2) << 40},
        {"head_stalls:edge", 58 | UINT64_C(1) << 40},
    };
    struct event_specs s = {0};
    struct error err;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct event_spec spec = parse_one(rows[i].text, &s);
        uint64_t code;
        assert_int_equal(event_encode(&spec, &code, &err), 0);
        if (code != rows[i].code)
            fail_msg("%s is 0x%llx", rows[i].text, (unsigned long long)code);
    }
    event_specs_free(&s);
}

static void filters_have_none(void **state)
{
    (void)state;
    static const char *const texts[] = {"loads:ip=0-16", "loads:addr=0-16", "instructions:op=alu", "loads:marked",
                                        "loads:thresh=4095"};
    struct event_specs s = {0};
    struct error err;
    uint64_t code;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct event_spec spec = parse_one(texts[i], &s);
        assert_int_equal(event_encode(&spec, &code, &err), -EINVAL);
        assert_non_null(strstr(err.text, texts[i]));
    }
    event_specs_free(&s);
}

/* Whatever decodes encodes to the same bits, and is within what its event can be asked for. */
static void random_codes_survive(void **state)
{
    (void)state;
    struct random r;
    unsigned decoded = 0;
    random_seed(&r, 7);
    for (unsigned i = 0; i < 200000; i++) {
        uint64_t code = random_u64(&r) & random_u64(&r), again;
        struct event_spec s;
        struct error err;
        code = (code & ~UINT64_C(0xfff)) | random_u64(&r) % 130;
        code &= ~(UINT64_C(0xfffff) << 44) | HPMEVENT_MINH | HPMEVENT_UINH;
        if (i % 2)
            code &= ~(UINT64_C(0xffff) << 12);
        if (!event_decode(code, &s))
            continue;
        decoded++;
        if (s.path == s.event->standard)
            code &= ~(UINT64_C(3) << 42);
        assert_int_equal(event_encode(&s, &again, &err), 0);
        assert_true(again == code);
        assert_true((s.path & ~s.event->paths) == 0);
    }
    assert_true(decoded > 10000);
}

static void what_is_none_does_not_decode(void **state)
{
    (void)state;
    struct event_spec s;
    assert_false(event_decode(0, &s));
    assert_false(event_decode(event_count + 1, &s));
    assert_false(event_decode(1 | UINT64_C(1) << 44, &s));
    assert_false(event_decode(1 | UINT64_C(1) << 12, &s));
    assert_false(event_decode(1 | UINT64_C(1) << 42, &s));
    assert_false(event_decode(6 | UINT64_C(3) << 42, &s));
    assert_false(event_decode(1 | UINT64_C(1) << 41, &s));
    assert_true(event_decode(event_count, &s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_stay),
        cmocka_unit_test(specs_have_codes),
        cmocka_unit_test(filters_have_none),
        cmocka_unit_test(random_codes_survive),
        cmocka_unit_test(what_is_none_does_not_decode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
