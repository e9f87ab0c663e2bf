/* The functions that run in a phase, and the calls between them.
 *
 * A phase is a cluster of intervals. Instructions of a basic block are charged to the function that contains the start
 * of the block. A call is a basic block that ends in a direct call (`jal`, or `auipc` and `jalr`); it is counted each
 * time the block runs to its end. A direct jump to the start of another function also counts as a call. A call to a
 * stub of the procedure linkage table counts as a call to the function that the stub is named after, if that function
 * ran.
 *
 * Limits: indirect calls (function pointers, virtual functions, an interpreter's dispatch) are not counted. */
#ifndef CYCLESCOPE_REPORT_PHASE_FUNCTIONS_H
#define CYCLESCOPE_REPORT_PHASE_FUNCTIONS_H

#include "phases/cluster.h"

struct phase_functions;

struct phase_function {
    const char *name, *module; /* sanitized by clean_text */
    const char *file;          /* source file in which the function begins; NULL: unknown */
    unsigned line;             /* line in `file` at which the function begins, or 0 */
};

struct phase_share {
    uint32_t function; /* number for phase_function_at */
    double insns;      /* instructions that retired in the function during the phase */
};

struct phase_call {
    uint32_t from, to; /* numbers of caller and callee */
    double count;      /* calls during the phase */
};

struct phase_code {
    double insns;              /* instructions of the phase */
    struct phase_share *share; /* by instructions, largest first */
    struct phase_call *call;   /* by count, most frequent first */
    size_t shares, calls;      /* lengths of `share` and `call` */
};

/* Looks up the function of each basic block of `s`. The set must come from a run, not from a .bb file: `s->block` is
 * set. `s` must outlive the result. NULL with a message in `err` if memory ran out. */
struct phase_functions *phase_functions_new(const struct bbv_set *s, const char *sysroot, struct error *err) MUST_CHECK;
void phase_functions_free(struct phase_functions *f);

/* Names and source line of a function. The strings live as long as `f`. The source line is looked up in DWARF on first
 * use. */
struct phase_function phase_function_at(struct phase_functions *f, uint32_t function);

/* Fills in `to` with the functions and calls of cluster `k`; free it with phase_code_free. 0, or -ENOMEM with a
 * message, in which case `to` is empty. */
int phase_code_find(const struct phase_functions *f, const struct clusters *c, unsigned k, struct phase_code *to,
                    struct error *err) MUST_CHECK;
void phase_code_free(struct phase_code *code);

#endif
