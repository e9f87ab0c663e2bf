#include "sampler/stalls_logical.h"

#include <math.h>
#include <stdio.h>

int stalls_logical_specs(struct event_specs *specs, struct error *err)
{
    char text[STALL_EVENTS * 64];
    int used = 0;
    for (unsigned i = 0; i < STALL_SOURCES; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s,", stall_rows[i].event);
    snprintf(text + used, sizeof text - (size_t)used, "%s", stall_completion_row.event);
    return event_specs_parse(specs, text, err);
}

/* ---- adjustment of estimates to a known sum */

static double sum(const double v[STALL_EVENTS])
{
    double all = 0;
    for (unsigned i = 0; i < STALL_EVENTS; i++)
        all += v[i];
    return all;
}

/* Changes v so that it sums to `cycles`: distributes the difference in proportion to `weight`. No value becomes
 * negative; those that reach 0 drop out, and the rest of the difference goes to the others in the next pass. False: all
 * values that could change have weight 0. */
static bool distribute(double v[STALL_EVENTS], const double weight[STALL_EVENTS], double cycles)
{
    for (unsigned pass = 0; pass < STALL_EVENTS; pass++) {
        double missing = cycles - sum(v), weights = 0;
        if (fabs(missing) < 1e-6 * (cycles + 1))
            return true;
        for (unsigned i = 0; i < STALL_EVENTS; i++)
            weights += missing > 0 || v[i] > 0 ? weight[i] : 0;
        if (weights == 0)
            return false;
        for (unsigned i = 0; i < STALL_EVENTS; i++)
            if (missing > 0 || v[i] > 0)
                v[i] = fmax(0, v[i] + missing * weight[i] / weights);
    }
    return fabs(cycles - sum(v)) < 1e-6 * (cycles + 1);
}

/* Rounds v to whole numbers that sum to `cycles`: down, then up in the order of the largest remainders. */
static void round_off(const double v[STALL_EVENTS], uint64_t cycles, uint64_t whole[STALL_EVENTS])
{
    uint64_t left = cycles;
    bool given[STALL_EVENTS] = {false};
    for (unsigned i = 0; i < STALL_EVENTS; i++) {
        whole[i] = (uint64_t)fmin(floor(v[i]), (double)left);
        left -= whole[i];
    }
    while (left > 0) {
        unsigned most = 0;
        for (unsigned i = 1; i < STALL_EVENTS; i++)
            if (given[most] || (!given[i] && v[i] - floor(v[i]) > v[most] - floor(v[most])))
                most = i;
        uint64_t more = given[most] ? left : 1;
        given[most] = true;
        whole[most] += more;
        left -= more;
    }
}

/* Weights are the variances. If all are 0 (the estimates claim to be exact) weights are the values themselves, and if
 * these are 0 too, all cycles are charged to STALL_OTHER. */
void stalls_adjust(struct stall_interval *i, const double value[STALL_EVENTS], const double half[STALL_EVENTS])
{
    double v[STALL_EVENTS], variance[STALL_EVENTS], size[STALL_EVENTS], cycles = (double)i->cycles;
    uint64_t whole[STALL_EVENTS];
    for (unsigned k = 0; k < STALL_EVENTS; k++) {
        v[k] = fmax(0, value[k]);
        variance[k] = isfinite(half[k]) ? half[k] * half[k] : cycles * cycles;
    }
    if (!distribute(v, variance, cycles)) {
        for (unsigned k = 0; k < STALL_EVENTS; k++)
            size[k] = v[k];
        if (!distribute(v, size, cycles)) {
            const double other[STALL_EVENTS] = {[STALL_OTHER] = 1};
            distribute(v, other, cycles);
        }
    }
    round_off(v, i->cycles, whole);
    for (unsigned k = 0; k < STALL_SOURCES; k++) {
        i->stalls[k] = whole[k];
        i->error[k] = (uint64_t)llround(fmin(isfinite(half[k]) ? half[k] : cycles, cycles));
    }
    i->completion = whole[STALL_SOURCES];
}

/* ---- rounds */

void stalls_logical_round(void *context, const struct estimate_round *r)
{
    struct stalls_logical *l = context;
    struct stall_interval i = {
        .first_insn = r->first_insn, .first_cycle = r->first_cycle, .insns = r->insns, .cycles = r->cycles};
    stalls_adjust(&i, r->value, r->half);
    stall_interval_add(&l->total, &i);
    if (l->sink)
        l->sink(l->context, &i);
}
