/* A profile as rows: weights added up by function, line, instruction or module, for each event.
 *
 * Self weights of an event sum to the event's weight. Inclusive weights are those of all samples with the row anywhere
 * in the call chain, each counted once however often the row is in it. */
#ifndef CYCLESCOPE_REPORT_PROFILE_ROWS_H
#define CYCLESCOPE_REPORT_PROFILE_ROWS_H

#include "report/profile_names.h"

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
    uint32_t place;  /* an instruction of it */
    uint32_t number; /* where its amounts are */
};

struct profile_rows {
    const struct profile_names *names;
    unsigned events;
    struct profile_row *row; /* in the order that was asked for */
    size_t count;
    struct profile_amount *self;  /* [number * events + event] */
    struct profile_amount *total; /* inclusive, NULL if not asked for */
};

/* `by` is one of the first four. Rows without samples of any event are left out. */
int profile_rows_make(struct profile_rows *r, const struct profile_names *n, enum profile_by by, bool inclusive,
                      struct error *err) MUST_CHECK;
/* Largest first by an event, inclusive if there are inclusive weights; ties by the other events, then by address. */
void profile_rows_sort(struct profile_rows *r, unsigned event);
void profile_rows_free(struct profile_rows *r);

static inline const struct profile_amount *row_self(const struct profile_rows *r, const struct profile_row *row)
{
    return &r->self[(size_t)row->number * r->events];
}

static inline const struct profile_amount *row_total(const struct profile_rows *r, const struct profile_row *row)
{
    return &r->total[(size_t)row->number * r->events];
}

/* Frames of call chains, told apart: calls by node, the sampled instructions themselves by cell. Node 0 is no frame. */
struct profile_frames {
    const uint32_t *of_node, *of_cell;
    size_t count; /* numbers are less than this, or INDEX_NONE */
};

/* Adds to `to`, which is by `key` and event, what was sampled in each frame and below it; but not where a frame with
 * the same `guard` is above it, so that recursion counts once. Every frame has a guard; those without a key add
 * nothing. */
int profile_add_inclusive(const struct profile *p, const struct profile_frames *guard, const struct profile_frames *key,
                          struct profile_amount *to, struct error *err) MUST_CHECK;

#endif
