/* The head of a report, and the tables by function, line, instruction and module. */
#include "report/profile_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/insn_text.h"
#include "profile/profile_history.h"
#include "profile/profile_truth.h"
#include "report/run_report.h"

struct profile_columns profile_report_columns(const struct profile_report *r, bool color)
{
    return (struct profile_columns){r->names->profile, r->first, r->last, r->children, color};
}

bool profile_report_wants(const struct profile_report *r, uint32_t function)
{
    return r->function == NULL || profile_function_is(&r->names->function[function], r->function);
}

void place_text(const struct profile_names *n, const struct profile_place *p, char *text, size_t size)
{
    const struct profile_function *f = &n->function[p->function];
    if (p->pc == f->start)
        snprintf(text, size, "%s", f->name);
    else
        snprintf(text, size, "%s+0x%" PRIx64, f->name, p->pc - f->start);
}

/* ---- the head */

static void print_run(const struct profile *p, FILE *to)
{
    const char *program = profile_info_of(p, "program"), *arguments = profile_info_of(p, "arguments");
    const char *core = profile_info_of(p, "core"), *mode = profile_info_of(p, "mode");
    char text[GROUPED_SIZE];
    fprintf(to, "\n %s%s%s", program ? program : "a program", arguments && *arguments ? " " : "",
            arguments ? arguments : "");
    if (core)
        fprintf(to, " on the core %s", core);
    if (mode)
        fprintf(to, ", %s", mode);
    fprintf(to, ": %s sample%s\n\n", grouped(p->samples, text), p->samples == 1 ? "" : "s");
}

static void print_event(const struct profile *p, unsigned i, int width, FILE *to)
{
    const struct profile_counted *e = &p->event[i];
    char samples[GROUPED_SIZE], period[GROUPED_SIZE], weight[GROUPED_SIZE], total[GROUPED_SIZE];
    fprintf(to, " %3u  %-*s %12s %15s %20s %20s\n", i, width, e->name, grouped(e->samples, samples),
            e->period ? grouped(e->period, period) : "all", grouped(e->weight, weight),
            e->has_total ? grouped(e->total, total) : "-");
}

static void print_truth(const struct profile_names *n, unsigned i, FILE *to)
{
    struct profile_truth t = profile_truth_of(n, i);
    if (t.samples)
        fprintf(to,
                " %s: %.1f %% of samples are charged to another instruction than the one that caused them, %.1f %% to "
                "another function.\n",
                n->profile->event[i].name, 100 * (double)t.other_insn / (double)t.samples,
                100 * (double)t.other_function / (double)t.samples);
}

void profile_report_head(const struct profile_report *r, bool intervals, FILE *to)
{
    const struct profile *p = r->names->profile;
    int width = 5;
    bool sampled = false;
    for (unsigned i = r->first; i <= r->last; i++) {
        int length = (int)strlen(p->event[i].name);
        width = length > width ? length : width;
        sampled |= p->event[i].period != 0;
    }
    print_run(p, to);
    if (profile_info_of(p, "interrupted"))
        fprintf(to, " INTERRUPTED by SIG%s: this is the profile of the part of the run before it.\n\n",
                profile_info_of(p, "interrupted"));
    if (!p->complete)
        fputs(" The recording was cut off: this report covers the part that was written.\n\n", to);
    fprintf(to, "      %-*s %12s %15s %20s %20s\n", width, "event", "samples", "period", "count", "happened");
    for (unsigned i = r->first; i <= r->last; i++)
        print_event(p, i, width, to);
    fputs(sampled ? "\n Counts are estimates: samples × period." : "\n Counts are exact: every event was counted.", to);
    if (sampled && intervals)
        fputs(" A share is within ± of the true one in 95 of 100 recordings.", to);
    fputs("\n", to);
    for (unsigned i = r->first; i <= r->last; i++)
        print_truth(r->names, i, to);
    fputs("\n", to);
}

/* ---- the table */

struct table {
    const struct profile_report *r;
    struct profile_columns columns;
    struct profile_rows rows;
    struct history_table histories;
    struct profile_amount *hidden; /* by event: sum of rows below the limit */
    struct profile_amount *other;  /* by event: sum of rows of functions that were not asked for */
    size_t hidden_rows;            /* rows in `hidden` that have samples */
    size_t few;                    /* if no row reaches the limit: rows from here on are hidden; otherwise 0 */
    int module_width;
    FILE *to;
};

static const struct profile_place *place_of(const struct table *t, const struct profile_row *row)
{
    return &t->r->names->place[row->place];
}

static bool is_wanted(const struct table *t, const struct profile_row *row)
{
    return t->r->by == PROFILE_BY_MODULE || profile_report_wants(t->r, place_of(t, row)->function);
}

static bool reaches(const struct table *t, const struct profile_row *row, double percent)
{
    return is_wanted(t, row) && columns_reach(&t->columns, row_self(&t->rows, row),
                                              t->rows.total ? row_total(&t->rows, row) : NULL, percent);
}

static bool is_shown(const struct table *t, const struct profile_row *row)
{
    return t->few ? row < &t->rows.row[t->few] && reaches(t, row, 0) : reaches(t, row, t->r->limit_percent);
}

/* A flat profile may have no row that reaches the limit. Then its first rows are shown, so that there is a table. */
static void choose_rows(struct table *t)
{
    size_t wanted = 0;
    for (size_t i = 0; i < t->rows.count; i++)
        if (reaches(t, &t->rows.row[i], t->r->limit_percent))
            return;
    for (size_t i = 0; i < t->rows.count && wanted < PROFILE_FEW; i++) {
        wanted += reaches(t, &t->rows.row[i], 0);
        t->few = i + 1;
    }
}

/* Adds a row that is not shown to `hidden` or `other`. */
static void set_aside(struct table *t, const struct profile_row *row)
{
    bool wanted = is_wanted(t, row), sampled = false;
    for (unsigned e = t->r->first; e <= t->r->last; e++) {
        struct profile_amount *to = wanted ? &t->hidden[e] : &t->other[e];
        to->weight += row_self(&t->rows, row)[e].weight;
        to->samples += row_self(&t->rows, row)[e].samples;
        sampled |= row_self(&t->rows, row)[e].samples != 0;
    }
    t->hidden_rows += wanted && sampled;
}

static const char *module_of(const struct table *t, const struct profile_row *row)
{
    return short_path(t->r->names->function[place_of(t, row)->function].module);
}

static void print_names(const struct table *t, const struct profile_row *row)
{
    const struct profile_names *n = t->r->names;
    const struct profile_place *p = place_of(t, row);
    const struct profile_function *f = &n->function[p->function];
    char where[256], text[INSN_TEXT_SIZE] = "?";
    struct insn insn;
    switch (t->r->by) {
    case PROFILE_BY_MODULE: fprintf(t->to, "  %s\n", f->module); break;
    case PROFILE_BY_LINE:
        if (p->file)
            snprintf(where, sizeof where, "%s:%u", short_path(p->file), p->line);
        else
            snprintf(where, sizeof where, "[no line]");
        fprintf(t->to, "  %-*s  %-24s  %s\n", t->module_width, module_of(t, row), where, f->name);
        break;
    case PROFILE_BY_INSN:
        place_text(n, p, where, sizeof where);
        if (insn_of_file(n->symbols, p->pc, &insn))
            insn_text(n->symbols, &insn, p->pc, f->start, text);
        fprintf(t->to, "  %-*s  %10" PRIx64 "  %-28s  %s\n", t->module_width, module_of(t, row), p->pc, text, where);
        break;
    default: fprintf(t->to, "  %-*s  %s\n", t->module_width, module_of(t, row), f->name);
    }
}

static void print_table_head(const struct table *t)
{
    columns_head(&t->columns, t->to);
    switch (t->r->by) {
    case PROFILE_BY_MODULE: fputs("  module\n", t->to); break;
    case PROFILE_BY_LINE: fprintf(t->to, "  %-*s  %-24s  function\n", t->module_width, "module", "line"); break;
    case PROFILE_BY_INSN:
        history_head(&t->histories, t->to);
        fprintf(t->to, "  %-*s  %10s  %-28s  function\n", t->module_width, "module", "address", "instruction");
        break;
    default: fprintf(t->to, "  %-*s  function\n", t->module_width, "module");
    }
}

/* Prints the sum of rows that are not shown, if they have samples. */
static void print_rest(const struct table *t, const struct profile_amount *rest, const char *name)
{
    bool any = false;
    for (unsigned e = 0; e < t->rows.events; e++)
        any |= rest[e].samples != 0;
    if (!any)
        return;
    columns_row(&t->columns, rest, NULL, t->to);
    if (t->r->by == PROFILE_BY_INSN)
        history_row(&t->histories, NULL, t->to);
    fprintf(t->to, "  %s\n", name);
}

static void print_table(struct table *t)
{
    char name[64], number[GROUPED_SIZE];
    choose_rows(t);
    t->module_width = (int)strlen("module");
    for (size_t i = 0; i < t->rows.count; i++) {
        int length = (int)strlen(module_of(t, &t->rows.row[i]));
        if (is_shown(t, &t->rows.row[i]) && length > t->module_width)
            t->module_width = length;
    }
    print_table_head(t);
    for (size_t i = 0; i < t->rows.count; i++) {
        const struct profile_row *row = &t->rows.row[i];
        if (!is_shown(t, row)) {
            set_aside(t, row);
            continue;
        }
        columns_row(&t->columns, row_self(&t->rows, row), t->rows.total ? row_total(&t->rows, row) : NULL, t->to);
        if (t->r->by == PROFILE_BY_INSN)
            history_row(&t->histories, history_table_find(&t->histories, place_of(t, row)->pc), t->to);
        print_names(t, row);
    }
    snprintf(name, sizeof name, "[%s more]", grouped(t->hidden_rows, number));
    print_rest(t, t->hidden, name);
    print_rest(t, t->other, "[other functions]");
    fputc('\n', t->to);
}

static int report_rows(const struct profile_report *r, FILE *to, bool color, struct error *err)
{
    const struct profile *p = r->names->profile;
    struct table t = {.r = r, .columns = profile_report_columns(r, color), .to = to};
    t.hidden = calloc(p->events, sizeof *t.hidden);
    t.other = calloc(p->events, sizeof *t.other);
    int code = t.hidden && t.other ? 0 : error_set(err, -ENOMEM, "out of memory for a report");
    if (code == 0)
        code = history_table_make(&t.histories, p, r->first, r->last, err);
    if (code == 0)
        code = profile_rows_make(&t.rows, r->names, r->by, r->children, err);
    if (code == 0) {
        profile_rows_sort(&t.rows, r->sort);
        print_table(&t);
    }
    profile_rows_free(&t.rows);
    history_table_free(&t.histories);
    free(t.hidden);
    free(t.other);
    return code;
}

int profile_report_print(const struct profile_report *r, FILE *to, bool color, struct error *err)
{
    profile_report_head(r, true, to);
    switch (r->by) {
    case PROFILE_BY_TREE: return profile_report_tree(r, to, color, err);
    case PROFILE_BY_DATA: return profile_report_data(r, to, color, err);
    default: return report_rows(r, to, color, err);
    }
}
