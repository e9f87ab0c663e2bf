/* The report as a call tree, as text. */
#include <errno.h>
#include <stdlib.h>

#include "report/profile_report.h"
#include "profile/profile_tree.h"
#include "report/run_report.h"

enum { INDENT_MOST = 40 }; /* frames; deeper frames are not indented further, but show their depth */

struct tree_text {
    const struct profile_tree *t;
    struct profile_columns columns;
    struct profile_amount *self, *total; /* arguments for columns_row, by event; only the shown event is set */
    FILE *to;
};

static void print_amounts(const struct tree_text *x, const struct profile_amount *self,
                          const struct profile_amount *total)
{
    x->self[x->columns.first] = *self;
    if (total)
        x->total[x->columns.first] = *total;
    columns_row(&x->columns, x->self, total ? x->total : NULL, x->to);
}

static void print_indented(const struct tree_text *x, uint32_t depth, const char *name)
{
    uint32_t indent = depth < INDENT_MOST ? depth : INDENT_MOST;
    fprintf(x->to, "  %*s", (int)(2 * indent), "");
    if (depth > INDENT_MOST)
        fprintf(x->to, "(%u) ", depth);
    fprintf(x->to, "%s\n", name);
}

static bool is_shown(const struct tree_text *x, uint32_t node, double limit_percent)
{
    const struct profile_counted *e = &x->columns.profile->event[x->columns.first];
    return share_percent(e, x->t->node[node].total.weight) >= limit_percent;
}

/* Prints one row for the sibling nodes from `first` on, which are below the limit. */
static void print_more(const struct tree_text *x, uint32_t first)
{
    struct profile_amount sum = {0, 0};
    size_t n = 0;
    char name[64], number[GROUPED_SIZE];
    uint32_t parent = x->t->node[first].parent;
    for (uint32_t i = first; i; i = x->t->node[i].sibling, n++) {
        sum.weight += x->t->node[i].total.weight;
        sum.samples += x->t->node[i].total.samples;
    }
    print_amounts(x, &sum, &sum);
    snprintf(name, sizeof name, "[%s more]", grouped(n, number));
    print_indented(x, parent ? x->t->node[parent].depth + 1 : 0, name);
}

static void print_tree(const struct tree_text *x, double limit_percent)
{
    const struct profile_tree *t = x->t;
    columns_head(&x->columns, x->to);
    fputs("  function\n", x->to);
    uint32_t first = profile_tree_next(t, 0), few = 0;
    bool flat = first && !is_shown(x, first, limit_percent); /* the largest root does not reach the limit */
    for (uint32_t i = first; i;) {
        if (!is_shown(x, i,
                      flat && few++ < PROFILE_FEW
                          ? 0
                          : limit_percent)) { /* siblings come largest first, so the ones that follow are hidden, too */
            print_more(x, i);
            uint32_t parent = t->node[i].parent;
            i = parent ? profile_tree_skip(t, parent) : 0;
            continue;
        }
        print_amounts(x, &t->node[i].self, &t->node[i].total);
        print_indented(x, t->node[i].depth, t->names->function[t->node[i].function].name);
        i = profile_tree_next(t, i);
    }
    if (t->outside.samples) {
        print_amounts(x, &t->outside, NULL);
        print_indented(x, 0, "[other functions]");
    }
    fputc('\n', x->to);
}

int profile_report_tree(const struct profile_report *r, FILE *to, bool color, struct error *err)
{
    const struct profile *p = r->names->profile;
    struct profile_tree t;
    struct tree_text x = {.t = &t, .columns = profile_report_columns(r, color), .to = to};
    x.columns.last = x.columns.first;
    x.columns.inclusive = true;
    int code = profile_tree_make(&t, r->names, r->first, r->function, err);
    if (code != 0)
        return code;
    x.self = calloc(p->events, sizeof *x.self);
    x.total = calloc(p->events, sizeof *x.total);
    if (x.self && x.total)
        print_tree(&x, r->limit_percent);
    else
        code = error_set(err, -ENOMEM, "out of memory for a report");
    free(x.self);
    free(x.total);
    profile_tree_free(&t);
    return code;
}
