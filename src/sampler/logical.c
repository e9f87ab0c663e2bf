#include "sampler/logical.h"

#include <errno.h>
#include <stdlib.h>

struct logical {
    struct logical_config c;
    struct core_sampler sampler;
    struct estimates *estimates[SAMPLER_CONTEXTS]; /* by program */
    uint64_t cycles[SAMPLER_CONTEXTS], insns[SAMPLER_CONTEXTS];
    int code; /* of the first error that estimates_add returned; 0: none */
    struct error err;
};

/* The sampler's sink. */
static void take_slice(void *context, const struct slice *s)
{
    struct logical *l = context;
    if (l->c.slice)
        l->c.slice(l->c.slice_context, s);
    l->cycles[s->context] += s->cycles;
    l->insns[s->context] += s->insns;
    if (l->code == 0)
        l->code = estimates_add(l->estimates[s->context], s, &l->err);
}

struct logical *logical_new(const struct logical_config *c, struct simulation *s, struct error *err)
{
    struct logical *l = calloc(1, sizeof *l);
    if (l == NULL) {
        error_set(err, -ENOMEM, "out of memory for logical counters");
        return NULL;
    }
    l->c = *c;
    int code = core_sampler_init(&l->sampler, c->plan, s, c->programs, c->quantum, take_slice, l, err);
    for (unsigned i = 0; code == 0 && i < c->programs; i++) {
        l->estimates[i] = estimates_new(c->plan, c->estimator, i == 0 ? c->ready : NULL, c->ready_context, err);
        code = l->estimates[i] ? 0 : -ENOMEM;
    }
    if (code != 0) {
        logical_free(l);
        return NULL;
    }
    return l;
}

void logical_free(struct logical *l)
{
    if (l == NULL)
        return;
    for (unsigned i = 0; i < l->c.programs; i++)
        estimates_free(l->estimates[i]);
    core_sampler_free(&l->sampler);
    free(l);
}

int logical_finish(struct logical *l, struct error *err)
{
    if (l->code != 0) {
        *err = l->err;
        return l->code;
    }
    for (unsigned i = 0; i < l->c.programs; i++)
        estimates_finish(l->estimates[i]);
    return 0;
}

struct estimate logical_total(const struct logical *l, unsigned program, size_t event)
{
    return estimates_total(l->estimates[program], event);
}

uint64_t logical_cycles(const struct logical *l, unsigned program)
{
    return l->cycles[program];
}

uint64_t logical_insns(const struct logical *l, unsigned program)
{
    return l->insns[program];
}

uint64_t logical_lost(const struct logical *l)
{
    return sampler_lost(l->sampler.sampler);
}
