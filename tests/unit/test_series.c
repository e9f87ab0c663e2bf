/* Counts over time: where intervals are cut, metrics over several of them, and what pictures are drawn from. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/core.h"
#include "report/series_picture.h"

#include "core_fixture.h"

/* A series of a core that does not run: its counts are what a test says. */
struct world {
    struct guest_memory *memory;
    struct core_config config;
    struct core *core;
    struct core_counts live;
    struct event_specs specs;
    struct series *series;
    const struct core_observer *o;
    struct run_report run;
    struct simulation simulation;
    struct series_report report;
};

static void open_world(struct world *w, const char *names, uint64_t interval)
{
    struct error err = {""};
    *w = (struct world){0};
    make_core(&w->config, "");
    w->memory = guest_memory_new(UINT64_C(1) << 30, &err);
    w->core = w->memory ? core_new(&w->config, w->memory, &err) : NULL;
    if (w->core == NULL || event_specs_parse(&w->specs, names, &err) != 0 ||
        (w->series = series_new(&w->specs, interval, &err)) == NULL)
        fail_msg("%s", err.text);
    w->o = series_observer(w->series);
    w->run = (struct run_report){.program = "test", .simulation = &w->simulation};
    w->report = (struct series_report){.run = &w->run, .specs = &w->specs, .series = w->series};
}

static void begin(struct world *w)
{
    w->o->begin(w->o->context, w->core, &w->live);
}

/* The core goes on by so much, and says that the watched count is reached. */
static void go_on(struct world *w, uint64_t insns, uint64_t cycles, uint64_t loads)
{
    w->live.instructions += insns;
    w->live.cycles += cycles;
    w->live.loads += loads;
}

static void cut(struct world *w, uint64_t insns, uint64_t cycles, uint64_t loads)
{
    go_on(w, insns, cycles, loads);
    w->o->reached(w->o->context, 0, w->live.cycles);
}

static void end(struct world *w)
{
    const struct simulation_sum *sum = series_sum(w->series);
    sum->end(sum->context);
}

static void close_world(struct world *w)
{
    series_free(w->series);
    event_specs_free(&w->specs);
    core_free(w->core);
    guest_memory_free(w->memory);
}

/* ---- intervals */

static void intervals_are_differences(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, "loads", 100);
    go_on(&w, 1000, 5000, 300); /* a warm-up, which is not counted */
    begin(&w);
    cut(&w, 102, 50, 20);
    cut(&w, 99, 400, 0);
    go_on(&w, 30, 7, 9);
    end(&w);
    static const uint64_t want[3][3] = {{102, 50, 20}, {99, 400, 0}, {30, 7, 9}};
    assert_int_equal(series_count(w.series), 3);
    assert_int_equal(series_columns(w.series), 3);
    assert_int_equal(series_interval(w.series), 100);
    for (unsigned i = 0; i < 3; i++)
        for (unsigned c = 0; c < 3; c++)
            assert_int_equal(series_growth(w.series, c, i, i + 1), want[i][c]);
    assert_int_equal(series_growth(w.series, SERIES_INSNS, 0, 3), 231);
    assert_int_equal(series_growth(w.series, SERIES_CYCLES, 0, 3), 457);
    assert_int_equal(series_growth(w.series, SERIES_EVENTS, 0, 3), series_sum(w.series)->numbers[0]);
    close_world(&w);
}

/* Cycles in which the window drains are no interval of their own. */
static void the_end_is_of_the_last_interval(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, "loads", 100);
    begin(&w);
    cut(&w, 100, 50, 20);
    cut(&w, 100, 60, 21);
    go_on(&w, 0, 5, 0);
    end(&w);
    assert_int_equal(series_count(w.series), 2);
    assert_int_equal(series_growth(w.series, SERIES_CYCLES, 1, 2), 65);
    close_world(&w);
}

static void a_run_without_instructions_is_one_interval(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, "loads", 100);
    assert_int_equal(series_count(w.series), 0);
    begin(&w);
    end(&w);
    assert_int_equal(series_count(w.series), 1);
    assert_int_equal(series_growth(w.series, SERIES_CYCLES, 0, 1), 0);
    close_world(&w);
}

/* A copy of the process has counts of its own and no intervals. */
static void copies_leave_the_intervals_alone(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, "loads", 100);
    const struct simulation_sum *sum = series_sum(w.series);
    begin(&w);
    cut(&w, 100, 50, 20);
    go_on(&w, 10, 5, 3);
    sum->forked(sum->context);
    go_on(&w, 500, 60, 21);
    end(&w);
    assert_int_equal(sum->numbers[0], 21);
    close_world(&w);
    open_world(&w, "loads", 100);
    sum = series_sum(w.series);
    sum->forked(sum->context); /* before anything is measured */
    begin(&w);
    cut(&w, 100, 50, 20);
    end(&w);
    assert_int_equal(series_growth(w.series, SERIES_EVENTS, 0, series_count(w.series)), 20);
    close_world(&w);
}

/* ---- metrics */

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

static void metrics_are_quotients_of_sums(void **state)
{
    (void)state;
    struct world w;
    struct series_metric m[2];
    double column[2];
    open_world(&w, "loads,cycles", 100);
    series_event_metrics(&w.specs, m);
    begin(&w);
    cut(&w, 100, 50, 20);
    cut(&w, 300, 150, 0);
    cut(&w, 0, 10, 0);
    cut(&w, 50, 10, 50);
    end(&w);
    assert_int_equal(series_count(w.series), 4);
    assert_true(near(series_metric_value(w.series, &m[0], 0, 1), 200));
    assert_true(near(series_metric_value(w.series, &m[0], 0, 2), 50)); /* not (200 + 0) / 2 */
    assert_true(isnan(series_metric_value(w.series, &m[0], 2, 3)));
    assert_true(near(series_metric_value(w.series, &m[1], 0, 4), 100));
    series_metric_columns(w.series, &m[0], 2, column);
    assert_true(near(column[0], 50) && near(column[1], 1000));
    close_world(&w);
}

static void the_default_metrics_divide_what_their_names_say(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, series_default_events, 100);
    static const char *const want[SERIES_METRICS][2] = {
        {"", ""},
        {"rob_occupancy", ""},
        {"mispredictions", "branches"},
        {"l1i_access_misses", "l1i_accesses"},
        {"l1d_access_misses", "l1d_accesses"},
        {"load_address_mispredictions", "loads"},
        {"load_value_mispredictions", "loads"},
    };
    for (unsigned i = 0; i < SERIES_METRICS; i++) {
        const struct series_metric *m = &series_default_metrics[i];
        const char *count = m->count < SERIES_EVENTS ? "" : w.specs.of[m->count - SERIES_EVENTS].text;
        const char *per = m->per < SERIES_EVENTS ? "" : w.specs.of[m->per - SERIES_EVENTS].text;
        assert_string_equal(count, want[i][0]);
        assert_string_equal(per, want[i][1]);
    }
    close_world(&w);
}

/* ---- pictures */

static void pictures_reach_from_where_to_where(void **state)
{
    (void)state;
    double low, high, many[40];
    assert_true(series_metric_range((double[]){1, 2, 3}, 3, &low, &high));
    assert_true(near(low, 0) && near(high, 3));
    assert_true(series_metric_range((double[]){2, 2.5, (double)NAN, 3}, 4, &low, &high));
    assert_true(near(low, 2) && near(high, 3));
    assert_true(series_metric_range((double[]){2, 2}, 2, &low, &high));
    assert_true(near(low, 0) && near(high, 2));
    assert_true(series_metric_range((double[]){0}, 1, &low, &high));
    assert_true(near(low, 0) && near(high, 0));
    assert_false(series_metric_range((double[]){(double)NAN}, 1, &low, &high));
    for (unsigned i = 0; i < 40; i++)
        many[i] = i == 7 ? 100 : 2 + i % 2;
    assert_true(series_metric_range(many, 40, &low, &high)); /* one of 40 is cut off */
    assert_true(near(low, 2) && near(high, 3.25));
}

static void phases_are_found_by_instructions(void **state)
{
    (void)state;
    static const struct series_phase phases[] = {{0, 1000, 9}, {1000, 100, 4}, {1100, 150, 5}, {1250, 60, 4}};
    struct world w;
    open_world(&w, "loads", 100);
    w.run.result.skipped_insns = 900;
    w.simulation.warmup_insns = 100;
    w.report.phase = phases;
    w.report.phases = 4;
    begin(&w);
    for (unsigned i = 0; i < 4; i++)
        cut(&w, 100, 10, 1);
    end(&w);
    assert_int_equal(series_phase_of(&w.report, 0, 1), 4);
    assert_int_equal(series_phase_of(&w.report, 1, 2), 5);
    assert_int_equal(series_phase_of(&w.report, 2, 3), 5); /* 50 of each: the first */
    assert_int_equal(series_phase_of(&w.report, 0, 4), 4); /* 160 in two parts, and 150 */
    assert_int_equal(series_phase_of(&w.report, 3, 4), 4); /* 10, and nothing known of the rest */
    w.run.result.skipped_insns = 9000;
    assert_int_equal(series_phase_of(&w.report, 0, 4), -1);
    close_world(&w);
}

/* Loads per 1000 instructions of 10, 20, 40 and, without instructions, none; then 40 again. */
static void graphs_have_a_column_for_each_interval(void **state)
{
    (void)state;
    static const uint64_t loads[] = {10, 20, 40, 0, 40};
    struct world w;
    struct series_metric m;
    char *text;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    open_world(&w, "loads", 1000);
    series_event_metrics(&w.specs, &m);
    w.report.metric = &m;
    w.report.metrics = 1;
    begin(&w);
    for (unsigned i = 0; i < 5; i++)
        cut(&w, i == 3 ? 0 : 1000, 10, loads[i]);
    end(&w);
    series_picture_print(&w.report, to, 80);
    fclose(to);
    assert_string_equal(text, "\n loads, per 1000 instructions\n"
                              "      40 |  # #\n"
                              "         |  # #\n"
                              "         | ## #\n"
                              "       0 |### #\n"
                              "         +-----\n"
                              "          0 4.0K\n");
    free(text);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_are_differences),
        cmocka_unit_test(the_end_is_of_the_last_interval),
        cmocka_unit_test(a_run_without_instructions_is_one_interval),
        cmocka_unit_test(copies_leave_the_intervals_alone),
        cmocka_unit_test(metrics_are_quotients_of_sums),
        cmocka_unit_test(the_default_metrics_divide_what_their_names_say),
        cmocka_unit_test(pictures_reach_from_where_to_where),
        cmocka_unit_test(phases_are_found_by_instructions),
        cmocka_unit_test(graphs_have_a_column_for_each_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
