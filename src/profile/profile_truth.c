#include "profile/profile_truth.h"

#include <string.h>

/* Compares symbols, since causes need not be among the profile's places. */
static bool in_one_function(struct symbols *s, uint64_t a, uint64_t b)
{
    struct place of_a, of_b;
    symbols_code(s, a, &of_a);
    symbols_code(s, b, &of_b);
    return of_a.start == of_b.start && strcmp(of_a.module, of_b.module) == 0;
}

struct profile_truth profile_truth_of(const struct profile_names *n, unsigned event)
{
    const struct profile *p = n->profile;
    struct profile_truth t = {.samples = p->event[event].caused};
    for (size_t i = 0; i < p->mistakes; i++) {
        const struct profile_mistake *m = &p->mistake[i];
        if (m->event != event)
            continue;
        t.other_insn += m->samples;
        t.other_function += in_one_function(n->symbols, m->pc, m->cause) ? 0 : m->samples;
    }
    return t;
}
