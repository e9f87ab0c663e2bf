/* A profile on disk: what `record` writes and `report` reads.
 *
 * A profile is a sequence of records in blocks. Each block is compressed by itself (zstd), begins with a marker, its
 * sizes and its number, and ends with a checksum of what it holds, so that a file that was cut off (a run that was
 * killed, a full disk) can be read up to its last whole block, and a bit that flipped is found. Numbers are written so
 * that a file is the same on every machine. The header has a version; a reader refuses versions that it does not know,
 * and files of other programs, with one sentence.
 *
 * Records refer to events and call chains by number; those are announced before they are used. */
#ifndef CYCLESCOPE_MONITOR_PROFILE_FILE_H
#define CYCLESCOPE_MONITOR_PROFILE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

enum profile_record_kind {
    PROFILE_INFO,   /* something about the run, by name */
    PROFILE_EVENT,  /* an event that is sampled or counted */
    PROFILE_MAP,    /* a file was mapped */
    PROFILE_CHAIN,  /* a call chain that samples refer to */
    PROFILE_SAMPLE, /* a sample, or with an oracle all events of a place */
    PROFILE_PAIR,   /* the second instruction of the sample before it; between both there may be others but samples */
    PROFILE_TOTAL,  /* how often an event happened in all, exactly */
    PROFILE_END,    /* the run ended and the profile is complete */
    PROFILE_RECORD_KINDS
};

/* Names that `record` writes: "version", "core", "program", "arguments", "mode", "seed", "instructions", "cycles". */
struct profile_info {
    const char *name, *value;
};

struct profile_event {
    uint32_t event;   /* its number: 0, 1, … in order */
    const char *name; /* as given, with its modifiers */
    uint64_t period;  /* mean events per sample; 0: every one is counted */
    bool cycles;      /* it counts cycles: a profile of time */
};

struct profile_map {
    uint64_t start, length, offset; /* as of symbols_map */
    const char *path;
};

/* One step down a call chain: the caller's chain, then this call. Chain 0 is the code that was never called. */
struct profile_chain {
    uint32_t chain;  /* its number: 1, 2, … in order */
    uint32_t parent; /* the caller's */
    uint64_t site;   /* address of the call */
    uint64_t entry;  /* address that it went to */
};

enum profile_flag {
    PROFILE_HAS_ADDRESS = 1, /* `address` is that of its data */
    PROFILE_HAS_HISTORY = 2, /* the times and the outcome are those of a sampled instruction */
    PROFILE_SQUASHED = 4,    /* it was thrown away */
    PROFILE_TAKEN = 8,
    PROFILE_MISPREDICTED = 16,
    PROFILE_STORE = 32,    /* its data was written */
    PROFILE_HAS_CAUSE = 64 /* `cause` is known */
};

/* Cycles from one stage to the next. */
enum profile_stage {
    PROFILE_FETCH,    /* fetch to dispatch */
    PROFILE_DISPATCH, /* dispatch to issue */
    PROFILE_ISSUE,    /* issue to completion */
    PROFILE_COMPLETE, /* completion to commit or squash */
    PROFILE_STAGES
};

struct profile_sample {
    uint32_t event, chain;
    uint64_t weight;                  /* events that it stands for */
    uint64_t pc;                      /* instruction that it is charged to */
    uint64_t cycle;                   /* when; 0 in sums */
    uint64_t address;                 /* 0 without */
    uint32_t flags;                   /* enum profile_flag */
    uint32_t outcome;                 /* enum insn_event of core.h */
    uint32_t latency[PROFILE_STAGES]; /* 0 where it did not get */
    int32_t distance;                 /* of the second of a pair: instructions behind the first, in order of fetch */
    uint32_t slots;                   /* of the second of a pair: issue slots wasted between both, 0 else */
    uint64_t cause; /* instruction that the event was of, whatever the sample is charged to; 0 without */
};

struct profile_total {
    uint32_t event;
    uint64_t count;
};

struct profile_record {
    enum profile_record_kind kind;
    union {
        struct profile_info info;
        struct profile_event event;
        struct profile_map map;
        struct profile_chain chain;
        struct profile_sample sample; /* also of PROFILE_PAIR */
        struct profile_total total;
    };
};

/* ---- writing */

struct profile_writer;

/* Takes over `to` if it succeeds. It must have a descriptor, to which everything goes at once, and be seekable no more
 * than a pipe is. Of a process that forks, only the one that called this writes. */
struct profile_writer *profile_writer_new(FILE *to, struct error *err) MUST_CHECK;
/* Never fails by itself: the first error is kept and told at the end, and nothing is written after it. Of strings that
 * are longer than 16383 bytes the rest is left out. */
void profile_write(struct profile_writer *w, const struct profile_record *r);
/* Blocks are written when they are full, and here. */
void profile_writer_flush(struct profile_writer *w);
/* Writes PROFILE_END and closes the file. */
int profile_writer_close(struct profile_writer *w, struct error *err) MUST_CHECK;
/* Without the end, but with all records: the run failed. */
void profile_writer_abandon(struct profile_writer *w);

/* ---- reading */

struct profile_reader;

/* `name` is for messages. `from` stays the caller's, and open until the reader is freed. */
struct profile_reader *profile_reader_new(FILE *from, const char *name, struct error *err) MUST_CHECK;
/* 1: there is a record, whose strings live until the next call. 0: PROFILE_END, or where a file that was cut off ends.
 * Negative: the file is damaged, and where. References to events and chains are checked: a record that comes back
 * refers to what was announced. */
int profile_read(struct profile_reader *r, struct profile_record *to, struct error *err) MUST_CHECK;
bool profile_reader_complete(const struct profile_reader *r); /* PROFILE_END was read */
void profile_reader_free(struct profile_reader *r);

#endif
