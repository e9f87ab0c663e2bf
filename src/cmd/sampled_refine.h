/* The passes of a sampled run after the first one (phases/refine.h, phases/settle.h): they measure windows of all
 * kinds, more windows until the CPI is known as well as asked for, and what wrong paths do to the second cache. */
#ifndef CYCLESCOPE_CMD_SAMPLED_REFINE_H
#define CYCLESCOPE_CMD_SAMPLED_REFINE_H

#include "cmd/progress.h"
#include "phases/combine.h"

struct process;
struct spare;

enum { SPARES = 3 };
/* Copies of the process that wait, one for each of these passes. */
struct spares {
    struct spare *of[SPARES]; /* NULL: it could not be made */
};

struct spares spares_new(struct process *p, const struct pass *pass);
void spares_free(struct spares *s);

struct refine_context {
    double precision;         /* half interval of the CPI that is asked for, as a share of it; 0: one pass is enough */
    uint64_t warmup_insns;    /* of each window */
    uint64_t second_lines;    /* lines of the second cache; 0: none */
    struct spares spares;     /* none if one pass is enough */
    struct status_line *line; /* for progress; NULL: it is not shown */
};

/* After the first pass and combine_prepare: makes the estimates as good as they were asked for. If the precision is not
 * reached, that is not an error: sampled->too_wide says why. 0 or a negative code with a message. */
int refine_run(const struct refine_context *c, struct sampled_run *sampled, struct error *err) MUST_CHECK;

#endif
