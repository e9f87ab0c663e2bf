#include "cmd/stat_log.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clean_text.h"
#include "base/version.h"
#include "sampler/slice_log.h"
#include "pmu/machine_pmu.h"
#include "report/logical_report.h"

/* A log that was read, and the objects that its report refers to. */
struct reading {
    struct slice_log log;
    const char *path;
    struct event_specs specs;   /* events of the plan; the texts belong to the log */
    const struct estimator *by; /* the estimator to use */
    struct core_config core;    /* only the name is set */
    struct simulation simulation;
    struct estimate *estimate; /* by event, of the current program */
    uint64_t *truth;           /* by event, exact counts of the current program */
};

static int read_log(struct reading *r, struct error *err)
{
    FILE *from = fopen(r->path, "re");
    if (from == NULL)
        return error_set(err, -errno, "--from %s: %s", r->path, strerror(errno));
    int code = slice_log_load(&r->log, from, r->path, err);
    fclose(from);
    if (code == 0 && (!r->log.planned || r->log.context_count == 0))
        code = error_set(err, -EINVAL, "%s ends before its plan: it contains no counts", r->path);
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

/* Reads the exact counts of a program. Returns true if the log has them for all events. */
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
        logical_report_print(report, own_page(to->own), own_columns(to->own));
    if (to->csv->to)
        logical_report_csv(report, to->csv->to);
    json_t *root = to->json->to ? run_report_json(report->run, "stat") : NULL;
    if (root && !logical_report_json(report, root)) {
        json_decref(root);
        root = NULL;
    }
    return root;
}

static void print_cut(const char *path, FILE *to)
{
    fputc(' ', to);
    clean_print(path, to);
    fputs(" was cut off: the report covers the part that was written.\n\n", to);
}

/* The signal that the log says has interrupted the run, or 0. */
static int interruption_of(const struct slice_log *log)
{
    const char *name = slice_log_info(log, "interrupted");
    for (int signal = 1; name && signal < NSIG; signal++)
        if (sigabbrev_np(signal) && strcmp(sigabbrev_np(signal), name) == 0)
            return signal;
    return 0;
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
                                 .interrupted = interruption_of(&r->log),
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
        print_cut(r->path, own_page(to->own));
    int code = output_file_close(to->csv, err);
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
