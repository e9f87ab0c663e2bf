#include "report/stall_report.h"

#include <inttypes.h>

#include "report/stall_picture.h"
#include "report/text_table.h"

enum { PICTURE_ROWS = 12 };

void stall_report_find_phases(struct stall_report *r)
{
    r->phases = stall_phases_find(r->series, r->phase);
}

static double per(uint64_t cycles, uint64_t n)
{
    return n ? (double)cycles / (double)n : 0;
}

/* ---- the page */

static void print_heading(const struct stall_report *r, FILE *to)
{
    run_report_print_cpi(&r->run, to);
    fputc('\n', to);
}

static void print_row(const struct stall_report *r, const char *label, uint64_t cycles, uint64_t error, FILE *to)
{
    char text[GROUPED_SIZE];
    const struct stall_interval *t = r->total;
    fprintf(to, " %-24s %18s %9.4f", label, grouped(cycles, text), per(cycles, t->insns));
    if (!r->exact)
        fprintf(to, " \xc2\xb1 %6.4f", per(error, t->insns));
    fprintf(to, " %6.1f\n", 100 * per(cycles, t->cycles));
}

static void print_table(const struct stall_report *r, FILE *to)
{
    const struct stall_interval *t = r->total;
    fprintf(to, "\n %-24s %18s %9s%s %6s\n", "stalls", "cycles", "CPI", r->exact ? "" : "         ", "%");
    for (unsigned s = STALL_SOURCES; s-- > 0;)
        print_row(r, stall_rows[s].label, t->stalls[s], t->error[s], to);
    print_row(r, stall_completion_row.label, t->completion, 0, to);
    print_row(r, "total", t->cycles, 0, to);
    fputc('\n', to);
}

/* What the table charges where CPI stacks charge something else. */
static void print_charges(FILE *to)
{
    text_paragraph(to,
                   "Each stall is charged as a whole to the wait that ended it. Address translation: page walks before "
                   "a hit; a walk before a cache miss is in data misses (`stack`: in D-TLB).");
    fputc('\n', to);
}

static void print_phase(const struct stall_interval *i, size_t number, FILE *to)
{
    char from[SHORT_NUMBER], end[SHORT_NUMBER];
    enum stall_source s = stall_largest(i);
    fprintf(to, " phase %zu: %s to %s instructions, CPI %.3f, ", number, stall_short(i->first_insn, from),
            stall_short(i->first_insn + i->insns, end), per(i->cycles, i->insns));
    if (s == STALL_SOURCES)
        fputs("no stalls\n", to);
    else
        fprintf(to, "%s %.1f %%\n", stall_rows[s].label, 100 * per(i->stalls[s], i->cycles));
}

static const char *advice(const struct stall_report *r, char *text, size_t size)
{
    static const char *const cure[STALL_SOURCES] = {
        [STALL_ICACHE] = "denser code, or a larger L1 instruction cache",
        [STALL_BRANCH] = "fewer unpredictable branches, or better prediction",
        [STALL_DCACHE] = "data that stays in the L1 cache, or is prefetched in time",
        [STALL_TRANSLATION] = "data on fewer pages, or larger pages",
        [STALL_REJECT] = "fewer misses at once, and no loads that partly overlap a recent store",
        [STALL_FPU] = "more independent floating-point work, or faster units",
        [STALL_INTEGER] = "shorter chains of dependent instructions, or faster units",
        [STALL_OTHER] = "shorter chains of loads, fewer stores at once, fewer serializing instructions",
    };
    const struct stall_interval *t = r->total;
    enum stall_source s = stall_largest(t);
    if (s == STALL_SOURCES)
        snprintf(text, size, "An instruction retired in every cycle.");
    else
        snprintf(text, size, "What would help most: %s (%s, %.3f of %.3f CPI): at most %.1f %% fewer cycles.", cure[s],
                 stall_rows[s].label, per(t->stalls[s], t->insns), per(t->cycles, t->insns),
                 100 * per(t->stalls[s], t->cycles));
    return text;
}

void stall_report_print(const struct stall_report *r, FILE *to, bool color, unsigned columns)
{
    char text[512], length[SHORT_NUMBER], count[GROUPED_SIZE];
    print_heading(r, to);
    if (r->total->insns) {
        print_table(r, to);
        print_charges(to);
        if (r->series->count > 1) {
            fprintf(to, " CPI over instructions, %s intervals of %s %s:\n\n", grouped(r->series->count, count),
                    stall_short(r->interval, length), r->clock == CLOCK_CYCLES ? "cycles" : "instructions");
            stall_picture_print(r->series, PICTURE_ROWS, columns, color, to);
            fputc('\n', to);
        }
        for (size_t i = 0; i < r->phases; i++)
            print_phase(&r->phase[i].sum, i + 1, to);
        fputc('\n', to);
        text_paragraph(to, "%s", advice(r, text, sizeof text));
        fputc('\n', to);
    }
    if (!r->exact && !r->run.sampled && r->total->cycles)
        text_paragraph(to, "Counters were multiplexed. %s. The sampler took %s more cycles: %.2f %%.",
                       PLUS_MINUS_MEANING, grouped(r->sampler_cycles, count),
                       100 * per(r->sampler_cycles, r->total->cycles));
    run_report_print_end(&r->run, to);
}

/* ---- JSON and CSV */

/* Completion and stalls by source, in cycles per instruction if `cpi`, else in cycles. */
static json_t *breakdown_json(const struct stall_interval *i, bool cpi)
{
    json_t *object = json_object();
    json_object_set_new(object, stall_completion_row.key,
                        cpi ? json_real(per(i->completion, i->insns)) : json_integer((json_int_t)i->completion));
    for (unsigned s = 0; s < STALL_SOURCES; s++)
        json_object_set_new(object, stall_rows[s].key,
                            cpi ? json_real(per(i->stalls[s], i->insns)) : json_integer((json_int_t)i->stalls[s]));
    return object;
}

static json_t *errors_json(const struct stall_interval *i)
{
    json_t *object = json_object();
    for (unsigned s = 0; s < STALL_SOURCES; s++)
        json_object_set_new(object, stall_rows[s].key, json_real(per(i->error[s], i->insns)));
    return object;
}

static void set_breakdown(const struct stall_report *r, json_t *object, const struct stall_interval *i)
{
    json_object_set_new(object, "stalls", breakdown_json(i, true));
    json_object_set_new(object, "stall_cycles", breakdown_json(i, false));
    if (!r->exact)
        json_object_set_new(object, "stalls_error", errors_json(i));
}

static json_t *interval_json(const struct stall_report *r, const struct stall_interval *i)
{
    json_t *object = json_pack("{s:I, s:I, s:I, s:I, s:f}", "first_instruction", (json_int_t)i->first_insn,
                               "first_cycle", (json_int_t)i->first_cycle, "instructions", (json_int_t)i->insns,
                               "cycles", (json_int_t)i->cycles, "cpi", per(i->cycles, i->insns));
    set_breakdown(r, object, i);
    return object;
}

static json_t *phase_json(const struct stall_report *r, const struct stall_phase *p)
{
    json_t *object = interval_json(r, &p->sum);
    enum stall_source s = stall_largest(&p->sum);
    json_object_set_new(object, "intervals", json_integer((json_int_t)p->count));
    json_object_set_new(object, "largest", s == STALL_SOURCES ? json_null() : json_string(stall_rows[s].key));
    json_object_set_new(object, "largest_percent",
                        json_real(s == STALL_SOURCES ? 0 : 100 * per(p->sum.stalls[s], p->sum.cycles)));
    return object;
}

json_t *stall_report_json(const struct stall_report *r)
{
    char text[512];
    json_t *root = run_report_json(&r->run, "stalls"), *intervals = json_array(), *phases = json_array();
    if (root == NULL) {
        json_decref(intervals);
        json_decref(phases);
        return NULL;
    }
    set_breakdown(r, root, r->total);
    json_object_set_new(root, "exact", json_boolean(r->exact));
    if (!r->exact)
        json_object_set_new(root, "sampler_cycles", json_integer((json_int_t)r->sampler_cycles));
    json_object_set_new(root, "advice", json_string(advice(r, text, sizeof text)));
    json_object_set_new(root, r->clock == CLOCK_CYCLES ? "interval_cycles" : "interval",
                        json_integer((json_int_t)r->interval));
    for (size_t i = 0; i < r->series->count; i++)
        json_array_append_new(intervals, interval_json(r, &r->series->of[i]));
    for (size_t i = 0; i < r->phases; i++)
        json_array_append_new(phases, phase_json(r, &r->phase[i]));
    json_object_set_new(root, "intervals", intervals);
    json_object_set_new(root, "phases", phases);
    return root;
}

void stall_report_csv(const struct stall_report *r, FILE *to)
{
    fprintf(to, "first_instruction,first_cycle,instructions,cycles,cpi,%s", stall_completion_row.key);
    for (unsigned s = 0; s < STALL_SOURCES; s++)
        fprintf(to, ",%s", stall_rows[s].key);
    for (unsigned s = 0; !r->exact && s < STALL_SOURCES; s++)
        fprintf(to, ",%s_error", stall_rows[s].key);
    fputc('\n', to);
    for (const struct stall_interval *i = r->series->of; i < r->series->of + r->series->count; i++) {
        fprintf(to, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.6f,%" PRIu64, i->first_insn, i->first_cycle,
                i->insns, i->cycles, per(i->cycles, i->insns), i->completion);
        for (unsigned s = 0; s < STALL_SOURCES; s++)
            fprintf(to, ",%" PRIu64, i->stalls[s]);
        for (unsigned s = 0; !r->exact && s < STALL_SOURCES; s++)
            fprintf(to, ",%" PRIu64, i->error[s]);
        fputc('\n', to);
    }
}

void stall_report_svg(const struct stall_report *r, FILE *to)
{
    char title[512];
    snprintf(title, sizeof title, "Stalls of %s on %s", r->run.program, r->run.simulation->core->name);
    stall_svg_write(r->series, r->phase, r->phases, title, to);
}
