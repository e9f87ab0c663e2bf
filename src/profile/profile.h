/* Analysis: a profile in memory. Loads what recording (recorder.h) wrote to disk, and aggregates it while it reads.
 * Read the files of analysis in this order; reports in src/report and src/cmd print the results:
 *
 *     profile.h                               the loaded profile
 *     profile_names.h                         functions and source lines of its instructions
 *     profile_rows.h, profile_inclusive.c     weights by function, line, instruction or module; inclusive weights
 *     profile_tree.h                          call tree of one event
 *     profile_data.h                          accesses by cache line
 *     profile_history.h, profile_truth.h      histories of instructions; errors of attribution
 *
 * Samples with the same event, instruction and call chain form one cell, so memory grows with the sampled places and
 * not with the samples: 50 bytes per cell. The weights of an event's cells sum to the event's `weight`, which is less
 * than 2^63, so no partial sum overflows.
 *
 * The order in time is lost. If two files were mapped at the same address one after the other, all samples there get
 * the symbols of the last one. */
#ifndef CYCLESCOPE_PROFILE_PROFILE_H
#define CYCLESCOPE_PROFILE_PROFILE_H

#include "profile/profile_file.h"

struct profile_value { /* a copy of struct profile_info; the strings are owned */
    char *name, *value;
};

struct profile_counted { /* an event and its totals */
    char *name;
    uint64_t period;          /* mean events per sample; 0: every event is counted, weights are exact */
    bool cycles;              /* the event counts cycles */
    bool has_total;           /* `total` is known */
    uint64_t total;           /* exact count of the event in the run */
    uint64_t weight, samples; /* sums over its samples */
    uint64_t caused;          /* samples with a known cause */
};

struct profile_cell {
    uint64_t pc, weight, samples;
    uint32_t event, chain;
};

struct profile_node { /* a call chain, see struct profile_chain; node 0 is the empty chain and its own parent */
    uint64_t site, entry;
    uint32_t parent; /* less than the node's own number */
};

enum { PROFILE_OUTCOME_BITS = 9 }; /* bits of enum insn_event */

/* Sums over the sampled executions of an instruction that have a history. */
struct profile_history {
    uint64_t pc;
    uint32_t event;
    uint64_t samples, retired, mispredicted;        /* all executions; those that retired; those mispredicted */
    uint64_t outcome[PROFILE_OUTCOME_BITS];         /* executions with each bit of enum insn_event */
    uint64_t retired_mispredicted;                  /* executions that retired and were mispredicted */
    uint64_t retired_outcome[PROFILE_OUTCOME_BITS]; /* executions that retired, with each bit */
    uint64_t latency_cycles[PROFILE_STAGES];        /* of executions that retired */
    uint64_t pairs;                                 /* pairs in which the instruction is the first */
    uint64_t slots;                                 /* issue slots wasted within those pairs */
};

/* Sampled accesses of an instruction to an address. */
struct profile_access {
    uint64_t pc, address, weight;
    uint32_t event, samples, stores;
    uint32_t l1d, l2d, dtlb; /* samples that missed there */
};

/* Misattributed samples: charged to the instruction at `pc`, but caused by the one at `cause`. */
struct profile_mistake {
    uint64_t pc, cause, samples;
    uint32_t event;
};

struct profile {
    struct profile_value *info;
    struct profile_counted *event;
    struct profile_map *map; /* in the order of the file; paths are owned */
    struct profile_node *node;
    struct profile_cell *cell;
    struct profile_history *history;
    struct profile_access *access; /* empty unless profile_load was asked for accesses */
    struct profile_mistake *mistake;
    size_t infos, events, maps, nodes, cells, histories, accesses, mistakes; /* lengths of the arrays */
    uint64_t samples;                                                        /* of all events */
    bool complete; /* the run ended; false: the profile was cut off */
};

/* Reads all of `from`, which the caller closes; `name` is for messages. NULL with a message. Names and values are
 * cleaned (clean_text), so that they can be printed; paths of mappings are left as they are. */
struct profile *profile_load(FILE *from, const char *name, bool accesses, struct error *err) MUST_CHECK;
void profile_free(struct profile *p);

/* The value of a property of the run (struct profile_info), or NULL. */
const char *profile_info_of(const struct profile *p, const char *name);
/* The number of the event with this name, or with this number as text. -EINVAL with a message that lists the events;
 * `option` is the command line option that named the event, for the message. */
int profile_find_event(const struct profile *p, const char *option, const char *name, struct error *err) MUST_CHECK;
/* The last mapping that contained the address, or NULL. */
const struct profile_map *profile_map_of(const struct profile *p, uint64_t address);

#endif
