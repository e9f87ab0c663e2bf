#include <inttypes.h>

#include "report/text_table.h"
#include "report/validate_sampling_report.h"

static uint64_t cycles_alone(const struct overhead_report *r)
{
    return r->run.result.counts.core.cycles;
}

double overhead_of(const struct overhead_report *r, size_t row)
{
    uint64_t alone = cycles_alone(r);
    return alone ? (double)r->row[row].cycles / (double)alone - 1 : 0;
}

/* Additional cycles per sample. */
static double cost_of(const struct overhead_report *r, size_t row)
{
    const struct overhead_row *o = &r->row[row];
    return o->slices ? ((double)o->cycles - (double)cycles_alone(r)) / (double)o->slices : 0;
}

void overhead_report_print(const struct overhead_report *r, FILE *to)
{
    char slice[GROUPED_SIZE], slices[GROUPED_SIZE], alone[GROUPED_SIZE];
    run_report_print_begin(&r->run, to);
    fprintf(to, "\n %5s %12s %12s %18s %11s %9s\n", "kHz", "slice", "samples", "cycles per sample", "overhead, %",
            "paper's");
    for (size_t i = 0; i < r->rows; i++) {
        const struct overhead_row *o = &r->row[i];
        fprintf(to, " %5" PRIu64 " %12s %12s %18.1f %11.3f %9.1f\n", o->khz, grouped(o->slice, slice),
                grouped(o->slices, slices), cost_of(r, i), 100 * overhead_of(r, i), o->paper);
    }
    fputc('\n', to);
    text_paragraph(to, "%s cycles without the sampler, which counts nine events in %zu groups, at %" PRIu64 " MHz.",
                   grouped(cycles_alone(r), alone), r->groups, r->run.simulation->core->clock_mhz);
    run_report_print_end(&r->run, to);
}

void overhead_report_csv(const struct overhead_report *r, FILE *to)
{
    fputs("khz,slice,samples,cycles,overhead_percent,paper_percent\n", to);
    for (size_t i = 0; i < r->rows; i++)
        fprintf(to, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.4f,%.1f\n", r->row[i].khz, r->row[i].slice,
                r->row[i].slices, r->row[i].cycles, 100 * overhead_of(r, i), r->row[i].paper);
}

json_t *overhead_report_json(const struct overhead_report *r)
{
    json_t *root = run_report_json(&r->run, "validate overhead"), *rows = json_array();
    for (size_t i = 0; i < r->rows; i++)
        json_array_append_new(rows,
                              json_pack("{s:I, s:I, s:I, s:I, s:f, s:f, s:f}", "khz", (json_int_t)r->row[i].khz,
                                        "slice", (json_int_t)r->row[i].slice, "samples", (json_int_t)r->row[i].slices,
                                        "cycles", (json_int_t)r->row[i].cycles, "cycles_per_sample", cost_of(r, i),
                                        "percent", 100 * overhead_of(r, i), "paper_percent", r->row[i].paper));
    json_object_set_new(root, "groups", json_integer((json_int_t)r->groups));
    json_object_set_new(root, "overhead", rows);
    return root;
}
