#include "cmd/sampled_simulation.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/command.h"
#include "points/choose.h"
#include "points/kept.h"

/* What is told on the terminal. */
struct telling {
    FILE *to; /* NULL: nobody listens */
    double begun, printed;
    uint64_t insns; /* of the run, if they are known */
    size_t points;  /* likewise */
    struct kept *kept;
};

static void tell(void *context, uint64_t insns, size_t done, size_t begun)
{
    struct telling *t = context;
    double now = now_seconds();
    if (t->to == NULL || now - t->printed < 0.25)
        return;
    t->printed = now;
    fprintf(t->to, "\r%.0f million instructions", (double)insns / 1e6);
    if (t->insns)
        fprintf(t->to, " of %.0f", (double)t->insns / 1e6);
    fprintf(t->to, ", %zu of %zu windows", done, t->points ? t->points : begun);
    if (t->points && done)
        fprintf(t->to, ", %.0f s left", (now - t->begun) * ((double)t->points / (double)done - 1));
    fputs("\033[K", t->to);
    fflush(t->to);
}

static void keep(void *context, size_t i, const struct measured *m)
{
    struct telling *t = context;
    if (t->kept)
        kept_add(t->kept, i, m->number);
}

static const uint64_t *find_kept(void *context, size_t i)
{
    const struct telling *t = context;
    return t->kept ? kept_find(t->kept, i) : NULL;
}

/* ---- which run it is */

static uint64_t mix(uint64_t hash, const void *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ ((const uint8_t *)data)[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
    return mix(hash, text, strlen(text) + 1);
}

/* A number that other programs, cores, windows or ways to count most likely do not have. */
static uint64_t key_of(const struct process *p, const struct points *points, const struct simulation *s)
{
    const struct process_config *c = process_configuration(p);
    uint64_t hash = mix_text(UINT64_C(0xcbf29ce484222325), CYCLESCOPE_VERSION), counted = s->sum ? s->sum->count : 0;
    for (char *const *a = c->argv; a && *a; a++)
        hash = mix_text(hash, *a);
    for (size_t i = 0; i < core_param_count; i++) {
        char value[64];
        param_text(s->core, &core_params[i], value, sizeof value);
        hash = mix_text(hash, value);
    }
    for (size_t i = 0; i < points->count; i++)
        hash = mix(hash, &points->point[i].window, sizeof points->point[i].window);
    uint64_t rest[] = {points->period, points->insns, points->lead, s->warmup_insns, counted, c->seed};
    return mix(hash, rest, sizeof rest);
}

/* ---- the run */

static int choose(struct process *p, const struct points_options *o, struct points *to, struct telling *t,
                  struct error *err)
{
    struct choose_options choice = {o->window, o->count, process_configuration(p)->seed};
    to->lead = o->lead;
    if (o->systematic) {
        to->period = o->period;
        to->insns = o->window;
        return 0;
    }
    if (strcmp(o->points, "auto") != 0)
        return points_read(to, o->points, o->weights, o->window, err);
    if (t->to) {
        fputs("\rlooking for phases\033[K", t->to);
        fflush(t->to);
    }
    return points_choose_for(p, &choice, to, &t->insns, err);
}

static int pass(struct process *p, const struct points_options *o, struct simulation *s, struct telling *t,
                struct sampled_run *sampled, struct error *err)
{
    struct pass pass = {.points = &sampled->points,
                        .simulation = s,
                        .jobs = (unsigned)o->jobs,
                        .progress = tell,
                        .done = keep,
                        .kept = find_kept,
                        .context = t};
    if (o->keep) {
        size_t numbers = SIMULATION_NUMBERS + (s->sum ? s->sum->count : 0) + PASS_WARM_NUMBERS;
        t->kept = kept_open(o->keep, key_of(p, &sampled->points, s), numbers, err);
        if (t->kept == NULL)
            return -EINVAL;
    }
    int code = pass_run(p, &pass, &sampled->result, err);
    struct error other;
    int closed = kept_close(t->kept, code ? &other : err);
    return code ? code : closed;
}

/* Estimates take the place of counts. */
static int fill_report(const struct sampled_run *sampled, struct simulation *s, struct run_report *report,
                       struct error *err)
{
    uint64_t *numbers = malloc(sampled->result.numbers * sizeof *numbers);
    if (numbers == NULL)
        return error_set(err, -ENOMEM, "out of memory for estimates");
    combine_numbers(sampled, numbers);
    memcpy(&report->result.counts, numbers, sizeof report->result.counts);
    report->result.counts.core.instructions = sampled->result.insns;
    if (s->sum)
        memcpy(s->sum->numbers, numbers + SIMULATION_NUMBERS, s->sum->count * sizeof *numbers);
    free(numbers);
    return 0;
}

int run_sampled(struct process *p, const struct points_options *o, struct simulation *s, const struct own_output *own,
                bool quiet, struct run_report *report, struct sampled_run *sampled, struct error *err)
{
    bool terminal = !quiet && isatty(fileno(own->err));
    struct telling t = {.to = terminal ? own->err : NULL, .begun = now_seconds()};
    *sampled = (struct sampled_run){0};
    *report = (struct run_report){
        .version = CYCLESCOPE_VERSION, .program = process_program(p), .simulation = s, .sampled = sampled};
    int code = choose(p, o, &sampled->points, &t, err);
    t.points = sampled->points.count;
    if (code == 0)
        code = pass(p, o, s, &t, sampled, err);
    if (t.printed > 0 || (t.to && o->points))
        fputs("\r\033[K", own->err);
    if (code == 0)
        code = combine_prepare(sampled, err);
    if (code == 0)
        code = fill_report(sampled, s, report, err);
    report->status = process_status(p);
    report->seconds = now_seconds() - t.begun;
    if (code != 0)
        sampled_run_free(sampled);
    return code;
}
