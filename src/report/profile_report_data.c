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
    FILE *to;
};

static void put_share(uint64_t part, uint64_t all, FILE *to)
{
    if (part)
        fprintf(to, " %6.1f", 100 * (double)part / (double)all);
    else
        fprintf(to, " %6s", "-");
}

/* Prints the instructions that accessed the line. */
static void print_touchers(const struct data_text *x, const struct data_line *l)
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
        fprintf(x->to, "      %5.1f %% accessed by %" PRIx64 "  %-28s  %s\n",
                100 * (double)touchers[i].samples / (double)l->samples, p->pc, text, where);
    }
    if (all > TOUCHERS_SHOWN)
        fprintf(x->to, "      [%s more instructions]\n", grouped(all - TOUCHERS_SHOWN, number));
}

static void print_line(const struct data_text *x, const struct data_line *l)
{
    struct place object;
    char name[256], region[64];
    unsigned others = data_object(x->d, l, &object);
    columns_row(&x->columns, data_amount(x->d, l), NULL, x->to);
    put_share(l->l1d, l->samples, x->to);
    put_share(l->l2d, l->samples, x->to);
    put_share(l->dtlb, l->samples, x->to);
    put_share(l->stores, l->samples, x->to);
    if (!object.has_symbol)
        snprintf(name, sizeof name, "-");
    else if (l->address > object.start)
        snprintf(name, sizeof name, "%s+0x%" PRIx64, object.name, l->address - object.start);
    else
        snprintf(name, sizeof name, "%s", object.name);
    clean_text(name);
    snprintf(region, sizeof region, "%s", short_path(object.module));
    clean_text(region);
    fprintf(x->to, "  %12" PRIx64 "  %-16s  %s", l->address, region, name);
    if (others)
        fprintf(x->to, " and %u more", others);
    fputc('\n', x->to);
    print_touchers(x, l);
}

static void print_rest(const struct data_text *x, const struct profile_amount *rest, const char *name)
{
    bool any = false;
    for (unsigned e = x->columns.first; e <= x->columns.last; e++)
        any |= rest[e].samples != 0;
    if (!any)
        return;
    columns_row(&x->columns, rest, NULL, x->to);
    fprintf(x->to, "%30s%s\n", "", name);
}

/* Prints all lines. Lines below the limit are summed in `hidden`, by event, which starts as 0. */
static void print_lines(const struct data_text *x, struct profile_amount *hidden)
{
    char name[64], number[GROUPED_SIZE];
    size_t hidden_lines = 0;
    bool any = false;
    for (size_t i = 0; i < x->d->count; i++)
        any |= columns_reach(&x->columns, data_amount(x->d, &x->d->line[i]), NULL, x->r->limit_percent);
    columns_head(&x->columns, x->to);
    fprintf(x->to, " %6s %6s %6s %6s  %12s  %-16s  %s\n", "L1D%", "L2D%", "DTLB%", "store%", "line", "region", "data");
    for (size_t i = 0; i < x->d->count; i++) {
        const struct data_line *l = &x->d->line[i];
        const struct profile_amount *a = data_amount(x->d, l);
        if (columns_reach(&x->columns, a, NULL, x->r->limit_percent) || (!any && i < PROFILE_FEW)) {
            print_line(x, l);
            continue;
        }
        for (unsigned e = x->columns.first; e <= x->columns.last; e++) {
            hidden[e].weight += a[e].weight;
            hidden[e].samples += a[e].samples;
        }
        hidden_lines++;
    }
    snprintf(name, sizeof name, "[%s more]", grouped(hidden_lines, number));
    print_rest(x, hidden, name);
    print_rest(x, x->d->rest, x->r->function ? "[other functions, or without an address]" : "[without an address]");
    fputc('\n', x->to);
}

int profile_report_data(const struct profile_report *r, FILE *to, bool color, struct error *err)
{
    struct profile_data d;
    struct data_text x = {.r = r, .d = &d, .columns = profile_report_columns(r, color), .to = to};
    x.columns.inclusive = false;
    int code = profile_data_make(&d, r->names,
                                 &(struct data_choice){r->line_bytes, r->first, r->last, r->sort, r->function}, err);
    if (code != 0)
        return code;
    struct profile_amount *hidden = calloc(r->names->profile->events, sizeof *hidden);
    if (hidden)
        print_lines(&x, hidden);
    else
        code = error_set(err, -ENOMEM, "out of memory for a report");
    free(hidden);
    profile_data_free(&d);
    return code;
}
