#include "report/run_report.h"

#include <string.h>

#include "base/clean_text.h"
#include "base/options.h"
#include "report/json_text.h"
#include "report/sampled_report.h"
#include "report/text_table.h"

double run_report_cpi(const struct run_report *r)
{
    const struct core_counts *c = &r->result.counts.core;
    return c->instructions ? (double)c->cycles / (double)c->instructions : 0;
}

double run_report_mips(const struct run_report *r)
{
    return r->seconds > 0 ? (double)r->result.counts.core.instructions / r->seconds / 1e6 : 0;
}

const char *grouped(uint64_t n, char text[GROUPED_SIZE])
{
    char *at = text + GROUPED_SIZE - 1;
    *at = '\0';
    for (unsigned digits = 0; digits == 0 || n; digits++, n /= 10) {
        if (digits && digits % 3 == 0)
            *--at = ',';
        *--at = (char)('0' + n % 10);
    }
    return at;
}

void run_report_print_name(const struct run_report *r, FILE *to)
{
    clean_print(r->program, to);
    fputs(" on the core ", to);
    clean_print(r->simulation->core->name, to);
}

void run_report_print_begin(const struct run_report *r, FILE *to)
{
    fputs("\n ", to);
    run_report_print_name(r, to);
    if (r->programs)
        fprintf(to, ", program %u of %u that share it", r->number + 1, r->programs);
    fputs(":\n", to);
}

void run_report_print_cpi(const struct run_report *r, FILE *to)
{
    char insns[GROUPED_SIZE], cycles[GROUPED_SIZE];
    const struct core_counts *c = &r->result.counts.core;
    run_report_print_begin(r, to);
    fprintf(to, " %s instructions, %s cycles, CPI %.3f", grouped(c->instructions, insns), grouped(c->cycles, cycles),
            run_report_cpi(r));
}

void run_report_print_interruption(const struct run_report *r, FILE *to)
{
    if (r->interrupted == 0)
        return;
    fprintf(to, " INTERRUPTED by SIG%s: ", sigabbrev_np(r->interrupted));
    if (r->sampled)
        sampled_print_interruption(r, to);
    else
        fputs("these are the numbers of the part of the run before it.\n", to);
}

void run_report_print_end(const struct run_report *r, FILE *to)
{
    char text[GROUPED_SIZE];
    run_report_print_interruption(r, to);
    if (r->sampled)
        sampled_print(r, to);
    if (r->whole)
        text_paragraph(to, "The run is short, so all of it was simulated: a sample would have been half of it.");
    if (r->result.skipped_insns)
        fprintf(to, " %s instructions were skipped%s.\n", grouped(r->result.skipped_insns, text),
                r->simulation->warm ? " and warmed caches, TLBs and predictors" : "");
    if (r->result.counts.core.instructions == 0)
        fputs(" The program ended before the part that is measured.\n", to);
    if (r->result.cut)
        fprintf(to, " The program was stopped after %s instructions.\n", grouped(r->simulation->max_insns, text));
    if (r->programs)
        fprintf(to, " Exit status: %d.\n", r->status);
    fprintf(to, " %.3f seconds, %.2f MIPS\n\n", r->seconds, run_report_mips(r));
}

/* A number as a number, a size in bytes, other values as text. */
static json_t *param_json(const char *value)
{
    uint64_t number;
    return parse_size(value, &number) == 0 && number <= INT64_MAX ? json_integer((json_int_t)number)
                                                                  : json_string(value);
}

static json_t *params_json(const struct core_config *core)
{
    json_t *params = json_object();
    for (size_t i = 0; i < core_param_count; i++) {
        char name[64], value[64];
        snprintf(name, sizeof name, "%s.%s", core_params[i].section, core_params[i].key);
        param_text(core, &core_params[i], value, sizeof value);
        json_object_set_new(params, name, param_json(value));
    }
    for (uint32_t i = 0; i < core->rule_count; i++) {
        char name[64], value[128];
        snprintf(name, sizeof name, "events.%s", core->rule[i].event);
        counters_text(core->rule[i].counters, value, sizeof value);
        json_object_set_new(params, name, json_string(value));
    }
    return params;
}

json_t *run_report_json(const struct run_report *r, const char *command)
{
    const struct core_counts *c = &r->result.counts.core;
    json_t *root =
        json_pack("{s:s, s:s, s:o, s:o, s:o, s:i, s:b, s:I, s:I, s:f, s:I, s:I, s:b, s:{s:f, s:f, s:f, s:f}, s:o}",
                  "command", command, "version", r->version, "core", text_json(r->simulation->core->name), "program",
                  text_json(r->program), "argv", texts_json(r->arguments, r->argument_bytes), "exit_status", r->status,
                  "interrupted", r->interrupted != 0, "instructions", (json_int_t)c->instructions, "cycles",
                  (json_int_t)c->cycles, "cpi", run_report_cpi(r), "skipped", (json_int_t)r->result.skipped_insns,
                  "warmup", (json_int_t)r->simulation->warmup_insns, "cut", r->result.cut, "host", "seconds",
                  r->seconds, "mips", run_report_mips(r), "cpu_seconds", r->cpu_seconds, "skip_seconds",
                  r->skip_seconds, "params", params_json(r->simulation->core));
    if (root && r->sampled)
        json_object_set_new(root, "sampled", sampled_json(r));
    if (root && r->whole)
        json_object_set_new(root, "sampled", json_pack("{s:s}", "method", "whole"));
    return root;
}

json_t *run_report_join(json_t *first, unsigned number, json_t *program)
{
    if (number == 0)
        return program;
    json_t *with = json_object_get(first, "with");
    if (first && with == NULL && json_object_set_new(first, "with", json_array()) == 0)
        with = json_object_get(first, "with");
    if (json_array_append_new(with, program) != 0) {
        json_decref(first);
        return NULL;
    }
    return first;
}
