#include "report/phase_functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clean_text.h"
#include "base/array.h"
#include "base/index_table.h"
#include "symbols/symbols.h"

struct function {
    char *name, *module, *file;
    uint64_t start;
    unsigned line;
    bool has_symbol;   /* the name comes from a symbol */
    bool looked_up;    /* `file` and `line` have been looked up */
    uint32_t resolved; /* the function that a call to this one counts for: itself, or the target of a PLT stub */
};

struct phase_functions {
    const struct bbv_set *set;
    struct symbols *symbols;
    struct function *function;
    size_t functions, room;
    struct index_table index; /* functions by start and name */
    uint32_t *of;             /* by block: the function that contains its start */
    uint32_t *calls;          /* by block: the function that its last instruction calls, or INDEX_NONE */
};

/* ---- functions */

static bool same_function(const void *owner, uint32_t i, const void *key)
{
    const struct function *f = &((const struct phase_functions *)owner)->function[i];
    const struct place *p = key;
    return f->start == p->start && strcmp(f->name, p->name) == 0;
}

static char *clean_copy(const char *text)
{
    char *copy = strdup(text);
    if (copy)
        clean_text(copy);
    return copy;
}

static int add_function(struct phase_functions *f, const struct place *p, uint64_t hash, uint32_t *index)
{
    struct function *grown = array_grow(f->function, f->functions, &f->room, sizeof *grown);
    if (grown == NULL)
        return -ENOMEM;
    f->function = grown;
    *index = (uint32_t)f->functions;
    struct function *made = &f->function[*index];
    *made = (struct function){.name = clean_copy(p->name),
                              .module = clean_copy(p->module),
                              .start = p->start,
                              .has_symbol = p->has_symbol,
                              .resolved = *index};
    f->functions++;
    if (made->name == NULL || made->module == NULL)
        return -ENOMEM;
    return index_table_add(&f->index, hash, *index);
}

/* Finds or adds the function at `pc`. Sets `*p` to its place and `*index` to its number. */
static int function_at(struct phase_functions *f, uint64_t pc, struct place *p, uint32_t *index)
{
    symbols_code(f->symbols, pc, p);
    uint64_t hash = hash_number(0, p->start);
    *index = index_table_find(&f->index, hash, same_function, f, p);
    return *index == INDEX_NONE ? add_function(f, p, hash, index) : 0;
}

/* Sets `of` and `calls` of all blocks. */
static int find_functions(struct phase_functions *f)
{
    struct place p;
    int code = 0;
    for (uint32_t b = 0; code == 0 && b < f->set->blocks; b++)
        code = function_at(f, f->set->block[b].pc, &p, &f->of[b]);
    for (uint32_t b = 0; code == 0 && b < f->set->blocks; b++) {
        const struct basic_block *block = &f->set->block[b];
        f->calls[b] = INDEX_NONE;
        if (block->target == 0)
            continue;
        uint32_t callee;
        code = function_at(f, block->target, &p, &callee);
        if (code == 0 && (block->call || (callee != f->of[b] && p.start == block->target)))
            f->calls[b] = callee;
    }
    return code;
}

static int by_name(const void *a, const void *b, void *context)
{
    const struct phase_functions *f = context;
    return strcmp(f->function[*(const uint32_t *)a].name, f->function[*(const uint32_t *)b].name);
}

/* Resolves each stub NAME@plt to the function NAME, if that function ran. Binary search among the sorted names. */
static int resolve_stubs(struct phase_functions *f)
{
    uint32_t *order = calloc(f->functions + 1, sizeof *order);
    if (order == NULL)
        return -ENOMEM;
    for (uint32_t k = 0; k < f->functions; k++)
        order[k] = k;
    qsort_r(order, f->functions, sizeof *order, by_name, f);
    for (uint32_t k = 0; k < f->functions; k++) {
        char *suffix = strstr(f->function[k].name, "@plt");
        if (suffix == NULL)
            continue;
        size_t low = 0, high = f->functions, length = (size_t)(suffix - f->function[k].name);
        while (low < high) { /* find the first name that is not below NAME */
            size_t middle = low + (high - low) / 2;
            if (strncmp(f->function[order[middle]].name, f->function[k].name, length) < 0)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < f->functions && strlen(f->function[order[low]].name) == length &&
            strncmp(f->function[order[low]].name, f->function[k].name, length) == 0)
            f->function[k].resolved = order[low];
    }
    free(order);
    return 0;
}

struct phase_functions *phase_functions_new(const struct bbv_set *s, const char *sysroot, struct error *err)
{
    struct phase_functions *f = calloc(1, sizeof *f);
    int code = f && (f->symbols = symbols_new(sysroot, err)) ? 0 : -ENOMEM;
    for (size_t k = 0; code == 0 && k < s->map_count; k++)
        code = symbols_map(f->symbols, s->map[k].start, s->map[k].length, s->map[k].offset, s->map[k].path, err);
    if (code == 0) {
        f->set = s;
        f->of = calloc((size_t)s->blocks + 1, sizeof *f->of);
        f->calls = calloc((size_t)s->blocks + 1, sizeof *f->calls);
        code = f->of && f->calls ? find_functions(f) : -ENOMEM;
    }
    code = code ? code : resolve_stubs(f);
    if (code == 0)
        return f;
    phase_functions_free(f);
    (void)error_set(err, -ENOMEM, "out of memory for names of functions");
    return NULL;
}

void phase_functions_free(struct phase_functions *f)
{
    if (f == NULL)
        return;
    for (size_t k = 0; k < f->functions; k++) {
        free(f->function[k].name);
        free(f->function[k].module);
        free(f->function[k].file);
    }
    free(f->function);
    index_table_free(&f->index);
    free(f->of);
    free(f->calls);
    symbols_free(f->symbols);
    free(f);
}

struct phase_function phase_function_at(struct phase_functions *f, uint32_t function)
{
    struct function *it = &f->function[function];
    const char *file;
    if (!it->looked_up && it->has_symbol && symbols_line(f->symbols, it->start, &file, &it->line))
        it->file = clean_copy(file);
    it->looked_up = true;
    return (struct phase_function){it->name, it->module, it->file, it->file ? it->line : 0};
}

/* ---- one phase */

static int by_insns(const void *a, const void *b)
{
    const struct phase_share *x = a, *y = b;
    return x->insns != y->insns ? (x->insns < y->insns ? 1 : -1) : x->function < y->function ? -1 : 1;
}

static int by_count(const void *a, const void *b)
{
    const struct phase_call *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return x->from != y->from ? (x->from < y->from ? -1 : 1) : x->to < y->to ? -1 : 1;
}

static bool same_call(const void *owner, uint32_t i, const void *key)
{
    const struct phase_call *a = &((const struct phase_code *)owner)->call[i], *b = key;
    return a->from == b->from && a->to == b->to;
}

static int add_call(struct phase_code *to, size_t *room, struct index_table *index, const struct phase_call *call)
{
    uint64_t hash = hash_number(call->from, call->to);
    uint32_t known = index_table_find(index, hash, same_call, to, call);
    if (known != INDEX_NONE) {
        to->call[known].count += call->count;
        return 0;
    }
    struct phase_call *grown = array_grow(to->call, to->calls, room, sizeof *grown);
    if (grown == NULL)
        return -ENOMEM;
    to->call = grown;
    to->call[to->calls] = *call;
    return index_table_add(index, hash, (uint32_t)to->calls++);
}

/* Sums `insns`, the instructions of each block in the phase, by function, and counts the calls. A block ran
 * insns / length times. */
static int add_up(const struct phase_functions *f, const double *insns, double *by_function, struct phase_code *to)
{
    struct index_table index = {0};
    size_t room = 0;
    int code = 0;
    for (uint32_t b = 0; code == 0 && b < f->set->blocks; b++) {
        by_function[f->of[b]] += insns[b];
        to->insns += insns[b];
        if (insns[b] <= 0 || f->calls[b] == INDEX_NONE || f->set->block[b].insns == 0)
            continue;
        struct phase_call call = {f->of[b], f->function[f->calls[b]].resolved, insns[b] / f->set->block[b].insns};
        code = add_call(to, &room, &index, &call);
    }
    index_table_free(&index);
    for (uint32_t k = 0; k < f->functions; k++)
        if (by_function[k] > 0)
            to->share[to->shares++] = (struct phase_share){k, by_function[k]};
    qsort(to->share, to->shares, sizeof *to->share, by_insns);
    if (to->calls)
        qsort(to->call, to->calls, sizeof *to->call, by_count);
    return code;
}

int phase_code_find(const struct phase_functions *f, const struct clusters *c, unsigned k, struct phase_code *to,
                    struct error *err)
{
    const struct bbv_set *s = f->set;
    double *insns = calloc((size_t)s->blocks + 1, sizeof *insns);
    double *by_function = calloc(f->functions + 1, sizeof *by_function);
    *to = (struct phase_code){.share = calloc(f->functions + 1, sizeof *to->share)};
    int code = insns && by_function && to->share ? 0 : -ENOMEM;
    for (size_t v = 0; code == 0 && v < s->count; v++)
        for (size_t i = s->vector[v].first; c->of[v] == k && i < s->vector[v].first + s->vector[v].count; i++)
            insns[s->entry[i].block] += (double)s->entry[i].insns;
    code = code ? code : add_up(f, insns, by_function, to);
    free(insns);
    free(by_function);
    if (code == 0)
        return 0;
    phase_code_free(to);
    return error_set(err, code, "out of memory for the functions of phases");
}

void phase_code_free(struct phase_code *code)
{
    free(code->share);
    free(code->call);
    *code = (struct phase_code){0};
}
