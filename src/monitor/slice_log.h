/* A slice log on disk: what the sampling engine counted, slice by slice, with the plan that it followed.
 *
 * A log is a file of blocks (block_file.h), as profiles are: one that was cut off (a tool that was killed, a full disk)
 * can be read up to its last whole block, and a bit that flipped is found. Blocks are written when they are full and,
 * as long as slices come in or slice_log_tick is called, once a second, so a kill loses at most what came in its last.
 *
 * Records refer to groups, events and contexts by number; those are announced before they are used. Information, the
 * plan, its groups and its events come before the first slice. */
#ifndef CYCLESCOPE_MONITOR_SLICE_LOG_H
#define CYCLESCOPE_MONITOR_SLICE_LOG_H

#include <stdio.h>

#include "monitor/plan.h"
#include "monitor/slice.h"

enum slice_log_kind {
    LOG_INFO,    /* something about the run, by name */
    LOG_PLAN,    /* of multiplexing; there is one */
    LOG_GROUP,   /* of the plan */
    LOG_EVENT,   /* of the plan */
    LOG_CONTEXT, /* a program */
    LOG_SLICE,   /* what was counted in a slice */
    LOG_TOTAL,   /* how often an event happened in a context in all, exactly */
    LOG_EXIT,    /* a program has ended */
    LOG_END,     /* the run ended and the log is complete */
    SLICE_LOG_KINDS
};

/* Names that are usual: "version", "core", "seed", "mode". */
struct slice_log_info {
    const char *name, *value;
};

struct slice_log_plan {
    uint32_t slots;   /* as of struct plan, and so are the others */
    uint32_t clock;   /* enum slice_clock */
    uint64_t slice;   /* of the clock */
    uint64_t seed;    /* of the order */
    bool fixed_order; /* the same order in all rounds */
    bool least;       /* there is no plan of fewer groups */
};

struct slice_log_group {
    uint32_t number; /* 0, 1, … in order */
    struct plan_group group;
};

struct slice_log_event {
    uint32_t number;  /* 0, 1, … in order */
    const char *text; /* as given, with its modifiers */
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
    int32_t status;         /* as of wait */
    uint64_t cycles, insns; /* of the context, in all */
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

/* Takes over `to` if it succeeds. It must have a descriptor, to which everything goes at once. Of a process that forks,
 * only the one that called this writes. */
struct slice_log_writer *slice_log_writer_new(FILE *to, struct error *err) MUST_CHECK;
/* Never fails by itself: the first error is kept and told at the end, and nothing is written after it. Of strings that
 * are longer than 16383 bytes the rest is left out. */
void slice_log_write(struct slice_log_writer *w, const struct slice_log_record *r);
/* The plan, its groups and its events; these are the specifications that it was made of. */
void slice_log_write_plan(struct slice_log_writer *w, const struct plan *plan, const struct event_specs *specs);
/* Writes a block if the last was written a second ago or earlier. To be called now and then while no slices come. */
void slice_log_tick(struct slice_log_writer *w);
void slice_log_writer_flush(struct slice_log_writer *w);
/* Writes LOG_END and closes the file. */
int slice_log_writer_close(struct slice_log_writer *w, struct error *err) MUST_CHECK;
/* Without the end, but with all records: the run failed. */
void slice_log_writer_abandon(struct slice_log_writer *w);

/* ---- reading */

struct slice_log_reader;

/* `name` is for messages. `from` stays the caller's, and open until the reader is freed. */
struct slice_log_reader *slice_log_reader_new(FILE *from, const char *name, struct error *err) MUST_CHECK;
/* 1: there is a record, whose strings live until the next call. 0: LOG_END, or where a file that was cut off ends.
 * Negative: the file is damaged, and where. A record that comes back refers to what was announced, its slice is of a
 * round that is not over, and the plan before it is one that the engine could follow. */
int slice_log_read(struct slice_log_reader *r, struct slice_log_record *to, struct error *err) MUST_CHECK;
bool slice_log_reader_complete(const struct slice_log_reader *r); /* LOG_END was read */
void slice_log_reader_free(struct slice_log_reader *r);

/* ---- all of it in memory */

struct slice_log_program {
    char *program;              /* with its arguments */
    bool ended;                 /* `exit` is known */
    struct slice_log_exit exit; /* how */
};

struct slice_log {
    char *(*info)[2]; /* names and values */
    size_t info_count;
    bool planned;     /* `plan` is known */
    struct plan plan; /* as it was written */
    char **text;      /* of the plan's events */
    struct slice_log_program *context;
    size_t context_count;
    struct slice *slice; /* in their order */
    size_t slice_count;
    struct slice_log_total *total;
    size_t total_count;
    bool complete; /* it has its end */
};

/* Reads a log; one that was cut off as far as it goes. The log is to be freed whatever comes of it. */
int slice_log_load(struct slice_log *log, FILE *from, const char *name, struct error *err) MUST_CHECK;
void slice_log_free(struct slice_log *log);
/* The value of a name, or NULL. */
const char *slice_log_info(const struct slice_log *log, const char *name);

#endif
