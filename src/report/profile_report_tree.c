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
    struct profile_amount *self, *total; /* arguments of columns_row, by event; only the shown event is set */
    struct text_table *text;
};

/* A row: the name, indented by its depth, then its numbers. `total` may be NULL. */
static void put_row(const struct tree_text *x, uint32_t depth, const char *name, const struct profile_amount *self,
                    const struct profile_amount *total)
{
    uint32_t indent = depth < INDENT_MOST ? depth : INDENT_MOST;
    if (depth > INDENT_MOST)
        text_cell(x->text, "%*s(%u) %s", (int)(2 * indent), "", depth, name);
    else
        text_cell(x->text, "%*s%s", (int)(2 * indent), "", name);
    x->self[x->columns.first] = *self;
    if (total)
        x->total[x->columns.first] = *total;
    columns_row(&x->columns, x->self, total ? x->total : NULL, x->text);
}

static bool is_shown(const struct tree_text *x, uint32_t node, double limit_percent)
{
    const struct profile_counted *e = &x->columns.profile->event[x->columns.first];
    return share_percent(e, x->t->node[node].total.weight) >= limit_percent;
}

/* Adds one row for the sibling nodes from `first` on, which are below the limit. */
static void put_more(const struct tree_text *x, uint32_t first)
{
    struct profile_amount sum = {0, 0};
    size_t n = 0;
    char name[64], number[GROUPED_SIZE];
    uint32_t parent = x->t->node[first].parent;
    for (uint32_t i = first; i; i = x->t->node[i].sibling, n++) {
        sum.weight += x->t->node[i].total.weight;
        sum.samples += x->t->node[i].total.samples;
    }
    snprintf(name, sizeof name, "[%s more]", grouped(n, number));
    put_row(x, parent ? x->t->node[parent].depth + 1 : 0, name, &sum, &sum);
}

static void put_tree(const struct tree_text *x, double limit_percent)
{
    const struct profile_tree *t = x->t;
    text_column(x->text, TEXT_LEFT, "function");
    columns_head(&x->columns, x->text);
    uint32_t first = profile_tree_next(t, 0), few = 0;
    bool flat = first && !is_shown(x, first, limit_percent); /* the largest root does not reach the limit */
    for (uint32_t i = first; i;) {
        if (!is_shown(x, i,
                      flat && few++ < PROFILE_FEW
                          ? 0
                          : limit_percent)) { /* siblings come largest first, so the ones that follow are hidden, too */
            put_more(x, i);
            uint32_t parent = t->node[i].parent;
            i = parent ? profile_tree_skip(t, parent) : 0;
            continue;
        }
        put_row(x, t->node[i].depth, t->names->function[t->node[i].function].name, &t->node[i].self, &t->node[i].total);
        i = profile_tree_next(t, i);
    }
    if (t->outside.samples)
        put_row(x, 0, "[other functions]", &t->outside, NULL);
}

int profile_report_tree(const struct profile_report *r, FILE *to, bool color, struct error *err)
{
    const struct profile *p = r->names->profile;
    struct profile_tree t;
    struct tree_text x = {.t = &t, .columns = profile_report_columns(r, color)};
    x.columns.last = x.columns.first;
    x.columns.inclusive = true;
    int code = profile_tree_make(&t, r->names, r->first, r->function, err);
    if (code != 0)
        return code;
    x.self = calloc(p->events, sizeof *x.self);
    x.total = calloc(p->events, sizeof *x.total);
    if (x.self && x.total) {
        x.text = text_table_new();
        put_tree(&x, r->limit_percent);
        text_table_print(x.text, to, 1, r->columns);
        fputc('\n', to);
    } else {
        code = error_set(err, -ENOMEM, "out of memory for a report");
    }
    free(x.self);
    free(x.total);
    profile_tree_free(&t);
    return code;
}
