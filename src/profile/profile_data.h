/* Analysis: sampled accesses by cache line: which data, which instructions accessed it, and which accesses missed.
 *
 * An access belongs to the line of its first byte. */
#ifndef CYCLESCOPE_PROFILE_PROFILE_DATA_H
#define CYCLESCOPE_PROFILE_PROFILE_DATA_H

#include "profile/profile_rows.h"

struct data_choice {
    uint64_t line_bytes;  /* a power of two */
    unsigned first, last; /* range of events to include, both included */
    unsigned sort;        /* lines are sorted by the weight of this event, largest first */
    const char *function; /* only accesses in this function; NULL: all */
};

struct data_line {
    uint64_t address;
    uint32_t samples, stores; /* sums over all chosen events */
    uint32_t l1d, l2d, dtlb;  /* samples that missed there */
    uint32_t number;          /* index for data_amount */
    uint32_t first, accesses; /* its range in profile_data.order */
};

struct profile_data {
    const struct profile_names *names;
    uint32_t *order; /* indices of accesses, sorted by line, then by instruction */
    struct data_line *line;
    size_t count;                  /* of lines */
    struct profile_amount *amount; /* [number * events + event] */
    struct profile_amount *rest;   /* by event: samples without an address, or of other functions */
};

/* An instruction that accessed a line. */
struct data_toucher {
    uint32_t place; /* index in profile_names.place */
    uint64_t samples;
};

/* The profile must have been loaded with its accesses. Call profile_data_free if it returns 0. */
int profile_data_make(struct profile_data *d, const struct profile_names *n, const struct data_choice *choice,
                      struct error *err) MUST_CHECK;
void profile_data_free(struct profile_data *d);

/* The amounts of a line, by event. */
static inline const struct profile_amount *data_amount(const struct profile_data *d, const struct data_line *l)
{
    return &d->amount[(size_t)l->number * d->names->profile->events];
}

/* Fills `to` with up to `most` instructions that accessed the line, those with most samples first. Returns the number
 * of all such instructions. */
size_t data_touchers(const struct profile_data *d, const struct data_line *l, struct data_toucher *to, size_t most);
/* Sets the object of the line with most samples; returns the number of other objects that were accessed in it. */
unsigned data_object(const struct profile_data *d, const struct data_line *l, struct place *object);

#endif
