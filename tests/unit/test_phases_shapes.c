/* Initialization and periods of made-up programs, whose parts begin and end anywhere in intervals: what is known of
 * them is found to the interval, and no period is found in programs without one. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "phases/phases.h"

enum { BLOCKS = 12, KINDS = 7, NONE = 0 };

/* What the parts of programs are made of: shares of blocks. The first is common to all. */
static const double mix[KINDS][BLOCKS] = {
    {.1, .5, .4},                               /* a */
    {.1, 0, 0, .6, .3},                         /* b */
    {.1, 0, 0, 0, 0, .2, .7},                   /* c */
    {.1, 0, 0, 0, 0, 0, 0, .9},                 /* d */
    {.1, 0, 0, 0, 0, 0, 0, 0, .5, .4},          /* e */
    {.1, .3, .2, 0, .2, 0, 0, 0, 0, 0, .2},     /* f: half of it is like a */
    {.1, .2, .1, .3, .1, 0, 0, 0, 0, 0, 0, .2}, /* g: a and b, and more */
};

struct program {
    struct bbv_set set;
    double now[BLOCKS], filled; /* of the interval in progress, instructions */
    double interval;
};

static void end_interval(struct program *p)
{
    for (uint32_t b = 0; b < BLOCKS; b++) {
        uint64_t insns = (uint64_t)llround(p->now[b]);
        if (insns)
            assert_int_equal(bbv_add(&p->set, b, insns), 0);
        p->now[b] = 0;
    }
    assert_int_equal(bbv_end(&p->set), 0);
    p->set.insns += p->set.vector[p->set.count - 1].insns;
    p->filled = 0;
}

static void run(struct program *p, unsigned kind, double insns)
{
    while (insns > 1e-6) {
        double here = fmin(insns, p->interval - p->filled);
        for (unsigned b = 0; b < BLOCKS; b++)
            p->now[b] += here * mix[kind][b];
        p->filled += here;
        insns -= here;
        if (p->filled > p->interval - 1e-6)
            end_interval(p);
    }
}

static double uniform(struct random *r)
{
    return (double)(random_u64(r) >> 11) / 9007199254740992.0;
}

/* A text such as 6a4b: six units of a, four of b. Each part is longer or shorter by up to `uneven` of it. */
static double follow(struct program *p, const char *text, double unit, double uneven, struct random *r)
{
    double units = 0;
    for (char *end; *text; text = end + 1) {
        double part = (double)strtoul(text, &end, 10);
        units += part;
        if (p)
            run(p, (unsigned)(*end - 'a'), part * unit * (1 + uneven * (2 * uniform(r) - 1)));
    }
    return units;
}

struct shape {
    const char *init, *period;
    unsigned times, nested; /* a shorter period within, units */
    double uneven;
};

static const struct shape shapes[] = {
    {"20e", "6a4b", 20, NONE, 0},
    {"3e", "6a4b", 20, NONE, 0}, /* shorter than a period */
    {"1e", "6a4b", 20, NONE, 0},
    {"30e", "6a4b", 20, NONE, 0}, /* three and ten times as long */
    {"100e", "6a4b", 20, NONE, 0},
    {"100e", "3a4b3c", 30, NONE, 0},
    {"", "6a4b", 20, NONE, 0},
    {"20e", "5a5b", 20, NONE, 0}, /* both halves differ from the whole by the same amount */
    {"", "5a5b", 20, NONE, 0},
    {"12e", "3a4b5c", 15, NONE, 0},
    {"9e", "4a3b", 25, NONE, 0},
    {"26e", "4a3b2c4d", 12, NONE, 0},
    {"5e", "10a10b10c", 10, NONE, 0},
    {"40e", "30a20b10c15d", 7, NONE, 0},
    {"20e", "19a1b", 10, NONE, 0},
    {"15e", "6a4f", 20, NONE, 0}, /* two kinds that are alike */
    {"15e", "5a5f", 20, NONE, 0},
    {"15e", "6a4g", 20, NONE, 0},
    {"10e8d", "6a4b", 20, NONE, 0}, /* initialization in steps, of periods of its own, like the rest in parts */
    {"3e2d3e2d3e2d3e2d", "6a4b", 20, NONE, 0},
    {"6e6a8d", "6a4b", 20, NONE, 0},
    {"20e30a20d30b12e", "6a4b", 14, NONE, 0}, /* nearly half of the run, with long parts that come again */
    {"8e40a20d40b10d", "12a10b", 6, NONE, 0},
    {"40e20a20d10b30e", "3a4b3c", 13, NONE, 0},
    {"20a", "6a4b", 20, NONE, 0},
    {"10e", "6a4b", 6, NONE, 0},
    {"20e", "6a4b", 30, NONE, .05},
    {"20e", "6a4b", 30, NONE, .1},
    {"15e", "3a2b3a2b3a2b3a2b10c", 8, 5, 0},
    {"15e", "10c3a2b3a2b3a2b3a2b", 8, 5, 0},
    {"15e", "3a2b3a2b3a2b20c", 8, 5, 0},
    {"", "3a2b3a2b3a2b3a2b10c", 8, 5, 0},
    {"15e", "4a4f4a4f4a4f4a4f4a4f4a4f8c", 8, 8, 0},
    {"20e", "5a3b5a3b5a3b5a3b5a3b5a3b12c10d", 9, 8, 0},
    {"15e", "3a2b3a2b3a2b3a2b10c", 12, 5, .05},
    {"30e", "90a", 1, NONE, 0},
    {"", "120a", 1, NONE, 0},
};

static const struct {
    double unit, interval;
} grids[] = {{100000, 100000}, {100000, 50000}, {100000, 25000}, {100000, 70000}, {100000, 30000},
             {100000, 45000},  {100000, 66000}, {100000, 10000}, {200000, 70000}, {33333, 10000}};

static bool near(size_t found, double wanted, double slack)
{
    return fabs((double)found - wanted) < slack;
}

static void check(const struct shape *s, double unit, double interval)
{
    struct random r;
    random_seed(&r, 1);
    struct program p = {.interval = interval, .set.interval = (uint64_t)interval};
    double init = follow(&p, s->init, unit, 0, &r) * unit / interval;
    for (unsigned k = 0; k < s->times; k++)
        follow(&p, s->period, unit, s->uneven, &r);
    if (p.filled > interval / 2)
        end_interval(&p);
    double period = s->times > 1 ? follow(NULL, s->period, unit, 0, &r) * unit / interval : NONE;
    struct phases found;
    struct error err;
    struct fine_signal fine;
    assert_int_equal(fine_signal_of_set(&fine, &p.set), 0);
    assert_int_equal(phases_analyse(&p.set, &fine, 0, &found, &err), 0);
    fine_signal_free(&fine);
    unsigned periods = period > 0 ? 1 + (s->nested > 0) : 0;
    double slack = 1 + s->uneven * period / 2; /* the average of uneven periods is not the one that was asked for */
    const struct structure *is = &found.structure;
    double longest = is->periods ? is->period[is->periods - 1].insns / interval : 0;
    bool right = near(found.init_end, init, 1) && is->periods == periods && fabs(longest - period) < slack;
    if (right && s->nested)
        right = fabs(is->period[0].insns - s->nested * unit) < interval + s->uneven * s->nested * unit / 2;
    if (!right)
        fail_msg("%s, then %u x %s, at %.0f of %.0f: initialization %zu (%.2f), %u periods, the longest %.2f (%.2f)",
                 s->init, s->times, s->period, interval, unit, found.init_end, init, is->periods, longest, period);
    phases_free(&found);
    bbv_free(&p.set);
}

static void shapes_are_found_to_the_interval(void **state)
{
    (void)state;
    for (unsigned k = 0; k < sizeof shapes / sizeof shapes[0]; k++)
        for (unsigned g = 0; g < sizeof grids / sizeof grids[0]; g++)
            check(&shapes[k], grids[g].unit, grids[g].interval);
}

/* Kinds by chance, or mixtures by chance; a run of 135 intervals or more is enough to tell. */
static void chance_is_no_period(void **state)
{
    (void)state;
    struct random r;
    random_seed(&r, 1);
    for (unsigned turn = 0; turn < 120; turn++) {
        struct program p = {.interval = 1000, .set.interval = 1000};
        for (unsigned k = 0; k < 135 + turn; k++) {
            double part = turn % 2 ? 1000 * uniform(&r) : 1000;
            run(&p, turn % 2 ? 0 : (unsigned)(random_u64(&r) % 4), part);
            run(&p, 1, 1000 - part);
        }
        struct phases found;
        struct error err;
        struct fine_signal fine;
        assert_int_equal(fine_signal_of_set(&fine, &p.set), 0);
        assert_int_equal(phases_analyse(&p.set, &fine, 0, &found, &err), 0);
        fine_signal_free(&fine);
        assert_int_equal(found.structure.periods, 0);
        assert_true(found.structure.correlated_period == 0);
        phases_free(&found);
        bbv_free(&p.set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_are_found_to_the_interval),
        cmocka_unit_test(chance_is_no_period),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
