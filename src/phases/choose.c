#include "phases/choose.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "phases/cluster.h"
#include "phases/project.h"

enum { POINTS_PER_TWICE = 4 };                    /* fewest points for one that is measured a second time */
enum { OUTLIER_SHARE = 3, OUTLIER_DISTANCE = 3 }; /* outliers: most, as a part of the points; see find_distant */
enum { LEADS_ALONE = 8, LEADS_PER_STRETCH = 20 }; /* in leads: longest run of one stretch; stretch of a long run */
/* The last stretch begins late, when the run has come to it, and the first one may have a head start: together about
 * this share of the time that a stretch takes. The last one is shorter by as much. */
static const double LATE = 0.5;
enum { HEAD_SHARE = 20 };                /* the head is at most 1 / HEAD_SHARE of the run */
#define HEAD_MOST      UINT64_C(2000000) /* most instructions of a head */
#define INTERVAL_USUAL UINT64_C(500000)  /* instructions of an interval, about */
enum { UNITS_PER_INTERVAL = 25 };        /* most units of an interval, so that short runs have intervals, too */

uint64_t choose_interval(uint64_t unit)
{
    uint64_t units = INTERVAL_USUAL / unit;
    return (units < 1 ? 1 : units > UNITS_PER_INTERVAL ? UNITS_PER_INTERVAL : units) * unit;
}

uint64_t choose_head(uint64_t run_insns)
{
    return run_insns / HEAD_SHARE < HEAD_MOST ? run_insns / HEAD_SHARE : HEAD_MOST;
}

void choose_stretches(uint64_t run_insns, struct points *p)
{
    uint64_t alone = LEADS_ALONE * p->lead, pairs = run_insns / (2 * LEADS_PER_STRETCH * p->lead);
    p->stretch = p->first_stretch = alone;
    p->one_stretch = run_insns > 0 && run_insns <= alone;
    if (run_insns <= alone)
        return;
    pairs = pairs ? pairs : 1;
    p->stretch = (uint64_t)((double)(run_insns - p->lead) / (2 * (double)pairs - LATE)) + 1;
    p->first_stretch = p->stretch + p->lead;
}

/* ---- number of points of each phase */

struct allotment {
    size_t *members; /* by phase: its units */
    size_t *points;  /* by phase: how many of them become points */
};

/* Distributes `points` points: `least` to each phase, then one by one to the phase with the largest
 * weight / (points + 1), until all are given or no units are left. So rare phases have enough points to show how much
 * they vary. */
static void allot(const struct points *p, struct allotment *a, size_t points, unsigned least)
{
    size_t given = 0;
    for (unsigned h = 0; h < p->phases; h++)
        given += a->points[h] = a->members[h] < least ? a->members[h] : least;
    while (given < points) {
        unsigned best = p->phases;
        double most = 0;
        for (unsigned h = 0; h < p->phases; h++) {
            double want = p->phase[h].weight / (double)(a->points[h] + 1);
            if (a->points[h] < a->members[h] && want > most) {
                most = want;
                best = h;
            }
        }
        if (best == p->phases)
            break;
        a->points[best]++;
        given++;
    }
}

/* ---- choice of units */

/* Lists the phases of all units of the run behind the head: those of their intervals. Units behind the last interval,
 * where the program ends, have a phase of their own, number clusters->count. */
static int list_units(const struct bbv_set *s, const struct clusters *c, const struct points *p,
                      struct unit_phases *units)
{
    size_t per_interval = s->interval / p->insns, head = p->head / p->insns;
    units->count = (s->insns - p->head) / p->insns;
    units->phase = malloc(units->count + 1);
    for (size_t u = 0; units->phase && u < units->count; u++) {
        size_t interval = (head + u) / per_interval;
        units->phase[u] = (uint8_t)(interval < s->count ? c->of[interval] : c->count);
    }
    return units->phase ? 0 : -ENOMEM;
}

/* Divides the units of a phase, in the order of the run, into as many equal parts as it has points, and draws one unit
 * from each part. */
static void draw(const struct unit_phases *units, const struct allotment *a, unsigned phase, struct random *random,
                 struct points *p)
{
    size_t seen = 0, taken = 0, members = a->members[phase], points = a->points[phase];
    size_t to = points ? members / points : 0, chosen = to ? random_u64(random) % to : 0;
    for (size_t u = 0; u < units->count && taken < points; u++) {
        if (units->phase[u] != phase || seen++ != chosen)
            continue;
        struct window window = {p->head + u * p->insns, p->insns};
        p->point[p->count++] = (struct point){.window = window, .phase = phase};
        size_t from = to;
        to = (++taken + 1) * members / points;
        chosen = taken < points ? from + random_u64(random) % (to - from) : 0;
    }
}

/* Sets the phases: those of the units, and the head as the last one. */
static void fill_phases(const struct unit_phases *units, struct allotment *a, struct points *p)
{
    double head = (double)p->head / (double)p->covered;
    for (size_t u = 0; u < units->count; u++)
        a->members[units->phase[u]]++;
    for (unsigned h = 0; h < p->phases; h++)
        p->phase[h] = (struct point_phase){
            .id = h, .weight = (1 - head) * (double)a->members[h] / (double)units->count, .intervals = a->members[h]};
    p->phase[p->phases] = (struct point_phase){.id = p->phases, .weight = head, .intervals = 1};
}

/* Marks points of a sample, spread over the run, that are measured a second time. */
static void mark_twice(struct points *p)
{
    size_t first = p->head > 0, count = p->count - first, every = count / CHOOSE_TWICE;
    every = every < POINTS_PER_TWICE ? POINTS_PER_TWICE : every;
    for (size_t i = first + every / 2; i < p->count; i += every)
        p->point[i].twice = true;
}

/* Sets phases and points of `p`, whose other values are set. `phases` without the head. */
static int fill(const struct unit_phases *units, unsigned phases, const struct choose_options *o, struct points *p)
{
    struct allotment a = {.members = calloc(phases, sizeof *a.members), .points = calloc(phases, sizeof *a.points)};
    struct random random;
    size_t all = p->head > 0;
    p->phase = calloc(phases + 1, sizeof *p->phase);
    p->phases = phases;
    bool whole = a.members && a.points && p->phase;
    if (whole) {
        fill_phases(units, &a, p);
        allot(p, &a, o->points, o->per_phase);
    }
    for (unsigned h = 0; whole && h < phases; h++)
        all += a.points[h];
    p->point = whole ? calloc(all + 1, sizeof *p->point) : NULL;
    if (p->point && p->head)
        p->point[p->count++] = (struct point){.window = {0, p->head}, .phase = phases};
    random_seed(&random, o->seed);
    for (unsigned h = 0; p->point && h < phases; h++)
        draw(units, &a, h, &random, p);
    p->phases += p->head > 0;
    free(a.members);
    free(a.points);
    return p->point ? 0 : -ENOMEM;
}

/* ---- outliers */

/* An interval and its distance from the mean of its cluster. */
struct distant {
    size_t interval;
    double distance;
};

static int by_distance(const void *a, const void *b)
{
    double x = ((const struct distant *)a)->distance, y = ((const struct distant *)b)->distance;
    return (x < y) - (x > y);
}

static double distance_to(const projected x, const double mean[PROJECTED])
{
    double sum = 0;
    for (unsigned d = 0; d < PROJECTED; d++)
        sum += (x[d] - mean[d]) * (x[d] - mean[d]);
    return sqrt(sum);
}

/* Fills `to` with the intervals of a cluster that are OUTLIER_DISTANCE times as far from its mean as most are (root
 * mean square). Returns their number. */
static size_t find_distant(const struct clusters *c, const projected *vector, size_t first, size_t count,
                           unsigned cluster, struct distant *to)
{
    double mean[PROJECTED] = {0}, squares = 0;
    size_t members = 0, found = 0;
    for (size_t i = first; i < count; i++) {
        members += c->of[i] == cluster;
        for (unsigned d = 0; c->of[i] == cluster && d < PROJECTED; d++)
            mean[d] += vector[i][d];
    }
    for (unsigned d = 0; members && d < PROJECTED; d++)
        mean[d] /= (double)members;
    for (size_t i = first; i < count; i++)
        if (c->of[i] == cluster)
            squares += pow(distance_to(vector[i], mean), 2);
    double usual = members ? sqrt(squares / (double)members) : 0;
    for (size_t i = first; i < count; i++) {
        double distance = c->of[i] == cluster ? distance_to(vector[i], mean) : 0;
        if (distance > OUTLIER_DISTANCE * usual)
            to[found++] = (struct distant){i, distance};
    }
    return found;
}

/* Intervals that are unlike their cluster form a cluster of their own: at most `most` of them, the most distant ones.
 * A few such intervals can matter, and a sample of their cluster would hardly contain one. */
static int separate_outliers(struct clusters *c, const projected *vector, size_t first, size_t count, size_t most)
{
    struct distant *list = malloc((count + 1) * sizeof *list);
    size_t found = 0;
    if (list == NULL)
        return -ENOMEM;
    for (unsigned h = 0; h < c->count; h++)
        found += find_distant(c, vector, first, count, h, list + found);
    qsort(list, found, sizeof *list, by_distance);
    for (size_t i = 0; i < found && i < most; i++)
        c->of[list[i].interval] = c->count;
    c->count += found && most;
    free(list);
    return 0;
}

int points_choose(const struct bbv_set *s, const struct choose_options *o, struct points *p, struct unit_phases *units,
                  struct error *err)
{
    struct clusters c = {0};
    size_t per_interval = s->interval / o->unit;
    unsigned phases = (unsigned)(o->points / o->per_phase);
    phases = phases < 1 ? 1 : phases > PHASES_MOST ? PHASES_MOST : phases;
    if (s->insns < s->interval)
        return error_set(err, -ENODATA, "the run is shorter than a point of %llu instructions, or an interval of %llu",
                         (unsigned long long)o->unit, (unsigned long long)s->interval);
    projected *vector = bbv_project(s);
    if (vector == NULL)
        return error_set(err, -ENOMEM, "out of memory for basic block vectors");
    struct cluster_options clustered = {.max_clusters = phases, .seed = o->seed};
    int code = clusters_find(s, (const projected *)vector, &clustered, &c, err);
    p->insns = o->unit;
    p->head = choose_head(s->insns) / o->unit * o->unit;
    p->covered = s->insns;
    size_t first = (p->head + s->interval - 1) / s->interval;
    size_t complete = s->count - (s->count && s->vector[s->count - 1].insns < s->interval);
    if (code == 0 && separate_outliers(&c, (const projected *)vector, first, complete,
                                       o->points / OUTLIER_SHARE / per_interval) != 0)
        code = error_set(err, -ENOMEM, "out of memory for points");
    free(vector);
    if (code == 0 && (list_units(s, &c, p, units) != 0 || fill(units, c.count + 1, o, p) != 0))
        code = error_set(err, -ENOMEM, "out of memory for points");
    clusters_free(&c);
    if (code == 0)
        code = points_finish(p, err);
    if (code == 0)
        mark_twice(p);
    return code;
}
