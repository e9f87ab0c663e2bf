/* The branch unit of a core's front end: direction predictor, BTB, return stack, predictor of indirect targets.
 *
 * Each fetched control transfer is predicted once. A prediction advances the speculative state (global history, return
 * stack, path of indirect targets) by the predicted outcome. The core keeps the branch_record until the branch retires
 * or is squashed:
 *
 *     branch_predict(b, &r)                      at fetch
 *     branch_recover(b, &r, taken, target)       after a misprediction: restores the speculative state from before this
 *                                                branch and advances it by the real outcome
 *     branch_retire(b, &r, taken, target)        at commit: trains the tables
 *
 * Tables learn only from retired branches, in program order. A squashed branch leaves no trace: recovery of the older
 * mispredicted branch undoes its effect on the speculative state. The target of a direct branch is known at decode, so
 * a BTB miss costs a misfetch and not a misprediction. Targets of returns come from the return stack. Targets of other
 * indirect jumps come from the table of indirect targets, or else from the BTB.
 *
 * Limits: tables are not banked and serve any number of predictions per cycle. Recovery restores only the top of the
 * return stack: entries below it that a wrong path overwrote stay lost (return_stack.h). At most
 * BRANCH_HISTORY_BITS - BRANCH_TAGE_HISTORY conditional branches may be in flight. */
#ifndef CYCLESCOPE_BRANCH_BRANCH_H
#define CYCLESCOPE_BRANCH_BRANCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/state_visitor.h"

enum branch_kind {
    BRANCH_CONDITIONAL,
    BRANCH_JUMP,          /* direct jump */
    BRANCH_CALL,          /* direct, pushes onto the return stack */
    BRANCH_INDIRECT,      /* jump through a register */
    BRANCH_INDIRECT_CALL, /* through a register, pushes onto the return stack */
    BRANCH_RETURN,        /* pops the return stack */
    BRANCH_CORETURN       /* pops, then pushes: jalr x1, x5 and similar */
};

struct branch_config {
    unsigned direction;             /* index in branch_directions */
    unsigned bimodal_bits;          /* log2 of the two-bit counters of bimodal, hybrid and TAGE's base */
    unsigned gshare_bits;           /* log2 of the two-bit counters of gshare and hybrid */
    unsigned history_bits;          /* length of gshare's global history, at most gshare_bits */
    unsigned chooser_bits;          /* log2 of the hybrid's two-bit choosers */
    unsigned tage_tables;           /* number of tagged tables */
    unsigned tage_bits;             /* log2 of the entries of each tagged table */
    unsigned tage_tag_bits;         /* tag bits of the shortest history; longer ones have up to 4 more */
    unsigned tage_min_history;      /* shortest history; lengths are a geometric series */
    unsigned tage_max_history;      /* longest history */
    unsigned btb_entries, btb_ways; /* 0 entries: targets of direct branches are always known at fetch */
    unsigned ras_entries;           /* 0: no return stack; a full one overwrites its oldest entry */
    unsigned indirect_bits;         /* log2 of the table of indirect targets by pc and path; 0: BTB only */
};

enum {
    BRANCH_NOTE_WORDS = 16,                     /* words that a direction predictor may keep per branch */
    BRANCH_TAGE_TABLES = BRANCH_NOTE_WORDS - 1, /* most tagged tables: TAGE keeps one word for each */
    BRANCH_TAGE_HISTORY = 1000,                 /* longest history that TAGE may have */
    BRANCH_HISTORY_BITS = 8192                  /* outcomes that TAGE keeps: longest history and branches in flight */
};

/* A control transfer in flight. The caller fills in the first four fields, branch_predict the others. */
struct branch_record {
    uint64_t pc;
    uint64_t fallthrough;   /* pc + length */
    uint64_t direct;        /* target, if direct */
    enum branch_kind kind;  /* kind of control transfer */
    bool taken;             /* predicted direction */
    bool misfetch;          /* direct, predicted taken, not in the BTB: decode finds the target */
    bool has_target;        /* false: indirect without a predicted target; `next` is the fall-through. For tests */
    uint64_t next;          /* predicted address of the next instruction */
    uint64_t ras_top_value; /* return stack before this branch: address at its top */
    uint32_t ras_top;       /* return stack before this branch: place of its top, and count */
    uint32_t path_note;     /* index in the table of indirect targets, or UINT32_MAX */
    uint64_t path_before;   /* history of indirect targets before this branch */
    uint64_t note[BRANCH_NOTE_WORDS]; /* direction predictor's snapshot of its state before this branch */
};

/* A direction predictor. To add one: write a file that defines its struct, and add a row to direction.def. */
struct direction_predictor {
    const char *name;
    const char *help;                               /* one line for `cyclescope list params` */
    void *(*create)(const struct branch_config *c); /* returns NULL: out of memory. NULL: no state */
    void (*destroy)(void *state);
    void (*visit)(void *state, state_visitor *visit,
                  void *context); /* visits all blocks of the state; NULL: no state */
    /* Returns the predicted direction, and writes to `note` what `recover` and `train` will need. `backward`: the
     * target is not after the branch. */
    bool (*predict)(void *state, uint64_t pc, bool backward, uint64_t *note);
    /* Advances the speculative history; NULL: no history. Called for conditional branches only. */
    void (*speculate)(void *state, uint64_t pc, bool taken);
    /* Restores the speculative history from before the branch with this note; NULL: no history. */
    void (*recover)(void *state, const uint64_t *note);
    /* The branch retires: trains the tables. NULL: nothing to learn. */
    void (*train)(void *state, uint64_t pc, bool taken, const uint64_t *note);
    /* Writes the history to the note of a branch that is not conditional, so that `recover` works. NULL: no history. */
    void (*mark)(void *state, uint64_t *note);
};

extern const struct direction_predictor *const branch_directions[]; /* NULL after the last */
const char *branch_direction_name(unsigned i);                      /* NULL after the last */

struct branch_unit;

struct branch_unit *branch_new(const struct branch_config *c, struct error *err) MUST_CHECK;
void branch_free(struct branch_unit *b);
/* Visits all blocks of state, speculative state included. */
void branch_visit_state(struct branch_unit *b, state_visitor *visit, void *context);
bool branch_state_is_possible(const struct branch_unit *b); /* whether state that came from a file is valid */
void branch_predict(struct branch_unit *b, struct branch_record *r);
void branch_recover(struct branch_unit *b, const struct branch_record *r, bool taken, uint64_t target);
static inline void branch_retire(struct branch_unit *b, const struct branch_record *r, bool taken, uint64_t target);

/* Functional warming, where the outcome is known at fetch: branch_predict, and branch_recover if the prediction is
 * wrong, in one. Return whether it is. The record then serves branch_retire. */
static inline bool branch_warm_conditional(struct branch_unit *b, struct branch_record *r, bool taken, uint64_t target);
static inline bool branch_warm_jump(struct branch_unit *b, struct branch_record *r, uint64_t target);

/* The same for a loop over many transfers, if branch_can_view. Between opening and closing, only branch_view_* and
 * branch_warm_jump are called. */
struct branch_view;
static inline bool branch_can_view(const struct branch_unit *b);
static inline struct branch_view branch_open(struct branch_unit *b);
static inline bool branch_view_conditional(struct branch_view *v, struct branch_record *r, bool taken);
static inline void branch_view_retire(const struct branch_view *v, const struct branch_record *r, bool taken,
                                      uint64_t target);
static inline void branch_close(const struct branch_view *v);

#include "branch/unit.h"

#endif
