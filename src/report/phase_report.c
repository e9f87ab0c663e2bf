#include "report/phase_report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clean_text.h"
#include "report/phase_picture.h"
#include "profile/profile_names.h"
#include "report/stall_picture.h"
#include "report/text_table.h"

enum { MATRIX = 128, PAGE_FUNCTIONS = 3 };

/* Share of a phase that its second and third function need to be listed on the page. */
static const double LEAST_SHARE = 0.01;

/* ---- preparation */

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

uint64_t phase_report_length(const struct phase_report *r, const struct phase_point *p)
{
    size_t end = p->start + (size_t)p->length;
    double rest = p->length - floor(p->length);
    uint64_t part = rest > 0 ? (uint64_t)llround(rest * (double)(r->start[end + 1] - r->start[end])) : 0;
    return r->start[end] - r->start[p->start] + part;
}

/* ---- page */

/* Prints a length in instructions with its uncertainty. */
static void print_length(const struct phase_length *l, FILE *to)
{
    char text[SHORT_NUMBER];
    fputs(stall_short((uint64_t)llround(l->insns), text), to);
    fprintf(to, " ± %s", stall_short((uint64_t)llround(l->error), text));
}

static void print_durations(const struct phase_report *r, FILE *to)
{
    const struct phases *p = r->phases;
    char text[SHORT_NUMBER];
    if (p->duration_count < 2)
        return;
    fputs("  by duration     ", to);
    for (unsigned k = 0; k < p->duration_count; k++) {
        fprintf(to, "%s%s: ", k ? "   " : "", stall_short(p->duration[k].length * r->set->interval, text));
        fputs(p->duration[k].period ? stall_short(p->duration[k].period * r->set->interval, text) : "-", to);
    }
    fputc('\n', to);
}

static void print_structure(const struct phase_report *r, FILE *to)
{
    const struct structure *found = &r->phases->structure;
    char text[SHORT_NUMBER];
    fputs("initialization    ", to);
    if (found->init.insns > 0)
        print_length(&found->init, to);
    else
        fputs("none", to);
    fputs("\nperiod            ", to);
    for (unsigned k = 0; k < found->periods; k++) {
        fputs(k ? ", within " : "", to);
        print_length(&found->period[k], to);
    }
    if (found->periods == 0 && found->least < found->most) {
        fprintf(to, "none of %s", stall_short((uint64_t)found->least, text));
        fprintf(to, " to %s", stall_short((uint64_t)found->most, text));
    } else if (found->periods == 0) {
        fputs("none", to);
    }
    fprintf(to, "   (autocorrelation: %s)\n",
            found->correlated_period > 0 ? stall_short((uint64_t)found->correlated_period, text) : "none");
    print_durations(r, to);
}

static void print_point(const struct phase_report *r, const char *label, const struct phase_point *p, FILE *to)
{
    char start[SHORT_NUMBER], length[SHORT_NUMBER];
    if (p->length > 0)
        fprintf(to, "  %-26s %10s %10s %11.4f\n", label, stall_short(r->start[p->start], start),
                stall_short(phase_report_length(r, p), length), p->difference);
}

/* What the stretches do not represent. */
static void print_doubts(const struct phase_report *r, FILE *to)
{
    const struct phases *p = r->phases;
    const struct structure *found = &p->structure;
    if (p->init_end > 0)
        fprintf(to,
                "  Differences are from the run after initialization, which is %.1f %% of it.\n"
                "  Initialization has a CPI of its own: for the whole run, simulate it as well.\n",
                100 * (1 - found->init.insns / (double)r->start[r->set->count]));
    if (found->periods == 0)
        fputs("  There is no period. Of at most a quarter of the run, the best stretch is the\n"
              "  shortest one that resembles the run about as well as any.\n",
              to);
    else if (p->best_periods > 1 && found->period[found->periods - 1].insns >= (double)r->set->interval)
        fputs("  No single period resembles the run.\n", to);
    if (p->best.difference > PHASE_RESEMBLES)
        fprintf(to,
                "  The best stretch resembles the run poorly (difference above %.1f). Its CPI may be\n"
                "  far from that of the run; simulate the points.\n",
                PHASE_RESEMBLES);
}

static void print_points(const struct phase_report *r, FILE *to)
{
    const struct phases *p = r->phases;
    char best[48] = "best stretch";
    if (p->best_periods == 1)
        snprintf(best, sizeof best, "best single period");
    else if (p->best_periods > 1)
        snprintf(best, sizeof best, "best %zu periods", p->best_periods);
    fputs("\nwhere to simulate                 start     length  difference\n", to);
    print_point(r, best, &p->best, to);
    print_point(r, "best for the budget", &p->budgeted, to);
    print_point(r, p->structure.periods ? "initialization + a period" : "initialization + as much", &p->naive, to);
    print_doubts(r, to);
    fprintf(to, "\n%u point%s by clustering            start     length     weight\n", r->clusters->count,
            r->clusters->count == 1 ? " " : "s");
    for (unsigned k = 0; k < r->clusters->count; k++) {
        const struct cluster_point *c = &r->clusters->point[k];
        char start[SHORT_NUMBER], length[SHORT_NUMBER];
        fprintf(to, "  %-26u %10s %10s %9.2f %%\n", k, stall_short(r->start[c->interval], start),
                stall_short(r->set->vector[c->interval].insns, length), 100 * c->weight);
    }
}

static void put_function(const struct phase_report *r, unsigned phase, const struct phase_share *s,
                         struct text_table *t)
{
    struct phase_function f = phase_function_at(r->functions, s->function);
    text_cell(t, "  %s", f.name);
    text_cell(t, "%.1f", 100 * s->insns / r->code[phase].insns);
    if (f.file)
        text_cell(t, "%s:%u", short_path(f.file), f.line);
    text_end_row(t);
}

static void print_functions(const struct phase_report *r, FILE *to, unsigned columns)
{
    if (r->functions == NULL) {
        fputs("\nA .bb file has no addresses. To see the functions of a phase, run `phases` on\n"
              "the program itself.\n",
              to);
        return;
    }
    struct text_table *t = text_table_new();
    text_column(t, TEXT_LEFT, "functions of each phase, by instructions");
    text_column(t, TEXT_NUMBER, "%");
    text_column(t, TEXT_CUT, "");
    for (unsigned k = 0; k < r->clusters->count; k++) {
        text_cell(t, "phase %u", k);
        text_end_row(t);
        for (size_t i = 0; i < r->code[k].shares && i < PAGE_FUNCTIONS; i++)
            if (i == 0 || r->code[k].share[i].insns >= LEAST_SHARE * r->code[k].insns)
                put_function(r, k, &r->code[k].share[i], t);
    }
    fputc('\n', to);
    text_table_print(t, to, 0, columns);
}

/* The period that the paper's signal, the difference graph, shows, if it is another one. */
static void print_paper(const struct phase_report *r, FILE *to)
{
    const struct structure *found = &r->phases->structure;
    char text[SHORT_NUMBER];
    double shown = (double)(r->phases->difference_period * r->set->interval);
    double longest = found->periods ? found->period[found->periods - 1].insns : 0;
    if (fabs(shown - longest) <= (double)r->set->interval)
        return;
    fprintf(to, "  the difference graph alone shows %s%s\n", shown > 0 ? "a period of " : "no period",
            shown > 0 ? stall_short((uint64_t)shown, text) : "");
}

/* A run of a single interval has no phases. */
static void print_shortness(const struct phase_report *r, FILE *to)
{
    if (r->set->count == 1 && r->set->insns >= 100)
        fprintf(to, "The run is not longer than one interval: --interval %llu would show its\nphases.\n\n",
                (unsigned long long)(r->set->insns / 100));
}

void phase_report_page(const struct phase_report *r, FILE *to, unsigned columns)
{
    const struct phases *p = r->phases;
    char interval[SHORT_NUMBER];
    fputs("phases of ", to);
    clean_print(r->source, to);
    fprintf(to, ":\n%zu interval%s of %s instructions, %u basic blocks\n\n", p->count, p->count == 1 ? "" : "s",
            stall_short(r->set->interval, interval), r->set->blocks);
    if (r->interrupted)
        fprintf(to, "INTERRUPTED by SIG%s: these are the phases of the part of the run before it.\n\n",
                sigabbrev_np(r->interrupted));
    print_shortness(r, to);
    print_structure(r, to);
    print_paper(r, to);
    print_points(r, to);
    print_functions(r, to, columns);
    phase_picture("difference to the whole run", p->difference, p->count, r->set->interval, to);
    phase_picture("initialization difference: the first quarter compared with the run", p->initialization,
                  p->initialization_count, r->set->interval, to);
    phase_picture("period difference: a quarter after initialization compared with what follows", p->match,
                  p->match_count, r->set->interval, to);
    phase_matrix_picture(&r->similarity, to);
}
