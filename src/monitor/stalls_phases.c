#include "monitor/stalls_phases.h"

#include <math.h>
#include <stdlib.h>

enum {
    POINTS_MOST = 512,
    DIMENSIONS = STALL_SOURCES + 2,
    SHARE_LEAST = 50
}; /* a phase has at least one in SHARE_LEAST instructions */

/* Sums over all points before one: of weights w, of w x and of w x·x, x being a point's vector. */
struct prefix {
    double weight, square;
    double sum[DIMENSIONS];
};

struct cut {
    double cost;   /* of the best way to cut what lies before a point into so many pieces */
    uint16_t from; /* where the last of these begins */
};

struct problem {
    const struct stall_series *series;
    size_t count, joined;              /* points, and intervals in each but the last */
    struct prefix *before;             /* count + 1 */
    struct pair *pairs;                /* count: for noise_of */
    struct cut *best[PHASES_MOST + 1]; /* by pieces, count + 1 each */
};

/* ---- points */

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

struct pair { /* of neighbours */
    double square, weight;
};

static int larger_first(const void *a, const void *b)
{
    double x = ((const struct pair *)a)->square, y = ((const struct pair *)b)->square;
    return x > y ? -1 : x < y;
}

/* Half the mean square of a step. The largest may be borders, of which there are few. */
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
        double both = weight + before > 0 ? weight * before / (weight + before) : 0; /* of the first, 0 */
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

/* ---- cutting */

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

static void cut_into(struct problem *p, size_t pieces)
{
    for (size_t to = pieces; to <= p->count; to++) {
        struct cut best = {INFINITY, 0};
        for (size_t from = pieces - 1; from < to; from++) {
            double cost = (pieces > 1 ? p->best[pieces - 1][from].cost : 0) + cost_of(p, from, to);
            if (cost < best.cost)
                best = (struct cut){cost, (uint16_t)from};
            if (pieces == 1)
                break; /* it begins at the beginning */
        }
        p->best[pieces][to] = best;
    }
}

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

/* ---- from outside */

static int begin(struct problem *p)
{
    int code = (p->before = calloc(p->count + 1, sizeof *p->before)) == NULL;
    code |= (p->pairs = calloc(p->count, sizeof *p->pairs)) == NULL;
    for (size_t k = 1; k <= PHASES_MOST; k++)
        code |= (p->best[k] = calloc(p->count + 1, sizeof *p->best[k])) == NULL;
    return code;
}

static void end(struct problem *p)
{
    free(p->before);
    free(p->pairs);
    for (size_t k = 1; k <= PHASES_MOST; k++)
        free(p->best[k]);
}

static void put_phase(const struct stall_series *s, size_t first, size_t end_, struct stall_phase *to)
{
    *to = (struct stall_phase){.first = first, .count = end_ - first};
    to->sum.first_insn = s->of[first].first_insn;
    to->sum.first_cycle = s->of[first].first_cycle;
    for (size_t i = first; i < end_; i++)
        stall_interval_add(&to->sum, &s->of[i]);
}

size_t stall_phases_find(const struct stall_series *s, struct stall_phase to[PHASES_MOST])
{
    size_t joined = (s->count + POINTS_MOST - 1) / POINTS_MOST, pieces = 1, last = s->count;
    if (s->count == 0)
        return 0;
    struct problem p = {.series = s, .joined = joined, .count = (s->count + joined - 1) / joined};
    put_phase(s, 0, s->count, &to[0]);
    if (to[0].sum.insns && begin(&p) == 0) {
        add_up(&p);
        pieces = best_pieces(&p, noise_of(&p));
        size_t point = p.count;
        for (size_t k = pieces; k >= 1; k--) {
            point = p.best[k][point].from;
            put_phase(s, point * joined, last, &to[k - 1]);
            last = point * joined;
        }
    }
    end(&p);
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
