#include "cmd/multiplex.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/version.h"
#include "pmu/machine_pmu.h"

void multiplex_init(struct multiplex *m)
{
    *m = (struct multiplex){0};
    sampling_options_init(&m->sampling);
}

void multiplex_free(struct multiplex *m)
{
    if (m->log)
        slice_log_writer_abandon(m->log);
    logical_free(m->logical);
    pmu_free(m->pmu);
    free(m->full.of);
    plan_free(&m->plan);
}

/* ---- start */

static void log_info(struct multiplex *m, const char *name, const char *value)
{
    slice_log_write(m->log, &(struct slice_log_record){.kind = LOG_INFO, .info = {name, value}});
}

static int open_log(struct multiplex *m, const struct own_output *own, const struct event_specs *specs,
                    const char *const names[], unsigned programs, const char *core, struct error *err)
{
    FILE *to;
    if (m->log_path == NULL)
        return 0;
    if (strcmp(m->log_path, "-") == 0)
        return error_set(err, -EINVAL, "--log -: the log is binary: give the name of a file");
    int code = own_file_check(own, "--log", m->log_path, err);
    if (code == 0)
        code = own_stream_open(&m->log_file, &to, own, "--log", m->log_path, err);
    if (code != 0)
        return code;
    m->log = slice_log_writer_new(to, err);
    if (m->log == NULL) {
        fclose(to);
        return -ENOMEM;
    }
    log_info(m, "version", CYCLESCOPE_VERSION);
    log_info(m, "core", core);
    log_info(m, "estimator", m->sampling.chosen_estimator->name);
    slice_log_write_plan(m->log, &m->plan, specs);
    for (unsigned i = 0; i < programs; i++)
        slice_log_write(m->log, &(struct slice_log_record){.kind = LOG_CONTEXT, .context = {i, names[i]}});
    slice_log_writer_flush(m->log);
    return 0;
}

static void log_slice(void *context, const struct slice *s)
{
    struct multiplex *m = context;
    slice_log_write(m->log, &(struct slice_log_record){.kind = LOG_SLICE, .slice = *s});
}

/* Counts the events of the plan exactly, in the same modes and in the same run. */
static int count_exactly(struct multiplex *m, const struct event_specs *specs, struct simulation *s, struct error *err)
{
    m->full.of = calloc(specs->count, sizeof *m->full.of);
    if (m->full.of == NULL)
        return error_set(err, -ENOMEM, "out of memory for exact counts");
    m->full.count = specs->count;
    for (size_t i = 0; i < specs->count; i++) {
        event_decode(m->plan.event[i].code, &m->full.of[i]);
        m->full.of[i].text = specs->of[i].text;
    }
    m->pmu = pmu_new(&m->full, NULL, NULL, err);
    if (m->pmu == NULL)
        return -ENOMEM;
    s->observer = pmu_observer(m->pmu);
    s->sum = pmu_sum(m->pmu);
    return 0;
}

int multiplex_begin(struct multiplex *m, const struct own_output *own, const struct event_specs *specs,
                    const char *const names[], struct simulation *s, struct logical_config *c, struct error *err)
{
    if (s->firmware)
        return error_set(err, -EINVAL, "--firmware %s: machine mode has room for one firmware, and --multiplex uses it",
                         s->firmware);
    int code = sampling_options_finish(&m->sampling, err);
    m->sampling.plan.gradual = !m->sampling.plan.fixed_order; /* a fixed order has rounds of one length */
    if (code == 0)
        code = plan_make(specs, s->core, &m->sampling.plan, &m->plan, err);
    if (code == 0)
        code = open_log(m, own, specs, names, c->programs, s->core->name, err);
    if (code == 0 && m->truth)
        code = count_exactly(m, specs, s, err);
    if (code != 0)
        return code;
    c->plan = &m->plan;
    c->estimator = m->sampling.chosen_estimator;
    if (m->log) {
        c->slice = log_slice;
        c->slice_context = m;
    }
    m->logical = logical_new(c, s, err);
    return m->logical ? 0 : -ENOMEM;
}

/* ---- reports */

int multiplex_report(const struct multiplex *m, const struct event_specs *specs, const struct run_report *run,
                     const uint64_t *full, struct logical_report *r, struct error *err)
{
    unsigned program = run->number;
    struct estimate *estimates = calloc(specs->count, sizeof *estimates);
    if (estimates == NULL)
        return error_set(err, -ENOMEM, "out of memory for a report");
    for (size_t i = 0; i < specs->count; i++)
        estimates[i] = logical_total(m->logical, program, i);
    *r = (struct logical_report){.run = run,
                                 .specs = specs,
                                 .plan = &m->plan,
                                 .estimator = m->sampling.chosen_estimator,
                                 .estimate = estimates,
                                 .truth = full,
                                 .cycles = logical_cycles(m->logical, program),
                                 .insns = logical_insns(m->logical, program),
                                 .lost = logical_lost(m->logical)};
    return 0;
}

void multiplex_report_free(struct logical_report *r)
{
    free((void *)(uintptr_t)r->estimate);
}

/* ---- the log */

void multiplex_log_program(struct multiplex *m, const struct logical_report *r)
{
    if (m->log == NULL)
        return;
    if (r->run->interrupted)
        log_info(m, "interrupted", sigabbrev_np(r->run->interrupted));
    for (size_t i = 0; r->truth && i < r->plan->event_count; i++)
        slice_log_write(
            m->log, &(struct slice_log_record){.kind = LOG_TOTAL, .total = {r->run->number, (uint32_t)i, r->truth[i]}});
    slice_log_write(m->log,
                    &(struct slice_log_record){.kind = LOG_EXIT,
                                               .exit = {r->run->number, (int32_t)r->run->status, r->cycles, r->insns}});
}

int multiplex_log_close(struct multiplex *m, struct error *err)
{
    struct slice_log_writer *log = m->log;
    m->log = NULL;
    int code = log ? slice_log_writer_close(log, err) : 0;
    return code == 0 ? output_file_close(&m->log_file, err) : code;
}
