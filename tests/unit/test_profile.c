/* A profile in memory: cells, rows by function, line, instruction and module, and what cannot be read. */
#include "base/clean_text.h"
#include "profile/profile_rows.h"
#include "profile/profile_tree.h"
#include "report_world.h"

static struct profile_rows rows_of(struct world *w, enum profile_by by)
{
    struct profile_rows r;
    struct error err;
    assert_int_equal(profile_rows_make(&r, w->names, by, true, &err), 0);
    profile_rows_sort(&r, 0);
    return r;
}

static void expect_row(const struct profile_rows *r, size_t i, uint64_t pc, uint64_t cycles, uint64_t all_cycles,
                       uint64_t misses, uint64_t all_misses)
{
    assert_true(i < r->count);
    const struct profile_row *row = &r->row[i];
    const struct profile_place *p = &r->names->place[row->place];
    if (pc)
        assert_int_equal(r->names->function[p->function].start, pc);
    assert_int_equal(row_self(r, row)[0].weight, cycles);
    assert_int_equal(row_total(r, row)[0].weight, all_cycles);
    assert_int_equal(row_self(r, row)[1].weight, misses);
    assert_int_equal(row_total(r, row)[1].weight, all_misses);
    assert_int_equal(row_self(r, row)[0].samples, cycles / 100);
    assert_int_equal(row_total(r, row)[1].samples, all_misses / 10);
}

static void samples_of_one_place_are_one_cell(void **state)
{
    struct world *w = *state;
    open_usual(w);
    const struct profile *p = w->profile;
    assert_int_equal(p->cells, 9);
    assert_int_equal(p->samples, 28);
    assert_int_equal(p->event[0].weight, 2000);
    assert_int_equal(p->event[0].samples, 20);
    assert_int_equal(p->event[1].weight, 80);
    assert_true(p->event[0].has_total && p->event[0].total == 2034 && !p->event[1].has_total);
    assert_true(p->complete);
    assert_string_equal(profile_info_of(p, "core"), "small");
    assert_null(profile_info_of(p, "color"));
    close_profile(w);
}

static void functions_have_self_and_inclusive_weights(void **state)
{
    struct world *w = *state;
    open_usual(w);
    struct profile_rows r = rows_of(w, PROFILE_BY_FUNCTION);
    assert_int_equal(r.count, 3);
    expect_row(&r, 0, 0x10000, 100, 2000, 0, 80);
    expect_row(&r, 1, PC_WORK, 500, 1600, 0, 60); /* once, although it calls itself */
    expect_row(&r, 2, PC_LEAF, 1400, 1400, 80, 80);
    assert_string_equal(w->names->function[w->names->place[r.row[1].place].function].name, "work");
    profile_rows_free(&r);
    close_profile(w);
}

static void instructions_lines_and_modules_are_rows(void **state)
{
    struct world *w = *state;
    open_usual(w);
    struct profile_rows r = rows_of(w, PROFILE_BY_INSN);
    assert_int_equal(r.count, 8); /* the calls have inclusive weights only */
    expect_row(&r, 0, 0x10000, 0, 1600, 0, 60);
    assert_int_equal(w->names->place[r.row[0].place].pc, SITE_START_WORK);
    expect_row(&r, 1, PC_WORK, 0, 900 + 200, 0, 60);
    profile_rows_free(&r);
    r = rows_of(w, PROFILE_BY_LINE);
    const struct profile_place *p = &w->names->place[r.row[0].place];
    assert_int_equal(r.count, 8);
    assert_string_equal(p->file, w->source);
    assert_int_equal(p->line, 5);
    profile_rows_free(&r);
    r = rows_of(w, PROFILE_BY_MODULE);
    assert_int_equal(r.count, 1);
    expect_row(&r, 0, 0, 2000, 2000, 80, 80);
    profile_rows_free(&r);
    close_profile(w);
}

/* A guest that calls itself 50,000 times: nothing here may recurse with it. */
static void recursion_may_be_deep(void **state)
{
    enum { DEPTH = 50000 };
    struct world *w = *state;
    struct profile_tree t;
    struct error err;
    begin(w);
    put_event(w, 0, "cycles", 100);
    put_event(w, 1, "other", 10);
    put_chain(w, 1, 0, SITE_START_WORK, PC_WORK);
    for (uint32_t i = 2; i <= DEPTH; i++)
        put_chain(w, i, i - 1, SITE_WORK_WORK, PC_WORK);
    for (uint32_t i = 1; i <= DEPTH; i++)
        put_samples(w, (struct profile_sample){.pc = PC_WORK_BRANCH, .chain = i, .weight = 100}, 1);
    load_names(w, true);
    struct profile_rows r = rows_of(w, PROFILE_BY_FUNCTION);
    assert_int_equal(r.count, 2);
    expect_row(&r, 0, PC_WORK, 100 * DEPTH, 100 * DEPTH, 0, 0);
    expect_row(&r, 1, 0x10000, 0, 100 * DEPTH, 0, 0);
    profile_rows_free(&r);
    assert_int_equal(profile_tree_make(&t, w->names, 0, NULL, &err), 0);
    assert_int_equal(t.node[0].total.weight, 100 * DEPTH);
    assert_int_equal(t.count, PROFILE_FRAMES_MOST + 2); /* with the root, and the sample below the last frame */
    profile_tree_free(&t);
    close_profile(w);
}

static void weights_cannot_overflow(void **state)
{
    struct world *w = *state;
    struct error err = {""};
    begin(w);
    put_event(w, 0, "cycles", 1);
    put_samples(w, (struct profile_sample){.pc = PC_LEAF, .weight = UINT64_C(1) << 62}, 2);
    load(w, true, &err);
    assert_null(w->profile);
    assert_non_null(strstr(err.text, "more events than can be counted"));
}

static void events_are_found_by_name_or_number(void **state)
{
    struct world *w = *state;
    struct error err;
    open_usual(w);
    assert_int_equal(profile_find_event(w->profile, "--event", "l1d_misses:u", &err), 1);
    assert_int_equal(profile_find_event(w->profile, "--event", "1", &err), 1);
    assert_true(profile_find_event(w->profile, "--event", "2", &err) < 0);
    assert_string_equal(err.text, "--event 2: the profile has no such event; it has cycles, l1d_misses:u");
    close_profile(w);
}

static void names_are_made_fit_to_print(void **state)
{
    (void)state;
    char text[] = "a\xc3\xa9\xff\x1b[0m\xe2\x82\n\xed\xa0\x80\xf0\x9f\x98\x80";
    clean_text(text);
    assert_string_equal(text, "a\xc3\xa9??[0m?????\?\xf0\x9f\x98\x80");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_of_one_place_are_one_cell),
        cmocka_unit_test(functions_have_self_and_inclusive_weights),
        cmocka_unit_test(instructions_lines_and_modules_are_rows),
        cmocka_unit_test(recursion_may_be_deep),
        cmocka_unit_test(weights_cannot_overflow),
        cmocka_unit_test(events_are_found_by_name_or_number),
        cmocka_unit_test(names_are_made_fit_to_print),
    };
    return cmocka_run_group_tests_name("profile", tests, make_world, remove_world);
}
