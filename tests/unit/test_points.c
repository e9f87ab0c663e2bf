/* Sampled runs: points from files and chosen ones, stretches, finished windows in a file. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "phases/choose.h"
#include "phases/kept.h"

/* ---- points of files, and chosen ones */

static const char *write_file(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return name;
}

static void files_are_read(void **state)
{
    (void)state;
    char folder[] = "/tmp/points-XXXXXX";
    struct points p = {0};
    struct error err;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    write_file("s", "7 1\n2 0\n\n5 1\n");
    write_file("w", "0.4 0\n0.2 1\n0.4 1\n");
    assert_int_equal(points_read(&p, "s", "w", 100, &err), 0);
    assert_int_equal(p.count, 3);
    assert_int_equal(p.phases, 2);
    assert_int_equal(p.point[0].window.start, 200);
    assert_int_equal(p.point[1].window.start, 500);
    assert_true(fabs(p.phase[p.point[0].phase].weight - 0.4) < 1e-12);
    assert_true(fabs(p.phase[p.point[2].phase].weight - 0.6) < 1e-12);
    points_free(&p);
    static const char *const bad[][2] = {
        {"1 2 3\n", "0.5 2\n"}, {"x 1\n", "1 1\n"},   {"1 1\n1 1\n", "1 1\n"}, {"1 1\n", "1 2\n"},
        {"1 1\n", "0.1 1\n"},   {"1 1\n", "1.5 1\n"}, {"", "1 1\n"},           {"-1 1\n", "1 1\n"},
    };
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_file("s", bad[i][0]);
        write_file("w", bad[i][1]);
        err.text[0] = '\0';
        assert_true(points_read(&p, "s", "w", 100, &err) < 0 && err.text[0]);
        points_free(&p);
    }
    assert_true(points_read(&p, "nowhere", NULL, 100, &err) < 0);
    unlink("s");
    unlink("w");
    assert_int_equal(chdir("/"), 0);
    rmdir(folder);
}

/* Two kinds of intervals, three to one: points and weights have that proportion, and no unit comes twice. An interval
 * has two units. */
static void chosen_points_are_spread(void **state)
{
    (void)state;
    struct bbv_set s = {.interval = 1000};
    struct points p = {0};
    struct unit_phases units = {0};
    struct error err;
    for (unsigned i = 0; i < 200; i++) {
        assert_int_equal(bbv_add(&s, i % 4 == 0, 1000), 0);
        assert_int_equal(bbv_end(&s), 0);
    }
    s.insns = 202000; /* 2000 instructions are in no interval */
    assert_int_equal(
        points_choose(&s, &(struct choose_options){.unit = 500, .points = 40, .per_phase = CHOOSE_PER_PHASE, .seed = 1},
                      &p, &units, &err),
        0);
    /* The head is the first twentieth; the rest is drawn, and the end as a whole. */
    assert_int_equal(p.head, 10000);
    assert_int_equal(p.count, 41);
    assert_int_equal(p.phases, 4);
    assert_int_equal(p.point[0].window.insns, 10000);
    assert_int_equal(p.covered, 202000);
    assert_int_equal(units.count, 384);
    size_t rare = 0, late = 0, twice = 0, second_units = 0, end = 0;
    for (size_t i = 1; i < p.count; i++) {
        const struct point *at = &p.point[i];
        bool in_interval = at->window.start < 200000;
        end += !in_interval;
        rare += in_interval && at->window.start / 1000 % 4 == 0;
        late += at->window.start >= 105000;
        twice += at->twice;
        assert_true(at->window.start >= p.head && at->window.start > at[-1].window.start);
        assert_int_equal(at->window.insns, 500);
        assert_int_equal(at->window.start % 500, 0);
        second_units += at->window.start % 1000 == 500;
        assert_int_equal(units.phase[(at->window.start - p.head) / 500], at->phase);
    }
    assert_int_equal(end, 4);
    assert_int_equal(rare, 12); /* the fewest points of a phase */
    assert_in_range(late, 20, 24);
    assert_in_range(second_units, 12, 28);
    assert_int_equal(twice, 10);
    assert_true(fabs(p.phase[0].weight + p.phase[1].weight - 0.95 * 380 / 384) < 1e-3);
    assert_true(fabs(p.phase[2].weight - 4 * 500 / 202000.0) < 1e-3);
    assert_true(fabs(p.phase[3].weight - 10000 / 202000.0) < 1e-12);
    free(units.phase);
    points_free(&p);
    bbv_free(&s);
}

/* Two processors warm equally much: the number of stretches is even, and all take as long as the first, which has no
 * lead. */
static void stretches_end_together(void **state)
{
    (void)state;
    const uint64_t million = 1000000, lead = 20 * million;
    static const struct {
        unsigned minsns, stretches;
    } runs[] = {{161, 2}, {200, 2}, {376, 2}, {1599, 2}, {1600, 4}, {2300, 4}, {5000, 12}};
    for (unsigned i = 0; i < sizeof runs / sizeof *runs; i++) {
        struct points p = {.lead = lead};
        choose_stretches(runs[i].minsns * million, &p);
        assert_int_equal(p.first_stretch, p.stretch + lead);
        uint64_t others = p.first_stretch + (runs[i].stretches - 2) * p.stretch,
                 last = runs[i].minsns * million - others;
        assert_in_range(2 * last, p.stretch - 2 * runs[i].stretches, p.stretch); /* it begins late */
    }
    const uint64_t single[] = {0, 160 * million}; /* of unknown length; as long as a single stretch */
    for (unsigned i = 0; i < 2; i++) {
        struct points p = {.lead = lead};
        choose_stretches(single[i], &p);
        assert_int_equal(p.first_stretch, 8 * lead);
        assert_int_equal(p.stretch, 8 * lead);
    }
}

/* ---- finished windows */

static void finished_windows_are_kept(void **state)
{
    (void)state;
    char path[] = "/tmp/kept-XXXXXX";
    static const uint64_t one[] = {1, 2, UINT64_MAX}, two[] = {4, 5, 6};
    struct error err;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    struct kept *k = kept_open(path, 42, 3, &err);
    assert_non_null(k);
    kept_add(k, 9, one);
    kept_add(k, 300, two);
    assert_int_equal(kept_close(k, &err), 0);

    assert_null(kept_open(path, 43, 3, &err));
    assert_non_null(strstr(err.text, "another run"));
    FILE *f = fopen(path, "a");
    assert_non_null(f);
    fputs("5 1 2", f); /* it was killed here */
    fclose(f);
    k = kept_open(path, 42, 3, &err);
    assert_non_null(k);
    assert_memory_equal(kept_find(k, 9), one, sizeof one);
    assert_memory_equal(kept_find(k, 300), two, sizeof two);
    assert_null(kept_find(k, 5));
    kept_add(k, 5, two);
    assert_int_equal(kept_close(k, &err), 0);
    k = kept_open(path, 42, 3, &err);
    assert_non_null(k);
    assert_memory_equal(kept_find(k, 5), two, sizeof two);
    assert_int_equal(kept_close(k, &err), 0);

    write_file(path, "something else\n");
    assert_null(kept_open(path, 42, 3, &err));
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_read),
        cmocka_unit_test(chosen_points_are_spread),
        cmocka_unit_test(stretches_end_together),
        cmocka_unit_test(finished_windows_are_kept),
    };
    return cmocka_run_group_tests_name("points", tests, NULL, NULL);
}
