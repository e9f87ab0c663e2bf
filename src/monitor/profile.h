/* A profile in memory: what `record` wrote, added up while it is read.
 *
 * Samples with the same event, instruction and call chain are one cell, so that memory grows with the places that were
 * sampled and not with the samples: 50 bytes a cell. Weights of an event sum to its `weight`, which is less than 2^63,
 * so that no sum of some of them overflows.
 *
 * The order in time is lost, and with it which of two files that were mapped at an address one after the other a sample
 * was in: symbols are those of the last one. */
#ifndef CYCLESCOPE_MONITOR_PROFILE_H
#define CYCLESCOPE_MONITOR_PROFILE_H

#include "monitor/profile_file.h"

struct profile_value { /* struct profile_info, owned */
    char *name, *value;
};

struct profile_counted { /* an event and what was seen of it */
    char *name;
    uint64_t period; /* 0: every one is counted, weights are exact */
    bool cycles;     /* it counts cycles */
    bool has_total;  /* `total` is known */
    uint64_t total;  /* how often it happened, exactly */
    uint64_t weight, samples;
    uint64_t caused; /* samples whose cause is known */
};

struct profile_cell {
    uint64_t pc, weight, samples;
    uint32_t event, chain;
};

struct profile_node { /* a call chain; 0 is the one of code that was never called, and its own parent */
    uint64_t site, entry;
    uint32_t parent; /* less than its own number */
};

enum { PROFILE_OUTCOME_BITS = 9 }; /* bits of enum insn_event */

/* What is known of an instruction's sampled executions. */
struct profile_history {
    uint64_t pc;
    uint32_t event;
    uint64_t samples, retired, mispredicted;
    uint64_t outcome[PROFILE_OUTCOME_BITS]; /* samples with each bit */
    uint64_t retired_mispredicted;          /* and of those that retired */
    uint64_t retired_outcome[PROFILE_OUTCOME_BITS];
    uint64_t latency_cycles[PROFILE_STAGES]; /* of those that retired */
    uint64_t pairs, slots;                   /* pairs that it is the first of, and issue slots wasted within them */
};

/* Accesses of an instruction to an address. */
struct profile_access {
    uint64_t pc, address, weight;
    uint32_t event, samples, stores;
    uint32_t l1d, l2d, dtlb; /* samples that missed */
};

/* Samples that are charged to one instruction and caused by another. */
struct profile_mistake {
    uint64_t pc, cause, samples;
    uint32_t event;
};

struct profile {
    struct profile_value *info;
    struct profile_counted *event;
    struct profile_map *map; /* paths owned */
    struct profile_node *node;
    struct profile_cell *cell;
    struct profile_history *history;
    struct profile_access *access; /* only if asked for */
    struct profile_mistake *mistake;
    size_t infos, events, maps, nodes, cells, histories, accesses, mistakes;
    uint64_t samples; /* of all events */
    bool complete;    /* the run ended; if not, the profile is what was written until it was cut off */
};

/* Reads all of `from`, which stays the caller's; `name` is for messages. NULL with a sentence. Names and values are
 * made fit to print; paths of mappings are left as they are. */
struct profile *profile_load(FILE *from, const char *name, bool accesses, struct error *err) MUST_CHECK;
void profile_free(struct profile *p);

/* Of the run, or NULL. */
const char *profile_info_of(const struct profile *p, const char *name);
/* By name, or by number; -EINVAL with a sentence that lists what there is. */
int profile_find_event(const struct profile *p, const char *option, const char *name, struct error *err) MUST_CHECK;
/* The mapping that an address was in last, or NULL. */
const struct profile_map *profile_map_of(const struct profile *p, uint64_t address);

#endif
