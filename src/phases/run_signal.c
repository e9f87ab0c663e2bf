#include "phases/run_signal.h"

#include <math.h>
#include <stdint.h>

/* Vectors of four numbers, unaligned. The analysis of long runs spends its time in the two loops of
 * run_signal_distance. */
typedef float four __attribute__((vector_size(16), aligned(4)));
typedef int32_t four_bits __attribute__((vector_size(16)));

static four absolute(four x)
{
    return (four)((four_bits)x & 0x7fffffff);
}

double run_signal_distance(const struct run_signal *s, size_t a, size_t b, size_t length)
{
    enum { CHUNK = 4096 }; /* numbers that a sum in single precision can take without losing accuracy */
    const float *x = s->at + a * s->width, *y = s->at + b * s->width;
    double all = 0;
    for (size_t count = length * s->width; count > 0;) {
        size_t here = count < CHUNK ? count : CHUNK, k = 0;
        four sum = {0}, other = {0};
        for (; k + 8 <= here; k += 8) {
            sum += absolute(*(const four *)(x + k) - *(const four *)(y + k));
            other += absolute(*(const four *)(x + k + 4) - *(const four *)(y + k + 4));
        }
        sum += other;
        for (; k < here; k++)
            sum[0] += fabsf(x[k] - y[k]);
        all += (double)sum[0] + sum[1] + sum[2] + sum[3];
        x += here;
        y += here;
        count -= here;
    }
    return all;
}

void run_signal_slide(const struct run_signal *s, size_t piece, double *graph, size_t shifts)
{
    for (size_t k = 0; k < shifts; k++)
        graph[k] = run_signal_distance(s, 0, k, piece);
}

double run_signal_self_distance(const struct run_signal *s, double *graph, size_t shifts)
{
    double sum = 0;
    for (size_t k = 0; k < shifts; k++) {
        graph[k] = run_signal_distance(s, 0, k, s->count - k) / (double)(s->count - k);
        sum += k ? graph[k] : 0;
    }
    return shifts > 1 ? sum / (double)(shifts - 1) : 0;
}
