#include "profile/profile_data.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct sorting {
    const struct profile_data *d;
    const struct data_choice *choice;
};

static uint64_t line_of(const struct data_choice *c, uint64_t address)
{
    return address & -c->line_bytes;
}

static int ascending(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_line(const void *left, const void *right, void *context)
{
    const struct sorting *s = context;
    const struct profile_access *access = s->d->names->profile->access;
    const struct profile_access *a = &access[*(const uint32_t *)left], *b = &access[*(const uint32_t *)right];
    int c = ascending(line_of(s->choice, a->address), line_of(s->choice, b->address));
    if (c == 0)
        c = ascending(a->pc, b->pc);
    return c ? c : ascending(a->address, b->address);
}

static int by_weight(const void *left, const void *right, void *context)
{
    const struct sorting *s = context;
    const struct data_line *a = left, *b = right;
    int c = ascending(data_amount(s->d, b)[s->choice->sort].weight, data_amount(s->d, a)[s->choice->sort].weight);
    if (c == 0)
        c = ascending(b->samples, a->samples);
    return c ? c : ascending(a->address, b->address);
}

static bool is_chosen(const struct profile_data *d, const struct data_choice *c, const struct profile_access *a)
{
    const struct profile_names *n = d->names;
    if (a->event < c->first || a->event > c->last)
        return false;
    return c->function == NULL ||
           profile_function_is(&n->function[n->place[profile_names_find(n, a->pc)].function], c->function);
}

static void add_access(struct profile_data *d, struct data_line *l, const struct profile_access *a)
{
    struct profile_amount *amount = &d->amount[(size_t)l->number * d->names->profile->events + a->event];
    amount->weight += a->weight;
    amount->samples += a->samples;
    d->rest[a->event].weight -= a->weight;
    d->rest[a->event].samples -= a->samples;
    l->samples += a->samples;
    l->stores += a->stores;
    l->l1d += a->l1d;
    l->l2d += a->l2d;
    l->dtlb += a->dtlb;
    l->accesses++;
}

/* Creates the lines from d->order, which is sorted by line. */
static int make_lines(struct profile_data *d, const struct data_choice *c, size_t accesses)
{
    const struct profile *p = d->names->profile;
    size_t lines = 0;
    for (size_t i = 0; i < accesses; i++)
        lines += i == 0 || line_of(c, p->access[d->order[i]].address) != line_of(c, p->access[d->order[i - 1]].address);
    d->line = calloc(lines + 1, sizeof *d->line);
    d->amount = calloc(lines * p->events + 1, sizeof *d->amount);
    if (!d->line || !d->amount)
        return -ENOMEM;
    for (size_t i = 0; i < accesses; i++) {
        const struct profile_access *a = &p->access[d->order[i]];
        uint64_t address = line_of(c, a->address);
        if (d->count == 0 || d->line[d->count - 1].address != address) {
            d->line[d->count] =
                (struct data_line){.address = address, .number = (uint32_t)d->count, .first = (uint32_t)i};
            d->count++;
        }
        add_access(d, &d->line[d->count - 1], a);
    }
    return 0;
}

int profile_data_make(struct profile_data *d, const struct profile_names *n, const struct data_choice *choice,
                      struct error *err)
{
    const struct profile *p = n->profile;
    *d = (struct profile_data){
        .names = n, .order = calloc(p->accesses + 1, sizeof *d->order), .rest = calloc(p->events, sizeof *d->rest)};
    struct sorting s = {d, choice};
    int code = d->order && d->rest ? 0 : -ENOMEM;
    size_t accesses = 0;
    if (code == 0) {
        for (size_t e = 0; e < p->events; e++)
            d->rest[e] = (struct profile_amount){p->event[e].weight, p->event[e].samples};
        for (size_t i = 0; i < p->accesses; i++)
            if (is_chosen(d, choice, &p->access[i]))
                d->order[accesses++] = (uint32_t)i;
        qsort_r(d->order, accesses, sizeof *d->order, by_line, &s);
        code = make_lines(d, choice, accesses);
    }
    if (code != 0) {
        profile_data_free(d);
        return error_set(err, code, "out of memory for the data of a profile");
    }
    qsort_r(d->line, d->count, sizeof *d->line, by_weight, &s);
    return 0;
}

void profile_data_free(struct profile_data *d)
{
    free(d->order);
    free(d->line);
    free(d->amount);
    free(d->rest);
    *d = (struct profile_data){0};
}

/* ---- instructions and objects of a line */

size_t data_touchers(const struct profile_data *d, const struct data_line *l, struct data_toucher *to, size_t most)
{
    const struct profile *p = d->names->profile;
    size_t found = 0, kept = 0;
    for (size_t i = l->first, end = (size_t)l->first + l->accesses; i < end;) {
        uint64_t pc = p->access[d->order[i]].pc, samples = 0;
        for (; i < end && p->access[d->order[i]].pc == pc; i++)
            samples += p->access[d->order[i]].samples;
        size_t at = kept;
        while (at > 0 && to[at - 1].samples < samples)
            at--;
        found++;
        if (at == most)
            continue;
        kept += kept < most;
        memmove(&to[at + 1], &to[at], (kept - at - 1) * sizeof *to);
        to[at] = (struct data_toucher){profile_names_find(d->names, pc), samples};
    }
    return found;
}

enum { OBJECTS_MOST = 16 }; /* objects of a line that are distinguished; others are ignored */

unsigned data_object(const struct profile_data *d, const struct data_line *l, struct place *object)
{
    const struct profile *p = d->names->profile;
    struct place seen[OBJECTS_MOST];
    uint64_t samples[OBJECTS_MOST];
    unsigned count = 0, best = 0;
    for (size_t i = l->first, end = (size_t)l->first + l->accesses; i < end; i++) {
        const struct profile_access *a = &p->access[d->order[i]];
        struct place at;
        unsigned k = 0;
        symbols_data(d->names->symbols, a->address, &at);
        while (k < count && (seen[k].start != at.start || strcmp(seen[k].name, at.name) != 0))
            k++;
        if (k == OBJECTS_MOST)
            continue;
        if (k == count) {
            seen[count] = at;
            samples[count++] = 0;
        }
        samples[k] += a->samples;
        best = samples[k] > samples[best] ? k : best;
    }
    assert(count > 0); /* a line has an access */
    *object = seen[best];
    return count - 1;
}
