/* Builds the cycle_record of the current cycle.
 *
 * A record is two 64-bit words. The first word holds what each stage moved and why it moved no more: a stage returns
 * its part (stage_result), and the core combines the parts with OR. The second word holds everything else: stages add
 * to it in struct record_builder, and record_rest completes it at the end of the cycle.
 *
 * The words stay in registers and are compared with those of the previous cycle. A record that was written byte by byte
 * and read back as words would stall the host on store forwarding in every cycle. Only this file knows where a field
 * lies in its word. Limit: the host is little-endian. */
#ifndef CYCLESCOPE_CORE_RECORD_H
#define CYCLESCOPE_CORE_RECORD_H

#include <stddef.h>
#include <string.h>

#include "core/core.h"

/* Stages in the order in which a record lists them. */
enum stage { STAGE_FETCH, STAGE_DISPATCH, STAGE_ISSUE, STAGE_COMMIT };

_Static_assert(sizeof(struct cycle_record) == 2 * sizeof(uint64_t), "a record is two words");

/* Lowest bit of a record's field in its word. */
#define RECORD_SHIFT(field) (8 * (unsigned)(offsetof(struct cycle_record, field) % sizeof(uint64_t)))

struct record_builder {
    uint64_t stages; /* first word: results of commit, issue and dispatch; set before fetch runs */
    uint64_t rest;   /* second word: wrong-path counts, cause, cut and mode of this cycle so far */
    uint64_t mode;   /* value of `rest` at the start of a cycle: CYCLE_MACHINE in machine mode, else 0 */
};

static inline void record_begin(struct record_builder *b)
{
    b->rest = b->mode;
}

/* A stage's part of the first word. `moved`: instructions; `stop`: the stage's enum (fetch_stop, dispatch_stop, ...).
 */
static inline uint64_t stage_result(enum stage stage, unsigned moved, unsigned stop)
{
    return (uint64_t)moved << (RECORD_SHIFT(fetched) + 8 * stage) | (uint64_t)stop
                                                                        << (RECORD_SHIFT(fetch_stop) + 8 * stage);
}

static inline unsigned stage_moved(uint64_t stages, enum stage stage)
{
    return stages >> (RECORD_SHIFT(fetched) + 8 * stage) & 0xff;
}

static inline unsigned stage_stop(uint64_t stages, enum stage stage)
{
    return stages >> (RECORD_SHIFT(fetch_stop) + 8 * stage) & 0xff;
}

/* Whether any stage moved an instruction. */
static inline bool stages_moved(uint64_t stages)
{
    return (uint32_t)stages != 0;
}

/* Of the instructions that dispatch, or issue, counts in its stage_result, `moved` are on the wrong path. */
static inline void record_add_wrong_dispatched(struct record_builder *b, unsigned moved)
{
    b->rest += (uint64_t)moved << RECORD_SHIFT(dispatched_wrong);
}

static inline void record_add_wrong_issued(struct record_builder *b, unsigned moved)
{
    b->rest += (uint64_t)moved << RECORD_SHIFT(issued_wrong);
}

/* The ROB is empty when the cycle begins. Called at most once per cycle. */
static inline void record_set_cause(struct record_builder *b, enum front_cause cause)
{
    b->rest |= (uint64_t)cause << RECORD_SHIFT(cause);
}

/* A miss or misfetch that begins in this cycle leaves `slots` decode slots empty. Called at most once per cycle. */
static inline void record_set_cut(struct record_builder *b, unsigned slots)
{
    b->rest |= (uint64_t)slots << RECORD_SHIFT(cut);
}

static inline bool record_has_cut(const struct record_builder *b)
{
    return b->rest >> RECORD_SHIFT(cut) != 0;
}

/* Sets the mode of this cycle and of all cycles that follow. */
static inline void record_set_machine_mode(struct record_builder *b, bool machine)
{
    const uint64_t bit = (uint64_t)CYCLE_MACHINE << RECORD_SHIFT(flags);
    b->mode = machine ? bit : 0;
    b->rest = (b->rest & ~bit) | b->mode;
}

/* The complete second word. `flags`: enum cycle_flag without CYCLE_MACHINE. */
static inline uint64_t record_rest(const struct record_builder *b, unsigned rob, unsigned head_wait, uint64_t flags)
{
    return rob | (uint64_t)head_wait << RECORD_SHIFT(head_wait) | flags << RECORD_SHIFT(flags) | b->rest;
}

static inline bool record_equals(const struct cycle_record *r, uint64_t stages, uint64_t rest)
{
    uint64_t word[2];
    memcpy(word, r, sizeof word);
    return stages == word[0] && rest == word[1];
}

static inline void record_store(struct cycle_record *r, uint64_t stages, uint64_t rest)
{
    memcpy(r, (uint64_t[2]){stages, rest}, sizeof *r);
}

#endif
