/* Autocorrelation of a signal, by Fourier transform of each number of its samples. */
#include <errno.h>
#include <kissfft/kiss_fftr.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "phases/run_signal.h"

struct transform {
    size_t size; /* at least twice the signal: padded with zeros, so that the end does not wrap to the start */
    kiss_fftr_cfg forward, back;
    float *time;
    kiss_fft_cpx *frequency;
};

static bool transform_begin(struct transform *t, size_t count)
{
    *t = (struct transform){.size = (size_t)kiss_fftr_next_fast_size_real((int)(2 * count))};
    t->forward = kiss_fftr_alloc((int)t->size, 0, NULL, NULL);
    t->back = kiss_fftr_alloc((int)t->size, 1, NULL, NULL);
    t->time = calloc(t->size, sizeof *t->time);
    t->frequency = calloc(t->size / 2 + 1, sizeof *t->frequency);
    return t->forward && t->back && t->time && t->frequency;
}

static void transform_end(struct transform *t)
{
    kiss_fftr_free(t->forward);
    kiss_fftr_free(t->back);
    free(t->time);
    free(t->frequency);
}

static double mean_of(const struct run_signal *s, unsigned number)
{
    double sum = 0;
    for (size_t k = 0; k < s->count; k++)
        sum += s->at[k * s->width + number];
    return sum / (double)s->count;
}

/* Adds, for one number of the samples: to product[k] the sum of products of samples k apart, to energy[k] the square of
 * sample k. The mean is subtracted before. */
static void add_number(const struct run_signal *s, unsigned number, struct transform *t, double *product,
                       double *energy)
{
    double mean = mean_of(s, number);
    memset(t->time, 0, t->size * sizeof *t->time);
    for (size_t k = 0; k < s->count; k++) {
        t->time[k] = (float)(s->at[k * s->width + number] - mean);
        energy[k] += (double)t->time[k] * t->time[k];
    }
    kiss_fftr(t->forward, t->time, t->frequency);
    for (size_t k = 0; k <= t->size / 2; k++)
        t->frequency[k] =
            (kiss_fft_cpx){t->frequency[k].r * t->frequency[k].r + t->frequency[k].i * t->frequency[k].i, 0};
    kiss_fftri(t->back, t->frequency, t->time);
    for (size_t k = 0; k < s->count; k++)
        product[k] += t->time[k] / (double)t->size;
}

/* Turns product[k] into 1 - correlation at shift k: divides by the energies of the two stretches that overlap. Where
 * these are nearly 0, the correlation is 0. */
static void normalize(double *product, const double *energy, size_t count)
{
    double left = 0, right;
    for (size_t k = 0; k < count; k++)
        left += energy[k];
    right = left;
    for (size_t k = 0; k < count; k++) {
        double both = sqrt(fmax(left, 0) * fmax(right, 0));
        product[k] = both > 1e-6 * (double)count ? 1 - product[k] / both : 1;
        left -= energy[count - 1 - k];
        right -= energy[k];
    }
}

int run_signal_correlation(const struct run_signal *s, size_t *period)
{
    struct transform t = {0};
    *period = 0;
    if (s->count < 4 || s->count > INT32_MAX / 4)
        return 0;
    const double clear = 0.02; /* least depth of a minimum, as a correlation */
    double *product = calloc(s->count, sizeof *product), *energy = calloc(s->count, sizeof *energy);
    int code = transform_begin(&t, s->count) && product && energy ? 0 : -ENOMEM;
    for (unsigned number = 0; code == 0 && number < s->width; number++)
        add_number(s, number, &t, product, energy);
    if (code == 0) { /* shifts up to half of the signal, where the other half still overlaps */
        normalize(product, energy, s->count);
        code = run_signal_longest_period(product, s->count / 2 + 1, s->count / 2, clear, period);
    }
    transform_end(&t);
    free(product);
    free(energy);
    return code;
}
