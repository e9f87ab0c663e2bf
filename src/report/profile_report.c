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
    fputc('\n', to);
    text_paragraph(to, "%s%s%s%s%s%s%s: %s sample%s", program ? program : "a program",
                   arguments && *arguments ? " " : "", arguments ? arguments : "", core ? " on the core " : "",
                   core ? core : "", mode ? ", " : "", mode ? mode : "", grouped(p->samples, text),
                   p->samples == 1 ? "" : "s");
    fputc('\n', to);
}

static void put_event(const struct profile *p, unsigned i, struct text_table *t)
{
    const struct profile_counted *e = &p->event[i];
    char text[GROUPED_SIZE];
    text_cell(t, "%s", e->name);
    text_cell(t, "%u", i);
    text_cell(t, "%s", grouped(e->samples, text));
    text_cell(t, "%s", e->period ? grouped(e->period, text) : "all");
    text_cell(t, "%s", grouped(e->weight, text));
    text_cell(t, "%s", e->has_total ? grouped(e->total, text) : "-");
}

static void print_truth(const struct profile_names *n, unsigned i, FILE *to)
{
    struct profile_truth t = profile_truth_of(n, i);
    if (t.samples)
        text_paragraph(to,
                       "%s: %.1f %% of samples are charged to another instruction than the one that caused them, "
                       "%.1f %% to another function.",
                       n->profile->event[i].name, 100 * (double)t.other_insn / (double)t.samples,
                       100 * (double)t.other_function / (double)t.samples);
}

static void print_events(const struct profile_report *r, FILE *to)
{
    static const char *const heads[] = {"number", "samples", "period", "count", "happened"};
    struct text_table *t = text_table_new();
    text_column(t, TEXT_LEFT, "event");
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        text_column(t, TEXT_NUMBER, heads[i]);
    for (unsigned i = r->first; i <= r->last; i++)
        put_event(r->names->profile, i, t);
    text_table_print(t, to, 1, r->columns);
}

void profile_report_head(const struct profile_report *r, bool intervals, FILE *to)
{
    const struct profile *p = r->names->profile;
    bool sampled = false;
    for (unsigned i = r->first; i <= r->last; i++)
        sampled |= p->event[i].period != 0;
    print_run(p, to);
    if (profile_info_of(p, "interrupted"))
        fprintf(to, " INTERRUPTED by SIG%s: this is the profile of the part of the run before it.\n\n",
                profile_info_of(p, "interrupted"));
    if (!p->complete)
        fputs(" The recording was cut off: this report covers the part that was written.\n\n", to);
    print_events(r, to);
    fputc('\n', to);
    text_paragraph(to, "%s%s%s%s",
                   sampled ? "Counts are estimates: samples × period." : "Counts are exact: every event was counted.",
                   sampled && intervals ? " " : "", sampled && intervals ? PLUS_MINUS_MEANING : "",
                   sampled && intervals ? " of a share, in percent." : "");
    for (unsigned i = r->first; i <= r->last; i++)
        print_truth(r->names, i, to);
    fputs("\n", to);
}

/* ---- the table */

enum { INSN_SHORT = 24 }; /* most characters of an instruction, if its history follows */

struct table {
    const struct profile_report *r;
    struct profile_columns columns;
    struct profile_rows rows;
    struct history_table histories;
    struct profile_amount *hidden; /* by event: sum of rows below the limit */
    struct profile_amount *other;  /* by event: sum of rows of functions that were not asked for */
    size_t hidden_rows;            /* rows in `hidden` that have samples */
    size_t few;                    /* if no row reaches the limit: rows from here on are hidden; otherwise 0 */
    struct text_table *text;
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

/* The first column: what a row is about. */
static void put_name(const struct table *t, const struct profile_row *row)
{
    const struct profile_place *p = place_of(t, row);
    const struct profile_function *f = &t->r->names->function[p->function];
    char where[256];
    switch (t->r->by) {
    case PROFILE_BY_MODULE: text_cell(t->text, "%s", f->module); break;
    case PROFILE_BY_LINE:
        if (p->file)
            text_cell(t->text, "%s:%u", short_path(p->file), p->line);
        else
            text_cell(t->text, "[no line]");
        break;
    case PROFILE_BY_INSN:
        place_text(t->r->names, p, where, sizeof where);
        text_cell(t->text, "%s", where);
        break;
    default: text_cell(t->text, "%s", f->name);
    }
}

/* What stands behind the numbers. */
static void put_rest(const struct table *t, const struct profile_row *row)
{
    const struct profile_names *n = t->r->names;
    const struct profile_place *p = place_of(t, row);
    char text[INSN_TEXT_SIZE] = "?";
    struct insn insn;
    switch (t->r->by) {
    case PROFILE_BY_MODULE: break;
    case PROFILE_BY_LINE:
        text_cell(t->text, "%s", module_of(t, row));
        text_cell(t->text, "%s", n->function[p->function].name);
        break;
    case PROFILE_BY_INSN:
        if (insn_of_file(n->symbols, p->pc, &insn))
            insn_text(n->symbols, &insn, p->pc, n->function[p->function].start, text);
        text_cell(t->text, "%" PRIx64, p->pc);
        text_cell(t->text, "%.*s", t->histories.count ? INSN_SHORT : INSN_TEXT_SIZE, text);
        columns_history_row(&t->histories, history_table_find(&t->histories, p->pc), t->text);
        break;
    default: text_cell(t->text, "%s", module_of(t, row));
    }
}

static void put_heads(struct table *t)
{
    static const char *const names[] = {
        [PROFILE_BY_MODULE] = "module", [PROFILE_BY_LINE] = "line", [PROFILE_BY_INSN] = "place"};
    enum profile_by by = t->r->by;
    bool named = by == PROFILE_BY_MODULE || by == PROFILE_BY_LINE || by == PROFILE_BY_INSN;
    text_column(t->text, TEXT_LEFT, named ? names[by] : "function");
    columns_head(&t->columns, t->text);
    if (by == PROFILE_BY_MODULE)
        return;
    if (by == PROFILE_BY_LINE)
        text_column(t->text, TEXT_LEFT, "module");
    if (by == PROFILE_BY_INSN)
        text_column(t->text, TEXT_NUMBER, "address");
    if (by == PROFILE_BY_LINE || by == PROFILE_BY_INSN)
        text_over(t->text, "");
    text_column(t->text, by == PROFILE_BY_INSN && t->histories.count ? TEXT_LEFT : TEXT_CUT,
                by == PROFILE_BY_LINE   ? "function"
                : by == PROFILE_BY_INSN ? "instruction"
                                        : "module");
    text_over(t->text, "");
    if (by == PROFILE_BY_INSN)
        columns_history_head(&t->histories, t->text);
}

/* Adds a row with the sum of rows that are not shown, if they have samples. */
static void put_sum(const struct table *t, const struct profile_amount *sum, const char *name)
{
    bool any = false;
    for (unsigned e = 0; e < t->rows.events; e++)
        any |= sum[e].samples != 0;
    if (!any)
        return;
    text_cell(t->text, "%s", name);
    columns_row(&t->columns, sum, NULL, t->text);
    text_end_row(t->text);
}

static void print_table(struct table *t, FILE *to)
{
    char name[64], number[GROUPED_SIZE];
    choose_rows(t);
    t->text = text_table_new();
    put_heads(t);
    for (size_t i = 0; i < t->rows.count; i++) {
        const struct profile_row *row = &t->rows.row[i];
        if (!is_shown(t, row)) {
            set_aside(t, row);
            continue;
        }
        put_name(t, row);
        columns_row(&t->columns, row_self(&t->rows, row), t->rows.total ? row_total(&t->rows, row) : NULL, t->text);
        put_rest(t, row);
    }
    snprintf(name, sizeof name, "[%s more]", grouped(t->hidden_rows, number));
    put_sum(t, t->hidden, name);
    put_sum(t, t->other, "[other functions]");
    text_table_print(t->text, to, 1, t->r->columns);
    fputc('\n', to);
}

static int report_rows(const struct profile_report *r, FILE *to, bool color, struct error *err)
{
    const struct profile *p = r->names->profile;
    struct table t = {.r = r, .columns = profile_report_columns(r, color)};
    t.hidden = calloc(p->events, sizeof *t.hidden);
    t.other = calloc(p->events, sizeof *t.other);
    int code = t.hidden && t.other ? 0 : error_set(err, -ENOMEM, "out of memory for a report");
    if (code == 0)
        code = history_table_make(&t.histories, p, r->first, r->last, err);
    if (code == 0)
        code = profile_rows_make(&t.rows, r->names, r->by, r->children, err);
    if (code == 0) {
        profile_rows_sort(&t.rows, r->sort);
        print_table(&t, to);
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
