/* Periods: minima of the period difference graph.
 *
 * The paper takes the distance between minima for the period. Which minima count? Each has a depth: how far the graph
 * rises before it falls as low again. Taken from the deepest on, the minima of at least some depth are the matches of a
 * period if they are regular: one for each period, none missing. A longer period contains a shorter one if it matches
 * clearly better. A period that is no multiple of the interval matches best at some of its multiples, but only by what
 * a shift by a part of an interval explains.
 *
 * A short period within a part of a long one is lost in the mismatch of the other parts. So the long one is looked at
 * as a run of its own: a quarter of it is slid along it, the same in all its repetitions together. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "phases/signal.h"

enum { MOST_CANDIDATES = 64 };

static const double NEGLIGIBLE = 0.01; /* of a vector: samples that differ by less count as the same */

struct minimum {
    size_t at;
    double depth;
    bool taken;
};

struct candidate {
    size_t period;
    double left; /* of the mismatch: 0 the same, 1 unrelated; without what a part of an interval explains */
};

struct matches {
    const double *graph;
    size_t shifts;
    double average;          /* of the graph without its start: what unrelated stretches differ by */
    struct minimum *minimum; /* in the order of the graph */
    size_t count;
    size_t *deepest; /* indices of `minimum`, the deepest first */
};

/* ---- minima and their depths */

/* For each shift the highest value on the way to the nearest one that is as low, towards the start or the end. */
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

/* The middle of a flat bottom stands for it. */
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

/* ---- regular ones */

/* What remains of the mismatch at a minimum. Beside a match that lies between two shifts the graph is a V as steep as
 * at its start, so its two sides tell how far off the shift is, at most half an interval. */
static double unexplained(const struct matches *m, size_t at)
{
    double step = m->graph[1], skew = fabs(m->graph[at - 1] - m->graph[at + 1]) / 2;
    return fmax(m->graph[at] - fmin(skew, step / 2), 0) / m->average;
}

/* Whether the taken minima are one for each period; then the period. The end of the graph is not to be longer than one
 * without a match. */
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

/* The mismatch of the first two matches. */
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

/* The most that may be left of the mismatch: nearer to the same than to unrelated, and less than chance leaves. Of two
 * pieces of noise in two states half of the samples match, with a deviation of 1 / sqrt(samples) of that, and the best
 * of so many shifts is sqrt(2 ln shifts) deviations better than the average. */
static double most_left(size_t piece, size_t shifts)
{
    return fmin(0.5, 1 - sqrt(2 * log((double)shifts) / (2 * (double)piece)));
}

/* Candidates from the longest to the shortest. */
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
            continue; /* a period is seen twice; minima of one depth are one */
        if (!regular(m, k + 1, &period) || period < 2)
            continue;
        double left = first_two(m);
        if (left <= limit)
            to[found++] = (struct candidate){period, left};
    }
    return found;
}

/* From the shortest on: a longer one has to leave less than half of what the one before leaves, where that is more than
 * nothing. */
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

/* A piece that begins at `offset` of every long period, slid along. */
static void slide_within(const struct signal *s, size_t period, size_t offset, size_t piece, double *graph)
{
    memset(graph, 0, period * sizeof *graph);
    for (size_t start = offset; start + period + piece <= s->count; start += period)
        for (size_t k = 0; k < period; k++)
            graph[k] += signal_distance(s, start, start + k, piece);
}

/* The piece matches at a distance and at twice that distance, and nowhere before. */
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

static int period_by_piece(const struct signal *s, size_t period, size_t piece, double grain, double *graph,
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

/* An eighth of the long period where a quarter is more than the part with the short one leaves room for. */
static int period_within(const struct signal *s, size_t period, double grain, size_t *found)
{
    *found = 0;
    double *graph = calloc(period, sizeof *graph);
    int code = graph ? 0 : -ENOMEM;
    for (size_t part = 4; code == 0 && part <= 8 && period / part >= 2 && *found == 0; part *= 2)
        code = period_by_piece(s, period, period / part, grain, graph, found);
    free(graph);
    return code;
}

/* The longest is the most exact; shorter ones are looked for within it, and known from the same graph if not found so.
 */
static int shorter_ones(const struct signal *s, size_t *periods, int found, unsigned room, double grain)
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

/* Periods of a graph of mismatches by distance, of `piece` samples each, ascending. */
static int periods_of_graph(const double *graph, size_t shifts, size_t piece, double floor, size_t *periods)
{
    struct candidate candidate[MOST_CANDIDATES];
    struct matches m;
    int code = find_matches(&m, graph, shifts), found = 0;
    if (code == 0 && m.average > floor)
        found = (int)choose(candidate, find_candidates(&m, floor, most_left(piece, shifts), candidate), periods);
    matches_free(&m);
    return code ? code : found;
}

int signal_longest_period(const double *graph, size_t shifts, size_t piece, double floor, size_t *period)
{
    size_t all[MOST_CANDIDATES];
    int found = periods_of_graph(graph, shifts, piece, floor, all);
    *period = found > 0 ? all[found - 1] : 0;
    return found < 0 ? found : 0;
}

/* What a sample has to differ by within a long period to count: an eighth of what it differs by on average. Less is the
 * beat of small loops with the interval. */
static double grain_of(const double *graph, size_t shifts, size_t piece)
{
    double sum = 0;
    for (size_t k = 1; k < shifts; k++)
        sum += graph[k];
    return fmax(NEGLIGIBLE, sum / (double)((shifts - 1) * piece) / 8);
}

int signal_periods(const struct signal *s, double *graph, size_t *shifts, size_t *periods, unsigned room)
{
    size_t piece = s->count / 4, all[MOST_CANDIDATES];
    *shifts = piece ? s->count - piece + 1 : 0;
    signal_slide(s, piece, graph, *shifts);
    int found = periods_of_graph(graph, *shifts, piece, NEGLIGIBLE * (double)piece, all);
    if (found > 0)
        found = shorter_ones(s, all, found, room, grain_of(graph, *shifts, piece));
    for (int k = 0; k < found; k++)
        periods[k] = all[k];
    return found;
}
