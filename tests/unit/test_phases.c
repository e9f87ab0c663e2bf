/* Analysis of basic block vectors: known runs have their known structure, files are read and refused, and clusters are
 * the kinds of intervals that were put in. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "phases/cluster.h"
#include "phases/phases.h"
#include "phases/stretch.h"

enum { INTERVAL = 1000 };

/* An interval of one kind: two blocks of its own, and one that all share. */
static void add_interval(struct bbv_set *s, unsigned kind)
{
    assert_int_equal(bbv_add(s, 0, 100), 0);
    assert_int_equal(bbv_add(s, 1 + 2 * kind, 500), 0);
    assert_int_equal(bbv_add(s, 2 + 2 * kind, 400), 0);
    assert_int_equal(bbv_end(s), 0);
    s->interval = INTERVAL;
    s->insns += INTERVAL;
}

/* A run as text: a letter for the kind of each interval; `period` is repeated `times` times. */
static struct bbv_set run_of(const char *init, const char *period, unsigned times)
{
    struct bbv_set s = {0};
    for (; *init; init++)
        add_interval(&s, (unsigned)(*init - 'a'));
    for (unsigned k = 0; k < times; k++)
        for (const char *p = period; *p; p++)
            add_interval(&s, (unsigned)(*p - 'a'));
    return s;
}

static struct phases analysed(const struct bbv_set *s, size_t budget)
{
    struct phases p;
    struct error err;
    struct fine_signal fine;
    assert_int_equal(fine_signal_of_set(&fine, s), 0);
    assert_int_equal(phases_analyse(s, &fine, budget, &p, &err), 0);
    fine_signal_free(&fine);
    return p;
}

static size_t intervals(double insns)
{
    return (size_t)(insns / INTERVAL + 0.5);
}

static size_t longest_period(const struct phases *p)
{
    return p->structure.periods ? intervals(p->structure.period[p->structure.periods - 1].insns) : 0;
}

static void initialization_and_period_are_found_to_the_interval(void **state)
{
    (void)state;
    static const struct {
        const char *init, *period;
        unsigned times;
        size_t init_end, length;
    } runs[] = {
        {"eeeeeeeeeee", "aab", 20, 11, 3}, {"eeee", "aaaabbb", 20, 4, 7},         {"eeeeefffff", "aabbc", 16, 10, 5},
        {"", "aabbb", 20, 0, 5},           {"eeeeeeeeeeeeeeeee", "a", 60, 17, 0}, {"", "a", 50, 0, 0},
    };
    for (unsigned k = 0; k < sizeof runs / sizeof runs[0]; k++) {
        struct bbv_set s = run_of(runs[k].init, runs[k].period, runs[k].times);
        struct phases p = analysed(&s, 0);
        assert_int_equal(p.init_end, runs[k].init_end);
        assert_int_equal(longest_period(&p), runs[k].length);
        assert_int_equal(intervals(p.structure.correlated_period), runs[k].length);
        phases_free(&p);
        bbv_free(&s);
    }
}

static void a_period_of_periods_is_reported_with_both(void **state)
{
    (void)state;
    struct bbv_set s = run_of("eeeeeeee", "aaabbaaabbaaabbaaabbcccccccccc", 8);
    struct phases p = analysed(&s, 0);
    assert_int_equal(p.init_end, 8);
    assert_int_equal(p.structure.periods, 2);
    assert_int_equal(intervals(p.structure.period[0].insns), 5);
    assert_int_equal(intervals(p.structure.period[1].insns), 30);
    phases_free(&p);
    bbv_free(&s);
}

static void differences_are_what_they_are_by_hand(void **state)
{
    (void)state;
    struct bbv_set s = run_of("", "ab", 2); /* shared 0.1; each kind 0.45 of the run, 0.9 of its interval */
    double one[4], two[3];
    struct stretches w;
    assert_int_equal(stretches_begin(&w, &s, 0), 0);
    stretches_compare(&w, 1, one);
    stretches_compare(&w, 2, two);
    stretches_end(&w);
    for (unsigned k = 0; k < 4; k++)
        assert_true(one[k] > 0.9 - 1e-9 && one[k] < 0.9 + 1e-9);
    for (unsigned k = 0; k < 3; k++)
        assert_true(two[k] < 1e-9);
    bbv_free(&s);
}

/* Two intervals of a block of 5 instructions and one of 20. By entries, the first has 20 and 10 of them, the second 100
 * and 10: shares of 2/3 and 1/3, 10/11 and 1/11; in the whole run 6/7 and 1/7. By instructions they are 1/3 and 2/3,
 * 5/7 and 2/7; in the whole run 3/5 and 2/5. A stretch and a half has 70 and 15 entries. */
static void both_forms_of_vectors_are_compared_as_by_hand(void **state)
{
    (void)state;
    static const double by_hand[2][3] = {{8. / 15, 8. / 35, 0}, {8. / 21, 8. / 77, 2 * (6. / 7 - 70. / 85)}};
    struct bbv_set s = {.interval = 300};
    for (unsigned k = 0; k < 2; k++) {
        assert_int_equal(bbv_add_entered(&s, 0, k ? 500 : 100, k ? 100 : 20), 0);
        assert_int_equal(bbv_add_entered(&s, 1, 200, 10), 0);
        assert_int_equal(bbv_end(&s), 0);
    }
    for (unsigned weight = BBV_INSNS; weight <= BBV_ENTRIES; weight++) {
        struct stretches w;
        double one[2], more[1];
        s.weight = weight;
        assert_int_equal(stretches_begin(&w, &s, 0), 0);
        stretches_compare(&w, 1, one);
        stretches_compare(&w, 1.5, more);
        stretches_end(&w);
        assert_true(fabs(one[0] - by_hand[weight][0]) < 1e-9 && fabs(one[1] - by_hand[weight][1]) < 1e-9);
        assert_true(weight == BBV_INSNS || fabs(more[0] - by_hand[weight][2]) < 1e-9);
    }
    bbv_free(&s);
}

/* An interval that lies within one block has an entry all the same. */
static void an_interval_in_which_no_block_begins_has_a_vector(void **state)
{
    (void)state;
    struct bbv_set s = {.interval = 10};
    assert_int_equal(bbv_add_entered(&s, 3, 10, 0), 0);
    assert_int_equal(bbv_end(&s), 0);
    assert_true(s.vector[0].entries == 1 && s.entry[0].entries == 1);
    bbv_free(&s);
}

/* After initialization, three quarters of the run are a, a quarter b. All stretches of a period there have this
 * mixture, so the one in the middle is taken; of those of 40 intervals as well. */
static void the_best_period_is_in_the_middle_of_those_with_the_runs_mixture(void **state)
{
    (void)state;
    struct bbv_set s = run_of("eeeeee", "aaab", 20);
    struct phases p = analysed(&s, 40);
    assert_int_equal((int)p.best.length, 4);
    assert_int_equal(p.best_periods, 1);
    assert_int_equal(p.best.start, 44);
    assert_true(p.best.difference < 1e-9);
    assert_int_equal((int)p.budgeted.length, 40);
    assert_int_equal(p.budgeted.start, 26);
    assert_int_equal(p.naive.start, 10);
    assert_int_equal((int)p.naive.length, 4);
    phases_free(&p);
    bbv_free(&s);
}

/* Each period has b, c, d or e behind its a, in no order. A stretch of a single period has at most two of them, if it
 * begins within a period; four neighbors have all. */
static void where_no_period_resembles_the_run_more_periods_are_taken(void **state)
{
    (void)state;
    struct bbv_set s = {0};
    for (const char *kind = "eddccbecedecbdddebcdebbccbbe"; *kind; kind++)
        for (unsigned k = 0; k < 10; k++)
            add_interval(&s, k < 7 ? 0 : (unsigned)(*kind - 'a'));
    struct phases p = analysed(&s, 0);
    assert_int_equal(longest_period(&p), 10);
    assert_int_equal(p.init_end, 0);
    assert_int_equal(p.best_periods, 4);
    assert_int_equal((int)p.best.length, 40);
    assert_true(p.best.difference < 1e-9);
    assert_int_equal((int)p.naive.length, 10);
    phases_free(&p);
    bbv_free(&s);
}

/* Half of the run is a, half b, in parts of any length: two intervals where the parts meet are as the run. */
static void without_a_period_the_shortest_stretch_like_the_run_is_taken(void **state)
{
    (void)state;
    struct bbv_set s = run_of("aaabbbbbbbbbaaaaaaaaaaaaaabbaaaaabbbbbbbbbbbbaaaaaaaabbbbbbb", "", 0);
    struct phases p = analysed(&s, 0);
    assert_int_equal(p.init_end, 0);
    assert_int_equal(p.structure.periods, 0);
    assert_int_equal(p.best_periods, 0);
    assert_int_equal((int)p.best.length, 2);
    assert_int_equal(p.best.start, 27);
    assert_true(p.best.difference < 1e-9);
    phases_free(&p);
    bbv_free(&s);
}

static void clusters_are_the_kinds_and_weights_their_shares(void **state)
{
    (void)state;
    struct bbv_set s = run_of("dddddddddd", "aaaabbbbbc", 9);
    for (unsigned early = 0; early < 2; early++) {
        struct cluster_options o = {.max_clusters = 10, .seed = early, .early = early};
        struct clusters c;
        struct error err;
        projected *vector = bbv_project(&s);
        assert_non_null(vector);
        assert_int_equal(clusters_find(&s, (const projected *)vector, &o, &c, &err), 0);
        free(vector);
        static const struct cluster_point want[] = {{0, 0.10, 10}, {10, 0.36, 36}, {14, 0.45, 45}, {19, 0.09, 9}};
        assert_int_equal(c.count, 4);
        for (unsigned k = 0; k < 4; k++) {
            assert_int_equal(c.point[k].interval, want[k].interval);
            assert_int_equal(c.point[k].members, want[k].members);
            assert_true(c.point[k].weight > want[k].weight - 1e-9 && c.point[k].weight < want[k].weight + 1e-9);
        }
        for (size_t i = 0; i < s.count; i++)
            assert_int_equal(c.of[i], i < 10 ? 0 : i % 10 < 4 ? 1 : i % 10 < 9 ? 2 : 3);
        clusters_free(&c);
    }
    bbv_free(&s);
}

/* ---- files */

static int read_text(const char *text, struct bbv_set *s, struct error *err)
{
    char path[] = "/tmp/test_phases.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    *s = (struct bbv_set){0};
    int code = bbv_read(path, s, err);
    unlink(path);
    return code;
}

static void a_set_that_is_written_is_read_back(void **state)
{
    (void)state;
    struct bbv_set s = run_of("c", "ab", 3), back;
    struct error err;
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    assert_non_null(f);
    bbv_write(&s, f);
    fclose(f);
    assert_memory_equal(text, "T:1:100 :6:500 :7:400 \nT:1:100 :2:500 :3:400 \n", 46);
    assert_int_equal(read_text(text, &back, &err), 0);
    assert_int_equal(back.count, 7);
    assert_int_equal(back.insns, s.insns);
    assert_int_equal(back.interval, INTERVAL);
    assert_int_equal(back.blocks, 7);
    for (size_t k = 0; k < s.count; k++)
        assert_int_equal(back.vector[k].insns, INTERVAL);
    free(text);
    bbv_free(&back);
    bbv_free(&s);
}

static void other_tools_spacing_and_remarks_are_read(void **state)
{
    (void)state;
    struct bbv_set s;
    struct error err;
    assert_int_equal(read_text("# made by a tool\n\nT:9999999999:3   :7:2\t \r\nT\nT:7:5", &s, &err), 0);
    assert_int_equal(s.count, 2); /* a line without entries is no interval */
    assert_int_equal(s.blocks, 2);
    assert_int_equal(s.entry[2].block, 1);
    bbv_free(&s);
}

static void broken_files_are_refused_with_their_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } broken[] = {
        {"", "no basic block vector"},
        {"T:1:5\nT:2", ":2: a block without its count"},
        {"T:1:5\nhello\n", ":2: neither a vector nor a comment"},
        {"T:x:5\n", ":1: a number is missing"},
        {"T:1:\n", ":1: a number is missing"},
        {"T 5:3\n", ":1: an entry does not begin with a colon"},
        {"T:1:99999999999999999999\n", ":1: a number is too large"},
        {"T:1:9000000000000000000 :2:9000000000000000000\n", ":1: the counts are too large"},
    };
    for (unsigned k = 0; k < sizeof broken / sizeof broken[0]; k++) {
        struct bbv_set s;
        struct error err = {""};
        assert_int_equal(read_text(broken[k].text, &s, &err), -22);
        if (strstr(err.text, broken[k].says) == NULL)
            fail_msg("'%s' instead of '%s'", err.text, broken[k].says);
        bbv_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(initialization_and_period_are_found_to_the_interval),
        cmocka_unit_test(a_period_of_periods_is_reported_with_both),
        cmocka_unit_test(differences_are_what_they_are_by_hand),
        cmocka_unit_test(both_forms_of_vectors_are_compared_as_by_hand),
        cmocka_unit_test(an_interval_in_which_no_block_begins_has_a_vector),
        cmocka_unit_test(the_best_period_is_in_the_middle_of_those_with_the_runs_mixture),
        cmocka_unit_test(where_no_period_resembles_the_run_more_periods_are_taken),
        cmocka_unit_test(without_a_period_the_shortest_stretch_like_the_run_is_taken),
        cmocka_unit_test(clusters_are_the_kinds_and_weights_their_shares),
        cmocka_unit_test(a_set_that_is_written_is_read_back),
        cmocka_unit_test(other_tools_spacing_and_remarks_are_read),
        cmocka_unit_test(broken_files_are_refused_with_their_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
