/* Periods of a signal, from the minima of the period difference graph.
 *
 * In the paper the period is the distance between minima. To decide which minima count, each has a depth (its
 * prominence): how far the graph rises before it falls as low again. The minima of at least some depth are the matches
 * of a period if they are regular: one for each period, none missing. All depths are tried, from the deepest minimum
 * on. A longer period is reported beside a shorter one if it matches clearly better. A period that is not a multiple of
 * the interval matches best at some of its multiples, but only by as much as a shift by part of an interval explains.
 *
 * A short period that fills only part of a long one is hidden by the mismatch of the other parts. So the long period is
 * analyzed as a run of its own: a piece of it, a quarter, is compared with all shifts within the period, summed over
 * all repetitions of the long period. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "phases/run_signal.h"

enum { MOST_CANDIDATES = 64 };

static const double NEGLIGIBLE =
    0.01; /* samples that differ by less than this count as equal; vectors have a length of 1 */

struct minimum {
    size_t at;    /* shift */
    double depth; /* how far the graph rises on both sides before it falls as low again */
    bool taken;   /* one of the minima under consideration */
};

struct candidate {
    size_t period;
    double left; /* mismatch at the matches, from 0 (equal) to 1 (unrelated), less what part of an interval explains */
};

/* A graph of mismatch by shift, and its minima. */
struct matches {
    const double *graph;
    size_t shifts;
    double average;          /* mean of the graph without its start: mismatch of unrelated stretches */
    struct minimum *minimum; /* in the order of the graph */
    size_t count;
    size_t *deepest; /* indices of `minimum`, the deepest first */
};

/* ---- minima and their depths */

/* pass[k]: the highest value between shift k and the nearest shift with a value as low as graph[k], towards the start
 * or the end. Where no value is as low, up to the end of the graph. */
static void find_passes(const double *graph, size_t count, bool to_end, double *pass, size_t *stack)
{
    size_t used = 0;
    for (size_t n = 0; n < count; n++) {
        size_t k = to_end ? count - 1 - n : n;
        double high = graph[k];
        while (used > 0 && graph[stack[used - 1]] > graph[k])
            high = fmax(high, pass[stack[--used]]);
        pass[k] = high;
        stack[used++] = k;
    }
}

/* Finds the minima and their depths. A flat minimum is represented by its middle. */
static void find_minima(struct matches *m, const double *left, const double *right)
{
    const double *graph = m->graph;
    for (size_t k = 1; k + 1 < m->shifts; k++) {
        size_t last = k;
        while (last + 1 < m->shifts && graph[last + 1] == graph[k])
            last++;
        size_t middle = k + (last - k) / 2;
        if (graph[k] < graph[k - 1] && last + 1 < m->shifts && graph[last + 1] > graph[k])
            m->minimum[m->count++] = (struct minimum){middle, fmin(left[k], right[last]) - graph[k], false};
        k = last;
    }
}

static int by_depth(const void *a, const void *b, void *context)
{
    const struct minimum *minimum = context;
    double x = minimum[*(const size_t *)a].depth, y = minimum[*(const size_t *)b].depth;
    return x > y ? -1 : x < y;
}

static int find_matches(struct matches *m, const double *graph, size_t shifts)
{
    *m = (struct matches){.graph = graph, .shifts = shifts};
    double *left = calloc(shifts + 1, sizeof *left), *right = calloc(shifts + 1, sizeof *right);
    size_t *stack = calloc(shifts + 1, sizeof *stack);
    m->minimum = calloc(shifts + 1, sizeof *m->minimum);
    m->deepest = calloc(shifts + 1, sizeof *m->deepest);
    bool made = left && right && stack && m->minimum && m->deepest;
    if (made) {
        for (size_t k = 1; k < shifts; k++)
            m->average += graph[k] / (double)(shifts - 1);
        find_passes(graph, shifts, false, left, stack);
        find_passes(graph, shifts, true, right, stack);
        find_minima(m, left, right);
        for (size_t k = 0; k < m->count; k++)
            m->deepest[k] = k;
        qsort_r(m->deepest, m->count, sizeof *m->deepest, by_depth, m->minimum);
    }
    free(left);
    free(right);
    free(stack);
    return made ? 0 : -ENOMEM;
}

static void matches_free(struct matches *m)
{
    free(m->minimum);
    free(m->deepest);
}

/* ---- regular minima */

/* Mismatch at a minimum, relative to unrelated stretches, less what a shift by part of an interval explains. If the
 * true match lies between two shifts, the graph is a V there, as steep as at its start, so the difference of its two
 * sides shows how far off the shift is: at most half an interval. */
static double unexplained(const struct matches *m, size_t at)
{
    double step = m->graph[1], skew = fabs(m->graph[at - 1] - m->graph[at + 1]) / 2;
    return fmax(m->graph[at] - fmin(skew, step / 2), 0) / m->average;
}

/* Whether the taken minima are regular: one for each period, and less than two periods without a match at the end of
 * the graph. The period is that of the best match. */
static bool regular(const struct matches *m, size_t taken, size_t *period)
{
    size_t last = m->count;
    while (last > 0 && !m->minimum[last - 1].taken)
        last--;
    double mean = (double)m->minimum[last - 1].at / (double)taken, slack = fmax(1, mean / 4), lowest = INFINITY;
    size_t before = 0, passed = 0;
    *period = 0;
    for (size_t k = 0; k < last; k++) {
        size_t at = m->minimum[k].at;
        if (!m->minimum[k].taken)
            continue;
        if (fabs((double)(at - before) - mean) > slack)
            return false;
        before = at;
        passed++;
        if (m->graph[at] < lowest) {
            lowest = m->graph[at];
            *period = (size_t)lround((double)at / (double)passed);
        }
    }
    return (double)(m->shifts - before) < 2 * mean;
}

/* The mean mismatch of the first two matches. */
static double first_two(const struct matches *m)
{
    double sum = 0;
    unsigned found = 0;
    for (size_t k = 0; k < m->count && found < 2; k++)
        if (m->minimum[k].taken) {
            sum += unexplained(m, m->minimum[k].at);
            found++;
        }
    return sum / 2;
}

/* Largest mismatch of a period: at most 0.5, and less than the best match of noise. Two pieces of noise with two states
 * match in half of the samples, with a relative standard deviation of 1 / sqrt(samples); the best of `shifts` shifts is
 * sqrt(2 ln shifts) standard deviations better than the average. */
static double most_left(size_t piece, size_t shifts)
{
    return fmin(0.5, 1 - sqrt(2 * log((double)shifts) / (2 * (double)piece)));
}

/* Finds candidates, from the longest period to the shortest: takes minima from the deepest on, and notes a period
 * whenever those taken so far are regular. */
static unsigned find_candidates(struct matches *m, double floor, double limit, struct candidate *to)
{
    unsigned found = 0;
    for (size_t k = 0; k < m->count && found < MOST_CANDIDATES; k++) {
        struct minimum *deep = &m->minimum[m->deepest[k]];
        if (deep->depth < floor)
            break;
        deep->taken = true;
        size_t period;
        if (k == 0 || (k + 1 < m->count && m->minimum[m->deepest[k + 1]].depth >= deep->depth * 0.999))
            continue; /* a period needs two matches, and minima of equal depth are taken together */
        if (!regular(m, k + 1, &period) || period < 2)
            continue;
        double left = first_two(m);
        if (left <= limit)
            to[found++] = (struct candidate){period, left};
    }
    return found;
}

/* Chooses periods from the candidates, from the shortest on: a longer period must have less than half of the mismatch
 * of the one before. Stops when the mismatch is negligible. */
static unsigned choose(const struct candidate *candidate, unsigned count, size_t *periods)
{
    const double nothing = 0.02;
    unsigned found = 0;
    double left = 1;
    for (unsigned k = count; k-- > 0 && left > nothing;) {
        if (found && (candidate[k].left > left / 2 || candidate[k].period <= periods[found - 1]))
            continue;
        periods[found++] = candidate[k].period;
        left = candidate[k].left;
    }
    return found;
}

/* ---- short periods within a long one */

/* graph[k]: distance of the piece at `offset` in each long period from the piece k later, summed over all periods. */
static void slide_within(const struct run_signal *s, size_t period, size_t offset, size_t piece, double *graph)
{
    memset(graph, 0, period * sizeof *graph);
    for (size_t start = offset; start + period + piece <= s->count; start += period)
        for (size_t k = 0; k < period; k++)
            graph[k] += run_signal_distance(s, start, start + k, piece);
}

/* The short period if the first two matches of the piece are at a shift and at twice that shift, else 0. */
static size_t repeats_within(struct matches *m, double floor)
{
    size_t first = 0;
    for (size_t k = 0; k < m->count; k++) {
        size_t at = m->minimum[k].at;
        if (m->minimum[k].depth < floor || unexplained(m, at) > 0.5)
            continue;
        if (first) {
            if (at > 2 * first + 1 || at + 1 < 2 * first)
                return 0;
            return m->graph[at] < m->graph[first] ? (at + 1) / 2 : first;
        }
        first = at;
    }
    return 0;
}

/* Looks for a short period with pieces at several offsets, one after the other. */
static int period_by_piece(const struct run_signal *s, size_t period, size_t piece, double grain, double *graph,
                           size_t *found)
{
    int code = 0;
    for (size_t offset = 0; code == 0 && offset + piece <= period && *found == 0; offset += piece) {
        struct matches m;
        size_t repeats = s->count > offset + piece ? (s->count - offset - piece) / period : 0;
        double floor = grain * (double)(piece * repeats);
        slide_within(s, period, offset, piece, graph);
        code = find_matches(&m, graph, period);
        if (code == 0 && repeats && m.average > floor)
            *found = repeats_within(&m, floor);
        matches_free(&m);
    }
    return code;
}

/* Looks for a short period within a long one: with pieces of a quarter of the long period, then of an eighth, in case a
 * quarter is too long for the part with the short period. */
static int period_within(const struct run_signal *s, size_t period, double grain, size_t *found)
{
    *found = 0;
    double *graph = calloc(period, sizeof *graph);
    int code = graph ? 0 : -ENOMEM;
    for (size_t part = 4; code == 0 && part <= 8 && period / part >= 2 && *found == 0; part *= 2)
        code = period_by_piece(s, period, period / part, grain, graph, found);
    free(graph);
    return code;
}

/* Replaces all periods but the longest, which is the most exact, by those found within it. If none is found, the second
 * longest of the same graph is used. */
static int shorter_ones(const struct run_signal *s, size_t *periods, int found, unsigned room, double grain)
{
    size_t within, known = found > 1 ? periods[found - 2] : 0;
    unsigned count = 1;
    periods[0] = periods[found - 1];
    while (count < room) {
        int code = period_within(s, periods[0], grain, &within);
        if (code)
            return code;
        if (within == 0 && count == 1)
            within = known;
        if (within == 0)
            break;
        memmove(periods + 1, periods, count++ * sizeof *periods);
        periods[0] = within;
    }
    return (int)count;
}

/* Periods of a graph of mismatch by shift, ascending; each value is a sum over `piece` samples. Returns how many, or
 * -ENOMEM. */
static int periods_of_graph(const double *graph, size_t shifts, size_t piece, double floor, size_t *periods)
{
    struct candidate candidate[MOST_CANDIDATES];
    struct matches m;
    int code = find_matches(&m, graph, shifts), found = 0;
    if (code == 0 && m.average > floor) {
        unsigned candidates = find_candidates(&m, floor, most_left(piece, shifts), candidate);
        found = (int)choose(candidate, candidates, periods);
    }
    matches_free(&m);
    return code ? code : found;
}

int run_signal_graph_periods(const double *graph, size_t shifts, size_t piece, struct run_signal_period *periods,
                             unsigned room)
{
    struct candidate candidate[MOST_CANDIDATES];
    struct matches m;
    unsigned found = 0, candidates = 0;
    if (shifts < 4)
        return 0;
    int code = find_matches(&m, graph, shifts);
    if (code == 0 && m.average > NEGLIGIBLE)
        candidates = find_candidates(&m, NEGLIGIBLE, most_left(piece, shifts), candidate);
    for (unsigned k = candidates; k-- > 0 && found < room;)
        periods[found++] = (struct run_signal_period){candidate[k].period, candidate[k].left};
    matches_free(&m);
    return code ? code : (int)found;
}

int run_signal_longest_period(const double *graph, size_t shifts, size_t piece, double floor, size_t *period)
{
    size_t all[MOST_CANDIDATES];
    int found = periods_of_graph(graph, shifts, piece, floor, all);
    *period = found > 0 ? all[found - 1] : 0;
    return found < 0 ? found : 0;
}

/* Least difference of samples that counts within a long period: an eighth of the average difference. Smaller ones come
 * from small loops that are no multiple of the interval. */
static double grain_of(const double *graph, size_t shifts, size_t piece)
{
    double sum = 0;
    for (size_t k = 1; k < shifts; k++)
        sum += graph[k];
    return fmax(NEGLIGIBLE, sum / (double)((shifts - 1) * piece) / 8);
}

int run_signal_periods(const struct run_signal *s, double *graph, size_t *shifts, size_t *periods, unsigned room)
{
    size_t piece = s->count / 4, all[MOST_CANDIDATES];
    *shifts = piece ? s->count - piece + 1 : 0;
    run_signal_slide(s, piece, graph, *shifts);
    int found = periods_of_graph(graph, *shifts, piece, NEGLIGIBLE * (double)piece, all);
    if (found > 0)
        found = shorter_ones(s, all, found, room, grain_of(graph, *shifts, piece));
    for (int k = 0; k < found; k++)
        periods[k] = all[k];
    return found;
}

int run_signal_period_within(const struct run_signal *s, size_t period, size_t *found)
{
    double graph[64];
    size_t shifts = s->count < 64 ? s->count : 64;
    return period_within(s, period, fmax(NEGLIGIBLE, run_signal_self_distance(s, graph, shifts) / 8), found);
}
