/* Basic block vectors: per interval of a run, how many instructions retired in each basic block.
 *
 * This is the weighting of SimPoint's .bb files, entries times instructions of the block, so a vector sums to the
 * interval's instructions. Vectors are sparse and kept in one array. All of phases/ works on such a set, whether it
 * comes from our engine or from another tool's file. */
#ifndef CYCLESCOPE_PHASES_BBV_H
#define CYCLESCOPE_PHASES_BBV_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "emulate/engine.h"
#include "guest/process.h"

enum { BBV_MOST = 1 << 17 }; /* vectors that can be analysed in a bearable time */

struct bbv_entry {
    uint32_t block; /* from 0 on */
    uint64_t insns; /* that retired in it, at least 1 */
};

struct bbv {
    size_t first, count; /* its entries */
    uint64_t insns;      /* their sum */
};

/* What was mapped where, for names of addresses; later ones replace what they cover of earlier ones. */
struct bbv_map {
    uint64_t start, length, offset;
    char *path; /* "" for no file */
};

/* All zero is an empty set. */
struct bbv_set {
    struct bbv_entry *entry;
    size_t entry_count, entry_room;
    struct bbv *vector;
    size_t count, room;
    uint32_t blocks;           /* one more than the highest block */
    uint64_t interval;         /* instructions; of a file: the average of all vectors but the last */
    uint64_t insns;            /* of the run, with those behind the last vector */
    struct basic_block *block; /* `blocks` of them; NULL for a file, which does not tell */
    size_t block_room;
    struct bbv_map *map;
    size_t map_count, map_room;
};

/* Builds the vector behind the last one entry by entry, then ends it. 0 or -ENOMEM, without a sentence. */
int bbv_add(struct bbv_set *s, uint32_t block, uint64_t insns) MUST_CHECK;
int bbv_end(struct bbv_set *s) MUST_CHECK;
void bbv_drop(struct bbv_set *s); /* the vector that is being built */
void bbv_free(struct bbv_set *s);

/* Runs the process to its end. Vectors are those of the process itself, all its threads together in the order in which
 * they ran; processes that it forks run on without being counted. A program that it changes to (execve), and code that
 * replaces other code at the same addresses, share numbers with what was there before. The instructions behind the last
 * whole interval make a vector of their own if they are at least half of one, or if there is no other. -E2BIG, with the
 * process in the middle of its run, if there are more than BBV_MOST. */
int bbv_profile(struct process *p, uint64_t interval, struct bbv_set *s, struct error *err) MUST_CHECK;

/* Notes block number `number`, one more than the last that was noted, and what is mapped there. 0 or -ENOMEM, without a
 * sentence. */
int bbv_note_block(struct bbv_set *s, const struct guest_memory *m, uint32_t number,
                   const struct basic_block *block) MUST_CHECK;

/* .bb files: a line `T:block:insns :block:insns ...` for each interval, blocks from 1 on; other lines are remarks. A
 * file that is compressed with gzip is read as well. Blocks of a file that is read are numbered by first appearance. */
void bbv_write(const struct bbv_set *s, FILE *to);
int bbv_read(const char *path, struct bbv_set *s, struct error *err) MUST_CHECK;

#endif
