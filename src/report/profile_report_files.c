/* The report as JSON and CSV. Both are written from the same JSON objects, one per row. All rows have the same members.
 * CSV has one column per member, or one column per event if the member is a list by event. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "report/csv.h"
#include "report/json_text.h"
#include "profile/profile_data.h"
#include "profile/profile_history.h"
#include "report/profile_report.h"
#include "profile/profile_tree.h"
#include "profile/profile_truth.h"

static const char *const by_names[PROFILE_BYS] = {"function", "line", "insn", "module", "tree", "data"};

/* Destination of the rows. */
struct rows_to {
    const struct profile_report *r;
    FILE *to;
    bool csv;
    size_t rows; /* rows written so far */
};

/* ---- CSV */

static void put_csv_name(const struct rows_to *t, const char *above, const char *key, const char *event)
{
    char name[512];
    snprintf(name, sizeof name, "%s%s%s%s%s", above, *above ? "." : "", key, event ? " " : "", event ? event : "");
    csv_text(name, t->to);
}

static void put_csv_value(const json_t *value, FILE *to)
{
    if (json_is_string(value))
        csv_text(json_string_value(value), to);
    else if (json_is_integer(value))
        fprintf(to, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        fprintf(to, "%.15g", json_real_value(value));
}

/* Writes the names of the members, or their values, recursively. `above` is the path of enclosing members. `*first` is
 * false once a field has been written. Lists of objects are left out. */
static void put_csv(const struct rows_to *t, json_t *row, const char *above, bool names, bool *first)
{
    const char *key;
    json_t *value;
    json_object_foreach(row, key, value)
    {
        size_t count = json_is_array(value) ? json_array_size(value) : 1;
        if (json_is_object(value)) {
            char name[256];
            snprintf(name, sizeof name, "%s%s%s", above, *above ? "." : "", key);
            put_csv(t, value, name, names, first);
            continue;
        }
        for (size_t i = 0; i < count; i++) {
            json_t *element = json_is_array(value) ? json_array_get(value, i) : value;
            if (json_is_object(element))
                break;
            if (!*first)
                fputc(',', t->to);
            *first = false;
            if (names)
                put_csv_name(t, above, key,
                             json_is_array(value) ? t->r->names->profile->event[t->r->first + i].name : NULL);
            else
                put_csv_value(element, t->to);
        }
    }
}

/* Writes one row and releases it. The first row of CSV also writes the headings. -ENOMEM if `row` is NULL. */
static int put_row(struct rows_to *t, json_t *row, struct error *err)
{
    if (row == NULL)
        return error_set(err, -ENOMEM, "out of memory for a row of a report");
    if (t->csv) {
        for (int names = t->rows == 0; names >= 0; names--) {
            bool first = true;
            put_csv(t, row, "", names != 0, &first);
            fputc('\n', t->to);
        }
    } else {
        fputs(t->rows ? ",\n    " : "\n    ", t->to);
        json_dumpf(row, t->to, JSON_REAL_PRECISION(15));
    }
    t->rows++;
    json_decref(row);
    return 0;
}

/* ---- rows */

static json_t *address_json(uint64_t address)
{
    char text[32];
    snprintf(text, sizeof text, "0x%" PRIx64, address);
    return json_string(text);
}

static json_t *weights_json(const struct profile_report *r, const struct profile_amount *a, bool samples)
{
    json_t *array = json_array();
    for (unsigned e = r->first; e <= r->last; e++)
        json_array_append_new(array, json_integer((json_int_t)(samples ? a[e].samples : a[e].weight)));
    return array;
}

static json_t *row_json(const struct profile_report *r, const struct profile_rows *rows, const struct profile_row *row,
                        const struct history_table *histories)
{
    static const struct profile_history none;
    const struct profile_place *p = &r->names->place[row->place];
    const struct profile_function *f = &r->names->function[p->function];
    json_t *o = json_object();
    json_object_set_new(o, "module", json_string(f->module));
    if (r->by != PROFILE_BY_MODULE) {
        json_object_set_new(o, "function", json_string(f->name));
        json_object_set_new(o, "start", address_json(f->start));
    }
    if (r->by == PROFILE_BY_INSN)
        json_object_set_new(o, "address", address_json(p->pc));
    if (r->by == PROFILE_BY_INSN || r->by == PROFILE_BY_LINE) {
        json_object_set_new(o, "file", text_json(p->file));
        json_object_set_new(o, "line", p->file ? json_integer(p->line) : json_null());
    }
    json_object_set_new(o, "count", weights_json(r, row_self(rows, row), false));
    json_object_set_new(o, "samples", weights_json(r, row_self(rows, row), true));
    if (rows->total)
        json_object_set_new(o, "total", weights_json(r, row_total(rows, row), false));
    if (r->by == PROFILE_BY_INSN && (histories->all.samples || histories->all.pairs)) {
        const struct profile_history *h = history_table_find(histories, p->pc);
        json_object_set_new(o, "history", history_json(h ? h : &none));
    }
    return o;
}

static int put_rows(struct rows_to *t, struct error *err)
{
    const struct profile_report *r = t->r;
    struct profile_rows rows = {0};
    struct history_table histories;
    int code = history_table_make(&histories, r->names->profile, r->first, r->last, err);
    if (code == 0)
        code = profile_rows_make(&rows, r->names, r->by, r->children, err);
    if (code == 0)
        profile_rows_sort(&rows, r->sort);
    for (size_t i = 0; code == 0 && i < rows.count; i++)
        if (r->by == PROFILE_BY_MODULE || profile_report_wants(r, r->names->place[rows.row[i].place].function))
            code = put_row(t, row_json(r, &rows, &rows.row[i], &histories), err);
    profile_rows_free(&rows);
    history_table_free(&histories);
    return code;
}

static int put_tree(struct rows_to *t, struct error *err)
{
    const struct profile_names *n = t->r->names;
    struct profile_tree tree;
    int code = profile_tree_make(&tree, n, t->r->first, t->r->function, err);
    for (uint32_t i = code == 0 ? profile_tree_next(&tree, 0) : 0; code == 0 && i; i = profile_tree_next(&tree, i)) {
        const struct profile_tree_node *at = &tree.node[i];
        const struct profile_function *f = &n->function[at->function];
        code =
            put_row(t,
                    json_pack("{s:I, s:I, s:I, s:s, s:s, s:I, s:I, s:I, s:I}", "id", (json_int_t)i, "parent",
                              (json_int_t)at->parent, "depth", (json_int_t)at->depth, "module", f->module, "function",
                              f->name, "count", (json_int_t)at->self.weight, "samples", (json_int_t)at->self.samples,
                              "total", (json_int_t)at->total.weight, "total_samples", (json_int_t)at->total.samples),
                    err);
    }
    profile_tree_free(&tree);
    return code;
}

/* ---- data */

enum { TOUCHERS_WRITTEN = 32 };

static json_t *touchers_json(const struct profile_report *r, const struct profile_data *d, const struct data_line *l)
{
    struct data_toucher toucher[TOUCHERS_WRITTEN];
    size_t all = data_touchers(d, l, toucher, TOUCHERS_WRITTEN);
    json_t *array = json_array();
    for (size_t i = 0; i < all && i < TOUCHERS_WRITTEN; i++) {
        const struct profile_place *p = &r->names->place[toucher[i].place];
        json_array_append_new(array, json_pack("{s:o, s:s, s:I}", "address", address_json(p->pc), "function",
                                               r->names->function[p->function].name, "samples",
                                               (json_int_t)toucher[i].samples));
    }
    return array;
}

static json_t *line_json(const struct profile_report *r, const struct profile_data *d, const struct data_line *l)
{
    struct place object;
    unsigned others = data_object(d, l, &object);
    return json_pack("{s:o, s:o, s:o, s:i, s:o, s:o, s:I, s:I, s:I, s:I, s:o}", "cache_line", address_json(l->address),
                     "region", text_json(object.module), "object",
                     object.has_symbol ? text_json(object.name) : json_null(), "other_objects", (int)others, "count",
                     weights_json(r, data_amount(d, l), false), "samples", weights_json(r, data_amount(d, l), true),
                     "l1d_misses", (json_int_t)l->l1d, "l2d_misses", (json_int_t)l->l2d, "dtlb_misses",
                     (json_int_t)l->dtlb, "stores", (json_int_t)l->stores, "instructions", touchers_json(r, d, l));
}

static int put_data(struct rows_to *t, struct error *err)
{
    const struct profile_report *r = t->r;
    struct profile_data d;
    int code = profile_data_make(&d, r->names,
                                 &(struct data_choice){r->line_bytes, r->first, r->last, r->sort, r->function}, err);
    for (size_t i = 0; code == 0 && i < d.count; i++)
        code = put_row(t, line_json(r, &d, &d.line[i]), err);
    profile_data_free(&d);
    return code;
}

/* ---- documents */

static json_t *event_json(const struct profile_names *n, unsigned e)
{
    const struct profile_counted *c = &n->profile->event[e];
    struct profile_truth t = profile_truth_of(n, e);
    json_t *truth = json_null();
    if (t.samples)
        truth = json_pack("{s:I, s:I, s:I}", "samples", (json_int_t)t.samples, "other_instruction",
                          (json_int_t)t.other_insn, "other_function", (json_int_t)t.other_function);
    return json_pack("{s:s, s:I, s:b, s:I, s:I, s:o, s:o}", "name", c->name, "period", (json_int_t)c->period, "cycles",
                     c->cycles, "samples", (json_int_t)c->samples, "count", (json_int_t)c->weight, "happened",
                     c->has_total ? json_integer((json_int_t)c->total) : json_null(), "truth", truth);
}

/* A line of information: numbers as numbers, argv as an array, other text as it is. */
static json_t *info_json(const struct profile_value *info)
{
    static const char *const numbers[] = {"instructions", "cycles", "seed"};
    json_t *value = strcmp(info->name, "argv") == 0 ? json_loads(info->value, JSON_REJECT_DUPLICATES, NULL) : NULL;
    char *end;
    if (strcmp(info->name, "interrupted") == 0)
        return json_true();
    for (unsigned i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        errno = 0;
        long long number = strtoll(info->value, &end, 10);
        if (strcmp(info->name, numbers[i]) == 0 && *end == '\0' && end != info->value && errno == 0)
            return json_integer(number);
    }
    return value ? value : json_string(info->value);
}

static json_t *head_json(const struct profile_report *r)
{
    const struct profile *p = r->names->profile;
    json_t *info = json_object(), *events = json_array();
    for (size_t i = 0; i < p->infos; i++)
        json_object_set_new(info, p->info[i].name, info_json(&p->info[i]));
    if (profile_info_of(p, "interrupted") == NULL)
        json_object_set_new(info, "interrupted", json_false());
    for (unsigned e = r->first; e <= r->last; e++)
        json_array_append_new(events, event_json(r->names, e));
    return json_pack("{s:s, s:s, s:b, s:I, s:s, s:o, s:o}", "command", "report", "version", r->version, "complete",
                     p->complete, "samples", (json_int_t)p->samples, "by", by_names[r->by], "info", info, "events",
                     events);
}

static int put_all(struct rows_to *t, struct error *err)
{
    switch (t->r->by) {
    case PROFILE_BY_TREE: return put_tree(t, err);
    case PROFILE_BY_DATA: return put_data(t, err);
    default: return put_rows(t, err);
    }
}

int profile_report_json(const struct profile_report *r, FILE *to, struct error *err)
{
    struct rows_to t = {.r = r, .to = to};
    json_t *head = head_json(r);
    char *text = head ? json_dumps(head, JSON_INDENT(2)) : NULL;
    json_decref(head);
    if (text == NULL)
        return error_set(err, -ENOMEM, "out of memory for a report");
    fprintf(to, "%.*s,\n  \"rows\": [", (int)strlen(text) - 2,
            text); /* without the line break and the brace at its end */
    free(text);
    int code = put_all(&t, err);
    fputs(t.rows ? "\n  ]\n}\n" : "]\n}\n", to);
    return code;
}

int profile_report_csv(const struct profile_report *r, FILE *to, struct error *err)
{
    struct rows_to t = {.r = r, .to = to, .csv = true};
    return put_all(&t, err);
}
