#include "report/phase_report.h"

#include <errno.h>
#include <stdlib.h>

#include "report/phase_picture.h"
#include "report/profile_names.h"
#include "report/stall_picture.h"

enum { MATRIX = 128, PAGE_FUNCTIONS = 3, NAME_MOST = 40 };

static const double LEAST_SHARE = 0.01; /* of a phase, for its second and third function on the page */

/* ---- what all of it needs */

static int find_code(struct phase_report *r, const char *sysroot, struct error *err)
{
    int code = 0;
    r->functions = phase_functions_new(r->set, sysroot, err);
    if (r->functions == NULL)
        return -ENOMEM;
    r->code = calloc(r->clusters->count, sizeof *r->code);
    if (r->code == NULL)
        return error_set(err, -ENOMEM, "out of memory for the functions of phases");
    for (unsigned k = 0; code == 0 && k < r->clusters->count; k++)
        code = phase_code_find(r->functions, r->clusters, k, &r->code[k], err);
    return code;
}

int phase_report_begin(struct phase_report *r, bool details, const char *sysroot, struct error *err)
{
    r->start = calloc(r->set->count + 1, sizeof *r->start);
    if (r->start == NULL)
        return error_set(err, -ENOMEM, "out of memory for the report");
    for (size_t k = 0; k < r->set->count; k++)
        r->start[k + 1] = r->start[k] + r->set->vector[k].insns;
    if (!details)
        return 0;
    int code = similarity_find(r->set, MATRIX, &r->similarity, err);
    return code || r->set->block == NULL ? code : find_code(r, sysroot, err);
}

void phase_report_end(struct phase_report *r)
{
    for (unsigned k = 0; r->code && k < r->clusters->count; k++)
        phase_code_free(&r->code[k]);
    free(r->code);
    phase_functions_free(r->functions);
    similarity_free(&r->similarity);
    free(r->start);
}

static uint64_t length_of(const struct phase_report *r, const struct phase_point *p)
{
    return r->start[p->start + p->length] - r->start[p->start];
}

/* ---- page */

static void print_periods(const struct phase_report *r, FILE *to)
{
    const struct phases *p = r->phases;
    char text[SHORT_NUMBER];
    fputs("period            ", to);
    if (p->period_count == 0)
        fputs("none", to);
    for (unsigned k = 0; k < p->period_count; k++)
        fprintf(to, "%s%s", k ? ", within " : "", stall_short(p->periods[k] * r->set->interval, text));
    if (p->correlated_period)
        fprintf(to, "   (autocorrelation: %s)\n", stall_short(p->correlated_period * r->set->interval, text));
    else
        fputs("   (autocorrelation: none)\n", to);
    if (p->duration_count < 2)
        return;
    fputs("  by duration     ", to);
    for (unsigned k = 0; k < p->duration_count; k++) {
        fprintf(to, "%s%s: ", k ? "   " : "", stall_short(p->duration[k].length * r->set->interval, text));
        fputs(p->duration[k].period ? stall_short(p->duration[k].period * r->set->interval, text) : "-", to);
    }
    fputc('\n', to);
}

static void print_point(const struct phase_report *r, const char *label, const struct phase_point *p, FILE *to)
{
    char start[SHORT_NUMBER], length[SHORT_NUMBER];
    if (p->length)
        fprintf(to, "  %-26s %10s %10s %11.4f\n", label, stall_short(r->start[p->start], start),
                stall_short(length_of(r, p), length), p->difference);
}

static void print_points(const struct phase_report *r, FILE *to)
{
    const struct phases *p = r->phases;
    fputs("\nwhere to simulate                 start     length  difference\n", to);
    print_point(r, p->period ? "best single period" : "best interval", &p->best, to);
    print_point(r, "best for the budget", &p->budgeted, to);
    print_point(r, p->period ? "initialization + a period" : "initialization + 1", &p->naive, to);
    fprintf(to, "\n%u point%s by clustering            start     length     weight\n", r->clusters->count,
            r->clusters->count == 1 ? " " : "s");
    for (unsigned k = 0; k < r->clusters->count; k++) {
        const struct cluster_point *c = &r->clusters->point[k];
        char start[SHORT_NUMBER], length[SHORT_NUMBER];
        fprintf(to, "  %-26u %10s %10s %9.2f %%\n", k, stall_short(r->start[c->interval], start),
                stall_short(r->set->vector[c->interval].insns, length), 100 * c->weight);
    }
}

static void print_function(const struct phase_report *r, unsigned phase, const struct phase_share *s, FILE *to)
{
    struct phase_function f = phase_function_at(r->functions, s->function);
    fprintf(to, "%6.1f %%  %.*s", 100 * s->insns / r->code[phase].insns, NAME_MOST, f.name);
    if (f.file)
        fprintf(to, "  %s:%u", short_path(f.file), f.line);
    fputc('\n', to);
}

static void print_functions(const struct phase_report *r, FILE *to)
{
    if (r->functions == NULL) {
        fputs("\nA .bb file has no addresses: the functions of a phase are known only when its program is run here.\n",
              to);
        return;
    }
    fputs("\nfunctions of each phase, by instructions\n", to);
    for (unsigned k = 0; k < r->clusters->count; k++)
        for (size_t i = 0; i < r->code[k].shares && i < PAGE_FUNCTIONS; i++) {
            if (i > 0 && r->code[k].share[i].insns < LEAST_SHARE * r->code[k].insns)
                break;
            if (i == 0)
                fprintf(to, "  %-4u", k);
            else
                fputs("      ", to);
            print_function(r, k, &r->code[k].share[i], to);
        }
}

/* Only where the paper's signal alone would say something else. */
static void print_paper(const struct phase_report *r, FILE *to)
{
    const struct phases *p = r->phases;
    char text[SHORT_NUMBER];
    if (p->difference_period == p->period)
        return;
    fprintf(to, "  the difference graph alone shows %s%s\n", p->difference_period ? "a period of " : "no period",
            p->difference_period ? stall_short(p->difference_period * r->set->interval, text) : "");
}

/* A run that is no longer than an interval has no phases to show. */
static void print_shortness(const struct phase_report *r, FILE *to)
{
    if (r->set->count == 1 && r->set->insns >= 100)
        fprintf(to, "The run is not longer than one interval: --interval %llu shows more of it.\n\n",
                (unsigned long long)(r->set->insns / 100));
}

void phase_report_page(const struct phase_report *r, FILE *to)
{
    const struct phases *p = r->phases;
    char text[SHORT_NUMBER], interval[SHORT_NUMBER];
    fprintf(to, "phases of %s: %zu interval%s of %s instructions, %u basic blocks\n\n", r->source, p->count,
            p->count == 1 ? "" : "s", stall_short(r->set->interval, interval), r->set->blocks);
    print_shortness(r, to);
    fprintf(to, "initialization    %s\n", p->init_end ? stall_short(r->start[p->init_end], text) : "none");
    print_periods(r, to);
    print_paper(r, to);
    print_points(r, to);
    print_functions(r, to);
    phase_picture("difference to the whole run", p->difference, p->count, r->set->interval, to);
    phase_picture("initialization difference: the first quarter against the run", p->initialization,
                  p->initialization_count, r->set->interval, to);
    phase_picture("period difference: a quarter behind initialization against what follows", p->match, p->match_count,
                  r->set->interval, to);
    phase_matrix_picture(&r->similarity, to);
}
