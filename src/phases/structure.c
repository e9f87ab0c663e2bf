#include "phases/structure.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "phases/levels.h"

enum {
    SHIFTS = 96,   /* shifts of a level that are compared */
    OF_LEVEL = 16, /* most candidates of a level */
    CANDIDATES = 512,
    LEAST_SAMPLES = 6 /* of a period; shorter ones are left to a finer level if there is one */
};

/* A stretch of the run that is analyzed at several levels: the whole run without initialization, or a detail. */
struct source {
    struct levels levels;
    double insns; /* its length */
    bool given;   /* samples are the vectors of a .bb file: there is no finer level */
};

/* A period that a level shows. */
struct candidate {
    const struct source *source;
    unsigned level;
    double insns;
    double coarse;   /* mismatch at its level, from 0 (equal) to 1 (unrelated) */
    double fine;     /* the same at the finest level of the source */
    double contrast; /* mean distance of samples at its level, for vectors of length 1 */
    double error;    /* by how much the refined length may be wrong */
};

struct search {
    struct candidate candidate[CANDIDATES];
    unsigned count;
};

/* ---- candidates */

static int search_level(const struct source *source, unsigned number, struct search *to)
{
    const struct level *l = &source->levels.level[number];
    double graph[SHIFTS];
    struct run_signal_period period[OF_LEVEL];
    size_t shifts = 2 * l->signal.count / 3 < SHIFTS ? 2 * l->signal.count / 3 : SHIFTS;
    double contrast = run_signal_self_distance(&l->signal, graph, shifts);
    int found = run_signal_graph_periods(graph, shifts, l->signal.count - shifts, period, OF_LEVEL);
    for (int k = 0; k < found; k++)
        if (period[k].length >= (source->given && number == 0 ? 2 : LEAST_SAMPLES) && to->count < CANDIDATES)
            to->candidate[to->count++] = (struct candidate){.source = source,
                                                            .level = number,
                                                            .insns = (double)period[k].length * l->interval,
                                                            .coarse = period[k].left,
                                                            .contrast = contrast};
    return found < 0 ? found : 0;
}

static int search_source(const struct source *source, struct search *to)
{
    int code = 0;
    for (unsigned k = 0; code == 0 && k < source->levels.count; k++)
        code = search_level(source, k, to);
    return code;
}

/* ---- the exact length */

/* Mean distance of samples that are `shift` apart, within the samples from `first` to `end`. */
static double mismatch(const struct run_signal *s, size_t first, size_t end, size_t shift)
{
    return first + shift < end
               ? run_signal_distance(s, first, first + shift, end - first - shift) / (double)(end - first - shift)
               : INFINITY;
}

/* The shift within `slack` of `near` that matches best; its mismatch in `*least`. */
static size_t best_shift(const struct run_signal *s, size_t first, size_t end, double near, double slack, double *least)
{
    size_t from = (size_t)fmax(1, floor(near - slack)), to = (size_t)ceil(near + slack), best = from;
    *least = INFINITY;
    for (size_t k = from; k <= to && first + k < end; k++) {
        double here = mismatch(s, first, end, k);
        if (here < *least) {
            *least = here;
            best = k;
        }
    }
    return best;
}

/* Follows a period of `near` samples through its multiples 1, 2, 4 ... as long as they match about as well as the
 * first. A shift is exact to half a sample, so its n-th part is n times as exact. */
static double follow_multiples(const struct run_signal *s, size_t first, size_t end, double near, double slack,
                               double *error)
{
    double least, here;
    double period = (double)best_shift(s, first, end, near, slack, &least);
    double unlike = least + (mismatch(s, first, end, (size_t)fmax(1, period / 2)) - least) / 4;
    *error = 0.5;
    for (unsigned n = 2; n * period < (double)(end - first) / 2; n *= 2) {
        size_t shift = best_shift(s, first, end, n * period, fmin(1 + n * *error, period / 4), &here);
        if (here > unlike || shift < n) /* no match, or less than a sample */
            break;
        period = (double)shift / n;
        *error = 0.5 / n;
    }
    return period;
}

/* By how much the period varies over the run: half of the range of its lengths in parts of the run. */
static double variation(const struct run_signal *s, double period)
{
    double least = period, most = period, error;
    unsigned parts = 3 * 3 * period < (double)s->count ? 3 : 2;
    for (unsigned k = 0; k < parts && parts * 2 * period < (double)s->count; k++) {
        size_t first = k * s->count / parts, end = (k + 1) * s->count / parts;
        double here = follow_multiples(s, first, end, period, fmax(1, period / 6), &error);
        least = fmin(least, here);
        most = fmax(most, here);
    }
    return (most - least) / 2;
}

/* Refines a candidate at the finest level of its source. */
static void refine(struct candidate *c)
{
    const struct levels *l = &c->source->levels;
    const struct run_signal *fine = &l->level[0].signal;
    double unit = l->level[0].interval, error, least = 0;
    double slack = 1.5 * l->level[c->level].interval / unit;
    double period = follow_multiples(fine, 0, fine->count, c->insns / unit, slack, &error);
    size_t shift = best_shift(fine, 0, fine->count, period, 1, &least);
    double graph[SHIFTS],
        unrelated = run_signal_self_distance(fine, graph, SHIFTS < fine->count ? SHIFTS : fine->count);
    /* The match lies between two shifts. Within a part of a period, samples are alike; where parts meet, a shift that
     * is wrong by a fraction of a sample leaves this fraction of what a shift by one sample leaves. */
    double off = fmin(fabs((double)shift - period) + error, 0.5);
    least -= off * graph[1];
    c->fine = fmax(least, 0) / fmax(unrelated, 1e-9);
    c->insns = period * unit;
    c->error = fmax(error, variation(fine, period)) * unit;
}

/* ---- the choice */

static int by_length(const void *a, const void *b)
{
    double x = ((const struct candidate *)a)->insns, y = ((const struct candidate *)b)->insns;
    return x < y ? -1 : x > y;
}

static bool alike(double a, double b)
{
    return fabs(a - b) < 0.1 * fmin(a, b);
}

/* Whether `a` is the better of two candidates of the same length: the whole run knows the average over the run, a
 * detail only the length at one place. */
static bool better(const struct candidate *a, const struct candidate *b, const struct source *whole)
{
    return a->source == b->source ? a->coarse < b->coarse : a->source == whole;
}

/* Keeps one candidate of each length, in ascending order. A period of a detail counts if the whole run or another
 * detail shows it as well, unless there is no other detail. */
static void unite(struct search *s, const struct source *whole, unsigned details)
{
    unsigned kept = 0;
    qsort(s->candidate, s->count, sizeof *s->candidate, by_length);
    for (unsigned k = 0, end; k < s->count; k = end) {
        struct candidate best = s->candidate[k];
        const struct source *last = NULL;
        unsigned sources = 0;
        double least = best.insns, most = least;
        for (end = k; end < s->count && alike(s->candidate[end].insns, s->candidate[k].insns); end++) {
            const struct candidate *c = &s->candidate[end];
            sources += c->source != last;
            last = c->source;
            if (better(c, &best, whole))
                best = *c;
            least = fmin(least, c->insns);
            most = fmax(most, c->insns);
        }
        if (sources > 1) /* the period is not the same everywhere */
            best.error = fmax(best.error, (most - least) / 2);
        if (best.source == whole || sources > 1 || details < 2)
            s->candidate[kept++] = best;
    }
    s->count = kept;
}

/* The mismatch of the candidate in the whole run, if samples are short enough to tell; else INFINITY. */
static double mismatch_of_whole(const struct candidate *c, const struct source *whole)
{
    if (c->source == whole)
        return c->fine;
    struct candidate there = *c;
    const struct level *l = &whole->levels.level[0];
    if (whole->levels.count == 0 || c->insns < 3 * l->interval || 2 * c->insns > whole->insns)
        return INFINITY;
    there.source = whole;
    there.level = 0;
    refine(&there);
    return there.fine;
}

enum { MULTIPLES = 4 };             /* up to this multiple, a multiple of a period may match better by chance */
static const double BY_CHANCE = 4;  /* largest factor by which such a multiple matches better */
static const double NOTHING = 0.02; /* a mismatch up to this counts as none */

/* A candidate that is a multiple of a period which no level shows clearly becomes that period. */
static struct candidate fundamental(const struct candidate *c, double shortest)
{
    for (unsigned n = MULTIPLES; n > 1; n--) {
        struct candidate part = *c;
        part.insns /= n;
        if (part.insns < shortest || part.insns < LEAST_SAMPLES * c->source->levels.level[0].interval)
            continue;
        refine(&part);
        if (part.fine <= fmin(0.5, BY_CHANCE * (c->fine + NOTHING)) && alike(n * part.insns, c->insns))
            return part;
    }
    return *c;
}

/* Whether the longer of two periods is a period of its own, and not a multiple of the shorter one: the longer period
 * matches clearly better; or it shows, with a good part of the contrast, at a level where the shorter one is averaged
 * out. */
static bool is_another(const struct candidate *shorter, const struct candidate *longer, const struct source *whole)
{
    double left = mismatch_of_whole(shorter, whole);
    if (isfinite(left)) {
        double times = longer->insns / shorter->insns;
        bool multiple = round(times) <= MULTIPLES && fabs(times - round(times)) < 0.05;
        double right = mismatch_of_whole(longer, whole);
        return left > NOTHING && (multiple ? BY_CHANCE * (right + NOTHING) : 2 * right) < left;
    }
    const struct level *l = &longer->source->levels.level[longer->level];
    return longer->source == whole && shorter->insns < 1.5 * l->interval && longer->contrast > shorter->contrast / 4 &&
           longer->coarse < 0.25;
}

/* Chooses periods, from the shortest on. If there are too many, the longest stay. */
static void choose(struct search *s, const struct source *whole, struct structure *to)
{
    const struct candidate *last = NULL;
    for (unsigned k = 0; k < s->count; k++) {
        struct candidate *c = &s->candidate[k];
        if (c->fine > 0.5 || (last && !is_another(last, c, whole)))
            continue;
        *c = fundamental(c, last ? 1.5 * last->insns : 0);
        if (to->periods == STRUCTURE_PERIODS)
            memmove(to->period, to->period + 1, --to->periods * sizeof *to->period);
        to->period[to->periods++] = (struct phase_length){c->insns, c->error};
        last = c;
    }
}

/* Adds a short period that fills only part of the period that was found. The other parts hide it in the run as a whole.
 * The finest level that shows it gives the most exact length. */
static int add_within(const struct source *whole, struct structure *to)
{
    for (unsigned k = 0; k < whole->levels.count && to->periods == 1; k++) {
        const struct level *l = &whole->levels.level[k];
        size_t within = 0, period = (size_t)(to->period[0].insns / l->interval + 0.5);
        int code = period >= 2 * LEAST_SAMPLES ? run_signal_period_within(&l->signal, period, &within) : 0;
        if (code)
            return code;
        if (within < (whole->given && k == 0 ? 2 : LEAST_SAMPLES))
            continue;
        to->period[1] = to->period[0];
        to->period[0] = (struct phase_length){(double)within * l->interval, l->interval / 2};
        to->periods = 2;
    }
    return 0;
}

static int source_make(struct source *to, const struct fine_sample *sample, size_t count, double interval)
{
    to->insns = (double)count * interval;
    return levels_make(&to->levels, sample, count, interval, true);
}

/* Periods that the sources show; the first is the whole run. */
static int periods_of(const struct source *source, unsigned sources, struct structure *to)
{
    struct search *search = calloc(1, sizeof *search);
    int code = search ? 0 : -ENOMEM;
    for (unsigned k = 0; code == 0 && k < sources; k++)
        code = search_source(&source[k], search);
    for (unsigned k = 0; code == 0 && k < search->count; k++)
        refine(&search->candidate[k]);
    if (code == 0) {
        unite(search, &source[0], sources - 1);
        choose(search, &source[0], to);
    }
    free(search);
    return code;
}

/* A period that becomes longer or shorter during the run is smeared in the whole run, but shows in parts of it. All but
 * one of the parts must show it, with lengths of at most 1 to 2. The result is the average over the repetitions. */
static int drifting_period(const struct fine_sample *sample, size_t count, double interval, struct structure *to)
{
    enum { PARTS = 4 };
    double repeats = 0, least = INFINITY, most = 0;
    unsigned found = 0;
    int code = 0;
    for (unsigned k = 0; code == 0 && k < PARTS; k++) {
        size_t first = k * count / PARTS, end = (k + 1) * count / PARTS;
        struct source part = {0};
        struct structure here = {0};
        code = source_make(&part, sample + first, end - first, interval);
        code = code ? code : periods_of(&part, 1, &here);
        levels_free(&part.levels);
        if (code || here.periods == 0)
            continue;
        struct phase_length longest = here.period[here.periods - 1];
        repeats += 1 / longest.insns;
        least = fmin(least, longest.insns);
        most = fmax(most, longest.insns);
        found++;
    }
    if (found + 1 >= PARTS && most < 2 * least)
        to->period[to->periods++] = (struct phase_length){found / repeats, (most - least) / 2};
    return code;
}

/* Periods of the run from sample `first` on: of the whole run, and of the last two details. */
static int find_periods(const struct fine_signal *f, size_t first, struct structure *to)
{
    enum { WHOLE, MOST_SOURCES = 3 };
    struct source source[MOST_SOURCES] = {0};
    unsigned sources = 1;
    size_t count = f->count - first, correlated = 0;
    int code = source_make(&source[WHOLE], f->sample + first, count, (double)f->interval);
    source[WHOLE].given = f->given;
    for (unsigned k = f->details; code == 0 && k-- > 0 && sources < MOST_SOURCES;) {
        const struct fine_detail *d = &f->detail[k];
        if (d->start >= first * f->interval && d->count >= 2 * LEVEL_LEAST)
            code = source_make(&source[sources++], d->sample, d->count, (double)d->interval);
    }
    to->least =
        (f->given ? 2.0 : LEAST_SAMPLES) * (double)(sources > 1 ? f->detail[f->details - 1].interval : f->interval);
    to->most = source[WHOLE].insns / 3;
    code = code ? code : periods_of(source, sources, to);
    code = code ? code : add_within(&source[WHOLE], to);
    if (code == 0 && to->periods == 0)
        code = drifting_period(f->sample + first, count, (double)f->interval, to);
    if (code == 0 && source[WHOLE].levels.count)
        code = run_signal_correlation(&source[WHOLE].levels.level[0].signal, &correlated);
    to->correlated_period = (double)correlated * (double)f->interval;
    for (unsigned k = 0; k < sources; k++)
        levels_free(&source[k].levels);
    return code;
}

/* ---- initialization */

/* Initialization as a level shows it: its end as a sample. */
static int init_of_level(const struct run_signal *s, double *graph, size_t *end)
{
    struct run_signal half = run_signal_from(s, s->count - s->count / 2);
    size_t period = 0, shifts, piece = half.count / 4;
    double unrelated = 0;
    int found = run_signal_periods(&half, graph, &shifts, &period, 1);
    for (size_t k = 1; k < shifts; k++)
        unrelated += graph[k] / (double)((shifts - 1) * piece);
    return found < 0 ? found : run_signal_initialization(s, period, unrelated, end);
}

/* Drops an initialization that ends near the middle of the run if what follows looks like initialization up to its own
 * middle. Such a program does something new all the time, and has no steady state. */
static int check_steady(const struct level *l, double *graph, struct phase_length *init)
{
    const double near_middle = 0.8;
    size_t first = (size_t)(init->insns / l->interval + 0.5), end = 0;
    if ((double)first < near_middle * (double)(l->signal.count / 2))
        return 0;
    struct run_signal rest = run_signal_from(&l->signal, first);
    int code = init_of_level(&rest, graph, &end);
    if (code == 0 && (double)end >= near_middle * (double)(rest.count / 2))
        *init = (struct phase_length){0};
    return code;
}

/* The end of initialization at the finest level that the next coarser one confirms. What changes slowly, or by chance,
 * gives another answer at each level. Given vectors are taken as they are. */
static int find_init(const struct fine_signal *f, struct phase_length *to)
{
    struct levels levels;
    double *graph = calloc(f->count + 1, sizeof *graph), before = 0;
    int code = levels_make(&levels, f->sample, f->count, (double)f->interval, false);
    bool confirmed = false;
    unsigned confirmed_level = 0;
    code = graph ? code : -ENOMEM;
    for (unsigned k = 0; code == 0 && k < levels.count && !confirmed; k++) {
        const struct level *l = &levels.level[k];
        size_t end = 0;
        code = init_of_level(&l->signal, graph, &end);
        double here = (double)end * l->interval;
        confirmed = f->given || levels.count == 1 || (k > 0 && fabs(here - before) <= 1.5 * l->interval);
        confirmed_level = k;
        if (confirmed)
            *to = (struct phase_length){before > 0 ? before : here, l->interval / (k > 0 ? 2 : 1)};
        before = here;
    }
    if (code == 0 && to->insns > 0)
        code = check_steady(&levels.level[confirmed_level], graph, to);
    if (to->insns == 0)
        to->error = 0;
    levels_free(&levels);
    free(graph);
    return code;
}

int structure_find(const struct fine_signal *f, struct structure *to)
{
    *to = (struct structure){0};
    int code = find_init(f, &to->init);
    return code ? code : find_periods(f, (size_t)(to->init.insns / (double)f->interval + 0.5), to);
}
