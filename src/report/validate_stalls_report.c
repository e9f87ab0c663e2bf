#include <inttypes.h>
#include <math.h>

#include "report/text_table.h"
#include "report/validate_sampling_report.h"

/* JSON keys of the runs, and of the distances from the real run. */
static const char *const run_keys[STALL_RUNS] = {"real", "single", "inorder"};
static const char *const distance_keys[STALL_RUNS] = {NULL, "kl_single", "kl_inorder"};

static double per_insn(const struct stalls_check_report *r, unsigned run, uint64_t cycles)
{
    return r->total[run].insns ? (double)cycles / (double)r->total[run].insns : 0;
}

/* ---- text */

void stalls_check_print(const struct stalls_check_report *r, FILE *to)
{
    char text[GROUPED_SIZE];
    run_report_print_begin(&r->run, to);
    fprintf(to, "\n %-24s | %26s | %16s\n", "", "CPI", "distance to real");
    fprintf(to, " %-24s | %8s %8s %8s | %7s %8s\n", "stalls", "real", "single", "inorder", "single", "inorder");
    for (unsigned s = STALL_SOURCES; s-- > 0;) {
        fprintf(to, " %-24s |", stall_rows[s].label);
        for (unsigned i = 0; i < STALL_RUNS; i++)
            fprintf(to, " %8.4f", per_insn(r, i, r->total[i].stalls[s]));
        fputs(" |", to);
        for (unsigned i = STALL_RUN_SINGLE; i < STALL_RUNS; i++) {
            if (isnan(r->distance[s][i]))
                fprintf(to, "%*s", i == STALL_RUN_SINGLE ? 8 : 9, "N/A");
            else
                fprintf(to, "%*.3f", i == STALL_RUN_SINGLE ? 8 : 9, r->distance[s][i]);
        }
        fputc('\n', to);
    }
    fprintf(to, " %-24s |", stall_completion_row.label);
    for (unsigned i = 0; i < STALL_RUNS; i++)
        fprintf(to, " %8.4f", per_insn(r, i, r->total[i].completion));
    fprintf(to, " |\n %-24s |", "total");
    for (unsigned i = 0; i < STALL_RUNS; i++)
        fprintf(to, " %8.4f", per_insn(r, i, r->total[i].cycles));
    fputs(" |\n\n", to);
    text_paragraph(to,
                   "Distances are over %zu intervals of %s instructions, from full counts in user mode. single: one "
                   "instruction per bundle; inorder: in addition, an instruction issues when the one before has "
                   "retired. N/A: less than one cycle of such stalls in 10,000 instructions.",
                   r->intervals, grouped(r->interval, text));
    run_report_print_end(&r->run, to);
}

/* ---- files */

void stalls_check_csv(const struct stalls_check_report *r, FILE *to)
{
    fputs("source,cpi_real,cpi_single,cpi_inorder,kl_single,kl_inorder\n", to);
    for (unsigned s = 0; s < STALL_SOURCES; s++) {
        fputs(stall_rows[s].key, to);
        for (unsigned i = 0; i < STALL_RUNS; i++)
            fprintf(to, ",%.6f", per_insn(r, i, r->total[i].stalls[s]));
        for (unsigned i = STALL_RUN_SINGLE; i < STALL_RUNS; i++) {
            fputc(',', to);
            if (!isnan(r->distance[s][i]))
                fprintf(to, "%.5f", r->distance[s][i]);
        }
        fputc('\n', to);
    }
}

json_t *stalls_check_json(const struct stalls_check_report *r)
{
    json_t *root = run_report_json(&r->run, "validate stalls"), *sources = json_object();
    for (unsigned s = 0; s < STALL_SOURCES; s++) {
        json_t *one = json_object(), *cpi = json_object();
        for (unsigned i = 0; i < STALL_RUNS; i++) {
            json_object_set_new(cpi, run_keys[i], json_real(per_insn(r, i, r->total[i].stalls[s])));
            if (distance_keys[i])
                json_object_set_new(one, distance_keys[i],
                                    isnan(r->distance[s][i]) ? json_null() : json_real(r->distance[s][i]));
        }
        json_object_set_new(one, "cpi", cpi);
        json_object_set_new(sources, stall_rows[s].key, one);
    }
    json_t *cpi = json_object();
    for (unsigned i = 0; i < STALL_RUNS; i++)
        json_object_set_new(cpi, run_keys[i], json_real(per_insn(r, i, r->total[i].cycles)));
    json_object_set_new(root, "interval", json_integer((json_int_t)r->interval));
    json_object_set_new(root, "intervals", json_integer((json_int_t)r->intervals));
    json_object_set_new(root, "cpi_by_run", cpi);
    json_object_set_new(root, "stalls", sources);
    return root;
}
