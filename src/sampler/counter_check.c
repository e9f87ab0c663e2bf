#include "sampler/counter_check.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sampler/distance.h"

const struct estimator *check_estimator(unsigned i)
{
    return i == CHECK_LINEAR ? estimator_find("linear") : &estimators[0];
}

/* A table of counts: a row for each round, a column for each event. */
struct count_table {
    double *value;      /* row-major */
    size_t count, room; /* rows used and allocated */
};

/* One estimator and its rounds. */
struct estimated {
    struct counter_check *check;
    struct estimates *estimates;
    struct count_table rounds, half; /* estimates and half widths of their intervals */
};

struct counter_check {
    const struct plan *plan;
    struct estimated by[CHECK_ESTIMATORS];
    struct count_table truth;
    uint64_t *total;        /* by event: true counts */
    uint64_t *busiest;      /* by event: sum over rounds of the count of the busiest slice, without the last round */
    uint64_t *most;         /* by event: count of the busiest slice of the last round */
    uint32_t round;         /* round of the last slice */
    uint64_t round_clock;   /* length of that round so far, in ticks of the slice clock */
    uint64_t first_clock;   /* length of the first round; set when the second begins */
    uint64_t cycles, insns; /* of all slices */
    bool failed;            /* memory ran out in a callback */
};

/* Appends a row of zeros. NULL: out of memory. */
static double *count_table_row(struct counter_check *c, struct count_table *s)
{
    size_t columns = c->plan->event_count;
    double *grown = array_grow(s->value, s->count, &s->room, columns * sizeof *grown);
    if (grown == NULL) {
        c->failed = true;
        return NULL;
    }
    s->value = grown;
    return memset(s->value + s->count++ * columns, 0, columns * sizeof *s->value);
}

/* The callback of estimates_new. */
static void round_ready(void *context, const struct estimate_round *r)
{
    struct estimated *e = context;
    double *value = count_table_row(e->check, &e->rounds), *half = count_table_row(e->check, &e->half);
    size_t bytes = e->check->plan->event_count * sizeof *value;
    if (value)
        memcpy(value, r->value, bytes);
    if (half)
        memcpy(half, r->half, bytes);
}

struct counter_check *counter_check_new(const struct plan *p, struct error *err)
{
    struct counter_check *c = calloc(1, sizeof *c);
    if (c) {
        c->total = calloc(p->event_count + 1, sizeof *c->total);
        c->busiest = calloc(p->event_count + 1, sizeof *c->busiest);
        c->most = calloc(p->event_count + 1, sizeof *c->most);
    }
    if (c == NULL || c->total == NULL || c->busiest == NULL || c->most == NULL) {
        error_set(err, -ENOMEM, "out of memory for a comparison");
        counter_check_free(c);
        return NULL;
    }
    c->plan = p;
    for (unsigned i = 0; i < CHECK_ESTIMATORS; i++) {
        c->by[i].check = c;
        c->by[i].estimates = estimates_new(p, check_estimator(i), round_ready, &c->by[i], err);
        if (c->by[i].estimates == NULL) {
            counter_check_free(c);
            return NULL;
        }
    }
    return c;
}

void counter_check_free(struct counter_check *c)
{
    if (c == NULL)
        return;
    for (unsigned i = 0; i < CHECK_ESTIMATORS; i++) {
        estimates_free(c->by[i].estimates);
        free(c->by[i].rounds.value);
        free(c->by[i].half.value);
    }
    free(c->truth.value);
    free(c->total);
    free(c->busiest);
    free(c->most);
    free(c);
}

/* Called after the row of the new round was appended. */
static void begin_round(struct counter_check *c, uint32_t round)
{
    for (size_t i = 0; i < c->plan->event_count; i++) {
        c->busiest[i] += c->most[i];
        c->most[i] = 0;
    }
    if (c->truth.count == 2)
        c->first_clock = c->round_clock;
    c->round = round;
    c->round_clock = 0;
}

int counter_check_add(struct counter_check *c, const struct slice *s, const uint64_t *truth, struct error *err)
{
    size_t columns = c->plan->event_count;
    if (c->truth.count == 0 || s->round != c->round) {
        if (count_table_row(c, &c->truth) == NULL)
            return error_set(err, -ENOMEM, "out of memory for the counts of a round");
        begin_round(c, s->round);
    }
    double *row = c->truth.value + (c->truth.count - 1) * columns;
    for (size_t i = 0; i < columns; i++) {
        row[i] += (double)truth[i];
        c->total[i] += truth[i];
        c->most[i] = truth[i] > c->most[i] ? truth[i] : c->most[i];
    }
    c->round_clock += c->plan->clock == CLOCK_CYCLES ? s->cycles : s->insns;
    c->cycles += s->cycles;
    c->insns += s->insns;
    for (unsigned i = 0; i < CHECK_ESTIMATORS; i++) {
        int code = estimates_add(c->by[i].estimates, s, err);
        if (code != 0)
            return code;
    }
    return 0;
}

int counter_check_finish(struct counter_check *c, struct error *err)
{
    for (unsigned i = 0; i < CHECK_ESTIMATORS; i++)
        estimates_finish(c->by[i].estimates);
    if (c->failed)
        return error_set(err, -ENOMEM, "out of memory for the counts of a round");
    return 0;
}

/* Whether a round of this length is complete: it lacks at most half a slice. */
static bool is_complete(const struct counter_check *c, uint64_t clock)
{
    return clock + c->plan->slice / 2 >= c->plan->slice * c->plan->slots;
}

/* The first complete round: 0, or 1 if measuring began within a round. */
static size_t first_complete(const struct counter_check *c)
{
    return c->truth.count > 1 && !is_complete(c, c->first_clock);
}

size_t counter_check_rounds(const struct counter_check *c)
{
    size_t end = c->truth.count && !is_complete(c, c->round_clock) ? c->truth.count - 1 : c->truth.count;
    return end > first_complete(c) ? end - first_complete(c) : 0;
}

uint64_t counter_check_cycles(const struct counter_check *c)
{
    return c->cycles;
}

void counter_check_event(const struct counter_check *c, size_t event, struct counter_checked *to)
{
    size_t rounds = counter_check_rounds(c), columns = c->plan->event_count,
           first = first_complete(c) * columns + event;
    *to = (struct counter_checked){.truth = c->total[event], .rare = is_rare(c->total[event], c->cycles)};
    to->busiest = to->truth ? (double)(c->busiest[event] + c->most[event]) / (double)to->truth : NAN;
    for (unsigned i = 0; i < CHECK_ESTIMATORS; i++) {
        const struct estimated *e = &c->by[i];
        struct estimate total = estimates_total(e->estimates, event);
        double truth = (double)to->truth;
        to->by[i].total = total;
        to->by[i].error = to->truth ? fabs(total.value - truth) / truth : NAN;
        to->by[i].holds = truth >= total.low - 0.5 && truth <= total.high + 0.5;
        to->by[i].distance = to->rare || rounds == 0
                                 ? NAN
                                 : kl_distance(c->truth.value + first, e->rounds.value + first, rounds, columns);
    }
}

size_t counter_check_columns(const struct counter_check *c, size_t event, struct checked_column to[CHECK_COLUMNS])
{
    size_t rounds = counter_check_rounds(c), columns = rounds < CHECK_COLUMNS ? rounds : CHECK_COLUMNS;
    for (size_t i = 0; i < columns; i++) {
        size_t from = i * rounds / columns, end = (i + 1) * rounds / columns;
        struct checked_column sum = {0};
        for (size_t r = from; r < end; r++) {
            size_t at = (first_complete(c) + r) * c->plan->event_count + event;
            sum.truth += c->truth.value[at] / (double)(end - from);
            sum.half += c->by[CHECK_DEFAULT].half.value[at] / (double)(end - from);
            for (unsigned b = 0; b < CHECK_ESTIMATORS; b++)
                sum.value[b] += c->by[b].rounds.value[at] / (double)(end - from);
        }
        to[i] = sum;
    }
    return columns;
}
