/* The functions that make up a phase, and how they call each other.
 *
 * A phase is a cluster of intervals. Instructions of a basic block belong to the function that it begins in. Calls are
 * those whose target the code tells: a basic block that ends in `jal` or in `auipc` and `jalr`, as often as it ran to
 * its end. A jump to the start of another function is a call as well. A call of a stub of the procedure linkage table
 * is one of the function that it is named after, if that one ran too. Calls through pointers, virtual functions and
 * interpreters' dispatch are not seen. */
#ifndef CYCLESCOPE_REPORT_PHASE_FUNCTIONS_H
#define CYCLESCOPE_REPORT_PHASE_FUNCTIONS_H

#include "phases/cluster.h"

struct phase_functions;

struct phase_function {
    const char *name, *module; /* fit to print */
    const char *file;          /* where it begins; NULL: not known */
    unsigned line;
};

struct phase_share {
    uint32_t function;
    double insns; /* that retired in it */
};

struct phase_call {
    uint32_t from, to; /* functions */
    double count;
};

struct phase_code {
    double insns;              /* of the phase */
    struct phase_share *share; /* the largest first */
    struct phase_call *call;   /* the most frequent first */
    size_t shares, calls;
};

/* Of a set that comes from a run: one with `block`. NULL without memory, with a sentence. */
struct phase_functions *phase_functions_new(const struct bbv_set *s, const char *sysroot, struct error *err) MUST_CHECK;
void phase_functions_free(struct phase_functions *f);

/* Lines are looked up when they are first asked for. */
struct phase_function phase_function_at(struct phase_functions *f, uint32_t function);

/* What cluster number `k` is made of; 0 or -ENOMEM with a sentence. */
int phase_code_find(const struct phase_functions *f, const struct clusters *c, unsigned k, struct phase_code *to,
                    struct error *err) MUST_CHECK;
void phase_code_free(struct phase_code *code);

#endif
