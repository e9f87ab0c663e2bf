/* Autocorrelation, by the Fourier transform of each of the sample's numbers. */
#include <errno.h>
#include <kissfft/kiss_fftr.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "phases/signal.h"

struct transform {
    size_t size; /* room for the signal and as many zeros, so that its end does not meet its start */
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

static double mean_of(const struct signal *s, unsigned number)
{
    double sum = 0;
    for (size_t k = 0; k < s->count; k++)
        sum += s->at[k * s->width + number];
    return sum / (double)s->count;
}

/* Adds one number's products of samples that lie k apart to `product`, and its squares to `energy`. */
static void add_number(const struct signal *s, unsigned number, struct transform *t, double *product, double *energy)
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

/* From products of samples that lie k apart to 1 - correlation: by the energies of the two stretches that overlap. */
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

int signal_correlation(const struct signal *s, size_t *period)
{
    struct transform t = {0};
    *period = 0;
    if (s->count < 4 || s->count > INT32_MAX / 4)
        return 0;
    const double clear = 0.02; /* of a correlation */
    double *product = calloc(s->count, sizeof *product), *energy = calloc(s->count, sizeof *energy);
    int code = transform_begin(&t, s->count) && product && energy ? 0 : -ENOMEM;
    for (unsigned number = 0; code == 0 && number < s->width; number++)
        add_number(s, number, &t, product, energy);
    if (code == 0) { /* distances up to half of the signal, which as much overlaps at */
        normalize(product, energy, s->count);
        code = signal_longest_period(product, s->count / 2 + 1, s->count / 2, clear, period);
    }
    transform_end(&t);
    free(product);
    free(energy);
    return code;
}
