/* Reports of a profile whose sums are known: tables, trees, data, files. */
#include <jansson.h>
#include <math.h>

#include "profile/profile_data.h"
#include "report/profile_report.h"
#include "report_world.h"

/* ---- text */

static struct profile_report report_of(struct world *w, enum profile_by by)
{
    return (struct profile_report){.names = w->names,
                                   .version = "0",
                                   .by = by,
                                   .last = (unsigned)w->profile->events - 1,
                                   .limit_percent = 0.5,
                                   .line_bytes = 64,
                                   .columns = 200};
}

typedef int write_report(const struct profile_report *r, FILE *to, struct error *err);

static const char *text_of(struct world *w, const struct profile_report *r, write_report *write)
{
    struct error err = {""};
    assert_int_equal(write(r, open_text(w), &err), 0);
    return close_text(w);
}

static int print(const struct profile_report *r, FILE *to, struct error *err)
{
    return profile_report_print(r, to, false, err);
}

/* The numbers behind a name, without their commas, in the first row that has the name; how many there are. Words are
 * skipped. The name of a node of a tree has the blanks before it. */
static unsigned numbers_of(const char *text, const char *name, double *to, unsigned most)
{
    size_t length = strlen(name);
    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        char line[512];
        unsigned n = 0;
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        if (line[0] != ' ' || strncmp(line + 1, name, length) != 0 || line[length + 1] != ' ')
            continue;
        for (char *word = strtok(line + length + 1, " "); word && n < most; word = strtok(NULL, " ")) {
            char plain[64], *end;
            size_t used = 0;
            for (const char *c = word; *c && used < sizeof plain - 1; c++)
                if (*c != ',')
                    plain[used++] = *c;
            plain[used] = '\0';
            to[n] = strtod(plain, &end);
            n += *end == '\0';
        }
        return n;
    }
    fail_msg("no row begins with '%s'", name);
    return 0;
}

static void the_table_adds_up_and_has_intervals(void **state)
{
    struct world *w = *state;
    double a[8], b[8];
    open_usual(w);
    struct profile_report r = report_of(w, PROFILE_BY_FUNCTION);
    r.limit_percent = 10; /* _start has 5 % of cycles and nothing of misses */
    const char *text = text_of(w, &r, print);
    assert_int_equal(numbers_of(text, "leaf", a, 8), 8);
    double interval = 196 * sqrt(0.7 * 0.3 / 20);
    const double expected[8] = {70, interval, 1400, 14, 100, 0, 80, 8};
    for (unsigned i = 0; i < 8; i++)
        assert_true(fabs(a[i] - expected[i]) < 0.00501);
    assert_int_equal(numbers_of(text, "[1 more]", b, 8), 8);
    const double rest[8] = {5, 196 * sqrt(0.05 * 0.95 / 20), 100, 1, 0, 0, 0, 0};
    for (unsigned i = 0; i < 8; i++)
        assert_true(fabs(b[i] - rest[i]) < 0.00501);
    assert_int_equal(numbers_of(text, "work", b, 8), 8);
    assert_true(b[2] + a[2] + 100 == 2000);
    assert_null(strstr(text, "_start"));
    assert_null(strstr(text, "cut off"));
    assert_non_null(strstr(text, "estimates"));
    close_profile(w);
}

static void one_function_leaves_the_others_in_a_row(void **state)
{
    struct world *w = *state;
    double n[8];
    open_usual(w);
    struct profile_report r = report_of(w, PROFILE_BY_INSN);
    r.function = "leaf";
    r.last = 0;
    const char *text = text_of(w, &r, print);
    numbers_of(text, "leaf+0x4", n, 3);
    assert_true(n[2] == 500);
    numbers_of(text, "[other functions]", n, 3);
    assert_true(n[2] == 600);
    close_profile(w);
}

static void a_recording_that_was_cut_off_is_used(void **state)
{
    struct world *w = *state;
    put_usual(w);
    profile_writer_flush(w->writer);
    load_names(w, false);
    assert_false(w->profile->complete);
    struct profile_report r = report_of(w, PROFILE_BY_FUNCTION);
    const char *text = text_of(w, &r, print);
    assert_non_null(strstr(text, "was cut off"));
    assert_non_null(strstr(text, "1,400"));
    close_profile(w);
}

static void exact_events_have_no_intervals(void **state)
{
    struct world *w = *state;
    double n[8];
    begin(w);
    put_event(w, 0, "cycles", 0);
    put_samples(w, (struct profile_sample){.pc = PC_LEAF, .weight = 123456}, 1);
    put_samples(w, (struct profile_sample){.pc = PC_WORK, .weight = 123456}, 1);
    load_names(w, true);
    struct profile_report r = report_of(w, PROFILE_BY_FUNCTION);
    const char *text = text_of(w, &r, print);
    assert_int_equal(numbers_of(text, "leaf", n, 8), 3);
    assert_true(n[0] == 50 && n[1] == 123456 && n[2] == 1);
    assert_null(strstr(text, "±"));
    assert_non_null(strstr(text, "exact"));
    close_profile(w);
}

static void the_tree_sums_up_from_callees_to_callers(void **state)
{
    struct world *w = *state;
    double n[8];
    open_usual(w);
    struct profile_report r = report_of(w, PROFILE_BY_TREE);
    r.limit_percent = 20;
    const char *text = text_of(w, &r, print);
    assert_int_equal(numbers_of(text, "_start", n, 7), 5);
    assert_true(n[2] == 2000 && n[4] == 100);
    numbers_of(text, "  [1 more]", n, 7); /* leaf, called by _start */
    assert_true(n[2] == 300 && n[4] == 300);
    numbers_of(text, "    leaf", n, 7); /* called by work */
    assert_true(n[2] == 500 && n[4] == 500);
    numbers_of(text, "      leaf", n, 7); /* called by work that work called */
    assert_true(n[2] == 600 && n[4] == 600);
    r.function = "work";
    text = text_of(w, &r, print);
    numbers_of(text, "work", n, 7);
    assert_true(n[2] == 1600 && n[4] == 200);
    assert_int_equal(numbers_of(text, "[other functions]", n, 4), 2);
    assert_true(n[1] == 400);
    close_profile(w);
}

static void histories_are_averaged(void **state)
{
    struct world *w = *state;
    double n[24];
    begin(w);
    put_event(w, 0, "instructions", 10);
    struct profile_sample s = {.pc = PC_LEAF, .weight = 10, .flags = PROFILE_HAS_HISTORY, .latency = {4, 1, 30, 5}};
    s.outcome = EVENT_L1D;
    put_samples(w, s, 1);
    s.slots = 7;
    put(w, &(struct profile_record){.kind = PROFILE_PAIR, .sample = s});
    s.latency[PROFILE_ISSUE] = 2;
    s.outcome = 0;
    put_samples(w, s, 1);
    s.slots = 2;
    put(w, &(struct profile_record){.kind = PROFILE_PAIR, .sample = s});
    s.flags |= PROFILE_SQUASHED | PROFILE_MISPREDICTED;
    s.latency[PROFILE_ISSUE] = 1000; /* does not count: it did not retire */
    put_samples(w, s, 2);
    load_names(w, true);
    assert_int_equal(w->profile->event[0].weight, 40);
    struct profile_report r = report_of(w, PROFILE_BY_INSN);
    const char *text = text_of(w, &r, print);
    assert_int_equal(numbers_of(text, "leaf", n, 14), 13);
    /* amounts, address, stages, shares, slots */
    const double expected[13] = {100, 0, 40, 4, 10020, 4, 1, 16, 5, 50, 25, 50, 4.5};
    for (unsigned i = 0; i < 13; i++)
        assert_true(n[i] == expected[i]);
    close_profile(w);
}

/* Of four samples with a cause, one is right, one is wrong within its function, and two are caused by another. */
static void causes_are_compared_with_charges(void **state)
{
    struct world *w = *state;
    begin(w);
    put_event(w, 0, "cycles", 100);
    put_event(w, 1, "l1d_misses", 10);
    struct profile_sample s = {.pc = PC_LEAF, .weight = 100, .flags = PROFILE_HAS_CAUSE, .cause = PC_LEAF};
    put_samples(w, s, 1);
    s.cause = PC_LEAF_ADD;
    put_samples(w, s, 1);
    s.cause = PC_WORK;
    put_samples(w, s, 2);
    put_samples(w, (struct profile_sample){.pc = PC_LEAF, .event = 1, .weight = 10}, 3);
    load_names(w, true);
    struct profile_report r = report_of(w, PROFILE_BY_FUNCTION);
    const char *text = text_of(w, &r, print);
    assert_non_null(strstr(text, " cycles: 75.0 % of samples are charged to another instruction than the one that\n "
                                 "caused them, 50.0 % to another function.\n"));
    assert_null(strstr(text, "l1d_misses: "));
    json_t *root = json_loads(text_of(w, &r, profile_report_json), 0, NULL);
    assert_non_null(root);
    json_t *events = json_object_get(root, "events"), *truth = json_object_get(json_array_get(events, 0), "truth");
    assert_int_equal(json_integer_value(json_object_get(truth, "samples")), 4);
    assert_int_equal(json_integer_value(json_object_get(truth, "other_instruction")), 3);
    assert_int_equal(json_integer_value(json_object_get(truth, "other_function")), 2);
    assert_true(json_is_null(json_object_get(json_array_get(events, 1), "truth")));
    json_decref(root);
    close_profile(w);
}

/* ---- data */

static void data_is_shown_by_line_and_object(void **state)
{
    struct world *w = *state;
    struct profile_data d;
    struct data_toucher toucher[2];
    struct place object;
    struct error err;
    open_usual(w);
    assert_int_equal(profile_data_make(&d, w->names, &(struct data_choice){64, 0, 1, 1, NULL}, &err), 0);
    assert_int_equal(d.count, 2);
    assert_int_equal(d.line[0].address, DATA_TABLE + 64);
    assert_int_equal(data_amount(&d, &d.line[0])[1].weight, 50);
    assert_int_equal(d.line[0].l1d, 5);
    assert_int_equal(d.line[0].l2d, 4);
    assert_int_equal(d.line[0].stores, 1);
    assert_int_equal(data_object(&d, &d.line[0], &object), 1); /* and the counter */
    assert_string_equal(object.name, "table");
    assert_int_equal(data_touchers(&d, &d.line[0], toucher, 2), 1);
    assert_int_equal(w->names->place[toucher[0].place].pc, PC_LEAF);
    assert_int_equal(data_object(&d, &d.line[1], &object), 0);
    assert_string_equal(object.module, "[heap]");
    assert_int_equal(d.rest[0].weight, 2000);
    assert_int_equal(d.rest[1].weight, 20);
    profile_data_free(&d);
    assert_int_equal(profile_data_make(&d, w->names, &(struct data_choice){32, 0, 1, 1, NULL}, &err), 0);
    assert_int_equal(d.count, 3);
    profile_data_free(&d);
    struct profile_report r = report_of(w, PROFILE_BY_DATA);
    const char *text = text_of(w, &r, print);
    assert_non_null(strstr(text, "table+0x40 and 1 more"));
    assert_non_null(strstr(text, "ld a0,0(a1)"));
    assert_non_null(strstr(text, "[without an address]"));
    close_profile(w);
}

/* ---- files */

static void json_has_all_rows(void **state)
{
    static const enum profile_by kinds[] = {PROFILE_BY_FUNCTION, PROFILE_BY_LINE, PROFILE_BY_INSN, PROFILE_BY_MODULE};
    struct world *w = *state;
    open_usual(w);
    for (unsigned i = 0; i < 4; i++) {
        struct profile_report r = report_of(w, kinds[i]);
        const char *text = text_of(w, &r, profile_report_json);
        json_t *root = json_loads(text, 0, NULL), *row;
        json_int_t sum = 0;
        size_t at;
        assert_non_null(root);
        json_array_foreach(json_object_get(root, "rows"), at, row) sum +=
            json_integer_value(json_array_get(json_object_get(row, "count"), 0));
        assert_int_equal(sum, 2000);
        json_t *event = json_array_get(json_object_get(root, "events"), 0);
        assert_int_equal(json_integer_value(json_object_get(event, "happened")), 2034);
        assert_true(json_is_true(json_object_get(root, "complete")));
        json_decref(root);
    }
    close_profile(w);
}

static void csv_has_a_column_for_each_event(void **state)
{
    struct world *w = *state;
    open_usual(w);
    struct profile_report r = report_of(w, PROFILE_BY_FUNCTION);
    char expected[1024];
    const char *text = text_of(w, &r, profile_report_csv);
    snprintf(expected, sizeof expected,
             "module,function,start,count cycles,count l1d_misses:u,samples cycles,samples l1d_misses:u\n"
             "%s,leaf,0x10020,1400,80,14,8\n%s,work,0x1000c,500,0,5,0\n%s,_start,0x10000,100,0,1,0\n",
             w->program, w->program, w->program);
    assert_string_equal(text, expected);
    r = report_of(w, PROFILE_BY_TREE);
    r.last = 0;
    text = text_of(w, &r, profile_report_csv);
    assert_non_null(strstr(text, ",_start,100,1,2000,20\n"));
    close_profile(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_adds_up_and_has_intervals),
        cmocka_unit_test(one_function_leaves_the_others_in_a_row),
        cmocka_unit_test(a_recording_that_was_cut_off_is_used),
        cmocka_unit_test(exact_events_have_no_intervals),
        cmocka_unit_test(the_tree_sums_up_from_callees_to_callers),
        cmocka_unit_test(histories_are_averaged),
        cmocka_unit_test(causes_are_compared_with_charges),
        cmocka_unit_test(data_is_shown_by_line_and_object),
        cmocka_unit_test(json_has_all_rows),
        cmocka_unit_test(csv_has_a_column_for_each_event),
    };
    return cmocka_run_group_tests_name("profile report", tests, make_world, remove_world);
}
