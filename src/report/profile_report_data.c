/* The report by cache line of data, as text. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clean_text.h"
#include "report/insn_text.h"
#include "profile/profile_data.h"
#include "report/profile_report.h"
#include "report/run_report.h"

enum { TOUCHERS_SHOWN = 4 };

struct data_text {
    const struct profile_report *r;
    const struct profile_data *d;
    struct profile_columns columns;
    struct text_table *text;
};

static void put_share(uint64_t part, uint64_t all, struct text_table *t)
{
    if (part)
        text_cell(t, "%.1f", 100 * (double)part / (double)all);
    else
        text_cell(t, "-");
}

/* Adds the instructions that accessed the line. */
static void put_touchers(const struct data_text *x, const struct data_line *l)
{
    const struct profile_names *n = x->r->names;
    struct data_toucher touchers[TOUCHERS_SHOWN];
    char where[256], text[INSN_TEXT_SIZE], number[GROUPED_SIZE];
    size_t all = data_touchers(x->d, l, touchers, TOUCHERS_SHOWN);
    for (size_t i = 0; i < all && i < TOUCHERS_SHOWN; i++) {
        const struct profile_place *p = &n->place[touchers[i].place];
        struct insn insn;
        place_text(n, p, where, sizeof where);
        snprintf(text, sizeof text, "?");
        if (insn_of_file(n->symbols, p->pc, &insn))
            insn_text(n->symbols, &insn, p->pc, n->function[p->function].start, text);
        text_remark(x->text, "%s  %.1f %% of accesses  %" PRIx64 "  %s", where,
                    100 * (double)touchers[i].samples / (double)l->samples, p->pc, text);
    }
    if (all > TOUCHERS_SHOWN)
        text_remark(x->text, "[%s more instruction%s]", grouped(all - TOUCHERS_SHOWN, number),
                    all - TOUCHERS_SHOWN == 1 ? "" : "s");
}

/* The first column: the object that the line belongs to, or the line itself. */
static void put_name(const struct data_text *x, const struct data_line *l, const struct place *object, unsigned others)
{
    char name[256], more[32] = "";
    if (!object->has_symbol)
        snprintf(name, sizeof name, "%" PRIx64, l->address);
    else if (l->address > object->start)
        snprintf(name, sizeof name, "%s+0x%" PRIx64, object->name, l->address - object->start);
    else
        snprintf(name, sizeof name, "%s", object->name);
    clean_text(name);
    if (others)
        snprintf(more, sizeof more, " and %u more", others);
    text_cell(x->text, "%s%s", name, more);
}

static void put_line(const struct data_text *x, const struct data_line *l)
{
    struct place object;
    char region[64];
    unsigned others = data_object(x->d, l, &object);
    put_name(x, l, &object, others);
    columns_row(&x->columns, data_amount(x->d, l), NULL, x->text);
    put_share(l->l1d, l->samples, x->text);
    put_share(l->l2d, l->samples, x->text);
    put_share(l->dtlb, l->samples, x->text);
    put_share(l->stores, l->samples, x->text);
    snprintf(region, sizeof region, "%s", short_path(object.module));
    clean_text(region);
    text_remark(x->text, "line %" PRIx64 " of %s", l->address, region);
    put_touchers(x, l);
}

static void put_sum(const struct data_text *x, const struct profile_amount *sum, const char *name)
{
    bool any = false;
    for (unsigned e = x->columns.first; e <= x->columns.last; e++)
        any |= sum[e].samples != 0;
    if (!any)
        return;
    text_cell(x->text, "%s", name);
    columns_row(&x->columns, sum, NULL, x->text);
    text_end_row(x->text);
}

static void put_heads(const struct data_text *x)
{
    static const char *const heads[] = {"L1D%", "L2D%", "DTLB%", "store%"};
    text_column(x->text, TEXT_LEFT, "data");
    columns_head(&x->columns, x->text);
    for (unsigned i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        text_column(x->text, i ? TEXT_BESIDE : TEXT_NUMBER, heads[i]);
        if (i == 0)
            text_over(x->text, "");
    }
}

/* Adds all lines. Lines below the limit are summed in `hidden`, by event, which starts as 0. */
static void put_lines(const struct data_text *x, struct profile_amount *hidden)
{
    char name[64], number[GROUPED_SIZE];
    size_t hidden_lines = 0;
    bool any = false;
    for (size_t i = 0; i < x->d->count; i++)
        any |= columns_reach(&x->columns, data_amount(x->d, &x->d->line[i]), NULL, x->r->limit_percent);
    put_heads(x);
    for (size_t i = 0; i < x->d->count; i++) {
        const struct data_line *l = &x->d->line[i];
        const struct profile_amount *a = data_amount(x->d, l);
        if (columns_reach(&x->columns, a, NULL, x->r->limit_percent) || (!any && i < PROFILE_FEW)) {
            put_line(x, l);
            continue;
        }
        for (unsigned e = x->columns.first; e <= x->columns.last; e++) {
            hidden[e].weight += a[e].weight;
            hidden[e].samples += a[e].samples;
        }
        hidden_lines++;
    }
    snprintf(name, sizeof name, "[%s more]", grouped(hidden_lines, number));
    put_sum(x, hidden, name);
    put_sum(x, x->d->rest, x->r->function ? "[other functions, or without an address]" : "[without an address]");
}

int profile_report_data(const struct profile_report *r, FILE *to, bool color, struct error *err)
{
    struct profile_data d;
    struct data_text x = {.r = r, .d = &d, .columns = profile_report_columns(r, color)};
    x.columns.inclusive = false;
    int code = profile_data_make(&d, r->names,
                                 &(struct data_choice){r->line_bytes, r->first, r->last, r->sort, r->function}, err);
    if (code != 0)
        return code;
    struct profile_amount *hidden = calloc(r->names->profile->events, sizeof *hidden);
    if (hidden) {
        x.text = text_table_new();
        put_lines(&x, hidden);
        text_table_print(x.text, to, 1, r->columns);
        fputc('\n', to);
    } else {
        code = error_set(err, -ENOMEM, "out of memory for a report");
    }
    free(hidden);
    profile_data_free(&d);
    return code;
}
