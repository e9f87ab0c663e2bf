#include "report/profile_columns.h"

#include <math.h>

#include "report/run_report.h"

double share_percent(const struct profile_counted *e, uint64_t weight)
{
    return e->weight ? 100 * (double)weight / (double)e->weight : 0;
}

double share_interval(const struct profile_counted *e, uint64_t weight)
{
    double p = share_percent(e, weight) / 100;
    return e->period && e->samples ? 196 * sqrt(p * (1 - p) / (double)e->samples) : 0;
}

void columns_head(const struct profile_columns *c, struct text_table *t)
{
    for (unsigned i = c->first; i <= c->last; i++) {
        const struct profile_counted *e = &c->profile->event[i];
        text_column(t, TEXT_NUMBER, c->inclusive ? "total %" : "%");
        text_over(t, e->name);
        if (e->period)
            text_column(t, TEXT_BESIDE, "±");
        text_column(t, TEXT_BESIDE, c->inclusive ? "total" : "count");
        if (c->inclusive) {
            text_column(t, TEXT_BESIDE, "self %");
            text_column(t, TEXT_BESIDE, "self");
        } else {
            text_column(t, TEXT_BESIDE, "samples");
        }
    }
}

static void put_percent(const struct profile_columns *c, const struct profile_counted *e, uint64_t weight,
                        struct text_table *t)
{
    double percent = share_percent(e, weight);
    const char *color = !c->color ? NULL : percent >= 5 ? "\033[31m" : percent >= 0.5 ? "\033[32m" : NULL;
    text_cell_colored(t, color, "%.2f", percent);
}

/* Share, its interval if the event was sampled, and count. */
static void put_amount(const struct profile_columns *c, const struct profile_counted *e, uint64_t weight,
                       struct text_table *t)
{
    char text[GROUPED_SIZE];
    put_percent(c, e, weight, t);
    if (e->period)
        text_cell(t, "%.2f", share_interval(e, weight));
    text_cell(t, "%s", grouped(weight, text));
}

void columns_row(const struct profile_columns *c, const struct profile_amount *self, const struct profile_amount *total,
                 struct text_table *t)
{
    char text[GROUPED_SIZE];
    for (unsigned i = c->first; i <= c->last; i++) {
        const struct profile_counted *e = &c->profile->event[i];
        if (!c->inclusive) {
            put_amount(c, e, self[i].weight, t);
            text_cell(t, "%s", grouped(self[i].samples, text));
            continue;
        }
        if (total)
            put_amount(c, e, total[i].weight, t);
        for (unsigned empty = total ? 0 : 2 + (e->period != 0); empty > 0; empty--)
            text_cell(t, "%s", "");
        put_percent(c, e, self[i].weight, t);
        text_cell(t, "%s", grouped(self[i].weight, text));
    }
}

/* ---- histories of instructions */

static const char *const outcome_heads[PROFILE_OUTCOME_BITS] = {"L1I%",  "L2I%", "ITLB%", "L1D%", "L2D%",
                                                                "DTLB%", "fwd%", "rej%",  "misf%"};
static const char *const stage_heads[PROFILE_STAGES] = {"fetch", "disp", "issue", "compl"};

void columns_history_head(const struct history_table *h, struct text_table *t)
{
    if (h->all.samples) {
        for (unsigned i = 0; i < PROFILE_STAGES; i++)
            text_column(t, i ? TEXT_BESIDE : TEXT_NUMBER, stage_heads[i]);
        text_column(t, TEXT_NUMBER, "ret%");
        for (unsigned i = 0; i < PROFILE_OUTCOME_BITS; i++)
            if (h->all.outcome[i])
                text_column(t, TEXT_NUMBER, outcome_heads[i]);
        if (h->all.mispredicted)
            text_column(t, TEXT_NUMBER, "misp%");
    }
    if (h->all.pairs)
        text_column(t, TEXT_NUMBER, "wasted issue slots");
}

static void put_mean(uint64_t sum, uint64_t n, double factor, struct text_table *t)
{
    if (n)
        text_cell(t, "%.1f", factor * (double)sum / (double)n);
    else
        text_cell(t, "-");
}

void columns_history_row(const struct history_table *t, const struct profile_history *of, struct text_table *to)
{
    static const struct profile_history none;
    const struct profile_history *h = of ? of : &none;
    if (t->all.samples) {
        for (unsigned i = 0; i < PROFILE_STAGES; i++)
            put_mean(h->latency_cycles[i], h->retired, 1, to);
        put_mean(h->retired, h->samples, 100, to);
        for (unsigned i = 0; i < PROFILE_OUTCOME_BITS; i++)
            if (t->all.outcome[i])
                put_mean(h->outcome[i], h->samples, 100, to);
        if (t->all.mispredicted)
            put_mean(h->mispredicted, h->samples, 100, to);
    }
    if (t->all.pairs)
        put_mean(h->slots, h->pairs, 1, to);
}

/* ---- limits */

bool columns_reach(const struct profile_columns *c, const struct profile_amount *self,
                   const struct profile_amount *total, double percent)
{
    for (unsigned i = c->first; i <= c->last; i++) {
        const struct profile_counted *e = &c->profile->event[i];
        uint64_t most = total && total[i].weight > self[i].weight ? total[i].weight : self[i].weight;
        if (most && share_percent(e, most) >= percent)
            return true;
    }
    return false;
}
