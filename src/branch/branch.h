/* The branch unit of a core's front end: direction predictor, BTB, return stack, predictor of indirect targets.
 *
 * A fetched control transfer is predicted once. Prediction moves the speculative state (global history, return stack)
 * on by the predicted outcome. The core keeps the branch_record until the branch retires or is squashed:
 *
 *     branch_predict(b, &r)                      at fetch
 *     branch_recover(b, &r, taken, target)       if the outcome turns out to be another one: speculative state is as it
 *                                                was before this branch, moved on by the real outcome
 *     branch_retire(b, &r, taken, target)        at commit: tables learn
 *
 * Squashed branches leave no trace but in records of older ones that are recovered, so tables learn only from retired
 * branches, in program order. Targets of direct branches are known once decoded: a BTB miss there costs a misfetch, no
 * misprediction. Targets of returns come from the return stack, those of other indirect jumps from the table of
 * indirect targets and else from the BTB.
 * Limits: tables are not banked and are read as often per cycle as fetch asks. The return stack is repaired from its
 * top alone: return addresses below it that a wrong path overwrote stay lost (see return_stack.h). At most
 * BRANCH_HISTORY_BITS - BRANCH_TAGE_HISTORY conditional branches may be in flight. */
#ifndef CYCLESCOPE_BRANCH_BRANCH_H
#define CYCLESCOPE_BRANCH_BRANCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/state.h"

enum branch_kind {
    BRANCH_CONDITIONAL,
    BRANCH_JUMP,          /* direct */
    BRANCH_CALL,          /* direct, pushes the return stack */
    BRANCH_INDIRECT,      /* through a register */
    BRANCH_INDIRECT_CALL, /* and pushes */
    BRANCH_RETURN,        /* pops */
    BRANCH_CORETURN       /* pops, then pushes: jalr x1, x5 and the like */
};

struct branch_config {
    unsigned direction;             /* row of branch_directions */
    unsigned bimodal_bits;          /* log2 of two-bit counters, also of the hybrid's */
    unsigned gshare_bits;           /* log2 of two-bit counters, also of the hybrid's */
    unsigned history_bits;          /* global history of gshare, at most gshare_bits */
    unsigned chooser_bits;          /* log2 of the hybrid's two-bit choosers */
    unsigned tage_tables;           /* tagged tables */
    unsigned tage_bits;             /* log2 of the entries of each */
    unsigned tage_tag_bits;         /* of the shortest history; longer ones have up to 4 more */
    unsigned tage_min_history;      /* history lengths are a geometric series from here ... */
    unsigned tage_max_history;      /* ... to here */
    unsigned btb_entries, btb_ways; /* 0 entries: targets of direct branches are always known at fetch */
    unsigned ras_entries;           /* 0: none; overwrites its oldest entry when full */
    unsigned indirect_bits;         /* log2 of the target table, indexed by pc and path; 0: BTB only */
};

enum {
    BRANCH_NOTE_WORDS = 16,
    BRANCH_TAGE_TABLES = BRANCH_NOTE_WORDS - 1, /* at most: TAGE notes a word for each */
    BRANCH_TAGE_HISTORY = 1000,                 /* at most: its longest history */
    BRANCH_HISTORY_BITS = 8192                  /* what it keeps of the past: longest history and branches in flight */
};

/* One in-flight control transfer. The caller fills in the first four fields. */
struct branch_record {
    uint64_t pc;
    uint64_t fallthrough; /* pc + length */
    uint64_t direct;      /* target of a direct one */
    enum branch_kind kind;
    bool taken;    /* predicted */
    bool misfetch; /* direct, predicted taken, and the BTB did not know it: the front end finds the target at decode */
    bool has_target;                  /* false: indirect and nobody has an idea; `next` is then the fall-through */
    uint64_t next;                    /* predicted address of the next instruction */
    uint64_t ras_top_value;           /* return stack before this branch: the entry at its top ... */
    uint32_t ras_top;                 /* ... where that is, and how many there are */
    uint32_t path_note;               /* index of the indirect target table that was used, or UINT32_MAX */
    uint64_t path_before;             /* history of indirect targets before this branch */
    uint64_t note[BRANCH_NOTE_WORDS]; /* the direction predictor's own; it describes its state before this branch */
};

/* A direction predictor. To add one: a file that defines its struct, and a row in direction.def. */
struct direction_predictor {
    const char *name;
    const char *help;                               /* one line for `cyclescope list params` */
    void *(*create)(const struct branch_config *c); /* NULL: out of memory. No function if there is no state */
    void (*destroy)(void *state);
    void (*visit)(void *state, state_visitor *visit, void *context); /* all blocks of it; NULL without a state */
    /* Predicts, and notes what `recover` and `train` will need. `backward`: the target lies before the branch. */
    bool (*predict)(void *state, uint64_t pc, bool backward, uint64_t *note);
    /* Moves the speculative history on; NULL if there is none. Called for conditional branches only. */
    void (*speculate)(void *state, uint64_t pc, bool taken);
    /* Sets the speculative history to what it was before the branch that has this note; NULL if there is none. */
    void (*recover)(void *state, const uint64_t *note);
    /* The branch retires; NULL if there is nothing to learn. */
    void (*train)(void *state, uint64_t pc, bool taken, const uint64_t *note);
    /* For records of branches that are no conditional ones: notes the history so that `recover` works. May be NULL. */
    void (*mark)(void *state, uint64_t *note);
};

extern const struct direction_predictor *const branch_directions[]; /* ends with NULL */
const char *branch_direction_name(unsigned i);                      /* NULL behind the last */

struct branch_unit;

struct branch_unit *branch_new(const struct branch_config *c, struct error *err) MUST_CHECK;
void branch_free(struct branch_unit *b);
void branch_visit_state(struct branch_unit *b, state_visitor *visit, void *context);
bool branch_state_is_possible(const struct branch_unit *b); /* after it came from a file */
void branch_predict(struct branch_unit *b, struct branch_record *r);
void branch_recover(struct branch_unit *b, const struct branch_record *r, bool taken, uint64_t target);
void branch_retire(struct branch_unit *b, const struct branch_record *r, bool taken, uint64_t target);

#endif
