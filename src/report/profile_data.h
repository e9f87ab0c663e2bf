/* Sampled accesses by cache line: which data, who touched it, and what missed.
 *
 * An access belongs to the line of its first byte. */
#ifndef CYCLESCOPE_REPORT_PROFILE_DATA_H
#define CYCLESCOPE_REPORT_PROFILE_DATA_H

#include "report/profile_rows.h"

struct data_choice {
    uint64_t line_bytes;  /* a power of two */
    unsigned first, last; /* events, both included */
    unsigned sort;        /* lines with most of this event come first */
    const char *function; /* only accesses in it, or NULL */
};

struct data_line {
    uint64_t address;
    uint32_t samples, stores; /* of all events that were chosen */
    uint32_t l1d, l2d, dtlb;  /* samples that missed */
    uint32_t number;          /* where its amounts are */
    uint32_t first, accesses; /* in `order` */
};

struct profile_data {
    const struct profile_names *names;
    uint32_t *order; /* accesses, by line, then by instruction */
    struct data_line *line;
    size_t count;
    struct profile_amount *amount; /* [number * events + event] */
    struct profile_amount *rest;   /* by event: samples without an address, or of other functions */
};

/* Accesses of an instruction to a line. */
struct data_toucher {
    uint32_t place;
    uint64_t samples;
};

/* The profile was loaded with its accesses. */
int profile_data_make(struct profile_data *d, const struct profile_names *n, const struct data_choice *choice,
                      struct error *err) MUST_CHECK;
void profile_data_free(struct profile_data *d);

static inline const struct profile_amount *data_amount(const struct profile_data *d, const struct data_line *l)
{
    return &d->amount[(size_t)l->number * d->names->profile->events];
}

/* The instructions that touched a line, those with most samples first: up to `most` of them, and their number in all.
 */
size_t data_touchers(const struct profile_data *d, const struct data_line *l, struct data_toucher *to, size_t most);
/* The object that was touched most in a line; how many others were. */
unsigned data_object(const struct profile_data *d, const struct data_line *l, struct place *object);

#endif
