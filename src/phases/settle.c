#include "phases/settle.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/random.h"
#include "base/student_t.h"

enum {
    SETTLED_MOST = 24, /* settled windows */
    SETTLED_LEAST = 8,
    USUAL_EACH = 24,  /* usual windows in each of them */
    RUN_SHARE = 32,   /* settled windows take at most 1 / RUN_SHARE of the run, warm-up included */
    WARMUP_PARTS = 3, /* length of a warm-up, in settled windows; both together fill the second cache anew */
};
/* Least cycles that the lines of wrong paths would take if each caused a miss, as a share of all cycles. */
static const double LEAST_EFFECT = 0.03;

/* ---- misses of the second cache */

static uint64_t right_path(const struct cache_counts *n)
{
    return n->misses[0] - n->merges[0] - (n->misses[1] - n->merges[1]);
}

/* Values of a window: misses for data and for instructions, as indexed by enum settled_kind, and those of wrong paths.
 * The numbers of a window begin with its struct simulation_counts. */
static double data_misses(void *context, const uint64_t *number)
{
    (void)context;
    return (double)right_path(&((const struct simulation_counts *)(const void *)number)->memory.l2d);
}

static double instruction_misses(void *context, const uint64_t *number)
{
    (void)context;
    return (double)right_path(&((const struct simulation_counts *)(const void *)number)->memory.l2i);
}

static double wrong_misses(void *context, const uint64_t *number)
{
    (void)context;
    const struct memsys_counts *n = &((const struct simulation_counts *)(const void *)number)->memory;
    return (double)(n->l2d.misses[1] - n->l2d.merges[1] + n->l2i.misses[1] - n->l2i.merges[1]);
}

/* The columns of the model that change with misses of a kind. */
static const struct {
    combine_value *misses;
    enum warm_count column[3];
    unsigned columns;
} kinds[SETTLED_KINDS] = {
    [SETTLED_DATA] = {data_misses, {WARM_L2D, WARM_L2D_LEADING, WARM_L2D_STORES}, 3},
    [SETTLED_INSTRUCTIONS] = {instruction_misses, {WARM_L2I}, 1},
};

/* What the misses of a kind contribute to a value, per instruction of the run. */
static double part_of(const struct sampled_run *s, const double coefficient[COLUMNS], enum settled_kind kind)
{
    double part = 0;
    for (unsigned k = 0; k < kinds[kind].columns; k++)
        part += coefficient[kinds[kind].column[k]] * s->model.mean[kinds[kind].column[k]];
    return part;
}

/* Misses of a kind that warming counted in the units of a window. */
static double warm_misses(const struct sampled_run *s, const struct window *w, enum settled_kind kind)
{
    size_t first = unit_of_window(s, w), units = w->insns / s->points.insns;
    double misses = 0;
    for (size_t u = first; u < first + units; u++) {
        const uint64_t *count = pass_unit(&s->result, u);
        if (count)
            misses += (double)(kind == SETTLED_DATA ? count[WARM_L2D] + count[WARM_L2D_STORES] : count[WARM_L2I]);
    }
    return misses;
}

static double all_warm_misses(const struct sampled_run *s, const struct window *w)
{
    return warm_misses(s, w, SETTLED_DATA) + warm_misses(s, w, SETTLED_INSTRUCTIONS);
}

/* ---- the plan */

/* The most that wrong paths can add to the cycles, as a share of them. `*wrong`: their lines, as a share of misses. */
static double most_effect(const struct sampled_run *s, double *wrong)
{
    double coefficient[COLUMNS], right = 0, cycles = 0;
    unit_model_coefficients(s, combine_cycles, NULL, coefficient);
    for (unsigned kind = 0; kind < SETTLED_KINDS; kind++) {
        right += combine(s, kinds[kind].misses, NULL).value;
        cycles += part_of(s, coefficient, kind);
    }
    *wrong = right > 0 ? combine(s, wrong_misses, NULL).value / right : 0;
    return *wrong * cycles / combine(s, combine_cycles, NULL).value;
}

/* Windows to draw from: `count` of `insns` instructions, the first one at `start`, and `step` from one to the next. */
struct candidates {
    uint64_t start, step, insns;
    size_t count;
};

static struct window candidate(const struct candidates *c, size_t i)
{
    return (struct window){c->start + i * c->step, c->insns};
}

/* Draws about `most` windows, in proportion to their misses: at equal steps through the sum of these, so that a window
 * with more misses than a step is taken for certain. Returns their number. */
static size_t draw(const struct sampled_run *s, const struct candidates *c, size_t most, struct random *random,
                   struct window *to, double *chance)
{
    double all = 0, sum = 0;
    size_t drawn = 0;
    for (size_t i = 0; i < c->count; i++) {
        struct window w = candidate(c, i);
        all += all_warm_misses(s, &w);
    }
    const double step = all / (double)most;
    double next = step * (double)(random_u64(random) >> 11) / 9007199254740992.0;
    for (size_t i = 0; i < c->count && drawn < most; i++) {
        struct window w = candidate(c, i);
        double misses = all_warm_misses(s, &w);
        sum += misses;
        if (sum <= next)
            continue;
        chance[drawn] = fmin(1, misses / step);
        to[drawn++] = w;
        next += step * (floor((sum - next) / step) + 1);
    }
    return drawn;
}

static void add_point(struct settle_plan *to, const struct window *w, double chance, bool settled)
{
    to->chance[to->points.count] = chance;
    to->points.point[to->points.count++] = (struct point){.window = *w, .settled = settled};
}

/* Draws settled windows, at the ends of blocks of `parts` times their length, and usual ones in each. */
static void draw_all(const struct sampled_run *s, size_t settled, struct settle_plan *to, uint64_t insns)
{
    const uint64_t unit = s->points.insns, block = (WARMUP_PARTS + 1) * insns;
    const struct candidates blocks = {
        .start = s->points.head + block - insns, .step = block, .insns = insns, .count = s->units.count * unit / block};
    struct window drawn[SETTLED_MOST], usual[USUAL_EACH];
    double chance[SETTLED_MOST], usual_chance[USUAL_EACH];
    struct random random;
    random_seed(&random, s->points.seed + s->result.count);
    settled = draw(s, &blocks, settled, &random, drawn, chance);
    for (size_t i = 0; i < settled; i++) {
        const struct candidates units = {drawn[i].start, unit, unit, insns / unit};
        size_t count = draw(s, &units, USUAL_EACH, &random, usual, usual_chance);
        for (size_t k = 0; k < count; k++)
            add_point(to, &usual[k], usual_chance[k], false);
        add_point(to, &drawn[i], chance[i], true);
    }
}

int settle_plan(const struct sampled_run *s, uint64_t lines, struct settle_plan *to, struct error *err)
{
    const uint64_t unit = s->points.insns, covered = s->units.count * unit;
    double wrong;
    *to = (struct settle_plan){.points = {.count = 0}};
    if (lines == 0 || s->model.column == NULL || most_effect(s, &wrong) < LEAST_EFFECT)
        return 0;
    double fills = (1 + wrong) * all_warm_misses(s, &(struct window){s->points.head, covered}) / (double)covered;
    double units = ceil((double)lines / fills / (WARMUP_PARTS + 1) / (double)unit); /* of a settled window */
    double count = (double)s->units.count / RUN_SHARE / (units * (WARMUP_PARTS + 1));
    if (count < SETTLED_LEAST)
        return 0;
    to->points = (struct points){.point = calloc(SETTLED_MOST * (USUAL_EACH + 1), sizeof *to->points.point),
                                 .insns = unit,
                                 .lead = s->points.lead,
                                 .first_stretch = s->points.first_stretch,
                                 .stretch = s->points.stretch,
                                 .settled_warmup = WARMUP_PARTS * (uint64_t)units * unit};
    to->chance = calloc(SETTLED_MOST * (USUAL_EACH + 1), sizeof *to->chance);
    if (to->points.point == NULL || to->chance == NULL)
        return error_set(err, -ENOMEM, "out of memory for windows");
    draw_all(s, (size_t)fmin(SETTLED_MOST, count), to, (uint64_t)units * unit);
    return 0;
}

void settle_plan_free(struct settle_plan *p)
{
    points_free(&p->points);
    free(p->chance);
    p->chance = NULL;
}

/* ---- the result */

/* A settled window, with sums over the usual ones in it; all divided by the chance of being drawn. */
struct comparison {
    double settled, settled_warm; /* misses, and those that warming counted */
    double usual, usual_warm;
};

/* Reads the next settled window, and those before it that lie in it. False: there is none. */
static bool next_comparison(const struct sampled_run *s, const struct settle_plan *p, const struct pass_result *r,
                            enum settled_kind kind, size_t *next, struct comparison *to)
{
    *to = (struct comparison){0};
    while (*next < r->count && *next < p->points.count) {
        size_t i = (*next)++;
        const struct measured *m = &r->measured[i];
        bool usable = m->done && !m->strayed;
        double misses = usable ? kinds[kind].misses(NULL, m->number) / p->chance[i] : 0;
        double warm = usable ? warm_misses(s, &m->window, kind) / p->chance[i] : 0;
        if (p->points.point[i].settled) {
            to->settled = misses;
            to->settled_warm = warm;
            return true;
        }
        to->usual += misses;
        to->usual_warm += warm;
    }
    return false;
}

/* What longer warming adds to misses, as a share of those of usual windows: the estimates include it already. */
static double share_of_longer_warming(const struct sampled_run *s, enum settled_kind kind)
{
    double longer = combine_longer_warming(s, kinds[kind].misses, NULL);
    double usual = combine(s, kinds[kind].misses, NULL).value - longer;
    return usual > 0 && longer > -usual ? longer / usual : 0;
}

/* With m misses in a settled window, and e that are expected there, both divided by the chance of the window:
 *
 *     change   = Σ (m - e) / Σ e
 *     variance = Σ (m - e - change e)² / (Σ e)² * n / (n - 1)        n windows */
static void take_kind(struct sampled_run *s, const struct settle_plan *p, const struct pass_result *r,
                      enum settled_kind kind)
{
    double more = 0, all = 0, squares = 0, change = 0;
    size_t n = 0;
    struct comparison c;
    for (unsigned step = 0; step < 2; step++) {
        for (size_t next = 0; next_comparison(s, p, r, kind, &next, &c);) {
            if (c.settled_warm <= 0 || c.usual_warm <= 0)
                continue;
            double expected = c.settled_warm * c.usual / c.usual_warm, difference = c.settled - expected;
            n += step == 0;
            more += step == 0 ? difference : 0;
            all += step == 0 ? expected : 0;
            squares += step == 0 ? 0 : pow(difference - change * expected, 2);
        }
        change = all > 0 ? more / all : 0;
    }
    if (n < SETTLED_LEAST || all <= 0)
        return;
    double known = share_of_longer_warming(s, kind);
    s->settled.windows = n > s->settled.windows ? n : s->settled.windows;
    s->settled.change[kind] = (1 + change) / (1 + known) - 1;
    s->settled.variance[kind] = squares / (all * all) * (double)n / (double)(n - 1) / pow(1 + known, 2);
}

void settle_take(struct sampled_run *s, const struct settle_plan *p, const struct pass_result *r)
{
    s->settled = (struct settled){.windows = 0};
    for (size_t i = 0; i < r->count; i++) {
        bool settled = p->points.point[i].settled;
        s->settled.usual += !settled;
        s->settled.insns += r->measured[i].window.insns + (settled ? p->points.settled_warmup : 0);
    }
    for (unsigned kind = 0; kind < SETTLED_KINDS; kind++)
        take_kind(s, p, r, kind);
}

double settle_half(const struct sampled_run *s, enum settled_kind kind)
{
    return student_t_975((double)(s->settled.windows - 1)) * sqrt(s->settled.variance[kind]);
}

double settle_effect(const struct sampled_run *s, combine_value *of, void *context, double *variance)
{
    double coefficient[COLUMNS], effect = 0;
    *variance = 0;
    if (s->settled.windows < 2 || s->model.column == NULL)
        return 0;
    unit_model_coefficients(s, of, context, coefficient);
    for (unsigned kind = 0; kind < SETTLED_KINDS; kind++) {
        double part = part_of(s, coefficient, kind);
        effect += s->settled.change[kind] * part;
        *variance += s->settled.variance[kind] * part * part;
    }
    return effect;
}
