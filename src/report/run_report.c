#include "report/run_report.h"

#include "report/sampled_report.h"

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

void run_report_print_begin(const struct run_report *r, FILE *to)
{
    fprintf(to, "\n %s on the core %s", r->program, r->simulation->core->name);
    if (r->programs)
        fprintf(to, ", program %u of %u that share it", r->number + 1, r->programs);
    fputs(":\n", to);
}

void run_report_print_end(const struct run_report *r, FILE *to)
{
    char text[GROUPED_SIZE];
    if (r->sampled)
        sampled_print(r, to);
    if (r->result.skipped_insns)
        fprintf(to, " %s instructions were skipped%s.\n", grouped(r->result.skipped_insns, text),
                r->simulation->warm ? ", with caches and predictors looking on" : "");
    if (r->result.counts.core.instructions == 0)
        fputs(" The program ended before the part that is measured.\n", to);
    if (r->result.cut)
        fprintf(to, " The program was stopped after %s instructions.\n", grouped(r->simulation->max_insns, text));
    if (r->programs)
        fprintf(to, " Exit status: %d.\n", r->status);
    fprintf(to, " %.3f seconds, %.2f MIPS\n\n", r->seconds, run_report_mips(r));
}

static json_t *params_json(const struct core_config *core)
{
    json_t *params = json_object();
    for (size_t i = 0; i < core_param_count; i++) {
        char name[64], value[64];
        snprintf(name, sizeof name, "%s.%s", core_params[i].section, core_params[i].key);
        param_text(core, &core_params[i], value, sizeof value);
        json_object_set_new(params, name, json_string(value));
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
    json_t *root = json_pack(
        "{s:s, s:s, s:s, s:s, s:i, s:I, s:I, s:f, s:I, s:I, s:b, s:{s:f, s:f, s:f, s:f}, s:o}", "command", command,
        "version", r->version, "core", r->simulation->core->name, "program", r->program, "exit_status", r->status,
        "instructions", (json_int_t)c->instructions, "cycles", (json_int_t)c->cycles, "cpi", run_report_cpi(r),
        "skipped", (json_int_t)r->result.skipped_insns, "warmup", (json_int_t)r->simulation->warmup_insns, "cut",
        r->result.cut, "host", "seconds", r->seconds, "mips", run_report_mips(r), "cpu_seconds", r->cpu_seconds,
        "skip_seconds", r->skip_seconds, "params", params_json(r->simulation->core));
    if (root && r->sampled)
        json_object_set_new(root, "sampled", sampled_json(r));
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
