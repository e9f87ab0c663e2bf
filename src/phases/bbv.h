/* Basic block vectors: for each interval of a run, how often each basic block was entered, and how many instructions
 * retired in it.
 *
 * Sherwood, Perelman and Calder (2001) count entries; this is the form that the analysis of phases uses. SimPoint's .bb
 * files and its clustering weight the entries of a block by its size, which is the number of its instructions; such a
 * vector sums to the instructions of its interval. A set has both forms; that of a .bb file has only the second.
 *
 * An entry belongs to the interval in which the first instruction of the block retires. An interval in which no block
 * begins has one entry of each block that it continues.
 *
 * Vectors are sparse and stored in one array. All of phases/ works on such a set; it comes from a run of our
 * interpreter or from the file of another tool. */
#ifndef CYCLESCOPE_PHASES_BBV_H
#define CYCLESCOPE_PHASES_BBV_H

#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "emulate/engine.h"
#include "guest/process.h"

enum { BBV_MOST = 1 << 17 }; /* most vectors of a set: the analysis takes quadratic time */

/* Which of the two numbers of a block makes up a vector. */
enum bbv_weight { BBV_INSNS, BBV_ENTRIES };

struct bbv_entry {
    uint32_t block; /* number of the block, from 0 on */
    float entries;  /* how often it was entered; exact up to 16 M. 4 bytes, since there are very many of them */
    uint64_t insns; /* instructions that retired in it, at least 1 */
};

struct bbv {
    size_t first, count; /* its entries in bbv_set.entry */
    uint64_t insns;      /* sum of its entries */
    double entries;      /* the same, more than 0 */
};

/* A mapping of the guest, to find names of addresses. A later mapping replaces the parts of earlier ones that it
 * covers.
 */
struct bbv_map {
    uint64_t start, length;
    uint64_t offset; /* in the file */
    char *path;      /* "": not a file */
};

struct fine_signal;

/* All zero is an empty set. */
struct bbv_set {
    struct bbv_entry *entry;
    size_t entry_count, entry_room;
    struct bbv *vector;
    size_t count, room;
    enum bbv_weight weight;    /* what the analysis compares */
    uint32_t blocks;           /* highest block number plus 1 */
    uint64_t interval;         /* instructions of an interval; of a file: average of all vectors but the last */
    uint64_t insns;            /* instructions of the run, with those after the last vector */
    struct basic_block *block; /* by block number; NULL for a file, which does not contain addresses */
    size_t block_room;
    struct bbv_map *map;
    size_t map_count, map_room;
};

/* The weight of a block in its vector, and the sum of all weights of a vector, in the form that the set analyzes. */
static inline double bbv_weight_of(const struct bbv_set *s, const struct bbv_entry *e)
{
    return s->weight == BBV_ENTRIES ? (double)e->entries : (double)(int64_t)e->insns;
}

static inline double bbv_sum_of(const struct bbv_set *s, const struct bbv *v)
{
    return s->weight == BBV_ENTRIES ? v->entries : (double)(int64_t)v->insns;
}

/* A vector is built entry by entry and ended by bbv_end, which appends it to the set. bbv_add is for vectors that have
 * instructions only. 0 or -ENOMEM, without a message. */
int bbv_add(struct bbv_set *s, uint32_t block, uint64_t insns) MUST_CHECK;
int bbv_add_entered(struct bbv_set *s, uint32_t block, uint64_t insns, uint64_t entries) MUST_CHECK;
int bbv_end(struct bbv_set *s) MUST_CHECK;
void bbv_free(struct bbv_set *s);

/* Runs the process to its end and profiles it. Vectors cover all threads of the process, in the order in which they
 * ran; processes that it forks run uncounted. A program that replaces it (execve), and code that replaces other code at
 * the same addresses, share block numbers with what was there before. The instructions after the last complete interval
 * make a vector if they are at least half an interval, or if there is no other vector. -E2BIG if there are more than
 * BBV_MOST vectors; the process has not ended then. */
int bbv_profile(struct process *p, uint64_t interval, struct bbv_set *s, struct error *err) MUST_CHECK;

/* The same, with an interval that follows from the run if `interval` is 0: 1, 2, 10, 20, 100 ... thousand instructions,
 * such that there are 200 to 1000 vectors. Also records the fine signal in the same pass, unless `fine` is NULL.
 * `progress`, unless NULL, is called now and then with the instructions so far. */
int bbv_profile_with(struct process *p, uint64_t interval, struct bbv_set *s, struct fine_signal *fine,
                     void (*progress)(void *context, uint64_t insns), void *context, struct error *err) MUST_CHECK;

/* Adds block number `number`, which must be the number of blocks added so far, and the mapping that contains it. 0 or
 * -ENOMEM, without a message. */
int bbv_note_block(struct bbv_set *s, const struct guest_memory *m, uint32_t number,
                   const struct basic_block *block) MUST_CHECK;

/* Writes and reads .bb files, which have instructions and no entries: a line `T:block:insns :block:insns ...` for each
 * interval, with blocks numbered from 1 on; other lines are comments. bbv_read also reads files compressed with gzip,
 * and numbers blocks by first appearance.
 */
void bbv_write(const struct bbv_set *s, FILE *to);
int bbv_read(const char *path, struct bbv_set *s, struct error *err) MUST_CHECK;

#endif
