#include "phases/strata.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "phases/k_means.h"

enum {
    WIDTH = (WARM_COUNTS - 1 + 3) / 4 * 4, /* of a vector: all counts but WARM_INSNS */
    ROUNDS = 10,                           /* of k-means */
    SAMPLES = 8192,                        /* units that centers are moved to the means of */
};

/* ---- vectors of units */

/* The units of a phase. */
struct members {
    size_t count;
    size_t *unit;
    float *vector; /* WIDTH numbers each */
};

static void make_vector(const uint64_t count[WARM_COUNTS], float to[WIDTH])
{
    for (unsigned k = 1; k < WARM_COUNTS; k++)
        to[k - 1] = sqrtf((float)count[k]);
}

/* Lists the units of a phase. False: out of memory. */
static bool list_members(const struct sampled_run *s, unsigned phase, struct members *to)
{
    *to = (struct members){0};
    for (size_t u = 0; u < s->units.count; u++)
        to->count += s->units.phase[u] == phase;
    to->unit = malloc((to->count + 1) * sizeof *to->unit);
    to->vector = calloc((to->count + 1) * WIDTH, sizeof *to->vector);
    if (to->unit == NULL || to->vector == NULL)
        return false;
    to->count = 0;
    for (size_t u = 0; u < s->units.count; u++) {
        const uint64_t *count = s->units.phase[u] == phase ? pass_unit(&s->result, u) : NULL;
        if (s->units.phase[u] != phase)
            continue;
        if (count)
            make_vector(count, to->vector + to->count * WIDTH);
        to->unit[to->count++] = u;
    }
    return true;
}

static void free_members(struct members *m)
{
    free(m->unit);
    free(m->vector);
}

/* ---- the strata of a phase */

/* Phases in the making; members as in struct sampled_run. */
struct strata {
    struct unit_phases units;
    struct point_phase *phase;
    unsigned phases;
    double *spread;
    float *mean;
};

/* Moves the centers to the means of their vectors: of every n-th one if there are many. Centers of rare vectors, which
 * are not among these, stay where they are. */
static bool move_centers(const struct vectors *v, struct division *to, double *sums)
{
    size_t every = (v->count + SAMPLES - 1) / SAMPLES;
    struct vectors some = {.width = WIDTH, .count = v->count / every};
    float *at = malloc(some.count * WIDTH * sizeof *at);
    for (size_t i = 0; at && i < some.count; i++)
        memcpy(at + i * WIDTH, vector_at(v, i * every), WIDTH * sizeof *at);
    some.at = at;
    if (at)
        k_means_run(&some, to, ROUNDS, sums);
    free(at);
    return at != NULL;
}

/* Divides the members into at most `most` clusters; centers are their means. False: out of memory; division_free is due
 * in any case. */
static bool divide(const struct members *m, unsigned most, struct random *random, struct division *to)
{
    const struct vectors v = {m->vector, WIDTH, m->count};
    bool made = division_make(to, most, WIDTH, m->count);
    double *nearest = malloc(m->count * sizeof *nearest), *sums = calloc(most, (WIDTH + 1) * sizeof *sums);
    made = made && nearest && sums;
    if (made && most > 1) {
        k_means_begin(&v, to, nearest, random);
        made = move_centers(&v, to, sums);
    }
    if (made) {
        k_means_assign(&v, to);
        k_means_recenter(&v, to, sums);
    }
    free(nearest);
    free(sums);
    return made;
}

/* Makes a phase of cluster k, which is a part of phase `from`; none if it has no units. */
static void add_phase(struct strata *to, const struct members *m, const struct division *d, uint32_t k,
                      const struct point_phase *from)
{
    const float *center = d->center + (size_t)k * WIDTH;
    size_t units = 0;
    double squares = 0;
    for (size_t i = 0; i < m->count; i++)
        if (d->of[i] == k) {
            to->units.phase[m->unit[i]] = (uint8_t)to->phases;
            squares += squared_distance(m->vector + i * WIDTH, center, WIDTH);
            units++;
        }
    if (units == 0)
        return;
    to->spread[to->phases] = sqrt(squares / (double)units);
    memcpy(to->mean + (size_t)to->phases * WIDTH, center, WIDTH * sizeof *center);
    to->phase[to->phases] = (struct point_phase){from->id, from->weight * (double)units / (double)m->count, units};
    to->phases++;
}

/* Divides a phase of the run into at most `most` strata. A phase without units, such as the head, stays as it is. */
static bool divide_phase(const struct sampled_run *s, unsigned phase, unsigned most, struct strata *to)
{
    struct members m;
    struct division d = {0};
    struct random random;
    random_seed(&random, s->points.seed + phase + 1);
    bool made = list_members(s, phase, &m);
    if (made && m.count == 0) {
        to->phase[to->phases++] = s->points.phase[phase];
    } else if (made) {
        made = divide(&m, most < m.count ? most : (unsigned)m.count, &random, &d);
        for (uint32_t k = 0; made && k < d.k; k++)
            add_phase(to, &m, &d, k, &s->points.phase[phase]);
    }
    division_free(&d);
    free_members(&m);
    return made;
}

/* ---- the strata of a run */

static bool make_room(const struct sampled_run *s, unsigned phases, struct strata *to)
{
    *to = (struct strata){.units = {malloc(s->units.count + 1), s->units.count},
                          .phase = calloc(phases, sizeof *to->phase),
                          .spread = calloc(phases, sizeof *to->spread),
                          .mean = calloc(phases, WIDTH * sizeof *to->mean)};
    if (to->units.phase == NULL || to->phase == NULL || to->spread == NULL || to->mean == NULL)
        return false;
    memset(to->units.phase, UNIT_ALONE, s->units.count);
    return true;
}

static void free_strata(struct strata *t)
{
    free(t->units.phase);
    free(t->phase);
    free(t->spread);
    free(t->mean);
}

/* The phase of a window; UNIT_ALONE: none. */
static unsigned phase_of_window(const struct sampled_run *s, const struct strata *t, const struct window *w)
{
    if (w->start < s->points.head)
        return t->phases - 1;
    size_t unit = unit_of_window(s, w);
    return unit < t->units.count ? t->units.phase[unit] : UNIT_ALONE;
}

/* The strata become the phases of the run. */
static void adopt(struct sampled_run *s, struct strata *t)
{
    for (size_t i = 0; i < s->result.count; i++) {
        struct measured *m = &s->result.measured[i];
        unsigned phase = phase_of_window(s, t, &m->window);
        m->phase = phase == UNIT_ALONE ? 0 : phase;
    }
    free(s->points.phase);
    free(s->units.phase);
    strata_forget(s);
    s->points.phase = t->phase;
    s->points.phases = t->phases;
    s->units = t->units;
    s->spread = t->spread;
    s->mean = t->mean;
}

int strata_divide(struct sampled_run *s, unsigned most, struct error *err)
{
    const unsigned phases = s->points.phases;
    struct strata whole, parts;
    double sum = 0;
    most = most > phases ? most : phases;
    bool made = make_room(s, phases, &whole);
    for (unsigned h = 0; made && h < phases; h++)
        made = divide_phase(s, h, 1, &whole);
    for (unsigned h = 0; made && h < phases; h++)
        sum += (double)whole.phase[h].intervals * whole.spread[h];
    made = make_room(s, most, &parts) && made;
    for (unsigned h = 0; made && h < phases; h++) {
        double share = sum > 0 ? (double)whole.phase[h].intervals * whole.spread[h] / sum : 0;
        made = divide_phase(s, h, 1 + (unsigned)(share * (most - phases)), &parts);
    }
    free_strata(&whole);
    if (made)
        adopt(s, &parts);
    else
        free_strata(&parts);
    return made ? 0 : error_set(err, -ENOMEM, "out of memory for strata");
}

void strata_forget(struct sampled_run *s)
{
    free(s->spread);
    free(s->mean);
    s->spread = NULL;
    s->mean = NULL;
}

/* ---- joining strata */

static bool is_head(const struct sampled_run *s, unsigned phase)
{
    return s->points.head > 0 && phase + 1 == s->points.phases;
}

/* Of the strata of the same phase for which `enough` is set, the one nearest to stratum h; if there is none, the first
 * stratum of the phase. */
static unsigned nearest_stratum(const struct sampled_run *s, unsigned h, const bool *enough)
{
    const struct point_phase *phase = s->points.phase;
    unsigned best = 0;
    float least = FLT_MAX;
    while (phase[best].id != phase[h].id)
        best++;
    for (unsigned k = 0; k < s->points.phases; k++) {
        float here = squared_distance(s->mean + (size_t)h * WIDTH, s->mean + (size_t)k * WIDTH, WIDTH);
        if (enough[k] && phase[k].id == phase[h].id && here < least) {
            least = here;
            best = k;
        }
    }
    return best;
}

/* Adds up phases that join. `into` says by phase which one it becomes a part of. */
static void join(struct sampled_run *s, const unsigned *into)
{
    struct points *p = &s->points;
    uint8_t number[UNIT_ALONE + 1] = {0};
    unsigned phases = 0;
    for (unsigned h = 0; h < p->phases; h++)
        if (into[h] == h)
            number[h] = (uint8_t)phases++;
    for (unsigned h = 0; h < p->phases; h++)
        if (into[h] != h) {
            p->phase[into[h]].weight += p->phase[h].weight;
            p->phase[into[h]].intervals += p->phase[h].intervals;
        }
    for (unsigned h = 0; h < p->phases; h++)
        if (into[h] == h)
            p->phase[number[h]] = p->phase[h];
    for (size_t u = 0; u < s->units.count; u++)
        if (s->units.phase[u] != UNIT_ALONE)
            s->units.phase[u] = number[into[s->units.phase[u]]];
    for (size_t i = 0; i < s->result.count; i++)
        s->result.measured[i].phase = number[into[s->result.measured[i].phase]];
    p->phases = phases;
}

void strata_join(struct sampled_run *s, size_t least)
{
    size_t windows[UNIT_ALONE + 1] = {0};
    bool enough[UNIT_ALONE + 1] = {false};
    unsigned into[UNIT_ALONE + 1];
    for (size_t i = 0; i < s->result.count; i++)
        windows[s->result.measured[i].phase] += s->result.measured[i].done;
    for (unsigned h = 0; h < s->points.phases; h++)
        enough[h] = !is_head(s, h) && windows[h] >= least;
    for (unsigned h = 0; h < s->points.phases; h++)
        into[h] = enough[h] || is_head(s, h) ? h : nearest_stratum(s, h, enough);
    for (unsigned h = 0; h < s->points.phases; h++) /* the first stratum of a phase, if none has enough */
        into[into[h]] = into[h];
    join(s, into);
    strata_forget(s);
}
