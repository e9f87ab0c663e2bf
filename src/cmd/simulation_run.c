#include "cmd/simulation_run.h"

#include "cmd/command.h"
#include "cmd/progress.h"

int run_simulation(struct process *p, struct simulation *s, const struct own_output *own, bool quiet,
                   struct run_report *report, struct error *err)
{
    struct progress progress;
    *report = (struct run_report){.version = CYCLESCOPE_VERSION, .program = process_program(p), .simulation = s};
    progress_begin(&progress, own->err, quiet, s->max_insns);
    s->progress = progress_note;
    s->progress_context = &progress;
    int code = simulate_process(p, s, &report->result, err);
    if (code != 0)
        return code;
    if (process_is_child(p))
        end_as_child(p);
    progress_end(&progress);
    report->status = report->result.cut ? 0 : process_status(p);
    report->seconds = progress_seconds(&progress);
    report->cpu_seconds = progress_cpu_seconds(&progress);
    report->skip_seconds = progress_skip_seconds(&progress);
    return 0;
}

int simulation_status(const struct process *p, const struct run_report *r)
{
    return process_loader_failed(p) ? STATUS_OWN_ERROR : r->status;
}
