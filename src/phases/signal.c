/* The difference graph as a signal: where initialization ends and after what distance it repeats. */
#include <math.h>
#include <string.h>

#include "phases/phases.h"

/* Sum of absolute differences of two stretches. */
static double distance(const double *a, const double *b, size_t count)
{
    double sum = 0;
    for (size_t k = 0; k < count; k++)
        sum += fabs(a[k] - b[k]);
    return sum;
}

static double mean_of(const double *x, size_t count)
{
    double sum = 0;
    for (size_t k = 0; k < count; k++)
        sum += x[k];
    return count ? sum / (double)count : 0;
}

static double deviation_of(const double *x, size_t count)
{
    double mean = mean_of(x, count), sum = 0;
    for (size_t k = 0; k < count; k++)
        sum += (x[k] - mean) * (x[k] - mean);
    return count ? sqrt(sum / (double)count) : 0;
}

/* ---- period */

/* Graph of a quarter of the signal against what lies 0, 1, 2 ... behind it; how many. */
static size_t slide(const double *signal, size_t count, size_t quarter, double *graph)
{
    size_t most = quarter ? count - quarter + 1 : 0;
    for (size_t k = 0; k < most; k++)
        graph[k] = distance(signal, signal + k, quarter);
    return most;
}

static bool is_minimum(const double *graph, size_t count, size_t k)
{
    return k > 0 && k + 1 < count && graph[k] < graph[k - 1] && graph[k] <= graph[k + 1];
}

/* Distances at which the signal matches better than at any shorter one, by a clear margin: the first is the shortest
 * period, one that matches better still is a longer one that contains it. A distance counts only if it is seen twice,
 * and if the match stands out from the average and from what comes before it. */
static unsigned find_periods(const double *graph, size_t count, double floor, size_t *periods)
{
    enum { CLEAR_PERCENT = 60 };
    unsigned found = 0;
    double average = count > 1 ? mean_of(graph + 1, count - 1) : 0, record = average, peak = 0;
    if (average <= floor)
        return 0;
    for (size_t k = 2; 2 * k < count + 1; k++) {
        peak = fmax(peak, graph[k - 1]);
        if (!is_minimum(graph, count, k) || graph[k] > fmin(record, peak) * CLEAR_PERCENT / 100)
            continue;
        if (found == PHASE_PERIODS)
            memmove(periods, periods + 1, (--found) * sizeof *periods);
        periods[found++] = k;
        record = graph[k];
        if (record <= floor)
            break;
    }
    return found;
}

unsigned phases_periods(const double *signal, size_t count, double *graph, size_t *graph_count, size_t *periods)
{
    enum { NOISE_PER_MILLE = 5 }; /* of a difference of 1, for each sample: less is no shape */
    size_t quarter = count / 4;
    *graph_count = slide(signal, count, quarter, graph);
    return find_periods(graph, *graph_count, (double)quarter * NOISE_PER_MILLE / 1000, periods);
}

size_t phases_correlation(const double *signal, size_t count)
{
    double mean = mean_of(signal, count), most = 0.5;
    size_t best = 0;
    double before = 1, now = 1;
    for (size_t k = 1; k <= count / 2 + 1 && k < count; k++) {
        double product = 0, left = 0, right = 0;
        for (size_t i = 0; i + k < count; i++) {
            double a = signal[i] - mean, b = signal[i + k] - mean;
            product += a * b;
            left += a * a;
            right += b * b;
        }
        double after = left > 0 && right > 0 ? product / sqrt(left * right) : 0;
        if (k > 2 && now > before && now >= after && now > most + 0.02) {
            most = now;
            best = k - 1;
        }
        before = now;
        now = after;
    }
    return best;
}

/* ---- initialization */

/* How much the slope over one step falls at `at`. Before the first step the slope at 0 stands for the one before. */
static double corner(const double *graph, size_t at, size_t step)
{
    double before = at >= step ? graph[at] - graph[at - step] : graph[step] - graph[0];
    return before - (graph[at + step] - graph[at]);
}

/* The first intervals are unlike the others: by more than these vary among themselves. */
static bool stands_apart(const double *signal, size_t count, size_t end)
{
    double apart = fabs(mean_of(signal, end) - mean_of(signal + end, count - end));
    const double least = 0.1; /* a twentieth of the way to unrelated: a loader's share of an interval is less */
    return apart > 2 * deviation_of(signal + end, count - end) && apart > least;
}

size_t phases_initialization(const double *signal, size_t count, double *graph)
{
    size_t half = count / 2, quarter = count / 4, periods[PHASE_PERIODS], matches, best = 0;
    if (quarter == 0)
        return 0;
    /* The second half is past initialization; `graph` is not needed yet. */
    unsigned found = phases_periods(signal + count - half, half, graph, &matches, periods);
    size_t step = found ? periods[found - 1] : 1;
    for (size_t k = 0; k <= half; k++)
        graph[k] = distance(signal, signal + k, quarter);
    double most = 0;
    for (size_t k = 1; k + step <= half; k++)
        most = fmax(most, corner(graph, k, step));
    /* The first that is as sharp, but for less than one interval more or less makes. */
    double enough = most * (1 - fmin(0.02, 0.25 / (double)step));
    for (size_t k = 1; k + step <= half && best == 0; k++)
        if (corner(graph, k, step) >= enough)
            best = k;
    return best && stands_apart(signal, count, best) ? best : 0;
}
