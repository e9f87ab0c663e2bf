/* Analysis: a profile as rows: weights by function, line, instruction or module, for each event.
 *
 * The self weights of an event sum to the event's weight. The inclusive weight of a row sums all samples that have the
 * row anywhere in their call chain; each sample counts once, however often the row occurs in its chain. */
#ifndef CYCLESCOPE_PROFILE_PROFILE_ROWS_H
#define CYCLESCOPE_PROFILE_PROFILE_ROWS_H

#include "profile/profile_names.h"

enum profile_by {
    PROFILE_BY_FUNCTION,
    PROFILE_BY_LINE,
    PROFILE_BY_INSN,
    PROFILE_BY_MODULE,
    PROFILE_BY_TREE, /* profile_tree.h */
    PROFILE_BY_DATA, /* profile_data.h */
    PROFILE_BYS
};

struct profile_amount {
    uint64_t weight, samples;
};

struct profile_row {
    uint32_t place;  /* one of the row's instructions: index in profile_names.place */
    uint32_t number; /* index for row_self and row_total */
};

struct profile_rows {
    const struct profile_names *names;
    unsigned events;
    struct profile_row *row; /* in the order of profile_rows_sort */
    size_t count;
    struct profile_amount *self;  /* [number * events + event] */
    struct profile_amount *total; /* inclusive; NULL if not wanted */
};

/* `by` is one of the first four values of enum profile_by. Omits rows without samples of any event. */
int profile_rows_make(struct profile_rows *r, const struct profile_names *n, enum profile_by by, bool inclusive,
                      struct error *err) MUST_CHECK;
/* Sorts by the weight of an event, largest first: by inclusive weight if there is one, then by self weight; ties by the
 * other events, then by address. */
void profile_rows_sort(struct profile_rows *r, unsigned event);
void profile_rows_free(struct profile_rows *r);

/* The self amounts of a row, by event. */
static inline const struct profile_amount *row_self(const struct profile_rows *r, const struct profile_row *row)
{
    return &r->self[(size_t)row->number * r->events];
}

/* The inclusive amounts of a row, by event. */
static inline const struct profile_amount *row_total(const struct profile_rows *r, const struct profile_row *row)
{
    return &r->total[(size_t)row->number * r->events];
}

/* A number for each frame of the call chains: by node for calls, by cell for sampled instructions. Node 0 is not a
 * frame. */
struct profile_frames {
    const uint32_t *of_node, *of_cell;
    size_t count; /* numbers are less than this, or INDEX_NONE */
};

/* Adds inclusive amounts to `to` ([key * events + event]): for each frame, the samples in it and below it. A frame adds
 * nothing if a frame above it has the same `guard`, so that recursion counts once, or if its key is INDEX_NONE. Every
 * frame must have a guard. */
int profile_add_inclusive(const struct profile *p, const struct profile_frames *guard, const struct profile_frames *key,
                          struct profile_amount *to, struct error *err) MUST_CHECK;

#endif
