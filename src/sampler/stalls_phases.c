#include "sampler/stalls_phases.h"

#include <math.h>
#include <stdlib.h>

enum {
    POINTS_MOST = 512,              /* intervals of longer series are joined to this many points */
    DIMENSIONS = STALL_SOURCES + 2, /* of a point's vector */
    SHARE_LEAST = 50                /* a phase has at least 1 / SHARE_LEAST of the instructions */
};

/* Sums over all points before a point, w being the weight (instructions) and x the vector of a point. */
struct prefix {
    double weight;          /* Σ w */
    double square;          /* Σ w x·x */
    double sum[DIMENSIONS]; /* Σ w x */
};

/* The best division of the points before a given point into a given number of pieces. */
struct cut {
    double cost;   /* sum of squared distances from the means of the pieces */
    uint16_t from; /* first point of the last piece */
};

struct problem {
    const struct stall_series *series;
    size_t count, joined;              /* number of points; intervals in each point but the last */
    struct prefix *before;             /* by point, count + 1 elements */
    struct pair *pairs;                /* count elements, buffer of noise_of */
    struct cut *best[PHASES_MOST + 1]; /* by number of pieces and by point, count + 1 elements each */
};

/* ---- points */

/* The sum of the intervals of point i. */
static struct stall_interval point_at(const struct problem *p, size_t i)
{
    struct stall_interval sum = {0};
    for (size_t k = i * p->joined; k < (i + 1) * p->joined && k < p->series->count; k++)
        stall_interval_add(&sum, &p->series->of[k]);
    return sum;
}

static void vector_of(const struct stall_interval *i, double x[DIMENSIONS])
{
    double cycles = i->cycles ? (double)i->cycles : 1, insns = i->insns ? (double)i->insns : 1;
    for (unsigned s = 0; s < STALL_SOURCES; s++)
        x[s] = (double)i->stalls[s] / cycles;
    x[STALL_SOURCES] = (double)i->completion / cycles;
    x[STALL_SOURCES + 1] = log(cycles / insns);
}

/* Fills `before`. */
static void add_up(struct problem *p)
{
    double x[DIMENSIONS];
    p->before[0] = (struct prefix){0};
    for (size_t k = 0; k < p->count; k++) {
        struct prefix *to = &p->before[k + 1];
        struct stall_interval i = point_at(p, k);
        double weight = (double)i.insns;
        vector_of(&i, x);
        *to = p->before[k];
        to->weight += weight;
        for (unsigned d = 0; d < DIMENSIONS; d++) {
            to->sum[d] += weight * x[d];
            to->square += weight * x[d] * x[d];
        }
    }
}

/* ---- noise */

/* Two neighboring points with weights a and b. */
struct pair {
    double square; /* weight times the squared distance of the points */
    double weight; /* a b / (a + b) */
};

static int larger_first(const void *a, const void *b)
{
    double x = ((const struct pair *)a)->square, y = ((const struct pair *)b)->square;
    return x > y ? -1 : x < y;
}

/* Half the mean square of a step between neighbors, at least 4e-4 (a step of 2 %, squared). Leaves the few largest
 * steps out, since they may be borders of phases. */
static double noise_of(struct problem *p)
{
    double last[DIMENSIONS] = {0}, x[DIMENSIONS], before = 0, squares = 0, weights = 0;
    size_t borders = (p->count + 3) / 8 < PHASES_MOST ? (p->count + 3) / 8 : PHASES_MOST - 1;
    for (size_t k = 0; k < p->count; k++) {
        struct stall_interval i = point_at(p, k);
        double step = 0, weight = (double)i.insns;
        vector_of(&i, x);
        for (unsigned d = 0; d < DIMENSIONS; d++) {
            step += (x[d] - last[d]) * (x[d] - last[d]);
            last[d] = x[d];
        }
        double both = weight + before > 0 ? weight * before / (weight + before)
                                          : 0; /* 0 for the first point, which has no neighbor before it */
        p->pairs[k] = (struct pair){both * step, both};
        before = weight;
    }
    qsort(p->pairs, p->count, sizeof *p->pairs, larger_first);
    for (size_t k = borders; k < p->count; k++) {
        squares += p->pairs[k].square;
        weights += p->pairs[k].weight;
    }
    return fmax(weights > 0 ? squares / weights / 2 : 0, 4e-4);
}

/* ---- division */

/* Weighted sum of squared distances of the points from..to - 1 from their mean: Σ w x·x - (Σ w x)² / Σ w. Infinite if
 * the piece is too short for a phase. */
static double cost_of(const struct problem *p, size_t from, size_t to)
{
    const struct prefix *a = &p->before[from], *b = &p->before[to];
    double weight = b->weight - a->weight, explained = 0, all = p->before[p->count].weight;
    if (weight * SHARE_LEAST < all)
        return INFINITY;
    for (unsigned d = 0; d < DIMENSIONS; d++)
        explained += (b->sum[d] - a->sum[d]) * (b->sum[d] - a->sum[d]);
    return fmax(0, b->square - a->square - explained / weight);
}

/* Dynamic programming: the best division of each prefix of the points into `pieces`, from those into pieces - 1. */
static void cut_into(struct problem *p, size_t pieces)
{
    for (size_t to = pieces; to <= p->count; to++) {
        struct cut best = {INFINITY, 0};
        for (size_t from = pieces - 1; from < to; from++) {
            double cost = (pieces > 1 ? p->best[pieces - 1][from].cost : 0) + cost_of(p, from, to);
            if (cost < best.cost)
                best = (struct cut){cost, (uint16_t)from};
            if (pieces == 1)
                break; /* a single piece begins at point 0 */
        }
        p->best[pieces][to] = best;
    }
}

/* The number of pieces with the smallest cost plus penalty per piece. */
static size_t best_pieces(struct problem *p, double noise)
{
    size_t most = p->count < PHASES_MOST ? p->count : PHASES_MOST, best = 1;
    double weight = p->before[p->count].weight / (double)p->count, least = INFINITY;
    double penalty = 8 * log((double)p->count) * noise * weight;
    for (size_t pieces = 1; pieces <= most; pieces++) {
        cut_into(p, pieces);
        double cost = p->best[pieces][p->count].cost + (double)pieces * penalty;
        if (cost < least) {
            least = cost;
            best = pieces;
        }
    }
    return best;
}

/* ---- interface */

/* Allocates the tables. 0, or 1 if memory ran out. */
static int problem_allocate(struct problem *p)
{
    int code = (p->before = calloc(p->count + 1, sizeof *p->before)) == NULL;
    code |= (p->pairs = calloc(p->count, sizeof *p->pairs)) == NULL;
    for (size_t k = 1; k <= PHASES_MOST; k++)
        code |= (p->best[k] = calloc(p->count + 1, sizeof *p->best[k])) == NULL;
    return code;
}

static void problem_free(struct problem *p)
{
    free(p->before);
    free(p->pairs);
    for (size_t k = 1; k <= PHASES_MOST; k++)
        free(p->best[k]);
}

static void put_phase(const struct stall_series *s, size_t first, size_t end, struct stall_phase *to)
{
    *to = (struct stall_phase){.first = first, .count = end - first};
    to->sum.first_insn = s->of[first].first_insn;
    to->sum.first_cycle = s->of[first].first_cycle;
    for (size_t i = first; i < end; i++)
        stall_interval_add(&to->sum, &s->of[i]);
}

size_t stall_phases_find(const struct stall_series *s, struct stall_phase to[PHASES_MOST])
{
    size_t joined = (s->count + POINTS_MOST - 1) / POINTS_MOST, pieces = 1, last = s->count;
    if (s->count == 0)
        return 0;
    struct problem p = {.series = s, .joined = joined, .count = (s->count + joined - 1) / joined};
    put_phase(s, 0, s->count, &to[0]);
    if (to[0].sum.insns && problem_allocate(&p) == 0) {
        add_up(&p);
        pieces = best_pieces(&p, noise_of(&p));
        size_t point = p.count;
        for (size_t k = pieces; k >= 1; k--) {
            point = p.best[k][point].from;
            put_phase(s, point * joined, last, &to[k - 1]);
            last = point * joined;
        }
    }
    problem_free(&p);
    return pieces;
}

enum stall_source stall_largest(const struct stall_interval *i)
{
    enum stall_source best = STALL_SOURCES;
    for (unsigned s = 0; s < STALL_SOURCES; s++)
        if (i->stalls[s] && (best == STALL_SOURCES || i->stalls[s] > i->stalls[best]))
            best = (enum stall_source)s;
    return best;
}
