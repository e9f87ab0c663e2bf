/* A profile on disk. Recording (recorder.h) writes it for the command `record`; analysis (profile.h) reads it for the
 * command `report`. profile_format.h describes the encoding.
 *
 * A profile is a sequence of records in blocks. Each block is compressed separately (zstd). It begins with a marker,
 * its sizes and its number, and ends with a checksum of its content. So a file that was cut off (by a killed run or a
 * full disk) can be read up to its last complete block, and a flipped bit is detected. The encoding of numbers is the
 * same on every machine. The header has a version; a reader refuses unknown versions, and files of other programs.
 *
 * Records refer to events and call chains by number. A record announces each of them before its first use. */
#ifndef CYCLESCOPE_PROFILE_PROFILE_FILE_H
#define CYCLESCOPE_PROFILE_PROFILE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

enum profile_record_kind {
    PROFILE_INFO,   /* a named property of the run */
    PROFILE_EVENT,  /* an event that is sampled or counted */
    PROFILE_MAP,    /* a file was mapped */
    PROFILE_CHAIN,  /* a call chain that samples refer to */
    PROFILE_SAMPLE, /* a sample; in mode oracle the sum of an event at a place */
    PROFILE_PAIR,   /* the second instruction of the last sample; records of other kinds may stand between */
    PROFILE_TOTAL,  /* the exact count of an event in the whole run */
    PROFILE_END,    /* the run ended and the profile is complete */
    PROFILE_RECORD_KINDS
};

/* Names of properties that `record` writes: "version", "core", "program", "arguments", "mode", "seed", "instructions",
 * "cycles". */
struct profile_info {
    const char *name, *value;
};

struct profile_event {
    uint32_t event;   /* number: 0, 1, … in order */
    const char *name; /* as given, with its modifiers */
    uint64_t period;  /* mean events per sample; 0: every event is counted */
    bool cycles;      /* the event counts cycles: a profile of time */
};

struct profile_map {
    uint64_t start, length, offset; /* as for symbols_map */
    const char *path;
};

/* A call chain: the caller's chain, then this call. Chain 0 is empty: code that no observed call has entered. */
struct profile_chain {
    uint32_t chain;  /* number: 1, 2, … in order */
    uint32_t parent; /* number of the caller's chain */
    uint64_t site;   /* address of the call */
    uint64_t entry;  /* target address of the call */
};

enum profile_flag {
    PROFILE_HAS_ADDRESS = 1, /* `address` is set */
    PROFILE_HAS_HISTORY = 2, /* `latency` and `outcome` belong to an instruction sampled by ProfileMe */
    PROFILE_SQUASHED = 4,    /* the instruction was squashed */
    PROFILE_TAKEN = 8,
    PROFILE_MISPREDICTED = 16,
    PROFILE_STORE = 32,    /* the access at `address` is a store */
    PROFILE_HAS_CAUSE = 64 /* `cause` is set */
};

/* Latencies from one stage to the next, in cycles. */
enum profile_stage {
    PROFILE_FETCH,    /* fetch to dispatch */
    PROFILE_DISPATCH, /* dispatch to issue */
    PROFILE_ISSUE,    /* issue to completion */
    PROFILE_COMPLETE, /* completion to retirement or squash */
    PROFILE_STAGES
};

struct profile_sample {
    uint32_t event, chain;
    uint64_t weight;                  /* number of events that the sample stands for */
    uint64_t pc;                      /* instruction that the sample is charged to */
    uint64_t cycle;                   /* of the sample; 0 in sums (mode oracle) */
    uint64_t address;                 /* of the data access; 0 without PROFILE_HAS_ADDRESS */
    uint32_t flags;                   /* enum profile_flag */
    uint32_t outcome;                 /* enum insn_event of core.h */
    uint32_t latency[PROFILE_STAGES]; /* cycles; 0 for stages that the instruction did not reach */
    int32_t distance;                 /* PROFILE_PAIR: instructions fetched from the first to this second one; else 0 */
    uint32_t slots;                   /* PROFILE_PAIR: issue slots wasted while the pair was in flight; else 0 */
    uint64_t cause;                   /* pc of the instruction that caused the event; 0 without PROFILE_HAS_CAUSE */
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

/* Takes ownership of `to` if it succeeds. `to` must have a file descriptor; blocks are written to it directly, without
 * seeking, so it may be a pipe. If the process forks, only the process that called this writes. */
struct profile_writer *profile_writer_new(FILE *to, struct error *err) MUST_CHECK;
/* Reports no errors: the first error is kept for profile_writer_close, and nothing is written after it. Strings are cut
 * after 16383 bytes. */
void profile_write(struct profile_writer *w, const struct profile_record *r);
/* Writes the current block, which is otherwise written when it is full. */
void profile_writer_flush(struct profile_writer *w);
/* Writes PROFILE_END and closes the file. */
int profile_writer_close(struct profile_writer *w, struct error *err) MUST_CHECK;
/* Closes the file after a failed run: writes all records, but not PROFILE_END. */
void profile_writer_abandon(struct profile_writer *w);

/* ---- reading */

struct profile_reader;

/* `name` is for messages. The caller keeps `from` open until the reader is freed, and closes it. */
struct profile_reader *profile_reader_new(FILE *from, const char *name, struct error *err) MUST_CHECK;
/* 1: `to` is the next record; its strings live until the next call. 0: PROFILE_END, or the end of a file that was cut
 * off. Negative: the file is damaged; the message says where. References are checked: a returned record refers only to
 * announced events and chains. */
int profile_read(struct profile_reader *r, struct profile_record *to, struct error *err) MUST_CHECK;
bool profile_reader_complete(const struct profile_reader *r); /* PROFILE_END was read */
void profile_reader_free(struct profile_reader *r);

#endif
