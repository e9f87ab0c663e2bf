/* A slice log on disk: the counts of the sampler, slice by slice, with its plan.
 *
 * A log is a file of blocks (block_file.h), as profiles are. A truncated file (the tool was killed, the disk was full)
 * can be read up to its last complete block, and a flipped bit is detected. A block is written when it is full, and
 * once a second while slices come in; so a kill loses at most the last second before the last slice.
 *
 * Records refer to groups, events and contexts by number, and follow the record that announces this number.
 * Information, the plan, its groups and its events come before the first slice. */
#ifndef CYCLESCOPE_SAMPLER_SLICE_LOG_H
#define CYCLESCOPE_SAMPLER_SLICE_LOG_H

#include <stdio.h>

#include "sampler/plan.h"
#include "sampler/slice.h"

enum slice_log_kind {
    LOG_INFO,    /* a name and a value that describe the run */
    LOG_PLAN,    /* the plan of multiplexing; a log has one */
    LOG_GROUP,   /* a group of the plan */
    LOG_EVENT,   /* an event of the plan */
    LOG_CONTEXT, /* a program */
    LOG_SLICE,   /* the counts of a slice */
    LOG_TOTAL,   /* the exact count of an event in a context */
    LOG_EXIT,    /* a program has ended */
    LOG_END,     /* the run ended and the log is complete */
    SLICE_LOG_KINDS
};

/* Usual names are "version", "core", "seed" and "mode". */
struct slice_log_info {
    const char *name, *value;
};

/* Fields are those of struct plan. */
struct slice_log_plan {
    uint32_t slots;       /* slots of a round */
    uint32_t clock;       /* enum slice_clock */
    uint64_t slice;       /* ticks of the clock in a slot */
    uint64_t first_slice; /* in the first round; 0: the same */
    uint64_t seed;        /* of the order of groups */
    bool fixed_order;     /* the same order in all rounds */
    bool least;           /* no plan has fewer groups */
};

struct slice_log_group {
    uint32_t number; /* 0, 1, … in order */
    struct plan_group group;
};

struct slice_log_event {
    uint32_t number;  /* 0, 1, … in order */
    const char *text; /* as the user gave it, with its modifiers */
    struct plan_event event;
};

struct slice_log_context {
    uint32_t number;     /* 0, 1, … in order */
    const char *program; /* with its arguments */
};

struct slice_log_total {
    uint32_t context, event;
    uint64_t count;
};

struct slice_log_exit {
    uint32_t context;
    int32_t status;         /* as wait returns it */
    uint64_t cycles, insns; /* totals of the context */
};

struct slice_log_record {
    enum slice_log_kind kind;
    union {
        struct slice_log_info info;
        struct slice_log_plan plan;
        struct slice_log_group group;
        struct slice_log_event event;
        struct slice_log_context context;
        struct slice slice;
        struct slice_log_total total;
        struct slice_log_exit exit;
    };
};

/* ---- writing */

struct slice_log_writer;

/* Takes ownership of `to` on success. `to` must have a file descriptor: each block is written to it at once. If the
 * process forks, only the process that called this writes. */
struct slice_log_writer *slice_log_writer_new(FILE *to, struct error *err) MUST_CHECK;
/* Appends a record. Errors show when the log is closed; nothing is written after the first one. Strings are cut at
 * 16383 bytes. */
void slice_log_write(struct slice_log_writer *w, const struct slice_log_record *r);
/* Writes the plan, its groups and its events. `specs` is what the plan was made from. */
void slice_log_write_plan(struct slice_log_writer *w, const struct plan *plan, const struct event_specs *specs);
/* Writes all records so far. */
void slice_log_writer_flush(struct slice_log_writer *w);
/* Writes LOG_END, closes the file and frees the writer. Returns the first error of all writes. */
int slice_log_writer_close(struct slice_log_writer *w, struct error *err) MUST_CHECK;
/* For a run that failed: writes all records without LOG_END, closes the file and frees the writer. */
void slice_log_writer_abandon(struct slice_log_writer *w);

/* ---- reading */

struct slice_log_reader;

/* `name` is for messages. `from` belongs to the caller and must stay open until the reader is freed. */
struct slice_log_reader *slice_log_reader_new(FILE *from, const char *name, struct error *err) MUST_CHECK;
/* Returns 1 with a record; its strings are valid until the next call. Returns 0 at LOG_END or at the end of a truncated
 * file; a negative code with a message if the file is damaged. A record refers only to numbers that were announced,
 * slices are in the order of rounds, and the sampler could execute the plan. */
int slice_log_read(struct slice_log_reader *r, struct slice_log_record *to, struct error *err) MUST_CHECK;
bool slice_log_reader_complete(const struct slice_log_reader *r); /* LOG_END was read: the file is not truncated */
void slice_log_reader_free(struct slice_log_reader *r);

/* ---- a whole log in memory */

struct slice_log_program {
    char *program; /* with its arguments */
    bool ended;    /* `exit` is valid */
    struct slice_log_exit exit;
};

struct slice_log {
    char *(*info)[2]; /* pairs of name and value */
    size_t info_count;
    bool planned; /* `plan` is valid */
    struct plan plan;
    char **text; /* texts of the plan's events */
    struct slice_log_program *context;
    size_t context_count;
    struct slice *slice; /* in the order of the run */
    size_t slice_count;
    struct slice_log_total *total;
    size_t total_count;
    bool complete; /* the log has LOG_END */
};

/* Reads a log; of a truncated file, the records up to its end. Call slice_log_free even after a failure. */
int slice_log_load(struct slice_log *log, FILE *from, const char *name, struct error *err) MUST_CHECK;
void slice_log_free(struct slice_log *log);
/* The value of an information record, or NULL. */
const char *slice_log_info(const struct slice_log *log, const char *name);

#endif
