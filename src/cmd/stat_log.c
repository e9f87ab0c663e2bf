#include "cmd/stat_log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/command.h"
#include "monitor/slice_log.h"
#include "pmu/machine_pmu.h"
#include "report/logical_report.h"

/* What a report of a log refers to. */
struct reading {
    struct slice_log log;
    const char *path;
    struct event_specs specs; /* of the plan; the texts are the log's */
    const struct estimator *by;
    struct core_config core; /* its name only */
    struct simulation simulation;
    struct estimate *estimate;
    uint64_t *truth; /* by event */
};

static int read_log(struct reading *r, struct error *err)
{
    FILE *from = fopen(r->path, "re");
    if (from == NULL)
        return error_set(err, -errno, "--from %s: %s", r->path, strerror(errno));
    int code = slice_log_load(&r->log, from, r->path, err);
    fclose(from);
    if (code == 0 && (!r->log.planned || r->log.context_count == 0))
        code = error_set(err, -EINVAL, "%s ends before its plan: nothing was counted", r->path);
    return code;
}

static int name_events(struct reading *r, struct error *err)
{
    const struct plan *p = &r->log.plan;
    size_t count = p->event_count ? p->event_count : 1;
    r->specs.of = calloc(count, sizeof *r->specs.of);
    r->estimate = calloc(count, sizeof *r->estimate);
    r->truth = calloc(count, sizeof *r->truth);
    if (r->specs.of == NULL || r->estimate == NULL || r->truth == NULL)
        return error_set(err, -ENOMEM, "out of memory for %s", r->path);
    r->specs.count = p->event_count;
    for (size_t i = 0; i < p->event_count; i++) {
        if (!event_decode(p->event[i].code, &r->specs.of[i]))
            return error_set(err, -EINVAL, "%s counts an event that this version does not know: %s", r->path,
                             r->log.text[i]);
        r->specs.of[i].text = r->log.text[i];
    }
    return 0;
}

static void describe_run(struct reading *r)
{
    const char *core = slice_log_info(&r->log, "core"), *by = slice_log_info(&r->log, "estimator");
    snprintf(r->core.name, sizeof r->core.name, "%s", core ? core : "?");
    r->simulation.core = &r->core;
    if (r->by == NULL)
        r->by = by ? estimator_find(by) : NULL;
    if (r->by == NULL)
        r->by = &estimators[0];
}

/* True if the log has full counts of this program. */
static bool find_truth(struct reading *r, uint32_t program)
{
    size_t found = 0;
    for (size_t i = 0; i < r->log.total_count; i++) {
        if (r->log.total[i].context == program) {
            r->truth[r->log.total[i].event] = r->log.total[i].count;
            found++;
        }
    }
    return found == r->specs.count && found > 0;
}

static int estimate_program(struct reading *r, uint32_t program, struct logical_report *report, struct error *err)
{
    struct estimates *e = estimates_new(&r->log.plan, r->by, NULL, NULL, err);
    int code = e ? 0 : -ENOMEM;
    for (size_t i = 0; code == 0 && i < r->log.slice_count; i++) {
        const struct slice *s = &r->log.slice[i];
        if (s->context != program)
            continue;
        report->cycles += s->cycles;
        report->insns += s->insns;
        code = estimates_add(e, s, err);
    }
    if (code == 0) {
        estimates_finish(e);
        for (size_t i = 0; i < r->specs.count; i++)
            r->estimate[i] = estimates_total(e, i);
    }
    estimates_free(e);
    return code;
}

static json_t *report_program(const struct logical_report *report, const struct stat_log_output *to)
{
    if (!to->quiet)
        logical_report_print(report, to->own->err);
    if (to->csv->to)
        logical_report_csv(report, to->csv->to);
    json_t *root = to->json->to ? run_report_json(report->run, "stat") : NULL;
    if (root && !logical_report_json(report, root)) {
        json_decref(root);
        root = NULL;
    }
    return root;
}

static int report_programs(struct reading *r, const struct stat_log_output *to, struct error *err)
{
    json_t *root = NULL;
    size_t programs = r->log.context_count;
    for (uint32_t i = 0; i < programs; i++) {
        const struct slice_log_program *p = &r->log.context[i];
        struct run_report run = {.version = CYCLESCOPE_VERSION,
                                 .program = p->program,
                                 .number = i,
                                 .programs = programs > 1 ? (unsigned)programs : 0,
                                 .status = p->exit.status,
                                 .simulation = &r->simulation};
        struct logical_report report = {
            .run = &run, .specs = &r->specs, .plan = &r->log.plan, .estimator = r->by, .estimate = r->estimate};
        int code = estimate_program(r, i, &report, err);
        if (code != 0) {
            json_decref(root);
            return code;
        }
        run.result.counts.core.cycles = report.cycles;
        run.result.counts.core.instructions = report.insns;
        report.truth = find_truth(r, i) ? r->truth : NULL;
        root = run_report_join(root, i, report_program(&report, to));
    }
    if (!r->log.complete && !to->quiet)
        fprintf(to->own->err, " %s was cut off: this is as far as it goes.\n\n", r->path);
    int code = own_file_close(to->csv, err);
    if (code != 0) {
        json_decref(root);
        return code;
    }
    return own_file_write_json(to->json, root, err);
}

int stat_log(const char *path, const struct estimator *by, const struct stat_log_output *to, struct error *err)
{
    struct reading r = {.path = path, .by = by};
    int code = read_log(&r, err);
    if (code == 0)
        code = name_events(&r, err);
    if (code == 0) {
        describe_run(&r);
        code = report_programs(&r, to, err);
    }
    slice_log_free(&r.log);
    free(r.specs.of);
    free(r.estimate);
    free(r.truth);
    return code;
}
