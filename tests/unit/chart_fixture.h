/* A chart of CPI stacks for tests, and what was made of it. */
#ifndef CYCLESCOPE_TESTS_CHART_FIXTURE_H
#define CYCLESCOPE_TESTS_CHART_FIXTURE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/random.h"
#include "report/stack_chart.h"

enum { GROUPS = 30, BARS = 9 };

/* A chart with room for the largest one, and what was made of it. */
struct drawing {
    struct stack_chart chart;
    struct stack_group group[GROUPS];
    struct stack_bar bar[GROUPS][BARS];
    double cpi[GROUPS][BARS][COMPONENTS];
    char *text;
    size_t length;
};

static inline void begin(struct drawing *d, size_t groups, size_t bars)
{
    memset(d, 0, sizeof *d);
    d->chart = (struct stack_chart){.title = "stacks", .count = groups, .group = d->group};
    for (size_t g = 0; g < groups; g++) {
        d->group[g] = (struct stack_group){"twolf", bars, d->bar[g], 1};
        for (size_t b = 0; b < bars; b++)
            d->bar[g][b] = (struct stack_bar){"fmt", d->cpi[g][b]};
    }
}

static inline double random_between(struct random *r, double low, double high)
{
    return low + (high - low) * (double)(random_u64(r) >> 11) / 0x1p53;
}

static inline void fill(struct drawing *d, struct random *r, bool negative)
{
    for (size_t g = 0; g < d->chart.count; g++)
        for (size_t b = 0; b < d->group[g].count; b++)
            for (unsigned c = 0; c < COMPONENTS; c++)
                d->cpi[g][b][c] = random_between(r, negative && c == COMPONENT_base ? -2 : 0, 1);
}

static inline unsigned count_of(char c, const char *from, const char *to)
{
    unsigned count = 0;
    for (; from < to; from++)
        count += *from == c;
    return count;
}

#endif
