#include "cmd/simulation_run.h"

#include <errno.h>
#include <stdlib.h>

#include "cmd/command.h"
#include "cmd/progress.h"

static void note_times(struct run_report *report, const struct progress *progress)
{
    report->seconds = progress_seconds(progress);
    report->cpu_seconds = progress_cpu_seconds(progress);
    report->skip_seconds = progress_skip_seconds(progress);
}

void describe_process(struct run_report *report, const struct process *p)
{
    report->program = process_program(p);
    report->arguments = process_arguments(p, &report->argument_bytes);
    report->status = process_status(p);
    report->interrupted = process_interruption(p);
}

int run_simulation(struct process *p, struct simulation *s, const struct own_output *own, bool quiet,
                   struct run_report *report, struct error *err)
{
    struct progress progress;
    *report = (struct run_report){.version = CYCLESCOPE_VERSION, .simulation = s};
    progress_begin(&progress, quiet ? NULL : own->line, s->skip_insns, s->max_insns);
    s->progress = progress_note;
    s->skipping = progress_skip;
    s->progress_context = &progress;
    int code = simulate_process(p, s, &report->result, err);
    s->progress = NULL;
    s->skipping = NULL;
    s->progress_context = NULL;
    if (code != 0)
        return code;
    if (process_is_child(p))
        end_as_child(p);
    progress_end(&progress);
    describe_process(report, p);
    if (report->result.cut && report->interrupted == 0)
        report->status = 0;
    note_times(report, &progress);
    return 0;
}

static int run_programs(const struct with_options *w, struct simulation *s, const struct own_output *own, bool quiet,
                        struct shared_run *run, struct error *err)
{
    struct progress progress;
    progress_begin(&progress, quiet ? NULL : own->line, s->skip_insns, s->max_insns);
    s->progress = progress_note;
    s->progress_context = &progress;
    int code = simulate_programs(w->config, w->count, s, run->result, run->sums, err);
    s->progress = NULL;
    s->progress_context = NULL;
    if (code != 0)
        return code;
    progress_end(&progress);
    for (unsigned i = 0; i < w->count; i++) {
        struct run_report *report = &run->report[i];
        *report = (struct run_report){.version = CYCLESCOPE_VERSION,
                                      .program = run->result[i].program,
                                      .arguments = run->result[i].arguments,
                                      .argument_bytes = run->result[i].argument_bytes,
                                      .interrupted = run->result[i].interrupted,
                                      .simulation = s,
                                      .status = run->result[i].status,
                                      .number = i,
                                      .programs = w->count,
                                      .result = run->result[i].result};
        note_times(report, &progress);
    }
    return 0;
}

int run_sharing(const struct with_options *w, struct simulation *s, const struct own_output *own, bool quiet,
                struct shared_run *run, struct error *err)
{
    *run = (struct shared_run){.count = w->count,
                               .result = calloc(w->count, sizeof *run->result),
                               .report = calloc(w->count, sizeof *run->report),
                               .sums = calloc(w->count * (s->sum ? s->sum->count : 0) + 1, sizeof *run->sums)};
    int code = error_set(err, -ENOMEM, "out of memory for %u programs", w->count);
    if (run->result && run->report && run->sums)
        code = run_programs(w, s, own, quiet, run, err);
    if (code != 0)
        shared_run_free(run);
    return code;
}

void shared_run_free(struct shared_run *run)
{
    free(run->result);
    free(run->report);
    free(run->sums);
}

int simulation_status(const struct process *p, const struct run_report *r)
{
    return process_loader_failed(p) ? STATUS_OWN_ERROR : r->status;
}
