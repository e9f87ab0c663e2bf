#include "phases/signal.h"

#include <math.h>
#include <stdint.h>

/* Four numbers at once, at any address. The two loops below are where long runs spend their time. */
typedef float four __attribute__((vector_size(16), aligned(4)));
typedef int32_t four_bits __attribute__((vector_size(16)));

static four absolute(four x)
{
    return (four)((four_bits)x & 0x7fffffff);
}

double signal_distance(const struct signal *s, size_t a, size_t b, size_t length)
{
    enum { CHUNK = 4096 }; /* so that single precision is enough for a sum */
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

void signal_slide(const struct signal *s, size_t piece, double *graph, size_t shifts)
{
    for (size_t k = 0; k < shifts; k++)
        graph[k] = signal_distance(s, 0, k, piece);
}
