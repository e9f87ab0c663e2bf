#include "phases/points.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

/* The unit of period `k` that is its window: a hash, so that it depends on nothing but the seed. */
static uint64_t unit_of_period(const struct points *p, uint64_t k)
{
    struct random r;
    random_seed(&r, p->seed * UINT64_C(0x9e3779b97f4a7c15) + k);
    return random_u64(&r) % (p->period / p->insns);
}

bool points_window(const struct points *p, size_t i, struct window *w)
{
    if (p->period == 0) {
        if (i < p->count)
            *w = p->point[i].window;
        return i < p->count;
    }
    if (p->head && i == 0) {
        *w = (struct window){0, p->head};
        return true;
    }
    uint64_t k = i - (p->head > 0);
    *w = (struct window){p->head + k * p->period + unit_of_period(p, k) * p->insns, p->insns};
    return true;
}

bool points_twice(const struct points *p, size_t i)
{
    if (p->period == 0)
        return p->point[i].twice;
    if (p->head && i == 0)
        return false;
    uint64_t k = i - (p->head > 0);
    if (p->second_every)
        return k % p->second_every == p->second_every / 2;
    uint64_t j = (uint64_t)ceil(sqrt(2.0 * (double)k)); /* windows 0, 2, 4, 8, 12, 18 ... */
    return j * j / 2 == k;
}

void points_free(struct points *p)
{
    free(p->point);
    free(p->phase);
    *p = (struct points){0};
}

/* ---- order */

static int by_start(const void *a, const void *b)
{
    uint64_t x = ((const struct point *)a)->window.start, y = ((const struct point *)b)->window.start;
    return (x > y) - (x < y);
}

int points_finish(struct points *p, struct error *err)
{
    double sum = 0;
    if (p->count == 0)
        return error_set(err, -EINVAL, "the list has no points");
    qsort(p->point, p->count, sizeof *p->point, by_start);
    for (size_t i = 1; i < p->count; i++)
        if (p->point[i].window.start < p->point[i - 1].window.start + p->point[i - 1].window.insns)
            return error_set(err, -EINVAL, "the point at instruction %" PRIu64 " overlaps the one before",
                             p->point[i].window.start);
    for (unsigned i = 0; i < p->phases; i++)
        sum += p->phase[i].weight;
    if (!(sum > 0.5 && sum < 1.5))
        return error_set(err, -EINVAL, "the weights of all points sum to %g instead of 1", sum);
    for (unsigned i = 0; i < p->phases; i++)
        p->phase[i].weight /= sum;
    return 0;
}

/* ---- files */

/* The index of the phase with this number in the file; adds a phase if there is none. -1: out of memory. */
static int phase_of(struct points *p, unsigned id)
{
    for (unsigned i = 0; i < p->phases; i++)
        if (p->phase[i].id == id)
            return (int)i;
    struct point_phase *more = realloc(p->phase, (p->phases + 1) * sizeof *more);
    if (more == NULL)
        return -1;
    p->phase = more;
    p->phase[p->phases] = (struct point_phase){.id = id};
    return (int)p->phases++;
}

static int add_point(struct points *p, uint64_t interval, uint64_t insns, unsigned id)
{
    int phase = phase_of(p, id);
    struct point *more = realloc(p->point, (p->count + 1) * sizeof *more);
    if (more)
        p->point = more;
    if (more == NULL || phase < 0)
        return -ENOMEM;
    p->point[p->count++] = (struct point){.window = {interval * insns, insns}, .phase = (unsigned)phase};
    return 0;
}

static FILE *open_list(const char *path, struct error *err)
{
    FILE *from = fopen(path, "re");
    if (from == NULL)
        error_set(err, -errno, "%s: %s", path, strerror(errno));
    return from;
}

/* Whether the rest of a line is white space. */
static bool is_blank(const char *at)
{
    return at[strspn(at, " \t\r\n")] == '\0';
}

static int read_simpoints(struct points *p, const char *path, uint64_t insns, struct error *err)
{
    char line[256], *at;
    FILE *from = open_list(path, err);
    int code = from ? 0 : -ENOENT;
    for (unsigned number = 1; code == 0 && fgets(line, sizeof line, from); number++) {
        if (is_blank(line))
            continue;
        errno = 0;
        uint64_t interval = strtoull(line, &at, 10);
        const char *second = at;
        unsigned long id = strtoul(at, &at, 10);
        if (at == second || !is_blank(at) || errno || id > UINT32_MAX || strchr(line, '-') ||
            interval > INT64_MAX / insns - 1)
            code = error_set(err, -EINVAL, "%s, line %u: not a point as SimPoint writes them (`interval cluster`)",
                             path, number);
        else if (add_point(p, interval, insns, (unsigned)id) != 0)
            code = error_set(err, -ENOMEM, "out of memory for points");
    }
    if (from)
        fclose(from);
    return code;
}

static int read_weights(struct points *p, const char *path, struct error *err)
{
    char line[256], *at;
    FILE *from = open_list(path, err);
    int code = from ? 0 : -ENOENT;
    for (unsigned number = 1; code == 0 && fgets(line, sizeof line, from); number++) {
        if (is_blank(line))
            continue;
        double weight = strtod(line, &at);
        const char *second = at;
        unsigned long id = strtoul(at, &at, 10);
        unsigned known = p->phases;
        int phase = at == second || !is_blank(at) || !(weight >= 0 && weight <= 1) ? -1 : phase_of(p, (unsigned)id);
        if (phase < 0)
            code = error_set(err, -EINVAL, "%s, line %u: not a weight as SimPoint writes them (`weight cluster`)", path,
                             number);
        else if (p->phases > known)
            code = error_set(err, -EINVAL, "%s, line %u: there is no point of cluster %lu", path, number, id);
        else
            p->phase[phase].weight += weight;
    }
    if (from)
        fclose(from);
    return code;
}

int points_read(struct points *p, const char *simpoints, const char *weights, uint64_t interval, struct error *err)
{
    int code = read_simpoints(p, simpoints, interval, err);
    p->insns = interval;
    if (code == 0 && weights)
        code = read_weights(p, weights, err);
    for (size_t i = 0; code == 0 && weights == NULL && i < p->count; i++)
        p->phase[p->point[i].phase].weight += 1 / (double)p->count;
    return code == 0 ? points_finish(p, err) : code;
}
